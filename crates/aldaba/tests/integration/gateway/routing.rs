//! Routing: unknown paths and methods are refused before authorization, with the common error body.

use hyper::Method;

use crate::harness::{HttpRequest, company, customer, is_guid, shared_api, unlimited_server};

#[test]
fn an_unknown_path_is_404_before_authorization() {
    for path in [
        "/accounting",
        "/accounting/api",
        "/accounting/api/",
        "/accounting/api/nothing",
        "/accounting/api/Customers",
        "/accounting/api/persons",
        "/accounting-core/api/customers",
        "/accounting/api/customers/a/b",
        "/accounting/api//customers",
        "/payroll/api/companies/1",
        "/payroll/api/companies/changes",
        "/payroll/api/employees",
        "/invoicing/api/customers",
        "/accounting/api/customers/../customers",
    ] {
        let nothing = HttpRequest::get(&shared_api().url(path)).send();
        assert_eq!(nothing.status, 404, "{path}");
        assert_eq!(nothing.problem(404), "There is nothing at this address.", "{path}");
    }
}

#[test]
fn a_wrong_method_is_405_before_authorization() {
    for path in [
        "/accounting/api/companies",
        "/accounting/api/customers",
        "/accounting/api/customers/",
        "/accounting/api/customers/x",
        "/accounting-core/api/activities/prorates/changes",
        "/payroll/api/companies",
        "/invoicing/api/changes",
    ] {
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let wrong = HttpRequest::new(method, &shared_api().url(path)).send();
            assert_eq!(wrong.problem(405), "This address does not take this method.", "{path}");
            assert_eq!(wrong.header("allow"), "GET,HEAD", "{path}");
        }
    }
}

#[test]
fn a_trailing_slash_is_accepted() {
    shared_api().ingest.send_lines(&[company("slash"), customer("slash", "u", "Bar")]);
    for path in
        ["/accounting/api/companies/slash", "/accounting/api/customers/u", "/accounting/api/customers"]
    {
        let plain = shared_api().read_for_company("slash", path);
        let slashed = shared_api().read_for_company("slash", &format!("{path}/"));
        assert_eq!(plain.body, slashed.body, "{path}");
    }
    let changes = shared_api().read_for_company("slash", "/accounting/api/customers/changes/").json();
    assert_eq!(changes[0]["correlationId"], "u");
    for path in ["/accounting/api/companies/", "/payroll/api/companies/", "/invoicing/api/changes/"] {
        shared_api().read(path).json();
    }
}

#[test]
fn every_response_carries_its_own_request_id() {
    let mut seen = Vec::new();
    for path in
        ["/accounting/api/companies", "/accounting/api/customers", "/payroll/api/companies?pageSize=0"]
    {
        for response in [shared_api().get(path).send(), HttpRequest::get(&shared_api().url(path)).send()] {
            let id = response.header("x-request-id").to_owned();
            assert!(is_guid(&id), "{path}: {response:?}");
            seen.push(id);
        }
    }
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), count, "request ids are unique");
}

#[test]
fn a_callers_request_id_is_returned() {
    let response = shared_api().get("/accounting/api/companies").header("x-request-id", "mine-7").send();
    assert_eq!((response.status, response.header("x-request-id")), (200, "mine-7"));
    let refused = shared_api().get("/accounting/api/customers").header("x-request-id", "mine-8").send();
    refused.problem(400);
    assert_eq!(refused.header("x-request-id"), "mine-8");
}

#[test]
fn the_operator_listener_does_not_serve_the_read_apis() {
    let path = "/accounting/api/companies";
    HttpRequest::get(&format!("{}{path}", unlimited_server().operator_url)).send().problem(404);
    HttpRequest::get(&shared_api().url(path)).send().problem(401);
}

#[test]
fn http_2_is_accepted() {
    shared_api().ingest.send_lines(&[company("h2")]);
    let response = shared_api().get("/accounting/api/companies/h2").http2().send();
    assert_eq!((response.status, &response.json()["correlationId"]), (200, &"h2".into()));
    HttpRequest::get(&shared_api().url("/accounting/api/companies")).http2().send().problem(401);
}

#[test]
fn long_responses_are_compressed_by_accept_encoding() {
    let customers: Vec<_> = (0..100).map(|n| customer("zip", &format!("u{n}"), "Bar Manolo")).collect();
    shared_api().ingest.send_lines(&[company("zip")]);
    shared_api().ingest.send_lines(&customers);
    let path = "/accounting/api/customers?pageSize=100";
    let plain = shared_api().read_for_company("zip", path);
    assert_eq!(plain.header("content-encoding"), "");
    for encoding in ["gzip", "br"] {
        let response = shared_api().get_for_company("zip", path).header("accept-encoding", encoding).send();
        assert_eq!((response.status, response.header("content-encoding")), (200, encoding));
        assert!(response.body.len() * 2 < plain.body.len(), "{encoding}: {}", response.body.len());
        assert!(response.header("vary").to_lowercase().contains("accept-encoding"), "{response:?}");
        assert_eq!(
            response.header("etag"),
            plain.header("etag"),
            "the weak etag is the same for every encoding"
        );
    }
}
