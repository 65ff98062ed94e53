//! The webhooks of a team's clients: over all tenants, in pages, filtered, with what is needed to say how they are.

use std::time::Duration;

use domain::event::EventKind;
use domain::{ClientId, Guid, Resource, Secret, TeamId, TenantId, WebhookStatus};
use store::{
    Client, ClientUpdate, HandshakeStep, LISTED_BEHIND_MAX, ListedWebhook, NewWebhook, SuspensionStep,
    TeamWebhookQuery, Webhook, WebhookChange, WebhookOwner, WebhookQuery,
};

use super::clients::client;
use super::fixture::{Fixture, by};
use super::test_tenant::{TestTenant, company, customer};
use super::webhook_fixtures::{
    accept_handshake, create_webhook, find_webhook, lane, new_checkpoint, new_webhook_of, retry,
    write_checkpoint,
};

fn query() -> TeamWebhookQuery {
    TeamWebhookQuery::new(TeamId::new("panel"), 50)
}

async fn add_client(fixture: &Fixture, id: &str, team: Option<&str>) {
    let row = Client { team: team.map(TeamId::new), ..client(fixture, id) };
    fixture.store.add_client(&row, &Secret::new(id), &by()).await.unwrap();
}

fn body(fixture: &Fixture, tenant: &TestTenant, client: &str, name: &str) -> NewWebhook {
    let owner = WebhookOwner { tenant: tenant.id.clone(), client: ClientId::new(client) };
    new_webhook_of(fixture, owner, name)
}

async fn add(fixture: &Fixture, tenant: &TestTenant, client: &str, name: &str) -> Webhook {
    fixture.clock.advance(Duration::from_secs(1));
    create_webhook(&fixture.store, body(fixture, tenant, client, name)).await
}

async fn accepted(fixture: &Fixture, tenant: &TestTenant, client: &str, name: &str) -> Webhook {
    let webhook = add(fixture, tenant, client, name).await;
    accept_handshake(&fixture.store, &webhook, tenant.head().await).await;
    find_webhook(&fixture.store, webhook.id).await
}

async fn listed(fixture: &Fixture, query: &TeamWebhookQuery) -> Vec<ListedWebhook> {
    let page = fixture.store.team_webhooks(query).await.unwrap();
    assert_eq!(page.next, None);
    page.rows
}

async fn names(fixture: &Fixture, query: &TeamWebhookQuery) -> Vec<String> {
    listed(fixture, query).await.into_iter().map(|row| row.webhook.name).collect()
}

/// Two clients of the team and one of another team, in two tenants.
async fn add_all(fixture: &Fixture) -> [TestTenant; 2] {
    let tenants = [fixture.add_tenant().await, fixture.add_tenant().await];
    add_client(fixture, "erp", Some("panel")).await;
    add_client(fixture, "bi", Some("panel")).await;
    add_client(fixture, "idle", Some("panel")).await;
    add_client(fixture, "theirs", Some("other")).await;
    add_client(fixture, "nobodys", None).await;
    tenants
}

pub(crate) async fn webhooks_of_a_team_are_listed_over_clients_and_tenants(fixture: Fixture) {
    let [north, south] = add_all(&fixture).await;
    assert_eq!(listed(&fixture, &query()).await, []);
    let mut all = Vec::new();
    for (tenant, client, name) in
        [(&north, "erp", "a"), (&south, "bi", "b"), (&north, "bi", "c"), (&south, "erp", "d")]
    {
        add(&fixture, tenant, "theirs", name).await;
        add(&fixture, tenant, "nobodys", name).await;
        all.push(add(&fixture, tenant, client, name).await);
    }
    let rows = listed(&fixture, &query()).await;
    assert_eq!(rows.iter().map(|row| &row.webhook).collect::<Vec<_>>(), all.iter().collect::<Vec<_>>());
    let of = |team| WebhookQuery { team: Some(TeamId::new(team)), rows_max: 50, ..WebhookQuery::default() };
    assert_eq!(fixture.store.webhooks(&of("panel")).await.as_ref(), Ok(&all));
    assert_eq!(fixture.store.webhooks(&of("other")).await.unwrap().len(), 4);
    assert_eq!(fixture.store.webhooks(&of("no\0body")).await, Ok(Vec::new()));
    let of_client = WebhookQuery { client: Some(ClientId::new("theirs")), ..of("panel") };
    assert_eq!(fixture.store.webhooks(&of_client).await, Ok(Vec::new()));
    for size in [1, 2, 3, 4, 5] {
        let (mut page_query, mut found) = (TeamWebhookQuery { rows_max: size, ..query() }, Vec::new());
        loop {
            let page = fixture.store.team_webhooks(&page_query).await.unwrap();
            found.extend(page.rows.iter().map(|row| row.webhook.id));
            if page.next.is_none() {
                break;
            }
            assert_eq!(page.rows.len(), size);
            page_query.after = page.next;
        }
        assert_eq!(found, all.iter().map(|one| one.id).collect::<Vec<Guid>>(), "pages of {size}");
    }
    let none: [&str; 0] = [];
    for (query, expected) in [
        (TeamWebhookQuery { client: Some(ClientId::new("bi")), ..query() }, &["b", "c"][..]),
        (TeamWebhookQuery { client: Some(ClientId::new("theirs")), ..query() }, &none),
        (TeamWebhookQuery { client: Some(ClientId::new("none")), ..query() }, &none),
        (TeamWebhookQuery { tenant: Some(south.id.clone()), ..query() }, &["b", "d"]),
        (TeamWebhookQuery { tenant: Some(TenantId::new("none")), ..query() }, &none),
        (TeamWebhookQuery { url_contains: Some("EXAMPLE/c".into()), ..query() }, &["c"]),
        (TeamWebhookQuery { url_contains: Some("%".into()), ..query() }, &["a", "b", "c", "d"]),
        (TeamWebhookQuery { url_contains: Some("_".into()), ..query() }, &none),
        (TeamWebhookQuery { team: TeamId::new("none"), ..query() }, &none),
        (TeamWebhookQuery { rows_max: usize::MAX, ..query() }, &["a", "b", "c", "d"]),
    ] {
        assert_eq!(names(&fixture, &query).await, expected, "{query:?}");
    }
    // A client that leaves the team takes its webhooks along; those of an erased tenant are gone.
    let leave = ClientUpdate { team: Some(None), ..ClientUpdate::default() };
    let left = fixture.store.update_client(&ClientId::new("bi"), &leave, None, &by()).await;
    assert!(left.unwrap().is_updated());
    assert_eq!(names(&fixture, &query()).await, ["a", "d"]);
    assert_eq!(fixture.store.erase_tenant(&south.id, &by()).await, Ok(true));
    assert_eq!(names(&fixture, &query()).await, ["a"]);
}

pub(crate) async fn webhooks_of_a_team_are_filtered_by_event(fixture: Fixture) {
    let [north, _] = add_all(&fixture).await;
    add(&fixture, &north, "erp", "all").await;
    for (name, resource) in [("created", Resource::customers()), ("other", Resource::accounts())] {
        fixture.clock.advance(Duration::from_secs(1));
        let kinds = [EventKind::Created].into_iter().collect();
        let one = NewWebhook { kinds, resource, ..body(&fixture, &north, "erp", name) };
        create_webhook(&fixture.store, one).await;
    }
    for (resource, kind, expected) in [
        (Resource::customers(), EventKind::Created, &["all", "created"][..]),
        (Resource::customers(), EventKind::Disabled, &["all"]),
        (Resource::accounts(), EventKind::Created, &["other"]),
        (Resource::accounts(), EventKind::Updated, &[]),
        (Resource::companies(), EventKind::Created, &[]),
    ] {
        let query = TeamWebhookQuery { event: Some((resource, kind)), ..query() };
        assert_eq!(names(&fixture, &query).await, expected, "{query:?}");
    }
}

pub(crate) async fn webhooks_of_a_team_are_filtered_by_status(fixture: Fixture) {
    let [north, _] = add_all(&fixture).await;
    let store = &fixture.store;
    add(&fixture, &north, "erp", "awaiting").await;
    accepted(&fixture, &north, "erp", "active").await;
    for (name, change) in [
        ("disabled", WebhookChange::Disable),
        ("unsubscribed", WebhookChange::Unsubscribe),
        ("deleted", WebhookChange::Delete),
    ] {
        let webhook = accepted(&fixture, &north, "erp", name).await;
        store.change_webhook(webhook.id, None, change, &by()).await.unwrap();
    }
    let given_up = accepted(&fixture, &north, "erp", "given up").await;
    let mut step = new_checkpoint(store, &given_up).await;
    step.disabled = Some("no delivery succeeded".into());
    write_checkpoint(store, step).await;
    let suspended = accepted(&fixture, &north, "bi", "suspended").await;
    let mut step = new_checkpoint(store, &suspended).await;
    step.suspension = Some(SuspensionStep::Suspended { at: fixture.now() });
    write_checkpoint(store, step).await;

    for (status, expected) in [
        (WebhookStatus::Active, "active"),
        (WebhookStatus::AwaitingContract, "awaiting"),
        (WebhookStatus::Suspended, "suspended"),
        (WebhookStatus::Disabled, "disabled"),
        (WebhookStatus::DisabledByService, "given up"),
        (WebhookStatus::Unsubscribed, "unsubscribed"),
        (WebhookStatus::Deleted, "deleted"),
    ] {
        let of_status = TeamWebhookQuery { status: Some(status), ..query() };
        assert_eq!(names(&fixture, &of_status).await, [expected], "{status:?}");
        let found = &listed(&fixture, &of_status).await[0].webhook;
        assert_eq!(WebhookStatus::of(found.flags(), found.suspended_at.is_some()), status);
    }
    let live = ["awaiting", "active", "disabled", "given up", "suspended"];
    assert_eq!(names(&fixture, &query()).await, live);
    let everything = TeamWebhookQuery { include_ended: true, ..query() };
    assert_eq!(names(&fixture, &everything).await.len(), WebhookStatus::ALL.len());
}

pub(crate) async fn listed_webhook_says_what_fails_and_how_far_it_is_behind(fixture: Fixture) {
    let [north, _] = add_all(&fixture).await;
    let store = &fixture.store;
    let healthy = accepted(&fixture, &north, "erp", "healthy").await;
    let failing = accepted(&fixture, &north, "erp", "failing").await;
    let refused = add(&fixture, &north, "bi", "refused").await;
    let since = fixture.now();
    north.accept([company("c1")]).await;
    north.accept([customer("c1", "k1", "Ana"), customer("c1", "k2", "Eva")]).await;
    let (first, record_key) = {
        let events = store.find_events(&north.id, failing.resource, &[2]).await.unwrap();
        (events[0].entry.sequence, events[0].record_key)
    };
    let mut parked = new_checkpoint(store, &failing).await;
    parked.cursor = Some(first);
    parked.parked = vec![lane(record_key, first, since)];
    write_checkpoint(store, parked).await;
    let mut step = new_checkpoint(store, &refused).await;
    step.handshake = Some(HandshakeStep::Failed { number: 1, retry: retry(2, since), answered: None });
    write_checkpoint(store, step).await;

    let facts = |row: &ListedWebhook| (row.failing_since, row.next_attempt_at, row.behind);
    let rows = listed(&fixture, &query()).await;
    let next = since + Duration::from_secs(5);
    assert_eq!(facts(&rows[0]), (None, None, 2), "{}", rows[0].webhook.name);
    assert_eq!(facts(&rows[1]), (Some(since), Some(next), 2), "one in the lane, one after the cursor");
    assert_eq!(facts(&rows[2]), (Some(since), Some(next), 0), "it is entitled to nothing yet");
    for row in &rows {
        let stats = store.webhook_stats(row.webhook.id, since).await.unwrap();
        assert_eq!(facts(row), (stats.failing_since, stats.next_attempt_at, stats.behind));
    }
    let only_failing = TeamWebhookQuery { only_failing: true, ..query() };
    assert_eq!(names(&fixture, &only_failing).await, ["failing", "refused"]);

    let most = u32::from(LISTED_BEHIND_MAX);
    for chunk in (0..most + 5).collect::<Vec<u32>>().chunks(500) {
        north.accept(chunk.iter().map(|number| customer("c1", &format!("n{number}"), "Leo"))).await;
    }
    let rows = listed(&fixture, &query()).await;
    assert_eq!(rows[0].webhook.id, healthy.id);
    assert_eq!(rows.iter().map(|row| row.behind).collect::<Vec<_>>(), [most.into(), most.into(), 0]);
}
