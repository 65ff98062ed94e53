//! The pull feed: the log of a resource, number by number.

use serde_json::{Value, json};

use super::payroll;
use crate::harness::{
    Api, account, act, bank, charge, column, company, customer, decoded, is_guid, items, links, members,
    room, texts,
};

const CHANGES: &str = "/accounting/api/customers/changes";

fn by(user: &str, mut line: Value) -> Value {
    line["user"] = json!(user);
    line
}

#[test]
fn a_change_as_a_reader_gets_it() {
    let api = Api::new();
    api.door.send_lines(&[company("c")]);
    let answer = api.door.send_lines(&[by("Lucía", customer("c", "u", "Bar"))]);
    let told = items(&api.read_in("c", CHANGES));
    assert_eq!(told.len(), 1);
    let one = &told[0];
    assert_eq!(members(one), ["correlationId", "event", "processId", "sequenceVersion", "user", "version"]);
    assert_eq!((&one["sequenceVersion"], &one["correlationId"]), (&json!("2"), &json!("u")));
    assert_eq!((&one["event"], &one["user"]), (&json!("Svc.ACC.Customers.CustomerCreated"), &json!("Lucía")));
    assert_eq!(one["processId"], json!(answer.process_id));
    assert!(is_guid(one["processId"].as_str().unwrap()));
    let record = api.read_in("c", "/accounting/api/customers/u").json();
    assert_eq!((&one["version"], &one["sequenceVersion"]), (&record["version"], &record["sequenceVersion"]));
}

#[test]
fn everything_that_happens_is_told_in_order() {
    room().door.send_lines(&[company("told"), customer("told", "u", "Bar")]);
    room().door.send_lines(&[
        customer("told", "u", "Bar Manolo"),
        customer("told", "u", "Bar Manolo"),
        act("customers", "told", "u", "disable"),
        act("customers", "told", "u", "enable"),
        act("customers", "told", "u", "fail"),
        customer("told", "v", "Casa"),
        account("told", "a"),
    ]);
    let reply = room().read_in("told", CHANGES);
    let kinds = [
        "CustomerCreated",
        "CustomerUpdated",
        "CustomerDisabled",
        "CustomerUpdated",
        "ErrorOccurred",
        "CustomerCreated",
    ];
    assert_eq!(column(&reply, "event"), kinds.map(|kind| format!("Svc.ACC.Customers.{kind}")));
    assert_eq!(column(&reply, "correlationId"), ["u", "u", "u", "u", "u", "v"], "and no other resource's");
    let numbers: Vec<u64> =
        column(&reply, "sequenceVersion").iter().map(|text| text.parse().unwrap()).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
}

#[test]
fn after_is_where_it_goes_on() {
    let api = Api::new();
    api.door.send_lines(&[
        company("c"),
        customer("c", "a", "x"),
        customer("c", "b", "x"),
        charge("c", "1", 1),
        customer("c", "d", "x"),
    ]);
    let after =
        |number: &str| column(&api.read_in("c", &format!("{CHANGES}?after={number}")), "sequenceVersion");
    assert_eq!(after("0"), ["2", "3", "5"]);
    assert_eq!(after("1"), ["2", "3", "5"]);
    assert_eq!(after("2"), ["3", "5"]);
    assert_eq!(after("4"), ["5"]);
    assert_eq!(after("5"), [] as [&str; 0]);
    assert_eq!(after("9223372036854775807"), [] as [&str; 0]);
    assert_eq!(
        column(&api.read_in("c", &format!("{CHANGES}?AFTER=3")), "sequenceVersion"),
        ["5"],
        "in any case"
    );
}

#[test]
fn next_goes_on_behind_the_last_and_waits_there() {
    let api = Api::new();
    let mut lines = vec![company("c")];
    lines.extend((0..23).map(|number| customer("c", &format!("u{number}"), "x")));
    api.door.send_lines(&lines);
    for size in [1, 5, 23, 1000] {
        let all = api.walk("c", &format!("{CHANGES}?pageSize={size}"), 30);
        let expected: Vec<String> = (2..=24).map(|number| number.to_string()).collect();
        assert_eq!(texts(&all, "sequenceVersion"), expected, "{size}");
    }
    let end = api.read_in("c", &format!("{CHANGES}?after=24&pageSize=7"));
    let next = links(&end)["next"].clone();
    let params = decoded(next.split_once('?').unwrap().1);
    assert_eq!((params["after"].as_str(), params["pageSize"].as_str()), ("24", "7"));
    assert!(next.starts_with(CHANGES), "{next}");
    api.door.send_lines(&[customer("c", "new", "x")]);
    assert_eq!(column(&api.read_in("c", &next), "correlationId"), ["new"], "the same link, later");
}

#[test]
fn page_sizes_have_bounds() {
    let api = Api::new();
    api.door.send_lines(&[company("c")]);
    api.door.send_lines(&(0..1001).map(|n| customer("c", &n.to_string(), "x")).collect::<Vec<_>>());
    let count = |query: &str| items(&api.read_in("c", &format!("{CHANGES}?{query}"))).len();
    assert_eq!(
        (count("pageSize=1"), count("pageSize=1000"), count("pageSize=1000&after=1001")),
        (1, 1000, 1)
    );
    for path in [CHANGES, "/accounting/api/companies/changes", "/invoicing/api/changes"] {
        for value in ["0", "1001", "-1", "1.5", "abc", "", "99999999999999999999"] {
            let refused = api.get_in("c", &format!("{path}?pageSize={value}")).send();
            assert!(refused.problem(400).contains("pageSize"), "{path} {value}");
        }
        for value in ["-1", "1.5", "abc", "", "99999999999999999999", "0x1", "1%20"] {
            let refused = api.get_in("c", &format!("{path}?after={value}")).send();
            assert!(refused.problem(400).contains("after"), "{path} {value}");
            assert_eq!(refused.json()["errors"][0]["field"], "after");
        }
        api.get_in("c", &format!("{path}?after=1&After=1")).send().problem(400);
    }
}

#[test]
fn a_feed_is_of_one_company() {
    room().door.send_lines(&[
        company("fa"),
        company("fb"),
        customer("fa", "u", "x"),
        customer("fb", "v", "x"),
    ]);
    assert_eq!(column(&room().read_in("fa", CHANGES), "correlationId"), ["u"]);
    assert_eq!(column(&room().read_in("fb", CHANGES), "correlationId"), ["v"]);
    room().get(CHANGES).send().problem(400);
    room().get_in("nobody", CHANGES).send().problem(404);
}

#[test]
fn the_companies_feed_is_the_tenants() {
    let api = Api::new();
    api.door.send_lines(&[company("a"), company("b"), customer("a", "u", "x")]);
    api.door.send_lines(&[act("companies", "", "a", "disable"), act("companies", "", "b", "delete")]);
    let path = "/accounting/api/companies/changes";
    let reply = api.read(path);
    assert_eq!(column(&reply, "correlationId"), ["a", "b", "a", "b"]);
    let kinds = ["CompanyCreated", "CompanyCreated", "CompanyUpdated", "CompanyDeleted"];
    assert_eq!(column(&reply, "event"), kinds.map(|kind| format!("Svc.ACC.Companies.{kind}")));
    assert_eq!(column(&api.read_in("a", path), "correlationId"), ["a", "a"], "or of its own");
}

#[test]
fn the_invoicing_feed_is_of_all_entities_of_the_tenant() {
    let api = Api::new();
    let entity = |name: &str, action: &str, id: &str| {
        let mut line = json!({"area": "invoicing", "resource": name, "action": action, "correlationId": id});
        if action == "upsert" {
            line["data"] = json!({ "name": id });
        }
        line
    };
    let answer = api.door.send_lines(&[
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
    let reply = api.read(path);
    assert_eq!(
        column(&reply, "event"),
        ["Bank.Created", "SaleInvoice.Created", "Bank.Updated", "CompanyData.Updated", "SaleInvoice.Deleted"]
    );
    assert_eq!(column(&reply, "correlationId"), ["b", "i", "b", "d", "i"]);
    let third = column(&reply, "sequenceVersion")[2].clone();
    assert_eq!(column(&api.read(&format!("{path}?after={third}")), "correlationId"), ["d", "i"]);
    let (mut seen, mut next) = (Vec::new(), format!("{path}?pageSize=2"));
    loop {
        let reply = api.read(&next);
        if items(&reply).is_empty() {
            break;
        }
        seen.extend(column(&reply, "sequenceVersion"));
        next.clone_from(&links(&reply)["next"]);
    }
    assert_eq!(seen, column(&reply, "sequenceVersion"));
}
