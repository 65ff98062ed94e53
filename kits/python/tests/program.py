"""The running program, from the file in ALDABA_DEV: sign-in through its pages, its ingest API, and a receiver."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urljoin

import httpx

from aldaba_client.receiver import Receiver

T = TypeVar("T")

SECONDS_MAX = 30


def read_dev() -> dict[str, Any]:
    """The ready line of `aldaba dev --json`."""
    file = os.environ.get("ALDABA_DEV")
    assert file, "set ALDABA_DEV to a file with the ready line of `aldaba dev --json`, or run `cargo xtask kits`"
    dev: dict[str, Any] = json.loads(Path(file).read_text("utf-8"))
    return dev


class Form(HTMLParser):
    """The first form of a page that posts, with its prefilled fields."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.action: str | None = None
        self.names: set[str] = set()
        self.fields: dict[str, str] = {}
        self._is_inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._is_inside = self.action is None and attributes.get("method") == "post"
            if self._is_inside:
                self.action = attributes["action"]
        elif tag == "input" and self._is_inside and "name" in attributes:
            self.names.add(attributes["name"])
            if attributes.get("type") not in ("radio", "checkbox") or "checked" in attributes:
                self.fields[attributes["name"]] = attributes.get("value", "")


def sign_in_through_pages(url: str, user: dict[str, Any], tenant: str, callback: str) -> str:
    """Follows redirects and submits forms like a browser; returns the URL of the callback."""
    with httpx.Client(timeout=SECONDS_MAX) as browser:
        response = browser.get(url)
        for _ in range(12):
            if response.is_redirect:
                url = urljoin(str(response.url), response.headers["location"])
                if url.startswith(callback):
                    return url
                response = browser.get(url)
                continue
            assert response.status_code == 200, response.text
            form = Form(response.text)
            if "password" in form.names:
                form.fields |= {"username": user["email"], "password": user["password"]}
            if "tenant" in form.names:
                form.fields["tenant"] = tenant
            response = browser.post(urljoin(str(response.url), form.action), data=form.fields)
    raise AssertionError(f"the sign-in does not end; it is at {response.url}")


def ingest(dev: dict[str, Any], tenant: str, *changes: dict[str, Any]) -> None:
    """Sends changes to the ingest API; every one must be accepted."""
    response = httpx.post(
        f"{dev['operator_url']}/operator/v1/tenants/{tenant}/changes",
        content="\n".join(json.dumps(change) for change in changes),
        headers={"authorization": f"Bearer {dev['operator_token']}", "content-type": "application/x-ndjson"},
        timeout=SECONDS_MAX,
    )
    assert response.json()["accepted"] == len(changes), response.text


def company(id: str) -> dict[str, Any]:
    data = {"vatName": "Panadería Ñandú", "vatNumber": "", "chartOfAccountId": 7, "accountLength": 9}
    return {"area": "accounting", "resource": "companies", "action": "upsert", "correlationId": id, "data": data}


def customer(company_id: str, id: str, trade_name: str) -> dict[str, Any]:
    data = {"tradeName": trade_name, "accountCode": "430000001", "accountCodeCorrelationId": "account"}
    change = {"area": "accounting", "resource": "customers", "company": company_id, "action": "upsert", "user": "maría"}
    return {**change, "correlationId": id, "data": data}


def bank(id: str, name: str) -> dict[str, Any]:
    change = {"area": "invoicing", "resource": "Bank", "action": "upsert", "user": "maría"}
    return {**change, "correlationId": id, "data": {"name": name}}


class RunningReceiver:
    """A receiver on loopback that also records what came."""

    def __init__(self, receiver: Receiver) -> None:
        raw: list[tuple[dict[str, str], bytes]] = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.answer(b"")

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                raw.append((dict(self.headers.items()), body))
                self.answer(body)

            def answer(self, body: bytes) -> None:
                response = receiver.handle(self.command, self.path, dict(self.headers.items()), body)
                content = response.body.encode()
                self.send_response(response.status)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.raw = raw
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.origin = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def until(what: str, look: Callable[[], T | None]) -> T:
    """Polls until `look` returns something."""
    end = time.monotonic() + SECONDS_MAX
    while time.monotonic() < end:
        seen = look()
        if seen is not None:
            return seen
        time.sleep(0.05)
    raise AssertionError(f"{what}: not within {SECONDS_MAX} s")
