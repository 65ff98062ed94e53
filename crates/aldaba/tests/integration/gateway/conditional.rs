//! Conditional reads: a weak etag that changes with the data, and 304 if `If-None-Match` has it.

use hyper::Method;

use super::payroll::line;
use crate::harness::{ApiFixture, HttpResponse, change_line, charge, company, context, customer, shared_api};

const CUSTOMERS: &str = "/accounting/api/customers";

fn get_if_none_match(company: &str, path: &str, etag: &str) -> HttpResponse {
    shared_api().get_for_company(company, path).header("if-none-match", etag).send()
}

#[track_caller]
fn etag(response: &HttpResponse) -> String {
    let etag = response.header("etag");
    assert!(etag.starts_with("W/\"") && etag.ends_with('"') && etag.len() > 4, "{response:?}");
    assert_eq!(response.header("cache-control"), "private, no-cache");
    etag.to_owned()
}

#[track_caller]
fn assert_unchanged(response: &HttpResponse, etag: &str) {
    assert_eq!((response.status, response.body.len()), (304, 0), "{response:?}");
    assert_eq!((response.header("etag"), response.header("cache-control")), (etag, "private, no-cache"));
    assert!(!response.header("x-request-id").is_empty());
}

#[test]
fn every_read_has_an_etag_and_answers_304_to_it() {
    let api = ApiFixture::new();
    api.ingest.send_lines(&[company("c"), customer("c", "u", "Bar"), line(1, "Bar", "", "")]);
    for path in [
        "/accounting/api/companies",
        "/accounting/api/companies/c",
        CUSTOMERS,
        "/accounting/api/customers/u",
        "/accounting/api/customers/changes",
        "/accounting-core/api/persons",
        "/payroll/api/companies",
        "/payroll/api/companies?filter=companyCode%20eq%201&OrderBy=companyCode",
        "/invoicing/api/changes",
    ] {
        let context = if path.starts_with("/accounting") { context("c") } else { String::new() };
        let request = || api.get(path).header("context", &context);
        let etag = etag(&request().send());
        assert_unchanged(&request().header("if-none-match", &etag).send(), &etag);
        assert_eq!(request().header("if-none-match", "W/\"other\"").send().status, 200, "{path}");
    }
}

#[test]
fn if_none_match_accepts_lists_stars_and_strong_etags() {
    shared_api().ingest.send_lines(&[company("match"), customer("match", "u", "Bar")]);
    for path in [CUSTOMERS, "/accounting/api/customers/u"] {
        let etag = etag(&shared_api().read_for_company("match", path));
        let strong = etag.trim_start_matches("W/").to_owned();
        for known in [
            etag.clone(),
            strong.clone(),
            format!("\"a\", {etag}"),
            format!("{etag},\"b\""),
            format!("W/\"x\",{strong} , \"b\""),
            "*".to_owned(),
        ] {
            assert_unchanged(&get_if_none_match("match", path, &known), &etag);
        }
        for other in ["\"\"", "W/\"x\"", "\"*\"", "x", strong.trim_matches('"')] {
            assert_eq!(get_if_none_match("match", path, other).status, 200, "{path} {other}");
        }
    }
}

#[test]
fn a_change_gives_its_record_and_list_new_etags() {
    shared_api().ingest.send_lines(&[
        company("move"),
        customer("move", "u", "Bar"),
        customer("move", "v", "Bar"),
    ]);
    let read = |path: &str| etag(&shared_api().read_for_company("move", path));
    let (list, one, other) =
        (read(CUSTOMERS), read("/accounting/api/customers/u"), read("/accounting/api/customers/v"));
    let steps = [
        customer("move", "u", "Bar Manolo"),
        change_line("customers", "move", "u", "disable"),
        change_line("customers", "move", "u", "enable"),
        customer("move", "u", "Bar"),
    ];
    let (mut lists, mut ones) = (vec![list], vec![one]);
    for step in steps {
        shared_api().ingest.send_lines(&[step]);
        assert_eq!(get_if_none_match("move", CUSTOMERS, lists.last().unwrap()).status, 200);
        assert_eq!(
            get_if_none_match("move", "/accounting/api/customers/u", ones.last().unwrap()).status,
            200
        );
        lists.push(read(CUSTOMERS));
        ones.push(read("/accounting/api/customers/u"));
    }
    for mut etags in [lists, ones] {
        etags.sort_unstable();
        etags.dedup();
        assert_eq!(etags.len(), 5, "every change gives a new etag");
    }
    assert_unchanged(&get_if_none_match("move", "/accounting/api/customers/v", &other), &other);
    let same = read(CUSTOMERS);
    shared_api().ingest.send_lines(&[customer("move", "u", "Bar")]);
    assert_unchanged(&get_if_none_match("move", CUSTOMERS, &same), &same);
}

#[test]
fn creating_and_deleting_a_record_changes_the_lists_etag() {
    shared_api().ingest.send_lines(&[company("come"), charge("come", "1", 1)]);
    let path = "/accounting/api/charges";
    let first = etag(&shared_api().read_for_company("come", path));
    shared_api().ingest.send_lines(&[charge("come", "2", 2)]);
    let second = etag(&shared_api().read_for_company("come", path));
    shared_api().ingest.send_lines(&[change_line("charges", "come", "2", "delete")]);
    let third = etag(&shared_api().read_for_company("come", path));
    assert!(first != second && second != third && first != third);
    assert_eq!(get_if_none_match("come", path, &first).status, 200);
}

#[test]
fn a_recreated_company_has_new_etags() {
    let make = |name: &str| {
        let lines = [company("again"), charge("again", name, 1)];
        assert_eq!(shared_api().ingest.send_lines(&lines).rejected, 0);
    };
    make("old");
    let before = etag(&shared_api().read_for_company("again", "/accounting/api/charges"));
    shared_api().ingest.send_lines(&[change_line("companies", "", "again", "delete")]);
    make("new");
    let response = get_if_none_match("again", "/accounting/api/charges", &before);
    assert_eq!((response.status, &response.json()[0]["correlationId"]), (200, &"new".into()));
}

#[test]
fn etags_differ_between_companies() {
    let api = ApiFixture::new();
    api.ingest.send_lines(&[company("a"), company("b")]);
    let lists = ["a", "b"].map(|id| etag(&api.read_for_company(id, CUSTOMERS)));
    assert_ne!(lists[0], lists[1], "both lists are empty, but they are different lists");
    let feeds = ["a", "b"].map(|id| etag(&api.read_for_company(id, &format!("{CUSTOMERS}/changes"))));
    assert_ne!(feeds[0], feeds[1]);
    let response = api.read_for_company("a", CUSTOMERS);
    let vary = response.header("vary").to_lowercase();
    assert!(
        vary.contains("context") && vary.contains("authorization"),
        "Vary must name both headers: {vary:?}"
    );
}

#[test]
fn etags_differ_between_pages() {
    shared_api().ingest.send_lines(&[company("pages"), charge("pages", "1", 1), charge("pages", "2", 1)]);
    let read = |query: &str| {
        etag(&shared_api().read_for_company("pages", &format!("/accounting/api/charges?{query}")))
    };
    let mut seen =
        ["pageSize=1", "pageSize=2", "pageSize=1&pageNumber=2", "pageSize=1&pageNumber=3"].map(read).to_vec();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 4);
}

#[test]
fn a_new_event_changes_the_feeds_etag() {
    shared_api().ingest.send_lines(&[company("news"), customer("news", "u", "Bar")]);
    let path = format!("{CUSTOMERS}/changes");
    let before = etag(&shared_api().read_for_company("news", &path));
    assert_unchanged(&get_if_none_match("news", &path, &before), &before);
    shared_api().ingest.send_lines(&[customer("news", "v", "Bar")]);
    assert_eq!(get_if_none_match("news", &path, &before).json().as_array().unwrap().len(), 2);
}

#[test]
fn head_returns_the_headers_of_get_and_no_body() {
    shared_api().ingest.send_lines(&[company("head"), customer("head", "u", "Bar")]);
    for path in [CUSTOMERS, "/accounting/api/customers/u", "/accounting/api/customers/changes"] {
        let get = shared_api().read_for_company("head", path);
        let request = || shared_api().request(Method::HEAD, path).header("context", &context("head"));
        let head = request().send();
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
        for name in ["etag", "content-type", "cache-control", "link", "x-pagination", "content-length"] {
            assert_eq!(head.header(name), get.header(name), "{path}: {name}");
        }
        assert_eq!(request().header("if-none-match", get.header("etag")).send().status, 304);
    }
    let refused = shared_api().request(Method::HEAD, CUSTOMERS).send();
    assert_eq!((refused.status, refused.body.len()), (400, 0));
    let without_key =
        shared_api().request(Method::HEAD, CUSTOMERS).header("ocp-apim-subscription-key", "").send();
    assert_eq!(without_key.status, 401);
}

#[test]
fn an_etag_does_not_bypass_authorization() {
    shared_api().ingest.send_lines(&[company("closed")]);
    let etag = etag(&shared_api().read_for_company("closed", CUSTOMERS));
    let request = || shared_api().get_for_company("closed", CUSTOMERS).header("if-none-match", &etag);
    request().header("ocp-apim-subscription-key", "x").send().problem(401);
    request().header("authorization", "Bearer x").send().problem(401);
    request().header("context", "").send().problem(400);
    get_if_none_match("nowhere", CUSTOMERS, "*").problem(404);
    get_if_none_match("closed", "/accounting/api/customers/nobody", "*").problem(404);
}

#[test]
fn lists_carry_the_log_position() {
    let api = ApiFixture::new();
    let position = |path: &str| {
        api.get(path).header("context", &context("c")).send().header("x-sequence-version").to_owned()
    };
    let first = api.read("/accounting/api/companies");
    assert_eq!(first.header("x-sequence-version"), "0", "the log is empty");
    api.ingest.send_lines(&[company("c")]);
    assert_eq!((position("/accounting/api/companies"), position(CUSTOMERS)), ("1".into(), "1".into()));
    api.ingest.send_lines(&[customer("c", "u", "Bar"), line(7, "Bar", "", "")]);
    let head = api.ingest.head().to_string();
    for path in [
        "/accounting/api/companies",
        CUSTOMERS,
        "/payroll/api/companies",
        "/payroll/api/companies?OrderBy=companyCode",
    ] {
        assert_eq!(position(path), head, "{path}: the head of the tenant's log");
        let request = || api.get(path).header("context", &context("c"));
        let again = request().header("if-none-match", &etag(&request().send())).send();
        assert_eq!((again.status, again.header("x-sequence-version")), (304, head.as_str()), "{path}");
    }
}
