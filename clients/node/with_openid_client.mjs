// openid-client signs a user in: discovery, PKCE, RFC 9207, refresh with rotation, revocation, introspection, end of
// session and back-channel logout, whose token jose verifies. The library sends a PKCE challenge, so the callback has no id_token, which the library would refuse.

import * as oidc from 'openid-client';

import { backchannelLogout } from './backchannel_logout.mjs';
import { SCOPE, check, claims, done, issuer, refused, signIn, version, world } from './stage.mjs';

const { client_id, client_secret } = world.site.clients.strict;

async function journey(authentication, user, tenant) {
  const config = await oidc.discovery(new URL(issuer), client_id, undefined, authentication, {
    execute: [oidc.allowInsecureRequests],
  });
  // Verifies the signature of every id_token, also of those from the token endpoint.
  oidc.enableNonRepudiationChecks(config);
  check('discovery of the issuer', config.serverMetadata().issuer === issuer, config.serverMetadata());
  check('S256', config.serverMetadata().supportsPKCE(), config.serverMetadata());

  const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
  const [expectedState, expectedNonce] = [oidc.randomState(), oidc.randomNonce()];
  const url = oidc.buildAuthorizationUrl(config, {
    redirect_uri: world.callback,
    scope: SCOPE,
    code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
    nonce: expectedNonce,
  });
  const callback = await signIn(url, user, tenant);
  check('no id_token in the callback', !callback.searchParams.has('id_token'), callback.href);

  const expected = { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true };
  const forged = new URL(callback);
  forged.searchParams.set('iss', 'https://elsewhere.example');
  const mixedUp = await refused('another iss is refused (RFC 9207)', () =>
    oidc.authorizationCodeGrant(config, forged, expected),
  );
  check('because of iss', /iss/.test(`${mixedUp.message} ${mixedUp.cause?.message}`), String(mixedUp));

  const tokens = await oidc.authorizationCodeGrant(config, callback, expected);
  const person = tokens.claims();
  check('the chosen tenant', claims(tokens.access_token)['svc.es.clientid'] === tenant, tokens);
  check('an hour', tokens.expires_in === 3600 && tokens.token_type === 'bearer', tokens);
  check('an at_hash', typeof person.at_hash === 'string', person);

  const told = await oidc.fetchUserInfo(config, tokens.access_token, person.sub);
  check('userinfo of the same person', told.sub === person.sub, told);
  const looked = await oidc.tokenIntrospection(config, tokens.access_token);
  check('an active token', looked.active && looked.sub === person.sub, looked);

  const renewed = await oidc.refreshTokenGrant(config, tokens.refresh_token);
  check('rotation', renewed.refresh_token && renewed.refresh_token !== tokens.refresh_token, renewed);
  check('the same tenant', claims(renewed.access_token)['svc.es.clientid'] === tenant, renewed);
  const again = await oidc.refreshTokenGrant(config, renewed.refresh_token);
  const stolen = await refused('a refresh token of two rotations ago is refused', () =>
    oidc.refreshTokenGrant(config, tokens.refresh_token),
  );
  check('invalid_grant', stolen.error === 'invalid_grant', stolen);
  const family = await oidc.tokenIntrospection(config, again.refresh_token);
  check('its whole family is revoked', family.active === false, family);

  const out = oidc.buildEndSessionUrl(config, {
    post_logout_redirect_uri: new URL('/signed-out', world.callback).href,
    id_token_hint: tokens.id_token,
    state: 'bye',
  });
  const left = await fetch(out, { redirect: 'manual' });
  const back = new URL('/signed-out?state=bye', world.callback).href;
  check('back after the end of the session', left.headers.get('location') === back, left.headers.get('location'));
  return config;
}

async function givenBack(config, user, tenant) {
  const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
  const url = oidc.buildAuthorizationUrl(config, {
    redirect_uri: world.callback,
    scope: SCOPE,
    code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  });
  const callback = await signIn(url, user, tenant);
  const tokens = await oidc.authorizationCodeGrant(config, callback, { pkceCodeVerifier });
  await oidc.tokenRevocation(config, tokens.refresh_token, { token_type_hint: 'refresh_token' });
  const late = await refused('a revoked refresh token is refused', () =>
    oidc.refreshTokenGrant(config, tokens.refresh_token),
  );
  check('invalid_grant', late.error === 'invalid_grant', late);
  const looked = await oidc.tokenIntrospection(config, tokens.access_token);
  check('an inactive token', looked.active === false, looked);
  const sub = claims(tokens.id_token).sub;
  const barred = await refused('a revoked access token is refused', () =>
    oidc.fetchUserInfo(config, tokens.access_token, sub),
  );
  check('401 with a challenge', barred.status === 401 && barred.cause?.length > 0, barred);
}

/** Without PKCE the callback carries an id_token, and the library refuses it: that is why it can be switched off. */
async function refusesAnIdToken(config, user, tenant) {
  const usual = world.site.clients.usual;
  const other = new oidc.Configuration(config.serverMetadata(), usual.client_id, usual.client_secret);
  oidc.allowInsecureRequests(other);
  const url = oidc.buildAuthorizationUrl(other, { redirect_uri: world.callback, scope: 'openid', nonce: 'n' });
  const callback = await signIn(url, user, tenant);
  check('an id_token in the callback', callback.searchParams.has('id_token'), callback.href);
  await refused('an id_token in a code-flow callback is refused', () =>
    oidc.authorizationCodeGrant(other, callback, { expectedNonce: 'n' }),
  );
}

const { one, two } = world.site.users;
await journey(oidc.ClientSecretPost(client_secret), one, one.tenants[0]);
const config = await journey(oidc.ClientSecretBasic(client_secret), two, two.tenants[1]);
await givenBack(config, two, two.tenants[0]);
await refusesAnIdToken(config, one, one.tenants[0]);
await backchannelLogout();
done(version('openid-client'));
