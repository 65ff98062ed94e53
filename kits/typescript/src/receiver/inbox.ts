// The inbox processes each event once and skips events older than the latest one of their record. The service delivers at least
// once, and in order per record except for replays.

import { open, readFile, rename, writeFile, type FileHandle } from "node:fs/promises";
import { resourceOf, type WebhookEvent } from "./event.js";

/** The identity of a record. */
export interface RecordKey {
  tenant: string;
  /** The resource as in the semantic name (`ACC.Customers`), or the name of an invoicing entity. */
  resource: string;
  /** The company that owns the record; empty if the tenant owns it. */
  company: string;
  id: string;
}

/** An event from a webhook delivery or from the feed. */
export interface ReceivedEvent {
  /** The id of the delivery; undefined for events from the feed. */
  outgoingId: string | undefined;
  record: RecordKey;
  /** The log position; undefined for invoicing notifications, which lack it, and for test events. */
  sequenceVersion: string | undefined;
}

/** What the inbox needs to know of a delivered event. */
export function receivedFromEvent(event: WebhookEvent): ReceivedEvent {
  if (event.family === "invoicing") {
    const record = { tenant: event.tenantId, resource: event.entity, company: "", id: event.entityId };
    return { outgoingId: event.outgoingId, record, sequenceVersion: undefined };
  }
  const { tenantId: tenant, company, correlationId: id } = event;
  const sequenceVersion = event.sequenceVersion === "0" ? undefined : event.sequenceVersion;
  return { outgoingId: event.outgoingId, record: { tenant, resource: resourceOf(event.name), company, id }, sequenceVersion };
}

/** What the inbox did with an event: `superseded` means that this or a newer event of the same record was processed before. */
export type InboxOutcome<T> = { kind: "processed"; value: T } | { kind: "duplicate" } | { kind: "superseded" };

/**
 * The storage of an inbox. `process` runs `handler` unless the event was processed before, and stores the event if the handler
 * succeeds: if it can, in one transaction with what the handler writes through the context that it gets, so that no crash makes
 * an event run twice. Ids may be deleted after 30 days, the time that the service keeps its log.
 */
export interface InboxStore<C = undefined> {
  process<T>(event: ReceivedEvent, isOrdered: boolean, handler: (context: C) => Promise<T>): Promise<InboxOutcome<T>>;
}

/** Processes each event once. */
export class Inbox<C = undefined> {
  readonly #store: InboxStore<C>;
  readonly #isOrdered: boolean;
  readonly #running = new Map<string, Promise<unknown>>();

  /**
   * By default an inbox is for applications that keep a copy of the records: it skips duplicates, and events older than the latest
   * one of their record. With `byIdOnly` it skips duplicates alone, for applications that count or forward events.
   */
  constructor(store: InboxStore<C>, { byIdOnly = false }: { byIdOnly?: boolean } = {}) {
    this.#store = store;
    this.#isOrdered = !byIdOnly;
  }

  /**
   * Runs `handler` unless the event was processed before. If it throws, the event can be processed again. Events of the same
   * record run one after the other within this process; across processes, the store's transaction decides.
   */
  async processOnce<T>(
    event: WebhookEvent | ReceivedEvent,
    handler: (context: C) => Promise<T> | T,
  ): Promise<InboxOutcome<T>> {
    const received = "record" in event ? event : receivedFromEvent(event);
    const key = keyOf(received.record);
    const before = this.#running.get(key) ?? Promise.resolve();
    const run = before
      .catch(() => undefined)
      .then(() => this.#store.process(received, this.#isOrdered, async (context) => handler(context)));
    this.#running.set(key, run);
    try {
      return await run;
    } finally {
      if (this.#running.get(key) === run) this.#running.delete(key);
    }
  }
}

/** A text that is different for different records. */
export function keyOf({ tenant, resource, company, id }: RecordKey): string {
  return JSON.stringify([tenant, resource, company, id]);
}

const ENTRIES_MAX = 100_000;

/** Keeps the last 100,000 ids and log positions in memory; for tests, and for applications that read the feed at every start. */
export class MemoryInboxStore implements InboxStore {
  readonly #ids = new Set<string>();
  readonly #sequences = new Map<string, bigint>();

  async process<T>(
    event: ReceivedEvent,
    isOrdered: boolean,
    handler: (context: undefined) => Promise<T>,
  ): Promise<InboxOutcome<T>> {
    if (event.outgoingId !== undefined && this.#ids.has(event.outgoingId)) return { kind: "duplicate" };
    const latest = this.#sequences.get(keyOf(event.record));
    const isOld = latest !== undefined && event.sequenceVersion !== undefined && BigInt(event.sequenceVersion) <= latest;
    if (isOrdered && isOld) return { kind: "superseded" };
    const value = await handler(undefined);
    await this.store(event);
    return { kind: "processed", value };
  }

  /** Stores an event as processed. */
  protected async store(event: ReceivedEvent): Promise<void> {
    if (event.outgoingId !== undefined) this.#ids.add(event.outgoingId);
    if (event.sequenceVersion !== undefined) {
      const key = keyOf(event.record);
      const [known, sequence] = [this.#sequences.get(key) ?? 0n, BigInt(event.sequenceVersion)];
      // Deleted first, so that the oldest entries are those that were not used for the longest time.
      this.#sequences.delete(key);
      this.#sequences.set(key, sequence > known ? sequence : known);
    }
    for (const known of [this.#ids, this.#sequences]) {
      for (const oldest of known.keys()) {
        if (known.size <= ENTRIES_MAX) break;
        known.delete(oldest);
      }
    }
  }
}

/**
 * Keeps the processed events in a file, for one process. A crash between the handler and the write makes one event run again; an
 * application with a database uses `SqlInboxStore`, which has no such gap.
 */
export class FileInboxStore extends MemoryInboxStore {
  #file: FileHandle | undefined;

  /** Opens or creates the file. */
  static async open(path: string): Promise<FileInboxStore> {
    const store = new FileInboxStore();
    const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return "";
      throw error;
    });
    // A crash may have left half a line at the end.
    const lines = text.split("\n").slice(0, -1).slice(-ENTRIES_MAX);
    for (const line of lines) await store.store(JSON.parse(line) as ReceivedEvent);
    await writeFile(`${path}.new`, lines.map((line) => `${line}\n`).join(""), { mode: 0o600 });
    await rename(`${path}.new`, path);
    store.#file = await open(path, "a");
    return store;
  }

  protected override async store(event: ReceivedEvent): Promise<void> {
    if (this.#file !== undefined) {
      await this.#file.appendFile(`${JSON.stringify(event)}\n`);
      await this.#file.datasync();
    }
    await super.store(event);
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}
