// For tests without the program: a fake `fetch`, and an identity provider whose key the tests have.

import { createHash, generateKeyPairSync, sign } from "node:crypto";

export interface SentRequest {
  method: string;
  url: URL;
  headers: Headers;
  body: string;
}

/** A `fetch` that answers with a function, and records all requests. */
export class FakeNetwork {
  readonly requests: SentRequest[] = [];
  readonly #answer: (request: SentRequest, number: number) => Response;

  constructor(answer: (request: SentRequest, number: number) => Response) {
    this.#answer = answer;
  }

  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const request = {
      method: init?.method ?? "GET",
      url: new URL(String(input)),
      headers: new Headers(init?.headers),
      body: String(init?.body ?? ""),
    };
    this.requests.push(request);
    return this.#answer(request, this.requests.length);
  };
}

export function json(value: unknown, status = 200, headers: { [name: string]: string } = {}): Response {
  return new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json", ...headers } });
}

export const AUTH_URL = "https://auth.example.com";
export const ISSUER = `${AUTH_URL}/auth/core`;
export const NOW_SECONDS = 1_800_000_000;

/** Generating a key takes long. */
const KEYS = generateKeyPairSync("rsa", { modulusLength: 2048 });

/** An identity provider in memory. `claims` are added to the id_tokens that it issues. */
export class FakeProvider {
  readonly network: FakeNetwork;
  claims: { [name: string]: unknown } = {};
  header: { [name: string]: unknown } = { alg: "RS256", kid: "one" };
  tokenRequests: URLSearchParams[] = [];
  idToken: (token: string) => string | undefined = (token) => token;
  tokenStatus = 200;

  constructor() {
    const jwk = { ...KEYS.publicKey.export({ format: "jwk" }), kid: "one", use: "sig", alg: "RS256" };
    this.network = new FakeNetwork((request) => {
      if (request.url.pathname.endsWith("/openid-configuration")) {
        return json({
          issuer: ISSUER,
          jwks_uri: `${ISSUER}/.well-known/jwks`,
          revocation_endpoint: `${ISSUER}/connect/revocation`,
          end_session_endpoint: `${ISSUER}/connect/endsession`,
        });
      }
      if (request.url.pathname.endsWith("/jwks")) return json({ keys: [jwk] });
      const fields = new URLSearchParams(request.body);
      this.tokenRequests.push(fields);
      if (this.tokenStatus !== 200) return json({ error: "invalid_grant", error_description: "used" }, this.tokenStatus);
      const number = this.tokenRequests.length;
      const id_token = this.idToken(this.issue({}));
      return json({ access_token: `access-${number}`, refresh_token: `refresh-${number}`, expires_in: 3600, id_token });
    });
  }

  /** A signed id_token. */
  issue(claims: { [name: string]: unknown }): string {
    const payload = {
      iss: ISSUER, aud: "panel", sub: "maria", iat: NOW_SECONDS, exp: NOW_SECONDS + 300, ...this.claims, ...claims,
    };
    const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const signed = `${encode(this.header)}.${encode(payload)}`;
    return `${signed}.${sign("RSA-SHA256", Buffer.from(signed), KEYS.privateKey).toString("base64url")}`;
  }
}

export function halfHash(text: string): string {
  return createHash("sha256").update(text).digest().subarray(0, 16).toString("base64url");
}
