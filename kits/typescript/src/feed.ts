// The pull feed: all changes after a log position, in order. It has the same events as webhooks, to catch up after an outage.

import { setTimeout as sleep } from "node:timers/promises";
import type { Api } from "./api.js";
import { ApiError, BelowFloorError } from "./errors.js";
import type { FeedChange } from "./generated/schemas.js";
import type { ReceivedEvent } from "./receiver/inbox.js";
import { resourceOf } from "./receiver/event.js";

const PAGE_SIZE = 500;

export interface FollowOptions {
  /** How long to wait when the feed has no new changes. The default is 5,000. */
  pauseMs?: number;
  /** Ends the iteration. */
  signal?: AbortSignal;
}

/**
 * The feed after a log position. Iterating over it yields all changes up to now and ends; `position` is that of the last change
 * that was yielded. If the log no longer reaches back to the position, it throws `BelowFloorError`: list the records again.
 */
export class Feed implements AsyncIterable<FeedChange> {
  readonly #api: Api;
  readonly #path: string;
  readonly #context: string | undefined;
  #position: string;

  constructor(api: Api, path: string, context: string | undefined, after: string) {
    this.#api = api;
    this.#path = path;
    this.#context = context;
    this.#position = after;
  }

  /** Store it with your work, and continue with `api.changes(…, position)`. */
  get position(): string {
    return this.#position;
  }

  /** Reads the next page and moves the position. Empty if there are no new changes. */
  async nextPage(pageSize: number = PAGE_SIZE): Promise<FeedChange[]> {
    const changes = await this.#read(pageSize);
    this.#position = changes.at(-1)?.sequenceVersion ?? this.#position;
    return changes;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<FeedChange, void, undefined> {
    for (;;) {
      const changes = await this.#read(PAGE_SIZE);
      if (changes.length === 0) return;
      for (const change of changes) {
        this.#position = change.sequenceVersion;
        yield change;
      }
    }
  }

  /** All changes, without end: once it has caught up, it reads again after each pause. */
  async *follow({ pauseMs = 5_000, signal }: FollowOptions = {}): AsyncGenerator<FeedChange, void, undefined> {
    while (!signal?.aborted) {
      for await (const change of this) {
        yield change;
        if (signal?.aborted) return;
      }
      await sleep(pauseMs, undefined, signal ? { signal } : {}).catch((error: unknown) => {
        if (!signal?.aborted) throw error;
      });
    }
  }

  async #read(pageSize: number): Promise<FeedChange[]> {
    const path = `${this.#path}/changes?after=${encodeURIComponent(this.#position)}&pageSize=${pageSize}`;
    try {
      return await this.#api.call<FeedChange[]>({ method: "GET", path, context: this.#context });
    } catch (error) {
      if (error instanceof ApiError && error.status === 410) throw new BelowFloorError(error.reason);
      throw error;
    }
  }
}

/** Converts a change of the feed for the `Inbox` that also processes the webhooks of these records. */
export function receivedFromFeed(change: FeedChange, tenant: string, company: string): ReceivedEvent {
  return {
    outgoingId: undefined,
    record: { tenant, resource: resourceOf(change.event), company, id: change.correlationId },
    sequenceVersion: change.sequenceVersion,
  };
}
