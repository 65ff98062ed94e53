"""Receives the requests of the service: verifies signatures, answers handshakes, and passes on verified events."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from .events import Acknowledge, InvalidNotificationError, WebhookEvent, parse_notification
from .verify import SignatureMismatch, Verifier

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


@dataclass(frozen=True)
class ReceiverResponse:
    status: int
    body: str
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "text/plain; charset=utf-8"})


class Receiver:
    """Answers the requests of the service, for both families: as a WSGI application, or by `handle` in any framework."""

    def __init__(
        self,
        secret: str | Sequence[str] | Verifier,
        on_event: Callable[[WebhookEvent], object],
        *,
        on_mismatch: Callable[[SignatureMismatch], object] | None = None,
        on_error: Callable[[Exception, WebhookEvent], object] | None = None,
        body_bytes_max: int = 4 * 1024 * 1024,
    ) -> None:
        """`on_event` processes an event, usually with `inbox.process_once`. The service waits five seconds for the response, so
        queue what takes longer. If it raises, the response is 500 and the service delivers the event again. `on_mismatch` and
        `on_error` are for logs."""
        self._verifier = secret if isinstance(secret, Verifier) else Verifier(secret)
        self._on_event = on_event
        self._on_mismatch = on_mismatch
        self._on_error = on_error
        self._body_bytes_max = body_bytes_max

    def handle(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> ReceiverResponse:
        """Answers one request. `url` may be a path with a query; `body` are the raw bytes: a framework must not have parsed it."""
        if method == "GET":
            return _echo(url)
        if method != "POST":
            return ReceiverResponse(405, "Send deliveries with POST.", {"allow": "GET, POST"})
        if len(body) > self._body_bytes_max:
            return self._too_large()
        try:
            self._verifier.verify(headers, body)
            notification = parse_notification(headers, body)
        except SignatureMismatch as mismatch:
            if self._on_mismatch is not None:
                self._on_mismatch(mismatch)
            return ReceiverResponse(401, "The signature does not match.")
        except InvalidNotificationError as error:
            return ReceiverResponse(400, str(error))
        if isinstance(notification, Acknowledge):
            return ReceiverResponse(200, "")
        try:
            self._on_event(notification)
        except Exception as error:
            if self._on_error is not None:
                self._on_error(error, notification)
            return ReceiverResponse(500, "The event could not be processed. Deliver it again.")
        return ReceiverResponse(200, "")

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """The WSGI application."""
        response = self._from_wsgi(environ)
        content = response.body.encode()
        headers = [*response.headers.items(), ("content-length", str(len(content)))]
        start_response(f"{response.status} {HTTPStatus(response.status).phrase}", headers)
        return [content]

    def _from_wsgi(self, environ: WSGIEnvironment) -> ReceiverResponse:
        length = str(environ.get("CONTENT_LENGTH") or "0")
        if not (length.isascii() and length.isdigit() and len(length) <= 19):
            return ReceiverResponse(400, "Content-Length is not a number.")
        if int(length) > self._body_bytes_max:
            return self._too_large()
        body = environ["wsgi.input"].read(int(length)) if int(length) else b""
        prefix = "HTTP_"
        headers = {
            name.removeprefix(prefix).replace("_", "-").lower(): str(value)
            for name, value in environ.items()
            if name.startswith(prefix)
        }
        url = f"{environ.get('PATH_INFO', '/')}?{environ.get('QUERY_STRING', '')}"
        return self.handle(str(environ["REQUEST_METHOD"]), url, headers, body)

    def _too_large(self) -> ReceiverResponse:
        return ReceiverResponse(413, f"The body must have at most {self._body_bytes_max} bytes.")


def _echo(url: str) -> ReceiverResponse:
    """The handshake of invoicing. It is not signed, so only a GUID is echoed."""
    asked = parse_qs(url.partition("?")[2]).get("echo", [""])[0]
    try:
        return ReceiverResponse(200, str(uuid.UUID(asked)))
    except ValueError:
        return ReceiverResponse(400, "GET requires the query echo=<GUID>.")
