// Every form of the portal without scripts.

import { LOCALES, SIZES, shot, watched } from './browser.mjs';
import { Developer, call } from './portal_stage.mjs';
import { check, world } from './stage.mjs';
import { eventually, newAddress, newTeam, operate } from './visitor.mjs';

/** `other` is a developer who becomes a member of the team. */
export async function forms(browser, email, other) {
  const context = await browser.newContext({
    locale: LOCALES.en, viewport: SIZES.phone, javaScriptEnabled: false, reducedMotion: 'reduce',
  });
  const troubles = watched(context);
  const teams = [await newTeam('Lista'), await newTeam('Formularios')];
  for (const team of teams) await operate('POST', `teams/${team}/members`, { developer: email, role: 'owner' });
  await operate('POST', `teams/${teams[1]}/members`, { developer: other, role: 'member' });
  const person = new Person(new Developer(await context.newPage(), email, teams[0]));
  try {
    await person.developer.signIn();
    await person.followsTheChecklist();
    [, person.developer.team] = teams;
    await person.getsKeys();
    await person.getsApplications();
    await person.usesTheSandbox();
    await person.signsTheSandboxUserIn();
    await person.changesAWebhook();
    await person.sendsAgain();
    await person.looksThingsUp();
    await person.choosesNotices();
    await person.managesTheTeam(other);
    await person.destroys();
  } catch (error) {
    await shot(person.page, 'portal/FAILED-forms', { fullPage: true }).catch(() => {});
    throw new Error(`without scripts, at ${person.page.url()}: ${error.message}; ${troubles}`, { cause: error });
  }
  check('nothing unusual without scripts', troubles.length === 0, troubles);
  await context.close();
  return person.count;
}

class Person {
  count = 0;

  constructor(developer) {
    this.developer = developer;
    this.page = developer.page;
  }

  /** Submits a form of the open page; the page that follows says that it is done. */
  async #does(action, fields, within) {
    await this.#sends(action, fields, within);
    await this.developer.told();
  }

  async #sends(action, fields, within) {
    const answer = await this.developer.submit(action, fields, within);
    check(`${action} succeeds`, answer.status() === 200, answer.status());
    this.count += 1;
  }

  /** Submits a form whose answer shows something once. */
  async #gets(id, action, fields, within) {
    await this.#sends(action, fields, within);
    const text = await this.page.locator(`#${id}`).innerText();
    check(`${action} shows #${id}`, text.length > 10, text);
    return text;
  }

  /** The last segment of the address that a link has. */
  async #opens(link) {
    await this.developer.press(link);
    return new URL(this.page.url()).pathname.split('/').at(-1);
  }

  /** Every step of the home has a button that does it in the sandbox. */
  async followsTheChecklist() {
    const step = (number) => `.checklist > li:nth-child(${number})`;
    const presses = async (number, action) => {
      await this.developer.open();
      await this.#sends(action, {}, step(number));
    };
    await presses(1, 'ask');
    await this.developer.told();
    await presses(2, 'ask');
    await this.developer.told();
    await this.developer.open('sandbox');
    await this.#does('create');
    await presses(3, 'token');
    const token = await this.page.locator('#access-token').innerText();
    await this.developer.open('reference');
    await call({ key: await this.#gets('docs-key', 'prefill'), token });
    await presses(5, 'subscribe');
    await eventually('five ticks', () => this.#hasTicks(5));
    await presses(6, 'make');
    await eventually('all ticks', () => this.#hasTicks(6));
  }

  async #hasTicks(number) {
    await this.developer.open();
    return (await this.page.locator('.checklist > li.done').count()) === number;
  }

  async getsKeys() {
    await this.developer.open('subscriptions');
    await this.#does('ask', { product: 'payroll', name: 'Nóminas' });
    await this.#does('withdraw');
    await this.#does('ask', { product: 'accounting', name: 'Panel', sandbox: 'true' });
    await this.#opens(this.page.locator('main table a').first());
    const shown = await this.#gets('shown-key', 'reveal');
    const made = await this.#gets('shown-key', 'regenerate', { overlap: 'none' });
    check('another key', made !== shown);
  }

  async getsApplications() {
    await this.developer.open('applications');
    const asked = { name: 'Panel', redirect_uri: world.callback, product: ['accounting'] };
    await this.#does('ask', asked);
    await this.#does('withdraw');
    await this.#does('ask', { ...asked, sandbox: 'true' });
    this.client = await this.#opens(this.page.locator('main table a').first());
    await this.#does('rename', { name: 'Panel de pruebas' });
    await this.#does('set_logout_address', { backchannel_logout_uri: 'https://app.example.com/logout' });
    await this.#does('add_address', { redirect_uri: 'https://app.example.com/callback' });
    const isPending = (await this.page.locator('button[value=withdraw]').count()) > 0;
    await this.#does(isPending ? 'withdraw' : 'remove_address');
    await this.#gets('new-secret', 'rotate', { overlap: 'hour' });
  }

  #hasAnActiveWebhook() {
    const page = `webhooks/${this.webhook}`;
    return eventually('an active webhook', async () => (await this.developer.values(page)).webhook.status === 'active');
  }

  async usesTheSandbox() {
    await this.developer.open('sandbox');
    await this.#does('create');
    await this.#gets('sandbox-password', 'reveal');
    await this.#gets('access-token', 'token');
    await this.developer.open('sandbox/receiver');
    await this.#gets('new-secret', 'subscribe', { resource: 'accounting.customers' });
    this.webhook = await this.#opens(this.page.locator('#subscribed a'));
    await this.#hasAnActiveWebhook();
    for (const mode of ['fail', 'accept']) {
      await this.developer.open('sandbox/receiver');
      await this.developer.press(this.page.locator(`button[name=mode][value=${mode}]`));
      await this.developer.told();
      this.count += 1;
    }
    await this.#sends('make', { event: 'Svc.ACC.Customers.CustomerCreated' });
    this.made = Number(new URL(this.page.url()).searchParams.get('made'));
    check('an event', this.made > 0, this.page.url());
  }

  async signsTheSandboxUserIn() {
    await this.developer.open(`applications/${this.client}/sign-in`);
    await this.#sends('begin');
    check('the way to the sign-in', (await this.page.locator('a[href*="/connect/authorize"]').count()) === 1);
    await this.#sends('stop');
  }

  async changesAWebhook() {
    await this.developer.open(`webhooks/${this.webhook}`);
    await this.#does('test');
    await this.#does('pause');
    await this.#does('enable');
    await this.#gets('new-secret', 'rotate', { overlap: 'none' });
    await this.developer.open(`webhooks/${this.webhook}`);
    const url = await this.page.locator('#url').inputValue();
    await this.#does('change_url', { url: `${url}?n=2` });
    await this.#hasAnActiveWebhook();
  }

  async sendsAgain() {
    const deliveries = `webhooks/${this.webhook}/deliveries`;
    await this.developer.open(`webhooks/${this.webhook}`);
    // As a browser's field writes it, in UTC.
    await this.#does('replay', { from: new Date(Date.now() - 3_600_000).toISOString().slice(0, 16) });
    await this.developer.open(`${deliveries}/${this.made}`);
    await this.#does('replay');
    await this.developer.open('events');
    await this.developer.press(this.page.locator('main table a', { hasText: 'CustomerUpdated' }).first());
    await this.#does('send', { webhook: this.webhook });
  }

  /** Forms that change nothing. */
  async looksThingsUp() {
    for (const path of ['calls', 'webhooks', `webhooks/${this.webhook}/deliveries`, 'events']) {
      await this.developer.open(path);
      const filter = this.page.locator('main form[method=get] button');
      // A list without rows has nothing to filter.
      if ((await filter.count()) === 0) {
        check(`${path} is empty`, (await this.page.locator('main .empty').count()) === 1, this.page.url());
        continue;
      }
      await this.developer.press(filter);
      check(`the filter of ${path}`, new URL(this.page.url()).pathname.endsWith(path), this.page.url());
      this.count += 1;
    }
    await this.developer.open('reference');
    await this.#gets('docs-key', 'prefill');
    await this.developer.open('signature');
    const claim = { body: '{}', secret: 'x', signature: 'AAAA' };
    await this.developer.submitWith(this.page.locator('main form button[type=submit]'), claim);
    check('why it does not match', (await this.page.locator('#verdict li').count()) > 0);
    this.count += 1;
  }

  async choosesNotices() {
    await this.developer.open('notices');
    await this.#does('preferences', { kind: ['webhook_disabled'] });
    const chosen = await this.page.locator('[name=kind]:checked').count();
    check('one kind of notice', chosen === 1, chosen);
    if ((await this.page.locator('button[value=read]').count()) > 0) await this.#does('read');
  }

  async managesTheTeam(other) {
    await this.developer.open('team');
    await this.#does('rename', { name: 'Formularios y más' });
    await this.#does('invite', { email: newAddress('invitada'), role: 'member' });
    await this.#does('resend');
    await this.#does('revoke');
    const row = `main tr:has-text("${other}")`;
    await this.#does('role', {}, row);
    await this.#does('remove', {}, row);
    check('the member is gone', (await this.page.locator(row).count()) === 0);
  }

  async destroys() {
    await this.developer.open(`webhooks/${this.webhook}`);
    await this.#does('delete');
    await this.developer.open('sandbox');
    await this.#does('reset');
  }
}
