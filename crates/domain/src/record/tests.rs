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
fn customers_vat_name_and_vat_number_may_each_be_empty() {
    let customers = Resource::customers();
    let bare = check_data(customers, r#"{"tradeName":"Ñandú","accountCode":"430000001"}"#).unwrap();
    assert_eq!(bare.typed_fields, TypedFields::AccountCode { field: "accountCode", digits: 9 });
    assert!(bare.members.contains(r#""vatNumber":"","vatName":"""#));
    for (given, expected) in [
        (r#""vatName":"X""#, Some("data.vatNumber")),
        (r#""vatNumber":"B12345674""#, Some("data.vatName")),
        (r#""vatNumber":"B12345674","vatName":"X""#, None),
        (r#""vatNumber":"","vatName":"""#, None),
    ] {
        let mut warnings = Vec::new();
        let data = object(&format!(r#"{{"tradeName":"x","accountCode":"430",{given}}}"#));
        assert!(check(customers, &data, None, &mut warnings).is_ok(), "{given}");
        let fields: Vec<_> = warnings.iter().map(|warning| warning.field.as_deref().unwrap()).collect();
        assert_eq!(fields, expected.into_iter().collect::<Vec<_>>(), "{given}");
    }
    assert_eq!(field_of(customers, r#"{"tradeName":"x","accountCode":"43O"}"#), "data.accountCode");
}

#[test]
fn account_that_is_named_by_its_code_alone_can_be_filled_in() {
    let customers = Resource::customers();
    let linked = r#"{"tradeName":"x","accountCode":"430","accountCodeCorrelationId":"a\"1"}"#;
    let complete = check_data(customers, linked).unwrap();
    assert_eq!(complete.unlinked_account, None);
    for empty in ["", r#","accountCodeCorrelationId":"""#] {
        let upsert =
            check_data(customers, &format!(r#"{{"tradeName":"x","accountCode":"430"{empty}}}"#)).unwrap();
        assert_eq!(&*upsert.unlinked_account.as_ref().unwrap().code, "430");
        assert_eq!(upsert.linked("a\"1"), complete);
    }
    let suppliers = Resource::find(Area::Accounting, "suppliers").unwrap();
    for (data, code, filled) in [
        (
            r#"{"accountCodeCorrelationId":"","accountCode":"400"}"#,
            "400",
            r#""accountCodeCorrelationId":"a","accountCode":"400""#,
        ),
        (
            r#"{"accountCode":400,"accountCodeCorrelationId":null}"#,
            "400",
            r#""accountCode":400,"accountCodeCorrelationId":"a""#,
        ),
        (
            r#"{"x":1,"accountCodeCorrelationId":"","y":2}"#,
            "",
            r#""x":1,"accountCodeCorrelationId":"a","y":2"#,
        ),
        (
            r#"{"accountCodeCorrelationId":"","accountCode":[1]}"#,
            "",
            r#""accountCodeCorrelationId":"a","accountCode":[1]"#,
        ),
    ] {
        let upsert = check_data(suppliers, data).unwrap();
        assert_eq!(&*upsert.unlinked_account.as_ref().unwrap().code, code, "{data}");
        assert_eq!(upsert.linked("a").members, filled);
    }
    for own in [r#"{"accountCode":"400"}"#, r#"{"accountCodeCorrelationId":"a"}"#, "{}"] {
        let upsert = check_data(suppliers, own).unwrap();
        assert_eq!((format!("{{{}}}", upsert.members).as_str(), upsert.unlinked_account), (own, None));
    }
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

fn names(body: &str) -> Vec<String> {
    object(body).members().map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn members_are_in_the_order_of_the_contract() {
    let tail = |resource| RecordTail {
        resource,
        correlation_id: "a\",\"vatNumber\":",
        state: State::Disabled,
        version: Ticks::parse_iso("2026-11-15").unwrap(),
        sequence: 42,
    };
    let odd = r#"x,\"vatNumber\":,\"code\":"#;
    for (resource, data, expected) in [
        (
            Resource::companies(),
            COMPANY.to_owned(),
            "vatName vatNumber state chartOfAccountId accountLength correlationId version sequenceVersion",
        ),
        (
            Resource::customers(),
            format!(r#"{{"accountCode":"430","vatName":"{odd}","tradeName":"{odd}"}}"#),
            "tradeName state vatNumber vatName accountCode correlationId vatNumberCorrelationId \
             accountCodeCorrelationId version sequenceVersion",
        ),
        (
            Resource::accounts(),
            format!(r#"{{"description":"{odd}","code":"430"}}"#),
            "correlationId code description state version sequenceVersion",
        ),
        (journals(), r#"{"b":1,"a":2}"#.to_owned(), "b a correlationId version sequenceVersion"),
        (
            Resource::find(Area::Accounting, "suppliers").unwrap(),
            r#"{"vatNumber":1,"code":2}"#.to_owned(),
            "vatNumber code correlationId state version sequenceVersion",
        ),
    ] {
        let (upsert, tail) = (check_data(resource, &data).unwrap(), tail(resource));
        let body = tail.body(&upsert);
        assert_eq!(names(&body).join(" "), expected.split_whitespace().collect::<Vec<_>>().join(" "));
        assert_eq!(tail.members_of(&body), upsert.members);
        assert_eq!(tail.body_of(&tail.members_of(&body)), body);
        // As it was stored before the order was the contract's, and in no known order.
        let end = r#""version":"2026-11-15T00:00:00.0000000Z","sequenceVersion":"42"}"#;
        let id = r#""correlationId":"a\",\"vatNumber\":","#;
        let state = if resource.has_state() { r#""state":"Disabled","# } else { "" };
        let before = format!("{{{},{id}{state}{end}", upsert.members);
        assert_eq!(tail.members_of(&before), upsert.members);
        let other = format!("{{{id}{},{state}{end}", upsert.members);
        assert!(same_members(&tail.members_of(&other), &upsert.members));
    }
}

#[test]
fn body_splits_into_members_and_tail() {
    let tail = RecordTail {
        resource: journals(),
        correlation_id: "a\"b",
        state: State::Enabled,
        version: Ticks::parse_iso("2026-11-15").unwrap(),
        sequence: 42,
    };
    let body = tail.body_of(r#""number":"x""#);
    assert_eq!(
        body,
        r#"{"number":"x","correlationId":"a\"b","version":"2026-11-15T00:00:00.0000000Z","sequenceVersion":"42"}"#
    );
    assert_eq!(tail.members_of(&body), r#""number":"x""#);
    assert_eq!(tail.members_of(&tail.body_of("")), "");
    assert!(!tail.body_of("").contains("state"));
}

#[test]
fn code_of_an_account_is_read_from_its_body() {
    for (body, code) in [
        (r#"{"correlationId":",\"code\":\"1\"","code":"430","description":"x"}"#, Some("430")),
        (r#"{"code":"431","description":"\"code\":\"2\""}"#, Some("431")),
        (r#"{"description":"\"code\":"}"#, None),
    ] {
        assert_eq!(account_code(body), code, "{body}");
    }
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
