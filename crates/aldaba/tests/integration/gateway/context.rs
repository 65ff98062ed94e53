//! The `context` header selects the company of a call.

use serde_json::json;

use crate::harness::{
    ApiFixture, HttpResponse, RawConnection, change_line, column, company, context, customer, shared_api,
};

const CUSTOMERS: &str = "/accounting/api/customers";
/// Company-scoped paths: lists, records, feeds.
const SCOPED: [&str; 5] = [
    CUSTOMERS,
    "/accounting/api/accounts/x",
    "/accounting/api/customers/changes",
    "/accounting-core/api/activities/estimations",
    "/accounting-import/api/integrationFiles",
];

fn with(value: &str, path: &str) -> HttpResponse {
    shared_api().get(path).header("context", value).send()
}

#[test]
fn company_scoped_calls_require_a_context() {
    for path in SCOPED {
        for nothing in ["", "none", "None"] {
            let refused = with(nothing, path);
            assert!(refused.problem(400).contains("context"), "{path}: {refused:?}");
            assert_eq!(refused.json()["errors"][0]["field"], "context");
        }
    }
}

#[test]
fn a_malformed_context_is_refused() {
    shared_api().ingest.send_lines(&[company("ctx")]);
    for path in SCOPED {
        for wrong in [
            "ctx",
            "\"ctx\"",
            "{}",
            "[]",
            "null",
            "{\"clientId\":\"ctx\"",
            "{\"clientId\":7}",
            "{\"clientId\":null}",
            "{\"clientId\":\"\"}",
            "{\"ClientID\":\"ctx\"}",
            "{\"clientId\":[\"ctx\"]}",
            "{'clientId':'ctx'}",
        ] {
            let refused = with(wrong, path);
            assert!(refused.problem(400).contains("context"), "{path} {wrong}: {refused:?}");
        }
    }
}

#[test]
fn a_guid_is_found_in_any_case() {
    let api = ApiFixture::new();
    let lower = "3f2a9c1e-5b7d-4e8f-9a0b-1c2d3e4f5a6b";
    let upper = "4F2A9C1E-5B7D-4E8F-9A0B-1C2D3E4F5A6B";
    api.ingest.send_lines(&[
        company(lower),
        company(upper),
        customer(lower, upper, "Ana"),
        customer(upper, lower, "Eva"),
    ]);
    for (company, record, name) in [(lower, upper, "Ana"), (upper, lower, "Eva")] {
        for spell in [str::to_ascii_lowercase, str::to_ascii_uppercase] {
            let (company, id) = (spell(company), spell(record));
            let found = api.read_for_company(&company, &format!("{CUSTOMERS}/{id}")).json();
            assert_eq!((&found["tradeName"], &found["correlationId"]), (&json!(name), &json!(record)));
            assert_eq!(column(&api.read_for_company(&company, CUSTOMERS), "tradeName"), [name]);
            let feed = api.read_for_company(&company, &format!("{CUSTOMERS}/changes"));
            assert_eq!(column(&feed, "correlationId"), [record]);
            let path = format!("/accounting/api/companies/{company}");
            assert_eq!(api.read(&path).json()["accountLength"], 9);
            let own = company.to_ascii_lowercase();
            assert_eq!(api.read_for_company(&own, &path).json()["accountLength"], 9, "its own context");
        }
    }
    for missing in ["5f2a9c1e-5b7d-4e8f-9a0b-1c2d3e4f5a6b", "ANA", "ana"] {
        api.get_for_company(missing, CUSTOMERS).send().problem(404);
        api.get_for_company(lower, &format!("{CUSTOMERS}/{missing}")).send().problem(404);
    }
}

#[test]
fn unknown_foreign_and_deleted_companies_get_the_same_404() {
    let other = ApiFixture::new();
    other.ingest.send_lines(&[company("foreign"), customer("foreign", "x", "Bar")]);
    shared_api().ingest.send_lines(&[company("deleted"), customer("deleted", "x", "Bar")]);
    shared_api().ingest.send_lines(&[change_line("companies", "", "deleted", "delete")]);
    for path in SCOPED {
        let bodies = ["nobody", "foreign", "deleted"].map(|id| {
            let refused = shared_api().get_for_company(id, path).header("x-request-id", "same").send();
            assert_eq!(
                refused.problem(404),
                "There is no such company. Take an id from the list of companies.",
                "{path}"
            );
            refused.body
        });
        assert!(bodies[0] == bodies[1] && bodies[0] == bodies[2], "{path}: {bodies:?}");
    }
    other.read_for_company("foreign", CUSTOMERS);
}

#[test]
fn white_space_and_escapes_in_the_json_are_accepted() {
    shared_api().ingest.send_lines(&[company("space"), customer("space", "u", "Bar")]);
    for text in [
        "{ \"clientId\" : \"space\" }",
        "{\"clientId\":\t\"space\"}",
        "  {\"clientId\":\"space\"}  ",
        "{\"client\\u0049d\":\"space\"}",
    ] {
        assert_eq!(column(&with(text, CUSTOMERS), "correlationId"), ["u"], "{text}");
    }
}

#[test]
fn company_ids_may_be_any_text() {
    for id in ["Panadería Ñandú", "a/b?c=d&e", "100 %", "\"quoted\\\"", "😀", "{\"clientId\":\"x\"}", "none "]
    {
        shared_api().ingest.send_lines(&[company(id), customer(id, "u", id)]);
        let response = shared_api().read_for_company(id, CUSTOMERS);
        assert_eq!(column(&response, "tradeName"), [id]);
        assert_eq!(shared_api().read_for_company(id, "/accounting/api/customers/u").json()["tradeName"], id);
    }
}

#[test]
fn raw_utf8_in_the_header_is_accepted() {
    shared_api().ingest.send_lines(&[company("ñandú"), customer("ñandú", "u", "Bar")]);
    let head = format!(
        "GET {CUSTOMERS} HTTP/1.1\r\nauthorization: Bearer {}\r\nocp-apim-subscription-key: {}\r\ncontext: {}\r\n",
        shared_api().token,
        shared_api().key,
        json!({"clientId": "ñandú"}),
    );
    let response = RawConnection::open(&shared_api().url(""), &head).response().unwrap();
    assert_eq!(column(&response, "correlationId"), ["u"]);
}

#[test]
fn company_routes_accept_no_context_or_their_own_company() {
    shared_api().ingest.send_lines(&[company("own"), company("other")]);
    for path in
        ["/accounting/api/companies", "/accounting/api/companies/own", "/accounting/api/companies/changes"]
    {
        for value in ["", "none", &context("own")] {
            assert_eq!(with(value, path).status, 200, "{path} {value}");
        }
        assert!(with("own", path).problem(400).contains("context"));
        with("{}", path).problem(400);
    }
    for value in [context("other"), context("nobody")] {
        let status = with(&value, "/accounting/api/companies/own").status;
        assert!([400, 404].contains(&status), "the context names another company than the path: {status}");
    }
    with(&context("nobody"), "/accounting/api/companies").problem(404);
}

#[test]
fn a_repeated_context_header_is_refused() {
    shared_api().ingest.send_lines(&[company("twice")]);
    let line = format!("context: {}\r\n", context("twice"));
    let head = format!(
        "GET {CUSTOMERS} HTTP/1.1\r\nauthorization: Bearer {}\r\nocp-apim-subscription-key: {}\r\n{line}{line}",
        shared_api().token,
        shared_api().key,
    );
    RawConnection::open(&shared_api().url(""), &head).response().unwrap().problem(400);
}

#[test]
fn each_company_has_its_own_records() {
    shared_api().ingest.send_lines(&[
        company("left"),
        company("right"),
        customer("left", "same", "Izquierda"),
        customer("right", "same", "Derecha"),
        customer("right", "only", "Derecha"),
    ]);
    assert_eq!(column(&shared_api().read_for_company("left", CUSTOMERS), "tradeName"), ["Izquierda"]);
    assert_eq!(column(&shared_api().read_for_company("right", CUSTOMERS), "correlationId"), ["same", "only"]);
    let one = |company: &str| shared_api().read_for_company(company, "/accounting/api/customers/same").json();
    assert_eq!(
        (&one("left")["tradeName"], &one("right")["tradeName"]),
        (&"Izquierda".into(), &"Derecha".into())
    );
    shared_api().get_for_company("left", "/accounting/api/customers/only").send().problem(404);
}
