// Back-channel logout as an application receives it: jose verifies the logout_token with the provider's published keys.

import { createServer } from 'node:http';

import * as jose from 'jose';
import * as oidc from 'openid-client';

import { check, refused, signIn, world } from './stage.mjs';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** A server that keeps the first form it gets, after it has refused one attempt. */
async function receiver() {
  let keep;
  const got = new Promise((resolve) => (keep = resolve));
  let attempts = 0;
  const server = createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      attempts += 1;
      if (attempts === 1) {
        response.writeHead(503).end();
        return;
      }
      response.writeHead(200).end();
      keep(new URLSearchParams(Buffer.concat(parts).toString()));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, got, url: `http://127.0.0.1:${server.address().port}/logout`, attempts: () => attempts };
}

/** Registers a client with the operator's API. */
async function register(uri) {
  const { operator_url, operator_token } = world.dev;
  const answer = await fetch(`${operator_url}/operator/v1/clients`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operator_token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Panel', redirectUris: [world.callback], backchannelLogoutUri: uri }),
  });
  const made = await answer.json();
  check('a client with an address for logouts', made.client?.backchannelLogoutUri === uri, made);
  return [made.client.id, made.clientSecret];
}

export async function backchannelLogout() {
  const { server, got, url, attempts } = await receiver();
  const issuer = `${world.dev.auth_url}/auth/core`;
  const [id, secret] = await register(url);
  const config = await oidc.discovery(new URL(issuer), id, secret, undefined, {
    execute: [oidc.allowInsecureRequests],
  });
  const metadata = config.serverMetadata();
  check('back-channel logout with sid', metadata.backchannel_logout_session_supported === true, metadata);
  const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
  const asked = oidc.buildAuthorizationUrl(config, {
    redirect_uri: world.callback,
    scope: 'openid',
    code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  });
  const [user, cookies] = [world.dev.users[0], new Map()];
  const callback = await signIn(asked, user, user.tenants[0], cookies);
  const tokens = await oidc.authorizationCodeGrant(config, callback, { pkceCodeVerifier });
  const person = tokens.claims();
  check('a sid', typeof person.sid === 'string', person);

  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const out = oidc.buildEndSessionUrl(config, { id_token_hint: tokens.id_token });
  const left = await fetch(out, { headers: { cookie } });
  check('the end of the session', left.status === 200, left.status);

  const token = (await got).get('logout_token');
  server.close();
  check('a second attempt after 503', attempts() === 2, attempts());
  const keys = jose.createRemoteJWKSet(new URL(metadata.jwks_uri));
  const expected = {
    issuer,
    audience: id,
    typ: 'logout+jwt',
    algorithms: ['RS256'],
    maxTokenAge: '2m',
    requiredClaims: ['iat', 'exp', 'jti', 'sub', 'sid', 'events'],
  };
  const { payload } = await jose.jwtVerify(token, keys, expected);
  check('the session of the id_token', payload.sid === person.sid && payload.sub === person.sub, payload);
  check('the event, and no nonce', payload.events[EVENT] && !('nonce' in payload), payload);
  await refused('another audience is refused', () => jose.jwtVerify(token, keys, { ...expected, audience: 'x' }));
}
