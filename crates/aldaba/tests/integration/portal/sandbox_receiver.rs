//! Events on demand and the built-in receiver: what is made arrives, verified, and the receiver answers as it is told.

use serde_json::{Value, json};

use super::fixture::Developer;
use super::sandbox::{Fixture, RECEIVER, act};
use crate::harness::{RawConnection, wait_for};

const CREATED: &str = "Svc.ACC.Customers.CustomerCreated";

impl Fixture {
    /// Makes webhooks to the built-in receiver; returns their ids.
    #[track_caller]
    fn subscribe(&self, resource: &str) -> Vec<String> {
        let fields = [("do", "subscribe"), ("client", self.client.as_str()), ("resource", resource)];
        let made = self.act(&format!("{RECEIVER}?format=json"), &fields);
        assert_eq!(made.status, 200, "{resource}: {made:?}");
        let made = made.json()["subscribed"].clone();
        assert!(made["secret"].as_str().unwrap().len() > 20, "{made}");
        let ids = made["webhooks"].as_array().unwrap().iter();
        ids.map(|id| id.as_str().unwrap().to_owned()).collect()
    }

    /// Makes an event, as a program does.
    #[track_caller]
    fn make(&self, event: &str) -> Value {
        let made = self.act(&format!("{RECEIVER}?format=json"), &[("do", "make"), ("event", event)]);
        assert_eq!(made.status, 200, "{event}: {made:?}");
        made.json()
    }

    fn received(&self) -> Vec<Value> {
        self.json(RECEIVER)["received"].as_array().unwrap().clone()
    }

    #[track_caller]
    fn wait_for_request(&self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        wait_for(what, || self.received().into_iter().find(&is_it))
    }
}

#[test]
fn made_event_arrives_verified_and_is_shown_whole() {
    let fixture = Fixture::with_sandbox(&[]);
    let developer = &fixture.developer;
    let nowhere = developer.get(&format!("{RECEIVER}?made={}", fixture.make(CREATED)["sequence"]));
    assert!(nowhere.text().contains("Ningún webhook del entorno está suscrito"), "{nowhere:?}");
    let webhook = fixture.subscribe("accounting.customers").remove(0);
    let hello = fixture.wait_for_request("the handshake", |one| one["event"] == "Acknowledge");
    assert_eq!((&hello["signature"], &hello["status"]), (&json!("verified"), &json!(200)));
    wait_for("the contract", || (fixture.json(RECEIVER)["webhooks"][0]["status"] == "active").then_some(()));
    // As a browser does: the result has a page of its own, which repeats nothing.
    let form = developer.get(&format!("events/{CREATED}")).forms();
    let form = form.into_iter().find(|form| form.action == developer.path(RECEIVER)).unwrap();
    let made = developer.browser.submit(&form, &[("do", "make")]);
    let (_, sequence) = made.location().split_once("?made=").unwrap_or_else(|| panic!("{made:?}"));
    let shown = fixture.json(&format!("{RECEIVER}?made={sequence}"))["made"].clone();
    assert_eq!(shown["events"], json!([CREATED]));
    assert_eq!(shown["webhooks"][0]["id"], webhook.as_str());
    let delivery = format!("webhooks/{webhook}/deliveries/{sequence}");
    for (lang, words) in
        [("es", ["Ha ocurrido", "Ver la entrega"]), ("en", ["It has happened", "See the delivery"])]
    {
        let page = developer.get_in(lang, &format!("{RECEIVER}?made={sequence}"));
        let record = shown["record"].as_str().unwrap();
        for word in words.iter().chain(&[record, &developer.path(&delivery), "data-live="]) {
            assert!(page.contains(word), "{lang}: {word}: {page}");
        }
    }
    let came = fixture.wait_for_request("the event", |one| one["event"] == "CustomerCreated");
    assert_eq!((&came["signature"], &came["problem"]), (&json!("verified"), &json!("")));
    assert_eq!(developer.get(&delivery).status, 200);
    let page = format!("sandbox/received/{}", came["number"]);
    let whole = fixture.json(&page);
    assert!(whole["body"].as_str().unwrap().contains(shown["record"].as_str().unwrap()), "{whole}");
    let has_header = |name: &str| whole["headers"].as_array().unwrap().iter().any(|header| header[0] == name);
    assert!(has_header("svc-webhook-signature") && has_header("webhook-id"), "{whole}");
    for (lang, word) in [("es", "Petición recibida"), ("en", "Received request")] {
        let html = developer.get_in(lang, &page);
        assert!(
            html.contains(word) && html.contains("svc-webhook-signature") && html.contains(&webhook),
            "{html}"
        );
    }
    assert!(developer.get(&format!("{page}?body=raw")).text().contains("&quot;WebhookId&quot;:"));
    let csv = developer.get(&format!("{RECEIVER}?format=csv"));
    assert!(csv.text().contains("CustomerCreated") && csv.text().starts_with("number,time,event"), "{csv:?}");
    for (event, status) in
        [("", 400), ("Bank.Exploded", 400), ("customers.created", 303), ("Bank.Deleted", 303)]
    {
        let made = fixture.act(RECEIVER, &[("do", "make"), ("event", event)]);
        assert_eq!(made.status, status, "{event}: {made:?}");
    }
}

#[test]
fn receiver_answers_as_it_is_told() {
    let fixture = Fixture::with_sandbox(&[("delivery.timeout", "1s"), ("delivery.schedule", "200ms")]);
    fixture.subscribe("accounting.customers");
    wait_for("the contract", || (fixture.json(RECEIVER)["webhooks"][0]["status"] == "active").then_some(()));
    for (mode, status) in [("fail", json!(500)), ("refuse", json!(410)), ("hang", Value::Null)] {
        let done = fixture.act(RECEIVER, &[("do", "mode"), ("mode", mode)]);
        assert!(done.location().ends_with("?done=receiver_mode"), "{done:?}");
        assert_eq!(fixture.json(RECEIVER)["receiverMode"], mode);
        fixture.make(CREATED);
        fixture.wait_for_request(mode, |one| one["status"] == status);
        let pressed = format!("value=\"{mode}\" aria-pressed=\"true\"");
        assert!(fixture.developer.get(RECEIVER).text().contains(&pressed), "{mode}");
    }
    assert_eq!(fixture.act(RECEIVER, &[("do", "mode"), ("mode", "explode")]).status, 400);
    let all = fixture.json(RECEIVER);
    assert!(all["next"].is_null() || all["received"].as_array().unwrap().len() == 25, "{all}");
}

#[test]
fn webhooks_are_made_once_and_within_the_limit() {
    let fixture = Fixture::with_sandbox(&[("portal.sandbox_webhooks", "4")]);
    assert_eq!(fixture.subscribe("accounting.customers").len(), 1);
    let subscribe = |resource: &str| {
        fixture.act(RECEIVER, &[("do", "subscribe"), ("client", &fixture.client), ("resource", resource)])
    };
    let again = subscribe("accounting.customers");
    assert!(again.status == 400 && again.text().contains("ya tiene webhooks"), "{again:?}");
    // In the invoicing family there is one for each action; both handshakes are accepted.
    assert_eq!(fixture.subscribe("invoicing.Bank").len(), 3);
    wait_for("the contracts", || {
        let webhooks = fixture.json(RECEIVER)["webhooks"].as_array()?.clone();
        (webhooks.len() == 4 && webhooks.iter().all(|one| one["status"] == "active")).then_some(())
    });
    let made = fixture.make("Bank.Updated");
    assert_eq!((&made["events"], made["webhooks"].as_array().unwrap().len()), (&json!(["Bank.Updated"]), 1));
    let came = fixture.wait_for_request("the entity", |one| one["event"] == "Bank");
    assert_eq!(came["signature"], "verified");
    assert!(fixture.received().iter().any(|one| one["event"] == "echo" && one["signature"] == "unsigned"));
    let full = subscribe("accounting.accounts");
    assert!(full.status == 400 && full.text().contains("todos los webhooks que se permiten"), "{full:?}");
    for resource in ["", "accounting", "accounting.none", "payroll.companies"] {
        assert_eq!(subscribe(resource).status, 400, "{resource}");
    }
}

#[test]
fn events_of_a_day_are_limited() {
    let fixture = Fixture::with_sandbox(&[("portal.sandbox_events_per_day", "2")]);
    for _ in 0..2 {
        fixture.make("Bank.Created");
    }
    let refused = fixture.act(RECEIVER, &[("do", "make"), ("event", "Bank.Created")]);
    assert!(refused.status == 400 && refused.text().contains("sigue mañana"), "{refused:?}");
}

#[test]
fn what_another_teams_receiver_got_does_not_exist() {
    let fixture = Fixture::with_sandbox(&[]);
    fixture.subscribe("accounting.customers");
    let hello = fixture.wait_for_request("the handshake", |one| one["event"] == "Acknowledge");
    let page = format!("sandbox/received/{}", hello["number"]);
    let other = Developer::sign_in(&fixture.server, "ana");
    act(&other, &other.path("sandbox"), &[("do", "create")]);
    assert_eq!(fixture.developer.get(&page).status, 200);
    assert_eq!(other.get(&page).status, 404);
    assert_eq!(other.browser.get(&fixture.developer.path(&page)).status, 404);
    assert_eq!(other.get(&format!("{RECEIVER}?format=json")).json()["received"], json!([]));
    for number in ["0", "x", "18446744073709551615"] {
        assert_eq!(fixture.developer.get(&format!("sandbox/received/{number}")).status, 404, "{number}");
    }
}

#[test]
fn list_tells_live_when_something_came() {
    let fixture = Fixture::with_sandbox(&[]);
    fixture.subscribe("accounting.customers");
    wait_for("the contract", || (fixture.json(RECEIVER)["webhooks"][0]["status"] == "active").then_some(()));
    let path = fixture.developer.path(&format!("{RECEIVER}?format=events"));
    let cookies = fixture.developer.browser.cookie_header();
    let head = format!("GET {path} HTTP/1.1\r\ncookie: {cookies}\r\n");
    let mut stream = RawConnection::open(fixture.server.base_url(), &head);
    assert!(stream.read_until("event: version"), "the present one");
    fixture.make(CREATED);
    assert!(stream.read_until("event: version"), "the one with the event");
}
