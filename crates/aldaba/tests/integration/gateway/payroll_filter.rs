//! The `filter` parameter of payroll companies: a subset of OData; errors name the column.

use super::payroll::{assert_refused_at, codes};

const HUGE: &str = "9007199254740991";

#[track_caller]
fn finds(filter: &str, expected: &[&str]) {
    assert_eq!(codes(&[("filter", filter)]), expected, "{filter}");
}

#[test]
fn the_contracts_example_works() {
    finds("lastUpdate gt 2026-01-10", &["30", "4", HUGE]);
}

#[test]
fn every_operator_works_on_numbers() {
    finds("companyCode eq 21", &["21"]);
    finds("companyCode ne 21", &["30", "4", "100", "5", HUGE]);
    finds("companyCode gt 30", &["100", HUGE]);
    finds("companyCode ge 30", &["30", "100", HUGE]);
    finds("companyCode lt 21", &["4", "5"]);
    finds("companyCode le 21", &["4", "21", "5"]);
    finds("companyCode gt -1", &["30", "4", "100", "21", "5", HUGE]);
    finds(&format!("companyCode eq {HUGE}"), &[HUGE]);
    finds("companyCode lt 9007199254740991", &["30", "4", "100", "21", "5"]);
    finds("companyCode le 9223372036854775807", &["30", "4", "100", "21", "5", HUGE]);
}

#[test]
fn every_operator_works_on_texts() {
    finds("companyName eq 'bar pequeño'", &["100"]);
    finds("companyName eq 'Bar pequeño'", &[]);
    finds("companyName ne 'bar pequeño'", &["30", "4", "21", "5", HUGE]);
    finds("companyName gt 'a'", &["4", "100", "5"]);
    finds("companyName ge 'and or not'", &["4", "100", "5"]);
    finds("companyName lt 'Bar'", &["21"]);
    finds("companyName le 'Bar O''Higgins'", &["30", "21"]);
    finds("identifierNumber eq 'A2'", &["21", "5"]);
    finds("identifierNumber eq ''", &["4"]);
    finds("identifierNumber ne ''", &["30", "100", "21", "5", HUGE]);
}

#[test]
fn every_operator_works_on_bare_and_quoted_times() {
    for (time, equal) in
        [("2026-01-10T08:30:00.000Z", "30"), ("2026-01-10", "21"), ("2026-01-01T01:00:00Z", "5")]
    {
        finds(&format!("lastUpdate eq {time}"), &[equal]);
        finds(&format!("lastUpdate eq '{time}'"), &[equal]);
    }
    finds("lastUpdate eq 2026-01-10T09:30:00+01:00", &["30"]);
    finds("lastUpdate ne 2026-01-10T08:30:00Z", &["4", "100", "21", "5", HUGE]);
    finds("lastUpdate gt 2026-01-10T08:30:00Z", &["4", HUGE]);
    finds("lastUpdate ge 2026-01-10T08:30:00Z", &["30", "4", HUGE]);
    finds("lastUpdate lt '2026-01-10'", &["100", "5"]);
    finds("lastUpdate le '2026-01-10'", &["100", "21", "5"]);
}

#[test]
fn functions_search_text_fields() {
    finds("contains(companyName,'ar')", &["30", "100"]);
    finds("startswith(companyName,'Bar')", &["30"]);
    finds("endswith(companyName,'S.L.')", &["4"]);
    finds("contains(companyName,'Ñ')", &["4"]);
    finds("startswith(identifierNumber, 'A')", &["100", "21", "5"]);
    finds("contains( companyName , '' )", &["30", "4", "100", "21", "5", HUGE]);
    finds("not contains(companyName,'ar')", &["4", "21", "5", HUGE]);
}

#[test]
fn sql_wildcards_are_literal_text() {
    finds("contains(companyName,'%')", &["21"]);
    finds("startswith(companyName,'100%')", &["21"]);
    finds("contains(companyName,'_')", &[HUGE]);
    finds("endswith(companyName,'_')", &[HUGE]);
    finds("contains(companyName,'\\')", &[]);
    finds("contains(companyName,'*')", &[]);
    finds("companyName eq 'x'' OR ''1''=''1'", &[]);
    finds("companyName eq '%'", &[]);
}

#[test]
fn a_doubled_quote_is_a_quote() {
    finds("companyName eq 'Bar O''Higgins'", &["30"]);
    finds("contains(companyName,'''')", &["30"]);
    finds("companyName eq ''''", &[]);
    finds("companyName eq 'and or not'", &["5"]);
    finds("contains(companyName,'(Real)')", &["21"]);
    finds("contains(companyName,', S')", &["4"]);
}

#[test]
fn precedence_is_not_then_and_then_or() {
    finds("companyCode eq 4 or companyCode eq 5 and companyCode eq 21", &["4"]);
    finds("(companyCode eq 4 or companyCode eq 5) and companyCode eq 21", &[]);
    finds("companyCode eq 21 and companyCode eq 5 or companyCode eq 4", &["4"]);
    finds("not companyCode gt 5 or companyCode eq 100", &["4", "100", "5"]);
    finds("not (companyCode gt 5 or companyCode eq 4)", &["5"]);
    finds("not not companyCode eq 4", &["4"]);
    finds("not companyCode eq 4 and not companyCode eq 5", &["30", "100", "21", HUGE]);
    finds("((companyCode eq 4))", &["4"]);
    finds("companyCode ge 5 and lastUpdate lt 2026-01-10 and identifierNumber eq 'A2'", &["5"]);
}

#[test]
fn errors_name_the_column() {
    for (filter, column) in [
        ("companyCode", 12),
        ("companyCode eq", 15),
        ("companyCode is 4", 13),
        ("companyCode eq 'x'", 16),
        ("companyCode eq 1.5", 16),
        ("companyCode eq 99999999999999999999", 16),
        ("companyName eq Bar", 16),
        ("companyName eq 4", 16),
        ("lastUpdate gt ayer", 15),
        ("lastUpdate gt 2026-02-30", 15),
        ("lastUpdate gt 4", 15),
        ("nombre eq 'x'", 1),
        ("'x' eq companyName", 1),
        ("companyName eq 'abierto", 16),
        ("(companyCode eq 4", 18),
        ("companyCode eq 4)", 17),
        ("companyCode eq 4 companyCode eq 5", 18),
        ("companyCode eq 4 and", 21),
        ("contains(companyCode,'4')", 10),
        ("contains(companyName)", 21),
        ("startswith companyName", 12),
        ("length(companyName) eq 3", 1),
        ("companyName eq 'ñ' ; drop", 20),
    ] {
        assert_refused_at("filter", filter, column);
    }
}

#[test]
fn too_deep_too_long_and_repeated_filters_are_refused() {
    let deep = format!("{}companyCode eq 4{}", "(".repeat(1000), ")".repeat(1000));
    assert_eq!(super::payroll::send_query(&[("filter", &deep)]).status, 400);
    let wide = vec!["companyCode eq 4"; 150].join(" or ");
    assert_eq!(super::payroll::send_query(&[("filter", &wide)]).status, 400);
    let fine = vec!["companyCode eq 4"; 90].join(" or ");
    finds(&fine, &["4"]);
    let twice = super::payroll::send_query(&[("filter", "companyCode eq 4"), ("FILTER", "companyCode eq 4")]);
    assert!(twice.problem(400).contains("filter"));
}

#[test]
fn the_parameter_name_is_case_insensitive() {
    for name in ["filter", "Filter", "FILTER"] {
        assert_eq!(codes(&[(name, "companyCode eq 4")]), ["4"], "{name}");
    }
}
