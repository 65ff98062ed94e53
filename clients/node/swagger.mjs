// Chromium uses the API documentation page like a developer: opens it, enters key and token, and tries a call. The page may
// load nothing from other hosts and must not violate its content security policy.

import { SCOPE, check, signIn, world } from './stage.mjs';

const LIST = 'operations-Accounting-listCompanies';

/** An access token of a user of the development server. */
async function accessToken(dev, user) {
  const { client } = dev;
  const asked = {
    client_id: client.client_id, response_type: 'code', redirect_uri: client.redirect_uri, scope: SCOPE,
    state: 'swagger', nonce: 'swagger',
  };
  const url = `${dev.auth_url}/auth/core/connect/authorize?${new URLSearchParams(asked)}`;
  const callback = await signIn(url, user, user.tenants[0]);
  const body = new URLSearchParams({
    grant_type: 'authorization_code', code: callback.searchParams.get('code'), ...client,
  });
  const answer = await fetch(`${dev.auth_url}/auth/core/connect/token`, { method: 'POST', body });
  check('tokens', answer.status === 200, answer.status);
  return (await answer.json()).access_token;
}

async function authorize(page, values) {
  await page.locator('button.authorize').first().click();
  for (const [scheme, value] of Object.entries(values)) {
    const form = page.locator('.auth-container', { has: page.locator(`h4 code:text-is("${scheme}")`) });
    await form.locator('input').fill(value);
    await form.locator('button.authorize').click();
  }
  await page.locator('.auth-btn-wrapper .btn-done').first().click();
}

/** Calls the list of companies; returns the response as the page shows it. */
async function tryIt(page) {
  const operation = page.locator(`#${LIST}`);
  await operation.locator('button.execute').click();
  const answer = operation.locator('.live-responses-table .response');
  await answer.waitFor();
  const shown = {
    status: (await answer.locator('.response-col_status').innerText()).trim().slice(0, 3),
    body: await answer.locator('.highlight-code pre').first().innerText(),
  };
  await operation.screenshot({ path: `${world.screenshots}/api-document-${shown.status}.png` });
  await operation.locator('button.btn-clear').click();
  return shown;
}

/** The whole test; `newPage` returns a page whose errors are recorded. */
export async function swagger(newPage) {
  const { dev } = world;
  const user = dev.users.find(({ tenants }) => tenants.length === 1);
  const token = await accessToken(dev, user);
  const page = await newPage();
  await page.goto(`${dev.base_url}/docs/`);
  await page.locator('html[data-ready=yes]').waitFor();
  const title = await page.locator('.info h1, .info h2').first().innerText();
  check('the document on its page', title.includes('Aldaba'), title);
  await page.screenshot({ path: `${world.screenshots}/api-document.png` });
  await page.locator('#operations-tag-Accounting').click();
  await page.locator(`#${LIST} .opblock-summary-control`).click();
  // Without key and token first.
  const refused = await tryIt(page);
  check('no answer without a key', refused.status === '401' && refused.body.includes('subscription key'), refused);
  await authorize(page, { subscriptionKey: dev.subscription.primary_key, accessToken: token });
  const given = await tryIt(page);
  check('an answer with both', given.status === '200' && given.body.trim().startsWith('['), given);
  await page.reload();
  await page.locator('html[data-ready=yes]').waitFor();
  check('nothing is kept in the browser', await page.evaluate(() => localStorage.length) === 0, 'localStorage');
}
