// Shared by the tests of the operator console: operators in their browsers, an application with webhooks, its receiver.

import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';

import { accessToken, check, world } from './stage.mjs';
import { Visitor, eventually, operate } from './visitor.mjs';

const { dev } = world;
export const HOME = dev.console_url;
const CUSTOMERS = '/accounting/api/customers/webhooks';
const EVENTS = ['Created', 'Updated'].map((event) => `Svc.ACC.Customers.Customer${event}`);
/** Longer than a sign-in counts as fresh, in ticks of 100 ns. */
const AGED_TICKS = 20 * 60 * 10_000_000;
const AGE = `
import sqlite3, sys
store = sqlite3.connect(sys.argv[1], timeout=10)
with store:
    aged = store.execute("UPDATE sessions SET authenticated_at = authenticated_at - ? WHERE user_id = ?", sys.argv[2:])
sys.exit(0 if aged.rowcount > 0 else "no session")
`;

/** Makes an account's sessions older than dangerous actions allow. */
export function ageSessions(account) {
  execFileSync('python3', ['-c', AGE, world.store, String(AGED_TICKS), account]);
}

/** An operator with a page of the console. */
export class Operator extends Visitor {
  constructor(page, { home = HOME, email, password }) {
    super(page, home, email, password);
  }

  /** Follows a link of the navigation. */
  section(path) {
    const link = this.page.locator(`nav a[href="${new URL(this.url(path)).pathname}"]`).first();
    return this.press(link);
  }

  /** Submits a form of the open page; the page that follows says that it is done. */
  async does(action, fields, within) {
    const answer = await this.submit(action, fields, within);
    const refused = this.page.locator('#refused');
    const why = (await refused.count()) > 0 ? await refused.innerText() : answer.status();
    check(`${action} succeeds`, answer.status() === 200, why);
    return this.told();
  }

  /** Submits a form whose answer shows something once; returns it. */
  async gets(id, action, fields, within) {
    const answer = await this.submit(action, fields, within);
    check(`${action} succeeds`, answer.status() === 200, answer.status());
    const text = await this.page.locator(`#${id}`).innerText();
    check(`${action} shows #${id}`, text.length > 10, text);
    return text;
  }

  /** Fills fields of the page's filter and applies it. */
  async filter(fields) {
    return this.submitWith(this.page.locator('main form[method=get] button[type=submit]').first(), fields);
  }

  row(text) {
    return this.page.locator('main tr[data-row]', { hasText: text });
  }

  /** Opens the page that a row of the list leads to; returns the last part of its address. */
  async enterRow(text) {
    await this.press(this.row(text).first().locator('a').first());
    return decodeURIComponent(new URL(this.page.url()).pathname.split('/').at(-1));
  }

  async text(selector = 'main') {
    return this.page.locator(selector).first().innerText();
  }

  /** The rows of the open page's CSV file, the names of the columns first. */
  async csv() {
    const link = await this.page.locator('main a[href*="format=csv"]').first().getAttribute('href');
    const answer = await this.page.request.get(new URL(link, this.page.url()).href);
    check('a CSV file', answer.ok() && answer.headers()['content-type'].startsWith('text/csv'), answer.status());
    return (await answer.text()).trim().split(/\r?\n/);
  }
}

/** An application that a user has let in, with webhooks. */
export class Application {
  static async open(user, tenant = user.tenants[0]) {
    const application = new Application();
    Object.assign(application, { tenant, token: await accessToken(dev, user, tenant) });
    return application;
  }

  async call(method, path, body, company) {
    const answer = await fetch(dev.base_url + path, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        'ocp-apim-subscription-key': dev.subscription.primary_key,
        context: company ? JSON.stringify({ clientId: company }) : 'none',
        'content-type': 'application/json',
      },
      body: body && JSON.stringify(body),
    });
    const text = await answer.text();
    check(`${method} ${path}`, answer.ok, `${answer.status} ${text}`);
    return { id: answer.headers.get('x-request-id'), body: JSON.parse(text) };
  }

  /** A webhook that is active, unless the receiver refuses it. */
  async subscribe(url, isAccepted = true) {
    const asked = { thirdPartyApplicationName: 'Panel', url, secret: 'un secreto bastante largo', eventTypes: EVENTS };
    const { body } = await this.call('POST', `${CUSTOMERS}/subscribe`, asked);
    const isActive = async () => (await this.call('GET', `${CUSTOMERS}/${body.webhookId}`)).body.isActive;
    if (isAccepted) await eventually('the Acknowledge is accepted', isActive);
    return body.webhookId;
  }

  /** Changes a customer of a company; returns the sequence of the change. */
  async change(company, customer, tradeName) {
    const told = await operate('POST', `tenants/${this.tenant}/changes`, [{
      area: 'accounting', resource: 'customers', company, action: 'upsert', correlationId: customer, user: 'maría',
      data: { tradeName, accountCode: '43000000001', accountCodeCorrelationId: 'account' },
    }]);
    check('an accepted change', told.accepted === 1, told);
    return Number(told.lastSequenceVersion);
  }
}

/** A receiver of webhooks on this machine; it fails while told to, on the paths that contain `fail`. */
export class Receiver {
  #server;
  fails = false;
  received = [];

  static async listen() {
    const receiver = new Receiver();
    receiver.#server = createServer(async (request, response) => {
      let body = '';
      for await (const piece of request) body += piece;
      receiver.received.push({ path: request.url, body });
      const isFailure = receiver.fails && request.url.includes('fail');
      response.writeHead(isFailure ? 500 : 200, { 'content-type': 'text/plain' }).end(isFailure ? 'out of order' : '');
    });
    await new Promise((resolve, reject) => { receiver.#server.once('error', reject).listen(0, resolve); });
    receiver.port = receiver.#server.address().port;
    return receiver;
  }

  url(path, host = 'localhost') {
    return `http://${host}:${this.port}/${path}`;
  }

  close() {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
