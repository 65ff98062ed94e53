//! Access and when it ends: tokens, reads, feeds and webhooks follow the user's authorization of the application.

use std::time::Duration;

use hyper::Method;
use serde_json::{Value, json};

use super::delivery_fixture::DeliveryFixture;
use super::{CUSTOMERS, get, send};
use web::Stopwatch;

use crate::harness::{
    ALL_SCOPES, ApiFixture, Database, Installation, OperatorApi, Page, Receiver, ServeProcess,
    SubscriptionKeys, company, context, customer, new_user, wait_for,
};

const PERMISSIONS: &str = "/auth/core/permissions";

/// The user's page of applications with access.
fn permissions(api: &ApiFixture<'_>) -> Page {
    api.sign_in.signed_in_browser().get(PERMISSIONS)
}

/// Withdraws the application's access at `/permissions`; returns the page that follows.
fn withdraw(api: &ApiFixture<'_>) -> Page {
    let browser = api.sign_in.signed_in_browser();
    let form = browser.get(PERMISSIONS).form("post");
    browser.follow_redirects(browser.submit(&form, &[]))
}

fn sign_in_again(fixture: &mut DeliveryFixture) {
    fixture.api.tokens(ALL_SCOPES).access().clone_into(&mut fixture.api.token);
}

fn operator(fixture: &DeliveryFixture) -> OperatorApi<'_> {
    OperatorApi(fixture.server)
}

/// The webhook as the operator sees it.
fn operator_view(api: &OperatorApi<'_>, id: &str) -> Value {
    api.get(&format!("/webhooks/{id}")).json()
}

fn read_status(fixture: &DeliveryFixture, path: &str) -> u16 {
    fixture.api.get(path).header("context", &context("c")).send().status
}

/// Asserts that the webhook is suspended for this reason, and that a change made now is not delivered.
#[track_caller]
fn assert_suspended(fixture: &DeliveryFixture, id: &str, reason: &str, record: &str) {
    let view = operator_view(&operator(fixture), id);
    assert_eq!(
        (&view["status"], &view["health"]["suspension"]["reason"]),
        (&json!("suspended"), &json!(reason))
    );
    let before = fixture.receiver.requests().len();
    fixture.put(record, "while suspended");
    // Another application's webhook gets a later change: the engine has passed this one.
    let other = DeliveryFixture::new();
    other.active_webhook("/other");
    other.put("probe", "later");
    other.receiver.wait_for(1);
    assert_eq!(fixture.receiver.requests().len(), before, "nothing is sent: {reason}");
}

#[track_caller]
fn assert_resumes(fixture: &DeliveryFixture, id: &str, records: &[&str]) {
    // Changes of different records may arrive in any order.
    let received = || {
        let mut received = fixture.receiver.records();
        received.sort();
        received
    };
    wait_for("the waiting changes", || (received() == records).then_some(()));
    let view = operator_view(&operator(fixture), id);
    assert_eq!((&view["status"], &view["health"]["suspension"]), (&json!("active"), &Value::Null));
}

#[test]
fn withdrawal_ends_reads_feeds_and_deliveries_until_the_user_signs_in_again() {
    let mut fixture = DeliveryFixture::new();
    let id = fixture.active_webhook("/hook");
    fixture.put("r1", "before");
    fixture.receiver.wait_for(1);
    let page = permissions(&fixture.api);
    for words in ["Customers", &fixture.receiver.host(), "dejará de recibir avisos"] {
        assert!(page.text().contains(words), "{words}: {}", page.text());
    }
    assert!(withdraw(&fixture.api).text().contains("ya no tiene acceso"));
    assert_eq!(read_status(&fixture, CUSTOMERS), 401);
    assert_eq!(read_status(&fixture, &format!("{CUSTOMERS}/changes?after=0")), 401);
    assert_eq!(get(&fixture.api, &format!("{CUSTOMERS}/webhooks/{id}")).status, 401);
    assert_suspended(&fixture, &id, "access_withdrawn", "r2");
    sign_in_again(&mut fixture);
    assert_eq!(fixture.record(&id)["isActive"], true, "isActive does not change");
    assert_resumes(&fixture, &id, &["r1", "r2"]);
    for kind in ["webhook_suspended", "webhook_resumed", "access_ended"] {
        let query = format!("kind={kind}&client={}", fixture.api.sign_in.app.id);
        wait_for(kind, || (fixture.api.sign_in.audit(&query).len() == 1).then_some(()));
    }
}

#[test]
fn replays_and_test_events_are_refused_while_suspended() {
    let fixture = DeliveryFixture::new();
    let id = fixture.active_webhook("/hook");
    fixture.put("r1", "before");
    fixture.receiver.wait_for(1);
    let requests = fixture.receiver.requests().len();
    withdraw(&fixture.api);
    let api = operator(&fixture);
    let from = json!({"from": "2020-01-01T00:00:00Z"});
    for (path, body) in [("test", json!({})), ("replay", from)] {
        let refused = api.post(&format!("/webhooks/{id}/{path}"), &body);
        assert_eq!(refused.status, 409, "{refused:?}");
        assert!(refused.text().contains("withdrawn"), "{refused:?}");
    }
    assert_eq!(fixture.receiver.requests().len(), requests);
}

#[test]
fn team_without_a_subscription_suspends_the_webhooks_of_its_clients() {
    let fixture = DeliveryFixture::new();
    let id = fixture.active_webhook("/hook");
    let api = operator(&fixture);
    let (client, team) =
        (format!("/clients/{}", fixture.api.sign_in.app.id), fixture.api.sign_in.app.id.clone());
    api.create("/teams", &json!({"name": "Panel", "id": team}));
    let patch = |path: &str, body: Value| assert_eq!(api.patch(path, &body).status, 200, "{path} {body}");
    patch(&client, json!({"team": team}));
    assert_suspended(&fixture, &id, "team_subscription_missing", "r1");
    let made = api.create("/subscriptions", &json!({"name": "x", "products": ["payroll"], "team": team}));
    assert!(made["primaryKey"].is_string());
    assert_suspended(&fixture, &id, "team_subscription_missing", "r2");
    let made = api.create("/subscriptions", &json!({"name": "x", "products": ["accounting"], "team": team}));
    let subscription = format!("/subscriptions/{}", made["subscription"]["id"].as_str().unwrap());
    assert_resumes(&fixture, &id, &["r1", "r2"]);
    patch(&subscription, json!({"standing": "suspended"}));
    assert_suspended(&fixture, &id, "team_subscription_missing", "r3");
    let refused = api.post(&format!("/webhooks/{id}/test"), &json!({}));
    assert!(refused.status == 409 && refused.text().contains("no active subscription"), "{refused:?}");
    patch(&subscription, json!({"standing": "active"}));
    assert_resumes(&fixture, &id, &["r1", "r2", "r3"]);
    patch(&format!("/teams/{team}"), json!({"standing": "disabled"}));
    assert_suspended(&fixture, &id, "team_subscription_missing", "r4");
    patch(&format!("/teams/{team}"), json!({"standing": "active"}));
    assert_resumes(&fixture, &id, &["r1", "r2", "r3", "r4"]);
    assert_eq!(api.post(&format!("{subscription}/cancel"), &json!({})).status, 200);
    assert_suspended(&fixture, &id, "team_subscription_missing", "r5");
    patch(&client, json!({"team": null}));
    assert_resumes(&fixture, &id, &["r1", "r2", "r3", "r4", "r5"]);
}

#[test]
fn disabled_user_suspends_webhooks_until_enabled() {
    let fixture = DeliveryFixture::new();
    let id = fixture.active_webhook("/hook");
    let path = format!("/users/{}", fixture.api.sign_in.email);
    assert_eq!(operator(&fixture).patch(&path, &json!({"standing": "disabled"})).status, 200);
    assert_eq!(read_status(&fixture, CUSTOMERS), 401);
    assert_suspended(&fixture, &id, "user_disabled", "r1");
    assert_eq!(operator(&fixture).patch(&path, &json!({"standing": "active"})).status, 200);
    assert_resumes(&fixture, &id, &["r1"]);
    assert_eq!(read_status(&fixture, CUSTOMERS), 200, "the same token works again");
}

#[test]
fn removed_membership_stays_ended_until_a_new_sign_in() {
    let mut fixture = DeliveryFixture::new();
    let id = fixture.active_webhook("/hook");
    let path = format!("/users/{}/tenants/{}", fixture.api.sign_in.email, fixture.api.sign_in.tenants[0]);
    assert_eq!(operator(&fixture).delete(&path).status, 204);
    assert_eq!(read_status(&fixture, CUSTOMERS), 401);
    assert_suspended(&fixture, &id, "membership_removed", "r1");
    assert_eq!(operator(&fixture).put(&path).status, 201);
    assert_suspended(&fixture, &id, "membership_removed", "r2");
    assert_eq!(read_status(&fixture, CUSTOMERS), 401, "an old token stays refused");
    sign_in_again(&mut fixture);
    assert_resumes(&fixture, &id, &["r1", "r2"]);
}

#[test]
fn revocation_of_the_last_grant_suspends_webhooks() {
    let mut fixture = DeliveryFixture::new();
    let id = fixture.active_webhook("/hook");
    let second = fixture.api.tokens(ALL_SCOPES);
    assert_eq!(fixture.api.sign_in.revoke(&fixture.api.token).status, 200);
    fixture.put("r1", "a grant is left");
    fixture.receiver.wait_for(1);
    assert_eq!(fixture.api.sign_in.revoke(second.refresh()).status, 200);
    assert_suspended(&fixture, &id, "access_revoked", "r2");
    sign_in_again(&mut fixture);
    assert_resumes(&fixture, &id, &["r1", "r2"]);
}

#[test]
fn colleague_keeps_webhooks_alive_and_an_administrator_ends_them_for_all() {
    let fixture = DeliveryFixture::new();
    let id = fixture.active_webhook("/hook");
    let own = &fixture.api.sign_in;
    let tenant = own.tenants[0].clone();
    let mut colleague = own.with_app(own.app.clone());
    colleague.email = new_user(fixture.server, &[&tenant]);
    colleague.tokens_for(&colleague.authorization_request().with("scope", ALL_SCOPES));
    assert!(
        permissions(&fixture.api).text().contains("Seguirá recibiendo avisos"),
        "the page says so before"
    );
    let after = withdraw(&fixture.api);
    assert!(after.text().contains("Sigue recibiendo avisos"), "and after: {}", after.text());
    fixture.put("r1", "the colleague's authorization covers it");
    fixture.receiver.wait_for(1);
    assert!(permissions(&fixture.api).forms().is_empty(), "nothing to end without the role");
    let membership = format!("/users/{}/tenants/{tenant}", own.email);
    assert_eq!(operator(&fixture).patch(&membership, &json!({"admin": true})).json()["admin"], true);
    let page = permissions(&fixture.api);
    assert!(page.text().contains("Retirar el acceso de todos"), "{}", page.text());
    withdraw(&fixture.api);
    assert_suspended(&fixture, &id, "access_withdrawn_for_tenant", "r2");
}

#[test]
fn user_without_the_role_cannot_end_access_for_the_tenant() {
    let fixture = DeliveryFixture::new();
    let id = fixture.active_webhook("/hook");
    let own = &fixture.api.sign_in;
    let mut colleague = own.with_app(own.app.clone());
    colleague.email = new_user(fixture.server, &[&own.tenants[0]]);
    colleague.tokens_for(&colleague.authorization_request().with("scope", ALL_SCOPES));
    let browser = colleague.signed_in_browser();
    let form = browser.get(PERMISSIONS).form("post");
    browser.follow_redirects(browser.submit(&form, &[("for", "tenant")]));
    assert_eq!(read_status(&fixture, CUSTOMERS), 200);
    assert_eq!(operator_view(&operator(&fixture), &id)["status"], "active");
}

#[test]
fn other_node_stops_within_two_seconds() {
    let database = Database::create();
    let settings = [
        "gateway.rate_per_minute=0",
        "egress.loopback=true",
        "delivery.timeout=1s",
        "delivery.share_after=1s",
    ];
    let first = Installation::with_store(&database.url());
    let second = Installation::with_store(&database.url());
    second.copy_master_key_from(&first);
    let first = ServeProcess::start(first, &settings);
    let second = ServeProcess::start(second, &settings);
    let api = ApiFixture::on(&first, &SubscriptionKeys::new(&first, &[]));
    let (receiver, ingest) = (Receiver::open(), first.ingest_client(&api.sign_in.tenants[0]));
    ingest.send_lines(&[company("c")]);
    let webhooks = 12;
    for number in 0..webhooks {
        let body = json!({
            "thirdPartyApplicationName": "Panel", "url": receiver.url(&format!("/{number}")), "secret": "s",
            "eventTypes": ["Svc.ACC.Customers.CustomerCreated", "Svc.ACC.Customers.CustomerUpdated"],
        });
        assert_eq!(
            send(&api, Method::POST, &format!("{CUSTOMERS}/webhooks/subscribe"), Some(&body)).status,
            200
        );
    }
    wait_for("both nodes to deliver", || {
        let held = [&first, &second].map(|node| node.metric("aldaba_webhooks_held"));
        (held.iter().sum::<u64>() == webhooks && !held.contains(&0)).then_some(())
    });
    wait_for("all receivers to accept", || {
        let all = get(&api, &format!("{CUSTOMERS}/webhooks")).json();
        all.as_array().unwrap().iter().all(|one| one["isActive"] == true).then_some(())
    });
    withdraw(&api);
    let ended = Stopwatch::start();
    // A change every few milliseconds: the last delivery shows when the other node has learned of the end.
    let (mut last, mut seen) = (Duration::ZERO, receiver.changes().len());
    for number in 0.. {
        ingest.send_lines(&[customer("c", &format!("r{number}"), "after the end")]);
        let now = receiver.changes().len();
        if now > seen {
            (last, seen) = (ended.elapsed(), now);
        }
        if ended.elapsed() > Duration::from_secs(4) {
            break;
        }
    }
    println!("the last delivery after the end of access came after {last:?}");
    assert!(last < Duration::from_secs(2), "{last:?}");
}
