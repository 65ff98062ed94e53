// Sends requests with retries and limits, and parses responses and error responses.

import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, InvalidInputError, InvalidResponseError, UnreachableError } from "./errors.js";
import type { ErrorBody } from "./generated/schemas.js";

/** How often and how long calls are retried. */
export interface RetryPolicy {
  /** The maximum number of attempts, including the first. */
  attemptsMax: number;
  /** The maximum total time between attempts. If `Retry-After` asks for more, the error is thrown at once. */
  waitMaxMs: number;
}

/** The settings of calls. */
export interface HttpOptions {
  /** Sends requests in place of the global `fetch`; for proxies, certificates of a private authority, and tests. */
  fetch?: typeof globalThis.fetch;
  /** The default is 4 attempts within 60 seconds of waiting. */
  retry?: Partial<RetryPolicy>;
  /** The time limit of one attempt, from connecting to the end of the response. The default is 30,000. */
  timeoutMs?: number;
  /** The size limit of a response. The default is 64 MiB. */
  responseBytesMax?: number;
}

export interface HttpRequest {
  method: string;
  url: string;
  headers?: { [name: string]: string };
  body?: string;
  /** Whether the request may be sent again if it is unknown whether the service processed it. */
  isIdempotent: boolean;
}

export interface HttpResponse {
  status: number;
  headers: Headers;
  text: string;
}

const FIRST_PAUSE_MS = 200;
const MESSAGE_CHARS_MAX = 300;

export class HttpClient {
  readonly #options: Required<Omit<HttpOptions, "retry">> & { retry: RetryPolicy };

  constructor(options: HttpOptions) {
    const retry = { attemptsMax: 4, waitMaxMs: 60_000, ...options.retry };
    if (!(retry.attemptsMax >= 1)) throw new InvalidInputError("the retry policy: attemptsMax must be at least 1");
    this.#options = {
      fetch: options.fetch ?? globalThis.fetch,
      timeoutMs: options.timeoutMs ?? 30_000,
      responseBytesMax: options.responseBytesMax ?? 64 * 1024 * 1024,
      retry,
    };
  }

  /** Sends a request with retries and returns the last response, whatever its status. */
  async send(request: HttpRequest): Promise<HttpResponse> {
    const { attemptsMax, waitMaxMs } = this.#options.retry;
    let waitedMs = 0;
    for (let attempt = 1; ; attempt += 1) {
      const result = await this.#attempt(request);
      const isRefused = !(result instanceof UnreachableError) && (result.status === 429 || result.status === 503);
      const isRetried = isRefused || (result instanceof UnreachableError && request.isIdempotent);
      const asked = result instanceof UnreachableError ? undefined : retryAfterSeconds(result.headers);
      const pauseMs = asked === undefined ? backoffMs(attempt) : asked * 1000;
      if (!isRetried || attempt >= attemptsMax || waitedMs + pauseMs > waitMaxMs) {
        if (result instanceof UnreachableError) throw result;
        return result;
      }
      waitedMs += pauseMs;
      await sleep(pauseMs);
    }
  }

  async #attempt(request: HttpRequest): Promise<HttpResponse | UnreachableError> {
    const { timeoutMs, responseBytesMax } = this.#options;
    const send = this.#options.fetch;
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const response = await send(request.url, {
        method: request.method,
        headers: request.headers ?? {},
        ...(request.body === undefined ? {} : { body: request.body }),
        redirect: "manual",
        signal,
      });
      const text = await readText(response, responseBytesMax, callName(request));
      return { status: response.status, headers: response.headers, text };
    } catch (error) {
      if (error instanceof InvalidResponseError) throw error;
      const reason = signal.aborted ? `no complete response within ${timeoutMs / 1000} s` : reasonOf(error);
      const message = `${callName(request)}: no response (${reason}); check that the URL is right and reachable, then try again`;
      return new UnreachableError(message, { cause: error });
    }
  }
}

async function readText(response: Response, bytesMax: number, call: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.length;
    if (bytes > bytesMax) {
      throw new InvalidResponseError(call, `more than ${bytesMax} bytes: request smaller pages or raise responseBytesMax`);
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** The message of `fetch` says only that it failed; its cause says why. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return String((cause instanceof Error && cause.message) || (error instanceof Error ? error.message : error));
}

/** Exponential backoff. Half of the pause is random, so that clients which fail together do not retry together. */
function backoffMs(attempt: number): number {
  const pauseMs = FIRST_PAUSE_MS * 2 ** Math.min(attempt - 1, 7);
  return pauseMs / 2 + (pauseMs / 2) * Math.random();
}

function retryAfterSeconds(headers: Headers): number | undefined {
  const text = headers.get("retry-after")?.trim() ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** Method, host and path. Without the query, which may contain secrets. */
export function callName({ method, url }: { method: string; url: string }): string {
  const { host, pathname } = new URL(url);
  return `${method} ${host}${pathname}`;
}

export function parseJson<T>(call: string, response: HttpResponse): T {
  try {
    return JSON.parse(response.text) as T;
  } catch (error) {
    throw new InvalidResponseError(call, error instanceof Error ? error.message : String(error));
  }
}

/** The error of a response that is not 2xx. */
export function errorOf(call: string, response: HttpResponse): ApiError {
  let body: Partial<ErrorBody> = {};
  try {
    body = JSON.parse(response.text) as typeof body;
  } catch {
    body = { message: response.text.slice(0, MESSAGE_CHARS_MAX) };
  }
  const errors = Array.isArray(body?.errors) ? body.errors : [];
  const requestId = body?.requestId ?? response.headers.get("x-request-id") ?? "";
  const code = body?.code ?? errors[0]?.code ?? "";
  const retryAfter = retryAfterSeconds(response.headers);
  return new ApiError(call, response.status, code, body?.message ?? "", requestId, errors, retryAfter);
}

/** Checks a base URL and removes a slash at its end. Plain http is for loopback alone. */
export function checkUrl(what: string, text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new InvalidInputError(`${what}: ${JSON.stringify(text)} is not a URL`);
  }
  const isLoopback = ["127.0.0.1", "[::1]", "localhost"].includes(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback)) {
    throw new InvalidInputError(`${what}: it must be https (http only for loopback)`);
  }
  return text.replace(/\/+$/, "");
}

/** Checks a value that becomes a header. The message does not repeat it: it may be a secret. */
export function checkHeader(what: string, value: string): string {
  if (!/^[\x20-\x7e]+$/.test(value)) {
    throw new InvalidInputError(`${what}: it is empty or contains characters that are not allowed in a header`);
  }
  return value;
}
