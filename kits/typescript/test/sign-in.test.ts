// Sign-in without the program: everything that an attacker or a faulty provider may send.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { inspect } from "node:util";
import { CallbackError, IdTokenError, Session, SignIn, SignInRequiredError, Tokens } from "aldaba-client";
import { AUTH_URL, FakeProvider, ISSUER, NOW_SECONDS, halfHash } from "./fixtures.js";

function setUp(clientSecret: string | undefined = "s3cret") {
  const provider = new FakeProvider();
  const signIn = new SignIn({
    authUrl: AUTH_URL,
    clientId: "panel",
    ...(clientSecret ? { clientSecret } : {}),
    redirectUri: "https://panel.example/callback",
    fetch: provider.network.fetch,
    now: () => NOW_SECONDS * 1000,
  });
  const { url, pending } = signIn.start({ scopes: ["openid", "offline_access", "openid"] });
  provider.claims = { nonce: pending.nonce };
  const callback = (parameters: { [name: string]: string } = {}): string => {
    const query = { code: "c0de", state: pending.state, iss: ISSUER, ...parameters };
    return `https://panel.example/callback?${new URLSearchParams(query).toString()}`;
  };
  return { provider, signIn, url: new URL(url), pending, callback };
}

const callbackReason = (reason: string) => (error: unknown) => error instanceof CallbackError && error.reason === reason;
const tokenReason = (reason: string) => (error: unknown) => error instanceof IdTokenError && error.reason === reason;

test("the authorization request has state, nonce and a PKCE challenge", () => {
  const { url, pending } = setUp();
  const parameter = (name: string): string | null => url.searchParams.get(name);
  assert.equal(url.origin + url.pathname, `${ISSUER}/connect/authorize`);
  assert.equal(parameter("scope"), "openid offline_access");
  assert.deepEqual([parameter("state"), parameter("nonce")], [pending.state, pending.nonce]);
  assert.equal(parameter("code_challenge"), createHash("sha256").update(pending.verifier).digest("base64url"));
  const again = setUp();
  assert.notEqual(again.pending.state, pending.state);
  assert.notEqual(again.pending.verifier, pending.verifier);
});

test("a good callback gives tokens and the user", async () => {
  const { provider, signIn, pending, callback } = setUp();
  const { tokens, identity } = await signIn.finish(pending, callback());
  assert.equal(identity?.sub, "maria");
  assert.deepEqual([tokens.accessToken, tokens.expiresAt], ["access-1", NOW_SECONDS + 3600]);
  const fields = provider.tokenRequests[0];
  assert.equal(fields?.get("code_verifier"), pending.verifier);
  assert.equal(fields?.get("client_secret"), "s3cret");
  assert.ok(!inspect(tokens).includes("access-1"), "console.log must not print tokens");
  assert.deepEqual(new Tokens(JSON.parse(JSON.stringify(tokens))), tokens);
});

test("a public client sends no secret", async () => {
  const provider = new FakeProvider();
  const signIn = new SignIn({
    authUrl: AUTH_URL, clientId: "panel", redirectUri: "https://panel.example/callback", fetch: provider.network.fetch,
    now: () => NOW_SECONDS * 1000,
  });
  const { pending } = signIn.start({ scopes: ["openid"] });
  provider.claims = { nonce: pending.nonce };
  await signIn.finish(pending, new URLSearchParams({ code: "c", state: pending.state, iss: ISSUER }).toString());
  assert.equal(provider.tokenRequests[0]?.has("client_secret"), false);
});

test("callbacks of others are refused before anything is sent", async () => {
  const { provider, signIn, pending, callback } = setUp();
  const refused: [string, string][] = [
    ["state", callback({ state: "another" })],
    ["state", "https://panel.example/callback?code=c0de"],
    // An error is not believed before the state is checked.
    ["state", "https://panel.example/callback?error=access_denied"],
    ["issuer", callback({ iss: "https://evil.example" })],
    ["denied", callback({ error: "access_denied" })],
    ["repeated", `${callback()}&code=other`],
    ["missing", `https://panel.example/callback?state=${pending.state}&iss=${encodeURIComponent(ISSUER)}`],
    ["missing", `https://panel.example/callback?state=${pending.state}&code=c0de`],
    ["too_long", callback({ more: "x".repeat(20_000) })],
  ];
  for (const [reason, url] of refused) {
    await assert.rejects(signIn.finish(pending, url), callbackReason(reason), url);
  }
  assert.equal(provider.network.requests.length, 0);
});

test("an id_token of another client, time, nonce or key is refused", async () => {
  const wrong: [string, { [name: string]: unknown }][] = [
    ["issuer", { iss: "https://evil.example" }],
    ["audience", { aud: "another" }],
    ["audience", { aud: ["panel", "another"] }],
    ["expired", { exp: NOW_SECONDS - 61 }],
    ["expired", { exp: undefined }],
    ["issued_in_future", { iat: NOW_SECONDS + 61 }],
    ["nonce", { nonce: "another" }],
    ["nonce", { nonce: undefined }],
    ["access_token_hash", { at_hash: halfHash("another token") }],
    ["malformed", { sub: "" }],
  ];
  for (const [reason, claims] of wrong) {
    const { provider, signIn, pending, callback } = setUp();
    provider.claims = { ...provider.claims, ...claims };
    await assert.rejects(signIn.finish(pending, callback()), tokenReason(reason), JSON.stringify(claims));
  }
  const { provider, signIn, pending, callback } = setUp();
  provider.claims = { ...provider.claims, aud: ["panel", "another"], azp: "panel", at_hash: halfHash("access-1") };
  assert.equal((await signIn.finish(pending, callback())).identity?.sub, "maria");
});

test("an id_token with another algorithm, key or signature is refused", async () => {
  for (const [reason, header] of [
    ["algorithm", { alg: "none", kid: "one" }],
    ["algorithm", { alg: "HS256", kid: "one" }],
    ["unknown_key", { alg: "RS256", kid: "two" }],
  ] as const) {
    const { provider, signIn, pending, callback } = setUp();
    provider.header = header;
    await assert.rejects(signIn.finish(pending, callback()), tokenReason(reason), reason);
  }
  const changes: [string, (token: string) => string | undefined][] = [
    ["signature", (token) => `${token.slice(0, -8)}AAAAAAAA`],
    ["signature", (token) => token.replace(/\.[^.]+\./, `.${Buffer.from('{"sub":"eva"}').toString("base64url")}.`)],
    ["malformed", () => "not a token"],
    ["missing", () => undefined],
  ];
  for (const [reason, change] of changes) {
    const { provider, signIn, pending, callback } = setUp();
    provider.idToken = change;
    await assert.rejects(signIn.finish(pending, callback()), tokenReason(reason), reason);
  }
});

test("an id_token in the callback must belong to the code", async () => {
  const { provider, signIn, pending, callback } = setUp();
  const good = provider.issue({ c_hash: halfHash("c0de") });
  assert.equal((await signIn.finish(pending, callback({ id_token: good }))).identity?.sub, "maria");
  const swapped = provider.issue({ c_hash: halfHash("another code") });
  await assert.rejects(signIn.finish(pending, callback({ id_token: swapped })), tokenReason("code_hash"));
  const other = provider.issue({ c_hash: halfHash("c0de"), sub: "eva" });
  await assert.rejects(signIn.finish(pending, callback({ id_token: other })), tokenReason("subject"));
});

test("a session renews once for all callers, and saves before anybody gets the token", async () => {
  const { provider, signIn } = setUp();
  const saved: string[] = [];
  const tokens = new Tokens({ accessToken: "old", refreshToken: "r", expiresAt: NOW_SECONDS, sub: "maria" });
  const save = (renewed: Tokens): void => void saved.push(renewed.refreshToken ?? "");
  const session = new Session({ signIn, tokens, save });
  const all = await Promise.all([session.accessToken(), session.accessToken(), session.replaceToken("old")]);
  assert.deepEqual(all, ["access-1", "access-1", "access-1"]);
  assert.deepEqual(saved, ["refresh-1"]);
  assert.equal(provider.tokenRequests.length, 1);
  assert.equal(await session.accessToken(), "access-1", "valid tokens are not renewed");
});

test("a renewal that another process has made is used, and one that is refused asks for a sign-in", async () => {
  const { provider, signIn } = setUp();
  const tokens = new Tokens({ accessToken: "old", refreshToken: "r", expiresAt: NOW_SECONDS });
  const theirs = new Tokens({ accessToken: "theirs", refreshToken: "s", expiresAt: NOW_SECONDS + 3600 });
  const shared = new Session({ signIn, tokens, save: () => undefined, load: () => theirs });
  assert.equal(await shared.accessToken(), "theirs");
  assert.equal(provider.tokenRequests.length, 0);
  provider.tokenStatus = 400;
  const ended = new Session({ signIn, tokens, save: () => assert.fail("nothing to save") });
  await assert.rejects(ended.accessToken(), SignInRequiredError);
  const without = new Session({ signIn, tokens: new Tokens({ accessToken: "a", expiresAt: 0 }), save: () => undefined });
  await assert.rejects(without.accessToken(), /offline_access/);
});

test("a renewed id_token must be of the same user", async () => {
  const { signIn } = setUp();
  const tokens = new Tokens({ accessToken: "old", refreshToken: "r", expiresAt: 0, sub: "eva" });
  await assert.rejects(signIn.refresh(tokens), tokenReason("subject"));
});
