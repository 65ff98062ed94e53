//! The pull feed: a resource's events in log order.

use serde_json::{Value, json};

use super::payroll;
use crate::harness::{
    ApiFixture, account, bank, change_line, charge, column, company, customer, decode_form, is_guid, items,
    links, members, shared_api, texts,
};

const CHANGES: &str = "/accounting/api/customers/changes";

fn by(user: &str, mut line: Value) -> Value {
    line["user"] = json!(user);
    line
}

#[test]
fn an_event_has_the_contracts_members() {
    let api = ApiFixture::new();
    api.ingest.send_lines(&[company("c")]);
    let answer = api.ingest.send_lines(&[by("Lucía", customer("c", "u", "Bar"))]);
    let events = items(&api.read_for_company("c", CHANGES));
    assert_eq!(events.len(), 1);
    let event = &events[0];
    assert_eq!(members(event), ["correlationId", "event", "processId", "sequenceVersion", "user", "version"]);
    assert_eq!((&event["sequenceVersion"], &event["correlationId"]), (&json!("2"), &json!("u")));
    assert_eq!(
        (&event["event"], &event["user"]),
        (&json!("Svc.ACC.Customers.CustomerCreated"), &json!("Lucía"))
    );
    assert_eq!(event["processId"], json!(answer.process_id));
    assert!(is_guid(event["processId"].as_str().unwrap()));
    let record = api.read_for_company("c", "/accounting/api/customers/u").json();
    assert_eq!(
        (&event["version"], &event["sequenceVersion"]),
        (&record["version"], &record["sequenceVersion"])
    );
}

#[test]
fn the_feed_returns_every_event_in_order() {
    shared_api().ingest.send_lines(&[company("all-events"), customer("all-events", "u", "Bar")]);
    shared_api().ingest.send_lines(&[
        customer("all-events", "u", "Bar Manolo"),
        customer("all-events", "u", "Bar Manolo"),
        change_line("customers", "all-events", "u", "disable"),
        change_line("customers", "all-events", "u", "enable"),
        change_line("customers", "all-events", "u", "fail"),
        customer("all-events", "v", "Casa"),
        account("all-events", "a"),
    ]);
    let response = shared_api().read_for_company("all-events", CHANGES);
    let kinds = [
        "CustomerCreated",
        "CustomerUpdated",
        "CustomerDisabled",
        "CustomerUpdated",
        "ErrorOccurred",
        "CustomerCreated",
    ];
    assert_eq!(column(&response, "event"), kinds.map(|kind| format!("Svc.ACC.Customers.{kind}")));
    assert_eq!(
        column(&response, "correlationId"),
        ["u", "u", "u", "u", "u", "v"],
        "no events of other resources"
    );
    let numbers: Vec<u64> =
        column(&response, "sequenceVersion").iter().map(|text| text.parse().unwrap()).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
}

#[test]
fn after_returns_only_later_events() {
    let api = ApiFixture::new();
    api.ingest.send_lines(&[
        company("c"),
        customer("c", "a", "x"),
        customer("c", "b", "x"),
        charge("c", "1", 1),
        customer("c", "d", "x"),
    ]);
    let after = |number: &str| {
        column(&api.read_for_company("c", &format!("{CHANGES}?after={number}")), "sequenceVersion")
    };
    assert_eq!(after("0"), ["2", "3", "5"]);
    assert_eq!(after("1"), ["2", "3", "5"]);
    assert_eq!(after("2"), ["3", "5"]);
    assert_eq!(after("4"), ["5"]);
    assert_eq!(after("5"), [] as [&str; 0]);
    assert_eq!(after("9223372036854775807"), [] as [&str; 0]);
    assert_eq!(
        column(&api.read_for_company("c", &format!("{CHANGES}?AFTER=3")), "sequenceVersion"),
        ["5"],
        "the parameter name is case-insensitive"
    );
}

#[test]
fn the_next_link_continues_after_the_last_event() {
    let api = ApiFixture::new();
    let mut lines = vec![company("c")];
    lines.extend((0..23).map(|number| customer("c", &format!("u{number}"), "x")));
    api.ingest.send_lines(&lines);
    for size in [1, 5, 23, 1000] {
        let all = api.read_all_pages("c", &format!("{CHANGES}?pageSize={size}"), 30);
        let expected: Vec<String> = (2..=24).map(|number| number.to_string()).collect();
        assert_eq!(texts(&all, "sequenceVersion"), expected, "{size}");
    }
    let end = api.read_for_company("c", &format!("{CHANGES}?after=24&pageSize=7"));
    let next = links(&end)["next"].clone();
    let params = decode_form(next.split_once('?').unwrap().1);
    assert_eq!((params["after"].as_str(), params["pageSize"].as_str()), ("24", "7"));
    assert!(next.starts_with(CHANGES), "{next}");
    api.ingest.send_lines(&[customer("c", "new", "x")]);
    assert_eq!(
        column(&api.read_for_company("c", &next), "correlationId"),
        ["new"],
        "the same link returns later events"
    );
}

#[test]
fn page_size_and_after_are_validated() {
    let api = ApiFixture::new();
    api.ingest.send_lines(&[company("c")]);
    api.ingest.send_lines(&(0..1001).map(|n| customer("c", &n.to_string(), "x")).collect::<Vec<_>>());
    let count = |query: &str| items(&api.read_for_company("c", &format!("{CHANGES}?{query}"))).len();
    assert_eq!(
        (count("pageSize=1"), count("pageSize=1000"), count("pageSize=1000&after=1001")),
        (1, 1000, 1)
    );
    for path in [CHANGES, "/accounting/api/companies/changes", "/invoicing/api/changes"] {
        for value in ["0", "1001", "-1", "1.5", "abc", "99999999999999999999"] {
            let refused = api.get_for_company("c", &format!("{path}?pageSize={value}")).send();
            assert!(refused.problem(400).contains("pageSize"), "{path} {value}");
        }
        for value in ["-1", "1.5", "abc", "", "99999999999999999999", "0x1", "1%20"] {
            let refused = api.get_for_company("c", &format!("{path}?after={value}")).send();
            assert!(refused.problem(400).contains("after"), "{path} {value}");
            assert_eq!(refused.json()["errors"][0]["field"], "after");
        }
        api.get_for_company("c", &format!("{path}?after=1&After=1")).send().problem(400);
    }
}

#[test]
fn the_feed_is_scoped_to_one_company() {
    shared_api().ingest.send_lines(&[
        company("fa"),
        company("fb"),
        customer("fa", "u", "x"),
        customer("fb", "v", "x"),
    ]);
    assert_eq!(column(&shared_api().read_for_company("fa", CHANGES), "correlationId"), ["u"]);
    assert_eq!(column(&shared_api().read_for_company("fb", CHANGES), "correlationId"), ["v"]);
    shared_api().get(CHANGES).send().problem(400);
    shared_api().get_for_company("nobody", CHANGES).send().problem(404);
}

#[test]
fn the_companies_feed_covers_the_tenant() {
    let api = ApiFixture::new();
    api.ingest.send_lines(&[company("a"), company("b"), customer("a", "u", "x")]);
    api.ingest.send_lines(&[
        change_line("companies", "", "a", "disable"),
        change_line("companies", "", "b", "delete"),
    ]);
    let path = "/accounting/api/companies/changes";
    let response = api.read(path);
    assert_eq!(column(&response, "correlationId"), ["a", "b", "a", "b"]);
    let kinds = ["CompanyCreated", "CompanyCreated", "CompanyUpdated", "CompanyDeleted"];
    assert_eq!(column(&response, "event"), kinds.map(|kind| format!("Svc.ACC.Companies.{kind}")));
    assert_eq!(
        column(&api.read_for_company("a", path), "correlationId"),
        ["a", "a"],
        "with a context, only that company"
    );
}

#[test]
fn the_invoicing_feed_covers_all_entities_of_the_tenant() {
    let api = ApiFixture::new();
    let entity = |name: &str, action: &str, id: &str| {
        let mut line = json!({"area": "invoicing", "resource": name, "action": action, "correlationId": id});
        if action == "upsert" {
            line["data"] = json!({ "name": id });
        }
        line
    };
    let answer = api.ingest.send_lines(&[
        company("c"),
        bank("b", "Caja"),
        payroll::line(1, "Bar", "", ""),
        entity("SaleInvoice", "upsert", "i"),
        bank("b", "Otra"),
        entity("CompanyData", "upsert", "d"),
        customer("c", "u", "Bar"),
        entity("SaleInvoice", "delete", "i"),
    ]);
    assert_eq!(answer.rejected, 0, "{answer:?}");
    let path = "/invoicing/api/changes";
    let response = api.read(path);
    assert_eq!(
        column(&response, "event"),
        ["Bank.Created", "SaleInvoice.Created", "Bank.Updated", "CompanyData.Updated", "SaleInvoice.Deleted"]
    );
    assert_eq!(column(&response, "correlationId"), ["b", "i", "b", "d", "i"]);
    let third = column(&response, "sequenceVersion")[2].clone();
    assert_eq!(column(&api.read(&format!("{path}?after={third}")), "correlationId"), ["d", "i"]);
    let (mut seen, mut next) = (Vec::new(), format!("{path}?pageSize=2"));
    loop {
        let response = api.read(&next);
        if items(&response).is_empty() {
            break;
        }
        seen.extend(column(&response, "sequenceVersion"));
        next.clone_from(&links(&response)["next"]);
    }
    assert_eq!(seen, column(&response, "sequenceVersion"));
}
