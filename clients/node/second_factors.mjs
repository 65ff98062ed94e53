// A person adds a passkey and an authenticator app and signs in with each of them, and with a recovery code. The passkey is
// in Chromium's virtual authenticator. The pages are opened as `localhost`: passkeys are bound to host names.

import { randomUUID } from 'node:crypto';

import { check, claims, issuer, world } from './stage.mjs';
import { STEP_SECONDS, code, decoded } from './totp.mjs';

const WORDS = {
  es: { none: 'Aún no tienes', codes: 'Guarda tus códigos', step: 'Confirma que eres tú', wrong: 'no es válido' },
  en: { none: 'You have no second factor', codes: 'Save your recovery codes', step: 'Confirm that it is you', wrong: 'not valid' },
};
const home = issuer.replace('127.0.0.1', 'localhost');

export async function secondFactors(stage) {
  const person = new Person(stage);
  await person.hasAnAuthenticator();
  await person.signsInWithAPassword();
  await person.addsAPasskey();
  await person.addsAnApp();
  await person.signsInWithAPasskeyAlone();
  await person.signsInWithAnApp();
  await person.signsInWithARecoveryCode();
  await person.triesARecoveryCodeAgain();
}

class Person {
  constructor({ page, context, callbacks, users, show, lang }) {
    Object.assign(this, { page, context, callbacks, user: users, show, words: WORDS[lang] });
  }

  async hasAnAuthenticator() {
    const session = await this.context.newCDPSession(this.page);
    await session.send('WebAuthn.enable');
    await session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true,
        isUserVerified: true, automaticPresenceSimulation: true,
      },
    });
  }

  async #press(locator) {
    await Promise.all([this.page.waitForEvent('load'), locator.click()]);
  }

  /** The script runs the ceremony before the form is sent. */
  async #usePasskey() {
    const button = this.page.locator('form[data-passkey] button');
    await Promise.all([this.page.waitForEvent('load'), button.click()]);
  }

  async #heading(text) {
    const heading = await this.page.locator('h1').innerText();
    check(`the heading “${text}”`, heading.includes(text), heading);
  }

  async #enterPassword() {
    await this.page.goto(`${home}/login`);
    await this.page.locator('#username').fill(this.user.email);
    await this.page.locator('#password').fill(this.user.password);
    await this.#press(this.page.locator('form.stack button').first());
  }

  async #signOut() {
    await this.page.goto(`${home}/logout`);
    await this.#press(this.page.locator('main form[method=post] button').first());
  }

  /** The `amr` and `acr` of an id_token that a client gets in this session. */
  async #authentication() {
    const { client_id, client_secret } = world.site.clients.usual;
    const state = randomUUID();
    const asked = { client_id, response_type: 'code', redirect_uri: world.callback, scope: 'openid', state, acr_values: '2fa', prompt: 'none' };
    await this.page.goto(`${home}/connect/authorize?${new URLSearchParams(asked)}`);
    const given = this.callbacks.take(state).params.get('code');
    const fields = { grant_type: 'authorization_code', code: given, redirect_uri: world.callback, client_id, client_secret };
    const answer = await fetch(`${issuer}/connect/token`, { method: 'POST', body: new URLSearchParams(fields) });
    const { amr, acr } = claims((await answer.json()).id_token);
    return `${amr} ${acr}`;
  }

  async signsInWithAPassword() {
    await this.#enterPassword();
    check('the password alone is enough', this.page.url().includes('/permissions'), this.page.url());
    await this.page.goto(`${home}/account/second-factors`);
    check('no second factor', (await this.page.locator('main').innerText()).includes(this.words.none));
    await this.show('second-factors-none');
  }

  async addsAPasskey() {
    await this.#press(this.page.locator('a[href*="second-factors/passkey"]'));
    await this.show('second-factors-passkey');
    await this.page.locator('#name').fill('Portátil');
    await this.#usePasskey();
    await this.#heading(this.words.codes);
    await this.show('recovery-codes');
    this.codes = await this.page.locator('.recovery-codes code').allInnerTexts();
    check('ten recovery codes', this.codes.length === 10, this.codes.length);
    await this.#press(this.page.locator('main a.button'));
    check('the passkey is listed', (await this.page.locator('li.access').count()) === 1);
    check('this session has a second factor now', (await this.#authentication()) === 'password,2fa 2fa');
  }

  async addsAnApp() {
    await this.page.goto(`${home}/account/second-factors/totp`);
    await this.show('second-factors-app');
    this.secret = decoded(await this.page.locator('code.secret').innerText());
    this.step = Math.floor(Date.now() / 1000 / STEP_SECONDS);
    await this.page.locator('#code').fill(code(this.secret, this.step));
    await this.#press(this.page.locator('main form[method=post] button'));
    check('both are listed', (await this.page.locator('li.access').count()) === 2);
    await this.page.locator('li.access details summary').first().click();
    await this.show('second-factors');
  }

  async signsInWithAPasskeyAlone() {
    await this.#signOut();
    await this.page.goto(`${home}/login`);
    await this.show('sign-in-with-passkey');
    await this.#usePasskey();
    check('signed in', this.page.url().includes('/permissions'), this.page.url());
    check('without a password', (await this.#authentication()) === 'passkey,2fa 2fa');
  }

  /** Each code is valid once, and codes of the next step are accepted. */
  async signsInWithAnApp() {
    await this.#signOut();
    await this.#enterPassword();
    await this.#heading(this.words.step);
    await this.show('second-factor');
    this.step = Math.max(this.step + 1, Math.floor(Date.now() / 1000 / STEP_SECONDS));
    await this.page.locator('#code').fill(code(this.secret, this.step));
    await this.#press(this.page.locator('form:has(#code) button'));
    check('password and app', (await this.#authentication()) === 'password,2fa 2fa');
  }

  async #enterRecoveryCode() {
    await this.#enterPassword();
    await this.page.locator('details summary').click();
    await this.page.locator('#recovery_code').fill(this.codes[0]);
    await this.#press(this.page.locator('form:has(#recovery_code) button'));
  }

  async signsInWithARecoveryCode() {
    await this.#signOut();
    await this.#enterRecoveryCode();
    check('password and recovery code', (await this.#authentication()) === 'password,2fa 2fa');
  }

  async triesARecoveryCodeAgain() {
    await this.#signOut();
    await this.#enterRecoveryCode();
    const notice = await this.page.locator('#error').innerText();
    check('a code is valid once', notice.includes(this.words.wrong), notice);
    await this.show('second-factor-wrong');
  }
}
