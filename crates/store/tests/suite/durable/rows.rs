//! Reads every row of a store through its archive, and fills every table of a store.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::{AccountId, ClientId, GrantId, Guid, OperatorRole, Realm, RequestId, Secret, TeamId, Ticks};
use store::archive::{RowChunk, TABLES};
use store::{
    Archive, AskOutcome, AuthorizationCode, CallCount, CellValue, Client, ClientSecret, DecisionOutcome,
    EventGap, FactorEffects, Grant, HandshakeStep, KeyLastUse, KeySlot, ReceiverMode, RequestDecision,
    SandboxOutcome, Status, Subscription, SuspensionStep, WebhookChange,
};
use tokio::sync::mpsc;

use crate::suite::clients::{client, subscription};
use crate::suite::codes::{approve, code, context, exchange, grant, membership_id, our_client};
use crate::suite::directory::{membership, user};
use crate::suite::fixture::{Fixture, by};
use crate::suite::invitations::{invitation, make};
use crate::suite::operators::{named_token, operator};
use crate::suite::password_resets::request as request_reset;
use crate::suite::reads::reads;
use crate::suite::refresh_tokens::rotation;
use crate::suite::requests::{approval, new_client, request};
use crate::suite::sandboxes::new_sandbox;
use crate::suite::second_factors::{codes, passkey, totp};
use crate::suite::sessions::{session, sign_in_entry};
use crate::suite::signing_keys::signing_key;
use crate::suite::teams::add_team;
use crate::suite::test_tenant::{TestTenant, company, customer, delete, disable, entity, journal, payroll};
use crate::suite::webhook_fixtures::{
    active_webhook, add_lanes_and_replay, create_webhook, failed_attempt, find_webhook, new_checkpoint,
    new_webhook, retry, successful_delivery, write_checkpoint,
};

pub(crate) type Rows = BTreeMap<&'static str, Vec<Vec<CellValue>>>;

pub(crate) async fn rows(archive: &dyn Archive) -> Rows {
    let (sender, mut chunks) = mpsc::channel::<RowChunk>(4);
    let mut rows: Rows = TABLES.iter().map(|table| (table.name, Vec::new())).collect();
    let collect = async {
        while let Some(chunk) = chunks.recv().await {
            rows.entry(chunk.table.name).or_default().extend(chunk.rows);
        }
    };
    let (dumped, ()) = tokio::join!(archive.dump(sender), collect);
    dumped.unwrap();
    rows
}

/// Writes rows into every table, with characters that a store could damage; returns the tenant with the most rows.
pub(crate) async fn fill_every_table(fixture: &Fixture) -> TestTenant {
    let (store, now) = (&fixture.store, fixture.now());
    let (tenant, erased) = (fixture.add_tenant().await, fixture.add_tenant().await);
    erased.accept([company("c1")]).await;
    tenant
        .accept([
            company("c1"),
            company("c2"),
            payroll(1, "Ñ \"1\"", None),
            entity("Bank", "b1", r#"{"a":"\u0001\\"}"#),
        ])
        .await;
    tenant.accept((0..1100).map(|number| journal("c1", &format!("j{number}"), "{}"))).await;
    tenant
        .accept([customer("c1", "k1", "🗝️"), disable(customer("c1", "k1", "")), journal("c2", "j1", "{}")])
        .await;
    tenant.accept([delete(journal("c1", "j7", "{}")), delete(company("c2"))]).await;
    let import = tenant.chunk("import", 0, [customer("c1", "k2", "Berta"), customer("c9", "k", "Eva")]);
    store.apply_changes(import).await.unwrap();

    store.add_account(&user(fixture, "maria"), &[], &by()).await.unwrap();
    store.add_membership(&membership(fixture, "m1", "maria", &tenant.id), &by()).await.unwrap();
    store.add_client(&client(fixture, "erp"), &Secret::new("client-secret-1"), &by()).await.unwrap();
    let browser = Client { kind: domain::ClientKind::Browser, ..client(fixture, "browser") };
    store.add_client(&browser, &Secret::new("unused"), &by()).await.unwrap();
    let second = ClientSecret { secret: Secret::new("client-secret-2"), previous_valid_until: now };
    store.set_client_secret(&client(fixture, "erp").id, &second, &by()).await.unwrap();
    let keys = (Secret::new("subscription-key-1"), Secret::new("subscription-key-2"));
    store.add_subscription(&subscription(fixture, "s1"), &keys.0, &keys.1, &by()).await.unwrap();
    fill_teams(fixture).await;
    let route = "/accounting/api/customers".to_owned();
    let calls =
        CallCount { subscription: subscription(fixture, "s1").id, day: 739_000, route, calls: 3, failed: 1 };
    let used = KeyLastUse { key: keys.0.clone(), at: fixture.now() };
    store.record_usage(&[calls], &[used]).await.unwrap();
    store.add_reads(&[reads(&tenant.id, "app", "journals", Some("ñ'1"), 8, 300)]).await.unwrap();
    store.register_node(Guid::from_bytes([7; 16]), Duration::from_hours(1)).await.unwrap();
    let third = Secret::new("subscription-key-3");
    store
        .rotate_key(&subscription(fixture, "s1").id, KeySlot::Primary, &third, later(now), &by())
        .await
        .unwrap();

    let (used, waiting) = (Secret::new("code-1"), Secret::new("code-2"));
    store.store_code(&used, &code(now), &membership_id(), now, &by()).await.unwrap();
    store.store_code(&waiting, &code(now), &membership_id(), now, &by()).await.unwrap();
    let decision = approve(&grant("g1", now), Some(("token-1", later(now))));
    store.take_code(&exchange(&used, &our_client(), now), decision).await.unwrap();
    store.rotate_refresh(&rotation(1, now)).await.unwrap();
    store.add_signing_key(&signing_key("kid-1", now), None, &by()).await.unwrap();
    for factor in [totp(1, "maria", now), passkey(2, "maria", now)] {
        let effects = FactorEffects::default();
        store.add_second_factor(&factor, &codes(fixture), None, &effects, &by()).await.unwrap();
    }
    let cookie = Secret::new("session-1");
    store
        .begin_session(&cookie, &session("maria", now), None, None, &sign_in_entry("maria", now))
        .await
        .unwrap();
    make(fixture, &invitation(fixture, "i1", Realm::Developers), "invitation-link-1").await;
    request_reset(fixture, &user(fixture, "maria"), "reset-link-1", 9).await;
    let ana = operator(fixture, "ana", OperatorRole::Admin, Status::Active);
    store.add_account(&ana, &[], &by()).await.unwrap();
    let token = named_token(fixture, "t1", "nightly ñ");
    store.add_operator_token(&token, &Secret::new("operator-token-1"), &by()).await.unwrap();
    store.record_operator_token_use(&token.id, now).await.unwrap();
    store.save_dev_credentials(r#"{"ñ":1}"#).await.unwrap();
    fill_authorizations(fixture, &tenant).await;
    fill_webhooks(fixture, &tenant).await;
    store.erase_tenant(&erased.id, &by()).await.unwrap();
    tenant
}

/// The sandbox of a team.
async fn fill_sandbox(fixture: &Fixture, team: &str) {
    let (store, team_id) = (&fixture.store, TeamId::new(team));
    let made = store.add_sandbox(&team_id, &new_sandbox(fixture, team, 1), &by()).await.unwrap();
    let SandboxOutcome::Done(made) = made else { panic!("{made:?}") };
    store.mark_sandbox_loaded(&made.tenant, fixture.now()).await.unwrap();
    assert!(store.take_sandbox_events(&team_id, 7, 1, 1).await.unwrap());
    store.set_receiver_mode(&team_id, ReceiverMode::Hang, &by()).await.unwrap();
}

/// A team with its owner, a client, a subscription, and requests that together set every column.
async fn fill_teams(fixture: &Fixture) {
    let (store, team) = (&fixture.store, add_team(fixture, "panel", "eva").await);
    let of_team = Client { team: Some(team.id.clone()), is_sandbox: true, ..client(fixture, "panel") };
    store.add_client(&of_team, &Secret::new("client-secret-9"), &by()).await.unwrap();
    let team_id = team.id.clone();
    let of_team = Subscription { team: Some(team.id), is_sandbox: true, ..subscription(fixture, "s2") };
    let keys = ["subscription-key-8", "subscription-key-9"].map(Secret::new);
    store.add_subscription(&of_team, &keys[0], &keys[1], &by()).await.unwrap();
    fill_sandbox(fixture, "panel").await;
    let (eva, now) = (AccountId::new("eva"), fixture.now());
    store.mark_notices_read(&team_id, &eva, now).await.unwrap();
    let none = domain::NoticeKinds::default();
    assert_eq!(store.set_notice_preferences(&team_id, &eva, none, &by()).await, Ok(true));
    for (id, decision) in [
        ("r1", None),
        ("r2", Some(approval(1))),
        ("r3", Some(RequestDecision::Refuse { reason: "sin \"contrato\"".into() })),
    ] {
        let asked = store.add_request(&request(fixture, id, new_client()), &by()).await;
        assert_eq!(asked, Ok(AskOutcome::Asked));
        if let Some(decision) = decision {
            let outcome = store.decide_request(&RequestId::new(id), &decision, None, &by()).await.unwrap();
            assert!(matches!(outcome, DecisionOutcome::Decided(_)), "{outcome:?}");
        }
    }
    let unmailed = store.unmailed_notices(1).await.unwrap();
    assert_eq!(store.queue_notice_mails(&team_id, &[unmailed[0].id], &[], now).await, Ok(true));
}

/// One authorization that stands and one that has ended.
async fn fill_authorizations(fixture: &Fixture, tenant: &TestTenant) {
    let (store, now) = (&fixture.store, fixture.now());
    for name in ["g3", "g4"] {
        let (secret, client) = (Secret::new(name), ClientId::new(name));
        let code = AuthorizationCode { client: client.clone(), tenant: tenant.id.clone(), ..code(now) };
        store.store_code(&secret, &code, &membership_id(), now, &by()).await.unwrap();
        let new = Grant { client: client.clone(), tenant: tenant.id.clone(), ..grant(name, now) };
        store.take_code(&exchange(&secret, &client, now), approve(&new, None)).await.unwrap();
    }
    store.revoke_grant(&GrantId::new("g4"), now, &context(), "").await.unwrap();
}

/// Adds webhooks that together set every column, with lanes, replays and history.
async fn fill_webhooks(fixture: &Fixture, tenant: &TestTenant) {
    let (store, now) = (&fixture.store, fixture.now());
    let first = active_webhook(fixture, tenant, "first").await;
    let rotate = WebhookChange::RotateSecret {
        secret: Secret::new("webhook-secret second"),
        previous_valid_until: later(now),
    };
    store.change_webhook(first.id, None, rotate, &by()).await.unwrap();
    let rotated = find_webhook(store, first.id).await;
    add_lanes_and_replay(fixture, &rotated).await;
    let mut checkpoint = new_checkpoint(store, &rotated).await;
    checkpoint.event_gap = Some(EventGap { at: now, after: 1, through: 2 });
    checkpoint.disabled = Some("24 h".into());
    checkpoint.suspension = Some(SuspensionStep::Suspended { at: now });
    checkpoint.attempts = vec![failed_attempt(3, 1, now)];
    checkpoint.delivered = vec![successful_delivery(4, now, 7), successful_delivery(5, later(now), 8)];
    write_checkpoint(store, checkpoint).await;
    let other = create_webhook(store, new_webhook(fixture, tenant, "other")).await;
    let mut failing = new_checkpoint(store, &other).await;
    failing.handshake = Some(HandshakeStep::Failed { number: 1, retry: retry(1, now), answered: None });
    write_checkpoint(store, failing).await;
    store.subscribe(new_webhook(fixture, tenant, "other"), 100, &by()).await.unwrap();
    let moved = active_webhook(fixture, tenant, "moved").await;
    store.change_webhook(moved.id, None, WebhookChange::Disable, &by()).await.unwrap();
    let to = WebhookChange::ChangeUrl("https://moved.example/".into());
    store.change_webhook(moved.id, None, to, &by()).await.unwrap();
    store.change_webhook(other.id, None, WebhookChange::Unsubscribe, &by()).await.unwrap();
    store.change_webhook(other.id, None, WebhookChange::Delete, &by()).await.unwrap();
}

fn later(now: Ticks) -> Ticks {
    now + Duration::from_secs(1000)
}
