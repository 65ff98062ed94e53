//! Payroll companies: a tenant-wide list with the contract's four members. Also the fixture for the tests of their
//! filter and order.

use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::harness::{ApiFixture, HttpResponse, column, encode_form, items, links, members};

const COMPANIES: &str = "/payroll/api/companies";

pub(super) fn line(code: u64, name: &str, identifier: &str, last_update: &str) -> Value {
    let mut data = json!({"companyCode": code, "companyName": name, "identifierNumber": identifier});
    if !last_update.is_empty() {
        data["lastUpdate"] = json!(last_update);
    }
    json!({"area": "payroll", "resource": "companies", "action": "upsert", "data": data})
}

/// A tenant with six companies, not in order of their codes. No test changes them.
pub(super) fn six_companies() -> &'static ApiFixture<'static> {
    static SIX: OnceLock<ApiFixture<'static>> = OnceLock::new();
    SIX.get_or_init(|| {
        let api = ApiFixture::new();
        fill(&api);
        api
    })
}

pub(super) fn fill(api: &ApiFixture<'_>) {
    let answer = api.ingest.send_lines(&[
        line(30, "Bar O'Higgins", "B12345674", "2026-01-10T08:30:00.000Z"),
        line(4, "Ñandú, S.L.", "", "2026-01-10T08:30:00.001Z"),
        line(100, "bar pequeño", "A1", "2026-01-09T23:59:59.999Z"),
        line(21, "100% (Real)", "A2", "2026-01-10"),
        line(5, "and or not", "A2", "2025-12-31T23:00:00-02:00"),
        line(9_007_199_254_740_991, "Zapatería_", "B99", "2027-06-01T00:00:00Z"),
    ]);
    assert_eq!(answer.counts(), (6, 0), "{answer:?}");
}

/// The company codes that a query with these parameters returns, in order.
#[track_caller]
pub(super) fn codes(parameters: &[(&str, &str)]) -> Vec<String> {
    let response = send_query(parameters);
    assert_eq!(response.status, 200, "{parameters:?}: {response:?}");
    column(&response, "companyCode")
}

pub(super) fn send_query(parameters: &[(&str, &str)]) -> HttpResponse {
    six_companies().get(&format!("{COMPANIES}?{}", encode_form(parameters))).send()
}

/// Asserts a refusal that names the parameter and the column.
#[track_caller]
pub(super) fn assert_refused_at(parameter: &str, text: &str, at: usize) {
    let response = send_query(&[(parameter, text)]);
    assert_eq!(response.status, 400, "{text}: {response:?}");
    let message = response.problem(400);
    assert!(message.contains(parameter) && message.contains(&format!("column {at}:")), "{text}: {message}");
    assert_eq!(response.json()["errors"][0]["field"], parameter);
}

#[test]
fn a_payroll_company_has_the_contracts_members() {
    let listed = items(&six_companies().read(COMPANIES));
    for one in &listed {
        assert_eq!(members(one), ["companyCode", "companyName", "identifierNumber", "lastUpdate"]);
        assert!(one["companyCode"].is_u64(), "a number: {one}");
        assert!(one["companyName"].is_string() && one["identifierNumber"].is_string());
    }
    assert_eq!(
        listed[0],
        json!({
            "companyCode": 30, "companyName": "Bar O'Higgins", "identifierNumber": "B12345674",
            "lastUpdate": "2026-01-10T08:30:00.000Z"
        })
    );
    assert_eq!(listed[3]["lastUpdate"], "2026-01-10T00:00:00.000Z");
    assert_eq!(listed[4]["lastUpdate"], "2026-01-01T01:00:00.000Z", "in UTC");
    assert_eq!(listed[5]["companyCode"], json!(9_007_199_254_740_991_u64));
}

#[test]
fn companies_are_listed_in_order_of_creation() {
    assert_eq!(codes(&[]), ["30", "4", "100", "21", "5", "9007199254740991"]);
    assert_eq!(codes(&[("filter", "companyCode ge 0")]), ["30", "4", "100", "21", "5", "9007199254740991"]);
}

#[test]
fn last_update_defaults_to_the_time_of_the_commit() {
    let api = ApiFixture::new();
    api.ingest.send_lines(&[line(1, "Bar", "", "")]);
    let one = items(&api.read(COMPANIES)).remove(0);
    let text = one["lastUpdate"].as_str().unwrap();
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
    assert_eq!(shape, "9999-99-99T99:99:99.999Z");
    assert!(text > "2026", "{text}");
    let filter = format!("lastUpdate eq {text}");
    let found = api.read(&format!("{COMPANIES}?{}", encode_form(&[("filter", &filter)])));
    assert_eq!(items(&found), [one], "the filter compares the returned value");
}

#[test]
fn updates_and_deletions_are_visible() {
    let api = ApiFixture::new();
    api.ingest.send_lines(&[line(1, "uno", "", ""), line(2, "dos", "", ""), line(3, "tres", "", "")]);
    api.ingest.send_lines(&[
        line(2, "DOS", "", ""),
        json!({"area": "payroll", "resource": "companies", "action": "delete", "correlationId": "1"}),
    ]);
    assert_eq!(column(&api.read(COMPANIES), "companyName"), ["DOS", "tres"]);
    for query in ["OrderBy=companyCode", "filter=companyCode%20lt%2010"] {
        let response = api.read(&format!("{COMPANIES}?{query}"));
        assert_eq!(column(&response, "companyName"), ["DOS", "tres"], "{query}");
        assert!(response.header("x-pagination").contains("\"totalCount\":2"), "{query}: {response:?}");
    }
}

#[test]
fn pages_of_a_filtered_list_carry_its_total() {
    let api = ApiFixture::new();
    let all: Vec<Value> =
        (1..=50).map(|n| line(n, if n % 2 == 0 { "par" } else { "impar" }, "", "")).collect();
    api.ingest.send_lines(&all);
    let query = encode_form(&[
        ("filter", "companyName eq 'par'"),
        ("OrderBy", "companyCode desc"),
        ("pageSize", "7"),
    ]);
    let (mut seen, mut path) = (Vec::new(), format!("{COMPANIES}?{query}"));
    loop {
        let response = api.read(&path);
        let pagination: Value = serde_json::from_str(response.header("x-pagination")).unwrap();
        assert_eq!((&pagination["totalCount"], &pagination["totalPages"]), (&json!(25), &json!(4)), "{path}");
        assert!(!response.header("x-sequence-version").is_empty());
        seen.extend(column(&response, "companyCode"));
        match links(&response).remove("next") {
            Some(next) => path = next,
            None => break,
        }
    }
    let even: Vec<String> = (1..=25).rev().map(|n| (n * 2).to_string()).collect();
    assert_eq!(seen, even);
    let past = api.read(&format!("{COMPANIES}?{query}&pageNumber=5"));
    assert_eq!(past.text(), "[]");
    let none = api.read(&format!("{COMPANIES}?filter=companyCode%20eq%200"));
    assert_eq!(none.text(), "[]");
    assert!(none.header("x-pagination").contains("\"totalCount\":0"));
}

#[test]
fn the_context_header_is_ignored() {
    for value in ["none", "{\"clientId\":\"x\"}"] {
        assert_eq!(six_companies().get(COMPANIES).header("context", value).send().status, 200, "{value}");
    }
}
