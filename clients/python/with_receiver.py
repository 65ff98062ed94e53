"""The receiver that was written from the contract's text accepts the service's deliveries of both families and responds with
401 to a copy with one changed byte; the service treats a receiver's 401 as a refusal."""

import json
import platform
import re

import requests

from api import Subscriber, bank, company, customer, until
from pages import SECONDS_MAX, accounts, check, done, world
from receiver import INVOICING_PATH, Receiver

GUID = re.compile(r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}")
ENVELOPE = {
    "WebhookId", "OutgoingId", "ConversationId", "TenantId", "ExtraPartitionInformation", "EventType", "Timestamp",
    "JsonData", "UserIdentifier",
}
NAMES = "Svc.ACC.Customers.Customer"


def envelope(told, webhook, tenant, event):
    """Checks the rules of the contract for every notification of the accounting family."""
    check("the envelope's members", set(told) == ENVELOPE, told)
    for member in ("WebhookId", "OutgoingId", "ConversationId", "UserIdentifier"):
        check(f"{member} is a GUID", GUID.fullmatch(told[member]), told)
    check("whose webhook and tenant", (told["WebhookId"], told["TenantId"]) == (webhook, tenant), told)
    kind = told["EventType"]
    check("the event's members", set(kind) == {"AppName", "Domain", "Resource", "EventType", "SemanticName"}, kind)
    parts = ".".join(kind[part] for part in ("AppName", "Domain", "Resource", "EventType"))
    check("the semantic name is its parts", kind["SemanticName"] == parts, kind)
    check("the event", kind["EventType"] == event, kind)
    ticks = told["Timestamp"]
    check("a tick count of 18 digits", isinstance(ticks, int) and len(str(ticks)) == 18, ticks)
    check("JsonData is text", isinstance(told["JsonData"], str), told)
    return json.loads(told["JsonData"])


def changed_somewhere(body):
    """Copies of a body, each with one byte changed: the first, the last, and some between."""
    for at in {0, 1, len(body) // 3, len(body) // 2, len(body) - 2, len(body) - 1}:
        yield body[:at] + bytes([body[at] ^ 1]) + body[at + 1:]


def tampered(receiver, path, header):
    """Sends changed copies of the last delivery: only the unchanged one is accepted."""
    (headers, body), url = receiver.accepted[-1][1], receiver.url(path)
    signed = {name.lower(): value for name, value in headers.items()}[header]

    def answered(body, signature):
        headers = {header: signature} if signature else {}
        return requests.post(url, data=body, headers=headers, timeout=SECONDS_MAX).status_code

    before = len(receiver.refused)
    copies = list(changed_somewhere(body))
    for copy in copies:
        check("401 for a changed byte", answered(copy, signed) == 401, copy)
    for wrong in ("", signed.lower(), signed.removeprefix("sha256="), signed[:-1], signed + "0"):
        check("401 for another signature", answered(body, wrong) == 401, wrong)
    check("each of them was counted", len(receiver.refused) == before + len(copies) + 5, receiver.refused)
    check("200 for the true copy", answered(body, signed) == 200, signed)
    receiver.accepted.pop()


def accounting(subscriber, receiver):
    webhook = subscriber.subscribe(receiver.url("/hook"), SECRET, [NAMES + "Created", NAMES + "Updated"])
    subscriber.wait_active(webhook)
    tenant = subscriber.tenant
    first, = receiver.on("/hook")
    told = envelope(first, webhook, tenant, "Acknowledge")
    check("the Acknowledge's data", told == {"Arguments": "Acknowledge"}, told)
    check("no partition", first["ExtraPartitionInformation"] == {}, first)
    seen = {first["OutgoingId"]}
    for number, (event, name) in enumerate([("CustomerCreated", "Café «Ñ»"), ("CustomerUpdated", "Café 𝄞")]):
        taken = subscriber.load(customer("panaderia-w", "cliente/1", name))
        letter = until("a delivery", lambda: receiver.on("/hook")[number + 1:])[0]
        told = envelope(letter, webhook, tenant, event)
        check("an id of its own", letter["OutgoingId"] not in seen, seen)
        seen.add(letter["OutgoingId"])
        partition = {"PartitionClientId": "panaderia-w", "UserName": "maría"}
        check("its company and user", letter["ExtraPartitionInformation"] == partition, letter)
        members = {
            "CorrelationId", "Version", "SequenceVersion", "SvcSourceInterface", "SvcProcessId", "SvcSourceAction",
        }
        check("the data's members", set(told) == members, told)
        check("which record", told["CorrelationId"] == "cliente/1", told)
        check("a version that is not ISO 8601", re.fullmatch(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d", told["Version"]), told)
        check("the door's number", told["SequenceVersion"] == taken["lastSequenceVersion"], (told, taken))
        check("the door's process", told["SvcProcessId"] == taken["processId"], (told, taken))
        context = json.dumps({"clientId": letter["ExtraPartitionInformation"]["PartitionClientId"]})
        record = subscriber.call("GET", "/accounting/api/customers/cliente%2F1", context=context)
        check("the change can be read", record["tradeName"] == name, record)
        check("at that number", record["sequenceVersion"] == told["SequenceVersion"], (record, told))
    tampered(receiver, "/hook", "svc-webhook-signature")


def invoicing(subscriber, receiver):
    webhook = subscriber.subscribe_invoicing(receiver.url(INVOICING_PATH), SECRET, "Bank", "Created")
    subscriber.wait_effective(webhook)
    check("one echo, with a GUID", len(receiver.echoes) == 1 and GUID.fullmatch(receiver.echoes[0]), receiver.echoes)
    subscriber.load(bank("banco-w", "Caja Rural «Ñ»"))
    letter = until("a notification", lambda: receiver.on(INVOICING_PATH))[0]
    expected = {
        "Entity": "Bank", "EntityId": "banco-w", "TenantId": subscriber.tenant, "User": "maría",
        "Changes": [{"Name": "name", "Value": "Caja Rural «Ñ»"}],
    }
    check("the notification", letter == expected, letter)
    tampered(receiver, INVOICING_PATH, "ms-signature")


def refused(subscriber, receiver):
    """A receiver with another secret responds to the Acknowledge with 401: the webhook stays inactive and gets no events."""
    webhook = subscriber.subscribe(receiver.url("/other"), SECRET, [NAMES + "Created"])
    until("a refusal", lambda: [one for one in receiver.refused if one[0] == "/other"])
    subscriber.load(customer("panaderia-w", "cliente/2", "Otro"))
    until("the same change at who has accepted", lambda: receiver.on("/hook")[3:])
    record = subscriber.call("GET", f"{subscriber.CUSTOMERS}/{webhook}")
    check("no contract", record["isActive"] is False, record)
    bodies = {body for at, _, body in receiver.refused if at == "/other"}
    check("nothing but the Acknowledge", len(bodies) == 1 and b"Acknowledge" in bodies.pop(), receiver.refused)


SECRET = "un secreto «largo»"
dev = world()["dev"]
user, tenant = accounts(dev)[1]
receiver = Receiver({"/hook": SECRET, INVOICING_PATH: SECRET, "/other": "otro secreto"})
subscriber = Subscriber(dev, user, tenant)
subscriber.load(company("panaderia-w"))
accounting(subscriber, receiver)
invoicing(subscriber, receiver)
refused(subscriber, receiver)
subscriber.end()
receiver.close()
done(f"Python {platform.python_version()}")
