//! Lines that the ingest API rejects, each with its number, a code, a message and the field.

use serde_json::{Value, json};

use crate::harness::{account, bank, company, customer, shared_server};

/// A line with one member changed, or removed if the value is null.
fn with(mut line: Value, member: &str, value: Value) -> Value {
    let members = line.as_object_mut().unwrap();
    if value.is_null() {
        members.remove(member);
    } else {
        members.insert(member.to_owned(), value);
    }
    line
}

/// Expects each line to be rejected with this code, field and message.
fn expect_rejected(before: &[Value], cases: &[(Value, &str, &str, &str)]) {
    let ingest = shared_server().ingest_for_new_tenant();
    assert_eq!(ingest.send_lines(before).rejected, 0);
    let head = ingest.head();
    for (line, code, field, message) in cases {
        let answer = ingest.send_lines(std::slice::from_ref(line));
        let error = answer.only_error();
        assert_eq!(
            (error.line, error.code.as_str(), error.field.as_str()),
            (1, *code, *field),
            "{line}: {error:?}"
        );
        assert_eq!(error.message, *message, "{line}");
    }
    assert_eq!(ingest.head(), head, "no line was written");
}

#[test]
fn unknown_names_come_with_a_suggestion() {
    let line = || customer("c", "u", "Bar");
    expect_rejected(
        &[company("c")],
        &[
            (
                with(line(), "area", json!("acounting")),
                "unknown_area",
                "area",
                "unknown area \"acounting\" (did you mean \"accounting\"?); areas are accounting, core, import, payroll, \
             invoicing",
            ),
            (
                with(line(), "resource", json!("customer")),
                "unknown_resource",
                "resource",
                "unknown resource \"customer\" in area accounting (did you mean \"customers\"?)",
            ),
            (
                with(line(), "action", json!("upset")),
                "unknown_action",
                "action",
                "unknown action \"upset\" (did you mean \"upsert\"?); actions are upsert, disable, enable, delete, fail",
            ),
            (
                with(line(), "compani", json!("c")),
                "unknown_member",
                "compani",
                "unknown member \"compani\" (did you mean \"company\"?)",
            ),
            (with(line(), "company", json!("d")), "unknown_company", "company", "there is no company \"d\""),
            (
                with(line(), "data", json!({"tradeNam": "Bar", "accountCode": "430000001"})),
                "unknown_member",
                "data.tradeNam",
                "data has an unknown member \"tradeNam\" (did you mean \"tradeName\"?); known members are tradeName, vatNumber, \
             vatName, accountCode, vatNumberCorrelationId, accountCodeCorrelationId",
            ),
        ],
    );
}

#[test]
fn accounts_customers_and_suppliers_are_never_deleted() {
    let delete = |resource: &str, id: &str| {
        json!({
            "area": "accounting", "resource": resource, "company": "c", "action": "delete", "correlationId": id
        })
    };
    let before = [company("c"), customer("c", "u", "Bar"), account("c", "a")];
    let never = |resource: &str| format!("{resource} are never deleted, only disabled: use disable");
    let messages = ["customers", "accounts", "suppliers"].map(never);
    expect_rejected(
        &before,
        &[
            (delete("customers", "u"), "action_not_allowed", "action", &messages[0]),
            (delete("accounts", "a"), "action_not_allowed", "action", &messages[1]),
            (delete("suppliers", "s"), "action_not_allowed", "action", &messages[2]),
            (
                json!({"area": "invoicing", "resource": "CompanyData", "action": "delete", "correlationId": "1"}),
                "action_not_allowed",
                "action",
                "CompanyData cannot be deleted, only updated",
            ),
        ],
    );
}

#[test]
fn wrong_types_and_missing_members_are_reported() {
    let line = || customer("c", "u", "Bar");
    expect_rejected(
        &[company("c")],
        &[
            (with(line(), "area", json!(7)), "invalid_member", "area", "area must be a string"),
            (with(line(), "area", Value::Null), "missing_member", "area", "area is missing"),
            (with(line(), "action", Value::Null), "missing_member", "action", "action is missing"),
            (
                with(line(), "company", Value::Null),
                "missing_member",
                "company",
                "company is missing: customers belong to a company",
            ),
            (
                with(bank("b", "a"), "company", json!("c")),
                "unexpected_member",
                "company",
                "company must be left out: the tenant owns Bank",
            ),
            (
                with(line(), "data", Value::Null),
                "missing_member",
                "data",
                "data is missing: an upsert carries the whole record",
            ),
            (with(line(), "data", json!([1])), "invalid_member", "data", "data must be an object"),
            (
                with(line(), "data", json!({"tradeName": true, "accountCode": "430000001"})),
                "invalid_member",
                "data.tradeName",
                "data.tradeName must be a string",
            ),
            (
                with(line(), "data", json!({"tradeName": "Bar", "accountCode": "43"})),
                "invalid_member",
                "data.accountCode",
                "data.accountCode has 2 digits, but the company's accountLength is 9",
            ),
            (
                with(line(), "data", json!({"tradeName": "Bar", "accountCode": "430000777"})),
                "account_not_found",
                "data.accountCode",
                "the company has no account with the code 430000777; send the account first",
            ),
            (
                with(
                    line(),
                    "data",
                    json!({"tradeName": "Bar", "accountCode": "430000001", "state": "Disabled"}),
                ),
                "owned_member",
                "data.state",
                "data must not carry \"state\": Aldaba sets it; use the actions disable and enable",
            ),
        ],
    );
}

#[test]
fn error_for_a_long_line_is_short() {
    let ingest = shared_server().ingest_for_new_tenant();
    let long = "x".repeat(500_000);
    let answer = ingest.send_lines(&[json!({(long.clone()): 1}), with(bank("b", "a"), "area", json!(long))]);
    assert_eq!(answer.rejected_lines(), [(1, "unknown_member"), (2, "unknown_area")]);
    for error in &answer.errors {
        assert!(error.message.len() <= 1000 && error.field.len() <= 1000, "{} bytes", error.message.len());
        assert!(error.message.starts_with("unknown "), "{error:?}");
    }
}
