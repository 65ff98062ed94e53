//! Change lines for the ingest API.

use serde_json::{Value, json};

/// One change per line.
pub(crate) fn ndjson(lines: &[Value]) -> String {
    lines.iter().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect()
}

/// A company whose account codes have nine digits.
pub(crate) fn company(id: &str) -> Value {
    json!({
        "area": "accounting", "resource": "companies", "action": "upsert", "correlationId": id,
        "data": {"vatName": "Panadería Ñandú", "vatNumber": "", "chartOfAccountId": 7, "accountLength": 9}
    })
}

pub(crate) fn customer(company: &str, id: &str, name: &str) -> Value {
    json!({
        "area": "accounting", "resource": "customers", "company": company, "action": "upsert",
        "correlationId": id, "data": {"tradeName": name, "accountCode": "430000001", "accountCodeCorrelationId": "a-1"}
    })
}

pub(crate) fn account(company: &str, id: &str) -> Value {
    json!({
        "area": "accounting", "resource": "accounts", "company": company, "action": "upsert",
        "correlationId": id, "data": {"code": "572000001", "description": "Bancos"}
    })
}

/// A record of a company whose resource has no fixed schema.
pub(crate) fn charge(company: &str, id: &str, amount: u64) -> Value {
    json!({
        "area": "accounting", "resource": "charges", "company": company, "action": "upsert",
        "correlationId": id, "data": {"amount": amount}
    })
}

/// A record that belongs to the tenant and needs no company.
pub(crate) fn bank(id: &str, name: &str) -> Value {
    json!({
        "area": "invoicing", "resource": "Bank", "action": "upsert", "correlationId": id, "data": {"name": name}
    })
}
