"""Typed notifications of both families."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RecordKey:
    """The identity of a record."""

    tenant: str
    resource: str
    """The resource as in the semantic name (`ACC.Customers`), or the name of an invoicing entity."""
    company: str
    """The company that owns the record; empty if the tenant owns it."""
    id: str


@dataclass(frozen=True)
class ReceivedEvent:
    """What the inbox needs to know of an event from a webhook delivery or from the feed."""

    outgoing_id: str | None
    """The id of the delivery; None for events from the feed."""
    record: RecordKey
    sequence_version: int | None
    """The log position; None for invoicing notifications, which lack it, and for test events."""


@dataclass(frozen=True)
class Acknowledge:
    """The handshake of the accounting family: the service asks whether this URL accepts deliveries. It is answered with 200."""

    webhook_id: str


@dataclass(frozen=True)
class AccountingEvent:
    """A change of a record of the accounting family. It does not contain the record: read it by `correlation_id` in the context of
    `company`."""

    name: str
    """The semantic name: `Svc.ACC.Customers.CustomerCreated`."""
    outgoing_id: str
    """The id of the event for this webhook, the same in every attempt: it detects duplicates."""
    webhook_id: str
    conversation_id: str
    """The id of the change, the same for all webhooks."""
    tenant_id: str
    company: str
    """The company that owns the record; for a company, its own id."""
    user_name: str
    """The user who made the change."""
    user_identifier: str
    """The user who created the subscription."""
    correlation_id: str
    """The id of the record."""
    version: str
    """The version of the record: `MM/dd/yyyy HH:mm:ss`, UTC."""
    sequence_version: int
    """The log position of the change. It is 0 in a test event, which belongs to no record."""
    source_interface: str
    process_id: str
    """The id of the write request that the change came with."""
    source_action: str

    def received(self) -> ReceivedEvent:
        record = RecordKey(self.tenant_id, resource_of(self.name), self.company, self.correlation_id)
        return ReceivedEvent(self.outgoing_id, record, self.sequence_version or None)


@dataclass(frozen=True)
class InvoicingEvent:
    """A change of an invoicing entity."""

    entity: str
    """The name of the entity, such as `SaleInvoice`."""
    entity_id: str
    """The id of the record."""
    outgoing_id: str | None
    """The id of the event, from the header `webhook-id`; the same in every attempt. None if a proxy removed it."""
    tenant_id: str
    user: str
    """The user who made the change."""
    changes: Mapping[str, str]
    """The new values of the changed members by name; empty for a deletion."""

    def received(self) -> ReceivedEvent:
        return ReceivedEvent(self.outgoing_id, RecordKey(self.tenant_id, self.entity, "", self.entity_id), None)


WebhookEvent = AccountingEvent | InvoicingEvent
Notification = Acknowledge | AccountingEvent | InvoicingEvent


class InvalidNotificationError(ValueError):
    """A body that is not a notification, although its signature may be valid."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the body is not a notification: {reason}")


def parse_notification(headers: Mapping[str, str], body: bytes) -> Notification:
    """Parses a body. Verify its signature first: this function does not."""
    members = _parse_object(body, "it")
    if "Entity" in members:
        return _invoicing(members, headers)
    kind = members.get("EventType")
    if not isinstance(kind, dict):
        reason = "it has neither the members of an accounting notification nor of an invoicing one"
        raise InvalidNotificationError(reason)
    if kind.get("EventType") == "Acknowledge":
        return Acknowledge(_text(members, "WebhookId"))
    return _accounting(members, kind)


def _accounting(members: dict[str, Any], kind: dict[str, Any]) -> AccountingEvent:
    partition = members.get("ExtraPartitionInformation")
    partition = partition if isinstance(partition, dict) else {}
    data = _parse_object(_text(members, "JsonData"), "JsonData")
    sequence_version = _text(data, "SequenceVersion")
    if not (sequence_version.isascii() and sequence_version.isdigit() and len(sequence_version) <= 19):
        raise InvalidNotificationError("SequenceVersion is not a number")
    return AccountingEvent(
        name=_text(kind, "SemanticName"),
        outgoing_id=_text(members, "OutgoingId"),
        webhook_id=_text(members, "WebhookId"),
        conversation_id=_text(members, "ConversationId"),
        tenant_id=_text(members, "TenantId"),
        company=_text(partition, "PartitionClientId", ""),
        user_name=_text(partition, "UserName", ""),
        user_identifier=_text(members, "UserIdentifier", ""),
        correlation_id=_text(data, "CorrelationId"),
        version=_text(data, "Version", ""),
        sequence_version=int(sequence_version),
        source_interface=_text(data, "SvcSourceInterface", ""),
        process_id=_text(data, "SvcProcessId", ""),
        source_action=_text(data, "SvcSourceAction", ""),
    )


def _invoicing(members: dict[str, Any], headers: Mapping[str, str]) -> InvoicingEvent:
    changes = members.get("Changes")
    listed = [one for one in changes if isinstance(one, dict)] if isinstance(changes, list) else []
    return InvoicingEvent(
        entity=_text(members, "Entity"),
        entity_id=_text(members, "EntityId"),
        outgoing_id=header_of(headers, "webhook-id"),
        tenant_id=_text(members, "TenantId"),
        user=_text(members, "User", ""),
        changes={_text(one, "Name"): _text(one, "Value") for one in listed},
    )


def resource_of(semantic_name: str) -> str:
    """`Svc.ACC.Customers.CustomerCreated` → `ACC.Customers`; `Bank.Created` → `Bank`."""
    parts = semantic_name.split(".")
    if len(parts) == 4:
        return f"{parts[1]}.{parts[2]}"
    return parts[0] if len(parts) == 2 else semantic_name


def header_of(headers: Mapping[str, str], name: str) -> str | None:
    """The value of a header, whatever the case of its name."""
    value = headers.get(name)
    if value is not None:
        return value
    return next((value for known, value in headers.items() if known.lower() == name), None)


def _parse_object(source: bytes | str, what: str) -> dict[str, Any]:
    try:
        value = json.loads(source)
    except (ValueError, RecursionError):
        raise InvalidNotificationError(f"{what} is not JSON") from None
    if not isinstance(value, dict):
        raise InvalidNotificationError(f"{what} is not an object")
    return value


def _text(members: Mapping[str, Any], name: str, default: str | None = None) -> str:
    value = members.get(name, default)
    if not isinstance(value, str):
        raise InvalidNotificationError(f"{name} is missing or not a text")
    return value
