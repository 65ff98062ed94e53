// Jobs on the data of tenants and on the webhooks that are told of its changes.

import { shot } from './browser.mjs';
import { check } from './stage.mjs';
import { eventually, operate } from './visitor.mjs';

const CUSTOMER = 'cliente-console';

/** Two webhooks of the application, of which one fails. */
async function subscribe({ application, receiver, has }) {
  has.webhook = await application.subscribe(receiver.url('hook'));
  has.failing = await application.subscribe(receiver.url('fail', '127.0.0.1'));
}

/** Browses a company, reads a record, edits it with a reason, sees its history and who was notified. */
export async function editsData(stage) {
  const { operator, application, company, tenant, has } = stage;
  await subscribe(stage);
  await application.change(company, CUSTOMER, 'Café Ñandú');
}

/** Finds a webhook by its host, sends a delivery again, and pauses and enables all that match. */
export async function managesWebhooks({ operator, application, receiver, company, has }) {
  const { page } = operator;
  receiver.fails = true;
  const sequence = await application.change(company, CUSTOMER, 'Café Ñandú y Compañía');
  await eventually('a failed delivery', async () => {
    const { deliveries } = await operate('GET', `webhooks/${has.failing}/deliveries`);
    return deliveries.find((one) => Number(one.sequence) === sequence && one.attempts > 0);
  });
  await operator.section('webhooks');
  await operator.filter({ host: '127.0.0.1' });
  check('one webhook is found', (await page.locator('main tr[data-row]').count()) === 1);
  await operator.press(page.locator('main tr[data-row] a').first());
  await shot(page, 'console/walk-webhook', { fullPage: true });
  await operator.open(`webhooks/${has.failing}/deliveries/${sequence}`);
  receiver.fails = false;
  await operator.does('replay');
  await page.locator('#delivery > .title-row > .state.ok').waitFor();
  has.delivered = sequence;
  const states = async () => (await operate('GET', 'webhooks')).webhooks.map(({ status }) => status);
  for (const [action, state] of [['disable', 'disabled'], ['enable', 'active']]) {
    await operator.open('webhooks/bulk?host=127.0.0.1');
    await operator.submit(action);
    await shot(page, `console/walk-bulk-${action}`, { fullPage: true });
    check(`bulk ${action}`, (await states()).filter((one) => one === state).length >= 1, await states());
  }
  // A failed delivery for the gallery.
  receiver.fails = true;
  has.failed = await application.change(company, CUSTOMER, 'Café Ñandú y Compañía, S. L.');
}
