// One tour of all pages, as a user would make it, with a screenshot or an audit of each.

import { randomUUID } from 'node:crypto';

import { SCOPE, check, claims, issuer, world } from './stage.mjs';

const OUT_OF_BAND = 'urn:ietf:wg:oauth:2.0:oob';
const WORDS = {
  es: {
    signIn: 'Iniciar sesión', wrong: 'No se ha podido iniciar la sesión', choose: 'Elegir organización',
    asks: 'solicita acceso a los datos de tu organización', code: 'Copia este código', signedOut: 'Sesión cerrada',
    unknown: 'Aplicación no disponible', other: 'English', nothingChosen: 'Falta elegir una organización',
  },
  en: {
    signIn: 'Sign in', wrong: 'We could not sign you in', choose: 'Choose an organisation',
    asks: 'asks for access to your organisation’s data', code: 'Copy this code', signedOut: 'You are signed out',
    unknown: 'Application not available', other: 'Español', nothingChosen: 'Choose an organisation',
  },
};

export async function tour(stage) {
  const person = new Person(stage);
  const first = await person.signsIn();
  await person.sendsByForm();
  await person.isSentOn();
  await person.consents();
  await person.carriesTheCode();
  await person.takesAccessBack(first);
  await person.signsOut();
  await person.looksForATenant();
  await person.looksInVain();
  await person.isSentAway();
  await person.goesAstray();
}

class Person {
  constructor({ page, context, callbacks, users, show, lang, plain }) {
    Object.assign(this, { page, context, callbacks, users, show, lang, plain, words: WORDS[lang] });
  }

  /** An authorization request with a unique state. */
  #ask(client, more = {}) {
    const state = randomUUID();
    const asked = {
      client_id: client.client_id, response_type: 'code', redirect_uri: world.callback, scope: SCOPE,
      state, nonce: randomUUID(), ...more,
    };
    return { state, client, redirectUri: asked.redirect_uri, url: `${issuer}/connect/authorize?${new URLSearchParams(asked)}` };
  }

  async #press(locator) {
    await Promise.all([this.page.waitForEvent('load'), locator.click()]);
  }

  #button(more = '') {
    return this.page.locator(`main form[method=post] button${more}`).first();
  }

  async #heading(text) {
    const heading = await this.page.locator('h1').innerText();
    check(`the heading “${text}”`, heading.includes(text), heading);
  }

  async #enter(user, password = user.password) {
    await this.page.locator('#username').fill(user.email);
    await this.page.locator('#password').fill(password);
    await this.#press(this.#button());
  }

  #mark(tenant) {
    return this.page.locator('label.choice', { has: this.page.locator(`[value="${tenant}"]`) }).click();
  }

  async #choose(tenant) {
    await this.#mark(tenant);
    await this.#press(this.#button('[value=allow]'));
  }

  /** After a form, a page of the provider goes on to the application by itself. */
  async #arrived({ state }, method = 'GET') {
    await this.page.waitForURL((url) => url.href.startsWith(world.callback));
    const come = this.callbacks.take(state);
    check(`${method} with the state`, come?.method === method, come);
    check('RFC 9207’s iss', come.params.get('iss') === issuer, come);
    return come.params;
  }

  async #post(path, fields, client) {
    const { client_id, client_secret } = client;
    const body = new URLSearchParams({ client_id, client_secret, ...fields });
    const answer = await fetch(`${issuer}/connect/${path}`, { method: 'POST', body });
    check(`${path} answers`, answer.status === 200, answer.status);
    return answer.json();
  }

  #exchange(code, { client, redirectUri }) {
    return this.#post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, client);
  }

  async signsIn() {
    const { two } = this.users;
    const ask = this.#ask(world.site.clients.usual);
    await this.page.goto(ask.url);
    await this.#heading(this.words.signIn);
    await this.show('sign-in');
    await this.#press(this.page.locator('a.language-switch', { hasText: this.words.other }));
    check('the other language', (await this.page.locator('html').getAttribute('lang')) !== this.lang);
    await this.#press(this.page.locator('a.language-switch'));

    await this.#enter(two, 'not this one');
    const notice = await this.page.locator('#error').innerText();
    check('what is wrong', notice.includes(this.words.wrong), notice);
    check('the name is kept', (await this.page.locator('#username').inputValue()) === two.email);
    check('the password is not', (await this.page.locator('#password').inputValue()) === '');
    for (const id of ['#username', '#password']) {
      const field = this.page.locator(id);
      const marks = [await field.getAttribute('aria-invalid'), await field.getAttribute('aria-describedby')];
      check(`${id} is marked`, marks.join(' ') === 'true error', marks);
    }
    await this.#showsThePassword();
    await this.show('sign-in-wrong');

    await this.#enter(two);
    await this.#heading(this.words.choose);
    await this.#onlyTheLastUsed();
    await this.show('tenant');
    await this.#choose(two.tenants[1]);
    const tokens = await this.#exchange((await this.#arrived(ask)).get('code'), ask);
    check('the chosen tenant', claims(tokens.access_token)['svc.es.clientid'] === two.tenants[1], tokens);
    return tokens;
  }

  /** A box shows the password; without scripts there is none. */
  async #showsThePassword() {
    const [box, field] = [this.page.locator('input[data-reveals]'), this.page.locator('#password')];
    check('a box only with scripts', (await box.isVisible()) === !this.plain);
    if (this.plain) return;
    await field.fill('not this one');
    await box.check();
    check('the password is shown', (await field.getAttribute('type')) === 'text');
    await box.uncheck();
    check('and hidden again', (await field.getAttribute('type')) === 'password');
  }

  /** The tenant that was used last is marked and preselected, and no other. */
  async #onlyTheLastUsed() {
    const chosen = await this.page.locator('label.choice:has(:checked)').count();
    const marked = await this.page.locator('label.choice .badge').count();
    const both = await this.page.locator('label.choice:has(:checked):has(.badge)').count();
    check('only the last used tenant', chosen === marked && both === marked && marked <= 1, [chosen, marked, both]);
  }

  /** The buttons are on the screen without scrolling, however long the list is. */
  async #buttonsAreSeen() {
    const bar = await this.page.locator('.form-actions').boundingBox();
    const { height } = this.page.viewportSize();
    check('the buttons are on the screen', bar.y >= 0 && bar.y + bar.height <= height + 1, [bar, height]);
  }

  /** The alert of the page, not the bubble of the browser. */
  async #isToldThatNothingIsChosen() {
    if (this.plain) return;
    await this.page.evaluate(() => { for (const one of document.querySelectorAll('[name=tenant]')) one.checked = false; });
    await this.#press(this.#button('[value=allow]'));
    const alert = await this.page.locator('#error').innerText();
    check('the alert of the page', alert.includes(this.words.nothingChosen), alert);
    await this.show('tenant-nothing-chosen');
  }

  async sendsByForm() {
    const ask = this.#ask(world.site.clients.usual, { response_mode: 'form_post' });
    await this.page.goto(ask.url);
    // The form_post page submits itself at once: the application responds with 204 the first time, so that the browser stays.
    this.callbacks.stay(ask.state);
    await this.#mark(this.users.two.tenants[0]);
    await this.#button('[value=allow]').click();
    await this.page.locator(`form[action="${world.callback}"]`).waitFor();
    if (this.plain) await this.#button().click();
    await this.#waitFor(() => this.callbacks.take(ask.state), 'the form is sent');
    await this.show('form-post');
    await this.#press(this.#button());
    const params = await this.#arrived(ask, 'POST');
    check('an id_token beside the code', params.get('code') && params.get('id_token'), [...params]);
    await this.#exchange(params.get('code'), ask);
  }

  /**
   * The application's callback redirects to another origin. Chromium applies the form-action of the page with the form to the
   * whole chain of redirects after it, so this must not be part of that chain.
   */
  async isSentOn() {
    const elsewhere = new URL(world.callback);
    elsewhere.hostname = '127.0.0.1';
    elsewhere.pathname = '/home';
    check('another origin', elsewhere.origin !== new URL(world.callback).origin, elsewhere.href);
    for (const more of [{}, { response_mode: 'form_post' }]) {
      const ask = this.#ask(world.site.clients.usual, more);
      this.callbacks.forward(ask.state, elsewhere.href);
      await this.page.goto(ask.url);
      await this.#mark(this.users.two.tenants[0]);
      await this.#button('[value=allow]').click();
      if (this.plain && more.response_mode) {
        await this.page.locator(`form[action="${world.callback}"]`).waitFor();
        await this.#button().click();
      }
      await this.page.waitForURL(elsewhere.href);
      await this.#exchange(this.callbacks.take(ask.state).params.get('code'), ask);
    }
  }

  async #waitFor(look, what) {
    for (let looks = 0; looks < 200; looks += 1) {
      if (look()) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    check(what, false);
  }

  async consents() {
    const no = this.#ask(world.site.clients.consent);
    await this.page.goto(no.url);
    await this.#heading(this.words.asks);
    const { host } = new URL(world.callback);
    const returns = await this.page.locator('.returns-to').innerText();
    check('where the answer goes', returns.includes(host), returns);
    await this.#buttonsAreSeen();
    await this.show('consent');
    await this.#press(this.#button('[value=deny]'));
    const denied = await this.#arrived(no);
    check('access_denied', denied.get('error') === 'access_denied', [...denied]);

    const yes = this.#ask(world.site.clients.consent);
    await this.page.goto(yes.url);
    await this.#choose(this.users.two.tenants[0]);
    await this.#exchange((await this.#arrived(yes)).get('code'), yes);
  }

  async carriesTheCode() {
    const ask = this.#ask(world.site.clients.usual, { redirect_uri: OUT_OF_BAND });
    await this.page.goto(ask.url);
    await this.#choose(this.users.two.tenants[1]);
    await this.#heading(this.words.code);
    await this.show('code');
    const code = await this.page.locator('#code').inputValue();
    const title = new URLSearchParams((await this.page.title()).replace(/^Success /, ''));
    check('code and state in the title', title.get('code') === code && title.get('state') === ask.state, [...title]);
    check('the state', (await this.page.locator('#state').inputValue()) === ask.state);
    await this.#exchange(code, ask);
  }

  async takesAccessBack(tokens) {
    await this.page.goto(`${issuer}/permissions`);
    const entries = this.page.locator('li.access');
    const number = await entries.count();
    check('three accesses: an application for two tenants, another for one', number === 3, number);
    const groups = await this.page.locator('li.application').count();
    check('two applications', groups === 2, groups);
    check('permissions are folded', (await this.page.locator('details.permissions[open]').count()) === 0);
    const local = await this.page.locator('time[data-utc]').count();
    check('local times with scripts', (local > 0) === !this.plain, local);
    await this.show('permissions');
    for (let left = number; left > 0; left -= 1) {
      if (left === number) await entries.first().locator('.permissions > summary').click();
      await entries.first().locator('.revocation > summary').click();
      if (left === number) await this.show('permissions-open');
      await this.#press(entries.first().locator('form button'));
      check('a word that it is done', (await this.page.locator('#notice').count()) === 1);
      check('one less', (await entries.count()) === left - 1);
      if (left === number) await this.show('permissions-taken-back');
    }
    await this.show('permissions-none');
    const headers = { authorization: `Bearer ${tokens.access_token}` };
    const answer = await fetch(`${issuer}/connect/userinfo`, { headers });
    check('the token is worth nothing', answer.status === 401, answer.status);
  }

  async signsOut() {
    await this.#press(this.page.locator('header a[href*="/logout"]'));
    await this.show('sign-out');
    await this.#press(this.#button());
    await this.#heading(this.words.signedOut);
    await this.show('signed-out');
    await this.page.goto(`${issuer}/permissions`);
    await this.#heading(this.words.signIn);
    await this.show('sign-in-for-permissions');
  }

  async looksForATenant() {
    const { many } = this.users;
    const ask = this.#ask(world.site.clients.consent, { login_hint: many.email });
    await this.page.goto(ask.url);
    check('the hint', (await this.page.locator('#username').inputValue()) === many.email);
    await this.#enter(many);
    await this.#onlyTheLastUsed();
    await this.#buttonsAreSeen();
    await this.show('consent-many');
    await this.#search('ibanez');
    check('one found', (await this.page.locator('label.choice').count()) === 1);
    await this.show('consent-found');
    await this.#choose('t-2');
    this.tokens = await this.#exchange((await this.#arrived(ask)).get('code'), ask);
  }

  /** Another client, which needs no consent. */
  async looksInVain() {
    await this.page.goto(this.#ask(world.site.clients.usual).url);
    await this.#heading(this.words.choose);
    await this.#buttonsAreSeen();
    await this.show('tenant-many');
    await this.#isToldThatNothingIsChosen();
    await this.#search('nada');
    check('nothing found', (await this.page.locator('div.empty').count()) === 1);
    await this.show('tenant-none');
  }

  async #search(words) {
    await this.page.locator('#q').fill(words);
    await this.#press(this.page.locator('form.search button'));
  }

  /** A client ends the session: at once with an id_token hint, after a confirmation without. */
  async isSentAway() {
    const back = new URL('/signed-out', world.callback).href;
    const end = (fields) => `${issuer}/connect/endsession?${new URLSearchParams(fields)}`;
    const { client_id } = world.site.clients.consent;
    const state = randomUUID();
    await this.page.goto(end({ client_id, post_logout_redirect_uri: back, state }));
    await this.show('sign-out-asked');
    await this.page.goto(end({ id_token_hint: this.tokens.id_token, post_logout_redirect_uri: back, state }));
    check('back at the application', this.page.url() === `${back}?state=${state}`, this.page.url());
    check('the state', this.callbacks.take(state)?.path === '/signed-out');
  }

  async goesAstray() {
    const nobody = this.#ask({ client_id: 'nobody' });
    const answer = await this.page.goto(nobody.url);
    check('400', answer.status() === 400, answer.status());
    await this.#heading(this.words.unknown);
    await this.page.locator('summary').click();
    await this.show('error');
    const foreign = this.#ask(world.site.clients.usual, { redirect_uri: 'https://elsewhere.example/' });
    check('no way there', (await this.page.goto(foreign.url)).status() === 400);
    const text = await this.page.locator('main').innerText();
    check('no registered address', !text.includes(new URL(world.callback).host), text);
    await this.show('error-way-back');
    await this.#press(this.page.locator('a.language-switch', { hasText: this.words.other }));
    check('the same error in the other language', (await this.page.locator('html').getAttribute('lang')) !== this.lang);
    await this.#press(this.page.locator('a.language-switch'));
    check('404', (await this.page.goto(`${issuer}/nowhere`)).status() === 404);
    await this.show('error-not-found');
    await this.#press(this.page.locator('main a.button').first());
    await this.#heading(this.words.signIn);
  }
}
