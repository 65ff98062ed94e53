//! What the operator sees of webhooks and does to them, over a memory store and a fake history.

mod bulk;
mod fixture;
mod history;

use domain::{Resource, TenantId, WebhookStatus};
use store::Status;

use super::{WebhookFamily, WebhookListQuery};
use crate::admin::AdminError;
use fixture::{Fixture, SECRET, TENANT, authority, charges};
use history::FakeHistory;

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, AdminError>, expected: &str) -> String {
    match result {
        Err(AdminError::Conflict { code, why }) if code.as_str() == expected => why,
        other => panic!("expected the error {expected}, not {other:?}"),
    }
}

#[track_caller]
fn missing<T: std::fmt::Debug>(result: Result<T, AdminError>) {
    match result {
        Err(AdminError::NotFound(_)) => {}
        other => panic!("expected that nothing is found, not {other:?}"),
    }
}

/// The ids of all pages of this size.
async fn list_all(fixture: &Fixture, query: WebhookListQuery, size: usize) -> Vec<String> {
    let (mut ids, mut query) = (Vec::new(), WebhookListQuery { rows_max: Some(size), ..query });
    loop {
        let page = fixture.webhooks.list(&query).await.unwrap();
        assert!(page.webhooks.len() <= size);
        ids.extend(page.webhooks.into_iter().map(|webhook| webhook.id));
        let Some(next) = page.next else { return ids };
        query.after = Some(next.parse().unwrap());
    }
}

#[tokio::test]
async fn webhooks_are_listed_in_pages_by_any_condition() {
    let fixture = Fixture::new().await;
    let mut ids = Vec::new();
    for number in 0..7 {
        let client = if number % 2 == 0 { "app-1" } else { "app-2" };
        let resource = if number == 3 { Resource::invoicing().next().unwrap() } else { charges() };
        ids.push(fixture.subscribe(client, resource).await);
        fixture.advance(u64::from(number > 2));
    }
    for size in [1, 2, 7, 8] {
        assert_eq!(list_all(&fixture, WebhookListQuery::default(), size).await, ids);
    }
    fixture.accept(&ids[1]).await;
    fixture.webhooks.disable(&ids[2], &authority()).await.unwrap();
    fixture.webhooks.delete(&ids[4], &authority()).await.unwrap();
    let at = |places: &[usize]| places.iter().map(|place| ids[*place].clone()).collect::<Vec<_>>();
    let client = WebhookListQuery { client: Some("app-2".into()), ..WebhookListQuery::default() };
    assert_eq!(list_all(&fixture, client, 2).await, at(&[1, 3, 5]));
    let family = WebhookListQuery { family: Some(WebhookFamily::Invoicing), ..WebhookListQuery::default() };
    assert_eq!(list_all(&fixture, family, 2).await, at(&[3]));
    let resource = WebhookListQuery { resource: Some(charges()), ..WebhookListQuery::default() };
    assert_eq!(list_all(&fixture, resource, 2).await, at(&[0, 1, 2, 5, 6]));
    for (status, places) in [
        (WebhookStatus::Active, &[1][..]),
        (WebhookStatus::Disabled, &[2]),
        (WebhookStatus::AwaitingContract, &[0, 3, 5, 6]),
        (WebhookStatus::Deleted, &[4]),
        (WebhookStatus::Unsubscribed, &[]),
    ] {
        let query = WebhookListQuery { status: Some(status), ..WebhookListQuery::default() };
        assert_eq!(list_all(&fixture, query, 3).await, at(places), "{status:?}");
    }
    let tenant = |id: &str| WebhookListQuery { tenant: Some(id.into()), ..WebhookListQuery::default() };
    assert_eq!(list_all(&fixture, tenant(TENANT), 100).await.len(), 6);
    missing(fixture.webhooks.list(&tenant("nobody")).await);
    let nobody = WebhookListQuery { client: Some("nobody".into()), ..WebhookListQuery::default() };
    missing(fixture.webhooks.list(&nobody).await);
    assert!(
        fixture
            .webhooks
            .list(&WebhookListQuery { rows_max: Some(0), ..WebhookListQuery::default() })
            .await
            .is_err()
    );
}

#[tokio::test]
async fn status_follows_from_flags_and_owner_and_is_explained() {
    let fixture = Fixture::new().await;
    let id = fixture.subscribe("app-1", charges()).await;
    let status = || async {
        let webhook = fixture.webhooks.show(&id).await.unwrap();
        assert!(webhook.explanation.ends_with('.'), "{}", webhook.explanation);
        webhook.status
    };
    assert_eq!(status().await, WebhookStatus::AwaitingContract);
    fixture.accept(&id).await;
    assert_eq!(status().await, WebhookStatus::Active);
    fixture.admin.set_tenant_status(&TenantId::new(TENANT), Status::Disabled).await.unwrap();
    assert_eq!(status().await, WebhookStatus::Suspended);
    fixture.admin.set_tenant_status(&TenantId::new(TENANT), Status::Active).await.unwrap();
    fixture.admin.set_client_status("app-1", Status::Disabled).await.unwrap();
    assert_eq!(status().await, WebhookStatus::Suspended);
    fixture.admin.set_client_status("app-1", Status::Active).await.unwrap();
    fixture.disable_by_service(&id).await;
    assert_eq!(status().await, WebhookStatus::DisabledByService);
    let webhook = fixture.webhooks.show(&id).await.unwrap();
    assert!(webhook.explanation.contains("no delivery succeeded for 24 h"), "{}", webhook.explanation);
    assert_eq!(webhook.disabled_why.as_deref(), Some("no delivery succeeded for 24 h"));
    assert_eq!(fixture.webhooks.enable(&id, &authority()).await.unwrap().status, WebhookStatus::Active);
    assert_eq!(fixture.webhooks.disable(&id, &authority()).await.unwrap().status, WebhookStatus::Disabled);
    assert_eq!(fixture.webhooks.delete(&id, &authority()).await.unwrap().status, WebhookStatus::Deleted);
    assert_eq!(status().await, WebhookStatus::Deleted);
}

#[tokio::test]
async fn every_change_leaves_an_audit_entry() {
    let fixture = Fixture::new().await;
    let id = fixture.active_webhook().await;
    fixture.webhooks.enable(&id, &authority()).await.unwrap();
    assert_eq!(fixture.audit().await, [], "nothing changed");
    fixture.webhooks.disable(&id, &authority()).await.unwrap();
    fixture.webhooks.disable(&id, &authority()).await.unwrap();
    fixture.advance(1);
    fixture.webhooks.enable(&id, &authority()).await.unwrap();
    fixture.advance(1);
    fixture.webhooks.delete(&id, &authority()).await.unwrap();
    let note = |kind, change: &str| (kind, format!("webhook {id}: {change}"));
    let expected = [
        note("webhook_changed", "disabled"),
        note("webhook_changed", "enabled"),
        note("webhook_deleted", "deleted"),
    ];
    assert_eq!(fixture.audit().await, expected);
}

#[tokio::test]
async fn deleted_webhook_cannot_be_changed() {
    let fixture = Fixture::new().await;
    let id = fixture.active_webhook().await;
    fixture.webhooks.delete(&id, &authority()).await.unwrap();
    assert!(refused(fixture.webhooks.enable(&id, &authority()).await, "over").contains("permanently"));
    refused(fixture.webhooks.disable(&id, &authority()).await, "over");
    refused(fixture.webhooks.delete(&id, &authority()).await, "over");
    missing(fixture.webhooks.delete("nobody", &authority()).await);
}

#[tokio::test]
async fn stats_sum_up_all_webhooks() {
    let fixture = Fixture::new().await;
    let [one, other] = [fixture.active_webhook().await, fixture.active_webhook().await];
    fixture.subscribe("app-2", charges()).await;
    let gone = fixture.active_webhook().await;
    fixture.webhooks.delete(&gone, &authority()).await.unwrap();
    let (first, second) = (fixture.charge("r1", 1).await, fixture.charge("r2", 1).await);
    fixture.deliver(&one, first).await;
    fixture.advance(2 * 3600);
    fixture.deliver(&one, second).await;
    fixture.fail(&other, first, 1).await;
    fixture.disable_by_service(&other).await;
    let stats = fixture.admin.stats().await.unwrap();
    let counts = &stats.webhooks;
    assert_eq!((counts.active, counts.awaiting_contract, counts.disabled_by_service), (1, 1, 1));
    assert_eq!((stats.last_hour.delivered, stats.last_hour.failed_attempts), (1, 1));
    assert_eq!((stats.last_day.delivered, stats.last_day.failed_attempts), (2, 1));
    assert_eq!((stats.failing, stats.events_waiting, stats.measured, stats.nodes), (1, 2, 2, 1));
}
