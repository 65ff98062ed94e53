"""Receiving webhooks: signature verification, handshakes, typed events, and an inbox that processes each event once."""

from .app import Receiver, ReceiverResponse
from .events import (
    AccountingEvent,
    Acknowledge,
    InvalidNotificationError,
    InvoicingEvent,
    Notification,
    ReceivedEvent,
    RecordKey,
    WebhookEvent,
    parse_notification,
)
from .inbox import Inbox, InboxOutcome, InboxStore, MemoryInboxStore, SqliteInboxStore
from .verify import SignatureMismatch, SignatureScheme, Verifier

__all__ = [
    "AccountingEvent",
    "Acknowledge",
    "Inbox",
    "InboxOutcome",
    "InboxStore",
    "InvalidNotificationError",
    "InvoicingEvent",
    "MemoryInboxStore",
    "Notification",
    "ReceivedEvent",
    "Receiver",
    "ReceiverResponse",
    "RecordKey",
    "SignatureMismatch",
    "SignatureScheme",
    "SqliteInboxStore",
    "Verifier",
    "WebhookEvent",
    "parse_notification",
]
