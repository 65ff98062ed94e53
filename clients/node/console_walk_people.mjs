// Jobs on tenants, users and operators, and the proof of identity that dangerous actions ask for.

import { LOCALES, shot } from './browser.mjs';
import { HOME, Operator, ageSessions } from './console_stage.mjs';
import { accessToken, check, issuer, refused, world } from './stage.mjs';
import { STEP_SECONDS, code, decoded } from './totp.mjs';
import { Visitor, newAddress, operate } from './visitor.mjs';

const { dev } = world;
const TENANT = 't-paseo';

/** The state of something in the operator's API. */
const standing = async (path) => (await operate('GET', path)).standing;

/** Adds a tenant, and disables it. */
export async function managesTenants({ operator, has }) {
  await operator.section('tenants');
  await operator.does('add', { name: 'Bodegas Urrutia', id: TENANT, short_code: '4188' });
  check('the page of the new tenant', operator.page.url().includes(`/tenants/${TENANT}`), operator.page.url());
  await operator.does('add_member', { user: dev.users[0].email });
  check('a member', (await operator.row(dev.users[0].email).count()) === 1);
  await operator.section('tenants');
  await operator.filter({ q: 'bodegas urr' });
  check('one tenant is found', (await operator.page.locator('main tr[data-row]').count()) === 1);
  await operator.enterRow('Bodegas Urrutia');
  await operator.does('disable');
  check('the tenant is disabled', (await standing(`tenants/${TENANT}`)) === 'disabled');
  has.disabledTenant = TENANT;
}

/** A user with an authenticator app, who is signed in. */
async function newUser(browser) {
  const [email, password] = [newAddress('lucia'), 'cuatro tardes de marzo'];
  await operate('POST', 'users', { email, password, givenName: 'Lucía', tenants: [dev.tenants[0].id] });
  const context = await browser.newContext({ locale: LOCALES.es });
  const page = await context.newPage();
  const site = issuer.replace('127.0.0.1', 'localhost');
  await page.goto(`${site}/login`);
  await new Visitor(page, site, email, password).enter();
  await page.goto(`${site}/account/second-factors/totp`);
  await enrol(page);
  return { user: { email, password, tenants: [dev.tenants[0].id] }, page, context };
}

/** Enrols an authenticator app on its page; returns its secret. */
async function enrol(page) {
  const secret = decoded(await page.locator('code.secret').innerText());
  await page.locator('#code').fill(code(secret, Math.floor(Date.now() / 1000 / STEP_SECONDS)));
  await Promise.all([page.waitForEvent('load'), page.locator('main form[method=post] button').click()]);
  return secret;
}

/** Finds a user, ends the sessions, resets the second factor, and disables the account. */
export async function managesUsers({ browser, operator, has }) {
  const { user, page, context } = await newUser(browser);
  await operator.section('users');
  await operator.filter({ q: user.email.slice(0, 8) });
  has.user = await operator.enterRow(user.email);
  await shot(operator.page, 'console/walk-user', { fullPage: true });
  await operator.does('end_sessions');
  await page.goto(`${issuer.replace('127.0.0.1', 'localhost')}/account`);
  check('the session is over', (await page.locator('#password').count()) === 1, page.url());
  await operator.does('reset_factors');
  await accessToken(dev, user);
  await operator.does('disable');
  await refused('nobody who is disabled signs in', () => accessToken(dev, user));
  check('the account is disabled', (await standing(`users/${has.user}`)) === 'disabled');
  await context.close();
}

/** Invites an operator, who accepts and sees the console as their role allows. */
export async function invitesAnOperator({ browser, mailbox, operator, has }) {
  await operator.section('operators');
  await operator.press(operator.page.locator('main a[href*="invitations?"]').first());
  const email = newAddress('vera');
  await operator.does('invite', { email, role: 'viewer', lang: 'es' });
  const context = await browser.newContext({ locale: LOCALES.es });
  const viewer = new Operator(await context.newPage(), { email });
  await viewer.accept(await mailbox.link(email));
  check('the console of the new operator', viewer.page.url().startsWith(HOME), viewer.page.url());
  await viewer.section('tenants');
  check('a viewer adds no tenants', (await viewer.page.locator('main button[name=do]').count()) === 0);
  await context.close();
  await operator.section('operators');
  has.viewer = { id: await operator.enterRow(email), email };
}

/** A dangerous action asks for the password, and for the second factor where there is one. */
export async function provesWhoTheyAre({ operator }) {
  const { page } = operator;
  const { id } = await operate('GET', `operators/${dev.operator.email}`);
  const there = `tenants/${TENANT}`;
  await operator.open(there);
  ageSessions(id);
  await operator.submit('enable');
  check('the password is asked for', (await page.locator('#password').count()) === 1, page.url());
  check('nothing has happened', (await standing(there)) === 'disabled');
  await operator.enter();
  check('the way back', page.url().split('?')[0] === operator.url(there), page.url());
  await operator.does('enable');
  await page.goto(operator.url('account/second-factors/totp'));
  const secret = await enrol(page);
  await operator.open(there);
  ageSessions(id);
  await operator.submit('disable');
  check('the second factor is asked for', (await page.locator('#code').count()) === 1, page.url());
  check('nothing has happened yet', (await standing(there)) === 'active');
  // Each code is valid once, and codes of the next step are accepted.
  await page.locator('#code').fill(code(secret, Math.floor(Date.now() / 1000 / STEP_SECONDS) + 1));
  await operator.press(page.locator('form:has(#code) button').first());
  check('the way back again', page.url().split('?')[0] === operator.url(there), page.url());
  await operator.does('disable');
  await operate('POST', `operators/${id}/reset-second-factors`);
}
