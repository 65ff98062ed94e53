// Shared by the Node clients: the file about the servers, sign-in through the pages, and checks.

import { readFileSync } from 'node:fs';

export const world = JSON.parse(readFileSync(process.argv[2], 'utf8'));
export const issuer = `${world.site.auth_url}/auth/core`;
export const SCOPE = 'openid offline_access SVC.ES.NEWPOL.ACC.API SVC.ES.Webhooks';

let checks = 0;

/** Throws with the expectation unless it holds. */
export function check(what, holds, seen) {
  checks += 1;
  if (!holds) throw new Error(`expected: ${what}; seen: ${JSON.stringify(seen) ?? seen}`);
}

/** The error of a call that must fail. */
export async function refused(what, call) {
  let given;
  try {
    given = await call();
  } catch (error) {
    checks += 1;
    return error;
  }
  throw new Error(`expected: ${what}; seen: ${JSON.stringify(given)}`);
}

export function done(library) {
  console.log(`${library}, ${checks} checks`);
}

/** The version of a library, from its own manifest. */
export function version(name) {
  const manifest = new URL(`node_modules/${name}/package.json`, import.meta.url);
  return JSON.parse(readFileSync(manifest, 'utf8')).version;
}

/** The claims of a token, without verification. */
export function claims(token) {
  return JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
}

function unescaped(text) {
  const entities = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => entities[name]);
}

function attribute(tag, name) {
  const found = new RegExp(`\\s${name}="([^"]*)"`).exec(tag);
  return found && unescaped(found[1]);
}

/** The action and the prefilled fields of the page's POST form. */
function form(page) {
  const [, tag, inside] = /<form([^>]*method="post"[^>]*)>([\s\S]*?)<\/form>/.exec(page);
  const fields = new URLSearchParams();
  for (const [input] of inside.matchAll(/<input[^>]*>/g)) {
    const ticks = /type="(radio|checkbox)"/.test(input) && !/\schecked/.test(input);
    if (!ticks && attribute(input, 'name')) fields.set(attribute(input, 'name'), attribute(input, 'value') ?? '');
  }
  return { action: attribute(tag, 'action'), fields };
}

/** Follows redirects and submits forms like a browser, which has these cookies then; returns the callback url. */
export async function signIn(url, user, tenant, cookies = new Map()) {
  const go = async (to, options = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(to, { redirect: 'manual', ...options, headers: { ...options.headers, cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
      cookies.set(name, value);
    }
    return answer;
  };
  let here = new URL(url);
  let answer = await go(here);
  for (let steps = 0; steps < 12; steps += 1) {
    if (answer.status === 302) {
      here = new URL(answer.headers.get('location'), here);
      if (here.href.startsWith(world.callback)) return here;
      answer = await go(here);
      continue;
    }
    const page = await answer.text();
    check('a page', answer.status === 200, [answer.status, page]);
    const { action, fields } = form(page);
    if (page.includes('name="password"')) {
      fields.set('username', user.email);
      fields.set('password', user.password);
    } else if (page.includes('name="tenant"')) {
      fields.set('tenant', tenant);
    }
    here = new URL(action, here);
    answer = await go(here, { method: 'POST', body: fields });
  }
  throw new Error(`sent around in circles: ${here}`);
}

/** An access token of a user of the development server. */
export async function accessToken(dev, user, tenant = user.tenants[0]) {
  const { client } = dev;
  const asked = {
    client_id: client.client_id, response_type: 'code', redirect_uri: client.redirect_uri, scope: SCOPE,
    state: 'state', nonce: 'nonce',
  };
  const url = `${dev.auth_url}/auth/core/connect/authorize?${new URLSearchParams(asked)}`;
  const callback = await signIn(url, user, tenant);
  const body = new URLSearchParams({
    grant_type: 'authorization_code', code: callback.searchParams.get('code'), ...client,
  });
  const answer = await fetch(`${dev.auth_url}/auth/core/connect/token`, { method: 'POST', body });
  check('tokens', answer.status === 200, answer.status);
  return (await answer.json()).access_token;
}
