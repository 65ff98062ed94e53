// Jobs on the data of tenants and on the webhooks that are told of its changes.

import { shot } from './browser.mjs';
import { check, world } from './stage.mjs';
import { eventually, operate } from './visitor.mjs';

const { dev } = world;
const CUSTOMER = 'cliente-console';

/** Two webhooks of the application, of which one fails. */
async function subscribe({ application, receiver, has }) {
  has.webhook = await application.subscribe(receiver.url('hook'));
  has.failing = await application.subscribe(receiver.url('fail', '127.0.0.1'));
}

/** Browses a company, reads a record, edits it with a reason, sees its history and who was notified. */
export async function editsData(stage) {
  const { operator, application, company, tenant, has } = stage;
  const { page } = operator;
  await subscribe(stage);
  await application.change(company, CUSTOMER, 'Café Ñandú');
  await operator.section('tenants');
  await operator.open(`tenants/${tenant}`);
  await operator.press(page.locator(`main a[href$="/tenants/${tenant}/data"]`));
  await operator.press(page.locator(`main tr[data-row="${company}"] a`).first());
  await operator.press(page.locator('main tr[data-row="accounting-customers"] a').first());
  await operator.filter({ record: CUSTOMER });
  has.record = `${new URL(page.url()).pathname.split('/console/')[1]}${new URL(page.url()).search}`;
  const read = await operator.text('#body-text');
  check('the body of the record', read.includes('Café Ñandú'), read);
  const stored = JSON.parse(await page.locator('#data').inputValue());
  const data = JSON.stringify({ ...stored, tradeName: 'Café Ñandú, editado' }, null, 2);
  await operator.does('upsert', { data, reason: 'El cliente cambió de nombre: incidencia 4711.' });
  check('the edited body', (await operator.text('#body-text')).includes('editado'), page.url());
  await shot(page, 'console/walk-record', { fullPage: true });
  check('two changes', (await page.locator('main tr[data-row]').count()) === 2, page.url());
  // The two latest versions are chosen already.
  await operator.press(page.locator('main form[action$="/diff"] button'));
  has.diff = `${new URL(page.url()).pathname.split('/console/')[1]}${new URL(page.url()).search}`;
  check('both versions', (await operator.text()).length > 100, page.url());
  await eventually('who was notified of the edit', async () => {
    await operator.open(`${has.record.split('?')[0]}/notified?company=${encodeURIComponent(company)}`);
    return (await operator.text()).includes('localhost');
  });
  await operator.open(`audit?tenant=${tenant}&kind=record_edited`);
  const entry = await operator.text('main tr[data-row]');
  check('the reason in the audit', entry.includes('4711') && entry.includes(dev.operator.email), entry);
}

/** Finds a webhook by its host, sends a delivery again, and pauses and enables all that match. */
export async function managesWebhooks({ operator, application, receiver, company, has }) {
  const { page } = operator;
  receiver.fails = true;
  const sequence = await application.change(company, CUSTOMER, 'Café Ñandú y Compañía');
  await eventually('a failed delivery', async () => {
    const { deliveries } = await operate('GET', `webhooks/${has.failing}/deliveries`);
    return deliveries.find((one) => Number(one.sequenceVersion) === sequence && one.attempts.length > 0);
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
    await operator.open('webhooks?host=127.0.0.1');
    await operator.press(page.locator('main a[href*="/webhooks/bulk?"]'));
    await operator.press(page.locator(`main a[href*="action=${action}"]`));
    await operator.submit(action);
    check(`all of them: ${action}`, (await page.locator('#results').count()) === 1, page.url());
    await shot(page, `console/walk-bulk-${action}`, { fullPage: true });
    check(`bulk ${action}`, (await states()).filter((one) => one === state).length >= 1, await states());
  }
  // A failed delivery for the gallery.
  receiver.fails = true;
  has.failed = await application.change(company, CUSTOMER, 'Café Ñandú y Compañía, S. L.');
}
