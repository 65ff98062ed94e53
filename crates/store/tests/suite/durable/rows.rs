//! Every row of a store as its archive gives it out, and a store that has rows in every table.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::{Guid, Secret, Ticks};
use store::archive::{RowChunk, TABLES};
use store::{
    Archive, CallCount, CellValue, ClientSecret, EventGap, HandshakeStep, KeyLastUse, KeySlot, WebhookChange,
};
use tokio::sync::mpsc;

use crate::suite::applications::{client, subscription};
use crate::suite::codes::{chosen, code, grant, makes, ours, taking};
use crate::suite::desk::{Desk, company, customer, delete, disable, entity, journal, payroll};
use crate::suite::directory::{membership, user};
use crate::suite::refresh::rotation;
use crate::suite::secrets::signing_key;
use crate::suite::sessions::{begun, session};
use crate::suite::stage::Stage;
use crate::suite::webhook_fixtures::{
    body, contracted, delivered, failed, found, in_trouble, made, point, retry, written,
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

/// Puts something into every table, with texts that are easily broken; gives the desk of its busiest tenant.
pub(crate) async fn furnish(stage: &Stage) -> Desk {
    let (store, now) = (&stage.store, stage.now());
    let (desk, erased) = (stage.desk().await, stage.desk().await);
    erased.accept([company("c1")]).await;
    desk.accept([
        company("c1"),
        company("c2"),
        payroll(1, "Ñ \"1\"", None),
        entity("Bank", "b1", r#"{"a":"\u0001\\"}"#),
    ])
    .await;
    desk.accept((0..1100).map(|number| journal("c1", &format!("j{number}"), "{}"))).await;
    desk.accept([customer("c1", "k1", "🗝️"), disable(customer("c1", "k1", "")), journal("c2", "j1", "{}")])
        .await;
    desk.accept([delete(journal("c1", "j7", "{}")), delete(company("c2"))]).await;
    let import = desk.chunk("import", 0, [customer("c1", "k2", "Berta"), customer("c9", "k", "Eva")]);
    store.apply_changes(import).await.unwrap();

    store.add_user(&user(stage, "maria"), &[]).await.unwrap();
    store.add_membership(&membership(stage, "m1", "maria", &desk.tenant)).await.unwrap();
    store.add_client(&client(stage, "erp"), &Secret::new("client-secret-1")).await.unwrap();
    let second = ClientSecret { secret: Secret::new("client-secret-2"), previous_valid_until: now };
    store.set_client_secret(&client(stage, "erp").id, &second).await.unwrap();
    let keys = (Secret::new("subscription-key-1"), Secret::new("subscription-key-2"));
    store.add_subscription(&subscription(stage, "s1"), &keys.0, &keys.1).await.unwrap();
    let route = "/accounting/api/customers".to_owned();
    let calls =
        CallCount { subscription: subscription(stage, "s1").id, day: 739_000, route, calls: 3, failed: 1 };
    let used = KeyLastUse { key: keys.0.clone(), at: stage.now() };
    store.record_usage(&[calls], &[used]).await.unwrap();
    store.register_node(Guid::from_bytes([7; 16]), Duration::from_hours(1)).await.unwrap();
    let third = Secret::new("subscription-key-3");
    store.rotate_key(&subscription(stage, "s1").id, KeySlot::Primary, &third, later(now)).await.unwrap();

    let (used, waiting) = (Secret::new("code-1"), Secret::new("code-2"));
    store.store_code(&used, &code(now), &chosen(), now).await.unwrap();
    store.store_code(&waiting, &code(now), &chosen(), now).await.unwrap();
    let judge = makes(&grant("g1", now), Some(("token-1", later(now))));
    store.take_code(&taking(&used, &ours(), now), judge).await.unwrap();
    store.rotate_refresh(&rotation(1, now)).await.unwrap();
    store.add_signing_key(&signing_key("kid-1", now), None).await.unwrap();
    let cookie = Secret::new("session-1");
    store.begin_session(&cookie, &session("maria", now), None, &begun("maria", now)).await.unwrap();
    store.save_dev_credentials(r#"{"ñ":1}"#).await.unwrap();
    furnish_webhooks(stage, &desk).await;
    store.erase_tenant(&erased.tenant).await.unwrap();
    desk
}

/// Webhooks with every column set in one or another, lanes, replays and a history.
async fn furnish_webhooks(stage: &Stage, desk: &Desk) {
    let (store, now) = (&stage.store, stage.now());
    let first = contracted(stage, desk, "first").await;
    let rotate = WebhookChange::RotateSecret {
        secret: Secret::new("webhook-secret second"),
        previous_valid_until: later(now),
    };
    store.change_webhook(first.id, None, rotate).await.unwrap();
    let rotated = found(store, first.id).await;
    in_trouble(stage, &rotated).await;
    let mut told = point(store, &rotated).await;
    told.event_gap = Some(EventGap { at: now, after: 1, through: 2 });
    told.disabled = Some("24 h".into());
    told.attempts = vec![failed(3, 1, now)];
    told.delivered = vec![delivered(4, now, 7), delivered(5, later(now), 8)];
    written(store, told).await;
    let other = made(store, body(stage, desk, "other")).await;
    let mut failing = point(store, &other).await;
    failing.handshake = Some(HandshakeStep::Failed { number: 1, retry: retry(1, now) });
    written(store, failing).await;
    store.change_webhook(other.id, None, WebhookChange::Unsubscribe).await.unwrap();
    store.change_webhook(other.id, None, WebhookChange::Delete).await.unwrap();
}

fn later(now: Ticks) -> Ticks {
    now + Duration::from_secs(1000)
}
