"""Schemathesis asks the APIs everything that their OpenAPI document allows, and much that it does not: every
answer must be one that the document tells of. The document's own examples are loaded first, so that the
example requests find their records."""

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

from pages import SECONDS_MAX, check, done, parameters, sign_in, world

HERE = Path(__file__).parent
SCOPES = (
    "openid offline_access SVC.ES.NEWPOL.COR.API SVC.ES.NEWPOL.ACC.API SVC.ES.NEWPOL.MNG.API"
    " SVC.ES.EquipoContex SVC.ES.Webhooks"
)
AREAS = {
    "accounting": "accounting",
    "accounting-core": "core",
    "accounting-import": "import",
    "payroll": "payroll",
}
# What the store sets by itself.
OWNED = {"correlationId", "state", "version", "sequenceVersion"}
SEED = "20261115"
RUN_SECONDS_MAX = 150


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


def examples_hold(document):
    """Every example is what its schema says."""
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
    """The examples of all lists, as changes for the door; companies first."""
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


def load(dev, tenant, changes):
    answer = requests.post(
        f"{dev['operator_url']}/operator/v1/tenants/{tenant}/changes",
        data="\n".join(json.dumps(change) for change in changes),
        headers={"authorization": f"Bearer {dev['operator_token']}", "content-type": "application/x-ndjson"},
        timeout=SECONDS_MAX,
    )
    told = answer.json()
    check("the document's examples are records", answer.ok and told["rejected"] == 0, told)
    check("all of them", told["accepted"] == len(changes), told)


def until(what, look):
    """Looks again and again until there is something to see."""
    for _ in range(SECONDS_MAX * 20):
        seen = look()
        if seen:
            return seen
        time.sleep(0.05)
    sys.exit(f"{what}: not within {SECONDS_MAX} s")


def knock(dev, tenant, public, company):
    """Three webhooks whose receiver has accepted, and the number of an event that one of them was sent."""
    operator = {"authorization": f"Bearer {dev['operator_token']}"}

    def asked(path):
        answer = requests.get(f"{dev['operator_url']}/operator/v1/webhooks/{path}", headers=operator, timeout=SECONDS_MAX)
        check("the operator sees it", answer.ok, answer.text)
        return answer.json()

    def subscribed(number):
        body = {
            "thirdPartyApplicationName": f"Panel {number}", "url": dev["receiver_url"], "secret": "s3cret",
            "eventTypes": ["Svc.ACC.Customers.CustomerCreated"],
        }
        path = "/accounting/api/customers/webhooks/subscribe"
        answer = requests.post(dev["base_url"] + path, json=body, headers=public, timeout=SECONDS_MAX)
        check("subscribed", answer.ok, answer.text)
        webhook = answer.json()["webhookId"]
        until("the receiver accepts", lambda: asked(webhook)["status"] == "active")
        return webhook

    one, to_delete, to_disable = (subscribed(number) for number in range(3))
    data = {"tradeName": "Bar Manolo", "accountCode": "430000001"}
    load(dev, tenant, [{
        "area": "accounting", "resource": "customers", "company": company, "action": "upsert", "data": data,
    }])
    listed = until("a delivery", lambda: asked(f"{one}/deliveries?status=delivered")["deliveries"])
    return {
        "ALDABA_WEBHOOK": one, "ALDABA_WEBHOOK_TO_DELETE": to_delete, "ALDABA_WEBHOOK_TO_DISABLE": to_disable,
        "ALDABA_DELIVERY": listed[0]["sequenceVersion"],
    }


def run(name, url, arguments, headers, operations_min, statuses_min, hard=frozenset()):
    """One document from its address; every operation of it must have been tested, and have gone well once, but
    for those that are too hard to get right by chance."""
    with tempfile.TemporaryDirectory() as folder:
        tally = Path(folder) / "tally.json"
        command = [
            sys.executable, "-B", "-m", "schemathesis.cli", "--config-file", str(HERE / "schemathesis.toml"),
            "run", url, "--seed", SEED, *arguments,
        ]
        for header, value in headers.items():
            command += ["--header", f"{header}: {value}"]
        environment = os.environ | {
            "SCHEMATHESIS_HOOKS": "schemathesis_hooks", "PYTHONPATH": str(HERE), "ALDABA_TALLY": str(tally),
            "PYTHONDONTWRITEBYTECODE": "1", **webhooks,
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
    return f"{name}: {len(seen)} operations, {total.total()} calls"


def turned_away(dev):
    """How many calls of the APIs were answered with 401, as the service itself has counted."""
    measures = requests.get(dev["operator_url"] + "/metrics", timeout=SECONDS_MAX).text
    counted = re.findall(r'side="public".*route="/(?!auth/).*status="401"} (\d+)', measures)
    return sum(map(int, counted))


dev = world()["dev"]
# Nobody else among the clients reads this tenant.
user = next(user for user in dev["users"] if user["tenants"] == [dev["tenants"][-1]["id"]])
tenant = user["tenants"][0]
url = dev["base_url"] + "/openapi.json"
document = requests.get(url, timeout=SECONDS_MAX).json()
examples_hold(document)
changes = example_changes(document)
load(dev, tenant, changes)
public = {
    "Authorization": f"Bearer {token(dev, user, tenant)}",
    "Ocp-Apim-Subscription-Key": dev["subscription"]["primary_key"],
}
webhooks = knock(dev, tenant, public, changes[0]["correlationId"])
# Sign-in is the business of the clients beside this one; webhooks need receivers, and have stories of their own.
apis = [
    "--exclude-tag", "Identity provider", "--exclude-tag", "Webhooks", "--exclude-tag", "Invoicing webhooks",
]
read = [
    item for path, item in document["paths"].items() if not path.startswith("/auth/") and "/webhooks" not in path
]
operations = sum(len(item) for item in read)
check("a document that tells of the APIs", operations > 100, operations)
told = [
    run("public", url, apis, public, operations, {"200", "304", "400", "404", "405"}),
    run(
        "operator", dev["operator_url"] + "/operator/v1/openapi.json", [],
        {"Authorization": f"Bearer {dev['operator_token']}"}, 20, {"200", "201", "400", "404"},
        {"DELETE /operator/v1/tenants/{tenant}"},
    ),
]
# Schemathesis takes the credentials away by itself, behind the hook that counts.
check("calls without key or token were tried, and refused", turned_away(dev) > operations, turned_away(dev))
done(f"{schemathesis.__version__}, {'; '.join(told)}")
