//! The `OrderBy` parameter of payroll companies.

use super::payroll::{assert_refused_at, codes, send_query};

const HUGE: &str = "9007199254740991";

#[track_caller]
fn orders(order: &str, expected: &[&str]) {
    assert_eq!(codes(&[("OrderBy", order)]), expected, "{order}");
}

#[test]
fn the_contracts_example_works() {
    orders("companyCode", &["4", "5", "21", "30", "100", HUGE]);
}

#[test]
fn every_field_sorts_ascending_and_descending() {
    orders("companyCode asc", &["4", "5", "21", "30", "100", HUGE]);
    orders("companyCode desc", &[HUGE, "100", "30", "21", "5", "4"]);
    orders("companyName", &["21", "30", HUGE, "5", "100", "4"]);
    orders("companyName desc", &["4", "100", "5", HUGE, "30", "21"]);
    orders("lastUpdate", &["5", "100", "21", "30", "4", HUGE]);
    orders("lastUpdate DESC", &[HUGE, "4", "30", "21", "100", "5"]);
}

#[test]
fn ties_are_broken_by_company_code() {
    orders("identifierNumber", &["4", "100", "5", "21", "30", HUGE]);
    orders("identifierNumber desc", &[HUGE, "30", "5", "21", "100", "4"]);
}

#[test]
fn several_fields_are_applied_in_order() {
    orders("identifierNumber,companyCode desc", &["4", "100", "21", "5", "30", HUGE]);
    orders("identifierNumber asc , companyName desc", &["4", "100", "5", "21", "30", HUGE]);
    orders("identifierNumber desc,lastUpdate desc,companyCode", &[HUGE, "30", "21", "5", "100", "4"]);
}

#[test]
fn order_combines_with_filter_and_paging() {
    let parameters = [("filter", "companyCode lt 1000"), ("OrderBy", "companyCode desc"), ("pageSize", "2")];
    assert_eq!(codes(&parameters), ["100", "30"]);
    let mut second = parameters.to_vec();
    second.push(("pageNumber", "3"));
    assert_eq!(codes(&second), ["4"]);
}

#[test]
fn the_parameter_name_is_case_insensitive() {
    for name in ["OrderBy", "orderby", "ORDERBY", "orderBy"] {
        assert_eq!(codes(&[(name, "companyCode"), ("pageSize", "1")]), ["4"], "{name}");
    }
}

#[test]
fn errors_name_the_column() {
    for (order, column) in [
        ("nombre", 1),
        ("companyCode up", 13),
        ("companyCode,", 13),
        (",companyCode", 1),
        ("companyCode desc asc", 18),
        ("companyCode companyName", 13),
        ("companyCode,companyname", 13),
        ("'companyCode'", 1),
        ("companyCode; drop", 12),
    ] {
        assert_refused_at("OrderBy", order, column);
    }
    let twice = send_query(&[("OrderBy", "companyCode"), ("orderby", "companyCode")]);
    assert!(twice.problem(400).contains("OrderBy"));
}
