// A person has forgotten their password: they ask for a link on the sign-in page, get it by mail, set a new password and
// sign in with it. On the development server, whose mails come to this program.

import { randomUUID } from 'node:crypto';

import { check, world } from './stage.mjs';

const WORDS = {
  es: { sent: 'Mira tu correo', short: 'al menos 10', set: 'ha cambiado', used: 'no sirve', wrong: 'No se ha podido iniciar la sesión' },
  en: { sent: 'Check your mail', short: 'at least 10', set: 'has been changed', used: 'does not work', wrong: 'We could not sign you in' },
};
const PASSWORDS = { old: 'una contraseña larga', weak: 'corta', new: 'siete lunas y un faro' };

export async function passwordReset(stage) {
  const person = await Person.withAnAccount(stage);
  await person.asksForALink();
  await person.triesAWeakPassword();
  await person.setsANewOne();
  await person.signsIn();
  await person.triesTheLinkAgain();
}

class Person {
  constructor({ page, users: { mailbox }, show, lang }) {
    Object.assign(this, { page, mailbox, show, words: WORDS[lang], home: `${world.dev.auth_url}/auth/core` });
  }

  /** Made over the operator's API. */
  static async withAnAccount(stage) {
    const person = new Person(stage);
    person.email = `ane.${randomUUID().slice(0, 6)}@example.com`;
    const answer = await fetch(`${world.dev.operator_url}/operator/v1/users`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.dev.operator_token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ email: person.email, givenName: 'Ane', lang: stage.lang, password: PASSWORDS.old }),
    });
    check('a new account', answer.status === 201, await answer.text());
    return person;
  }

  async #press(locator) {
    await Promise.all([this.page.waitForEvent('load'), locator.click()]);
  }

  #button() {
    return this.page.locator('main form.stack button').first();
  }

  async #heading(text) {
    const heading = await this.page.locator('h1').innerText();
    check(`the heading “${text}”`, heading.includes(text), heading);
  }

  async asksForALink() {
    await this.page.goto(`${this.home}/login`);
    await this.show('sign-in-forgotten');
    await this.#press(this.page.locator('main a[href*="/forgot"]'));
    await this.show('forgot');
    await this.page.locator('#email').fill(this.email);
    await this.#press(this.#button());
    await this.#heading(this.words.sent);
    await this.show('forgot-sent');
  }

  async #setPassword(password) {
    await this.page.locator('#new_password').fill(password);
    await this.page.locator('#repeated_password').fill(password);
    await this.#press(this.#button());
  }

  async triesAWeakPassword() {
    this.link = await this.mailbox.link(this.email);
    await this.page.goto(this.link);
    check('the secret leaves the address', !this.page.url().includes('token='), this.page.url());
    check('whose password it is', (await this.page.locator('h1').innerText()).includes(this.email));
    await this.show('reset');
    await this.#setPassword(PASSWORDS.weak);
    const notice = await this.page.locator('#notice').innerText();
    check('why the password is refused', notice.includes(this.words.short), notice);
    await this.show('reset-refused');
  }

  async setsANewOne() {
    await this.#setPassword(PASSWORDS.new);
    await this.#heading(this.words.set);
    await this.show('reset-done');
  }

  async #enter(password) {
    await this.page.locator('#username').fill(this.email);
    await this.page.locator('#password').fill(password);
    await this.#press(this.#button());
  }

  async signsIn() {
    await this.#press(this.page.locator('main a[href*="/login"]'));
    await this.#enter(PASSWORDS.old);
    const notice = await this.page.locator('#error').innerText();
    check('the old password does not work', notice.includes(this.words.wrong), notice);
    await this.#enter(PASSWORDS.new);
    check('the new one does', this.page.url().includes('/permissions'), this.page.url());
    check('as the same person', (await this.page.locator('header').innerText()).includes(this.email));
  }

  async triesTheLinkAgain() {
    await this.page.goto(this.link);
    const text = await this.page.locator('main').innerText();
    check('the link works once', text.includes(this.words.used), text);
    await this.show('reset-used');
  }
}
