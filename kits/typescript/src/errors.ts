// The errors of this package. Every message says what failed, where, and what to do about it; none has a secret.

import type { ErrorDetail } from "./generated/schemas.js";

/** The base of all errors of this package. */
export class AldabaError extends Error {
  override get name(): string {
    return this.constructor.name;
  }

  /** Whether the same call may succeed later. */
  get isTemporary(): boolean {
    return false;
  }
}

/** A value from the application is invalid. Nothing was sent. */
export class InvalidInputError extends AldabaError {}

/** No complete response: the host cannot be reached, the connection broke, or it took too long. */
export class UnreachableError extends AldabaError {
  override get isTemporary(): boolean {
    return true;
  }
}

/** The response is not in the expected format: probably something else than the service answers at this URL. */
export class InvalidResponseError extends AldabaError {
  constructor(call: string, reason: string) {
    super(`${call}: invalid response (${reason}); check that the URL is that of the service`);
  }
}

/** The service answered with an error. */
export class ApiError extends AldabaError {
  constructor(
    /** Method and path. */
    readonly call: string,
    readonly status: number,
    /** What is wrong, for programs: one of the service's error codes; empty if something else than the service answered. */
    readonly code: string,
    /** The message of the service, for people. */
    readonly reason: string,
    /** The id of the request, to report to the operator of the service. */
    readonly requestId: string,
    /** The individual errors, each with a stable code and the field that it is about. */
    readonly errors: readonly ErrorDetail[],
    /** The value of `Retry-After`. */
    readonly retryAfterSeconds: number | undefined,
  ) {
    const more = errors.filter((error) => error.message !== reason).map((error) => ` [${error.code}] ${error.message}`);
    super(`${call}: ${status} ${reason}${more.join("")} (${remedy(status)}; request ${requestId})`);
  }

  /** Whether the error, or one of the individual errors, has this code. */
  hasCode(code: string): boolean {
    return this.code === code || this.errors.some((error) => error.code === code);
  }

  override get isTemporary(): boolean {
    return this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

function remedy(status: number): string {
  const known: { [status: number]: string } = {
    400: "correct the request",
    401: "check the subscription key, then the token",
    403: "request the missing scope at sign-in, or wait for tomorrow's quota",
    404: "check the company and the id; records of other tenants are not found either",
    409: "the request conflicts with the current state; read it before trying again",
    413: "send a smaller request",
    429: "wait as long as Retry-After says",
  };
  return known[status] ?? (status >= 500 ? "an error of the service; try again later" : "see the message");
}

/** The position lies before the start of the feed: the service no longer keeps the changes in between. */
export class BelowFloorError extends AldabaError {
  constructor(
    /** The message of the service, with the position after which the feed begins. */
    readonly reason: string,
  ) {
    super(`${reason} Read the list again and follow the feed from its position.`);
  }
}

/** Records were deleted during each attempt to read a consistent list. */
export class ConcurrentDeletionsError extends AldabaError {
  constructor(tries: number) {
    super(`records were deleted while the list was read, ${tries} times; try again later or with larger pages`);
  }

  override get isTemporary(): boolean {
    return true;
  }
}

/** Why a callback is refused. `denied` is an answer of the identity provider; all others mean that it cannot be trusted. */
export type CallbackReason = "state" | "issuer" | "denied" | "missing" | "repeated" | "too_long";

/** The callback of a sign-in cannot be trusted, or reports an error. */
export class CallbackError extends AldabaError {
  constructor(
    readonly reason: CallbackReason,
    message: string,
    /** For `denied`, the OAuth error code, such as `access_denied`. */
    readonly error?: string,
  ) {
    super(`the sign-in failed: ${message}`);
  }
}

/** Why an id_token is refused. */
export type IdTokenReason =
  | "missing"
  | "malformed"
  | "algorithm"
  | "unknown_key"
  | "signature"
  | "issuer"
  | "audience"
  | "expired"
  | "issued_in_future"
  | "nonce"
  | "code_hash"
  | "access_token_hash"
  | "subject";

/** The id_token cannot be trusted. */
export class IdTokenError extends AldabaError {
  constructor(
    readonly reason: IdTokenReason,
    message: string,
  ) {
    super(`the id_token cannot be trusted: ${message}; start the sign-in again`);
  }
}

/** The identity provider answered with an OAuth error. */
export class IdentityProviderError extends AldabaError {
  constructor(
    /** The OAuth error code, such as `invalid_grant`. */
    readonly error: string,
    readonly description: string,
  ) {
    super(`the identity provider says ${error}: ${description}`);
  }
}

/** There are no tokens, or they cannot be renewed any more. */
export class SignInRequiredError extends AldabaError {
  constructor(reason: string) {
    super(`${reason}; send the user to sign in again`);
  }
}
