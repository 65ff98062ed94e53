//! Which changes are valid, and which error each invalid change gets.

use serde_json::json;

use super::*;

fn parse(line: &serde_json::Value) -> Result<ParsedChange, FieldError> {
    Change::parse(line.to_string().as_bytes(), || Guid::derived_from([7; 16]))
}

fn refused(line: &serde_json::Value) -> (String, String) {
    let error = parse(line).unwrap_err();
    (error.code.into_owned(), error.field.unwrap_or_default().into_owned())
}

fn customer(action: &str) -> serde_json::Value {
    json!({"area": "accounting", "resource": "customers", "company": "c1", "action": action, "correlationId": "k1"})
}

fn with(mut line: serde_json::Value, name: &str, value: serde_json::Value) -> serde_json::Value {
    line[name] = value;
    line
}

#[test]
fn complete_change_is_parsed() {
    let data = json!({"tradeName": "Ibáñez", "accountCode": "430000001"});
    let mut line = with(customer("upsert"), "data", data);
    line["user"] = json!("maria");
    line["sourceInterface"] = json!("ERP");
    let parsed = parse(&line).unwrap();
    assert_eq!(parsed.change.resource, Resource::customers());
    assert_eq!(parsed.change.company, Some(CorrelationId::new("c1")));
    assert_eq!(&*parsed.change.user, "maria");
    assert_eq!(&*parsed.change.source_action, "");
    assert!(!parsed.id_was_generated);
}

#[test]
fn missing_correlation_id_is_generated_for_upserts_only() {
    let mut line = with(customer("upsert"), "data", json!({"tradeName": "x", "accountCode": "4"}));
    line.as_object_mut().unwrap().remove("correlationId");
    let parsed = parse(&line).unwrap();
    assert!(parsed.id_was_generated);
    assert_eq!(parsed.change.correlation_id.as_str(), "07070707-0707-8707-8707-070707070707");
    line["action"] = json!("disable");
    line.as_object_mut().unwrap().remove("data");
    assert_eq!(refused(&line), ("missing_member".into(), "correlationId".into()));
}

#[test]
fn every_error_names_its_field() {
    let base = customer("disable");
    for (line, code, field) in [
        (with(base.clone(), "area", json!("acounting")), "unknown_area", "area"),
        (with(base.clone(), "resource", json!("custmers")), "unknown_resource", "resource"),
        (with(base.clone(), "resource", json!(7)), "invalid_member", "resource"),
        (with(base.clone(), "action", json!("destroy")), "unknown_action", "action"),
        (with(base.clone(), "compny", json!("x")), "unknown_member", "compny"),
        (with(base.clone(), "company", json!(null)), "missing_member", "company"),
        (with(base.clone(), "company", json!("c".repeat(201))), "invalid_member", "company"),
        (with(base.clone(), "correlationId", json!("changes")), "invalid_member", "correlationId"),
        (with(base.clone(), "user", json!("u".repeat(201))), "invalid_member", "user"),
        (with(base.clone(), "data", json!({"a": 1})), "unexpected_member", "data"),
        (customer("delete"), "action_not_allowed", "action"),
        (customer("upsert"), "missing_member", "data"),
        (with(customer("upsert"), "data", json!([])), "invalid_member", "data"),
        (json!({"area": "accounting"}), "missing_member", "resource"),
    ] {
        assert_eq!(refused(&line), (code.into(), field.into()), "{line}");
    }
    assert_eq!(Change::parse(b"{", || unreachable!()).unwrap_err().code, "invalid_json");
    assert_eq!(
        Change::parse(b"{\"area\":1,\"area\":2}", || unreachable!()).unwrap_err().code,
        "invalid_json"
    );
}

#[test]
fn allowed_actions_follow_the_catalogue() {
    for resource in Resource::all() {
        for action in ["disable", "enable", "delete", "fail"] {
            let mut line =
                json!({"area": resource.area().as_str(), "resource": resource.as_str(), "action": action});
            line["correlationId"] = json!("1");
            if resource.owner() == Owner::Company {
                line["company"] = json!("c1");
            }
            let allowed = match action {
                "delete" => resource.can_be_deleted(),
                "fail" => resource.is_accounting_family(),
                _ => resource.has_state(),
            };
            assert_eq!(parse(&line).is_ok(), allowed, "{resource:?} {action}");
        }
    }
}

#[test]
fn company_code_is_the_correlation_id_of_a_payroll_company() {
    let data = json!({"companyCode": 12, "companyName": "x", "identifierNumber": ""});
    let line = json!({"area": "payroll", "resource": "companies", "action": "upsert", "data": data});
    let upsert = parse(&line).unwrap();
    assert_eq!(upsert.change.correlation_id.as_str(), "12");
    assert!(!upsert.id_was_generated);
    assert_eq!(refused(&with(line.clone(), "correlationId", json!("13"))).1, "correlationId");
    let delete =
        json!({"area": "payroll", "resource": "companies", "action": "delete", "data": {"companyCode": 12}});
    assert_eq!(parse(&delete).unwrap().change.correlation_id.as_str(), "12");
}

#[test]
fn company_is_refused_for_resources_that_the_tenant_owns() {
    let line =
        json!({"area": "invoicing", "resource": "Due", "company": "c1", "action": "upsert", "data": {}});
    assert_eq!(refused(&line), ("unexpected_member".into(), "company".into()));
}
