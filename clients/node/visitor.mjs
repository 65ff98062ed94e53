// Shared by the tests of the portal and of the console: the operator's API, and people in front of a page.

import { randomUUID } from 'node:crypto';

import { check, world } from './stage.mjs';

const { dev } = world;
export const PASSWORD = 'siete lunas y un faro';
const WAIT_MS_MAX = 20_000;

/** A call of the operator's API; returns its answer. */
export async function operate(method, path, body) {
  const answer = await fetch(`${dev.operator_url}/operator/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${dev.operator_token}`, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  const text = await answer.text();
  check(`${method} ${path} succeeds`, answer.ok, `${answer.status} ${text}`);
  return text ? JSON.parse(text) : undefined;
}

export async function newTeam(name) {
  return (await operate('POST', 'teams', { name })).id;
}

/** An address that nobody has. */
export function newAddress(name) {
  return `${name}.${randomUUID().slice(0, 6)}@example.com`;
}

/** Waits until `look` returns something. */
export async function eventually(what, look) {
  for (const deadline = Date.now() + WAIT_MS_MAX; ;) {
    const found = await look();
    if (found) return found;
    check(`${what} within ${WAIT_MS_MAX} ms`, Date.now() < deadline);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Somebody with an account, and a page of the site whose home is `home`. */
export class Visitor {
  constructor(page, home, email, password = PASSWORD) {
    Object.assign(this, { page, home, email, password });
  }

  /** The URL of a page. */
  url(path = '') {
    return `${this.home}${path}`;
  }

  async open(path = '', status = 200) {
    const answer = await this.page.goto(this.url(path));
    check(`${path} answers with ${status}`, answer.status() === status, answer.status());
    return answer;
  }

  async press(locator) {
    const [answer] = await Promise.all([this.page.waitForNavigation({ waitUntil: 'load' }), locator.click()]);
    return answer;
  }

  /** Fills fields of the form that has the button, and submits it. A form in a closed part of the page is opened first. */
  async submit(action, fields = {}, within = 'main') {
    const button = this.page.locator(`${within} button[name=do][value=${action}]`).first();
    return this.submitWith(button, fields);
  }

  async submitWith(button, fields = {}) {
    for (const part of await button.locator('xpath=ancestor::details[not(@open)]').all()) {
      await part.locator('> summary').click();
    }
    const form = button.locator('xpath=ancestor::form');
    for (const [name, value] of Object.entries(fields)) {
      const input = form.locator(`[name="${name}"]`);
      const kind = await input.first().evaluate((element) => element.type);
      if (kind === 'checkbox' || kind === 'radio') {
        for (const one of await input.all()) {
          const wanted = [value].flat().includes(await one.getAttribute('value'));
          if (kind === 'checkbox' || wanted) await one.setChecked(wanted, { force: true });
        }
      } else if (kind.startsWith('select')) await input.selectOption(value);
      else await input.fill(value);
    }
    return this.press(button);
  }

  /** What the page says after an action has succeeded. */
  async told() {
    const notice = this.page.locator('#done');
    check('the page says that it is done', (await notice.count()) === 1, this.page.url());
    return notice.innerText();
  }

  /** The page's values, as programs get them. */
  async values(path) {
    const answer = await this.page.request.get(this.url(path), { headers: { accept: 'application/json' } });
    check(`${path} as JSON`, answer.ok(), answer.status());
    return answer.json();
  }

  /** Makes the account that an invitation is for, on the page that its link leads to. */
  async accept(link) {
    const { page } = this;
    if (link) await page.goto(link);
    await page.locator('#given_name').fill('Nora');
    for (const field of ['#new_password', '#repeated_password']) await page.locator(field).fill(this.password);
    await this.press(page.locator('main form.stack button').first());
  }

  async signIn() {
    await this.page.goto(this.home);
    await this.enter();
    await this.page.waitForURL(`${this.home}**`);
  }

  /** Fills the form of the sign-in. */
  async enter() {
    await this.page.locator('#username').fill(this.email);
    await this.page.locator('#password').fill(this.password);
    await this.press(this.page.locator('main form.stack button').first());
  }
}
