"""The Standard Webhooks library verifies the service's deliveries of both families, and refuses one changed byte, another
secret and an old timestamp. During a secret rotation it verifies with both secrets."""

import base64
from datetime import datetime, timedelta, timezone
from importlib.metadata import version

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from api import Subscriber, Taker, bank, company, customer, until
from pages import accounts, check, done, world

INVOICING_PATH = "/api/webhooks/incoming/Invoicing"


def came(path, text):
    """The first request to a path whose body contains the text."""
    def look():
        return [letter for at, *letter in taker.letters if at == path and text in letter[1]]

    return until(f"a delivery of {text}", look)[0]


def refuses(webhook, headers, body, why):
    try:
        webhook.verify(body, headers)
    except WebhookVerificationError as error:
        check(why, str(error) == why, error)
    else:
        check(why, False, "it was verified")


def verifies(webhook, headers, body):
    """Verifies the request unchanged, and refuses every change of it."""
    told = webhook.verify(body, headers)
    lower = {name.lower(): value for name, value in headers.items()}
    check("the body itself", told.get("OutgoingId", lower["webhook-id"]) == lower["webhook-id"], told)
    no_match = "No matching signature found"
    for at in range(len(body)):
        changed = body[:at] + bytes([body[at] ^ 1]) + body[at + 1:]
        if body[at] < 128:  # the library accepts only text
            refuses(webhook, lower, changed, no_match)
    refuses(webhook, lower, body + b" ", no_match)
    refuses(webhook, lower | {"webhook-id": lower["webhook-id"][:-1] + "x"}, body, no_match)
    later = str(int(lower["webhook-timestamp"]) + 1)
    refuses(webhook, lower | {"webhook-timestamp": later}, body, no_match)
    for away, why in [(-10, "Message timestamp too old"), (10, "Message timestamp too new")]:
        # Signed with the right secret, so that only the time is wrong.
        moment = datetime.now(timezone.utc) + timedelta(minutes=away)
        stale = {
            "webhook-id": lower["webhook-id"], "webhook-timestamp": str(int(moment.timestamp())),
            "webhook-signature": webhook.sign(lower["webhook-id"], moment, body.decode()),
        }
        refuses(webhook, stale, body, why)
    refuses(Webhook(b"another secret"), lower, body, no_match)
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        refuses(webhook, {key: value for key, value in lower.items() if key != name}, body, "Missing required headers")


dev = world()["dev"]
user, tenant = accounts(dev)[1]
taker = Taker()
origin = taker.origin
subscriber = Subscriber(dev, user, tenant)
subscriber.load(company("panaderia-s"))
# The library decodes a str as base64; other secrets are passed as bytes.
PLAIN, NEWER = "un secreto «largo»", "otro secreto"
PREFIXED = "whsec_" + base64.b64encode(bytes(range(200, 232))).decode()
event = "Svc.ACC.Customers.CustomerCreated"
plain = subscriber.subscribe(origin + "/plain", PLAIN, [event])
prefixed = subscriber.subscribe(origin + "/prefixed", PREFIXED, [event])
invoiced = subscriber.subscribe_invoicing(origin + INVOICING_PATH, PREFIXED, "Bank", "Created")
for webhook in (plain, prefixed):
    subscriber.wait_active(webhook)
subscriber.wait_effective(invoiced)
subscriber.load(customer("panaderia-s", "uno", "Café «Ñ»"), bank("banco-s", "Caja Rural «Ñ»"))
for path, text, secret in [
    ("/plain", b"Acknowledge", PLAIN.encode()), ("/prefixed", b"Acknowledge", PREFIXED),
    ("/plain", b"uno", PLAIN.encode()), ("/prefixed", b"uno", PREFIXED), (INVOICING_PATH, b"banco-s", PREFIXED),
]:
    verifies(Webhook(secret), *came(path, text))

subscriber.call("PUT", f"{subscriber.CUSTOMERS}/secret/{plain}", {"secret": NEWER, "overlapHours": 1})
subscriber.load(customer("panaderia-s", "dos", "Bar Manolo"))
headers, body = came("/plain", b"dos")
for secret in (PLAIN, NEWER):
    check("verified with the old secret and the new", Webhook(secret.encode()).verify(body, headers)["WebhookId"] == plain)
refuses(Webhook(b"another secret"), headers, body, "No matching signature found")
subscriber.end()
taker.close()
done(version("standardwebhooks"))
