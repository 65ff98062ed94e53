// Receives the requests of the service: verifies signatures, answers handshakes, and passes on verified events.

import type { IncomingMessage, ServerResponse } from "node:http";
import { InvalidNotificationError, parseNotification, type WebhookEvent } from "./event.js";
import { SignatureMismatch, Verifier, type HeaderSource, type VerifierOptions } from "./verify.js";

const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export interface ReceiverOptions extends VerifierOptions {
  /**
   * Processes an event; usually `(event) => inbox.processOnce(event, …)`. The service waits five seconds for the response, so
   * queue what takes longer. If this throws, the response is 500 and the service delivers the event again.
   */
  onEvent: (event: WebhookEvent) => Promise<unknown> | unknown;
  /** Is told why a signature was refused; for logs. */
  onMismatch?: (mismatch: SignatureMismatch) => void;
  /** Is told what `onEvent` threw; for logs. */
  onError?: (error: unknown, event: WebhookEvent) => void;
  /** The size limit of a body. The default is 4 MiB, larger than any notification. */
  bodyBytesMax?: number;
}

/** A request with the raw bytes of its body: a framework must not have parsed it. */
export interface ReceivedRequest {
  method: string;
  /** The URL, or its path and query. */
  url: string;
  headers: HeaderSource;
  body: Uint8Array;
}

export interface ReceiverResponse {
  status: number;
  headers: { [name: string]: string };
  body: string;
}

/** Answers the requests of the service, for both families. */
export class Receiver {
  readonly #verifier: Verifier;
  readonly #options: ReceiverOptions;
  readonly #bodyBytesMax: number;

  constructor(options: ReceiverOptions) {
    this.#verifier = new Verifier(options);
    this.#options = options;
    this.#bodyBytesMax = options.bodyBytesMax ?? 4 * 1024 * 1024;
  }

  /** Answers one request; for any framework that gives the raw body. */
  async handle(request: ReceivedRequest): Promise<ReceiverResponse> {
    if (request.method === "GET") return echo(request.url);
    if (request.method !== "POST") return answer(405, "Send deliveries with POST.", { allow: "GET, POST" });
    if (request.body.length > this.#bodyBytesMax) return this.#tooLarge();
    try {
      this.#verifier.verify(request.headers, request.body);
      const notification = parseNotification(request.headers, request.body);
      return notification.kind === "acknowledge" ? answer(200, "") : await this.#process(notification.event);
    } catch (error) {
      if (error instanceof InvalidNotificationError) return answer(400, error.message);
      if (!(error instanceof SignatureMismatch)) throw error;
      this.#options.onMismatch?.(error);
      return answer(401, "The signature does not match.");
    }
  }

  /** A listener for `createServer` of `node:http`. */
  readonly nodeListener = (request: IncomingMessage, response: ServerResponse): void => {
    const respond = ({ status, headers, body }: ReceiverResponse): void => {
      response.writeHead(status, headers).end(body);
    };
    this.#fromNode(request).then(respond, () => respond(answer(400, "The request cannot be read.")));
  };

  /** A handler of `Request` and `Response`, as web frameworks and other runtimes have them. */
  readonly fetchHandler = async (request: Request): Promise<Response> => {
    const body = await this.#limited(request.body ?? []);
    const { method, url, headers } = request;
    const response = body === undefined ? this.#tooLarge() : await this.handle({ method, url, headers, body });
    return new Response(response.body, { status: response.status, headers: response.headers });
  };

  async #fromNode(request: IncomingMessage): Promise<ReceiverResponse> {
    const body = await this.#limited(request);
    if (body === undefined) return this.#tooLarge();
    return this.handle({ method: request.method ?? "", url: request.url ?? "", headers: request.headers, body });
  }

  /** The whole body, or undefined if it is too large. The rest of such a body is read and discarded, so that the response arrives. */
  async #limited(stream: AsyncIterable<unknown> | Iterable<unknown>): Promise<Buffer | undefined> {
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of stream) {
      bytes += (piece as Uint8Array).length;
      if (bytes <= this.#bodyBytesMax) pieces.push(piece as Uint8Array);
    }
    return bytes <= this.#bodyBytesMax ? Buffer.concat(pieces) : undefined;
  }

  async #process(event: WebhookEvent): Promise<ReceiverResponse> {
    try {
      await this.#options.onEvent(event);
      return answer(200, "");
    } catch (error) {
      this.#options.onError?.(error, event);
      return answer(500, "The event could not be processed. Deliver it again.");
    }
  }

  #tooLarge(): ReceiverResponse {
    return answer(413, `The body must have at most ${this.#bodyBytesMax} bytes.`);
  }
}

/** The handshake of invoicing. It is not signed, so only a GUID is echoed. */
function echo(url: string): ReceiverResponse {
  const query = url.slice(url.indexOf("?") + 1);
  const guid = new URLSearchParams(query).get("echo") ?? "";
  return GUID.test(guid) ? answer(200, guid) : answer(400, "GET requires the query echo=<GUID>.");
}

function answer(status: number, body: string, headers: { [name: string]: string } = {}): ReceiverResponse {
  return { status, headers: { "content-type": "text/plain; charset=utf-8", ...headers }, body };
}
