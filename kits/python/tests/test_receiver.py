"""Receivers: wrong signatures, tampered and replayed deliveries, handshakes, and the inbox."""

from __future__ import annotations

import base64
import hashlib
import hmac
import io
import json
import sqlite3
import threading
from pathlib import Path
from typing import Any, TypeVar
from wsgiref.util import setup_testing_defaults

import pytest

from aldaba_client.receiver import (
    AccountingEvent,
    Inbox,
    InboxStore,
    InvalidNotificationError,
    InvoicingEvent,
    MemoryInboxStore,
    ReceivedEvent,
    Receiver,
    RecordKey,
    SignatureMismatch,
    SqliteInboxStore,
    Verifier,
    WebhookEvent,
    parse_notification,
)

SECRET = "a secret of the webhook"
GUID = "4be1f7c2-0a58-4f53-8e52-97d1a3c60b14"
C = TypeVar("C")


def contract(body: bytes, secret: str = SECRET) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest().upper()


def notification(data: dict[str, Any] | None = None, **members: Any) -> bytes:
    json_data = {"CorrelationId": "1", "Version": "11/15/2026 08:30:00", "SequenceVersion": "7", **(data or {})}
    envelope = {
        "WebhookId": GUID,
        "OutgoingId": "11111111-0a58-4f53-8e52-97d1a3c60b14",
        "ConversationId": GUID,
        "TenantId": "t",
        "ExtraPartitionInformation": {"PartitionClientId": "c", "UserName": "maría"},
        "EventType": {"EventType": "CustomerUpdated", "SemanticName": "Svc.ACC.Customers.CustomerUpdated"},
        "Timestamp": 639000000000000000,
        "UserIdentifier": GUID,
        "JsonData": json.dumps(json_data),
        **members,
    }
    return json.dumps(envelope).encode()


def test_examples_of_rfc_4231_and_of_standard_webhooks_match() -> None:
    body = b"what do ya want for nothing?"
    signature = "sha256=5BDCC146BF60754E6A042426089575C75A003F089D2739839DEC58B964EC3843"
    assert Verifier("Jefe").verify({"svc-webhook-signature": signature}, body) == "accounting"
    assert Verifier(["other", "Jefe"]).verify({"MS-Signature": signature}, body) == "invoicing"
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    standard = Verifier("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", clock=lambda: 1614265330)
    assert standard.verify(headers, b'{"test": 2432232314}') == "standard"


def test_wrong_signatures_are_refused() -> None:
    verifier, body = Verifier(SECRET), notification()
    good = contract(body)

    def reason(headers: dict[str, str], body: bytes) -> str:
        try:
            return verifier.verify(headers, body)
        except SignatureMismatch as mismatch:
            return mismatch.reason

    assert reason({"svc-webhook-signature": good}, body) == "accounting"
    for wrong in ("", good.lower(), good[7:], good[:-1], good + "0", contract(body, "other"), "ñ"):
        assert reason({"svc-webhook-signature": wrong}, body) == "wrong_signature", wrong
    for at in (0, len(body) // 2, len(body) - 1):
        tampered = body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :]
        assert reason({"svc-webhook-signature": good}, tampered) == "wrong_signature"
    assert reason({}, body) == "missing_header"
    with pytest.raises(ValueError, match="empty"):
        Verifier("")


def test_replayed_request_is_refused_by_its_time_where_only_standard_counts() -> None:
    def at(now: int) -> Verifier:
        return Verifier(SECRET, only_standard=True, clock=lambda: now)

    mac = base64.b64encode(hmac.new(SECRET.encode(), f"{GUID}.1000.{{}}".encode(), hashlib.sha256).digest()).decode()
    headers = {"webhook-id": GUID, "webhook-timestamp": "1000", "webhook-signature": f"v1,{mac}"}
    assert at(1300).verify(headers, b"{}") == "standard"
    with pytest.raises(SignatureMismatch) as late:
        at(1301).verify(headers, b"{}")
    assert late.value.reason == "outside_tolerance"
    for wrong in ({**headers, "webhook-id": "another"}, {"svc-webhook-signature": contract(b"{}")}):
        with pytest.raises(SignatureMismatch):
            at(1000).verify(wrong, b"{}")


def test_receiver_answers_handshakes_events_and_everything_else() -> None:
    events: list[WebhookEvent] = []
    reasons: list[str] = []
    receiver = Receiver(SECRET, events.append, on_mismatch=lambda one: reasons.append(one.reason), body_bytes_max=5_000)

    def post(body: bytes, headers: dict[str, str] | None = None) -> int:
        return receiver.handle("POST", "/hooks", headers or {"svc-webhook-signature": contract(body)}, body).status

    echoed = receiver.handle("GET", f"/api/webhooks/incoming/Invoicing?echo={GUID}", {}, b"")
    assert (echoed.status, echoed.body) == (200, GUID)
    for url in ("/hooks?echo=<script>", "//[", "/hooks?echo", ""):
        assert receiver.handle("GET", url, {}, b"").status == 400
    assert receiver.handle("PUT", "/hooks", {}, b"").status == 405
    acknowledge = notification(
        EventType={"EventType": "Acknowledge", "SemanticName": "x"}, ExtraPartitionInformation={}
    )
    assert post(acknowledge) == 200
    assert post(acknowledge, {"svc-webhook-signature": "sha256=00"}) == 401
    assert post(b"[]") == 400
    assert post(b'"' + b"x" * 5_000 + b'"') == 413
    assert (events, reasons) == ([], ["wrong_signature"])

    assert post(notification()) == 200
    bank = b'{"Entity":"Bank","EntityId":"7","TenantId":"t","User":"eva","Changes":[{"Name":"n","Value":"v"}]}'
    assert post(bank, {"ms-signature": contract(bank), "webhook-id": GUID}) == 200
    accounting, invoicing = events
    assert isinstance(accounting, AccountingEvent) and isinstance(invoicing, InvoicingEvent)
    assert (accounting.company, accounting.correlation_id, accounting.sequence_version) == ("c", "1", 7)
    assert (invoicing.entity, invoicing.outgoing_id, invoicing.changes) == ("Bank", GUID, {"n": "v"})


def test_failed_event_is_answered_with_500_so_that_it_is_delivered_again() -> None:
    errors: list[str] = []

    def on_event(_: WebhookEvent) -> None:
        raise RuntimeError("the database is away")

    receiver = Receiver(SECRET, on_event, on_error=lambda error, _: errors.append(str(error)))
    body = notification()
    assert receiver.handle("POST", "/", {"svc-webhook-signature": contract(body)}, body).status == 500
    assert errors == ["the database is away"]


def test_receiver_is_a_wsgi_application() -> None:
    events: list[WebhookEvent] = []
    receiver, body = Receiver(SECRET, events.append), notification()

    def call(**environ: Any) -> tuple[str, bytes]:
        statuses: list[str] = []
        setup_testing_defaults(environ)
        content = receiver(environ, lambda status, _, __=None: statuses.append(status) or (lambda _: None))  # type: ignore
        return statuses[0], b"".join(content)

    length = {"REQUEST_METHOD": "POST", "CONTENT_LENGTH": str(len(body))}
    signed = {"HTTP_SVC_WEBHOOK_SIGNATURE": contract(body)}
    assert call(**length, **signed, **{"wsgi.input": io.BytesIO(body)})[0] == "200 OK"
    assert call(**length, **{"wsgi.input": io.BytesIO(body)})[0] == "401 Unauthorized"
    assert call(**{**length, "CONTENT_LENGTH": "9999999"})[0].startswith("413 ")
    for wrong in ("-1", "²", "9" * 5_000):
        assert call(**{**length, "CONTENT_LENGTH": wrong})[0].startswith("400 ")
    assert call(QUERY_STRING=f"echo={GUID}") == ("200 OK", GUID.encode())
    assert len(events) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff",
        b"7",
        b"{}",
        b'{"EventType":{}}',
        notification(JsonData="no"),
        notification({"SequenceVersion": 7}),
        notification({"SequenceVersion": "²"}),
    ],
)
def test_bodies_that_are_no_notification_are_refused(body: bytes) -> None:
    with pytest.raises(InvalidNotificationError):
        parse_notification({}, body)


def event(outgoing_id: str | None, sequence_version: int | None, id: str = "1") -> ReceivedEvent:
    return ReceivedEvent(outgoing_id, RecordKey("t", "ACC.Customers", "c", id), sequence_version)


def check_store(store: InboxStore[C]) -> None:
    """What every store must do."""
    inbox = Inbox(store)

    def kind(received: ReceivedEvent) -> str:
        return inbox.process_once(received, lambda _: "done").kind

    def fail(_: C) -> None:
        raise RuntimeError("away")

    with pytest.raises(RuntimeError):
        inbox.process_once(event("a", 7), fail)
    assert kind(event("a", 7)) == "processed", "a failed event can be processed again"
    assert kind(event("a", 7)) == "duplicate", "a replayed delivery"
    assert kind(event(None, 7)) == "superseded", "the same change from the feed"
    assert kind(event("b", 6)) == "superseded", "an older change"
    assert kind(event("c", 10)) == "processed"
    assert kind(event("d", 9, "2")) == "processed", "another record"
    assert [kind(event("e", None)), kind(event("e", None))] == ["processed", "duplicate"]
    runs: list[int] = []
    threads = [
        threading.Thread(target=inbox.process_once, args=(event("f", 11), lambda _: runs.append(1))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert runs == [1]
    everything = Inbox(store, by_id_only=True)
    assert everything.process_once(event("g", 3), lambda _: 1).kind == "processed", "old, but never processed"


def test_inbox_in_memory_processes_each_event_once() -> None:
    check_store(MemoryInboxStore())


def test_inbox_in_sqlite_survives_a_restart(tmp_path: Path) -> None:
    store = SqliteInboxStore(tmp_path / "inbox.db")
    check_store(store)
    store.close()
    again = SqliteInboxStore(tmp_path / "inbox.db")
    assert Inbox(again).process_once(event("a", 7), lambda _: 1).kind == "duplicate"
    again.delete_older_than(30)
    assert Inbox(again).process_once(event("a", 7), lambda _: 1).kind == "duplicate"
    again.close()


def test_inbox_in_sqlite_commits_with_the_applications_own_writes(tmp_path: Path) -> None:
    store = SqliteInboxStore(tmp_path / "inbox.db")
    inbox = Inbox(store)
    inbox.process_once(event("table", None), lambda connection: connection.execute("CREATE TABLE seen (id TEXT)"))

    def write_and_fail(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO seen VALUES ('x')")
        raise RuntimeError("away")

    with pytest.raises(RuntimeError):
        inbox.process_once(event("z", 20), write_and_fail)
    for _ in range(2):
        inbox.process_once(event("z", 20), lambda connection: connection.execute("INSERT INTO seen VALUES ('x')"))
    with sqlite3.connect(tmp_path / "inbox.db") as reader:
        assert reader.execute("SELECT id FROM seen").fetchall() == [("x",)]
    reader.close()
    store.close()
