"""openapi-python-client takes the OpenAPI documents whole: it drops nothing, and what it generates passes a strict type check. A
program that uses it lists customers, subscribes a webhook and reads a delivery."""

import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from uuid import UUID

import requests

from api import Subscriber, Taker, load, until
from pages import SECONDS_MAX, check, done, world

EVENT = "Svc.ACC.Customers.CustomerUpdated"
RUN_SECONDS_MAX = 60


def run(what, *command, folder):
    """Runs a tool of this Python's environment; returns what it printed."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    ended = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, timeout=RUN_SECONDS_MAX, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )
    check(what, ended.returncode == 0, ended.stdout[-2000:])
    return ended.stdout


def snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def generate(name, document, folder, tolerated=None):
    """Generates a client; every operation and every schema of the document must be in it. `tolerated` is the only thing that the
    generator may warn of."""
    file = folder / f"{name}.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    strictly = [] if tolerated else ["--fail-on-warning"]
    said = run(
        f"a client from {name}, without a warning", "-m", "openapi_python_client", "generate", "--path", str(file),
        "--output-path", str(folder / name), "--meta", "none", *strictly, folder=folder,
    )
    warnings = re.findall(r"^(?:WARNING|Unable|Unsupported|Skipping|.*not be generated).*", said, re.M)
    rest = [one for one in warnings if not (tolerated and re.search(tolerated, one))]
    check(f"no word of anything left out of {name}", not rest, said[-2000:])
    made = {path.stem for path in (folder / name / "api").rglob("*.py")}
    items = [item for item in document["paths"].values()]
    wanted = {
        snake(operation["operationId"]) for item in items for operation in item.values() if "operationId" in operation
    }
    check(f"every operation of {name}", wanted <= made, sorted(wanted - made))
    models = (folder / name / "models" / "__init__.py").read_text(encoding="utf-8")
    schemas = document["components"]["schemas"]
    # A name for a text, a number or a list is no class of its own.
    wanted = {one for one, schema in schemas.items() if schema.get("type") == "object" or "enum" in schema}
    missing = {one for one in wanted if not re.search(rf'"{one}"', models, re.I)}
    check(f"every schema of {name}", not missing, sorted(missing))


def use(dev, folder):
    """The program of an integrator, with the client for customers."""
    sys.path.insert(0, str(folder))
    client = importlib.import_module("customers_api.client")
    models = importlib.import_module("customers_api.models")

    def operation(name):
        return importlib.import_module(f"customers_api.api.customers.{name}")

    user = next(user for user in dev["users"] if len(user["tenants"]) == 1)
    tenant = user["tenants"][0]
    company = next(one for one in dev["tenants"] if one["id"] == tenant)["companies"][0]
    subscriber, taker = Subscriber(dev, user, tenant), Taker()
    api = client.AuthenticatedClient(
        base_url=dev["base_url"], token=subscriber.headers["Authorization"].removeprefix("Bearer "),
        headers={"Ocp-Apim-Subscription-Key": dev["subscription"]["primary_key"]},
    )
    context = json.dumps({"clientId": company})
    listed = operation("list_customers").sync(client=api, context=context, page_size=5)
    check("customers", len(listed) == 5 and all(isinstance(one, models.Customer) for one in listed), listed)
    check("a time", listed[0].version.year >= 2026, listed[0].version)

    body = models.CustomersSubscription(
        third_party_application_name="Panel", url=taker.origin + "/generated", secret="s3cret",
        event_types=[models.CustomersSubscriptionEventTypesItem(EVENT)],
    )
    subscribed = operation("subscribe_to_customers").sync(client=api, body=body)
    check("a subscription", isinstance(subscribed, models.WebhookResult), subscribed)
    webhook = subscribed.webhook_id
    until("it is active", lambda: operation("get_customers_webhook").sync(webhook, client=api).is_active)

    first = listed[0]
    change = {
        "area": "accounting", "resource": "customers", "company": company, "action": "upsert",
        "correlationId": first.correlation_id,
        "data": {
            "tradeName": first.trade_name + " ", "vatNumber": first.vat_number, "vatName": first.vat_name,
            "accountCode": first.account_code, "accountCodeCorrelationId": first.account_code_correlation_id,
        },
    }
    load(dev, tenant, [change])

    def delivered():
        found = operation("list_customers_webhook_deliveries").sync(webhook, client=api)
        return next((one for one in found if one.event == EVENT and one.delivered_at), None)

    delivery = until("a delivery", delivered)
    one = operation("get_customers_webhook_delivery").sync(webhook, delivery.outgoing_id, client=api)
    notification = json.loads(one.body)
    inner = json.loads(notification["JsonData"])
    check("the notification", inner["CorrelationId"] == first.correlation_id, notification)

    none = operation("get_customers_webhook").sync(UUID(int=0), client=api)
    check("an error with a code", isinstance(none, models.ApiError) and none.code == "not_found", none)
    ended = operation("delete_customers_webhook").sync(webhook, client=api)
    check("it is deleted", ended.response_state == 5, ended)
    taker.close()


dev = world()["dev"]
with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    for name, url, tolerated in [
        ("public_api", dev["base_url"] + "/openapi.json", None),
        ("customers_api", dev["base_url"] + "/openapi.json?tags=Customers", None),
        # It sends changes as JSON: it does not know JSON lines.
        ("operator_api", dev["operator_url"] + "/operator/v1/openapi.json", "application/x-ndjson|/tenants/{tenant}/changes"),
    ]:
        generate(name, requests.get(url, timeout=SECONDS_MAX).json(), folder, tolerated)
    run("modules that can be loaded", "-m", "compileall", "-q", ".", folder=folder)
    # Without the generator's own part, client.py, which is the same for every document.
    strictly = ["--strict", "--no-incremental", "--follow-imports=silent"]
    run("types that fit", "-m", "mypy", *strictly, "-p", "public_api.api", "-p", "public_api.models", folder=folder)
    use(dev, folder)
done(f"openapi-python-client {version('openapi-python-client')}")
