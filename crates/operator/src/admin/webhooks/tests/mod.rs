//! What the operator sees of webhooks and does to them, over the store in memory.

mod stage;

use std::time::Duration;

use domain::{Resource, TenantId};
use store::{AttemptPurpose, ReplayStep, Status};

use super::{DeliveryAsk, DeliveryStatus, FamilyWord, WebhookAsk, WebhookStatus};
use crate::admin::AdminError;
use stage::{SECRET, START, Stage, TENANT, attempt, charges, context};

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, AdminError>, expected: &str) -> String {
    match result {
        Err(AdminError::Conflict { code, why }) if code == expected => why,
        other => panic!("{expected} was expected, not {other:?}"),
    }
}

#[track_caller]
fn missing<T: std::fmt::Debug>(result: Result<T, AdminError>) {
    match result {
        Err(AdminError::NotFound(_)) => {}
        other => panic!("nothing was to be found, not {other:?}"),
    }
}

/// The ids of all pages, of this many each.
async fn walk(stage: &Stage, ask: WebhookAsk, size: usize) -> Vec<String> {
    let (mut seen, mut ask) = (Vec::new(), WebhookAsk { rows_max: Some(size), ..ask });
    loop {
        let page = stage.admin.webhooks(&ask).await.unwrap();
        assert!(page.webhooks.len() <= size);
        seen.extend(page.webhooks.into_iter().map(|one| one.id));
        let Some(next) = page.next else { return seen };
        ask.after = Some(next.parse().unwrap());
    }
}

#[tokio::test]
async fn lists_come_in_pages_by_any_condition() {
    let stage = Stage::set().await;
    let mut made = Vec::new();
    for number in 0..7 {
        let client = if number % 2 == 0 { "app-1" } else { "app-2" };
        let resource = if number == 3 { Resource::invoicing().next().unwrap() } else { charges() };
        made.push(stage.subscribed(client, resource).await);
        stage.pass(u64::from(number > 2));
    }
    for size in [1, 2, 7, 8] {
        assert_eq!(walk(&stage, WebhookAsk::default(), size).await, made);
    }
    stage.accept(&made[1]).await;
    stage.admin.disable_webhook(&made[2], &context()).await.unwrap();
    stage.admin.delete_webhook(&made[4], &context()).await.unwrap();
    let ids = |places: &[usize]| places.iter().map(|place| made[*place].clone()).collect::<Vec<_>>();
    let client = WebhookAsk { client: Some("app-2".into()), ..WebhookAsk::default() };
    assert_eq!(walk(&stage, client, 2).await, ids(&[1, 3, 5]));
    let family = WebhookAsk { family: Some(FamilyWord::Invoicing), ..WebhookAsk::default() };
    assert_eq!(walk(&stage, family, 2).await, ids(&[3]));
    let resource = WebhookAsk { resource: Some(charges()), ..WebhookAsk::default() };
    assert_eq!(walk(&stage, resource, 2).await, ids(&[0, 1, 2, 5, 6]));
    for (status, places) in [
        (WebhookStatus::Active, &[1][..]),
        (WebhookStatus::Disabled, &[2]),
        (WebhookStatus::AwaitingContract, &[0, 3, 5, 6]),
        (WebhookStatus::Deleted, &[4]),
        (WebhookStatus::Unsubscribed, &[]),
    ] {
        let ask = WebhookAsk { status: Some(status), ..WebhookAsk::default() };
        assert_eq!(walk(&stage, ask, 3).await, ids(places), "{status:?}");
    }
    let tenant = |id: &str| WebhookAsk { tenant: Some(id.into()), ..WebhookAsk::default() };
    assert_eq!(walk(&stage, tenant(TENANT), 100).await.len(), 6);
    missing(stage.admin.webhooks(&tenant("nobody")).await);
    let nobody = WebhookAsk { client: Some("nobody".into()), ..WebhookAsk::default() };
    missing(stage.admin.webhooks(&nobody).await);
    assert!(stage.admin.webhooks(&WebhookAsk { rows_max: Some(0), ..WebhookAsk::default() }).await.is_err());
}

#[tokio::test]
async fn a_webhook_is_shown_with_its_health_and_without_its_secret() {
    let stage = Stage::set().await;
    let id = stage.active().await;
    let (first, second) = (stage.charge("r1", 1).await, stage.charge("r2", 1).await);
    stage.charge("r3", 1).await;
    stage.pass(60);
    stage.deliver(&id, first).await;
    stage.fail(&id, second, 1).await;
    let shown = stage.admin.webhook(&id).await.unwrap();
    assert_eq!((shown.status, shown.resource), (WebhookStatus::Active, "charges"));
    assert_eq!(shown.events[0], "Svc.ACC.Charges.ChargeCreated");
    let health = shown.health.as_ref().unwrap();
    assert_eq!((health.delivered, health.failed_attempts, health.success_rate), (1, 1, Some(0.5)));
    assert_eq!((health.p95_milliseconds, health.lanes, health.events_behind), (Some(40), 1, 2));
    assert_eq!(health.failing_since.as_deref(), Some(START.iso().as_str()));
    assert_eq!(health.next_attempt_at, Some((stage.now() + Duration::from_secs(5)).iso()));
    assert_eq!(health.last_delivered_at, Some(stage.now().iso()));
    assert!(health.handshake.is_accepted && health.lost.is_none());
    assert_eq!(health.recent_attempts[0].reason, "the answer was 500; a 2xx is wanted");
    assert!(!serde_json::to_string(&shown).unwrap().contains(SECRET));
    missing(stage.admin.webhook("nobody").await);
    missing(stage.admin.webhook(&domain::Guid::from_bytes([0; 16]).to_string()).await);
}

#[tokio::test]
async fn a_status_follows_from_facts_and_says_what_to_do() {
    let stage = Stage::set().await;
    let id = stage.subscribed("app-1", charges()).await;
    let status = || async {
        let shown = stage.admin.webhook(&id).await.unwrap();
        assert!(shown.explanation.ends_with('.'), "{}", shown.explanation);
        shown.status
    };
    assert_eq!(status().await, WebhookStatus::AwaitingContract);
    stage.accept(&id).await;
    assert_eq!(status().await, WebhookStatus::Active);
    stage.admin.set_tenant_status(&TenantId::new(TENANT), Status::Disabled).await.unwrap();
    assert_eq!(status().await, WebhookStatus::Suspended);
    refused(stage.admin.test_webhook(&id, &context()).await, "inactive");
    stage.admin.set_tenant_status(&TenantId::new(TENANT), Status::Active).await.unwrap();
    stage.admin.set_client_status("app-1", Status::Disabled).await.unwrap();
    assert_eq!(status().await, WebhookStatus::Suspended);
    stage.admin.set_client_status("app-1", Status::Active).await.unwrap();
    stage.give_up(&id).await;
    assert_eq!(status().await, WebhookStatus::DisabledByService);
    let shown = stage.admin.webhook(&id).await.unwrap();
    assert!(shown.explanation.contains("no delivery succeeded for 24 h"), "{}", shown.explanation);
    assert_eq!(shown.disabled_why.as_deref(), Some("no delivery succeeded for 24 h"));
    assert_eq!(stage.admin.enable_webhook(&id, &context()).await.unwrap().status, WebhookStatus::Active);
    assert_eq!(stage.admin.disable_webhook(&id, &context()).await.unwrap().status, WebhookStatus::Disabled);
    assert_eq!(stage.admin.delete_webhook(&id, &context()).await.unwrap().status, WebhookStatus::Deleted);
    assert_eq!(status().await, WebhookStatus::Deleted);
}

#[tokio::test]
async fn what_is_done_is_in_the_audit_and_what_changes_nothing_is_not() {
    let stage = Stage::set().await;
    let id = stage.active().await;
    stage.admin.enable_webhook(&id, &context()).await.unwrap();
    assert_eq!(stage.audit().await, []);
    stage.admin.disable_webhook(&id, &context()).await.unwrap();
    stage.admin.disable_webhook(&id, &context()).await.unwrap();
    stage.pass(1);
    stage.admin.enable_webhook(&id, &context()).await.unwrap();
    stage.pass(1);
    stage.admin.test_webhook(&id, &context()).await.unwrap();
    stage.pass(1);
    let sequence = stage.charge("r1", 1).await;
    stage.admin.replay_delivery(&id, &sequence.to_string(), &context()).await.unwrap();
    stage.pass(1);
    stage.admin.delete_webhook(&id, &context()).await.unwrap();
    let note = |what: &str| format!("webhook {id}: {what} by the operator");
    let expected = [
        ("webhook_changed", note("disabled")),
        ("webhook_changed", note("enabled")),
        ("webhook_changed", note("a test event asked for")),
        ("webhook_replayed", note(&format!("events {sequence} to {sequence} asked for again"))),
        ("webhook_changed", note("deleted")),
    ];
    assert_eq!(stage.audit().await, expected);
}

#[tokio::test]
async fn what_is_over_stays_over() {
    let stage = Stage::set().await;
    let id = stage.active().await;
    stage.admin.delete_webhook(&id, &context()).await.unwrap();
    assert!(refused(stage.admin.enable_webhook(&id, &context()).await, "over").contains("final"));
    refused(stage.admin.disable_webhook(&id, &context()).await, "over");
    refused(stage.admin.delete_webhook(&id, &context()).await, "over");
    refused(stage.admin.test_webhook(&id, &context()).await, "inactive");
    missing(stage.admin.delete_webhook("nobody", &context()).await);
}

#[tokio::test]
async fn each_event_stands_once_where_it_was_last_heard_of() {
    let stage = Stage::set().await;
    let id = stage.active().await;
    let mut made = Vec::new();
    for number in 0..23 {
        let sequence = stage.charge(&format!("r{number}"), number).await;
        stage.pass(1);
        if number % 3 == 0 {
            stage.fail(&id, sequence, 1).await;
            stage.pass(1);
            stage.fail(&id, sequence, 2).await;
        } else {
            stage.deliver(&id, sequence).await;
        }
        made.push(sequence.to_string());
    }
    made.reverse();
    for size in [1, 4, 23, 24] {
        let (mut seen, mut ask) =
            (Vec::new(), DeliveryAsk { rows_max: Some(size), ..DeliveryAsk::default() });
        loop {
            let page = stage.admin.deliveries(&id, &ask).await.unwrap();
            assert!(page.deliveries.len() <= size);
            seen.extend(page.deliveries.into_iter().map(|one| one.sequence_version));
            let Some(next) = page.next else { break };
            ask.before = Some(next.parse().unwrap());
        }
        assert_eq!(seen, made, "{size}");
    }
    for (status, count) in
        [(DeliveryStatus::SuccessfulDelivery, 15), (DeliveryStatus::Waiting, 8), (DeliveryStatus::Failed, 0)]
    {
        let ask = DeliveryAsk { status: Some(status), ..DeliveryAsk::default() };
        assert_eq!(stage.admin.deliveries(&id, &ask).await.unwrap().deliveries.len(), count, "{status:?}");
    }
    let since = Some(stage.now().minus(Duration::from_secs(1)));
    let late = stage.admin.deliveries(&id, &DeliveryAsk { since, ..DeliveryAsk::default() }).await.unwrap();
    assert_eq!(late.deliveries.len(), 2);
    stage.give_up(&id).await;
    let failed = DeliveryAsk { status: Some(DeliveryStatus::Failed), ..DeliveryAsk::default() };
    let failed = stage.admin.deliveries(&id, &failed).await.unwrap().deliveries;
    assert_eq!(failed.len(), 8);
    assert!(failed.iter().all(|one| one.next_attempt_at.is_none() && one.attempts.len() == 2));
    missing(stage.admin.deliveries("nobody", &DeliveryAsk::default()).await);
}

#[tokio::test]
async fn handshakes_and_tests_are_of_no_event() {
    let stage = Stage::set().await;
    let id = stage.active().await;
    let at = stage.now();
    stage
        .engine(&id, |point| {
            point.attempts = vec![
                attempt(AttemptPurpose::Handshake { number: 1 }, 1, at),
                attempt(AttemptPurpose::Test, 1, at),
            ];
        })
        .await;
    assert!(stage.admin.deliveries(&id, &DeliveryAsk::default()).await.unwrap().deliveries.is_empty());
    assert_eq!(stage.admin.webhook(&id).await.unwrap().health.unwrap().recent_attempts.len(), 2);
}

#[tokio::test]
async fn a_delivery_is_found_by_its_id_and_by_its_number() {
    let stage = Stage::set().await;
    let before = stage.charge("r0", 1).await;
    let id = stage.active().await;
    let (first, behind, next) =
        (stage.charge("r1", 1).await, stage.charge("r1", 2).await, stage.charge("r2", 1).await);
    stage.fail(&id, first, 1).await;
    stage.engine(&id, |point| point.cursor = Some(behind)).await;
    let by_number = stage.admin.delivery(&id, &first.to_string()).await.unwrap();
    assert_eq!(by_number.status, DeliveryStatus::Waiting);
    assert!(by_number.next_attempt_at.is_some() && by_number.attempts.len() == 1);
    let outgoing = by_number.outgoing_id.unwrap();
    let by_id = stage.admin.delivery(&id, &outgoing).await.unwrap();
    assert_eq!(by_id.sequence_version, first.to_string());
    assert!(by_id.body.unwrap().contains(&format!("\"OutgoingId\":\"{outgoing}\"")));
    let waits_behind = stage.admin.delivery(&id, &behind.to_string()).await.unwrap();
    assert_eq!((waits_behind.status, waits_behind.next_attempt_at), (DeliveryStatus::Waiting, None));
    let not_tried = stage.admin.delivery(&id, &next.to_string()).await.unwrap();
    assert_eq!((not_tried.status, not_tried.attempts.len()), (DeliveryStatus::Waiting, 0));
    let other = stage.active().await;
    for name in ["", "nothing", "0", "-1", "99999", &before.to_string(), &other] {
        missing(stage.admin.delivery(&id, name).await);
    }
    missing(stage.admin.delivery(&other, &outgoing).await);
    stage.admin.delete_webhook(&id, &context()).await.unwrap();
    let past = stage.admin.delivery(&id, &outgoing).await.unwrap();
    assert_eq!((past.status, past.outgoing_id), (DeliveryStatus::Failed, Some(outgoing)));
}

#[tokio::test]
async fn only_what_a_webhook_was_entitled_to_is_sent_again() {
    let stage = Stage::set().await;
    let before = stage.charge("r0", 1).await;
    stage.pass(10);
    let early = stage.now();
    let id = stage.active().await;
    stage.pass(10);
    let (first, last) = (stage.charge("r1", 1).await, stage.charge("r2", 1).await);
    let (admin, by) = (&stage.admin, context());
    let one = admin.replay_delivery(&id, &first.to_string(), &by).await.unwrap();
    assert_eq!((one.number, one.after, one.upto), (1, (first - 1).to_string(), first.to_string()));
    let all = admin.replay_span(&id, START, None, &by).await.unwrap();
    assert_eq!((all.after, all.upto), (before.to_string(), last.to_string()));
    missing(admin.replay_delivery(&id, &before.to_string(), &by).await);
    refused(admin.replay_span(&id, START, Some(early), &by).await, "not_entitled");
    let late = stage.now() + Duration::from_secs(1);
    missing(admin.replay_span(&id, late, Some(late), &by).await);
    assert!(matches!(admin.replay_span(&id, late, Some(early), &by).await, Err(AdminError::Invalid(_))));
    let step = ReplayStep { number: 1, position: first, delivered: 1, failed: 0, is_done: true };
    stage.engine(&id, |point| point.replays = vec![step]).await;
    let replays = admin.replays(&id).await.unwrap().replays;
    let told: Vec<_> = replays.iter().map(|one| (one.number, one.delivered, one.is_done)).collect();
    assert_eq!(told, [(2, 0, false), (1, 1, true)]);
    for _ in 0..9 {
        admin.test_webhook(&id, &by).await.unwrap();
    }
    assert!(refused(admin.test_webhook(&id, &by).await, "too_many_replays").contains("wait"));
    admin.disable_webhook(&id, &by).await.unwrap();
    refused(admin.replay_span(&id, START, None, &by).await, "inactive");
    refused(admin.replay_delivery(&id, &first.to_string(), &by).await, "inactive");
}

#[tokio::test]
async fn all_webhooks_are_summed_up() {
    let stage = Stage::set().await;
    let [one, other] = [stage.active().await, stage.active().await];
    stage.subscribed("app-2", charges()).await;
    let gone = stage.active().await;
    stage.admin.delete_webhook(&gone, &context()).await.unwrap();
    let (first, second) = (stage.charge("r1", 1).await, stage.charge("r2", 1).await);
    stage.deliver(&one, first).await;
    stage.pass(2 * 3600);
    stage.deliver(&one, second).await;
    stage.fail(&other, first, 1).await;
    stage.give_up(&other).await;
    let stats = stage.admin.stats().await.unwrap();
    let counts = &stats.webhooks;
    assert_eq!((counts.active, counts.awaiting_contract, counts.disabled_by_service), (1, 1, 1));
    assert_eq!((stats.last_hour.delivered, stats.last_hour.failed_attempts), (1, 1));
    assert_eq!((stats.last_day.delivered, stats.last_day.failed_attempts), (2, 1));
    assert_eq!((stats.failing, stats.events_waiting, stats.measured, stats.nodes), (1, 2, 2, 1));
}
