//! Test events that a developer sends from the page of an event, and over the API.

use hyper::Method;
use serde_json::json;

use super::delivery_fixture::DeliveryFixture;
use super::{CUSTOMERS, send};
use crate::harness::{OperatorApi, wait_for};
use crate::integration::portal::fixture::Developer;

const UPDATED: &str = "Svc.ACC.Customers.CustomerUpdated";

/// The semantic names of the events that the receiver got.
fn received(fixture: &DeliveryFixture) -> Vec<String> {
    let name =
        |body: serde_json::Value| body["EventType"]["SemanticName"].as_str().unwrap_or_default().to_owned();
    let requests = fixture.receiver.requests();
    requests.iter().filter(|one| !one.is_acknowledge()).map(|one| name(one.json())).collect()
}

#[test]
fn developer_sends_a_test_event_of_a_chosen_kind_to_a_webhook_of_the_team() {
    let fixture = DeliveryFixture::new();
    let developer = Developer::sign_in_to(fixture.server, "pruebas");
    let (page, operator) = (format!("events/{UPDATED}"), OperatorApi(fixture.server));
    assert!(developer.get_in("en", &page).contains("No active webhook receives this event"));
    let id = fixture.active_webhook("/hook");
    operator.create("/subscriptions", &json!({"name": "k", "products": ["accounting"], "team": "pruebas"}));
    let client = format!("/clients/{}", fixture.api.sign_in.app.id);
    assert_eq!(operator.patch(&client, &json!({"team": "pruebas"})).status, 200);

    let shown = developer.get_in("es", &page);
    assert!(shown.contains(&id) && shown.contains("Enviar un evento de prueba"), "{shown}");
    let sent = developer.submit(&page, &[("webhook", &id), ("do", "send")]);
    assert_eq!(sent.status, 303, "{sent:?}");
    let after = developer.browser.follow_redirects(sent);
    assert!(after.text().contains("El evento de prueba está en camino"), "{}", after.text());
    wait_for("the test event", || (received(&fixture) == [UPDATED]).then_some(()));

    // Not subscribed to; another resource; not a webhook; the handshake.
    let other = "events/Svc.ACC.Customers.CustomerDisabled";
    assert!(developer.get_in("en", other).contains("No active webhook receives this event"));
    let token = developer.get(&page).form("post").fields;
    let token = token.iter().find(|(name, _)| name == "token").unwrap().1.clone();
    let post = |page: &str, id: &str| {
        let fields = [("token", token.as_str()), ("webhook", id), ("do", "send")];
        developer.browser.post(&developer.path(page), &fields).status
    };
    assert_eq!(post(other, &id), 400);
    assert_eq!(post("events/Svc.ACC.Accounts.AccountUpdated", &id), 400);
    assert_eq!(post(&page, super::NIL_ID), 404);
    assert_eq!(post("events/Svc.ACC.Customers.Acknowledge", &id), 404);

    // To others the webhook does not exist.
    let stranger = Developer::sign_in_to(fixture.server, "extranos");
    let form = stranger.get("team").form("post");
    let path = stranger.path(&page);
    let form = crate::harness::Form { action: path, ..form };
    assert_eq!(stranger.browser.submit(&form, &[("webhook", &id), ("do", "send")]).status, 404);
    assert!(stranger.get_in("en", &page).contains("No active webhook receives this event"));
    assert_eq!(received(&fixture), [UPDATED], "nothing else was sent");
}

#[test]
fn api_sends_a_test_event_of_a_chosen_kind() {
    let fixture = DeliveryFixture::new();
    let id = fixture.active_webhook("/hook");
    let test = |query: &str| {
        let path = format!("{CUSTOMERS}/webhooks/{id}/test{query}");
        send(&fixture.api, Method::POST, &path, None)
    };
    assert_eq!(test("").status, 202);
    wait_for("the first kind", || {
        (received(&fixture) == ["Svc.ACC.Customers.CustomerCreated"]).then_some(())
    });
    assert_eq!(test(&format!("?event={UPDATED}")).status, 202);
    wait_for("the chosen kind", || {
        (received(&fixture).last().map(String::as_str) == Some(UPDATED)).then_some(())
    });
    let refused = test("?event=Svc.ACC.Customers.CustomerDisabled");
    assert_eq!(
        (refused.status, &refused.json()["errors"][0]["code"]),
        (409, &json!("not_subscribed")),
        "{refused:?}"
    );
    assert_eq!(test("?event=CustomerCreated").status, 400);
}
