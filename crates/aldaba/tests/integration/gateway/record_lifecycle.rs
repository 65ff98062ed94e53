//! Disabled, enabled and deleted records, and the deletion of a company with its records.

use serde_json::{Value, json};

use crate::harness::{ApiFixture, account, change_line, charge, column, company, customer, shared_api};

#[test]
fn a_disabled_record_stays_readable() {
    shared_api().ingest.send_lines(&[company("off"), customer("off", "u", "Bar"), account("off", "a")]);
    for (resource, id) in [("customers", "u"), ("accounts", "a")] {
        let path = format!("/accounting/api/{resource}");
        let read = || shared_api().read_for_company("off", &format!("{path}/{id}")).json();
        let before = read();
        let number = |record: &Value| record["sequenceVersion"].as_str().unwrap().parse::<u64>().unwrap();
        shared_api().ingest.send_lines(&[change_line(resource, "off", id, "disable")]);
        let disabled = read();
        assert_eq!((&before["state"], &disabled["state"]), (&json!("Enabled"), &json!("Disabled")));
        assert!(number(&disabled) > number(&before));
        assert_eq!(
            shared_api().read_for_company("off", &path).json(),
            json!([disabled]),
            "the list includes it"
        );
        shared_api().ingest.send_lines(&[change_line(resource, "off", id, "enable")]);
        let enabled = read();
        assert_eq!(enabled["state"], "Enabled");
        assert!(number(&enabled) > number(&disabled));
    }
}

#[test]
fn an_upsert_does_not_enable_a_disabled_record() {
    shared_api().ingest.send_lines(&[company("still"), customer("still", "u", "Bar")]);
    shared_api().ingest.send_lines(&[
        change_line("customers", "still", "u", "disable"),
        customer("still", "u", "Bar Nuevo"),
    ]);
    let record = shared_api().read_for_company("still", "/accounting/api/customers/u").json();
    assert_eq!((&record["tradeName"], &record["state"]), (&json!("Bar Nuevo"), &json!("Disabled")));
}

#[test]
fn a_disabled_company_can_still_be_read() {
    shared_api().ingest.send_lines(&[company("closing"), customer("closing", "u", "Bar")]);
    shared_api().ingest.send_lines(&[change_line("companies", "", "closing", "disable")]);
    assert_eq!(shared_api().read("/accounting/api/companies/closing").json()["state"], "Disabled");
    assert_eq!(
        column(&shared_api().read_for_company("closing", "/accounting/api/customers"), "correlationId"),
        ["u"]
    );
}

#[test]
fn a_deleted_record_is_not_found() {
    shared_api().ingest.send_lines(&[company("gone"), charge("gone", "1", 1), charge("gone", "2", 2)]);
    shared_api().ingest.send_lines(&[change_line("charges", "gone", "1", "delete")]);
    shared_api().get_for_company("gone", "/accounting/api/charges/1").send().problem(404);
    let list = shared_api().read_for_company("gone", "/accounting/api/charges");
    assert_eq!(column(&list, "correlationId"), ["2"]);
    assert!(list.header("x-pagination").contains("\"totalCount\":1"), "{list:?}");
    let feed = shared_api().read_for_company("gone", "/accounting/api/charges/changes");
    assert_eq!(
        column(&feed, "event"),
        ["Svc.ACC.Charges.ChargeCreated", "Svc.ACC.Charges.ChargeCreated", "Svc.ACC.Charges.ChargeDeleted"]
    );
}

#[test]
fn deleting_a_company_deletes_its_records() {
    let api = ApiFixture::new();
    api.ingest.send_lines(&[
        company("a"),
        company("b"),
        customer("a", "u", "Bar"),
        customer("b", "u", "Casa"),
    ]);
    api.ingest.send_lines(&[change_line("companies", "", "a", "delete")]);
    assert_eq!(column(&api.read("/accounting/api/companies"), "correlationId"), ["b"]);
    api.get("/accounting/api/companies/a").send().problem(404);
    for path in
        ["/accounting/api/customers", "/accounting/api/customers/u", "/accounting/api/customers/changes"]
    {
        api.get_for_company("a", path).send().problem(404);
    }
    assert_eq!(column(&api.read_for_company("b", "/accounting/api/customers"), "tradeName"), ["Casa"]);
    let events = column(&api.read("/accounting/api/companies/changes"), "event");
    assert_eq!(events.last().map(String::as_str), Some("Svc.ACC.Companies.CompanyDeleted"));
}

#[test]
fn a_recreated_company_starts_empty() {
    let api = ApiFixture::new();
    api.ingest.send_lines(&[company("a"), company("b"), charge("a", "1", 1), charge("a", "2", 1)]);
    api.ingest.send_lines(&[change_line("companies", "", "a", "delete"), company("a"), charge("a", "2", 5)]);
    assert_eq!(
        column(&api.read("/accounting/api/companies"), "correlationId"),
        ["b", "a"],
        "it is a new record and comes last"
    );
    let list = api.read_for_company("a", "/accounting/api/charges");
    assert_eq!(
        (column(&list, "correlationId"), &list.json()[0]["amount"]),
        (vec!["2".to_owned()], &json!(5))
    );
    api.get_for_company("a", "/accounting/api/charges/1").send().problem(404);
}

#[test]
fn an_upsert_replaces_the_record_and_fail_changes_nothing() {
    shared_api().ingest.send_lines(&[company("whole")]);
    let line = |data: Value| {
        let mut line = charge("whole", "1", 1);
        line["data"] = data;
        line
    };
    shared_api().ingest.send_lines(&[line(json!({"a": 1, "b": 2})), line(json!({"b": 3}))]);
    let record = shared_api().read_for_company("whole", "/accounting/api/charges/1").json();
    assert_eq!((&record["b"], record.get("a")), (&json!(3), None), "an upsert replaces the whole record");
    shared_api().ingest.send_lines(&[change_line("charges", "whole", "1", "fail")]);
    assert_eq!(
        shared_api().read_for_company("whole", "/accounting/api/charges/1").json(),
        record,
        "a fail event changes no data"
    );
}
