//! One action on all webhooks that match: on exactly those that were looked at, and on not too many.

use domain::{OperatorRole, WebhookStatus};

use super::fixture::{Fixture, authority, charges, context};
use super::refused;
use crate::admin::{AdminError, Authority, BULK_WEBHOOKS_MAX, BulkAction, WebhookFilter, WebhookState};

fn of_client(client: &str) -> WebhookFilter {
    WebhookFilter { client: Some(client.into()), ..WebhookFilter::default() }
}

#[tokio::test]
async fn action_is_refused_once_the_set_has_changed() {
    let fixture = Fixture::new().await;
    let first = fixture.subscribe("app-1", charges()).await;
    let other = fixture.subscribe("app-2", charges()).await;
    let (admin, by, filter) = (&fixture.webhooks, authority(), of_client("app-1"));
    let selection = admin.select(&filter).await.unwrap();
    assert_eq!(selection.webhooks.len(), 1);
    fixture.advance(1);
    let second = fixture.subscribe("app-1", charges()).await;
    let why = refused(
        admin.act_on_all(&filter, &selection.digest, BulkAction::Disable, &by).await,
        "selection_changed",
    );
    assert!(why.contains("look again"), "{why}");
    let digest = admin.select(&filter).await.unwrap().digest;
    let done = admin.act_on_all(&filter, &digest, BulkAction::Disable, &by).await.unwrap();
    let results: Vec<_> = done.results.iter().map(|one| (one.id.clone(), one.done)).collect();
    assert_eq!(results, [(first.clone(), true), (second, true)]);
    assert!(fixture.webhook(&other).await.enabled);
    // The same webhooks in another state are another set.
    refused(admin.act_on_all(&filter, &digest, BulkAction::Enable, &by).await, "selection_changed");
    let disabled = WebhookFilter {
        state: Some(WebhookState::Status(WebhookStatus::Disabled)),
        ..WebhookFilter::default()
    };
    assert_eq!(admin.select(&disabled).await.unwrap().webhooks[0].webhook.id.to_string(), first);
}

#[tokio::test]
async fn viewer_acts_on_nothing_and_a_span_has_a_beginning_before_its_end() {
    let fixture = Fixture::new().await;
    let (admin, filter) = (&fixture.webhooks, WebhookFilter::default());
    let digest = admin.select(&filter).await.unwrap().digest;
    let viewer = Authority::new(context(), OperatorRole::Viewer);
    let forbidden = admin.act_on_all(&filter, &digest, BulkAction::Disable, &viewer).await;
    assert!(matches!(forbidden, Err(AdminError::Forbidden(_))), "{forbidden:?}");
    let from = super::fixture::START;
    let reversed = BulkAction::Replay { from: from.next(), to: Some(from) };
    let invalid = admin.act_on_all(&filter, &digest, reversed, &authority()).await;
    assert!(matches!(invalid, Err(AdminError::Invalid(_))), "{invalid:?}");
}

#[tokio::test]
async fn too_many_webhooks_are_not_selected() {
    let fixture = Fixture::new().await;
    for number in 0..=BULK_WEBHOOKS_MAX {
        fixture.subscribe(if number == 0 { "app-2" } else { "app-1" }, charges()).await;
    }
    refused(fixture.webhooks.select(&WebhookFilter::default()).await, "too_many_webhooks");
    let just_enough = fixture.webhooks.select(&of_client("app-1")).await.unwrap();
    assert_eq!(just_enough.webhooks.len(), BULK_WEBHOOKS_MAX);
}
