//! The records of tenants in the console: browse, history, comparison, notifications, and edits by hand.

use std::sync::Arc;
use std::time::Duration;

use domain::OperatorRole;
use hyper::Method;
use serde_json::{Value, json};
use testserver::{Request, TestClock, TestServer, TestTenant};

use super::fixture::{Operator, path};
use crate::harness::{Form, Page, bank, charge, company, customer};

/// Longer than a sign-in counts as fresh, and shorter than a session.
const LATER: Duration = Duration::from_secs(60 * 60);

/// A tenant with a company "c" and its customer "k", and a bank "b" with two versions.
struct Fixture {
    server: TestServer,
    clock: Arc<TestClock>,
    tenant: TestTenant,
    operator: Operator,
}

impl Fixture {
    fn new(role: OperatorRole) -> Self {
        let clock = Arc::new(TestClock::default());
        let server = TestServer::builder().clock(clock.clone()).start();
        let tenant = server.add_tenant("Norte");
        let mut first = customer("c", "k", "Bar <Manolo>");
        first["user"] = json!("maria");
        first["sourceInterface"] = json!("ERP");
        let changes = json!([company("c"), first, bank("b", "Caja"), bank("b", "Caja Rural")]);
        server.apply_changes(&tenant, &changes);
        // Somebody else stays admin.
        Operator::sign_in(
            &server,
            if role == OperatorRole::Admin { OperatorRole::Viewer } else { OperatorRole::Admin },
        );
        let operator = Operator::sign_in(&server, role);
        Self { server, clock, tenant, operator }
    }

    fn page(&self, tail: &str) -> String {
        format!("tenants/{}/{tail}", self.tenant.id)
    }

    #[track_caller]
    fn json(&self, tail: &str) -> Value {
        self.operator.json(&self.page(tail))
    }

    #[track_caller]
    fn text(&self, lang: &str, tail: &str) -> String {
        self.operator.get_in(lang, &self.page(tail))
    }

    /// Submits an edit with the reason "Because".
    #[track_caller]
    fn edit(&self, tail: &str, fields: &[(&str, &str)]) -> Page {
        let fields: Vec<(&str, &str)> = fields.iter().copied().chain([("reason", "Because")]).collect();
        self.operator.submit(&self.page(tail), &fields)
    }

    /// The kind and the number of the record's last change.
    fn last_change(&self, tail: &str) -> (String, String) {
        let record = self.json(tail);
        let change = &record["history"]["changes"][0];
        let text = |member: &str| change[member].as_str().unwrap().to_owned();
        (text("kind"), text("sequenceVersion"))
    }

    fn act_as(&self, role: OperatorRole) {
        let url = format!("{}/operator/v1/operators/{}", self.server.operator_url(), self.operator.id);
        let body = json!({"role": role.as_str()});
        let change = Request::new(Method::PATCH, &url).bearer(self.server.operator_token()).json(&body);
        change.send().expect_status(200);
    }

    fn audit(&self) -> Vec<Value> {
        let audit = self.server.operator_get("/operator/v1/audit?kind=record_edited").json();
        audit["records"].as_array().unwrap().clone()
    }
}

const CUSTOMER: &str = "records/accounting/customers/k?company=c";
const BANK: &str = "records/invoicing/Bank/b";

#[track_caller]
fn assert_done(page: &Page, code: &str) {
    assert_eq!(page.status, 303, "{page:?}");
    assert!(page.location().ends_with(&format!("done={code}")), "{page:?}");
}

#[test]
fn companies_and_records_are_browsed_in_pages() {
    let fixture = Fixture::new(OperatorRole::Viewer);
    let charges: Vec<Value> = (1..=60).map(|number| charge("c", &format!("f{number:02}"), number)).collect();
    fixture.server.apply_changes(&fixture.tenant, &json!(charges));
    let data = fixture.json("data");
    assert_eq!((&data["tenant"]["name"], &data["companies"]["total"]), (&json!("Norte"), &json!(1)));
    let count = |data: &Value, resource: &str| {
        let all = data["resources"].as_array().unwrap().clone();
        all.into_iter().find(|one| one["resource"] == resource).unwrap()["records"].clone()
    };
    assert_eq!(count(&data, "Bank"), 1);
    assert_eq!(count(&fixture.json("data?company=c"), "charges"), 60);
    let page = fixture.text("en", "data");
    assert!(page.contains("Panadería Ñandú") && page.contains("data?company=c"), "{page}");
    assert!(fixture.text("es", "data").contains("Nóminas y facturación"));
    let page = fixture.text("en", "data?company=c");
    assert!(page.contains("data/charges?area=accounting&amp;company=c"), "{page}");

    let first = fixture.json("data/charges?area=accounting&company=c");
    assert_eq!((first["records"].as_array().unwrap().len(), &first["next"]), (50, &json!(50)));
    let last = fixture.json("data/charges?area=accounting&company=c&offset=50");
    assert_eq!((&last["records"][0]["id"], &last["next"]), (&json!("f51"), &Value::Null));
    let csv = fixture
        .operator
        .get(&fixture.page("data/charges?area=accounting&company=c&format=csv"))
        .text()
        .to_owned();
    assert_eq!(csv.lines().count(), 61, "{csv}");
    let past = fixture.text("en", "data/charges?area=accounting&company=c&offset=100");
    assert!(past.contains("past the end"), "{past}");
    assert!(fixture.text("es", "data/journals?area=accounting&company=c").contains("No hay registros"));

    for (tail, status) in [
        ("data?company=nobody", 404),
        ("data/charges?area=accounting&company=nobody", 404),
        ("data/nothing?area=accounting", 404),
        ("data/charges?area=accounting", 400),
        ("records/accounting/customers/nobody?company=c", 404),
        ("records/accounting/customers/k", 400),
    ] {
        assert_eq!(fixture.operator.get(&fixture.page(tail)).status, status, "{tail}");
    }
    assert_eq!(fixture.operator.get("tenants/nobody/data").status, 404);
}

#[test]
fn record_is_found_by_its_id() {
    let fixture = Fixture::new(OperatorRole::Viewer);
    let guid = "0B9F6C1E-3C58-4D2F-9A51-6F6F2B1D7C40";
    let odd = "clave ñ/1?#%";
    fixture.server.apply_changes(&fixture.tenant, &json!([charge("c", guid, 1), charge("c", odd, 2)]));
    let found = |id: &str| {
        let query = format!("data/charges?area=accounting&company=c&record={id}");
        fixture.operator.get(&fixture.page(&query))
    };
    let page = found(&guid.to_lowercase());
    assert_eq!(page.status, 303, "{page:?}");
    let expected = path(&fixture.page(&format!("records/accounting/charges/{guid}?company=c")));
    assert_eq!(page.location(), expected);
    // Any text is an id.
    let page = found("clave%20%C3%B1/1%3F%23%25");
    assert_eq!(page.status, 303, "{page:?}");
    let shown = fixture.operator.browser.get(page.location());
    assert_eq!(shown.status, 200, "{shown:?}");
    assert!(shown.text().contains(odd), "{}", shown.text());
    fixture.text("en", "data");
    let page = found("nobody");
    assert!(page.status == 200 && page.text().contains("Not found"), "{page:?}");
}

#[test]
fn record_is_shown_with_its_history() {
    let fixture = Fixture::new(OperatorRole::Viewer);
    let page = fixture.text("en", CUSTOMER);
    assert!(page.contains("Bar &lt;Manolo&gt;") && page.contains("maria") && page.contains("ERP"), "{page}");
    assert!(!page.contains("name=\"do\""), "a viewer sees no forms");
    assert!(fixture.text("es", CUSTOMER).contains("Historial"));
    let record = fixture.json(BANK);
    assert_eq!(
        (&record["record"]["status"], &record["record"]["data"]["name"]),
        (&json!("stored"), &json!("Caja Rural"))
    );
    assert_eq!(record["history"]["changes"][0]["members"], json!([{"name": "name", "value": "Caja Rural"}]));
    let csv = fixture.operator.get(&fixture.page(&format!("{BANK}?format=csv"))).text().to_owned();
    assert_eq!(csv.lines().count(), 3, "{csv}");
    let older = fixture.json(&format!("{BANK}?before=4"));
    assert_eq!(older["history"]["changes"][0]["sequenceVersion"], "3");
}

#[test]
fn versions_are_compared_and_what_the_log_does_not_tell_is_said() {
    let fixture = Fixture::new(OperatorRole::Viewer);
    fixture.server.apply_changes(&fixture.tenant, &json!([customer("c", "k", "Bar Pepe")]));
    let page = fixture.text("en", &format!("{BANK}/diff?from=3&to=4"));
    assert!(page.contains("Caja Rural") && page.contains("What changed"), "{page}");
    let values = fixture.json(&format!("{BANK}/diff?from=3&to=4"));
    assert_eq!(values["members"], json!([{"name": "name", "from": "Caja", "to": "Caja Rural"}]));
    let page = fixture.text("en", "records/accounting/customers/k/diff?company=c&from=2&to=5");
    assert!(page.contains("The log does not keep values"), "{page}");
    let page = fixture.text("es", "records/accounting/customers/k/diff?company=c&from=2&to=5");
    assert!(page.contains("no conserva los valores"), "{page}");
    let missing = fixture.operator.get(&fixture.page(&format!("{BANK}/diff?from=1&to=4")));
    assert_eq!(missing.status, 404, "the first change is of another record");
}

#[test]
fn nobody_was_notified_without_webhooks() {
    let fixture = Fixture::new(OperatorRole::Viewer);
    let tail = "records/accounting/customers/k/notified?company=c";
    assert!(fixture.text("en", tail).contains("Nobody"));
    assert!(fixture.text("es", tail).contains("A nadie"));
    assert_eq!(fixture.json(tail)["changes"], json!(["2"]));
    assert_eq!(fixture.operator.get(&fixture.page(&format!("{tail}&change=3"))).status, 404);
}

#[test]
fn edits_change_the_record_and_are_audited_with_person_and_reason() {
    let fixture = Fixture::new(OperatorRole::Support);
    let page = fixture.text("en", CUSTOMER);
    let prefilled = page.split("<textarea").nth(1).unwrap().split("</textarea>").next().unwrap();
    assert!(prefilled.contains("tradeName") && !prefilled.contains("sequenceVersion"), "{prefilled}");
    let data = r#"{"tradeName": "Bar Pepe", "accountCode": "430000001", "accountCodeCorrelationId": "a-1"}"#;
    assert_done(&fixture.edit(CUSTOMER, &[("do", "upsert"), ("data", data)]), "record_saved");
    assert_eq!(fixture.json(CUSTOMER)["record"]["data"]["tradeName"], "Bar Pepe");
    assert_done(&fixture.edit(CUSTOMER, &[("do", "upsert"), ("data", data)]), "record_unchanged");
    assert_done(&fixture.edit(CUSTOMER, &[("do", "disable")]), "record_disabled");
    assert_eq!(fixture.last_change(CUSTOMER), ("Disabled".into(), "6".into()));
    assert_done(&fixture.edit(CUSTOMER, &[("do", "enable")]), "record_enabled");
    assert_eq!(fixture.json(CUSTOMER)["record"]["state"], "Enabled");
    let audit = fixture.audit();
    assert_eq!(audit.len(), 3, "{audit:?}");
    for entry in &audit {
        let who = format!("operator:{}", fixture.operator.id);
        assert_eq!((&entry["actor"], &entry["note"]), (&json!(who), &json!("Because")), "{entry}");
        assert_eq!(entry["tenant"], fixture.tenant.id, "{entry}");
    }
    let numbers: Vec<&Value> =
        audit.iter().map(|one| &one["changes"].as_array().unwrap().last().unwrap()["to"]).collect();
    assert!(["5", "6", "7"].iter().all(|number| numbers.contains(&&json!(number))), "{numbers:?}");
    assert!(fixture.text("en", CUSTOMER).contains("edited by hand"));
}

#[test]
fn deleted_record_says_so_and_is_restored_by_saving_it() {
    let fixture = Fixture::new(OperatorRole::Admin);
    let refused = fixture.edit(BANK, &[("do", "delete"), ("confirm", "x")]);
    assert_eq!(refused.status, 400, "{refused:?}");
    assert_done(&fixture.edit(BANK, &[("do", "delete"), ("confirm", "b")]), "record_deleted");
    let page = fixture.text("en", BANK);
    assert!(page.contains("This record is deleted") && page.contains("Restore the record"), "{page}");
    assert!(!page.contains("value=\"delete\""), "{page}");
    assert!(fixture.text("es", BANK).contains("Este registro está eliminado"));
    assert_done(&fixture.edit(BANK, &[("do", "upsert"), ("data", r#"{"name": "Caja"}"#)]), "record_saved");
    assert_eq!(fixture.json(BANK)["record"]["status"], "stored");
    assert_eq!(fixture.last_change(BANK), ("Created".into(), "6".into()));
}

#[test]
fn refused_edit_says_why_and_keeps_what_was_typed() {
    let fixture = Fixture::new(OperatorRole::Admin);
    let at = fixture.page(BANK);
    fixture.text("en", BANK);
    let refused = fixture.edit(BANK, &[("do", "upsert"), ("data", "{\"name\": ")]);
    assert_eq!(refused.status, 400);
    assert!(
        refused.text().contains("not a JSON object") && refused.text().contains("{&quot;name&quot;: "),
        "{}",
        refused.text().to_owned()
    );
    for fields in [
        vec![("do", "upsert"), ("data", "{}")],
        vec![("do", "upsert"), ("data", "{}"), ("reason", " ")],
        vec![("do", "disable"), ("reason", "r")],
        vec![("do", "delete"), ("reason", "r")],
        vec![("do", "upsert"), ("data", "{\"version\": 1}"), ("reason", "r")],
    ] {
        let refused = fixture.operator.submit(&at, &fields);
        assert_eq!(refused.status, 400, "{fields:?}: {refused:?}");
    }
    // The record changes after its page was read.
    let form = fixture.operator.get(&at).form("post");
    fixture.server.apply_changes(&fixture.tenant, &json!([bank("b", "Caja del Sur")]));
    let fields = [("do", "upsert"), ("data", "{}"), ("reason", "r")];
    let refused = fixture.operator.browser.submit(&Form { action: path(&at), ..form }, &fields);
    assert!(refused.status == 400 && refused.text().contains("was changed since you read it"), "{refused:?}");
    let again = Form { action: path(&at), ..refused.form("post") };
    assert_eq!(fixture.operator.browser.submit(&again, &fields).status, 400, "it is still the old version");
    assert_eq!(fixture.json(BANK)["record"]["data"]["name"], "Caja del Sur");
    assert_eq!(fixture.audit(), Vec::<Value>::new());
}

#[test]
fn edits_need_the_role_and_a_fresh_proof() {
    let fixture = Fixture::new(OperatorRole::Support);
    let at = fixture.page(BANK);
    let form = fixture.operator.get(&at).form("post");
    let post = |fields: &[(&str, &str)]| {
        fixture.operator.browser.submit(&Form { action: path(&at), ..form.clone() }, fields)
    };
    let all = [("upsert", "{}"), ("delete", ""), ("disable", ""), ("enable", "")];
    let edit = |(action, data): (&'static str, &'static str)| {
        post(&[("do", action), ("data", data), ("reason", "r"), ("confirm", "b")])
    };
    fixture.act_as(OperatorRole::Viewer);
    for one in all {
        let refused = edit(one);
        assert_eq!(refused.status, 403, "{one:?}: {refused:?}");
    }
    fixture.act_as(OperatorRole::Support);
    fixture.clock.advance(LATER);
    for one in all {
        let led_away = edit(one);
        assert!([302, 303].contains(&led_away.status), "{one:?}: {led_away:?}");
        assert!(!led_away.location().contains("done="), "{one:?}: {led_away:?}");
    }
    assert_eq!(fixture.json(BANK)["record"]["sequenceVersion"], "4");
    assert_eq!(fixture.audit(), Vec::<Value>::new());
}
