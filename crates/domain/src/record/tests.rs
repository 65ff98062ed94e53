//! The validation of typed records, and splitting bodies into members and tail.

use super::*;

fn object(text: &str) -> Object {
    Object::parse(text.as_bytes()).unwrap()
}

fn check_data(resource: Resource, data: &str) -> Result<Upsert, FieldError> {
    check(resource, &object(data), None, &mut Vec::new())
}

fn field_of(resource: Resource, data: &str) -> String {
    check_data(resource, data).unwrap_err().field.unwrap().into_owned()
}

fn journals() -> Resource {
    Resource::find(Area::Accounting, "journals").unwrap()
}

const COMPANY: &str =
    r#"{"vatName":"Peña S.L.","vatNumber":"B12345674","chartOfAccountId":1,"accountLength":9}"#;

#[test]
fn company_has_the_contracts_fields() {
    let upsert = check_data(Resource::companies(), COMPANY).unwrap();
    assert_eq!(upsert.typed_fields, TypedFields::Company { account_length: 9 });
    assert_eq!(format!("{{{}}}", upsert.members), COMPANY);
}

#[test]
fn errors_name_missing_invalid_and_unknown_members() {
    let companies = Resource::companies();
    assert_eq!(field_of(companies, r#"{"vatName":"x"}"#), "data.vatNumber");
    assert_eq!(field_of(companies, &COMPANY.replace("9}", "\"9\"}")), "data.accountLength");
    assert_eq!(field_of(companies, &COMPANY.replace("9}", "0}")), "data.accountLength");
    assert_eq!(field_of(companies, &COMPANY.replace("B12345674", "b-1")), "data.vatNumber");
    let unknown = check_data(companies, &COMPANY.replace("vatName", "vatname")).unwrap_err();
    assert_eq!(unknown.code, "unknown_member");
    assert!(unknown.message.contains("did you mean \"vatName\""), "{}", unknown.message);
}

#[test]
fn wrong_control_character_is_a_warning() {
    let mut warnings = Vec::new();
    check(Resource::companies(), &object(&COMPANY.replace("B12345674", "B12345670")), None, &mut warnings)
        .unwrap();
    assert_eq!(warnings[0].code, "wrong_control");
    warnings.clear();
    check(Resource::companies(), &object(COMPANY), None, &mut warnings).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn customer_has_both_vat_name_and_vat_number_or_neither() {
    let customers = Resource::customers();
    let bare = check_data(customers, r#"{"tradeName":"Ñandú","accountCode":"430000001"}"#).unwrap();
    assert_eq!(bare.typed_fields, TypedFields::AccountCode { field: "accountCode", digits: 9 });
    assert!(bare.members.contains(r#""vatNumber":"","vatName":"""#));
    assert_eq!(
        field_of(customers, r#"{"tradeName":"x","accountCode":"430","vatName":"X"}"#),
        "data.vatNumber"
    );
    assert_eq!(
        field_of(customers, r#"{"tradeName":"x","accountCode":"430","vatNumber":"B12345674"}"#),
        "data.vatName"
    );
    assert_eq!(field_of(customers, r#"{"tradeName":"x","accountCode":"43O"}"#), "data.accountCode");
}

#[test]
fn members_that_the_store_sets_are_refused_in_data() {
    assert_eq!(
        field_of(Resource::accounts(), r#"{"code":"1","description":"","state":"Enabled"}"#),
        "data.state"
    );
    assert_eq!(field_of(journals(), r#"{"version":"1"}"#), "data.version");
    assert!(check_data(journals(), r#"{"state":"Posted"}"#).is_ok(), "the store sets no state of journals");
    assert_eq!(field_of(journals(), r#"{"correlationId":"x"}"#), "data.correlationId");
    let outer = CorrelationId::new("x");
    let upsert =
        check(journals(), &object(r#"{"correlationId":"x","a":1}"#), Some(&outer), &mut Vec::new()).unwrap();
    assert_eq!(upsert.members, r#""a":1"#);
}

#[test]
fn body_splits_into_members_and_tail() {
    let tail = RecordTail {
        resource: Resource::customers(),
        correlation_id: "a\"b",
        state: State::Enabled,
        version: Ticks::parse_iso("2026-11-15").unwrap(),
        sequence: 42,
    };
    let body = tail.body_of(r#""tradeName":"x""#);
    assert_eq!(
        body,
        r#"{"tradeName":"x","correlationId":"a\"b","state":"Enabled","version":"2026-11-15T00:00:00.0000000Z","sequenceVersion":"42"}"#
    );
    assert_eq!(tail.members_of(&body), r#""tradeName":"x""#);
    assert_eq!(tail.members_of(&tail.body_of("")), "");
    let stateless = RecordTail { resource: journals(), ..tail };
    assert!(!stateless.body_of("").contains("state"));
}

#[test]
fn last_update_of_a_payroll_company_defaults_to_the_commit_time() {
    let payroll = Resource::payroll_companies();
    let data = r#"{"companyCode":7,"companyName":"Gómez","identifierNumber":"B12345674"}"#;
    let TypedFields::Payroll(company) = check_data(payroll, data).unwrap().typed_fields else {
        panic!("typed fields of another resource")
    };
    let committed = Ticks::parse_iso("2026-11-15T10:00:00.1239999Z").unwrap();
    let body = company.body(committed);
    assert!(body.ends_with(r#""lastUpdate":"2026-11-15T10:00:00.123Z"}"#), "{body}");
    let stored = PayrollCompany::from_body(&body).unwrap();
    assert!(company.is_unchanged_from(&stored));
    let later = PayrollCompany { last_update: Ticks::parse_iso("2027-01-01"), ..company };
    assert!(!later.is_unchanged_from(&stored));
    assert_eq!(field_of(payroll, &data.replace('}', r#","lastUpdate":"yesterday"}"#)), "data.lastUpdate");
}

#[test]
fn order_of_members_is_not_a_change() {
    assert!(same_members(r#""a":1,"b":2"#, r#""b":2,"a":1"#));
    assert!(!same_members(r#""a":1,"b":2"#, r#""a":2,"b":1"#));
    assert!(!same_members(r#""a":1.0"#, r#""a":1"#));
}
