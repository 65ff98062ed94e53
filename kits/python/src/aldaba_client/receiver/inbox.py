"""The inbox processes each event once and skips events older than the latest one of their record. The service delivers at least
once, and in order per record except for replays."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

from .events import ReceivedEvent, RecordKey, WebhookEvent

T = TypeVar("T")
C = TypeVar("C")
C_co = TypeVar("C_co", covariant=True)

_LOCKS = 64
_ENTRIES_MAX = 100_000


@dataclass(frozen=True)
class InboxOutcome(Generic[T]):
    """What the inbox did with an event. `superseded` means that this or a newer event of the same record was processed before."""

    kind: Literal["processed", "duplicate", "superseded"]
    value: T | None = None
    """The result of the handler, if it ran."""


class InboxStore(Protocol[C_co]):
    """The storage of an inbox. Ids may be deleted after 30 days, the time that the service keeps its log."""

    def process(self, event: ReceivedEvent, is_ordered: bool, handler: Callable[[C_co], T]) -> InboxOutcome[T]:
        """Runs `handler` unless the event was processed before, and stores the event if the handler succeeds: if it can, in one
        transaction with what the handler writes through the context that it gets, so that no crash makes an event run twice."""


class Inbox(Generic[C]):
    """Processes each event once."""

    def __init__(self, store: InboxStore[C], *, by_id_only: bool = False) -> None:
        """By default an inbox is for applications that keep a copy of the records: it skips duplicates, and events older than the
        latest one of their record. With `by_id_only` it skips duplicates alone, for applications that count or forward events."""
        self._store = store
        self._is_ordered = not by_id_only
        self._locks = [threading.Lock() for _ in range(_LOCKS)]

    def process_once(self, event: WebhookEvent | ReceivedEvent, handler: Callable[[C], T]) -> InboxOutcome[T]:
        """Runs `handler` unless the event was processed before. If it raises, the event can be processed again.

        Events of the same record run one after the other within this process; across processes, the store's transaction decides.
        """
        received = event if isinstance(event, ReceivedEvent) else event.received()
        with self._locks[hash(received.record) % _LOCKS]:
            return self._store.process(received, self._is_ordered, handler)


class MemoryInboxStore:
    """Keeps the last 100,000 ids and log positions in memory; for tests, and for applications that read the feed at every start.
    Its handlers get None."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ids: OrderedDict[str, None] = OrderedDict()
        self._sequences: OrderedDict[RecordKey, int] = OrderedDict()

    def process(self, event: ReceivedEvent, is_ordered: bool, handler: Callable[[None], T]) -> InboxOutcome[T]:
        with self._lock:
            if event.outgoing_id is not None and event.outgoing_id in self._ids:
                return InboxOutcome("duplicate")
            latest = self._sequences.get(event.record, -1)
            if is_ordered and event.sequence_version is not None and event.sequence_version <= latest:
                return InboxOutcome("superseded")
        value = handler(None)
        with self._lock:
            if event.outgoing_id is not None:
                self._ids[event.outgoing_id] = None
            if event.sequence_version is not None:
                known = self._sequences.pop(event.record, -1)
                self._sequences[event.record] = max(known, event.sequence_version)
            while len(self._ids) > _ENTRIES_MAX:
                self._ids.popitem(last=False)
            while len(self._sequences) > _ENTRIES_MAX:
                self._sequences.popitem(last=False)
        return InboxOutcome("processed", value)


class SqliteInboxStore:
    """Keeps the processed events in a SQLite file. The handler gets the connection, within a transaction: what it writes there is
    committed together with the id of the event, so each event takes effect exactly once, also across processes and crashes. The
    handler must not commit; writes to another database are made again if the process ends between both commits."""

    _TABLES = (
        """CREATE TABLE IF NOT EXISTS aldaba_inbox_events (
            outgoing_id TEXT PRIMARY KEY,
            processed_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP) WITHOUT ROWID""",
        """CREATE TABLE IF NOT EXISTS aldaba_inbox_records (
            record TEXT PRIMARY KEY,
            sequence_version INTEGER NOT NULL) WITHOUT ROWID""",
    )

    def __init__(self, path: str | os.PathLike[str], *, busy_timeout_seconds: float = 5.0) -> None:
        # Without an isolation level, this class decides when transactions begin and end.
        self._connection = sqlite3.connect(
            path, timeout=busy_timeout_seconds, isolation_level=None, check_same_thread=False
        )
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._lock = threading.Lock()
        for table in self._TABLES:
            self._connection.execute(table)

    def process(
        self, event: ReceivedEvent, is_ordered: bool, handler: Callable[[sqlite3.Connection], T]
    ) -> InboxOutcome[T]:
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                outcome: InboxOutcome[T] | None = self._claim(event, is_ordered)
                if outcome is None:
                    outcome = InboxOutcome("processed", handler(self._connection))
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            return outcome

    def delete_older_than(self, days: int) -> None:
        """Deletes the ids of events that were processed longer ago. The service replays nothing that is older than 30 days."""
        with self._lock:
            self._connection.execute(
                "DELETE FROM aldaba_inbox_events WHERE processed_at < datetime('now', ?)", (f"-{int(days)} days",)
            )

    def close(self) -> None:
        self._connection.close()

    def _claim(self, event: ReceivedEvent, is_ordered: bool) -> InboxOutcome[T] | None:
        execute = self._connection.execute
        if event.outgoing_id is not None:
            insert = "INSERT INTO aldaba_inbox_events (outgoing_id) VALUES (?) ON CONFLICT DO NOTHING"
            if execute(insert, (event.outgoing_id,)).rowcount == 0:
                return InboxOutcome("duplicate")
        if event.sequence_version is not None:
            record = event.record
            key = json.dumps([record.tenant, record.resource, record.company, record.id])
            upsert = """INSERT INTO aldaba_inbox_records AS known (record, sequence_version) VALUES (?, ?)
                ON CONFLICT (record) DO UPDATE SET sequence_version = excluded.sequence_version
                WHERE excluded.sequence_version > known.sequence_version"""
            if execute(upsert, (key, event.sequence_version)).rowcount == 0 and is_ordered:
                return InboxOutcome("superseded")
        return None
