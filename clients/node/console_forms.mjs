// Every form of the console without scripts. Each page that is opened tells which forms it has; at the end none is left.

import { LOCALES, SIZES, shot, watched } from './browser.mjs';
import { Application, Operator } from './console_stage.mjs';
import { accessToken, check, world } from './stage.mjs';
import { newAddress, newTeam, operate } from './visitor.mjs';

const { dev } = world;
const TENANT = 't-formularios';
const RECORD = 'cliente-formularios';
const FILTERED = [
  'requests', 'tenants', 'users', 'developers', 'teams', 'operators', 'invitations', 'clients', 'subscriptions', 'webhooks', 'audit',
  'configuration',
];

/** The names that ids and their like have in a path, so that the same page of two tenants is one. */
function pageOf(url) {
  const parts = new URL(url).pathname.replace(/^.*?\/console\//, '').split('/');
  return parts.map((part, index) => (index % 2 === 1 && part !== 'bulk' ? '*' : part)).join('/');
}

export async function forms(browser, has) {
  const context = await browser.newContext({
    locale: LOCALES.en, viewport: SIZES.phone, javaScriptEnabled: false, reducedMotion: 'reduce',
  });
  const troubles = watched(context);
  const person = new Person(new Operator(await context.newPage(), dev.operator), has);
  try {
    await person.operator.signIn();
    for (const job of Person.JOBS) await person[job]();
  } catch (error) {
    await shot(person.page, 'console/FAILED-forms', { fullPage: true }).catch(() => {});
    throw new Error(`without scripts, at ${person.page.url()}: ${error.message}; ${troubles}`, { cause: error });
  }
  check('every form has been sent', person.left().length === 0, person.left());
  check('nothing unusual without scripts', troubles.length === 0, troubles);
  await context.close();
  return person.sent.size;
}

class Person {
  static JOBS = [
    'managesTenants', 'managesUsers', 'managesPeople', 'decides', 'managesTeams', 'managesClients', 'editsRecords',
    'managesWebhooks', 'looksThingsUp', 'looksAfterTheService',
  ];

  seen = new Set();
  sent = new Set();

  constructor(operator, has) {
    Object.assign(this, { operator, has, page: operator.page });
  }

  left() {
    return [...this.seen].filter((form) => !this.sent.has(form));
  }

  async #look() {
    const actions = await this.page.locator('main button[name=do]').evaluateAll((all) => all.map(({ value }) => value));
    for (const action of actions) this.seen.add(`${pageOf(this.page.url())} ${action}`);
  }

  async #open(path) {
    await this.operator.open(path);
    await this.#look();
  }

  /** Submits a form of the open page; the page that follows says that it is done. */
  async #does(action, fields, within) {
    this.sent.add(`${pageOf(this.page.url())} ${action}`);
    await this.operator.does(action, fields, within);
    await this.#look();
  }

  /** Submits a form whose answer is a page of its own. */
  async #sends(action, fields, within) {
    this.sent.add(`${pageOf(this.page.url())} ${action}`);
    const answer = await this.operator.submit(action, fields, within);
    check(`${action} succeeds`, answer.status() === 200, answer.status());
  }

  async #gets(id, action, fields, within) {
    this.sent.add(`${pageOf(this.page.url())} ${action}`);
    return this.operator.gets(id, action, fields, within);
  }

  async managesTenants() {
    await this.#open('tenants');
    await this.#does('add', { name: 'Formularios', id: TENANT, short_code: '4199' });
    await this.#does('add_member', { user: dev.users[1].email });
    const row = `main tr:has-text("${dev.users[1].email}")`;
    for (const action of ['make_admin', 'make_member', 'remove_member']) await this.#does(action, {}, row);
    for (const action of ['disable', 'enable']) await this.#does(action);
    await this.#does('erase', { confirm: TENANT });
  }

  async managesUsers() {
    await this.#open('users');
    await this.#does('add', { email: newAddress('berta'), name: 'Berta', tenants: this.has.tenant, lang: 'en' });
    await this.#does('rename', { name: 'Berta Gil', lang: 'es' });
    await this.#does('reset_password');
    await this.#does('add_tenant', { tenant: dev.tenants[1].id });
    const row = `main tr:has-text("${dev.tenants[1].name}")`;
    for (const action of ['make_admin', 'make_member', 'remove_tenant']) await this.#does(action, {}, row);
    for (const action of ['disable', 'enable']) await this.#does(action);
    // A user with a session and an authorization.
    await accessToken(dev, dev.users[1]);
    await this.#open(`users/${dev.users[1].email}`);
    for (const action of ['withdraw', 'end_sessions']) await this.#does(action);
  }

  async managesPeople() {
    for (const [realm, more] of [['users', { tenants: this.has.tenant }], ['developers', { team: this.has.team }], ['operators', { role: 'support' }]]) {
      await this.#open(`invitations?invite=${realm}`);
      await this.#does('invite', { email: newAddress(realm), ...more });
    }
    await this.#open('invitations');
    for (const action of ['resend', 'revoke']) await this.#does(action);
    await this.#open(`developers/${dev.developer.email}`);
    for (const action of ['disable', 'enable', 'reset_password']) await this.#does(action);
    await this.#does('rename', { name: 'Diego' });
    await this.#open(`operators/${this.has.viewer.email}`);
    await this.#does('end_sessions');
    await this.#does('rename', { name: 'Vera' });
    await this.#does('change_role', { role: 'support' });
    await this.#does('change_role', { role: 'viewer' });
    for (const action of ['disable', 'enable', 'reset_password']) await this.#does(action);
  }

  async #ask(name) {
    const asked = { team: this.has.team, developer: dev.developer.email, subscription: { name, product: 'invoicing' } };
    return (await operate('POST', 'requests', asked)).id;
  }

  async decides() {
    await this.#open(`requests/${await this.#ask('Facturas')}`);
    await this.#does('refuse', { reason: 'De momento no.' });
    await this.#open(`requests/${await this.#ask('Facturas')}`);
    await this.#does('approve');
  }

  async managesTeams() {
    await this.#open('teams');
    await this.#does('add', { name: 'Formularios' });
    await this.#does('add_member', { member: dev.developer.email, role: 'member' });
    const row = `main tr:has-text("${dev.developer.email}")`;
    await this.#does('remove_member', {}, row);
    await this.#does('add_member', { member: dev.developer.email, role: 'member' });
    await this.#does('set_role', {}, row);
    await this.#does('rename', { name: 'Formularios y más' });
    for (const action of ['disable', 'enable']) await this.#does(action);
    const team = await newTeam('Con sandbox');
    await operate('POST', `teams/${team}/sandbox`);
    await this.#open(`teams/${team}`);
    for (const action of ['close_sandbox', 'open_sandbox']) await this.#does(action);
  }

  async managesClients() {
    await this.#open('clients');
    await this.#gets('clientSecret', 'add', { name: 'Formularios', redirect_uris: world.callback, product: ['accounting'] });
    await this.operator.press(this.page.locator('main a.button'));
    await this.#look();
    await this.#does('change', { name: 'Formularios', redirect_uris: `${world.callback}\nhttps://app.example.com/callback` });
    for (const action of ['disable', 'enable']) await this.#does(action);
    await this.#gets('clientSecret', 'rotate', { overlap: 'none' });
    await this.#open('subscriptions');
    await this.#gets('primaryKey', 'add', { name: 'Formularios', product: ['payroll'], quota: '100' });
    await this.operator.press(this.page.locator('main a.button'));
    await this.#look();
    await this.#does('change', { quota: '' });
    for (const action of ['suspend', 'resume']) await this.#does(action);
    const there = this.page.url();
    await this.#gets('key', 'regenerate', { overlap: 'none' });
    await this.page.goto(there);
    await this.#does('cancel', { confirm: decodeURIComponent(new URL(there).pathname.split('/').at(-1)) });
    await this.#open('tokens');
    await this.#gets('token', 'add', { name: 'formularios', role: 'support', lifetime: 'month' });
    await this.#open('tokens');
    await this.#does('revoke', { confirm: 'formularios' }, 'main tr:has-text("formularios")');
  }

  async editsRecords() {
    const { tenant, company } = this.has;
    const change = {
      area: 'accounting', resource: 'customers', company, action: 'upsert', correlationId: RECORD,
      data: { tradeName: 'Formularios', accountCode: '43000000002', accountCodeCorrelationId: 'account' },
    };
    await operate('POST', `tenants/${tenant}/changes`, [change]);
    await this.#open(`tenants/${tenant}/records/accounting/customers/${RECORD}?company=${encodeURIComponent(company)}`);
    const reason = 'Incidencia 4712';
    const data = (await this.page.locator('#data').inputValue()).replace('Formularios', 'Formularios y más');
    await this.#does('upsert', { data, reason });
    for (const action of ['disable', 'enable']) await this.#does(action, { reason });
    // Customers are disabled, never deleted.
    await operate('POST', `tenants/${tenant}/changes`, [{ ...change, area: 'core', resource: 'persons', data: { name: 'Berta' } }]);
    await this.#open(`tenants/${tenant}/records/core/persons/${RECORD}?company=${encodeURIComponent(company)}`);
    await this.#does('upsert', { reason });
    await this.#does('delete', { reason, confirm: RECORD });
  }

  async managesWebhooks() {
    const { webhook, failing, delivered } = this.has;
    await this.#open(`webhooks/${webhook}`);
    for (const action of ['test', 'pause', 'enable']) await this.#does(action);
    // As a browser's field writes it, in UTC.
    const from = new Date(Date.now() - 3_600_000).toISOString().slice(0, 16);
    await this.#does('replay', { from });
    await this.#open(`webhooks/${failing}/deliveries/${delivered}`);
    await this.#does('replay');
    for (const [action, fields] of [['disable'], ['enable'], ['replay', { from }]]) {
      await this.#open(`webhooks/bulk?host=localhost&action=${action}`);
      await this.#sends(action, fields);
    }
    const application = await Application.open(dev.users[1], dev.users[1].tenants[0]);
    const gone = await application.subscribe(dev.receiver_url);
    await this.#open(`webhooks/${gone}`);
    await this.#does('delete', { confirm: gone });
  }

  /** Forms that change nothing. */
  async looksThingsUp() {
    for (const path of FILTERED) {
      await this.#open(path);
      await this.operator.filter({});
      check(`the filter of ${path}`, new URL(this.page.url()).pathname.endsWith(path), this.page.url());
      this.sent.add(`${path} filter`);
    }
  }

  async looksAfterTheService() {
    await this.#open('signing-keys');
    const [signing] = await this.page.locator('main tr[data-row]:has(.state.ok)').evaluateAll((rows) => rows.map(({ dataset }) => dataset.row));
    await this.#does('replace', { confirm: signing.slice(0, 8) });
    await this.#open('signing-keys');
    // A next key may exist already.
    if ((await this.page.locator('main button[value=rotate]').count()) > 0) await this.#does('rotate');
    await this.#open('backups');
    await this.#does('start');
    const button = this.page.locator('#backups button[value=download]').first();
    const [download] = await Promise.all([this.page.waitForEvent('download'), button.click()]);
    check('a backup', await download.path(), this.page.url());
    this.sent.add('backups download');
  }
}
