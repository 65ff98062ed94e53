"""A complete receiver of Aldaba's webhooks, both families, with Python's standard library (3.9 or newer) only.

    WEBHOOK_SECRET='the secret of the subscription' python3 receiver.py 8443

It answers the handshakes, verifies every delivery, processes each event once, and answers before it processes it.
A reverse proxy in front of it provides TLS and port 443.
"""

import hashlib
import hmac
import json
import os
import queue
import sys
import threading
import uuid
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

SECRET = os.environ["WEBHOOK_SECRET"].encode("utf-8")
BODY_BYTES_MAX = 4 * 1024 * 1024
IDS_KEPT_MAX = 100_000

work = queue.Queue(maxsize=10_000)
seen = OrderedDict()
seen_lock = threading.Lock()


def is_signed(headers, body):
    """Both families sign alike: upper-case hexadecimal HMAC-SHA256 of the raw body."""
    expected = "sha256=" + hmac.new(SECRET, body, hashlib.sha256).hexdigest().upper()
    given = headers.get("svc-webhook-signature") or headers.get("ms-signature") or ""
    return hmac.compare_digest(expected.encode(), given.encode("utf-8", "replace"))


def is_new(delivery_id):
    """Every attempt to deliver an event carries the same id."""
    with seen_lock:
        if delivery_id in seen:
            return False
        seen[delivery_id] = True
        while len(seen) > IDS_KEPT_MAX:
            seen.popitem(last=False)
        return True


def forget(delivery_id):
    """Forgets an event that was not queued, so that its next attempt counts as new."""
    with seen_lock:
        seen.pop(delivery_id, None)


def do_the_work():
    while True:
        event = work.get()
        if "Entity" in event:
            told = {"kind": "invoicing", "entity": event["Entity"], "id": event["EntityId"], "changes": event["Changes"]}
        else:
            change = json.loads(event["JsonData"])
            told = {
                "kind": "accounting",
                "event": event["EventType"]["SemanticName"],
                "company": event["ExtraPartitionInformation"]["PartitionClientId"],
                "id": change["CorrelationId"],
                "sequenceVersion": change["SequenceVersion"],
            }
        # Here: GET the record by its id, in the context of its company, and store it.
        print(json.dumps(told), flush=True)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self):
        """Invoicing's handshake. Echoes only a GUID, because anybody can call this."""
        asked = parse_qs(urlsplit(self.path).query).get("echo", [""])[0]
        try:
            self.answer(200, str(uuid.UUID(asked)))
        except ValueError:
            self.answer(400, "A GET is answered only with the query echo=<GUID>.")

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not length.isdigit() or int(length) > BODY_BYTES_MAX:
            self.close_connection = True
            return self.answer(413, "The body is too large, or does not say how large it is.")
        body = self.rfile.read(int(length))
        # Verify the raw bytes before parsing them.
        if not is_signed(self.headers, body):
            return self.answer(401, "The signature does not match.")
        try:
            event = json.loads(body)
        except ValueError:
            return self.answer(400, "The body is no JSON.")
        if event.get("EventType", {}).get("EventType") == "Acknowledge":
            return self.answer(200, "")
        delivery_id = self.headers.get("webhook-id") or event.get("OutgoingId")
        if is_new(delivery_id):
            try:
                work.put_nowait(event)
            except queue.Full:
                forget(delivery_id)
                return self.answer(503, "Too busy. Try again.")
        return self.answer(200, "")

    def answer(self, status, text):
        body = text.encode("utf-8")
        self.send_response(status)
        self.send_header("content-type", "text/plain; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8443), Receiver)
    threading.Thread(target=do_the_work, daemon=True).start()
    print(json.dumps({"listening": server.server_address[1]}), flush=True)
    server.serve_forever()
