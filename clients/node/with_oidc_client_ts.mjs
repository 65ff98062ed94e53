// oidc-client-ts signs a user in to a browser application, in Chromium: redirect with PKCE, code exchange, userinfo, refresh
// and revocation over CORS, without a secret. The pages of another origin get none of it.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

import { launch, watched } from './browser.mjs';
import { SCOPE, check, claims, done, version, world } from './stage.mjs';

const { dev } = world;
const authority = `${dev.auth_url}/auth/core`;
const LIBRARY = readFileSync(new URL('node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js', import.meta.url));
// Chromium reports responses with an error status, and those that a page may not read.
const EXPECTED = /^Failed to load resource: |blocked by CORS policy/;

/** The pages of an application that has no server: one document for all paths, and the library. */
async function application() {
  const server = createServer((request, response) => {
    if (request.url === '/oidc-client-ts.js') {
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(LIBRARY);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end('<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>App</title><script src="/oidc-client-ts.js"></script>');
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  return { origin: `http://localhost:${server.address().port}`, close: () => server.close().closeAllConnections() };
}

async function register(name, origin) {
  const body = { name, kind: 'browser', redirectUris: [`${origin}/callback`], postLogoutUris: [`${origin}/signed-out`] };
  const answer = await fetch(`${dev.operator_url}/operator/v1/clients`, {
    method: 'POST',
    headers: { authorization: `Bearer ${dev.operator_token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { client, ...more } = await answer.json();
  check('a browser application without a secret', answer.status === 201 && Object.keys(more).length === 0, more);
  return client.id;
}

/** Makes the library's manager in the page; it keeps its state in the session storage. */
function manage(page, client_id, origin) {
  const settings = {
    authority,
    client_id,
    redirect_uri: `${origin}/callback`,
    post_logout_redirect_uri: `${origin}/signed-out`,
    scope: `${SCOPE} profile email`,
    loadUserInfo: true,
    automaticSilentRenew: false,
    revokeTokenTypes: ['refresh_token'],
  };
  return page.evaluate((settings) => {
    globalThis.manager = new globalThis.oidc.UserManager(settings);
  }, settings);
}

async function signIn(page, user, tenant) {
  await page.locator('input[name=username]').fill(user.email);
  await page.locator('input[name=password]').fill(user.password);
  await page.locator('input[name=password]').press('Enter');
  await page.waitForURL((url) => url.pathname === '/callback' || url.pathname.endsWith('/tenant'));
  if (page.url().includes('/callback')) return;
  await page.locator(`input[name=tenant][value="${tenant}"]`).check();
  await page.locator('form:has(input[name=tenant]) button[type=submit]').first().click();
  await page.waitForURL((url) => url.pathname === '/callback');
}

/** The status of a request that the page sends, and its body; or the name of the error. */
function request(page, url, options) {
  return page.evaluate(
    async ([url, { body, ...options }]) => {
      try {
        const answer = await fetch(url, { ...options, body: body && new URLSearchParams(body) });
        return { status: answer.status, body: await answer.text() };
      } catch (error) {
        return { error: error.name };
      }
    },
    [url, options],
  );
}

async function journey(context, app, user, tenant) {
  const client = await register('Panel en el navegador', app.origin);
  const page = await context.newPage();
  await page.goto(`${app.origin}/`);
  await manage(page, client, app.origin);
  await Promise.all([
    page.waitForURL((url) => url.pathname.endsWith('/login')),
    // Not awaited: it ends with the page.
    page.evaluate(() => void globalThis.manager.signinRedirect()),
  ]);
  await signIn(page, user, tenant);
  await page.waitForFunction(() => Boolean(globalThis.oidc));
  await manage(page, client, app.origin);
  const signedIn = await page.evaluate(async () => {
    const { access_token, id_token, refresh_token, profile } = await globalThis.manager.signinCallback();
    return { access_token, id_token, refresh_token, profile };
  });
  const { profile } = signedIn;
  check('who it is', profile.email === user.email && profile.preferred_username === user.email, profile);
  check('a verified address', profile.email_verified === true && Number.isInteger(profile.updated_at), profile);
  check('the chosen tenant', profile.tenant_id === tenant && profile.tenant_name.length > 0, profile);
  check('its own tokens', claims(signedIn.access_token).client_id === client, claims(signedIn.access_token));

  const renewed = await page.evaluate(async () => {
    const { access_token, refresh_token } = await globalThis.manager.signinSilent();
    return { access_token, refresh_token };
  });
  check('a new access token', renewed.access_token !== signedIn.access_token, renewed);
  check('rotation', renewed.refresh_token && renewed.refresh_token !== signedIn.refresh_token, renewed);

  const bearer = (token) => ({ headers: { authorization: `Bearer ${token}` } });
  const told = await request(page, `${authority}/connect/userinfo`, bearer(renewed.access_token));
  check('userinfo over CORS', told.status === 200 && JSON.parse(told.body).sub === profile.sub, told);
  const used = { client_id: client, grant_type: 'authorization_code', code: 'used', code_verifier: 'x' };
  const mistake = await request(page, `${authority}/connect/token`, { method: 'POST', body: used });
  check('an error that the page can read', mistake.status === 400 && mistake.body.includes('invalid_grant'), mistake);

  await page.evaluate(() => globalThis.manager.revokeTokens());
  const late = await request(page, `${authority}/connect/userinfo`, bearer(renewed.access_token));
  check('401 after the revocation', late.status === 401 && late.body.includes('invalid_token'), late);
  return { client, page };
}

/** What the pages of another origin see, also of one that is a browser application itself. */
async function elsewhere(context, other, client) {
  const page = await context.newPage();
  await page.goto(`${other.origin}/`);
  const body = { client_id: client, grant_type: 'refresh_token', refresh_token: 'x' };
  const asks = [
    ['token', { method: 'POST', body }],
    ['revocation', { method: 'POST', body: { client_id: client, token: 'x' } }],
    ['userinfo', { headers: { authorization: 'Bearer x' } }],
  ];
  for (const [endpoint, options] of asks) {
    const seen = await request(page, `${authority}/connect/${endpoint}`, options);
    check(`${endpoint} cannot be read elsewhere`, seen.error === 'TypeError', seen);
  }
  const keys = await request(page, `${authority}/.well-known/jwks`, {});
  check('the keys can be read everywhere', keys.status === 200, keys);
  await register('Otra en el navegador', other.origin);
  const seen = await request(page, `${authority}/connect/token`, { method: 'POST', body });
  check('another application reads nothing of this one', seen.error === 'TypeError', seen);
}

/** The end of the session returns to the application. */
async function signOut(page, origin) {
  await Promise.all([
    page.waitForURL((url) => url.href.startsWith(authority) || url.href.startsWith(`${origin}/signed-out`)),
    // Not awaited: it ends with the page.
    page.evaluate(() => void globalThis.manager.signoutRedirect()),
  ]);
  if (page.url().startsWith(authority)) await page.locator('form button[type=submit]').first().click();
  await page.waitForURL((url) => url.href.startsWith(`${origin}/signed-out`));
}

const [app, other] = [await application(), await application()];
const browser = await launch();
try {
  const context = await browser.newContext({ locale: 'es-ES' });
  const troubles = watched(context, EXPECTED);
  const user = dev.users.find(({ tenants }) => tenants.length > 1);
  const { client, page } = await journey(context, app, user, user.tenants[1]);
  await signOut(page, app.origin);
  await elsewhere(context, other, client);
  check('nothing unusual', troubles.length === 0, troubles);
} finally {
  await browser.close();
  app.close();
  other.close();
}
done(`${version('oidc-client-ts')} in Chromium ${browser.version()}`);
