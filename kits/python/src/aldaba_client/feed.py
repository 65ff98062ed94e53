"""The pull feed: all changes after a log position, in order. It has the same events as webhooks, to catch up after an outage."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ._generated.models import FeedChange
from .errors import ApiError, BelowFloorError
from .receiver.events import ReceivedEvent, RecordKey, resource_of

if TYPE_CHECKING:
    from .api import Api

_PAGE_SIZE = 500


class Feed:
    """The feed after a log position. Iterating over it yields all changes up to now and ends; `position` is that of the last change
    that was yielded. If the log no longer reaches back to the position, it raises `BelowFloorError`: list the records again."""

    def __init__(self, api: Api, path: str, context: str | None, after: int) -> None:
        self._api = api
        self._path = path
        self._context = context
        self._position = after

    @property
    def position(self) -> int:
        """Store it with your work, and continue with `api.changes(…, position)`."""
        return self._position

    def __iter__(self) -> Iterator[FeedChange]:
        while changes := self._read(_PAGE_SIZE):
            for change in changes:
                self._position = change.sequence_version
                yield change

    def next_page(self, page_size: int = _PAGE_SIZE) -> list[FeedChange]:
        """Reads the next page and moves the position. Empty if there are no new changes."""
        changes = self._read(page_size)
        if changes:
            self._position = changes[-1].sequence_version
        return changes

    def follow(self, *, pause_seconds: float = 5.0, stop: threading.Event | None = None) -> Iterator[FeedChange]:
        """All changes, without end: once it has caught up, it reads again after each pause, until `stop` is set."""
        stop = stop or threading.Event()
        while not stop.is_set():
            for change in self:
                yield change
                if stop.is_set():
                    return
            stop.wait(pause_seconds)

    def _read(self, page_size: int) -> list[FeedChange]:
        path = f"{self._path}/changes?after={self._position}&pageSize={page_size}"
        try:
            return self._api.call(
                "GET", path, lambda all: [FeedChange.from_json(one) for one in all], context=self._context
            )
        except ApiError as error:
            if error.status == 410:
                raise BelowFloorError(error.message) from error
            raise


def received_from_feed(change: FeedChange, tenant: str, company: str) -> ReceivedEvent:
    """Converts a change of the feed for the `Inbox` that also processes the webhooks of these records."""
    record = RecordKey(tenant, resource_of(change.event), company, change.correlation_id)
    return ReceivedEvent(None, record, change.sequence_version)
