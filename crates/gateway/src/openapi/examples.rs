//! The examples of the document. Sent through the changes door as they are (without what the store sets),
//! they are records that every example request then finds; the tests do exactly that.

use domain::Resource;
use domain::event::{EventKind, semantic_name};
use serde_json::{Value, json};

/// The company that example requests name in their context.
pub(super) const COMPANY: &str = "0d3c9a1e-5b1f-4c58-9a64-5f7e2b1c8d90";
/// The record that example requests read.
pub(super) const RECORD: &str = "6f1b2c34-8a7d-4e0b-b1c2-3d4e5f607182";
pub(super) const REQUEST_ID: &str = "4be1f7c2-0a58-4f53-8e52-97d1a3c60b14";
pub(super) const VERSION: &str = "2026-11-15T08:30:00.1234567Z";
pub(super) const SEQUENCE: &str = "1192";
const PROCESS: &str = "f2d8a1b0-6c3e-4d7f-9b5a-1c2d3e4f5061";

/// A record as a reader gets it.
pub(super) fn record(resource: Resource) -> Value {
    let mut body = writers_part(resource);
    if resource == Resource::payroll_companies() {
        return body;
    }
    body["correlationId"] = id(resource).into();
    if resource.has_state() {
        body["state"] = "Enabled".into();
    }
    body["version"] = VERSION.into();
    body["sequenceVersion"] = SEQUENCE.into();
    body
}

pub(super) fn id(resource: Resource) -> &'static str {
    if resource == Resource::companies() { COMPANY } else { RECORD }
}

fn writers_part(resource: Resource) -> Value {
    if resource == Resource::companies() {
        json!({"vatName": "Panadería Núñez S.L.", "vatNumber": "B12345674", "chartOfAccountId": 1, "accountLength": 9})
    } else if resource == Resource::customers() {
        json!({
            "tradeName": "Hotel Ávila", "vatNumber": "", "vatName": "", "accountCode": "430000001",
            "vatNumberCorrelationId": "", "accountCodeCorrelationId": RECORD,
        })
    } else if resource == Resource::accounts() {
        json!({"code": "430000001", "description": "Hotel Ávila"})
    } else if resource == Resource::payroll_companies() {
        json!({
            "companyCode": 17, "companyName": "Panadería Núñez S.L.", "identifierNumber": "B12345674",
            "lastUpdate": "2026-11-15T08:30:00.123Z",
        })
    } else {
        json!({"reference": "2026/0017", "amount": 121.5})
    }
}

/// A change of the feed of these resources.
pub(super) fn change(resource: Resource) -> Value {
    json!({
        "sequenceVersion": SEQUENCE, "event": semantic_name(resource, EventKind::Updated),
        "correlationId": id(resource), "version": VERSION, "user": "maria", "processId": PROCESS,
    })
}

/// An error body.
pub(super) fn error(status: u16, message: &str, fault: Option<(&str, &str)>) -> Value {
    let mut body = json!({"statusCode": status, "message": message, "requestId": REQUEST_ID});
    if let Some((code, field)) = fault {
        body["errors"] = json!([{"code": code, "message": message, "field": field}]);
    }
    body
}
