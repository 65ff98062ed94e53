// Verifies id_tokens: RS256 with a key of the issuer, and the claims of this sign-in. No other algorithm is accepted,
// whatever the header says.

import { createHash, createPublicKey, verify as verifySignature } from "node:crypto";
import { IdTokenError, type IdTokenReason } from "./errors.js";

const TOKEN_CHARS_MAX = 16 * 1024;
/** The allowed difference between clocks. */
const LEEWAY_SECONDS = 60;

/** A public key of the issuer. */
export interface Jwk {
  kty: string;
  kid?: string;
  alg?: string;
  use?: string;
  n?: string;
  e?: string;
}

/** The user who signed in, from a verified id_token. */
export interface Identity {
  /** The stable id of the user. */
  sub: string;
  /** All claims, such as `given_name`, `email` and `auth_time`, depending on the requested scopes. */
  claims: { [name: string]: unknown };
}

/** What the claims must say. */
export interface ExpectedClaims {
  issuer: string;
  clientId: string;
  nowSeconds: number;
  nonce?: string | undefined;
  /** The code of the same response. */
  code?: string | undefined;
  /** The access token of the same response. */
  accessToken?: string | undefined;
  /** The user of the previous id_token. */
  sub?: string | undefined;
}

function require(holds: boolean, reason: IdTokenReason, message: string): asserts holds {
  if (!holds) throw new IdTokenError(reason, message);
}

function decode(part: string | undefined): { [name: string]: unknown } {
  try {
    const value: unknown = JSON.parse(Buffer.from(part ?? "", "base64url").toString("utf8"));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as { [name: string]: unknown };
  } catch {
    // Reported below.
  }
  throw new IdTokenError("malformed", "it is not a valid JWT");
}

/** The id of the key in the header, before verification: use it only to find the key. */
export function keyIdOf(token: string): string {
  require(token.length <= TOKEN_CHARS_MAX, "malformed", "it is not a valid JWT");
  const { kid } = decode(token.split(".")[0]);
  return typeof kid === "string" ? kid : "";
}

/** Verifies an id_token and returns its claims, or throws an `IdTokenError`. */
export function verifyIdToken(token: string, keys: readonly Jwk[], expected: ExpectedClaims): Identity {
  const kid = keyIdOf(token);
  const parts = token.split(".");
  require(parts.length === 3, "malformed", "it is not a valid JWT");
  const { alg } = decode(parts[0]);
  require(alg === "RS256", "algorithm", `it is signed with ${JSON.stringify(alg)} instead of RS256`);
  const key = keys.find((one) => one.kid === kid && isForSigning(one));
  require(key !== undefined, "unknown_key", `the issuer has no key ${JSON.stringify(kid)}`);
  const signed = Buffer.from(`${parts[0]}.${parts[1]}`);
  require(isSigned(signed, key, Buffer.from(parts[2] ?? "", "base64url")), "signature", "its signature is wrong");
  const claims = decode(parts[1]);
  return checkClaims(claims, expected);
}

function isForSigning(key: Jwk): boolean {
  return key.kty === "RSA" && (key.alg ?? "RS256") === "RS256" && (key.use ?? "sig") === "sig";
}

function isSigned(signed: Buffer, key: Jwk, signature: Buffer): boolean {
  try {
    const { kty, n = "", e = "" } = key;
    return verifySignature("RSA-SHA256", signed, createPublicKey({ key: { kty, n, e }, format: "jwk" }), signature);
  } catch {
    return false;
  }
}

function checkClaims(claims: { [name: string]: unknown }, expected: ExpectedClaims): Identity {
  const { iss, sub, exp, iat, nonce } = claims;
  require(iss === expected.issuer, "issuer", `it was issued by ${JSON.stringify(iss)}`);
  require(isForClient(claims, expected.clientId), "audience", "it is for another client");
  require(
    typeof exp === "number" && expected.nowSeconds < exp + LEEWAY_SECONDS,
    "expired",
    "it has expired, or this machine's clock is ahead",
  );
  require(
    typeof iat === "number" && iat <= expected.nowSeconds + LEEWAY_SECONDS,
    "issued_in_future",
    "it was issued in the future, or this machine's clock is behind",
  );
  require(
    expected.nonce === undefined || nonce === expected.nonce,
    "nonce",
    "its nonce is not the one that was sent",
  );
  // With a code, `c_hash` is required; with an access token, `at_hash` is optional.
  require(
    expected.code === undefined || claims["c_hash"] === halfHash(expected.code),
    "code_hash",
    "it belongs to another code (c_hash)",
  );
  const atHash = claims["at_hash"];
  require(
    expected.accessToken === undefined || atHash === undefined || atHash === halfHash(expected.accessToken),
    "access_token_hash",
    "it belongs to another access token (at_hash)",
  );
  require(typeof sub === "string" && sub !== "", "malformed", "it has no sub");
  require(expected.sub === undefined || sub === expected.sub, "subject", "it is for another user than before");
  return { sub, claims };
}

/** Whether the audience is this client. With several audiences, `azp` must name it, too. */
function isForClient({ aud, azp }: { [name: string]: unknown }, clientId: string): boolean {
  if (!Array.isArray(aud)) return aud === clientId;
  return aud.includes(clientId) && (aud.length === 1 || azp === clientId);
}

/** The left half of a SHA-256 hash, in base64url. */
function halfHash(text: string): string {
  return createHash("sha256").update(text).digest().subarray(0, 16).toString("base64url");
}
