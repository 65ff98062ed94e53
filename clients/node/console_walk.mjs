// The jobs of the people who run the service, each done on the pages of the console as a person does it.

import { LOCALES, SIZES, shot, watched } from './browser.mjs';
import { Application, Operator, Receiver } from './console_stage.mjs';
import { decidesOnRequests, managesClients, managesSubscriptions, managesTeams, managesTokens } from './console_walk_integrations.mjs';
import { invitesAnOperator, managesTenants, managesUsers, provesWhoTheyAre } from './console_walk_people.mjs';
import { readsTheAudit, looksAfterTheService, searches } from './console_walk_service.mjs';
import { editsData, managesWebhooks } from './console_walk_webhooks.mjs';
import { check, world } from './stage.mjs';

const { dev } = world;
/** In this order: later jobs use what earlier ones have left. */
const JOBS = {
  decidesOnRequests, managesTenants, managesUsers, invitesAnOperator, managesTeams, managesClients, managesSubscriptions,
  managesTokens, editsData, managesWebhooks, readsTheAudit, searches, looksAfterTheService, provesWhoTheyAre,
};

/** Returns what there is at the end, for the gallery. */
export async function walk(browser, mailbox) {
  const context = await browser.newContext({ locale: LOCALES.es, viewport: SIZES.desk, reducedMotion: 'reduce' });
  const troubles = watched(context);
  const operator = new Operator(await context.newPage(), dev.operator);
  const receiver = await Receiver.listen();
  const [tenant] = dev.tenants;
  const stage = {
    browser, mailbox, operator, receiver, page: operator.page, tenant: tenant.id, company: tenant.companies[0],
    has: { tenant: tenant.id, company: tenant.companies[0] },
    application: await Application.open(dev.users[0]),
  };
  let job = 'signsIn';
  try {
    await operator.signIn();
    for (const [name, act] of Object.entries(JOBS)) {
      job = name;
      await act(stage);
    }
  } catch (error) {
    await shot(operator.page, 'console/FAILED-walk', { fullPage: true }).catch(() => {});
    throw new Error(`${job}, at ${operator.page.url()}: ${error.message}; ${troubles}`, { cause: error });
  } finally {
    receiver.close();
  }
  check('nothing unusual on the way', troubles.length === 0, troubles);
  await context.close();
  return { has: stage.has, jobs: Object.keys(JOBS).length };
}
