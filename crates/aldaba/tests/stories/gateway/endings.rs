//! Disabled, enabled and deleted records, and what a deleted company takes with it.

use serde_json::{Value, json};

use crate::harness::{Api, account, act, charge, column, company, customer, room};

#[test]
fn a_disabled_record_stays_and_says_so() {
    room().door.send_lines(&[company("off"), customer("off", "u", "Bar"), account("off", "a")]);
    for (resource, id) in [("customers", "u"), ("accounts", "a")] {
        let path = format!("/accounting/api/{resource}");
        let read = || room().read_in("off", &format!("{path}/{id}")).json();
        let before = read();
        let number = |record: &Value| record["sequenceVersion"].as_str().unwrap().parse::<u64>().unwrap();
        room().door.send_lines(&[act(resource, "off", id, "disable")]);
        let disabled = read();
        assert_eq!((&before["state"], &disabled["state"]), (&json!("Enabled"), &json!("Disabled")));
        assert!(number(&disabled) > number(&before));
        assert_eq!(room().read_in("off", &path).json(), json!([disabled]), "and is listed");
        room().door.send_lines(&[act(resource, "off", id, "enable")]);
        let enabled = read();
        assert_eq!(enabled["state"], "Enabled");
        assert!(number(&enabled) > number(&disabled));
    }
}

#[test]
fn an_upsert_does_not_enable() {
    room().door.send_lines(&[company("still"), customer("still", "u", "Bar")]);
    room().door.send_lines(&[act("customers", "still", "u", "disable"), customer("still", "u", "Bar Nuevo")]);
    let one = room().read_in("still", "/accounting/api/customers/u").json();
    assert_eq!((&one["tradeName"], &one["state"]), (&json!("Bar Nuevo"), &json!("Disabled")));
}

#[test]
fn a_disabled_company_can_still_be_read() {
    room().door.send_lines(&[company("closing"), customer("closing", "u", "Bar")]);
    room().door.send_lines(&[act("companies", "", "closing", "disable")]);
    assert_eq!(room().read("/accounting/api/companies/closing").json()["state"], "Disabled");
    assert_eq!(column(&room().read_in("closing", "/accounting/api/customers"), "correlationId"), ["u"]);
}

#[test]
fn a_deleted_record_is_gone() {
    room().door.send_lines(&[company("gone"), charge("gone", "1", 1), charge("gone", "2", 2)]);
    room().door.send_lines(&[act("charges", "gone", "1", "delete")]);
    room().get_in("gone", "/accounting/api/charges/1").send().problem(404);
    let list = room().read_in("gone", "/accounting/api/charges");
    assert_eq!(column(&list, "correlationId"), ["2"]);
    assert!(list.header("x-pagination").contains("\"totalCount\":1"), "{list:?}");
    let feed = room().read_in("gone", "/accounting/api/charges/changes");
    assert_eq!(
        column(&feed, "event"),
        ["Svc.ACC.Charges.ChargeCreated", "Svc.ACC.Charges.ChargeCreated", "Svc.ACC.Charges.ChargeDeleted"]
    );
}

#[test]
fn a_deleted_company_takes_its_records_along() {
    let api = Api::new();
    api.door.send_lines(&[company("a"), company("b"), customer("a", "u", "Bar"), customer("b", "u", "Casa")]);
    api.door.send_lines(&[act("companies", "", "a", "delete")]);
    assert_eq!(column(&api.read("/accounting/api/companies"), "correlationId"), ["b"]);
    api.get("/accounting/api/companies/a").send().problem(404);
    for path in
        ["/accounting/api/customers", "/accounting/api/customers/u", "/accounting/api/customers/changes"]
    {
        api.get_in("a", path).send().problem(404);
    }
    assert_eq!(column(&api.read_in("b", "/accounting/api/customers"), "tradeName"), ["Casa"]);
    let told = column(&api.read("/accounting/api/companies/changes"), "event");
    assert_eq!(told.last().map(String::as_str), Some("Svc.ACC.Companies.CompanyDeleted"));
}

#[test]
fn a_company_that_is_made_again_starts_empty() {
    let api = Api::new();
    api.door.send_lines(&[company("a"), company("b"), charge("a", "1", 1), charge("a", "2", 1)]);
    api.door.send_lines(&[act("companies", "", "a", "delete"), company("a"), charge("a", "2", 5)]);
    assert_eq!(column(&api.read("/accounting/api/companies"), "correlationId"), ["b", "a"], "a new one");
    let list = api.read_in("a", "/accounting/api/charges");
    assert_eq!(
        (column(&list, "correlationId"), &list.json()[0]["amount"]),
        (vec!["2".to_owned()], &json!(5))
    );
    api.get_in("a", "/accounting/api/charges/1").send().problem(404);
}

#[test]
fn a_record_that_changed_its_mind_is_read_as_it_is_now() {
    room().door.send_lines(&[company("whole")]);
    let line = |data: Value| {
        let mut line = charge("whole", "1", 1);
        line["data"] = data;
        line
    };
    room().door.send_lines(&[line(json!({"a": 1, "b": 2})), line(json!({"b": 3}))]);
    let one = room().read_in("whole", "/accounting/api/charges/1").json();
    assert_eq!((&one["b"], one.get("a")), (&json!(3), None), "an upsert is the whole record");
    room().door.send_lines(&[act("charges", "whole", "1", "fail")]);
    assert_eq!(
        room().read_in("whole", "/accounting/api/charges/1").json(),
        one,
        "what failed changed nothing"
    );
}
