"""Lists of records: page by page, as an iterable, or as a snapshot from which the feed continues without a gap."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import urlencode

from ._generated.resources import Resource
from ._http import parse
from .errors import ConcurrentDeletionsError, InvalidInputError, InvalidResponseError

if TYPE_CHECKING:
    from .api import Api

T = TypeVar("T")

_PAGE_SIZE_MAX = 1000
_SNAPSHOT_TRIES_MAX = 5
_SNAPSHOT_RECORDS_MAX = 1_000_000


@dataclass(frozen=True)
class Page(Generic[T]):
    """One page of a list."""

    items: list[T]
    number: int
    """Counted from 1."""
    pages_total: int
    """The number of pages of the whole list."""
    records_total: int
    """The number of records of the whole list."""
    position: int | None
    """The position of the tenant's log when the page was read: follow the feed from there."""
    etag: str | None
    """For `List.page_if_changed`."""


@dataclass(frozen=True)
class Snapshot(Generic[T]):
    """All records of a list, and the log position from which the feed has the later changes."""

    records: list[T]
    position: int


class List(Generic[T]):
    """A list of records. It is lazy: requests are sent when pages are read."""

    def __init__(
        self,
        api: Api,
        resource: Resource,
        company: str | None,
        convert: Callable[[Any], T],
        page_size: int,
        query: Mapping[str, str] | None = None,
    ) -> None:
        if not 1 <= page_size <= _PAGE_SIZE_MAX:
            raise InvalidInputError(f"the page size: it must be from 1 to {_PAGE_SIZE_MAX}")
        self._api = api
        self._resource = resource
        self._company = company
        self._convert = convert
        self._page_size = page_size
        self._query = dict(query or {})

    def __iter__(self) -> Iterator[T]:
        """All records; pages are read as needed. The order is that of creation, so records created meanwhile come at the end. If
        records are deleted meanwhile, it may skip one; `snapshot` does not."""
        number = pages = 1
        while number <= pages:
            page = self.page(number)
            yield from page.items
            number, pages = number + 1, page.pages_total if page.items else 0

    def page(self, number: int) -> Page[T]:
        """One page, counted from 1. A page after the last is empty."""
        page = self._read(number, None)
        if page is None:
            raise InvalidResponseError(f"GET {self._resource.path}", "304 to an unconditional request")
        return page

    def page_if_changed(self, number: int, etag: str) -> Page[T] | None:
        """One page, or None if it still has this etag."""
        return self._read(number, etag)

    def snapshot(self) -> Snapshot[T]:
        """All records at once, with the position from which the feed continues without a gap. If records were deleted meanwhile,
        the list is read again."""
        can_be_deleted = any(event.endswith("Deleted") for event in self._resource.events)
        for _ in range(_SNAPSHOT_TRIES_MAX):
            read = self._read_all()
            if not can_be_deleted or not self._has_deletion_since(read.position):
                return read
        raise ConcurrentDeletionsError(_SNAPSHOT_TRIES_MAX)

    def _read_all(self) -> Snapshot[T]:
        first = self.page(1)
        # Later pages may contain newer changes, which the feed then repeats. That is harmless.
        if first.position is None:
            raise InvalidResponseError(f"GET {self._resource.path}", "there is no X-Sequence-Version")
        records, number, pages = first.items, 1, first.pages_total
        while number < pages:
            number += 1
            page = self.page(number)
            pages = page.pages_total
            records.extend(page.items)
            if len(records) > _SNAPSHOT_RECORDS_MAX:
                raise InvalidInputError("a snapshot: there are more than a million records; iterate over the list")
        return Snapshot(records, first.position)

    def _has_deletion_since(self, position: int) -> bool:
        changes = self._api.changes(self._resource, self._company, position)
        return any(change.event.endswith("Deleted") for change in changes)

    def _read(self, number: int, etag: str | None) -> Page[T] | None:
        from .api import context_of

        path = self._resource.path
        query = urlencode({"pageNumber": number, "pageSize": self._page_size, **self._query})
        context = context_of(self._resource, self._company)
        response = self._api.send("GET", f"{path}?{query}", context=context, etag=etag)
        if response.status == 304:
            return None
        call, headers = f"GET {path}", response.headers
        total = parse(call, headers.get("x-pagination", ""), lambda one: (int(one["totalPages"]), int(one["totalCount"])))
        return Page(
            items=parse(call, response.body, lambda all: [self._convert(one) for one in all]),
            number=number,
            pages_total=total[0],
            records_total=total[1],
            position=int(headers["x-sequence-version"]) if headers.get("x-sequence-version", "").isdigit() else None,
            etag=headers.get("etag"),
        )
