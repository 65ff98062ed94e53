// Lists of records: page by page, as an async iterable, or as a snapshot from which the feed continues without a gap.

import { contextOf, type Api, type Resource } from "./api.js";
import { ConcurrentDeletionsError, InvalidInputError, InvalidResponseError } from "./errors.js";
import { parseJson } from "./http.js";

const PAGE_SIZE_MAX = 1000;
const SNAPSHOT_TRIES_MAX = 5;
const SNAPSHOT_RECORDS_MAX = 1_000_000;

export interface ListOptions {
  /** The number of records per page: 1 to 1,000. The default is 100. */
  pageSize?: number;
}

/** One page of a list. */
export interface Page<T> {
  items: T[];
  /** Counted from 1. */
  number: number;
  /** The number of pages of the whole list. */
  pagesTotal: number;
  /** The number of records of the whole list. */
  recordsTotal: number;
  /** The position of the tenant's log when the page was read: follow the feed from there. */
  position: string | undefined;
  /** For `pageIfChanged`. */
  etag: string | undefined;
}

/** All records of a list, and the log position from which the feed has the later changes. */
export interface Snapshot<T> {
  records: T[];
  position: string;
}

/** A list of records. It is lazy: requests are sent when pages are read. */
export class List<T> implements AsyncIterable<T> {
  readonly #api: Api;
  readonly #resource: Resource;
  readonly #company: string | undefined;
  readonly #pageSize: number;
  readonly #query: { [name: string]: string };

  constructor(
    api: Api,
    resource: Resource,
    company: string | undefined,
    options: ListOptions = {},
    query: { [name: string]: string } = {},
  ) {
    const { pageSize = 100 } = options;
    if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > PAGE_SIZE_MAX) {
      throw new InvalidInputError(`the page size: it must be from 1 to ${PAGE_SIZE_MAX}`);
    }
    this.#api = api;
    this.#resource = resource;
    this.#company = company;
    this.#pageSize = pageSize;
    this.#query = query;
  }

  /** One page, counted from 1. A page after the last is empty. */
  async page(number: number): Promise<Page<T>> {
    const page = await this.#read(number, undefined);
    if (page === undefined) throw new InvalidResponseError(`GET ${this.#resource.path}`, "304 to an unconditional request");
    return page;
  }

  /** One page, or undefined if it still has this etag. */
  pageIfChanged(number: number, etag: string): Promise<Page<T> | undefined> {
    return this.#read(number, etag);
  }

  /**
   * All records; pages are read as needed. The order is that of creation, so records created meanwhile come at the end. If
   * records are deleted meanwhile, it may skip one; `snapshot` does not.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (let number = 1, pages = 1; number <= pages; number += 1) {
      const page = await this.page(number);
      yield* page.items;
      if (page.items.length === 0) return;
      pages = page.pagesTotal;
    }
  }

  /** All records in an array. */
  async all(): Promise<T[]> {
    const records: T[] = [];
    for await (const record of this) records.push(record);
    return records;
  }

  /**
   * All records at once, with the position from which the feed continues without a gap. If records were deleted meanwhile, the
   * list is read again.
   */
  async snapshot(): Promise<Snapshot<T>> {
    const canBeDeleted = this.#resource.events.some((event) => event.endsWith("Deleted"));
    for (let tries = 0; tries < SNAPSHOT_TRIES_MAX; tries += 1) {
      const read = await this.#readAll();
      if (!canBeDeleted || !(await this.#hasDeletionSince(read.position))) return read;
    }
    throw new ConcurrentDeletionsError(SNAPSHOT_TRIES_MAX);
  }

  async #readAll(): Promise<Snapshot<T>> {
    const first = await this.page(1);
    // Later pages may contain newer changes, which the feed then repeats. That is harmless.
    if (first.position === undefined) {
      throw new InvalidResponseError(`GET ${this.#resource.path}`, "there is no X-Sequence-Version");
    }
    const records = first.items;
    for (let number = 2, pages = first.pagesTotal; number <= pages; number += 1) {
      const page = await this.page(number);
      pages = page.pagesTotal;
      records.push(...page.items);
      if (records.length > SNAPSHOT_RECORDS_MAX) {
        throw new InvalidInputError("a snapshot: there are more than a million records; iterate over the list");
      }
    }
    return { records, position: first.position };
  }

  async #hasDeletionSince(position: string): Promise<boolean> {
    for await (const change of this.#api.changes(this.#resource, this.#company, position)) {
      if (change.event.endsWith("Deleted")) return true;
    }
    return false;
  }

  async #read(number: number, etag: string | undefined): Promise<Page<T> | undefined> {
    const query = new URLSearchParams({
      pageNumber: String(number),
      pageSize: String(this.#pageSize),
      ...this.#query,
    });
    const { path } = this.#resource;
    const context = contextOf(this.#resource, this.#company);
    const response = await this.#api.send({ method: "GET", path: `${path}?${query.toString()}`, context, etag });
    if (response.status === 304) return undefined;
    const call = `GET ${path}`;
    const text = response.headers.get("x-pagination");
    if (text === null) throw new InvalidResponseError(call, "X-Pagination is missing");
    const pagination = parseJson<{ totalCount: number; totalPages: number }>(call, { ...response, text });
    return {
      items: parseJson<T[]>(call, response),
      number,
      pagesTotal: pagination.totalPages,
      recordsTotal: pagination.totalCount,
      position: response.headers.get("x-sequence-version") ?? undefined,
      etag: response.headers.get("etag") ?? undefined,
    };
  }
}
