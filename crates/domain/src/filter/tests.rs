//! The grammar of filters and orders: what parses, what it matches, and the column of each error.

use proptest::prelude::*;

use super::*;

const AT: &str = "2026-11-15T08:30:00Z";

fn company_fields() -> CompanyFields<'static> {
    CompanyFields {
        code: 42,
        name: "Panadería O'Higgins",
        identifier: "B12345674",
        last_update: Ticks::parse_iso(AT).unwrap(),
    }
}

fn holds(text: &str) -> bool {
    Filter::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).matches(&company_fields())
}

#[test]
fn contracts_own_example_parses() {
    assert!(holds("lastUpdate gt 2026-11-14"));
    assert!(!holds("lastUpdate gt 2026-11-16"));
}

#[test]
fn every_operator_works_on_every_field_type() {
    for (text, expected) in [
        ("companyCode eq 42", true),
        ("companyCode ne 42", false),
        ("companyCode gt 41", true),
        ("companyCode ge 42", true),
        ("companyCode lt 42", false),
        ("companyCode le 42", true),
        ("companyCode gt -1", true),
        ("companyName eq 'Panadería O''Higgins'", true),
        ("companyName lt 'Q'", true),
        ("identifierNumber eq 'B12345674'", true),
        ("identifierNumber ne ''", true),
        ("lastUpdate eq 2026-11-15T08:30:00Z", true),
        ("lastUpdate eq '2026-11-15T08:30:00Z'", true),
        ("lastUpdate eq 2026-11-15T09:30:00+01:00", true),
        ("lastUpdate ge '2026-11-15'", true),
        ("lastUpdate lt 2026-11-15T08:30:00.001Z", true),
        ("contains(companyName,'dería')", true),
        ("contains( companyName , 'DERÍA' )", false),
        ("startswith(identifierNumber,'B1')", true),
        ("endswith(identifierNumber,'74')", true),
        ("contains(companyName,'')", true),
        ("CONTAINS(companyName,'O''H') AND companyCode EQ 42", true),
    ] {
        assert_eq!(holds(text), expected, "{text}");
    }
}

#[test]
fn not_binds_tighter_than_and_and_tighter_than_or() {
    assert!(holds("companyCode eq 42 or companyCode eq 1 and companyCode eq 2"));
    assert!(!holds("(companyCode eq 42 or companyCode eq 1) and companyCode eq 2"));
    assert!(!holds("not companyCode eq 42 or companyCode eq 1"));
    assert!(holds("not (companyCode eq 1 or companyCode eq 2)"));
    assert!(holds("not not companyCode eq 42"));
}

#[test]
fn errors_name_their_column() {
    for (text, column, part) in [
        ("", 1, "a field is missing"),
        ("   ", 4, "a field is missing"),
        ("companyCode", 12, "an operator is missing"),
        ("companyCode is 1", 13, "an operator is missing"),
        ("companyCode eq", 15, "a value is missing"),
        ("companyCode eq 1.5", 16, "a whole number"),
        ("companyCode eq '42'", 16, "a whole number"),
        ("companyCode eq 99999999999999999999", 16, "a whole number"),
        ("companyName eq Panadería", 16, "a text in single quotes"),
        ("lastUpdate gt 2026-02-30", 15, "a date"),
        ("lastUpdate gt ayer", 15, "a date"),
        ("companycode eq 1", 1, "did you mean \"companyCode\""),
        ("companyCode eq 1 companyCode eq 2", 18, "join them"),
        ("(companyCode eq 1", 18, "a closing parenthesis"),
        ("companyCode eq 1)", 17, "more than one expression"),
        ("companyName eq 'ñandú", 16, "no closing quote"),
        ("contains(companyCode,'4')", 10, "not a text field"),
        ("contains(companyName 'x')", 22, "a comma"),
        ("contains companyName", 10, "an opening parenthesis"),
        ("companyCode eq 1; drop table x", 17, "unexpected character"),
        ("ñ eq 1", 1, "no field"),
    ] {
        let error = Filter::parse(text).unwrap_err();
        assert_eq!((error.column, error.message.contains(part)), (column, true), "{text}: {error}");
    }
}

#[test]
fn size_is_bounded() {
    let deep = format!("{}companyCode eq 1{}", "(".repeat(40), ")".repeat(40));
    assert!(Filter::parse(&deep).unwrap_err().message.contains("levels"));
    assert!(Filter::parse(&"not ".repeat(900)).unwrap_err().message.contains("levels"));
    let wide = vec!["companyCode eq 1"; 101].join(" or ");
    assert!(Filter::parse(&wide).unwrap_err().message.contains("conditions"));
    assert!(Filter::parse(&vec!["companyCode eq 1"; 100].join(" or ")).is_ok());
    assert!(Filter::parse(&"x".repeat(4001)).unwrap_err().message.contains("characters"));
}

#[test]
fn order_ends_with_the_company_code() {
    use Direction::{Ascending, Descending};
    let fields = |text| OrderBy::parse(text).unwrap().fields().to_vec();
    assert_eq!(fields("companyCode"), [(Field::CompanyCode, Ascending)]);
    let both = [(Field::CompanyName, Descending), (Field::CompanyCode, Ascending)];
    assert_eq!(fields("companyName desc"), both);
    assert_eq!(fields(" companyName DESC , companyCode asc , companyName"), both);
    assert!(OrderBy::parse("companyCode up").unwrap_err().message.contains("asc or desc"));
    for (text, column) in [("", 1), ("name", 1), ("companyCode up", 13), ("companyCode,", 13)] {
        assert_eq!(OrderBy::parse(text).unwrap_err().column, column, "{text}");
    }
}

#[test]
fn ties_are_broken_by_code() {
    let order = OrderBy::parse("companyName desc").unwrap();
    let (first, second) = (company_fields(), CompanyFields { code: 43, ..company_fields() });
    assert!(order.compare(&first, &second).is_lt());
    let earlier = CompanyFields { name: "A", ..company_fields() };
    assert!(order.compare(&first, &earlier).is_lt());
}

proptest! {
    #[test]
    fn error_column_lies_within_the_text(text in "[ -~ñ'(),]{0,60}") {
        if let Err(error) = Filter::parse(&text) {
            prop_assert!(error.column >= 1 && error.column <= text.chars().count() + 1);
        }
    }

    #[test]
    fn quoted_text_parses_to_itself(text in "[a-z' ñ%_]{0,20}") {
        let filter = Filter::parse(&format!("companyName eq '{}'", text.replace('\'', "''"))).unwrap();
        prop_assert_eq!(filter, Filter::Compare(Field::CompanyName, Comparison::Equal, Value::Text(text)));
    }
}
