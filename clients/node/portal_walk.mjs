// A developer's way without leaving the browser: from the invitation to a verified delivery, a failed one and its replay.

import { LOCALES, SIZES, shot, watched } from './browser.mjs';
import { Developer, HOME, ORIGIN, invite } from './portal_stage.mjs';
import { check, world } from './stage.mjs';
import { newTeam } from './visitor.mjs';

const EVENT = 'Svc.ACC.Customers.CustomerCreated';
const STEPS = 6;

/** Returns what the team has at the end: ids, a key, a token, and how deliveries ended. */
export async function walk(browser, mailbox) {
  const context = await browser.newContext({ locale: LOCALES.es, viewport: SIZES.desk, reducedMotion: 'reduce' });
  const troubles = watched(context);
  const walker = new Walker(context);
  try {
    await walker.acceptsTheInvitation(mailbox);
    await walker.getsAKey();
    await walker.getsAnApplication();
    await walker.makesASandbox();
    await walker.signsTheSandboxUserIn();
    await walker.makesTheFirstCall();
    await walker.subscribesTheBuiltInReceiver();
    await walker.makesAnEventHappen();
    await walker.seesADeliveryFail();
    await walker.replaysIt();
  } catch (error) {
    const pages = context.pages();
    for (const [number, page] of pages.entries()) await shot(page, `portal/FAILED-walk-${number}`, { fullPage: true }).catch(() => {});
    throw new Error(`on the way, at ${pages.map((page) => page.url())}: ${error.message}; ${troubles}`, { cause: error });
  }
  check('nothing unusual on the way', troubles.length === 0, troubles);
  await context.close();
  return walker.has;
}

class Walker {
  constructor(context) {
    this.context = context;
    this.has = {};
  }

  async acceptsTheInvitation(mailbox) {
    const team = await newTeam('Panel de ventas');
    const { email, link } = await invite(mailbox, team, 'es');
    this.developer = new Developer(await this.context.newPage(), email, team);
    this.page = this.developer.page;
    Object.assign(this.has, { email, team });
    await this.developer.accept(link);
    check('the home of the team', this.page.url().startsWith(this.developer.url()), this.page.url());
    // The checklist stays open in another tab.
    this.home = await this.context.newPage();
    await this.home.goto(HOME);
    await this.home.locator('.live:not([hidden])').waitFor();
    await this.#ticked(0);
  }

  /** The open checklist ticks the steps by itself. */
  async #ticked(number) {
    await this.home.locator(`.checklist > li:nth-child(${STEPS})`).waitFor();
    if (number > 0) await this.home.locator('.checklist > li.done').nth(number - 1).waitFor();
    const done = await this.home.locator('.checklist > li.done').count();
    check(`${number} steps of ${STEPS} are done`, done === number, done);
  }

  /** Follows a link of the navigation. */
  #section(path) {
    return this.developer.press(this.page.locator(`nav a[href="${new URL(this.developer.url(path)).pathname}"]`).first());
  }

  async getsAKey() {
    await this.developer.press(this.page.locator('.checklist > li:first-child a.button'));
    await this.developer.submit('ask', { product: 'accounting', name: 'Panel', sandbox: 'true' });
    check('approved at once', (await this.developer.told()).includes('aprobado'), this.page.url());
    await this.developer.press(this.page.locator('main table a').first());
    this.has.subscription = new URL(this.page.url()).pathname.split('/').at(-1);
    await this.developer.submit('reveal');
    this.has.key = await this.page.locator('#shown-key').innerText();
    check('a key', /^[0-9a-f]{32}$/.test(this.has.key));
    await this.#ticked(1);
  }

  async getsAnApplication() {
    await this.#section('applications');
    await this.developer.submit('ask', { name: 'Panel', redirect_uri: world.callback, product: ['accounting'], sandbox: 'true' });
    check('approved at once', (await this.developer.told()).includes('aprobado'), this.page.url());
    await this.developer.press(this.page.locator('main table a').first());
    this.has.client = new URL(this.page.url()).pathname.split('/').at(-1);
    await this.#ticked(2);
  }

  async makesASandbox() {
    await this.#section('sandbox');
    await this.developer.submit('create');
    await this.developer.told();
    await this.page.locator('#companies tbody tr').first().waitFor();
  }

  async signsTheSandboxUserIn() {
    await this.developer.open(`applications/${this.has.client}`);
    await this.developer.press(this.page.locator('main a[href$="/sign-in"]'));
    await this.developer.submit('begin');
    const [email, password] = await Promise.all(['email', 'password'].map((id) => this.page.locator(`#sandbox-${id}`).innerText()));
    const [tab] = await Promise.all([this.context.waitForEvent('page'), this.page.locator('main a.button[target=_blank]').click()]);
    await tab.locator('#username').fill(email);
    await tab.locator('#password').fill(password);
    await tab.locator('main form[method=post] button').first().click();
    const allow = tab.locator('button[value=allow]');
    const exchange = tab.locator('button[value=exchange]');
    await allow.or(exchange).waitFor();
    if (await allow.isVisible()) await allow.click();
    check('the code leaves the address', !(await exchange.waitFor(), tab.url()).includes('code='), tab.url());
    await exchange.click();
    await tab.locator('#complete').waitFor();
    check('all steps of the sign-in', (await tab.locator('.checklist > li.done').count()) === 5, tab.url());
    await shot(tab, 'portal/walk-sign-in', { fullPage: true });
    await tab.close();
    await this.#ticked(3);
  }

  /** With a token of the sandbox, and with the key that the portal hands over to the page where calls are tried. */
  async makesTheFirstCall() {
    await this.#section('sandbox');
    await this.developer.submit('token');
    this.has.token = await this.page.locator('#access-token').innerText();
    await this.#section('reference');
    await this.developer.submit('prefill');
    // Another test tries calls on that page, which takes its time to load.
    const docs = (url) => url.pathname === '/docs/';
    await this.page.route(docs, (route) => route.fulfill({ contentType: 'text/html', body: '<link rel="icon" href="data:,">' }));
    await this.developer.press(this.page.locator('a[data-hand-over]'));
    const given = await this.page.evaluate(async ([url, token]) => {
      const { subscriptionKey } = JSON.parse(sessionStorage.getItem('aldaba.authorize'));
      const headers = { 'ocp-apim-subscription-key': subscriptionKey, authorization: `Bearer ${token}` };
      const answer = await fetch(url, { headers });
      return { status: answer.status, companies: await answer.json() };
    }, [`${ORIGIN}/accounting/api/companies`, this.has.token]);
    check('the companies of the sandbox', given.status === 200 && given.companies.length > 1, given);
    await this.page.unroute(docs);
    await this.developer.open();
    await this.#ticked(4);
  }

  async subscribesTheBuiltInReceiver() {
    await this.developer.open('sandbox/receiver');
    await this.developer.submit('subscribe', { resource: 'accounting.customers' });
    const link = this.page.locator('#subscribed a');
    this.has.webhook = (await link.getAttribute('href')).split('/').at(-1);
    this.has.secret = await this.page.locator('#new-secret').innerText();
    await this.page.goto(this.developer.url('sandbox/receiver'));
    await this.page.locator('#receiver-webhooks .state.ok').waitFor();
    await this.#ticked(5);
  }

  /** Makes it happen; returns the sequence of the event. */
  async #make() {
    await this.developer.open('sandbox/receiver');
    await this.developer.submit('make');
    const made = Number(new URL(this.page.url()).searchParams.get('made'));
    check('what happened', made > 0 && (await this.page.locator('#made').innerText()).includes(EVENT), this.page.url());
    return made;
  }

  async makesAnEventHappen() {
    const before = await this.page.locator('#received tr[data-row]').count();
    this.has.delivered = await this.#make();
    const row = this.page.locator('#received tr[data-row]', { hasText: 'CustomerCreated' });
    await row.locator('.state.ok').first().waitFor();
    check('one more at the receiver', (await this.page.locator('#received tr[data-row]').count()) > before);
    await shot(this.page, 'portal/walk-receiver', { fullPage: true });
    await this.developer.press(row.locator('a').first());
    this.has.received = new URL(this.page.url()).pathname.split('/').at(-1);
    check('the body that came', (await this.page.locator('#body-text').innerText()).includes('CustomerCreated'));
    await this.developer.open(`webhooks/${this.has.webhook}/deliveries`);
    await this.page.locator(`tr[data-row="${this.has.delivered}"] .state.ok`).waitFor();
    await this.#ticked(6);
    check('the home says so', (await this.home.locator('#progress > p .state.ok').count()) === 1);
  }

  /** The built-in receiver is told how to answer. */
  async #answer(mode) {
    await this.developer.open('sandbox/receiver');
    await this.developer.press(this.page.locator(`button[name=mode][value=${mode}]`));
    check(`the receiver is told to ${mode}`, (await this.page.locator(`button[value=${mode}][aria-pressed=true]`).count()) === 1);
  }

  async seesADeliveryFail() {
    await this.#answer('fail');
    this.has.failed = await this.#make();
    await this.developer.open(`webhooks/${this.has.webhook}/deliveries`);
    const row = this.page.locator(`tr[data-row="${this.has.failed}"]`);
    await row.locator('.sub', { hasText: '500' }).waitFor();
    await this.home.locator('#failing .state.bad').waitFor();
    await this.developer.press(row.locator('a').first());
    const diagnosis = await this.page.locator('#diagnosis').innerText();
    check('what failed and what to do', diagnosis.includes('5xx') && diagnosis.length > 80, diagnosis);
    await shot(this.page, 'portal/walk-failed', { fullPage: true });
  }

  async replaysIt() {
    await this.#answer('accept');
    await this.developer.open(`webhooks/${this.has.webhook}/deliveries/${this.has.failed}`);
    await this.developer.submit('replay');
    await this.developer.told();
    await this.page.locator('#delivery > .title-row > .state.ok').waitFor();
    await shot(this.page, 'portal/walk-replayed', { fullPage: true });
    await this.home.locator('#failing .state.bad').waitFor({ state: 'detached' });
  }
}
