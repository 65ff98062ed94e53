//! `/operator/v1/tenants/{tenant}/records`: lists, one record, its history, two versions compared, notifications, edits.

use serde_json::{Value, json};
use testserver::{Response, TestServer, TestTenant};

use super::openapi::{assert_documented, document};
use super::roles::send;
use super::webhook_fixture::{Subscriber, operator};
use crate::harness::{bank, charge, company, customer};

struct Fixture {
    server: TestServer,
    tenant: TestTenant,
}

impl Fixture {
    fn new() -> Self {
        let server = TestServer::start();
        let tenant = server.add_tenant("Norte");
        Self { server, tenant }
    }

    fn apply(&self, changes: &[Value]) {
        self.server.apply_changes(&self.tenant, &json!(changes));
    }

    fn send(&self, verb: &str, tail: &str, body: &Value) -> Response {
        let path = format!("/tenants/{}/records{tail}", self.tenant.id);
        send(&self.server, self.server.operator_token(), verb, &path, body)
    }

    #[track_caller]
    fn get(&self, tail: &str) -> Value {
        self.send("get", tail, &Value::Null).expect_status(200).json()
    }

    #[track_caller]
    fn refused(&self, tail: &str, status: u16) -> Value {
        self.send("get", tail, &Value::Null).expect_status(status).json()
    }

    #[track_caller]
    fn edit(&self, tail: &str, body: &Value) -> Value {
        self.send("post", tail, body).expect_status(200).json()
    }

    /// The code of the refusal.
    #[track_caller]
    fn edit_refused(&self, tail: &str, body: &Value, status: u16) -> String {
        let refused = self.send("post", tail, body).expect_status(status).json();
        refused["errors"][0]["code"].as_str().unwrap().to_owned()
    }
}

/// The values of one member of each item.
fn column(list: &Value, member: &str) -> Vec<Value> {
    list.as_array().unwrap().iter().map(|one| one[member].clone()).collect()
}

#[test]
fn records_are_counted_and_listed_in_pages() {
    let fixture = Fixture::new();
    fixture.apply(&[company("c1"), company("c2"), bank("b", "Caja Rural")]);
    let charges: Vec<Value> = (1..=5).map(|number| charge("c1", &format!("k{number}"), number)).collect();
    fixture.apply(&charges);
    let counts = |query: &str| {
        let all = fixture.get(query)["resources"].as_array().unwrap().clone();
        let some: Vec<String> = all
            .iter()
            .filter(|one| one["records"] != 0)
            .map(|one| format!("{}/{} {}", one["area"], one["resource"], one["records"]).replace('"', ""))
            .collect();
        (all.len(), some)
    };
    assert_eq!(counts(""), (20, vec!["accounting/companies 2".into(), "invoicing/Bank 1".into()]));
    assert_eq!(counts("?company=c1"), (18, vec!["accounting/charges 5".into()]));
    assert_eq!(counts("?company=c2").1, Vec::<String>::new());

    let page = fixture.get("/accounting/charges?company=c1&pageSize=2&offset=2");
    assert_eq!(column(&page["records"], "id"), ["k3", "k4"]);
    assert_eq!((&page["total"], &page["next"]), (&json!(5), &json!(4)));
    let last = fixture.get("/accounting/charges?company=c1&offset=4");
    assert_eq!((last["records"][0]["data"]["amount"].clone(), &last["next"]), (json!(5), &Value::Null));
    assert_eq!(fixture.get("/accounting/charges?company=c1&offset=9")["records"], json!([]));
    let companies = fixture.get("/accounting/companies");
    assert_eq!(column(&companies["records"], "state"), ["Enabled", "Enabled"]);

    for (tail, status) in [
        ("?company=nobody", 404),
        ("/accounting/charges?company=nobody", 404),
        ("/accounting/nothing", 404),
        ("/nothing/charges", 404),
        ("/accounting/charges", 400),
        ("/accounting/companies?company=c1", 400),
        ("/accounting/companies?offset=-1", 400),
        ("/accounting/companies?pageSize=101", 400),
        ("/accounting/companies?page=2", 400),
    ] {
        fixture.refused(tail, status);
    }
    let missing =
        send(&fixture.server, fixture.server.operator_token(), "get", "/tenants/no/records", &Value::Null);
    missing.expect_status(404);
}

#[test]
fn record_is_shown_with_its_history_also_when_it_is_gone() {
    let fixture = Fixture::new();
    let mut changed = customer("c", "k ñ/1", "Bar Manolo");
    changed["user"] = json!("maria");
    changed["sourceInterface"] = json!("ERP");
    changed["sourceAction"] = json!("Save");
    fixture.apply(&[company("c"), changed, customer("c", "k ñ/1", "Bar Pepe")]);
    fixture.apply(&[charge("c", "x", 1), json!({"area": "accounting", "resource": "charges", "company": "c", "action": "delete", "correlationId": "x"})]);
    let at = "/accounting/customers/k%20%C3%B1%2F1";
    let record = fixture.get(&format!("{at}?company=c"));
    assert_eq!((&record["status"], &record["state"]), (&json!("stored"), &json!("Enabled")));
    assert_eq!((&record["sequenceVersion"], &record["data"]["tradeName"]), (&json!("3"), &json!("Bar Pepe")));
    assert_eq!(record["lastChange"]["kind"], "Updated");

    let history = fixture.get(&format!("{at}/history?company=c"));
    assert_eq!(column(&history["changes"], "sequenceVersion"), ["3", "2"]);
    assert_eq!((&history["next"], &history["prunedThrough"]), (&Value::Null, &json!("0")));
    let first = &history["changes"][1];
    assert_eq!(
        (&first["kind"], &first["event"]),
        (&json!("Created"), &json!("Svc.ACC.Customers.CustomerCreated"))
    );
    let origin = ["user", "sourceInterface", "sourceAction"].map(|member| first[member].clone());
    assert_eq!((origin, &first["members"]), ([json!("maria"), json!("ERP"), json!("Save")], &Value::Null));
    let page = fixture.get(&format!("{at}/history?company=c&pageSize=1"));
    assert_eq!(page["next"], "3");
    let page = fixture.get(&format!("{at}/history?company=c&pageSize=1&before=3"));
    assert_eq!(
        (column(&page["changes"], "sequenceVersion"), &page["next"]),
        (vec![json!("2")], &Value::Null)
    );

    let gone = fixture.get("/accounting/charges/x?company=c");
    assert_eq!(
        (&gone["status"], &gone["data"], &gone["sequenceVersion"]),
        (&json!("deleted"), &Value::Null, &json!("0"))
    );
    fixture.apply(&[
        charge("c", "y", 1),
        json!({"area": "accounting", "resource": "companies", "action": "delete", "correlationId": "c"}),
    ]);
    assert_eq!(fixture.get("/accounting/charges/y?company=c")["status"], "deletedWithCompany");
    for tail in ["", "/history", "/notifications"] {
        fixture.refused(&format!("/accounting/charges/never{tail}?company=c"), 404);
    }
}

#[test]
fn versions_are_compared_as_far_as_the_log_tells() {
    let fixture = Fixture::new();
    fixture.apply(&[
        bank("b", "Caja"),
        bank("b", "Caja Rural"),
        company("c"),
        charge("c", "x", 1),
        charge("c", "x", 2),
    ]);
    let diff = fixture.get("/invoicing/Bank/b/diff?from=2&to=1");
    assert_eq!(diff["members"], json!([{"name": "name", "from": "Caja", "to": "Caja Rural"}]));
    assert_eq!((&diff["from"]["sequenceVersion"], &diff["changes"]), (&json!("1"), &json!(1)));
    let diff = fixture.get("/accounting/charges/x/diff?company=c&from=4&to=5");
    assert_eq!((&diff["members"], &diff["changes"]), (&Value::Null, &json!(1)));
    fixture.refused("/invoicing/Bank/b/diff?from=1&to=3", 404);
    fixture.refused("/invoicing/Bank/b/diff?from=1", 400);
}

#[test]
fn edits_take_the_way_of_all_changes_and_name_their_reason_in_the_audit() {
    let fixture = Fixture::new();
    fixture.apply(&[company("c"), customer("c", "k", "Bar Manolo"), bank("b", "Caja")]);
    let at = "/accounting/customers/k/edits?company=c";
    let data =
        json!({"tradeName": "Bar Pepe", "accountCode": "430000001", "accountCodeCorrelationId": "a-1"});
    let upsert = json!({"action": "upsert", "data": data, "reason": "Wrong name", "sequenceVersion": "2"});
    let edited = fixture.edit(at, &upsert);
    assert_eq!(edited["sequenceVersion"], "4");
    let again = json!({"action": "upsert", "data": data, "reason": "Wrong name"});
    assert_eq!(fixture.edit(at, &again)["sequenceVersion"], Value::Null, "nothing changed");
    assert_eq!(fixture.edit(at, &json!({"action": "disable", "reason": "Closed"}))["sequenceVersion"], "5");
    assert_eq!(fixture.edit(at, &json!({"action": "enable", "reason": "Opened"}))["sequenceVersion"], "6");
    let bank_at = "/invoicing/Bank/b/edits";
    assert_eq!(fixture.edit(bank_at, &json!({"action": "delete", "reason": "Gone"}))["sequenceVersion"], "7");
    let restored =
        json!({"action": "upsert", "data": {"name": "Caja"}, "reason": "Back", "sequenceVersion": "0"});
    assert_eq!(fixture.edit(bank_at, &restored)["sequenceVersion"], "8");
    assert_eq!(fixture.get("/invoicing/Bank/b")["status"], "stored");

    let change = &fixture.get("/accounting/customers/k/history?company=c")["changes"][2];
    assert_eq!((&change["processId"], &change["user"]), (&edited["processId"], &json!("operator")));
    let audit = fixture.server.operator_get("/operator/v1/audit?kind=record_edited").json();
    let records = audit["records"].as_array().unwrap();
    assert_eq!(records.len(), 5, "{audit}");
    let of_upsert = records.iter().find(|one| one["note"] == "Wrong name").unwrap();
    assert_eq!(
        (&of_upsert["object"], &of_upsert["tenant"]),
        (&json!("record:accounting/customers"), &json!(fixture.tenant.id))
    );
    let told: Vec<String> = of_upsert["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("{}={}", one["member"], one["to"]).replace('"', ""))
        .collect();
    assert_eq!(told, ["action=upsert", "id=k", "company=c", "sequenceVersion=4"]);
}

#[test]
fn edits_that_cannot_be_made_are_refused_with_the_reason() {
    let fixture = Fixture::new();
    fixture.apply(&[company("c"), customer("c", "k", "Bar Manolo"), bank("b", "Caja")]);
    let at = "/accounting/customers/k/edits?company=c";
    let (stale, disable) = (
        json!({"action": "disable", "reason": "r", "sequenceVersion": "1"}),
        json!({"action": "disable", "reason": "r"}),
    );
    assert_eq!(fixture.edit_refused(at, &stale, 409), "record_changed");
    assert_eq!(
        fixture.edit_refused("/accounting/customers/no/edits?company=c", &disable, 409),
        "unknown_record"
    );
    assert_eq!(
        fixture.edit_refused("/accounting/customers/no/edits?company=no", &disable, 409),
        "unknown_company"
    );
    for (tail, body) in [
        (at, json!({"action": "delete", "reason": "customers are never deleted"})),
        ("/invoicing/Bank/b/edits", disable),
        (at, json!({"action": "upsert", "reason": "r", "data": {"tradeName": 5}})),
        (at, json!({"action": "upsert", "reason": "r", "data": {"version": "1"}})),
        (at, json!({"action": "upsert", "reason": "r"})),
        (at, json!({"action": "disable", "reason": " "})),
        (at, json!({"action": "disable", "reason": "a".repeat(501)})),
        (at, json!({"action": "disable"})),
        (at, json!({"action": "fail", "reason": "r"})),
        (at, json!({"action": "disable", "reason": "r", "company": "c"})),
    ] {
        fixture.edit_refused(tail, &body, 400);
    }
    assert_eq!(fixture.get("/accounting/customers/k?company=c")["sequenceVersion"], "2");
    let audit = fixture.server.operator_get("/operator/v1/audit?kind=record_edited").json();
    assert_eq!(audit["records"], json!([]));
}

#[test]
fn notifications_of_a_record_are_listed_by_webhook() {
    let subscriber = Subscriber::new();
    let sequence = subscriber.customer("notified");
    subscriber.delivery(sequence, "delivered");
    let tenant = &subscriber.api.ingest.tenant;
    let at = format!("/tenants/{tenant}/records/accounting/customers/notified/notifications?company=c");
    let response = operator().get(&at);
    assert_eq!(response.status, 200, "{response:?}");
    assert_documented(
        &document(),
        "get",
        "/tenants/{tenant}/records/{area}/{resource}/{record}/notifications",
        &response,
    );
    let page = response.json();
    assert_eq!((&page["changes"], &page["next"]), (&json!([sequence.to_string()]), &Value::Null));
    let [webhook] = page["webhooks"].as_array().unwrap().as_slice() else { panic!("{page}") };
    assert_eq!((&webhook["id"], &webhook["status"]), (&json!(subscriber.webhook), &json!("active")));
    let delivery = &webhook["deliveries"][0];
    assert_eq!(
        (&delivery["status"], &delivery["event"]),
        (&json!("delivered"), &json!("Svc.ACC.Customers.CustomerCreated"))
    );
    let one = operator().get(&format!("{at}&change={sequence}")).json();
    assert_eq!(one["webhooks"], page["webhooks"]);
    assert_eq!(operator().get(&format!("{at}&change=1")).status, 404, "the change of another record");
    // The webhook does not subscribe to updates, and the company is another resource.
    let company_at = format!("/tenants/{tenant}/records/accounting/companies/c/notifications");
    assert_eq!(operator().get(&company_at).json()["webhooks"], json!([]));
}
