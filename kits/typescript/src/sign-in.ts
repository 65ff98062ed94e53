// The OpenID Connect client: starts and finishes sign-ins, and renews and revokes tokens.

import { createHash, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { CallbackError, IdTokenError, IdentityProviderError, InvalidInputError, SignInRequiredError } from "./errors.js";
import { HttpClient, callName, checkUrl, errorOf, parseJson, type HttpOptions, type HttpResponse } from "./http.js";
import { keyIdOf, verifyIdToken, type ExpectedClaims, type Identity, type Jwk } from "./id-token.js";
import { Tokens } from "./tokens.js";

/** Scopes of the accounting APIs and webhooks, with a refresh token. */
export const ACCOUNTING_SCOPES = [
  "offline_access",
  "openid",
  "SVC.ES.NEWPOL.COR.API",
  "SVC.ES.NEWPOL.ACC.API",
  "SVC.ES.NEWPOL.MNG.API",
  "SVC.ES.Webhooks",
] as const;

/** Scopes of the payroll API, with a refresh token. */
export const PAYROLL_SCOPES = ["offline_access", "openid", "IDInfo", "SVC.ES.EquipoContex"] as const;

/** The client and its addresses. */
export interface SignInOptions extends HttpOptions {
  /** The URL of the identity provider without a path. */
  authUrl: string;
  clientId: string;
  /** Left out for a public client, which has none. */
  clientSecret?: string;
  /** One of the client's registered addresses. */
  redirectUri: string;
  /** The current time in milliseconds; for tests. */
  now?: () => number;
}

/** The parameters of an authorization request. */
export interface AuthorizationRequest {
  /** Without `openid` there is no id_token, without `offline_access` no refresh token. */
  scopes: Iterable<string>;
  /** Preselects a tenant if the user has several; the user can choose another one. */
  tenant?: string;
  /** Fills in the user name on the sign-in page. */
  loginHint?: string;
  prompt?: "none" | "login" | "consent" | "select_account";
  /** Requires the user to authenticate again if the last time is longer ago. */
  maxAgeSeconds?: number;
  /** The language of the pages. */
  language?: "es" | "en";
}

/** The state of a sign-in between its start and its callback. It belongs to one browser: keep it in that browser's session. */
export interface PendingSignIn {
  state: string;
  nonce: string;
  /** The PKCE verifier. */
  verifier: string;
  expectsIdToken: boolean;
}

/** A completed sign-in. */
export interface CompletedSignIn {
  tokens: Tokens;
  /** The user; undefined if the scope `openid` was not requested. */
  identity: Identity | undefined;
}

interface Provider {
  issuer: string;
  jwks_uri: string;
  revocation_endpoint: string;
  end_session_endpoint: string;
  keys: Jwk[];
  fetchedAt: number;
}

interface TokenResponse {
  access_token: string;
  expires_in?: number;
  refresh_token?: string;
  id_token?: string;
}

const CALLBACK_CHARS_MAX = 16 * 1024;
/** The lifetime that the service allows for its keys, and how often tokens with unknown keys may cause a request. */
const CACHE_MS = 300_000;
const REFETCH_MS = 10_000;

/** An OpenID Connect client of the identity provider. */
export class SignIn {
  readonly #options: SignInOptions;
  readonly #http: HttpClient;
  readonly #issuer: string;
  #provider: Promise<Provider> | undefined;

  constructor(options: SignInOptions) {
    this.#options = options;
    this.#http = new HttpClient(options);
    this.#issuer = `${checkUrl("the URL of the identity provider", options.authUrl)}/auth/core`;
  }

  /** The current time in milliseconds. */
  now(): number {
    return (this.#options.now ?? Date.now)();
  }

  /** Starts a sign-in: redirect the browser to `url`, and keep `pending` in its session until it returns. */
  start(request: AuthorizationRequest): { url: string; pending: PendingSignIn } {
    const scopes = [...new Set(request.scopes)];
    const pending = {
      state: randomUUID(),
      nonce: randomUUID(),
      verifier: randomBytes(32).toString("base64url"),
      expectsIdToken: scopes.includes("openid"),
    };
    const query = new URLSearchParams({
      client_id: this.#options.clientId,
      response_type: "code",
      redirect_uri: this.#options.redirectUri,
      scope: scopes.join(" "),
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: createHash("sha256").update(pending.verifier).digest("base64url"),
      code_challenge_method: "S256",
    });
    if (request.tenant !== undefined) query.set("acr_values", `tenant:${request.tenant}`);
    if (request.loginHint !== undefined) query.set("login_hint", request.loginHint);
    if (request.prompt !== undefined) query.set("prompt", request.prompt);
    if (request.maxAgeSeconds !== undefined) query.set("max_age", String(request.maxAgeSeconds));
    if (request.language !== undefined) query.set("ui_locales", request.language);
    return { url: `${this.#issuer}/connect/authorize?${query.toString()}`, pending };
  }

  /**
   * Finishes a sign-in: checks the callback against the pending sign-in, exchanges the code, and verifies the id_token.
   * `callback` is the URL of the callback, its query, or the body of a `form_post`. Delete `pending` afterwards, whatever the
   * result.
   */
  async finish(pending: PendingSignIn, callback: string): Promise<CompletedSignIn> {
    const { code, idToken } = parseCallback(callback, pending, this.#issuer);
    const { nonce } = pending;
    const early = idToken === undefined ? undefined : await this.#identity(idToken, { nonce, code });
    const response = await this.#tokenRequest({
      grant_type: "authorization_code",
      code,
      redirect_uri: this.#options.redirectUri,
      code_verifier: pending.verifier,
    });
    let identity = early;
    if (response.id_token !== undefined) {
      const accessToken = response.access_token;
      identity = await this.#identity(response.id_token, { nonce, accessToken, sub: early?.sub });
    } else if (pending.expectsIdToken) {
      throw new IdTokenError("missing", "it is missing");
    }
    return { tokens: this.#tokens(response, undefined, identity?.sub), identity };
  }

  /** Renews tokens. A refresh token can be used once, so applications with concurrent callers use a `Session` instead. */
  async refresh(tokens: Tokens): Promise<Tokens> {
    if (tokens.refreshToken === undefined) {
      throw new SignInRequiredError("the access token has expired and there is no refresh token (scope offline_access)");
    }
    const response = await this.#tokenRequest({ grant_type: "refresh_token", refresh_token: tokens.refreshToken });
    if (response.id_token !== undefined) {
      await this.#identity(response.id_token, { accessToken: response.access_token, sub: tokens.sub });
    }
    return this.#tokens(response, tokens, tokens.sub);
  }

  /** Revokes the tokens and the grant behind them. */
  async revoke(tokens: Tokens): Promise<void> {
    const { revocation_endpoint } = await this.#discover();
    await this.#postForm(revocation_endpoint, { token: tokens.refreshToken ?? tokens.accessToken });
  }

  /** Redirect the browser to this URL to end the user's session at the identity provider. */
  async signOutUrl(tokens: Tokens, returnTo?: string): Promise<string> {
    const { end_session_endpoint } = await this.#discover();
    const query = new URLSearchParams({ client_id: this.#options.clientId });
    if (tokens.idToken !== undefined) query.set("id_token_hint", tokens.idToken);
    if (returnTo !== undefined) query.set("post_logout_redirect_uri", returnTo);
    return `${end_session_endpoint}?${query.toString()}`;
  }

  async #identity(token: string, claims: Partial<ExpectedClaims>): Promise<Identity> {
    const kid = keyIdOf(token);
    const { keys } = await this.#discover((provider) => provider.keys.some((key) => key.kid === kid));
    const nowSeconds = Math.floor(this.now() / 1000);
    return verifyIdToken(token, keys, { issuer: this.#issuer, clientId: this.#options.clientId, nowSeconds, ...claims });
  }

  #tokens(response: TokenResponse, previous: Tokens | undefined, sub: string | undefined): Tokens {
    return new Tokens({
      accessToken: response.access_token,
      expiresAt: Math.floor(this.now() / 1000) + (response.expires_in ?? 3600),
      refreshToken: response.refresh_token ?? previous?.refreshToken,
      idToken: response.id_token ?? previous?.idToken,
      sub,
    });
  }

  /** The metadata and keys of the identity provider; fetched again after a time, or if `isEnough` says that a key is missing. */
  async #discover(isEnough: (provider: Provider) => boolean = () => true): Promise<Provider> {
    const known = await this.#provider?.catch(() => undefined);
    if (known !== undefined) {
      const ageMs = this.now() - known.fetchedAt;
      if (ageMs < REFETCH_MS || (ageMs < CACHE_MS && isEnough(known))) return known;
    }
    this.#provider = this.#fetchProvider();
    return this.#provider;
  }

  async #fetchProvider(): Promise<Provider> {
    const metadata = await this.#get<Omit<Provider, "keys" | "fetchedAt">>(
      `${this.#issuer}/.well-known/openid-configuration`,
    );
    if (metadata.issuer !== this.#issuer) {
      const found = JSON.stringify(metadata.issuer);
      throw new InvalidInputError(
        `the URL of the identity provider: it has the issuer ${found}; use the URL that it is configured with`,
      );
    }
    for (const url of [metadata.jwks_uri, metadata.revocation_endpoint, metadata.end_session_endpoint]) {
      checkUrl("a URL in the metadata of the identity provider", url);
    }
    const { keys } = await this.#get<{ keys: Jwk[] }>(metadata.jwks_uri);
    return { ...metadata, keys, fetchedAt: this.now() };
  }

  async #get<T>(url: string): Promise<T> {
    const response = await this.#http.send({ method: "GET", url, isIdempotent: true });
    const call = callName({ method: "GET", url });
    if (response.status !== 200) throw errorOf(call, response);
    return parseJson<T>(call, response);
  }

  async #tokenRequest(fields: { [name: string]: string }): Promise<TokenResponse> {
    const url = `${this.#issuer}/connect/token`;
    return parseJson<TokenResponse>(`POST ${url}`, await this.#postForm(url, fields));
  }

  /**
   * Posts a form with the client's credentials. Without a response it is sent again, because a refresh token that is used twice
   * in quick succession returns the same tokens. A code is not: its second use revokes the tokens of the first.
   */
  async #postForm(url: string, fields: { [name: string]: string }): Promise<HttpResponse> {
    const { clientId, clientSecret } = this.#options;
    const secret: { [name: string]: string } = clientSecret === undefined ? {} : { client_secret: clientSecret };
    const request = {
      method: "POST",
      url,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ client_id: clientId, ...secret, ...fields }).toString(),
      isIdempotent: !("code" in fields),
    };
    const response = await this.#http.send(request);
    if (response.status === 200) return response;
    let refused: { error?: unknown; error_description?: unknown } = {};
    try {
      refused = JSON.parse(response.text) as typeof refused;
    } catch {
      // Not an answer of the identity provider; reported below.
    }
    if (typeof refused?.error !== "string") throw errorOf(callName(request), response);
    throw new IdentityProviderError(refused.error, String(refused.error_description ?? ""));
  }
}

/** Parses a callback and checks that it belongs to the pending sign-in. */
function parseCallback(
  callback: string,
  pending: PendingSignIn,
  issuer: string,
): { code: string; idToken: string | undefined } {
  if (callback.length > CALLBACK_CHARS_MAX) {
    throw new CallbackError("too_long", "it is longer than any valid callback; start the sign-in again");
  }
  const query = new URLSearchParams(callback.replace(/^[^?]*\?/, "").replace(/#.*$/, ""));
  const find = (name: string): string | undefined => {
    const [first, second] = query.getAll(name);
    if (second === undefined) return first;
    throw new CallbackError("repeated", `the parameter ${name} appears twice; start the sign-in again`);
  };
  // Check the sender first: even an error must not be trusted before.
  const sent = createHash("sha256").update(pending.state).digest();
  if (!timingSafeEqual(createHash("sha256").update(find("state") ?? "").digest(), sent)) {
    const advice = "ignore this callback and start the sign-in again";
    throw new CallbackError("state", `its state is not the one that was sent; ${advice}`);
  }
  const found = find("iss");
  if (found === undefined) throw new CallbackError("missing", "the parameter iss is missing; start the sign-in again");
  if (found !== issuer) throw new CallbackError("issuer", `it comes from the issuer ${JSON.stringify(found)}; ignore it`);
  const error = find("error");
  if (error !== undefined) {
    throw new CallbackError("denied", `${error}: ${find("error_description") ?? ""}`, error);
  }
  const code = find("code");
  if (code === undefined) throw new CallbackError("missing", "the parameter code is missing; start the sign-in again");
  return { code, idToken: find("id_token") };
}
