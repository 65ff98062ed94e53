// Webhook management for both families: subscriptions, delivery history, health and replays.

import { setTimeout as sleep } from "node:timers/promises";
import type { Api, Call, Resource } from "./api.js";
import { UnreachableError } from "./errors.js";
import { parseJson } from "./http.js";
import type {
  Delivery,
  DeliveryStatus,
  InvoicingAction,
  InvoicingEntity,
  InvoicingWebhook,
  Replay,
  RotatedSecret,
  Webhook,
  WebhookHealth,
} from "./generated/schemas.js";

const POLL_MS = 250;

/** The settings of a new webhook of the accounting family. */
export interface Subscription {
  /** The name of the application, shown to people. */
  applicationName: string;
  /** The URL of the receiver: https, port 443, on a public address. */
  url: string;
  /** Signs deliveries: 1 to 256 bytes. After the prefix `whsec_`, it is the Standard Webhooks key in base64. */
  secret: string;
  /** The semantic names of the events. The default is all events of the resource. */
  eventTypes?: readonly string[];
}

/** The settings of a new webhook of invoicing. */
export interface InvoicingSubscription {
  /** The URL of the receiver: `https://<host>/api/webhooks/incoming/Invoicing`. */
  uri: string;
  entity: InvoicingEntity;
  /** `CompanyData` and `CompanySettings` have only `Updated`. */
  action: InvoicingAction;
  secret: string;
  /** Whether to create the subscription paused. */
  isPaused?: boolean;
  applicationName?: string;
  description?: string;
}

/** The webhooks of one resource of the accounting family. */
export class Webhooks {
  readonly #api: Api;
  readonly #resource: Resource;

  constructor(api: Api, resource: Resource) {
    this.#api = api;
    this.#resource = resource;
  }

  /** The semantic names of all events of the resource. */
  events(): Promise<string[]> {
    return this.#call("GET", "/events");
  }

  /**
   * Creates a webhook and returns its id. The same subscription returns the same webhook and enables it, so applications can
   * call this at every start.
   */
  subscribe(subscription: Subscription): Promise<string> {
    return this.#operation("POST", "/subscribe", this.#body(subscription));
  }

  /** Ends the webhook with exactly this subscription. */
  unsubscribe(subscription: Subscription): Promise<string> {
    return this.#operation("POST", "/unsubscribe", this.#body(subscription));
  }

  /** All webhooks that are neither deleted nor unsubscribed. */
  list(): Promise<Webhook[]> {
    return this.#call("GET", "");
  }

  /** One webhook, even if it is deleted; undefined if it does not exist or belongs to another client. */
  get(id: string): Promise<Webhook | undefined> {
    return this.#api.find<Webhook>({ method: "GET", path: this.#path(`/${id}`), context: "none" });
  }

  /** Enables deliveries. */
  async enable(id: string): Promise<void> {
    await this.#operation("PUT", `/status/${id}`, { webhookId: id, enable: true });
  }

  /** Disables deliveries. */
  async disable(id: string): Promise<void> {
    await this.#operation("PUT", `/status/${id}`, { webhookId: id, enable: false });
  }

  /** Changes the URL. Deliveries continue once the new URL has accepted the handshake; no event is lost. */
  async changeUrl(id: string, url: string): Promise<void> {
    await this.#operation("PUT", `/change/${id}`, { webhookId: id, url });
  }

  /** Deletes the webhook. Deletion is permanent. */
  async delete(id: string): Promise<void> {
    await this.#operation("DELETE", `/delete/${id}`);
  }

  /** Replaces the secret. For `overlapHours`, `webhook-signature` contains a signature of both secrets. */
  rotateSecret(id: string, secret: string, overlapHours: number): Promise<RotatedSecret> {
    return this.#call("PUT", `/secret/${id}`, { secret, overlapHours });
  }

  /** The deliveries, health and replays of a webhook. */
  history(id: string): History {
    return new History(this.#api, this.#path(`/${id}`), "none");
  }

  /** Waits until the receiver has accepted the handshake. */
  waitUntilActive(id: string, timeoutMs: number): Promise<void> {
    const isActive = async (): Promise<boolean> => (await this.get(id))?.isActive ?? false;
    return poll(`the Acknowledge of webhook ${id}`, timeoutMs, isActive);
  }

  #path(suffix: string): string {
    return `${this.#resource.path}/webhooks${suffix}`;
  }

  #body(subscription: Subscription): unknown {
    const { applicationName, url, secret, eventTypes = this.#resource.events } = subscription;
    return { thirdPartyApplicationName: applicationName, url, secret, eventTypes };
  }

  #call<T>(method: Call["method"], suffix: string, body?: unknown): Promise<T> {
    // All of these calls are idempotent, even the POSTs.
    return this.#api.call<T>({ method, path: this.#path(suffix), context: "none", body, isIdempotent: true });
  }

  async #operation(method: Call["method"], suffix: string, body?: unknown): Promise<string> {
    return (await this.#call<{ webhookId: string }>(method, suffix, body)).webhookId;
  }
}

/** The invoicing webhooks of the client. */
export class InvoicingWebhooks {
  readonly #api: Api;
  readonly #path: string;

  constructor(api: Api, path: string) {
    this.#api = api;
    this.#path = path;
  }

  /** Creates a webhook. The same subscription returns the same webhook. */
  subscribe(subscription: InvoicingSubscription): Promise<InvoicingWebhook> {
    const body = { isPaused: false, applicationName: "", description: "", ...subscription };
    return this.#api.call({ method: "POST", path: this.#path, body, isIdempotent: true });
  }

  /** All webhooks that are not deleted. */
  list(): Promise<InvoicingWebhook[]> {
    return this.#api.call({ method: "GET", path: this.#path });
  }

  /** One webhook; undefined if it does not exist, is deleted or belongs to another client. */
  get(id: string): Promise<InvoicingWebhook | undefined> {
    return this.#api.find<InvoicingWebhook>({ method: "GET", path: `${this.#path}/${id}` });
  }

  /** Deletes a webhook and returns its last state. Deletion is permanent. */
  delete(id: string): Promise<InvoicingWebhook> {
    return this.#api.call({ method: "DELETE", path: `${this.#path}/${id}` });
  }

  /** Pauses deliveries. Changes made while paused are not delivered later. */
  pause(id: string): Promise<InvoicingWebhook> {
    return this.#api.call({ method: "PUT", path: `${this.#path}/${id}`, body: { isPaused: true } });
  }

  /** Resumes a paused webhook: deliveries continue with the next change. */
  resume(id: string): Promise<InvoicingWebhook> {
    return this.#api.call({ method: "PUT", path: `${this.#path}/${id}`, body: { isPaused: false } });
  }

  /** Replaces the secret. For `overlapHours`, `webhook-signature` contains a signature of both secrets. */
  rotateSecret(id: string, secret: string, overlapHours: number): Promise<RotatedSecret> {
    return this.#api.call({ method: "PUT", path: `${this.#path}/${id}/secret`, body: { secret, overlapHours } });
  }

  /** The deliveries, health and replays of a webhook. */
  history(id: string): History {
    return new History(this.#api, `${this.#path}/${id}`, undefined);
  }

  /** Waits until the receiver has echoed the GUID. */
  waitUntilEffective(id: string, timeoutMs: number): Promise<void> {
    const isEffective = async (): Promise<boolean> => (await this.get(id))?.status === "Effective";
    return poll(`the echo of webhook ${id}`, timeoutMs, isEffective);
  }
}

/** Which deliveries to list. */
export interface DeliveryFilter {
  status?: DeliveryStatus;
  /** Only deliveries of events at or after this time. */
  since?: Date;
}

/** The delivery history of one webhook. */
export class History {
  readonly #api: Api;
  readonly #path: string;
  readonly #context: string | undefined;

  constructor(api: Api, path: string, context: string | undefined) {
    this.#api = api;
    this.#path = path;
    this.#context = context;
  }

  /** The deliveries, newest first; pages are read as needed. */
  async *deliveries({ status, since }: DeliveryFilter = {}): AsyncGenerator<Delivery, void, undefined> {
    const first = new URLSearchParams({ pageSize: "100" });
    if (status !== undefined) first.set("status", status);
    if (since !== undefined) first.set("since", since.toISOString());
    for (let query: string | undefined = first.toString(); query !== undefined; ) {
      const path: string = `${this.#path}/deliveries?${query}`;
      const response = await this.#api.send({ method: "GET", path, context: this.#context });
      yield* parseJson<Delivery[]>(`GET ${this.#path}/deliveries`, response);
      // Only the query of the link is used, so that it cannot send the credentials to another host.
      query = response.headers.get("link")?.match(/<[^>?]*\?([^>]*)>;\s*rel="next"/)?.[1];
    }
  }

  /** One delivery with its body; undefined if it does not belong to this webhook. */
  delivery(outgoingId: string): Promise<Delivery | undefined> {
    const path = `${this.#path}/deliveries/${outgoingId}`;
    return this.#api.find<Delivery>({ method: "GET", path, context: this.#context });
  }

  /** Sends one delivery again, with the same id and body. */
  replayOne(outgoingId: string): Promise<Replay> {
    return this.#post(`/deliveries/${outgoingId}/replay`);
  }

  /** Sends all events between two times again; without `to`, up to now. */
  replay(from: Date, to?: Date): Promise<Replay> {
    const until = to === undefined ? {} : { to: to.toISOString() };
    return this.#post("/replay", { from: from.toISOString(), ...until });
  }

  /** Sends a test event, of the given kind if there is one. */
  test(event?: string): Promise<Replay> {
    return this.#post(event === undefined ? "/test" : `/test?event=${encodeURIComponent(event)}`);
  }

  /** The health of the webhook over the last 24 hours. */
  health(): Promise<WebhookHealth> {
    return this.#api.call({ method: "GET", path: `${this.#path}/health`, context: this.#context });
  }

  #post(suffix: string, body?: unknown): Promise<Replay> {
    return this.#api.call({ method: "POST", path: this.#path + suffix, context: this.#context, body });
  }
}

async function poll(what: string, timeoutMs: number, isDone: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (!(await isDone())) {
    if (Date.now() > end) {
      throw new UnreachableError(`${what}: not accepted within ${timeoutMs / 1000} s; look at the webhook's health`);
    }
    await sleep(POLL_MS);
  }
}
