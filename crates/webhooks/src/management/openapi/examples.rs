//! The examples of the document.

use domain::event::{EventKind, event_type, semantic_name};
use domain::{ErrorCode, Resource};
use serde_json::{Value, json};

pub(super) const WEBHOOK: &str = "3f0c8a52-6d1e-4b7a-9c45-2e8f1a7b6d03";
pub(super) const OUTGOING: &str = "b6d1f5a0-93c7-8e24-a1f8-0c5d7e2b4963";
pub(super) const REQUEST_ID: &str = "4be1f7c2-0a58-4f53-8e52-97d1a3c60b14";
const COMPANY: &str = "0d3c9a1e-5b1f-4c58-9a64-5f7e2b1c8d90";
const RECORD: &str = "6f1b2c34-8a7d-4e0b-b1c2-3d4e5f607182";
const USER: &str = "8c4e2f10-7b3d-4a96-b5d8-1e9f0a2c3b47";
const URL: &str = "https://receiver.example/webhooks";
const URI: &str = "https://receiver.example/api/webhooks/incoming/Invoicing";
const AT: &str = "2026-11-15T08:30:00.1234567Z";

pub(super) fn names(resource: Resource) -> Value {
    resource.event_kinds().into_iter().map(|kind| semantic_name(resource, kind)).collect()
}

pub(super) fn subscription(resource: Resource) -> Value {
    json!({
        "thirdPartyApplicationName": "Panel de ventas", "url": URL, "secret": "a-long-random-text",
        "eventTypes": [semantic_name(resource, EventKind::Created), semantic_name(resource, EventKind::Updated)],
    })
}

pub(super) fn result(state: u8) -> Value {
    json!({"responseState": state, "webhookId": WEBHOOK, "errors": []})
}

pub(super) fn refused(code: ErrorCode, field: Option<&str>, message: &str) -> Value {
    let (status, code) = (code.status(), code.as_str());
    let mut fault = json!({"code": code, "message": message});
    if let Some(field) = field {
        fault["field"] = field.into();
    }
    json!({
        "responseState": 1, "webhookId": WEBHOOK, "errors": [fault],
        "statusCode": status, "code": code, "message": message, "requestId": REQUEST_ID,
    })
}

pub(super) fn error(code: ErrorCode, field: Option<&str>, message: &str) -> Value {
    let mut body = refused(code, field, message);
    if let Some(members) = body.as_object_mut() {
        members.remove("responseState");
        members.remove("webhookId");
    }
    body
}

pub(super) fn record(resource: Resource) -> Value {
    let kind = EventKind::Updated;
    json!({
        "id": WEBHOOK, "thirdPartyApplicationName": "Panel de ventas", "url": URL, "tenantId": "1001",
        "secret": "a-long-random-text", "isActive": true, "isDeleted": false,
        "events": [{
            "appName": "Svc", "domain": resource.area().domain().unwrap_or_default(),
            "resource": resource.plural(), "eventType": event_type(resource, kind),
            "semanticName": semantic_name(resource, kind),
        }],
        "userIdentifier": USER,
    })
}

pub(super) fn invoicing_subscription() -> Value {
    json!({
        "uri": URI, "entity": "SaleInvoice", "action": "Created", "secret": "a-long-random-text", "isPaused": false,
        "applicationName": "Panel de ventas", "description": "Facturas nuevas",
    })
}

pub(super) fn invoicing_record() -> Value {
    json!({
        "id": WEBHOOK, "uri": URI, "entity": "SaleInvoice", "action": "Created", "isPaused": false,
        "applicationName": "Panel de ventas", "description": "Facturas nuevas", "status": "Pending",
    })
}

pub(super) fn attempt() -> Value {
    json!({
        "occasion": "event", "at": AT, "number": 1, "status": 500, "succeeded": false,
        "reason": "the response status was 500; expected a 2xx status", "excerpt": "Oops",
        "milliseconds": {"resolve": 1, "connect": 12, "tls": 25, "wait": 40, "total": 78},
    })
}

pub(super) fn delivery(event: &str) -> Value {
    json!({
        "outgoingId": OUTGOING, "sequenceVersion": "1192", "event": event, "correlationId": RECORD,
        "company": COMPANY, "status": "waiting", "attempts": [attempt()], "deliveredAt": null,
        "nextAttemptAt": "2026-11-15T08:30:05.1234567Z",
    })
}

pub(super) fn replay(kind: &str) -> Value {
    json!({
        "webhookId": WEBHOOK, "number": 1, "kind": kind, "askedAt": AT, "after": "1191", "upto": "1192",
        "delivered": 0, "failed": 0, "isDone": false,
    })
}

pub(super) fn health() -> Value {
    json!({
        "webhookId": WEBHOOK, "isActive": true, "since": "2026-11-14T08:30:00.1234567Z", "delivered": 120,
        "failedAttempts": 3, "successRate": 0.9756, "p95Milliseconds": 140, "lastDeliveredAt": AT,
        "failingSince": null, "nextAttemptAt": null, "eventsBehind": 0, "recordsWaiting": 0,
        "handshake": {"number": 1, "askedAt": AT, "isAccepted": true, "failedAttempts": 0},
        "suspension": null, "lost": null, "doubt": null, "warnings": [], "recentAttempts": [attempt()], "replays": [],
    })
}

pub(super) fn rotated() -> Value {
    json!({"webhookId": WEBHOOK, "oldSecretUntil": "2026-11-16T08:30:00.1234567Z"})
}

pub(super) fn notification() -> Value {
    let resource = Resource::customers();
    let kind = EventKind::Updated;
    // In the order of a delivery.
    let data = format!(
        r#"{{"CorrelationId":"{RECORD}","Version":"11/15/2026 08:30:00","SequenceVersion":"1192","SvcSourceInterface":"ERP","SvcProcessId":"{REQUEST_ID}","SvcSourceAction":"Save"}}"#
    );
    json!({
        "WebhookId": WEBHOOK, "OutgoingId": OUTGOING, "ConversationId": REQUEST_ID, "TenantId": "1001",
        "ExtraPartitionInformation": {"PartitionClientId": COMPANY, "UserName": "maria"},
        "EventType": {
            "AppName": "Svc", "Domain": "ACC", "Resource": resource.plural(),
            "EventType": event_type(resource, kind), "SemanticName": semantic_name(resource, kind),
        },
        "Timestamp": 639_000_000_000_000_000_i64, "JsonData": data, "UserIdentifier": USER,
    })
}

pub(super) fn invoicing_notification() -> Value {
    json!({
        "Entity": "SaleInvoice", "EntityId": RECORD, "TenantId": "1001", "User": "maria",
        "Changes": [{"Name": "total", "Value": "121.50"}],
    })
}

/// Whether the records of an invoicing entity have a total: documents and dues.
pub(super) fn has_total(resource: Resource) -> bool {
    let name = resource.as_str();
    name == "Due" || name.starts_with("Sale") || name.starts_with("Purchase")
}
