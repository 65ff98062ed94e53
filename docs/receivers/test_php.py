"""Runs php/receiver.php with php-cli against real deliveries of a running `aldaba dev`, forged ones and duplicates.

    ALDABA_DEV=dev.json python3 docs/receivers/test_php.py

ALDABA_DEV is a file with the output of `aldaba dev --json`. It needs only php-cli and Python's standard library.
"""

import base64
import hashlib
import hmac
import http.client
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from html import unescape
from http.cookiejar import CookieJar
from pathlib import Path

SECONDS_MAX = 30
SECRET = "un secreto ñ"
RECEIVER = Path(__file__).resolve().parent / "php" / "receiver.php"
CUSTOMERS = "/accounting/api/customers/webhooks"
INVOICING = "/invoicing/api/webhooks"


def check(what, holds, seen=None):
    if not holds:
        sys.exit(f"expected: {what}; seen: {seen!r}")


def until(what, look):
    """Polls until `look` returns a true value."""
    end = time.monotonic() + SECONDS_MAX
    while time.monotonic() < end:
        seen = look()
        if seen:
            return seen
        time.sleep(0.05)
    sys.exit(f"{what}: not within {SECONDS_MAX} s")


def ready_line():
    path = os.environ.get("ALDABA_DEV")
    check("ALDABA_DEV, a file with the output of `aldaba dev --json`", path)
    with open(path, encoding="utf-8") as file:
        return json.load(file)


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Browser:
    """Follows redirects and submits forms, up to the callback."""

    def __init__(self, user, tenant, callback):
        self.user, self.tenant, self.callback = user, tenant, callback
        cookies = urllib.request.HTTPCookieProcessor(CookieJar())
        self.opener = urllib.request.build_opener(cookies, NoRedirects())

    def sign_in(self, url):
        form = None
        for _ in range(12):
            try:
                with self.opener.open(url, form, timeout=SECONDS_MAX) as answer:
                    url, form = self.fill_in(url, answer.read().decode())
            except urllib.error.HTTPError as answer:
                check("a redirect", 300 <= answer.code < 400, (answer.code, answer.read()))
                url, form = urllib.parse.urljoin(url, answer.headers["location"]), None
                if url.startswith(self.callback):
                    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))
        sys.exit("the sign-in does not end")

    def fill_in(self, url, page):
        found = re.search(r'<form\b[^>]*method="post".*?</form>', page, re.S | re.I)
        check("a form", found, page)
        fields = {}
        for tag in re.findall(r"<input\b[^>]*>", found[0]):
            of = {name: unescape(value) for name, value in re.findall(r'\s(\w+)="([^"]*)"', tag)}
            if of.get("name") == "tenant":
                fields["tenant"] = self.tenant
            elif "name" in of and of.get("type") not in ("radio", "checkbox"):
                fields[of["name"]] = of.get("value", "")
        if "password" in fields:
            fields |= {"username": self.user["email"], "password": self.user["password"]}
        action = unescape(re.search(r'\saction="([^"]*)"', found[0])[1])
        return urllib.parse.urljoin(url, action), urllib.parse.urlencode(fields).encode()


def access_token(dev, user, tenant):
    client, issuer = dev["client"], dev["auth_url"] + "/auth/core"
    verifier = secrets.token_urlsafe(32)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    asked = {
        "client_id": client["client_id"], "response_type": "code", "redirect_uri": client["redirect_uri"],
        "scope": "openid SVC.ES.NEWPOL.ACC.API SVC.ES.Webhooks", "state": secrets.token_urlsafe(16),
        "code_challenge": challenge, "code_challenge_method": "S256",
    }
    browser = Browser(user, tenant, client["redirect_uri"])
    callback = browser.sign_in(f"{issuer}/connect/authorize?{urllib.parse.urlencode(asked)}")
    check("the state that was sent", callback.get("state") == asked["state"], callback)
    fields = {"grant_type": "authorization_code", "code": callback["code"], "code_verifier": verifier, **client}
    answer = urllib.request.urlopen(
        f"{issuer}/connect/token", urllib.parse.urlencode(fields).encode(), timeout=SECONDS_MAX
    )
    return json.load(answer)["access_token"]


class Service:
    """The APIs that a subscriber calls, and the operator's ingest API."""

    def __init__(self, dev):
        self.dev = dev
        self.user = next(user for user in dev["users"] if len(user["tenants"]) == 2)
        self.tenant = self.user["tenants"][1]
        self.headers = {
            "authorization": "Bearer " + access_token(dev, self.user, self.tenant), "context": "none",
            "ocp-apim-subscription-key": dev["subscription"]["primary_key"], "content-type": "application/json",
        }

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.dev["base_url"] + path, data, self.headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=SECONDS_MAX) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            sys.exit(f"{method} {path}: {refused.code} {refused.read().decode()}")

    def ingest(self, *changes):
        url = f"{self.dev['operator_url']}/operator/v1/tenants/{self.tenant}/changes"
        headers = {"authorization": f"Bearer {self.dev['operator_token']}", "content-type": "application/x-ndjson"}
        lines = "\n".join(json.dumps(change) for change in changes).encode()
        with urllib.request.urlopen(urllib.request.Request(url, lines, headers), timeout=SECONDS_MAX) as answer:
            told = json.load(answer)
        check("changes that are accepted", told["accepted"] == len(changes), told)


class Receiver:
    """PHP's built-in server with the receiver, and its worker."""

    def __init__(self, inbox):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        environment = os.environ | {"WEBHOOK_SECRET": SECRET, "INBOX": inbox, "PHP_CLI_SERVER_WORKERS": "4"}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        address = f"127.0.0.1:{self.port}"
        self.server = subprocess.Popen(
            ["php", "-S", address, str(RECEIVER)], env=environment, start_new_session=True, **quiet
        )
        self.worker = subprocess.Popen(
            ["php", str(RECEIVER), "work"], env=environment, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self.events = []
        threading.Thread(target=self.read, daemon=True).start()
        until("the receiver listens", self.is_listening)

    def read(self):
        for line in self.worker.stdout:
            self.events.append(json.loads(line))

    def is_listening(self):
        check("a receiver that runs", self.server.poll() is None and self.worker.poll() is None)
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def request(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS_MAX)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text, answer.headers.get("set-cookie")

    def find(self, name, value):
        return [event for event in self.events if event[name] == value]

    def close(self):
        self.worker.kill()
        self.worker.wait()
        # Its workers are processes of their own, in its session.
        os.killpg(self.server.pid, 9)
        self.server.wait()


def customer(company, name):
    data = {"tradeName": "Hotel Ávila", "accountCode": "430000001", "accountCodeCorrelationId": "account"}
    return {
        "area": "accounting", "resource": "customers", "company": company, "action": "upsert", "correlationId": name,
        "data": data, "user": "maría",
    }


def check_accounting(service, receiver):
    """The Acknowledge, an event, and its replay, which is processed once."""
    company = f"empresa ñ {uuid.uuid4()}"
    data = {"vatName": "Panadería Ñandú", "vatNumber": "", "chartOfAccountId": 7, "accountLength": 9}
    service.ingest({
        "area": "accounting", "resource": "companies", "action": "upsert", "correlationId": company, "data": data,
    })
    webhook = service.call("POST", CUSTOMERS + "/subscribe", {
        "thirdPartyApplicationName": "PHP", "url": receiver.url("/hooks"), "secret": SECRET,
        "eventTypes": service.call("GET", CUSTOMERS + "/events"),
    })["webhookId"]
    until("the Acknowledge is accepted", lambda: service.call("GET", f"{CUSTOMERS}/{webhook}")["isActive"])
    service.ingest(customer(company, "ñ 1"))
    [event] = until("the event", lambda: receiver.find("company", company))
    check("the customer", (event["event"], event["id"]) == ("Svc.ACC.Customers.CustomerCreated", "ñ 1"), event)

    deliveries = until("the delivery in the history", lambda: [
        one for one in service.call("GET", f"{CUSTOMERS}/{webhook}/deliveries") if one["company"] == company
    ])
    replay = service.call("POST", f"{CUSTOMERS}/{webhook}/deliveries/{deliveries[0]['outgoingId']}/replay")
    until("the replay", lambda: [
        one for one in service.call("GET", f"{CUSTOMERS}/{webhook}/health")["replays"]
        if one["number"] == replay["number"] and one["isDone"] and one["delivered"] == 1
    ])
    # The next event shows that the replay was not processed again.
    service.ingest(customer(company, "2"))
    until("the next event", lambda: len(receiver.find("company", company)) > 1)
    ids = [event["id"] for event in receiver.find("company", company)]
    check("each event once", ids == ["ñ 1", "2"], ids)
    service.call("DELETE", f"{CUSTOMERS}/delete/{webhook}")


def check_invoicing(service, receiver):
    """The echo and an event."""
    webhook = service.call("POST", INVOICING, {
        "uri": receiver.url("/api/webhooks/incoming/Invoicing"), "entity": "Bank", "action": "Created",
        "secret": SECRET, "isPaused": False, "applicationName": "PHP", "description": "",
    })["id"]
    until("the echo is accepted", lambda: service.call("GET", f"{INVOICING}/{webhook}")["status"] == "Effective")
    name = f"banco ñ {uuid.uuid4()}"
    service.ingest({
        "area": "invoicing", "resource": "Bank", "action": "upsert", "correlationId": name, "data": {"name": "Caja"},
    })
    [event] = until("the bank", lambda: receiver.find("id", name))
    check("the bank", event["changes"] == [{"Name": "name", "Value": "Caja"}] and event["entity"] == "Bank", event)
    service.call("DELETE", f"{INVOICING}/{webhook}")


def check_refusals(receiver):
    """Forged requests are refused, and a duplicate is processed once."""
    touched = f"touched {uuid.uuid4()}"
    body = json.dumps({"Entity": "Bank", "EntityId": touched, "TenantId": "t", "User": "eva", "Changes": []})
    right = "sha256=" + hmac.new(SECRET.encode(), body.encode(), hashlib.sha256).hexdigest().upper()
    delivery = str(uuid.uuid4())

    def post(signature, text, name=delivery):
        headers = {"ms-signature": signature, "webhook-id": name, "content-type": "application/json"}
        return receiver.request("POST", "/hooks", text.encode(), headers)

    for signature, text in [
        (right, body.replace("eva", "Eva")), (right, body + "\n"), (right.lower(), body), ("", body),
        ("sha256=zz", body),
    ]:
        check("401", post(signature, text)[0] == 401, (signature, text))
    for path in ["/hooks?echo=%3Cscript%3E", "/hooks?echo[]=1", "/hooks"]:
        status, text, _ = receiver.request("GET", path)
        check("no echo", status == 400 and "script" not in text, (path, status, text))
    check("400 to an id that is a path", post(right, body, "../../x")[0] == 400)
    check("405", receiver.request("PUT", "/hooks")[0] == 405)
    large = "x" * (4 * 1024 * 1024 + 1)
    check("413", receiver.request("POST", "/hooks", large, {"content-type": "application/json"})[0] == 413)
    for _ in range(3):
        status, _, cookie = post(right, body)
        check("200 without a cookie", (status, cookie) == (200, None), status)
    until("the event", lambda: receiver.find("id", touched))
    second = str(uuid.uuid4())
    post(right, body, second)
    until("an event with another id", lambda: len(receiver.find("id", touched)) == 2)
    check("nothing but two events", len(receiver.find("id", touched)) == 2, receiver.events)


def main():
    check("php (Debian: apt-get install php-cli)", shutil.which("php"))
    service = Service(ready_line())
    with tempfile.TemporaryDirectory() as inbox:
        receiver = Receiver(inbox)
        try:
            check_accounting(service, receiver)
            check_invoicing(service, receiver)
            check_refusals(receiver)
            left = [name for name in os.listdir(inbox) if name.startswith("new")]
            check("no temporary files", left == [], left)
        finally:
            receiver.close()
    print("php: ok")


main()
