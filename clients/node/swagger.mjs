// Chromium uses the API documentation page like a developer: opens it, finds an operation, and tries a call. `aldaba dev` fills in
// key and token; `serve` does not. The page may load nothing from other hosts and must not violate its content security policy.

import { SIZES, audit, fits } from './browser.mjs';
import { accessToken, check, world } from './stage.mjs';

const LIST = 'operations-Companies-listCompanies';

async function authorize(page, values) {
  await page.locator('button.authorize').first().click();
  for (const [scheme, value] of Object.entries(values)) {
    const form = page.locator('.auth-container', { has: page.locator(`h4 code:text-is("${scheme}")`) });
    await form.locator('input').fill(value);
    await form.locator('button.authorize').click();
  }
  await page.locator('.auth-btn-wrapper .btn-done').first().click();
}

/** Forgets what the page has filled in. */
async function forget(page) {
  await page.locator('button.authorize').first().click();
  const logout = page.locator('.auth-container button', { hasText: 'Logout' });
  for (let left = await logout.count(); left > 0; left = await logout.count()) await logout.first().click();
  await page.locator('.auth-btn-wrapper .btn-done').first().click();
}

/** The search finds operations by name and path, in any case, and leaves the other tags out. */
async function finds(page) {
  const [field, tags] = [page.locator('.operation-filter-input'), page.locator('.opblock-tag')];
  const all = await tags.count();
  await field.fill('LISTCOMPANIES');
  await page.locator('.opblock-tag').nth(all - 1).waitFor({ state: 'detached' });
  check('the tag of the operation', (await page.locator('#operations-tag-Accounting').count()) === 1, await tags.allInnerTexts());
  await field.fill('');
  await page.locator('.opblock-tag').nth(all - 1).waitFor();
}

// What this page's styles and script are responsible for; the rest is the markup of Swagger UI.
const OURS = new Set(['color-contrast', 'select-name', 'button-name', 'scrollable-region-focusable', 'image-alt', 'landmark-one-main']);

/** The page and an operation in both themes and sizes. */
export async function swaggerLooks(newContext) {
  for (const [theme, size] of [['light', 'desk'], ['dark', 'phone'], ['dark', 'desk'], ['light', 'phone']]) {
    const context = await newContext({ colorScheme: theme, viewport: SIZES[size], bypassCSP: true });
    const page = await context.newPage();
    await page.goto(`${world.dev.base_url}/docs/`);
    await unfold(page);
    const isDark = await page.evaluate(() => document.documentElement.classList.contains('dark-mode'));
    check(`the theme is ${theme}`, isDark === (theme === 'dark'));
    await tryIt(page, false);
    await fits(page, 'the APIs’ document', size);
    await audit(page, `the APIs’ document, ${theme}, ${size}`, ({ id }) => OURS.has(id));
    await page.screenshot({ path: `${world.screenshots}/api-document-${theme}-${size}.png` });
    await page.goto(`${world.dev.operator_url}/operator/docs/`);
    await page.locator('html[data-ready=yes]').waitFor();
    await page.locator('.authorization__btn, button.authorize.locked').first().waitFor();
    await page.screenshot({ path: `${world.screenshots}/operator-document-${theme}-${size}.png` });
    await context.close();
  }
}

/** Opens the page at the operation. */
async function open(page, url) {
  await page.goto(url);
  await unfold(page);
}

/** Goes to the operation on the page. */
async function unfold(page) {
  await page.locator('html[data-ready=yes]').waitFor();
  await page.locator('#operations-tag-Companies').click();
  await page.locator(`#${LIST} .opblock-summary-control`).click();
}

/** Calls the list of companies; returns the response as the page shows it. */
async function tryIt(page, clears = true) {
  const operation = page.locator(`#${LIST}`);
  await operation.locator('button.execute').click();
  const answer = operation.locator('.live-responses-table .response');
  await answer.waitFor();
  const shown = {
    status: (await answer.locator('.response-col_status').innerText()).trim().slice(0, 3),
    body: await answer.locator('.highlight-code pre').first().innerText(),
  };
  await operation.screenshot({ path: `${world.screenshots}/api-document-${shown.status}.png` });
  if (clears) await operation.locator('button.btn-clear').click();
  return shown;
}

/** Signs in with the page's own dialog, which opens a window and gets the code from it. */
async function signInThere(page, client, user) {
  await page.locator('button.authorize').first().click();
  const form = page.locator('.auth-container', { has: page.locator('h4', { hasText: 'signIn' }) });
  const filled = await form.locator('[data-name=clientId]').inputValue();
  check('the client is filled in', filled === client.client_id, filled);
  const [window] = await Promise.all([page.context().waitForEvent('page'), form.locator('button.authorize').click()]);
  await window.locator('#username').fill(user.email);
  await window.locator('#password').fill(user.password);
  await Promise.all([window.waitForEvent('close'), window.locator('main form[method=post] button').first().click()]);
  await form.getByText('Logout').waitFor();
  await page.locator('.auth-btn-wrapper .btn-done').first().click();
}

/** A developer opens the page from the portal: key and sandbox token are filled in once, and never in a URL. */
async function filledIn(page, dev, base) {
  await page.goto(dev.portal_url);
  await page.locator('input[name=username]').fill(dev.developer.email);
  await page.locator('input[name=password]').fill(dev.developer.password);
  await page.locator('main button[type=submit]').first().click();
  await page.waitForURL(/\/portal\/teams\//);
  await page.locator('nav a[href$="/reference"]').click();
  await page.locator('button[value=prefill]').click();
  const [key, token] = await Promise.all(['#docs-key', '#docs-token'].map((id) => page.locator(id).innerText()));
  await page.screenshot({ path: `${world.screenshots}/api-document-portal.png`, fullPage: true });
  await page.locator('a[data-hand-over]').click();
  await unfold(page);
  check('the page of the APIs', page.url().startsWith(base), page.url());
  check('nothing in the URL', !page.url().includes(key) && !page.url().includes(token), page.url());
  const left = await page.evaluate(() => Object.values(sessionStorage).join(' '));
  check('taken out of the storage', !left.includes(key) && !left.includes(token), 'sessionStorage');
  const given = await tryIt(page);
  check('the sandbox with what was handed over', given.status === '200' && given.body.trim().startsWith('['), given);
  await open(page, base);
  await forget(page);
  const refused = await tryIt(page);
  check('gone with the page', refused.status === '401', refused);
}

/** The return page refuses an answer that the document's page has not asked for. */
async function refusesStrangers(page, base) {
  const answer = await page.goto(`${base}oauth2-redirect.html?code=stolen&state=x`);
  const policy = answer.headers()['content-security-policy'];
  check('a strict policy', policy.includes("default-src 'none'; script-src 'self'; "), policy);
  await page.locator('html[data-ready=yes]').waitFor();
  check('the code leaves the address', !page.url().includes('stolen'), page.url());
}

/** The whole test; `newPage` returns a page whose errors are recorded. */
export async function swagger(newPage) {
  const { dev } = world;
  const user = dev.users.find(({ tenants }) => tenants.length === 1);
  const token = await accessToken(dev, user);
  const page = await newPage();
  await page.goto(`${dev.base_url}/docs/`);
  await page.locator('html[data-ready=yes]').waitFor();
  const base = new URL('/docs/', dev.base_url.replace('127.0.0.1', 'localhost')).href;
  check('the page at the address that can be registered', page.url() === base, page.url());
  const title = await page.locator('.info h1, .info h2').first().innerText();
  check('the document on its page', title.includes('Aldaba'), title);
  await page.screenshot({ path: `${world.screenshots}/api-document.png` });
  await finds(page);
  await open(page, base);
  const filled = await tryIt(page);
  check('an answer with what dev fills in', filled.status === '200' && filled.body.trim().startsWith('['), filled);
  await forget(page);
  const refused = await tryIt(page);
  check('no answer without a key', refused.status === '401' && refused.body.includes('subscription key'), refused);
  await authorize(page, { subscriptionKey: dev.subscription.primary_key, accessToken: token });
  const given = await tryIt(page);
  check('an answer with both', given.status === '200' && given.body.trim().startsWith('['), given);
  await page.reload();
  await page.locator('html[data-ready=yes]').waitFor();
  check('nothing is kept in the browser', await page.evaluate(() => localStorage.length) === 0, 'localStorage');
  await filledIn(await newPage(), dev, base);
  await refusesStrangers(page, base);
  const own = await newPage();
  await open(own, base);
  await forget(own);
  await authorize(own, { subscriptionKey: dev.subscription.primary_key });
  await signInThere(own, dev.client, user);
  const mine = await tryIt(own);
  check('an answer with a sign-in of the page itself', mine.status === '200' && mine.body.trim().startsWith('['), mine);
}
