//! The search for webhooks of all owners: by host, owner and state, in pages that look at a bounded number of webhooks.

use std::time::Duration;

use domain::webhook::Family;
use domain::{ClientId, Guid, Resource, Secret, TeamId, WebhookStatus};
use store::{
    Client, ListedWebhook, NewWebhook, SuspensionStep, Webhook, WebhookChange, WebhookOwner, WebhookQuery,
    WebhookSearch, receiver_host,
};

use super::clients::client;
use super::fixture::{Fixture, by};
use super::test_tenant::{TestTenant, company, customer};
use super::webhook_fixtures::{
    accept_handshake, create_webhook, find_webhook, lane, new_checkpoint, new_webhook_of, write_checkpoint,
};

fn search() -> WebhookSearch {
    let query = WebhookQuery { rows_max: 50, ..WebhookQuery::default() };
    WebhookSearch { query, counts_behind: true, ..WebhookSearch::default() }
}

async fn add(fixture: &Fixture, tenant: &TestTenant, client: &str, name: &str, url: &str) -> Webhook {
    fixture.clock.advance(Duration::from_secs(1));
    let owner = WebhookOwner { tenant: tenant.id.clone(), client: ClientId::new(client) };
    create_webhook(&fixture.store, NewWebhook { url: url.into(), ..new_webhook_of(fixture, owner, name) })
        .await
}

async fn accepted(fixture: &Fixture, tenant: &TestTenant, client: &str, name: &str) -> Webhook {
    let webhook = add(fixture, tenant, client, name, &format!("https://erp.example/{name}")).await;
    accept_handshake(&fixture.store, &webhook, tenant.head().await).await;
    find_webhook(&fixture.store, webhook.id).await
}

async fn found(fixture: &Fixture, search: &WebhookSearch) -> Vec<ListedWebhook> {
    let page = fixture.store.search_webhooks(search).await.unwrap();
    assert_eq!(page.next, None);
    page.rows
}

async fn names(fixture: &Fixture, search: &WebhookSearch) -> Vec<String> {
    found(fixture, search).await.into_iter().map(|row| row.webhook.name).collect()
}

pub(crate) async fn webhooks_are_found_by_the_host_of_their_receiver(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let urls = [
        "https://Hooks.Example:8443/a",
        "https://hooks.example",
        "https://hooks.example./b#c",
        "https://hooks.example?d=https://other.example/",
        "https://sub.hooks.example/e:f",
        "http://[2001:DB8::1]:9000/g",
        "http://127.0.0.1:9000/h?i",
    ];
    for (at, url) in urls.iter().enumerate() {
        add(&fixture, &tenant, "erp", &at.to_string(), url).await;
    }
    for host in
        ["hooks.example", "sub.hooks.example", "[2001:db8::1]", "127.0.0.1", "other.example", "example"]
    {
        let expected: Vec<String> = (urls.iter().enumerate())
            .filter(|(_, url)| receiver_host(url) == host)
            .map(|(at, _)| at.to_string())
            .collect();
        assert_eq!(
            expected.len(),
            match host {
                "hooks.example" => 4,
                "other.example" | "example" => 0,
                _ => 1,
            }
        );
        let query = WebhookQuery { host: Some(host.into()), rows_max: 50, ..WebhookQuery::default() };
        let listed = fixture.store.webhooks(&query).await.unwrap();
        assert_eq!(listed.into_iter().map(|one| one.name).collect::<Vec<_>>(), expected, "{host}");
        assert_eq!(names(&fixture, &WebhookSearch { query, ..search() }).await, expected, "{host}");
    }
    // A new URL moves it to another host.
    let moved = found(&fixture, &search()).await.remove(0).webhook;
    let change = WebhookChange::ChangeUrl("https://new.example/a".into());
    fixture.store.change_webhook(moved.id, None, change, &by()).await.unwrap();
    let query = WebhookQuery { host: Some("new.example".into()), rows_max: 50, ..WebhookQuery::default() };
    assert_eq!(names(&fixture, &WebhookSearch { query, ..search() }).await, ["0"]);
}

/// One webhook of each status; two of another client and tenant.
async fn add_of_each_status(fixture: &Fixture) -> [TestTenant; 2] {
    let tenants = [fixture.add_tenant().await, fixture.add_tenant().await];
    let (store, north) = (&fixture.store, &tenants[0]);
    for (id, team) in [("erp", None), ("bi", Some("panel"))] {
        let row = Client { team: team.map(TeamId::new), ..client(fixture, id) };
        store.add_client(&row, &Secret::new(id), &by()).await.unwrap();
    }
    add(fixture, north, "erp", "awaiting", "https://erp.example/awaiting").await;
    accepted(fixture, north, "erp", "active").await;
    for (name, change) in [
        ("disabled", WebhookChange::Disable),
        ("unsubscribed", WebhookChange::Unsubscribe),
        ("deleted", WebhookChange::Delete),
    ] {
        let webhook = accepted(fixture, north, "erp", name).await;
        store.change_webhook(webhook.id, None, change, &by()).await.unwrap();
    }
    let given_up = accepted(fixture, north, "erp", "given up").await;
    let mut step = new_checkpoint(store, &given_up).await;
    step.disabled = Some("no delivery succeeded".into());
    write_checkpoint(store, step).await;
    let suspended = accepted(fixture, &tenants[1], "bi", "suspended").await;
    let mut step = new_checkpoint(store, &suspended).await;
    step.suspension = Some(SuspensionStep::Suspended { at: fixture.now() });
    write_checkpoint(store, step).await;
    tenants
}

pub(crate) async fn webhooks_of_all_owners_are_searched_by_owner_and_state(fixture: Fixture) {
    let [north, south] = add_of_each_status(&fixture).await;
    let store = &fixture.store;
    for (status, expected) in [
        (WebhookStatus::Active, "active"),
        (WebhookStatus::AwaitingContract, "awaiting"),
        (WebhookStatus::Suspended, "suspended"),
        (WebhookStatus::Disabled, "disabled"),
        (WebhookStatus::DisabledByService, "given up"),
        (WebhookStatus::Unsubscribed, "unsubscribed"),
        (WebhookStatus::Deleted, "deleted"),
    ] {
        let of_status = WebhookSearch { status: Some(status), ..search() };
        assert_eq!(names(&fixture, &of_status).await, [expected], "{status:?}");
    }
    let live = ["awaiting", "active", "disabled", "given up", "suspended"];
    assert_eq!(names(&fixture, &search()).await, live);
    let with =
        |query: WebhookQuery| WebhookSearch { query: WebhookQuery { rows_max: 50, ..query }, ..search() };
    let any = WebhookQuery::default;
    let none: [&str; 0] = [];
    for (query, expected) in [
        (WebhookQuery { tenant: Some(south.id.clone()), ..any() }, &["suspended"][..]),
        (WebhookQuery { client: Some(ClientId::new("erp")), ..any() }, &live[..4]),
        (WebhookQuery { team: Some(TeamId::new("panel")), ..any() }, &["suspended"]),
        (WebhookQuery { team: Some(TeamId::new("none")), ..any() }, &none),
        (WebhookQuery { family: Some(Family::Invoicing), ..any() }, &none),
        (WebhookQuery { family: Some(Family::Accounting), ..any() }, &live),
        (WebhookQuery { resource: Some(Resource::accounts()), ..any() }, &none),
        (WebhookQuery { resource: Some(Resource::customers()), ..any() }, &live),
    ] {
        assert_eq!(names(&fixture, &with(query.clone())).await, expected, "{query:?}");
    }

    // Pages, in order.
    for size in [1, 2, 5] {
        let (mut page_search, mut all) = (search(), Vec::<Guid>::new());
        page_search.query.rows_max = size;
        loop {
            let page = store.search_webhooks(&page_search).await.unwrap();
            all.extend(page.rows.iter().map(|row| row.webhook.id));
            let Some(next) = page.next else { break };
            assert_eq!(page.rows.len(), size);
            page_search.query.after = Some(next);
        }
        assert_eq!(all.len(), live.len(), "pages of {size}");
    }

    // What fails, and how far it is behind.
    let failing = find_webhook(store, found(&fixture, &search()).await[1].webhook.id).await;
    let since = fixture.now();
    north.accept([company("c1")]).await;
    north.accept([customer("c1", "k1", "Ana"), customer("c1", "k2", "Eva")]).await;
    let events = store.find_events(&north.id, failing.resource, &[2]).await.unwrap();
    let mut parked = new_checkpoint(store, &failing).await;
    parked.cursor = Some(events[0].entry.sequence);
    parked.parked = vec![lane(events[0].record_key, events[0].entry.sequence, since)];
    write_checkpoint(store, parked).await;
    let rows = found(&fixture, &WebhookSearch { only_failing: true, ..search() }).await;
    let facts = rows.iter().map(|row| (row.webhook.name.as_str(), row.failing_since, row.behind));
    assert_eq!(facts.collect::<Vec<_>>(), [("active", Some(since), 2)]);
    let uncounted = WebhookSearch { only_failing: true, counts_behind: false, ..search() };
    assert_eq!(found(&fixture, &uncounted).await[0].behind, 0);
    assert_eq!(store.erase_tenant(&south.id, &by()).await, Ok(true));
    assert_eq!(names(&fixture, &search()).await, live[..4], "an erased tenant's are gone");
}

pub(crate) async fn search_looks_at_a_bounded_number_of_webhooks(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    for number in 0..5 {
        add(&fixture, &tenant, "erp", &number.to_string(), "https://erp.example/x").await;
    }
    let all = found(&fixture, &search()).await;
    let last = all[4].webhook.id;
    fixture.store.change_webhook(last, None, WebhookChange::Disable, &by()).await.unwrap();
    let position = |at: usize| Some((all[at].webhook.created_at, all[at].webhook.id));
    let mut disabled =
        WebhookSearch { status: Some(WebhookStatus::Disabled), looks_max: Some(2), ..search() };
    for next in [position(1), position(3)] {
        let page = fixture.store.search_webhooks(&disabled).await.unwrap();
        assert_eq!((page.rows.len(), page.next), (0, next), "it says where to go on");
        disabled.query.after = page.next;
    }
    assert_eq!(found(&fixture, &disabled).await[0].webhook.id, last);
}
