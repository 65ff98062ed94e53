// oauth4webapi signs a user in step by step; the library checks every response.

import * as oauth from 'oauth4webapi';

import { SCOPE, check, claims, done, issuer, refused, signIn, version, world } from './stage.mjs';

const { client_id, client_secret } = world.site.clients.strict;
const options = { [oauth.allowInsecureRequests]: true };
const client = { client_id };

async function discovered() {
  const url = new URL(issuer);
  const answer = await oauth.discoveryRequest(url, { ...options, algorithm: 'oidc' });
  return oauth.processDiscoveryResponse(url, answer);
}

async function journey(server, authentication, user, tenant) {
  const verifier = oauth.generateRandomCodeVerifier();
  const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()];
  const url = new URL(server.authorization_endpoint);
  const asked = {
    client_id,
    redirect_uri: world.callback,
    response_type: 'code',
    scope: SCOPE,
    state,
    nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
  const callback = await signIn(url, user, tenant);

  const nowhere = new URL(callback);
  nowhere.searchParams.delete('iss');
  await refused('a missing iss is refused (RFC 9207)', () =>
    oauth.validateAuthResponse(server, client, nowhere, state),
  );
  await refused('another state is refused', () =>
    oauth.validateAuthResponse(server, client, callback, oauth.generateRandomState()),
  );
  const params = oauth.validateAuthResponse(server, client, callback, state);

  const answer = await oauth.authorizationCodeGrantRequest(
    server, client, authentication, params, world.callback, verifier, options,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer, {
    expectedNonce: nonce,
    requireIdToken: true,
  });
  await oauth.validateApplicationLevelSignature(server, answer, options);
  const person = oauth.getValidatedIdTokenClaims(tokens);
  check('the chosen tenant', claims(tokens.access_token)['svc.es.clientid'] === tenant, tokens);

  const info = await oauth.userInfoRequest(server, client, tokens.access_token, options);
  const told = await oauth.processUserInfoResponse(server, client, person.sub, info);
  check('userinfo of the same person', told.sub === person.sub, told);

  const introspected = async (token) =>
    oauth.processIntrospectionResponse(
      server, client, await oauth.introspectionRequest(server, client, authentication, token, options),
    );
  check('an active access token', (await introspected(tokens.access_token)).active, tokens);
  check('an active refresh token', (await introspected(tokens.refresh_token)).active, tokens);

  const refreshed = async (token) =>
    oauth.processRefreshTokenResponse(
      server, client, await oauth.refreshTokenGrantRequest(server, client, authentication, token, options),
    );
  const renewed = await refreshed(tokens.refresh_token);
  check('rotation', renewed.refresh_token && renewed.refresh_token !== tokens.refresh_token, renewed);
  check('the old one is used', !(await introspected(tokens.refresh_token)).active, renewed);

  await oauth.processRevocationResponse(
    await oauth.revocationRequest(server, client, authentication, renewed.access_token, options),
  );
  const late = await refused('the grant is gone with its token', () => refreshed(renewed.refresh_token));
  check('invalid_grant', late.error === 'invalid_grant', late);
  check('an inactive token', !(await introspected(renewed.access_token)).active, renewed);
  const barred = await oauth.userInfoRequest(server, client, renewed.access_token, options);
  const error = await refused('a revoked access token is refused', () =>
    oauth.processUserInfoResponse(server, client, person.sub, barred),
  );
  const challenge = error.cause?.[0];
  check('the reason', challenge?.scheme === 'bearer' && challenge.parameters.error === 'invalid_token', error);
}

/** This client must send a code_challenge, and a wrong verifier must be refused. */
async function proof(server, user, tenant) {
  const url = new URL(server.authorization_endpoint);
  const asked = { client_id, redirect_uri: world.callback, response_type: 'code', scope: 'openid', state: 's' };
  for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
  const bare = await fetch(url, { redirect: 'manual' });
  const location = new URL(bare.headers.get('location'), url);
  const error = await refused('no challenge, no code', () =>
    oauth.validateAuthResponse(server, client, location, 's'),
  );
  check('invalid_request', error.error === 'invalid_request', error);

  url.searchParams.set('code_challenge', await oauth.calculatePKCECodeChallenge(oauth.generateRandomCodeVerifier()));
  url.searchParams.set('code_challenge_method', 'S256');
  const params = oauth.validateAuthResponse(server, client, await signIn(url, user, tenant), 's');
  const answer = await oauth.authorizationCodeGrantRequest(
    server, client, oauth.ClientSecretPost(client_secret), params, world.callback,
    oauth.generateRandomCodeVerifier(), options,
  );
  const wrong = await refused('a wrong verifier is refused', () =>
    oauth.processAuthorizationCodeResponse(server, client, answer),
  );
  check('invalid_grant', wrong.error === 'invalid_grant', wrong);
}

const { one, two } = world.site.users;
const server = await discovered();
await journey(server, oauth.ClientSecretPost(client_secret), one, one.tenants[0]);
await journey(server, oauth.ClientSecretBasic(client_secret), two, two.tenants[1]);
await proof(server, one, one.tenants[0]);
done(version('oauth4webapi'));
