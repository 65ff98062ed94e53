// An inbox store in the application's own database, in one transaction with what the application writes.

import { keyOf, type InboxOutcome, type InboxStore, type ReceivedEvent } from "./inbox.js";

/** One connection within a transaction. A client of `pg` (PostgreSQL) is one. */
export interface SqlClient {
  query(text: string, values?: unknown[]): Promise<{ rows: { [column: string]: unknown }[] }>;
}

/** Runs `work` in a transaction: commits it, or rolls it back if `work` throws. */
export type SqlTransactions<C extends SqlClient> = <T>(work: (client: C) => Promise<T>) => Promise<T>;

/** The tables of the inbox. Rows older than 30 days may be deleted. */
const TABLES = [
  `CREATE TABLE IF NOT EXISTS aldaba_inbox_events (
    outgoing_id TEXT PRIMARY KEY,
    processed_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP)`,
  `CREATE TABLE IF NOT EXISTS aldaba_inbox_records (
    record TEXT PRIMARY KEY,
    sequence_version BIGINT NOT NULL)`,
];

/**
 * For PostgreSQL and SQLite. The handler gets the connection of the transaction: what it writes there is committed together with
 * the id of the event, so each event takes effect exactly once, also across processes and crashes.
 */
export class SqlInboxStore<C extends SqlClient> implements InboxStore<C> {
  readonly #transactions: SqlTransactions<C>;

  constructor(transactions: SqlTransactions<C>) {
    this.#transactions = transactions;
  }

  /** Creates the tables if they do not exist. */
  async createTables(): Promise<void> {
    await this.#transactions(async (client) => {
      for (const table of TABLES) await client.query(table);
    });
  }

  process<T>(
    event: ReceivedEvent,
    isOrdered: boolean,
    handler: (client: C) => Promise<T>,
  ): Promise<InboxOutcome<T>> {
    return this.#transactions(async (client): Promise<InboxOutcome<T>> => {
      // Writing first makes another process that has the same event wait for this transaction.
      if (event.outgoingId !== undefined) {
        const { rows } = await client.query(
          "INSERT INTO aldaba_inbox_events (outgoing_id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING outgoing_id",
          [event.outgoingId],
        );
        if (rows.length === 0) return { kind: "duplicate" };
      }
      if (event.sequenceVersion !== undefined) {
        const { rows } = await client.query(
          `INSERT INTO aldaba_inbox_records AS known (record, sequence_version) VALUES ($1, CAST($2 AS BIGINT))
            ON CONFLICT (record) DO UPDATE SET sequence_version = excluded.sequence_version
            WHERE excluded.sequence_version > known.sequence_version RETURNING record`,
          [keyOf(event.record), event.sequenceVersion],
        );
        if (rows.length === 0 && isOrdered) return { kind: "superseded" };
      }
      return { kind: "processed", value: await handler(client) };
    });
  }
}
