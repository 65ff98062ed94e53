"""Schemathesis calls the APIs with everything that their OpenAPI documents allow, and much that they do not: every response
must match the document. The document's examples are loaded first, so that the example requests find their records."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import jsonschema_rs
import requests
import schemathesis

from api import Subscriber, Taker, load, until
from pages import SECONDS_MAX, check, done, world

HERE = Path(__file__).parent
AREAS = {
    "accounting": "accounting",
    "accounting-core": "core",
    "accounting-import": "import",
    "payroll": "payroll",
}
# Members that the store sets.
OWNED = {"correlationId", "state", "version", "sequenceVersion"}
SEED = "20261115"
IS_FULL = os.environ.get("ALDABA_TEST_DEPTH") == "full"
EXAMPLES_MAX = "15" if IS_FULL else "4"
RUN_SECONDS_MAX = 600
# The variables that the configuration names must be set in every run.
NAMED = (
    "ALDABA_WEBHOOK", "ALDABA_WEBHOOK_TO_DELETE", "ALDABA_WEBHOOK_TO_DISABLE", "ALDABA_DELIVERY", "ALDABA_DEVELOPER",
    "ALDABA_TEAM", "ALDABA_TEAM_TO_JOIN", "ALDABA_TEAM_TO_LEAVE", "ALDABA_TEAM_THAT_ASKS", "ALDABA_REQUEST_TO_APPROVE",
    "ALDABA_REQUEST_TO_REFUSE", "ALDABA_REQUEST_TO_WITHDRAW",
    "ALDABA_TENANT", "ALDABA_COMPANY", "ALDABA_RECORD", "ALDABA_SEQUENCE", "ALDABA_SEQUENCE_BEFORE", "ALDABA_BACKUP",
    "ALDABA_USER", "ALDABA_OPERATOR", "ALDABA_INVITATION", "ALDABA_INVITATION_TO_REVOKE",
)


def examples_hold(document):
    """Checks that every example matches its schema."""
    def resolved(schema):
        return {**schema, "components": document["components"]}

    def walk(node, path):
        if isinstance(node, list):
            for index, item in enumerate(node):
                walk(item, f"{path}/{index}")
        if not isinstance(node, dict):
            return
        schema = node.get("schema")
        if isinstance(schema, dict) and "example" in node:
            holds(schema, node["example"], path)
        if "type" in node and isinstance(node.get("examples"), list):
            for example in node["examples"]:
                holds(node, example, path)
        for name, child in node.items():
            if name not in ("example", "examples"):
                walk(child, f"{path}/{name}")

    def holds(schema, example, path):
        validator = jsonschema_rs.Draft202012Validator(resolved(schema), validate_formats=True)
        faults = [fault.message for fault in validator.iter_errors(example)]
        check(f"an example of its schema at {path}", not faults, faults)

    walk(document, "#")


def example_changes(document):
    """The examples of all lists as changes for the ingest API; companies first."""
    company, lines = None, []
    for path, item in document["paths"].items():
        area, _, resource = path.strip("/").partition("/api/")
        answer = item.get("get", {}).get("responses", {}).get("200", {}).get("content", {}).get("application/json", {})
        records = answer.get("example")
        if area not in AREAS or resource.endswith("changes") or "/webhooks" in path or not isinstance(records, list):
            continue
        record = records[0]
        change = {"area": AREAS[area], "resource": resource.split("/")[-1], "action": "upsert"}
        if area == "payroll":
            change["data"] = record
        else:
            change |= {
                "correlationId": record["correlationId"],
                "data": {name: value for name, value in record.items() if name not in OWNED},
            }
        if change["resource"] == "companies" and area == "accounting":
            company = change
        else:
            lines.append(change)
    for line in lines:
        if line["area"] != "payroll":
            line["company"] = company["correlationId"]
    bank = {"area": "invoicing", "resource": "Bank", "action": "upsert", "data": {"name": "Caja Rural"}}
    return [company, *lines, bank]


class Stock:
    """Active webhooks with delivered events."""

    ROLES = ("kept", "turned", "gone")
    ACTIONS = {"kept": "Created", "turned": "Updated", "gone": "Deleted"}
    CUSTOMERS = "/accounting/api/customers"

    def __init__(self, subscriber, receiver, changes):
        self.subscriber, self.receiver = subscriber, receiver
        self.user = next(one["email"] for one in subscriber.dev["users"] if one["tenants"] == [subscriber.tenant])
        self.customer = next(change for change in changes if change["resource"] == "customers")
        self.operator = {"Authorization": f"Bearer {subscriber.dev['operator_token']}"}
        # Every resource of the accounting family has a failure event.
        own = ("area", "resource", "company", "correlationId")
        self.failures = [
            {name: change[name] for name in own if name in change} | {"action": "fail"}
            for change in changes if change["area"] not in ("payroll", "invoicing")
        ]

    def asked(self, path):
        url = f"{self.subscriber.dev['operator_url']}/operator/v1/webhooks/{path}"
        answer = requests.get(url, headers=self.operator, timeout=SECONDS_MAX)
        check("the operator sees it", answer.ok, answer.text)
        return answer.json()

    def subscribed(self, prefix, role):
        names = self.subscriber.call("GET", f"{prefix}/webhooks/events")
        body = {
            "thirdPartyApplicationName": f"Panel {role}", "url": f"{self.receiver}/{role}", "secret": "s3cret",
            "eventTypes": [name for name in names if name.endswith("ErrorOccurred")],
        }
        return self.subscriber.call("POST", f"{prefix}/webhooks/subscribe", body)["webhookId"]

    def entity(self, role):
        uri = self.receiver + "/api/webhooks/incoming/Invoicing"
        return self.subscriber.subscribe_invoicing(uri, "s3cret", "Bank", self.ACTIONS[role])

    def accepted(self, webhooks):
        for webhook in webhooks:
            until("the receiver accepts", lambda: self.asked(webhook)["status"] == "active")

    def of_all(self, document):
        """Per path prefix: one webhook to read, one to disable and enable, one to delete."""
        ends = "/webhooks/subscribe"
        prefixes = [path.removesuffix(ends) for path in document["paths"] if path.endswith(ends)]
        webhooks = {prefix: {role: self.subscribed(prefix, role) for role in self.ROLES} for prefix in prefixes}
        webhooks["/invoicing/api"] = {role: self.entity(role) for role in self.ROLES}
        for known in webhooks.values():
            self.accepted(known.values())
        bank = {"area": "invoicing", "resource": "Bank", "action": "upsert", "data": {"name": "Caja Rural"}}
        self.subscriber.load(*self.failures, bank)
        for prefix, known in webhooks.items():
            path = f"{prefix}/webhooks/{known['kept']}/deliveries?status=delivered"
            listed = until(f"a delivery of {prefix}", lambda: self.subscriber.call("GET", path))
            known["delivery"], known["event"] = listed[0]["outgoingId"], listed[0]["event"]
        return {"ALDABA_WEBHOOKS": json.dumps(webhooks), "ALDABA_RECEIVER": self.receiver}

    def of_the_operator(self):
        """The same for the operator's API, which cannot create webhooks."""
        kept, turned, gone = (self.subscribed(self.CUSTOMERS, f"operator-{role}") for role in self.ROLES)
        self.accepted([kept, turned, gone])
        self.subscriber.load(*self.failures)
        listed = until("a delivery", lambda: self.asked(f"{kept}/deliveries?status=delivered")["deliveries"])
        return {
            "ALDABA_WEBHOOK": kept, "ALDABA_WEBHOOK_TO_DELETE": gone, "ALDABA_WEBHOOK_TO_DISABLE": turned,
            "ALDABA_DELIVERY": listed[0]["sequenceVersion"], **self.teams_and_requests(), **self.record(),
            "ALDABA_BACKUP": self.backup(), "ALDABA_USER": self.user,
            "ALDABA_OPERATOR": self.subscriber.dev["operator"]["email"],
            "ALDABA_INVITATION": self.invited("kept"), "ALDABA_INVITATION_TO_REVOKE": self.invited("gone"),
        }

    def added(self, path, body):
        url = f"{self.subscriber.dev['operator_url']}/operator/v1/{path}"
        answer = requests.post(url, json=body, headers=self.operator, timeout=SECONDS_MAX)
        check(f"added: {path}", answer.status_code == 201, answer.text)
        return answer.json()

    def invited(self, name):
        return self.added("invitations", {"realm": "developers", "email": f"{name}@example.com"})["id"]

    def got(self, path):
        url = f"{self.subscriber.dev['operator_url']}/operator/v1/{path}"
        answer = requests.get(url, headers=self.operator, timeout=SECONDS_MAX)
        check(f"got: {path}", answer.ok, answer.text)
        return answer.json()

    def record(self):
        """A customer with two changes."""
        record, company = self.customer["correlationId"], self.customer["company"]
        path = f"tenants/{self.subscriber.tenant}/records/accounting/customers/{record}/history?company={company}"
        newest, before = (change["sequenceVersion"] for change in self.got(path)["changes"][:2])
        return {
            "ALDABA_TENANT": self.subscriber.tenant, "ALDABA_COMPANY": company, "ALDABA_RECORD": record,
            "ALDABA_SEQUENCE": newest, "ALDABA_SEQUENCE_BEFORE": before,
        }

    def backup(self):
        """The name of a finished backup."""
        url = f"{self.subscriber.dev['operator_url']}/operator/v1/backups"
        started = requests.post(url, headers=self.operator, timeout=SECONDS_MAX)
        check("a backup starts", started.status_code == 202, started.text)
        return until("a backup", lambda: self.got("backups")["backups"])[0]["name"]

    def teams_and_requests(self):
        developer = self.subscriber.dev["developer"]["email"]
        team, joined, left, asking = (self.added("teams", {"name": f"Equipo {number}"})["id"] for number in range(4))
        for one in (team, left, asking):
            self.added(f"teams/{one}/members", {"developer": developer})
        asked = {"name": "Panel de ventas", "product": "payroll"}
        body = {"team": asking, "developer": developer, "subscription": asked}
        approved, refused, withdrawn = (self.added("requests", body)["id"] for _ in range(3))
        return {
            "ALDABA_DEVELOPER": developer, "ALDABA_TEAM": team, "ALDABA_TEAM_TO_JOIN": joined,
            "ALDABA_TEAM_TO_LEAVE": left, "ALDABA_TEAM_THAT_ASKS": asking, "ALDABA_REQUEST_TO_APPROVE": approved,
            "ALDABA_REQUEST_TO_REFUSE": refused, "ALDABA_REQUEST_TO_WITHDRAW": withdrawn,
        }


def run(name, url, arguments, headers, known, operations_min, statuses_min, hard=frozenset()):
    """Runs Schemathesis on one document. Every operation must have been called and must have succeeded once, except those in
    `hard`, which random requests hardly ever get right."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        tally = Path(folder) / "tally.json"
        command = [
            sys.executable, "-B", "-m", "schemathesis.cli", "--config-file", str(HERE / "schemathesis.toml"),
            "run", url, "--seed", SEED, "--max-examples", EXAMPLES_MAX, *arguments,
        ]
        for header, value in headers.items():
            command += ["--header", f"{header}: {value}"]
        environment = os.environ | dict.fromkeys(NAMED, "none") | {
            "SCHEMATHESIS_HOOKS": "schemathesis_hooks", "PYTHONPATH": str(HERE), "ALDABA_TALLY": str(tally),
            "PYTHONDONTWRITEBYTECODE": "1", **known,
        }
        try:
            ended = subprocess.run(
                command, cwd=folder, env=environment, timeout=RUN_SECONDS_MAX, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )
        except subprocess.TimeoutExpired:
            sys.exit(f"{name}: Schemathesis was still running after {RUN_SECONDS_MAX} s")
        seen = json.loads(tally.read_text()) if tally.exists() else {}
    if ended.returncode != 0:
        print(ended.stdout)
    check(f"Schemathesis finds nothing in {name}", ended.returncode == 0, f"exit code {ended.returncode}")
    check(f"{name}: as many operations", len(seen) >= operations_min, len(seen))
    well = {operation for operation, statuses in seen.items() if any(status[0] == "2" for status in statuses)}
    barren = set(seen) - well - hard
    check(f"{name}: every operation has gone well at least once", not barren, barren)
    total = sum((Counter(statuses) for statuses in seen.values()), Counter())
    missed = statuses_min - set(total)
    check(f"{name}: the usual answers were seen", not missed, dict(total))
    return f"{name}: {len(seen)} operations, {total.total()} calls in {time.monotonic() - started:.0f} s"


def turned_away(dev):
    """The number of 401 responses of the APIs, from the service's own metrics."""
    measures = requests.get(dev["operator_url"] + "/metrics", timeout=SECONDS_MAX).text
    counted = re.findall(r'side="public".*route="/(?!auth/).*status="401"} (\d+)', measures)
    return sum(map(int, counted))


dev = world()["dev"]
# No other client uses this tenant.
user = next(user for user in dev["users"] if user["tenants"] == [dev["tenants"][-1]["id"]])
tenant = user["tenants"][0]
url = dev["base_url"] + "/openapi.json"
document = requests.get(url, timeout=SECONDS_MAX).json()
examples_hold(document)
changes = example_changes(document)
load(dev, tenant, changes)
taker, subscriber = Taker(), Subscriber(dev, user, tenant)
public = subscriber.headers
stock = Stock(subscriber, taker.origin, changes)
known = stock.of_all(document)
# Other clients test the sign-in.
apis = ["--exclude-tag", "IdentityProvider"]
hooks = ["--exclude-path-regex", "/webhooks"]
# All 19 prefixes come from one table: one or three are tested fully, the others with their examples or not at all.
WHOLE = "/accounting/api/customers"
if IS_FULL:
    WHOLE += "|/accounting-core/api/activities/estimations|/accounting-import/api/integrationFiles"
whole = ["--include-path-regex", f"^({WHOLE}|/invoicing/api)/webhooks"]
others = ["--include-path-regex", "/webhooks", "--exclude-path-regex", f"^({WHOLE}|/invoicing/api)/webhooks"]
few = ["--phases", "examples"]


def count(holds):
    return sum(len(item) for path, item in document["paths"].items() if not path.startswith("/auth/") and holds(path))


operations = count(lambda path: "/webhooks" not in path)
check("a document that tells of the APIs", operations > 50, operations)
check("and of webhooks", count(lambda path: "/webhooks" in path) == 19 * 15 + 12, document["paths"].keys())
told = [
    run("public", url, apis + hooks, public, known, operations, {"200", "304", "400", "404", "405"}),
    run(
        "webhooks", url, whole, public, known, (3 if IS_FULL else 1) * 15 + 12,
        {"200", "202", "400", "404", "405", "409"},
    ),
    run(
        "operator", dev["operator_url"] + "/operator/v1/openapi.json", [],
        stock.operator, stock.of_the_operator(), 20, {"200", "201", "400", "404"},
        {"DELETE /operator/v1/tenants/{tenant}", "DELETE /operator/v1/users/{user}/authorizations/{tenant}/{client}"},
    ),
]
if IS_FULL:
    # Two operations of each prefix take no parameters and have no example.
    told.append(run("other webhooks", url, others + few, public, known, 16 * 13, {"200", "202"}))
taker.close()
# Schemathesis also calls without credentials, after the hook that counts.
check("calls without key or token were tried, and refused", turned_away(dev) > operations, turned_away(dev))
done(f"{schemathesis.__version__}, {'; '.join(told)}")
