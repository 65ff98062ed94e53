"""Sends requests with retries and limits, and parses responses and error responses."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx

from ._generated.models import ErrorDetail
from .errors import ApiError, InvalidInputError, InvalidResponseError, UnreachableError

T = TypeVar("T")

_FIRST_PAUSE_SECONDS = 0.2
_MESSAGE_CHARS_MAX = 300
_TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how long calls are retried."""

    attempts_max: int = 4
    """The maximum number of attempts, including the first."""
    wait_max_seconds: float = 60.0
    """The maximum total time between attempts. If `Retry-After` asks for more, the error is raised at once."""


@dataclass(frozen=True)
class HttpResponse:
    status: int
    headers: httpx.Headers
    body: bytes


class HttpClient:
    """Calls of one `httpx.Client`."""

    def __init__(
        self,
        client: httpx.Client | None,
        retry_policy: RetryPolicy | None,
        response_bytes_max: int = 64 * 1024 * 1024,
    ) -> None:
        self._client = client or httpx.Client(timeout=_TIMEOUT_SECONDS)
        self._retry_policy = retry_policy or RetryPolicy()
        self._response_bytes_max = response_bytes_max
        if self._retry_policy.attempts_max < 1:
            raise InvalidInputError("the retry policy: attempts_max must be at least 1")

    def close(self) -> None:
        self._client.close()

    def send(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes = b"", is_idempotent: bool
    ) -> HttpResponse:
        """Sends a request with retries and returns the last response, whatever its status."""
        waited = 0.0
        attempt = 0
        while True:
            attempt += 1
            failure: UnreachableError | None = None
            response: HttpResponse | None = None
            try:
                response = self._attempt(method, url, headers, body)
            except httpx.RequestError as error:
                reason = f"no response ({error or type(error).__name__})"
                failure = UnreachableError(
                    f"{call_name(method, url)}: {reason}; check that the URL is right and reachable, then try again"
                )
                failure.__cause__ = error
            is_retried = is_idempotent if response is None else response.status in (429, 503)
            asked = None if response is None else retry_after_seconds(response.headers)
            pause = _backoff_seconds(attempt) if asked is None else float(asked)
            policy = self._retry_policy
            if not is_retried or attempt >= policy.attempts_max or waited + pause > policy.wait_max_seconds:
                if response is None:
                    raise failure or UnreachableError(call_name(method, url))
                return response
            waited += pause
            time.sleep(pause)

    def _attempt(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> HttpResponse:
        content = body or None
        with self._client.stream(
            method, url, headers=dict(headers), content=content, follow_redirects=False
        ) as response:
            pieces, size = [], 0
            for piece in response.iter_bytes():
                size += len(piece)
                if size > self._response_bytes_max:
                    reason = f"more than {self._response_bytes_max} bytes: request smaller pages"
                    raise InvalidResponseError(call_name(method, url), reason)
                pieces.append(piece)
            return HttpResponse(response.status_code, response.headers, b"".join(pieces))


def _backoff_seconds(attempt: int) -> float:
    """Exponential. Half of the pause is random, so that clients which fail together do not retry together."""
    pause = _FIRST_PAUSE_SECONDS * 2 ** min(attempt - 1, 7)
    return float(pause / 2 + pause / 2 * random.random())


def retry_after_seconds(headers: httpx.Headers) -> int | None:
    text = headers.get("retry-after", "").strip()
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else None


def call_name(method: str, url: str) -> str:
    """Method, host and path. Without the query, which may contain secrets."""
    parts = urlsplit(url)
    return f"{method} {parts.netloc.rpartition('@')[2]}{parts.path}"


def parse(call: str, body: bytes | str, convert: Callable[[Any], T]) -> T:
    """Parses JSON and converts it to a type."""
    try:
        return convert(json.loads(body))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidResponseError(call, f"{type(error).__name__}: {error}") from error


def error_of(call: str, response: HttpResponse) -> ApiError:
    """The error of a response that is not 2xx."""
    code, message, request_id, errors = "", "", response.headers.get("x-request-id", ""), []
    try:
        data = json.loads(response.body)
        message, request_id = str(data.get("message", "")), str(data.get("requestId", request_id))
        errors = [ErrorDetail.from_json(one) for one in data.get("errors", [])]
        code = str(data.get("code") or (errors[0].code if errors else ""))
    except (ValueError, KeyError, TypeError, AttributeError):
        message = message or response.body.decode("utf-8", "replace")[:_MESSAGE_CHARS_MAX]
    retry_after = retry_after_seconds(response.headers)
    return ApiError(call, response.status, code, message, request_id, errors, retry_after)


def check_url(what: str, url: str) -> str:
    """Checks a base URL and removes a slash at its end. Plain http is for loopback alone."""
    parts = urlsplit(url)
    is_loopback = parts.hostname in ("127.0.0.1", "::1", "localhost")
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback):
        raise InvalidInputError(f"{what}: {url!r} is not an https URL (http only for loopback)")
    return url.rstrip("/")


def check_header(what: str, value: str) -> str:
    """Checks a value that becomes a header. The message does not repeat it: it may be a secret."""
    if not re.fullmatch(r"[\x20-\x7e]+", value):
        raise InvalidInputError(f"{what}: it is empty or contains characters that are not allowed in a header")
    return value
