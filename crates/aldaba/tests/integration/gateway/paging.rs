//! Paging: the page parameters, `X-Pagination` and the links between pages.

use serde_json::{Value, json};

use crate::harness::{
    ApiFixture, BASE_URL, HttpResponse, change_line, charge, column, company, customer, decode_form, items,
    links, shared_api, texts,
};

const CUSTOMERS: &str = "/accounting/api/customers";
const CHARGES: &str = "/accounting/api/charges";

/// Creates a company with `count` charges, numbered from 1.
fn create_charges(name: &str, count: u64) {
    let mut lines = vec![company(name)];
    lines.extend((1..=count).map(|number| charge(name, &number.to_string(), number)));
    assert_eq!(shared_api().ingest.send_lines(&lines).rejected, 0);
}

fn pagination(response: &HttpResponse) -> Value {
    serde_json::from_str(response.header("x-pagination"))
        .unwrap_or_else(|error| panic!("{error}: {response:?}"))
}

fn numbers(range: std::ops::RangeInclusive<u64>) -> Vec<String> {
    range.map(|number| number.to_string()).collect()
}

#[test]
fn the_default_page_size_is_25() {
    create_charges("default", 30);
    let response = shared_api().read_for_company("default", CHARGES);
    assert_eq!(column(&response, "correlationId"), numbers(1..=25));
    assert_eq!(
        pagination(&response),
        json!({"totalCount": 30, "pageSize": 25, "currentPage": 1, "totalPages": 2})
    );
    let second = shared_api().read_for_company("default", &format!("{CHARGES}?pageNumber=2"));
    assert_eq!(column(&second, "correlationId"), numbers(26..=30));
    assert_eq!(
        pagination(&second),
        json!({"totalCount": 30, "pageSize": 25, "currentPage": 2, "totalPages": 2})
    );
}

#[test]
fn page_size_goes_from_1_to_1000() {
    create_charges("bounds", 1001);
    let page = |query: &str| shared_api().read_for_company("bounds", &format!("{CHARGES}?{query}"));
    assert_eq!(column(&page("pageSize=1"), "correlationId"), ["1"]);
    assert_eq!(column(&page("pageSize=1000"), "correlationId"), numbers(1..=1000));
    assert_eq!(column(&page("pageSize=1000&pageNumber=2"), "correlationId"), ["1001"]);
    assert_eq!(column(&page("pageSize=1&pageNumber=1001"), "correlationId"), ["1001"]);
    assert_eq!(column(&page("pageSize=7&pageNumber=143"), "correlationId"), numbers(995..=1001));
    assert_eq!(pagination(&page("pageSize=7"))["totalPages"], 143);
}

#[test]
fn empty_parameters_count_as_absent() {
    create_charges("empties", 30);
    let plain = shared_api().read_for_company("empties", CHARGES);
    let empty = shared_api().read_for_company("empties", &format!("{CHARGES}?pageNumber=&pagesize="));
    assert_eq!((empty.text(), pagination(&empty)), (plain.text(), pagination(&plain)));
    assert_eq!(empty.headers["link"], plain.headers["link"]);
    let feed = shared_api().read_for_company("empties", &format!("{CHARGES}/changes?pageSize="));
    assert_eq!(items(&feed).len(), 30);
    shared_api().get_for_company("empties", &format!("{CHARGES}/changes?after=")).send().problem(400);
    let payroll = shared_api().read("/payroll/api/companies");
    let empty = shared_api().read("/payroll/api/companies?filter=&OrderBy=&pageNumber=&pageSize=");
    assert_eq!((empty.text(), pagination(&empty)), (payroll.text(), pagination(&payroll)));
}

#[test]
fn invalid_page_parameters_are_refused_by_name() {
    create_charges("wrong", 1);
    let huge = "9".repeat(40);
    for name in ["pageNumber", "pageSize"] {
        for value in [
            "0",
            "-1",
            "1.5",
            "abc",
            "+1",
            "1e3",
            "0x1",
            "%201",
            "1%00",
            "18446744073709551616",
            &huge,
            "%D9%A1",
        ] {
            for path in [CHARGES, "/accounting/api/companies", "/payroll/api/companies"] {
                let query = format!("{path}?{name}={value}");
                let refused = shared_api().get_for_company("wrong", &query).send();
                assert_eq!(refused.status, 400, "{query}");
                assert!(refused.problem(400).contains(name), "{query}: {refused:?}");
                assert_eq!(refused.json()["errors"][0]["field"], name);
            }
        }
        let twice = shared_api()
            .get_for_company("wrong", &format!("{CHARGES}?{name}=1&{}=1", name.to_lowercase()))
            .send();
        assert!(twice.problem(400).contains(name));
    }
    let over = shared_api().get_for_company("wrong", &format!("{CHARGES}?pageSize=1001")).send();
    assert!(over.problem(400).contains("pageSize"));
}

#[test]
fn parameter_names_are_case_insensitive_and_unknown_ones_ignored() {
    create_charges("case", 5);
    for query in [
        "pageNumber=2&pageSize=2",
        "PAGENUMBER=2&pagesize=2",
        "PageNumber=2&PageSize=2&x=1&page=9",
        "page%4eumber=2&pageSize=02",
    ] {
        let response = shared_api().read_for_company("case", &format!("{CHARGES}?{query}"));
        assert_eq!(column(&response, "correlationId"), ["3", "4"], "{query}");
    }
}

#[test]
fn a_parameter_after_many_others_is_still_read() {
    create_charges("far", 3);
    let many = "x=1&".repeat(200);
    let response = shared_api().get_for_company("far", &format!("{CHARGES}?{many}pageSize=2")).send();
    let is_read = response.status == 400 || column(&response, "correlationId").len() == 2;
    assert!(is_read, "applied or refused, never ignored: {response:?}");
    let refused = shared_api().get(&format!("/payroll/api/companies?{many}filter=nonsense")).send();
    refused.problem(400);
}

#[test]
fn links_lead_to_the_other_pages() {
    create_charges("links", 5);
    let relations = |query: &str| {
        let response = shared_api().read_for_company("links", &format!("{CHARGES}?{query}"));
        let page = |(relation, path): (String, String)| {
            let params = decode_form(path.split_once('?').unwrap().1);
            assert!(path.starts_with(&format!("{CHARGES}?")), "{path}");
            assert_eq!(params["pageSize"], "2");
            format!("{relation} {}", params["pageNumber"])
        };
        links(&response).into_iter().map(page).collect::<Vec<_>>()
    };
    assert_eq!(relations("pageSize=2"), ["first 1", "last 3", "next 2"]);
    assert_eq!(relations("pageSize=2&pageNumber=2"), ["first 1", "last 3", "next 3", "prev 1"]);
    assert_eq!(relations("pageSize=2&pageNumber=3"), ["first 1", "last 3", "prev 2"]);
    assert_eq!(
        relations("pageSize=2&pageNumber=9"),
        ["first 1", "last 3", "prev 3"],
        "prev leads to the last page with items"
    );
}

#[test]
fn links_start_at_the_base_url_and_keep_the_query() {
    let response = shared_api()
        .read("/payroll/api/companies?filter=companyName%20ne%20'a%26b'&ORDERBY=companyName&pagesize=3");
    assert!(
        response.header("link").starts_with(&format!("<{BASE_URL}/payroll/api/companies?")),
        "{response:?}"
    );
    let first = decode_form(links(&response)["first"].split_once('?').unwrap().1);
    assert_eq!(
        (first["filter"].as_str(), first["ORDERBY"].as_str()),
        ("companyName ne 'a&b'", "companyName")
    );
    assert_eq!((first["pageNumber"].as_str(), first["pageSize"].as_str()), ("1", "3"));
    assert_eq!(first.len(), 4, "{first:?}");
}

#[test]
fn following_next_returns_every_record_once() {
    create_charges("walk", 57);
    for size in [1, 7, 19, 57, 58] {
        let all = shared_api().read_all_pages("walk", &format!("{CHARGES}?pageSize={size}"), 60);
        assert_eq!(texts(&all, "correlationId"), numbers(1..=57), "{size}");
    }
    let mut back = Vec::new();
    let mut path = format!("{CHARGES}?pageSize=10&pageNumber=6");
    loop {
        let response = shared_api().read_for_company("walk", &path);
        back.push(column(&response, "correlationId").len());
        match links(&response).remove("prev") {
            Some(prev) => path = prev,
            None => break,
        }
    }
    assert_eq!(back, [7, 10, 10, 10, 10, 10]);
}

#[test]
fn a_page_past_the_end_is_empty() {
    create_charges("end", 3);
    for query in ["pageNumber=2", "pageNumber=4&pageSize=1", "pageNumber=1000000&pageSize=1000"] {
        let response = shared_api().read_for_company("end", &format!("{CHARGES}?{query}"));
        assert_eq!((response.text(), &pagination(&response)["totalCount"]), ("[]", &json!(3)), "{query}");
        assert!(!links(&response).contains_key("next"), "{query}");
    }
    shared_api().ingest.send_lines(&[company("nothing")]);
    let empty = shared_api().read_for_company("nothing", CHARGES);
    assert_eq!(empty.text(), "[]");
    assert_eq!(
        pagination(&empty),
        json!({"totalCount": 0, "pageSize": 25, "currentPage": 1, "totalPages": 0})
    );
    assert!(!links(&empty).contains_key("next") && !links(&empty).contains_key("prev"));
}

#[test]
fn records_are_listed_in_order_of_creation() {
    let mut lines = vec![company("order")];
    lines.extend(["z", "a", "m", "B", "ñ"].map(|id| customer("order", id, id)));
    shared_api().ingest.send_lines(&lines);
    let ids = || column(&shared_api().read_for_company("order", CUSTOMERS), "correlationId");
    assert_eq!(ids(), ["z", "a", "m", "B", "ñ"]);
    shared_api()
        .ingest
        .send_lines(&[customer("order", "a", "otro"), change_line("customers", "order", "z", "disable")]);
    shared_api().ingest.send_lines(&[customer("order", "0", "nuevo"), customer("order", "m", "otro")]);
    assert_eq!(ids(), ["z", "a", "m", "B", "ñ", "0"]);
    assert_eq!(
        shared_api().read_for_company("order", &format!("{CUSTOMERS}?pageSize=1&pageNumber=3")).json()[0]["tradeName"],
        "otro"
    );
}

#[test]
fn deleted_records_leave_no_gaps_in_pages() {
    create_charges("holes", 40);
    let deletions: Vec<Value> = (1..=40)
        .filter(|n| n % 3 == 0)
        .map(|n| change_line("charges", "holes", &n.to_string(), "delete"))
        .collect();
    shared_api().ingest.send_lines(&deletions);
    let left: Vec<String> = (1..=40).filter(|n| n % 3 != 0).map(|n: u64| n.to_string()).collect();
    assert_eq!(
        texts(&shared_api().read_all_pages("holes", &format!("{CHARGES}?pageSize=4"), 10), "correlationId"),
        left
    );
    let response = shared_api().read_for_company("holes", &format!("{CHARGES}?pageSize=4&pageNumber=7"));
    assert_eq!(column(&response, "correlationId"), left[24..]);
    assert_eq!(
        (&pagination(&response)["totalCount"], &pagination(&response)["totalPages"]),
        (&json!(27), &json!(7))
    );
    shared_api().ingest.send_lines(&[charge("holes", "3", 3)]);
    let last = texts(&shared_api().read_all_pages("holes", CHARGES, 10), "correlationId").pop();
    assert_eq!(last.as_deref(), Some("3"), "a recreated record comes last");
}

#[test]
fn companies_are_paged_too() {
    let api = ApiFixture::new();
    api.ingest.send_lines(&(1..=12).map(|n| company(&n.to_string())).collect::<Vec<_>>());
    let response = api.read("/accounting/api/companies?pageSize=5&pageNumber=3");
    assert_eq!(column(&response, "correlationId"), ["11", "12"]);
    assert_eq!(
        pagination(&response),
        json!({"totalCount": 12, "pageSize": 5, "currentPage": 3, "totalPages": 3})
    );
    let mut seen = Vec::new();
    let mut path = "/accounting/api/companies?pageSize=5".to_owned();
    loop {
        let response = api.read(&path);
        seen.extend(texts(&items(&response), "correlationId"));
        match links(&response).remove("next") {
            Some(next) => path = next,
            None => break,
        }
    }
    assert_eq!(seen, numbers(1..=12));
}
