"""Hooks for Schemathesis: the syntax of payroll filters and orders, the company of a request, the url of a receiver, passwords, existing webhooks and
their events, and a count of the responses."""

import atexit
import json
import os
import uuid
from collections import Counter, defaultdict

import schemathesis
from hypothesis import strategies as st

OPERATORS = st.sampled_from(["eq", "ne", "gt", "ge", "lt", "le"])
TEXT_FIELDS = st.sampled_from(["companyName", "identifierNumber"])
FIELDS = st.sampled_from(["companyCode", "companyName", "identifierNumber", "lastUpdate"])
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=12).map(
    lambda text: "'" + text.replace("'", "''") + "'"
)
MOMENT = st.datetimes().map(lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%SZ").zfill(20)) | st.dates().map(str)
CONDITION = (
    st.tuples(st.just("companyCode"), OPERATORS, st.integers(0, 2**53 - 1).map(str)).map(" ".join)
    | st.tuples(TEXT_FIELDS, OPERATORS, TEXT).map(" ".join)
    | st.tuples(st.just("lastUpdate"), OPERATORS, MOMENT).map(" ".join)
    | st.tuples(st.sampled_from(["contains", "startswith", "endswith"]), TEXT_FIELDS, TEXT).map(
        lambda parts: f"{parts[0]}({parts[1]},{parts[2]})"
    )
)
FILTER = st.recursive(
    CONDITION,
    lambda inner: st.tuples(inner, st.sampled_from([" and ", " or "]), inner).map("".join)
    | inner.map(lambda one: f"not ({one})")
    | inner.map(lambda one: f"({one})"),
    max_leaves=6,
)
ORDER = st.lists(
    st.tuples(FIELDS, st.sampled_from(["", " asc", " desc"])).map("".join), min_size=1, max_size=4
).map(",".join)

schemathesis.openapi.format("payroll-filter", FILTER)
schemathesis.openapi.format("payroll-order", ORDER)
# The escapes of JSON keep the header in ASCII.
COMPANY = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=200)
schemathesis.openapi.format("company-context", COMPANY.map(lambda company: json.dumps({"clientId": company})))

# A receiver on this machine, and the webhooks created beforehand, by the path prefix of their resource.
RECEIVER = os.environ.get("ALDABA_RECEIVER", "")
WEBHOOKS = json.loads(os.environ.get("ALDABA_WEBHOOKS", "{}"))
INVOICING_PATH = "/api/webhooks/incoming/Invoicing"
schemathesis.openapi.format("receiver-url", st.integers(0, 99).map(lambda number: f"{RECEIVER}/{number}"))
schemathesis.openapi.format("invoicing-receiver-url", st.just(RECEIVER + INVOICING_PATH))
# The limit is in bytes, which a schema cannot express.
SECRET = st.text(st.characters(codec="utf-8"), min_size=1, max_size=64)
schemathesis.openapi.format("webhook-secret", SECRET)
# A schema cannot express which passwords are guessed easily: whatever follows these words, they are good.
PASSWORD = st.text(st.characters(codec="utf-8"), max_size=200).map(lambda text: "cuatro tejas rojas " + text)
schemathesis.openapi.format("password", PASSWORD)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Makes most calls use an existing webhook, and gives valid requests one receiver and one webhook."""
    if case.operation.label == "POST /operator/v1/clients" and case.meta and case.meta.generation.mode.is_positive:
        make_web_client(case.body)
    prefix, found, tail = case.operation.path.partition("/webhooks")
    known = WEBHOOKS.get(prefix) if found else None
    if not known:
        return
    deletes = case.operation.method.upper() == "DELETE"
    turns = tail.startswith(("/status/", "/change/")) or case.operation.method.upper() == "PUT" and tail == "/{id}"
    one = known["gone"] if deletes else known["turned"] if turns else known["kept"]
    parameters = case.path_parameters or {}
    for name, there in [("webhookId", one), ("id", one), ("outgoingId", known["delivery"])]:
        given = parameters.get(name)
        # Some are left as they are: there is no such webhook. But the document's examples, which end in 3, are not,
        # and what is to be kept is not deleted.
        if given in known.values() or is_guid(given) and given[-1] not in "4567":
            parameters[name] = there
    # A schema cannot express that the event must be one to which the webhook subscribes.
    if tail.endswith("/test") and case.meta and case.meta.generation.mode.is_positive and "event" in (case.query or {}):
        case.query["event"] = known["event"]
    body = case.body
    if isinstance(body, dict) and case.meta and case.meta.generation.mode.is_positive:
        if isinstance(body.get("webhookId"), str):
            body["webhookId"] = parameters.get("webhookId", body["webhookId"])
        # The document's examples name a receiver that nobody has, and stateful tests put in any text that they have seen.
        for name, path in [("url", "/example"), ("uri", INVOICING_PATH)]:
            url = body.get(name, RECEIVER)
            if not url.startswith("http") or "receiver.example" in url or "other.example" in url:
                body[name] = RECEIVER + path
        # Nothing happened in the morning that they name.
        if body.get("from") == "2026-11-15T08:00:00Z":
            body["from"] = "2026-01-01T00:00:00Z"
            body.pop("to", None)
        if str(body.get("entity", "")).startswith("Company"):
            body["action"] = "Updated"


def make_web_client(body):
    """A schema cannot express which addresses the kind of a client allows: those of a web application are https."""
    if not isinstance(body, dict) or body.get("kind") not in (None, "web"):
        return
    for name in ("redirectUris", "postLogoutUris"):
        given = body.get(name) or []
        body[name] = [uri for uri in given if isinstance(uri, str) and uri.startswith("https://")]
    body["redirectUris"] = body["redirectUris"] or ["https://app.example/callback"]


def is_guid(text):
    try:
        return len(text) == 36 and bool(uuid.UUID(text))
    except (TypeError, ValueError):
        return False


answered = defaultdict(Counter)


@schemathesis.hook
def after_call(context, case, response):
    answered[case.operation.label][str(response.status_code)] += 1


@atexit.register
def tell():
    path = os.environ.get("ALDABA_TALLY")
    if path and answered:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(answered, file)
