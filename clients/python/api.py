"""Shared by the API clients: an access token for every scope, calls of the contract's APIs, the ingest API, a receiver that
accepts everything, and polling."""

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import requests

from pages import SECONDS_MAX, check, parameters, sign_in

SCOPES = (
    "openid offline_access SVC.ES.NEWPOL.COR.API SVC.ES.NEWPOL.ACC.API SVC.ES.NEWPOL.MNG.API"
    " SVC.ES.EquipoContex SVC.ES.Webhooks"
)


def token(dev, user, tenant):
    """An access token for every scope."""
    client, issuer = dev["client"], dev["auth_url"] + "/auth/core"
    asked = {
        "client_id": client["client_id"], "response_type": "code", "redirect_uri": client["redirect_uri"],
        "scope": SCOPES, "state": "1", "nonce": "2",
    }
    url = requests.Request("GET", issuer + "/connect/authorize", params=asked).prepare().url
    location, _ = sign_in(url, user, tenant, client["redirect_uri"])
    fields = {
        "grant_type": "authorization_code", "code": parameters(location)["code"],
        **{name: client[name] for name in ("client_id", "client_secret", "redirect_uri")},
    }
    answer = requests.post(issuer + "/connect/token", data=fields, timeout=SECONDS_MAX)
    check("tokens", answer.ok, answer.text)
    return answer.json()["access_token"]


def credentials(dev, user, tenant):
    """The headers that authorize every call."""
    return {
        "Authorization": f"Bearer {token(dev, user, tenant)}",
        "Ocp-Apim-Subscription-Key": dev["subscription"]["primary_key"],
    }


def load(dev, tenant, changes):
    """Sends changes to the ingest API; every one must be accepted."""
    answer = requests.post(
        f"{dev['operator_url']}/operator/v1/tenants/{tenant}/changes",
        data="\n".join(json.dumps(change) for change in changes),
        headers={"authorization": f"Bearer {dev['operator_token']}", "content-type": "application/x-ndjson"},
        timeout=SECONDS_MAX,
    )
    told = answer.json()
    check("changes that are good", answer.ok and told["rejected"] == 0, told)
    check("all of them", told["accepted"] == len(changes), told)
    return told


def until(what, look):
    """Polls until `look` returns a true value."""
    for _ in range(SECONDS_MAX * 20):
        seen = look()
        if seen:
            return seen
        time.sleep(0.05)
    sys.exit(f"{what}: not within {SECONDS_MAX} s")


class Subscriber:
    """An application that manages webhooks for one tenant, and deletes them at the end."""

    CUSTOMERS = "/accounting/api/customers/webhooks"
    INVOICING = "/invoicing/api/webhooks"

    def __init__(self, dev, user, tenant):
        self.dev, self.tenant = dev, tenant
        self.headers = credentials(dev, user, tenant)
        self.begun = []

    def call(self, method, path, body=None, context="none"):
        answer = requests.request(
            method, self.dev["base_url"] + path, json=body, headers=self.headers | {"context": context},
            timeout=SECONDS_MAX,
        )
        check(f"{method} {path}", answer.ok, (answer.status_code, answer.text))
        return answer.json()

    def subscribe(self, url, secret, events):
        body = {"thirdPartyApplicationName": "Panel", "url": url, "secret": secret, "eventTypes": events}
        told = self.call("POST", self.CUSTOMERS + "/subscribe", body)
        check("subscribed", told["responseState"] == 3 and told["errors"] == [], told)
        self.begun.append(f"{self.CUSTOMERS}/delete/{told['webhookId']}")
        return told["webhookId"]

    def wait_active(self, webhook):
        until("the Acknowledge is accepted", lambda: self.call("GET", f"{self.CUSTOMERS}/{webhook}")["isActive"])

    def subscribe_invoicing(self, uri, secret, entity, action):
        body = {
            "uri": uri, "entity": entity, "action": action, "secret": secret, "isPaused": False,
            "applicationName": "Panel", "description": "",
        }
        webhook = self.call("POST", self.INVOICING, body)["id"]
        self.begun.append(f"{self.INVOICING}/{webhook}")
        return webhook

    def wait_effective(self, webhook):
        def effective():
            return any(
                one["id"] == webhook and one["status"] == "Effective" for one in self.call("GET", self.INVOICING)
            )

        until("the echo is accepted", effective)

    def load(self, *changes):
        return load(self.dev, self.tenant, changes)

    def end(self):
        for path in self.begun:
            self.call("DELETE", path)


class Taker:
    """A receiver on this machine that records and accepts every request."""

    def __init__(self):
        self.letters = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Handler,), {"letters": self.letters}))
        self.server.daemon_threads = True
        # A client that closes the connection early will retry.
        self.server.handle_error = lambda *_: None
        self.origin = "http://{}:{}".format(*self.server.server_address)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    letters = None

    def do_GET(self):
        self.answer(parse_qs(urlsplit(self.path).query).get("echo", [""])[0].encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.letters.append((self.path, dict(self.headers), body))
        self.answer(b"")

    def answer(self, body):
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def company(name):
    data = {"vatName": "Panadería Ñandú", "vatNumber": "", "chartOfAccountId": 7, "accountLength": 9}
    return {"area": "accounting", "resource": "companies", "action": "upsert", "correlationId": name, "data": data}


def customer(company, name, trade_name):
    data = {"tradeName": trade_name, "accountCode": "430000001", "accountCodeCorrelationId": "account"}
    return {
        "area": "accounting", "resource": "customers", "company": company, "action": "upsert",
        "correlationId": name, "data": data, "user": "maría",
    }


def bank(name, title):
    return {
        "area": "invoicing", "resource": "Bank", "action": "upsert", "correlationId": name, "user": "maría",
        "data": {"name": title},
    }
