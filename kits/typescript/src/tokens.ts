// The tokens of a signed-in user, and the session that renews them once for all concurrent callers.

import { inspect } from "node:util";
import { IdentityProviderError, SignInRequiredError } from "./errors.js";
import type { SignIn } from "./sign-in.js";

/** Tokens that expire within this time are renewed. */
const RENEWAL_MARGIN_SECONDS = 60;

/** The members of `Tokens`. */
export interface TokenValues {
  accessToken: string;
  /** When the access token expires, in Unix seconds. */
  expiresAt: number;
  /** Only with the scope `offline_access`. It can be used once: each renewal returns the next one. */
  refreshToken?: string | undefined;
  /** The last id_token, for signing out. */
  idToken?: string | undefined;
  /** The user, if there was an id_token. */
  sub?: string | undefined;
}

/**
 * The tokens of one sign-in. `console.log` does not print them; `JSON.stringify` writes them in plain text: encrypt it before
 * you store it, and read it with `new Tokens(JSON.parse(text))`.
 */
export class Tokens implements TokenValues {
  readonly accessToken: string;
  readonly expiresAt: number;
  readonly refreshToken: string | undefined;
  readonly idToken: string | undefined;
  readonly sub: string | undefined;

  constructor(values: TokenValues) {
    this.accessToken = values.accessToken;
    this.expiresAt = values.expiresAt;
    this.refreshToken = values.refreshToken;
    this.idToken = values.idToken;
    this.sub = values.sub;
  }

  /** Whether the access token is valid for a while. */
  isValid(nowMs: number): boolean {
    return nowMs / 1000 + RENEWAL_MARGIN_SECONDS < this.expiresAt;
  }

  [inspect.custom](): string {
    return `Tokens { sub: ${this.sub ?? "unknown"}, expiresAt: ${this.expiresAt}, … }`;
  }
}

/** Provides access tokens for API calls. */
export interface TokenSource {
  /** A valid access token. */
  accessToken(): Promise<string>;
  /** A new access token, after the service refused this one. */
  replaceToken(refused: string): Promise<string>;
}

/** A fixed access token that cannot be renewed; for scripts and tests. */
export function staticToken(token: string): TokenSource {
  return {
    accessToken: async () => token,
    replaceToken: async () => {
      throw new SignInRequiredError("the access token was refused and cannot be renewed");
    },
  };
}

/** The settings of a `Session`. */
export interface SessionOptions {
  signIn: SignIn;
  tokens: Tokens;
  /** Stores renewed tokens durably: a renewal invalidates the old refresh token. No caller gets a token before it returns. */
  save: (tokens: Tokens) => Promise<void> | void;
  /** Reads the stored tokens, if several processes share them: another one may have renewed them. */
  load?: () => Promise<Tokens> | Tokens;
}

/**
 * The tokens of one signed-in user. Expired tokens are renewed once, however many callers need one; if the response to a renewal
 * is lost, it is repeated: within 30 seconds the service returns the same new tokens.
 */
export class Session implements TokenSource {
  readonly #options: SessionOptions;
  #tokens: Tokens;
  #renewal: Promise<Tokens> | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#tokens = options.tokens;
  }

  /** The current tokens. */
  get tokens(): Tokens {
    return this.#tokens;
  }

  async accessToken(): Promise<string> {
    if (this.#tokens.isValid(this.#options.signIn.now())) return this.#tokens.accessToken;
    return this.replaceToken(this.#tokens.accessToken);
  }

  async replaceToken(refused: string): Promise<string> {
    this.#renewal ??= this.#renew(refused).finally(() => {
      this.#renewal = undefined;
    });
    return (await this.#renewal).accessToken;
  }

  /** Revokes the tokens. Delete the stored ones, too. */
  async signOut(): Promise<void> {
    await this.#options.signIn.revoke(this.#tokens);
  }

  async #renew(refused: string): Promise<Tokens> {
    const { signIn, save, load } = this.#options;
    const current = async (): Promise<Tokens> => (await load?.()) ?? this.#tokens;
    const isNew = (tokens: Tokens): boolean => tokens.accessToken !== refused && tokens.isValid(signIn.now());
    const before = await current();
    this.#tokens = before;
    if (isNew(before)) return before;
    try {
      const renewed = await signIn.refresh(before);
      await save(renewed);
      this.#tokens = renewed;
      return renewed;
    } catch (error) {
      if (!(error instanceof IdentityProviderError && error.error === "invalid_grant")) throw error;
      // Another process may have renewed the tokens, longer ago than the service's grace period.
      const now = await current();
      this.#tokens = now;
      if (now.refreshToken !== before.refreshToken && isNew(now)) return now;
      throw new SignInRequiredError(`the sign-in has ended (${error.description})`);
    }
  }
}
