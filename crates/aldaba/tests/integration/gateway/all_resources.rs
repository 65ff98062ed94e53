//! All nineteen prefixes of the accounting family serve a list, a record by id, and a feed.

use domain::Resource;
use domain::catalogue::Owner;
use serde_json::{Value, json};

use crate::harness::{ApiFixture, column, company, items, segment, shared_api};

/// A valid upsert line for any resource.
fn record(resource: Resource, owner: &str, id: &str) -> Value {
    let data = match resource.as_str() {
        "companies" => return company(id),
        "customers" => {
            json!({"tradeName": "Bar", "accountCode": "430000001", "accountCodeCorrelationId": "a"})
        }
        "accounts" => json!({"code": "430000001", "description": "Bar"}),
        other => json!({ "name": other }),
    };
    json!({
        "area": resource.area().as_str(), "resource": resource.as_str(), "company": owner, "action": "upsert",
        "correlationId": id, "data": data
    })
}

/// The contract's table.
const PREFIXES: [&str; 19] = [
    "/accounting/api/accounts",
    "/accounting/api/charges",
    "/accounting/api/payments",
    "/accounting/api/customers",
    "/accounting/api/suppliers",
    "/accounting/api/inputInvoices",
    "/accounting/api/issuedInvoices",
    "/accounting/api/journals",
    "/accounting/api/companies",
    "/accounting/api/accountingYears",
    "/accounting-core/api/persons",
    "/accounting-core/api/corporateLegalEntities",
    "/accounting-core/api/individualLegalEntities",
    "/accounting-core/api/activities",
    "/accounting-core/api/activities/estimations",
    "/accounting-core/api/legalEntityLicences",
    "/accounting-core/api/activities/prorates",
    "/accounting-core/api/incomeAllocationLegalEntities",
    "/accounting-import/api/integrationFiles",
];

#[test]
fn every_prefix_serves_list_record_and_feed() {
    let api = ApiFixture::new();
    api.ingest.send_lines(&[company("c")]);
    let lines: Vec<Value> = Resource::accounting_family()
        .enumerate()
        .flat_map(|(number, resource)| ["x", "y"].map(|id| record(resource, "c", &format!("{id}{number}"))))
        .collect();
    let answer = api.ingest.send_lines(&lines);
    assert_eq!(answer.counts(), (38, 0), "{answer:?}");
    for (number, (resource, path)) in Resource::accounting_family().zip(PREFIXES).enumerate() {
        assert_eq!(resource.path(), path);
        let (x, y) = (format!("x{number}"), format!("y{number}"));
        let is_companies = resource.owner() == Owner::Tenant;
        let read = |path: &str| if is_companies { api.read(path) } else { api.read_for_company("c", path) };
        let list = read(path);
        let mut ids = column(&list, "correlationId");
        ids.retain(|id| id != "c");
        assert_eq!(ids, [x.as_str(), &y], "{path}: only this resource's records");
        let one = read(&format!("{path}/{y}")).json();
        assert_eq!(Some(&one), items(&list).last(), "{path}");
        assert_eq!(one["correlationId"], y);
        assert_eq!(one["state"].is_string(), resource.has_state(), "{one}");
        assert!(one["version"].is_string() && one["sequenceVersion"].is_string());
        assert_eq!(list.header("x-sequence-version"), answer.last_sequence_version, "{path}");
        let feed = read(&format!("{path}/changes"));
        let mut changed_ids = column(&feed, "correlationId");
        changed_ids.retain(|id| id != "c");
        assert_eq!(changed_ids, [x, y], "{path}");
    }
}

#[test]
fn ids_of_any_text_are_found_under_every_prefix() {
    let odd = [
        "a/b",
        "100%",
        "%2F",
        "ñandú 😀",
        "a b",
        "?x=1",
        "#top",
        "a+b",
        "&",
        "..x",
        "-",
        "Webhooks",
        "a\\b;c",
        "a/",
        "/",
        "/changes",
        "Changes",
        "...",
    ];
    for resource in Resource::accounting_family() {
        let owner = format!("odd-{}", resource.as_str());
        let prefix = if resource.as_str() == "companies" { "co " } else { "" };
        let ids = odd.map(|id| format!("{prefix}{id}"));
        let mut lines = vec![company(&owner)];
        lines.extend(ids.iter().map(|id| record(resource, &owner, id)));
        let answer = shared_api().ingest.send_lines(&lines);
        assert_eq!(answer.rejected, 0, "{answer:?}");
        for id in &ids {
            let path = format!("{}/{}", resource.path(), segment(id));
            let context = if prefix.is_empty() { &owner } else { id };
            let one = shared_api().read_for_company(context, &path).json();
            assert_eq!(&one["correlationId"], id, "{path}");
        }
    }
}

#[test]
fn an_id_that_is_not_valid_text_is_404() {
    shared_api().ingest.send_lines(&[company("bytes")]);
    for id in ["%ff", "%00", "%c3%28", &"x".repeat(300), "%zz"] {
        let path = format!("/accounting/api/customers/{id}");
        shared_api().get_for_company("bytes", &path).send().problem(404);
    }
}

#[test]
fn ids_are_compared_exactly() {
    shared_api().ingest.send_lines(&[
        company("letters"),
        record(Resource::customers(), "letters", "abc"),
        record(Resource::customers(), "letters", "ABC"),
        record(Resource::customers(), "letters", "e\u{301}"),
    ]);
    let status = |id: &str| {
        shared_api()
            .get_for_company("letters", &format!("/accounting/api/customers/{}", segment(id)))
            .send()
            .status
    };
    assert_eq!(["abc", "ABC", "e\u{301}"].map(status), [200; 3]);
    assert_eq!(["Abc", "abc ", " abc", "é", "ab", "%"].map(status), [404; 6]);
}
