//! The examples of the document. The records are valid input of the operator's changes API (without the members that
//! the store sets), and the example requests then find them: an integration test does exactly that.

use domain::event::{EventKind, semantic_name};
use domain::{ErrorCode, Resource};
use serde_json::{Value, json};

/// The company in the `context` of the example requests.
pub(super) const COMPANY: &str = "0d3c9a1e-5b1f-4c58-9a64-5f7e2b1c8d90";
/// The record that the example requests read.
pub(super) const RECORD: &str = "6f1b2c34-8a7d-4e0b-b1c2-3d4e5f607182";
pub(super) const REQUEST_ID: &str = "4be1f7c2-0a58-4f53-8e52-97d1a3c60b14";
pub(super) const VERSION: &str = "2026-11-15T08:30:00.1234567Z";
pub(super) const SEQUENCE: &str = "1192";
const PROCESS: &str = "f2d8a1b0-6c3e-4d7f-9b5a-1c2d3e4f5061";

/// A record as a read returns it.
pub(super) fn record(resource: Resource) -> Value {
    let mut body = written_members(resource);
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

/// The members that the writer of a record sends.
fn written_members(resource: Resource) -> Value {
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

/// A change in the feed of this resource.
pub(super) fn change(resource: Resource) -> Value {
    json!({
        "sequenceVersion": SEQUENCE, "event": semantic_name(resource, EventKind::Updated),
        "correlationId": id(resource), "version": VERSION, "user": "maria", "processId": PROCESS,
    })
}

/// An error body, with a fault if a field is named.
pub(super) fn error(code: ErrorCode, message: &str, field: Option<&str>) -> Value {
    let (status, code) = (code.status(), code.as_str());
    let mut body = json!({"statusCode": status, "code": code, "message": message, "requestId": REQUEST_ID});
    if let Some(field) = field {
        body["errors"] = json!([{"code": code, "message": message, "field": field}]);
    }
    body
}
