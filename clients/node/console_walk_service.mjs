// Jobs on the records of the service (audit, who read what, search) and on the service itself.

import { stat } from 'node:fs/promises';

import { shot } from './browser.mjs';
import { check, world } from './stage.mjs';
import { eventually } from './visitor.mjs';

const { dev } = world;

/** Searches the audit, takes it as CSV, and sees who read what. */
export async function readsTheAudit({ operator, application, company, tenant, has }) {
  await operator.section('audit');
  await operator.filter({ tenant: has.disabledTenant });
  const rows = await operator.page.locator('main tr[data-row]').count();
  check('what happened to the tenant', rows >= 3, rows);
  check('the person who did it', (await operator.text()).includes(dev.operator.email), operator.page.url());
  const csv = await operator.csv();
  check('the same as CSV', csv.length === rows + 1, [csv.length, rows]);
  has.request = (await application.call('GET', '/accounting/api/customers', undefined, company)).id;
  await eventually('who read what', async () => {
    await operator.open(`reads?tenant=${tenant}&company=${company}`);
    return (await operator.page.locator('main tr[data-row]').count()) > 0;
  });
}

/** Searches over everything by e-mail, and by the id of a request. */
export async function searches({ operator, has }) {
  await operator.section('search');
  await operator.filter({ q: dev.users[0].email });
  check('the user', (await operator.page.locator('main a[href*="/users/"]').count()) > 0);
  await operator.open('search');
  await operator.filter({ q: has.request });
  check('the request', (await operator.text('#hit')).length > 20, operator.page.url());
  await shot(operator.page, 'console/walk-search', { fullPage: true });
}

/** Rotates the signing key, reads the configuration, makes a backup and takes it away, asks the doctor. */
export async function looksAfterTheService({ operator }) {
  const { page } = operator;
  await operator.section('signing-keys');
  const keys = await page.locator('main tr[data-row]').count();
  await operator.does('rotate');
  check('one more key', (await page.locator('main tr[data-row]').count()) === keys + 1, keys);
  await operator.section('configuration');
  const settings = await page.locator('main tr[data-row]').count();
  check('every key of the configuration', settings > 50, settings);
  check('secrets are hidden', !(await page.content()).includes(dev.operator_token));
  await operator.filter({ q: 'mail.server' });
  check('where it came from', (await operator.text('main tr[data-row]')).includes(`localhost:${world.mail_port}`), page.url());
  await makesABackup(operator);
  await operator.section('doctor');
  const verdicts = await page.locator('main .state').count();
  check('what the doctor finds', verdicts > 5, verdicts);
}

async function makesABackup(operator) {
  const { page } = operator;
  await operator.section('backups');
  await operator.does('start');
  // The page shows by itself that the backup is complete.
  await page.locator('#backups tr[data-row]').first().waitFor();
  await page.locator('#backup-run .state.ok').waitFor();
  await shot(page, 'console/walk-backup', { fullPage: true });
  const button = page.locator('#backups button[value=download]').first();
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
  const { size } = await stat(await download.path());
  check('the file of the backup', size > 10_000, size);
}
