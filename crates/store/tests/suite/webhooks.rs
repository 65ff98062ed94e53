//! Webhooks as their owners manage them: identical subscriptions are the same webhook, and only its owner can change it.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::event::EventKind;
use domain::webhook::Family;
use domain::{ClientId, Guid, Resource, Secret};
use store::{
    HandshakeStep, NewWebhook, StoreError, SubscribeOutcome, Webhook, WebhookChange, WebhookChangeOutcome,
    WebhookOwner, WebhookQuery,
};

use super::fixture::{Fixture, by, concurrently, new_tenant};
use super::test_tenant::company;
use super::webhook_fixtures::{
    MAX, accept_handshake, active_webhook, create_webhook, find_webhook, new_checkpoint, new_webhook, owner,
    retry, write_checkpoint,
};

fn invoicing() -> Resource {
    Resource::all().find(|webhook| Family::of(*webhook) == Family::Invoicing).unwrap()
}

async fn subscribe_again(fixture: &Fixture, body: &NewWebhook) -> Webhook {
    let id = Guid::from_bytes([77; 16]);
    match fixture.store.subscribe(NewWebhook { id, ..body.clone() }, MAX, &by()).await.unwrap() {
        SubscribeOutcome::Existing(webhook) => webhook,
        other => panic!("the existing webhook was not found: {other:?}"),
    }
}

pub(crate) async fn new_webhook_is_stored_unchanged_and_needs_a_handshake(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let request = NewWebhook { host_mismatch: "otro host".into(), ..new_webhook(&fixture, &tenant, "a") };
    let webhook = create_webhook(&fixture.store, request.clone()).await;
    assert_eq!(find_webhook(&fixture.reopen().await.store, webhook.id).await, webhook);
    let stored =
        (&webhook.owner, &webhook.user, webhook.resource, webhook.kinds, &webhook.name, &webhook.url);
    assert_eq!(
        stored,
        (&request.owner, &request.user, request.resource, request.kinds, &request.name, &request.url)
    );
    assert_eq!(webhook.secret.reveal(), request.secret.reveal());
    assert_eq!(
        (&webhook.description, &webhook.host_mismatch),
        (&request.description, &request.host_mismatch)
    );
    assert_eq!((webhook.created_at, webhook.revision, webhook.cursor), (fixture.now(), 1, None));
    assert!(webhook.flags().needs_handshake(Family::Accounting) && !webhook.flags().is_active());
    assert_eq!(fixture.store.find_webhook(Guid::from_bytes([5; 16])).await, Ok(None));
    let same_id = NewWebhook { name: "b".into(), ..request };
    assert!(matches!(fixture.store.subscribe(same_id, MAX, &by()).await, Err(StoreError::Exists(_))));
}

/// A subscription may contain any characters.
pub(crate) async fn nul_in_a_subscription_is_replaced(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let odd = NewWebhook { secret: Secret::new("s\0"), ..new_webhook(&fixture, &tenant, "a\0b") };
    let webhook = create_webhook(&fixture.store, odd.clone()).await;
    assert_eq!((webhook.name.as_str(), webhook.secret.reveal()), ("a\u{fffd}b", "s\0"));
    assert_eq!(find_webhook(&fixture.store, webhook.id).await, webhook);
    assert_eq!(subscribe_again(&fixture, &odd).await.id, webhook.id);
}

fn with_url(body: NewWebhook, url: &str) -> NewWebhook {
    NewWebhook { url: url.into(), ..body }
}

pub(crate) async fn default_port_makes_no_difference(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    for (resource, name) in [(Resource::customers(), "a"), (invoicing(), "b")] {
        let fresh =
            |url: &str| with_url(NewWebhook { resource, ..new_webhook(&fixture, &tenant, name) }, url);
        let webhook = create_webhook(store, fresh("https://h.example:443/x?Y")).await;
        assert_eq!(webhook.url, "https://h.example:443/x?Y", "it is stored as it was written");
        for same in ["https://h.example/x?Y", "https://h.example:443/x?Y", "HTTPS://H.example/x?Y"] {
            assert_eq!(subscribe_again(&fixture, &fresh(same)).await.id, webhook.id, "{same}");
            let found = store.find_subscribed_webhook(&fresh(same)).await.unwrap();
            assert_eq!(found.map(|found| found.id), Some(webhook.id), "{same}");
        }
        for other in ["https://h.example/X?Y", "https://h.example/x?y", "https://h.example/x/?Y"] {
            assert_eq!(store.find_subscribed_webhook(&fresh(other)).await, Ok(None), "{other}");
        }
    }
}

/// The handshake is due at once, but its window does not start again.
pub(crate) async fn subscribing_again_asks_for_an_outstanding_handshake(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    let request = new_webhook(&fixture, &tenant, "a");
    let webhook = create_webhook(store, request.clone()).await;
    let fail = async |answered| {
        let stored = find_webhook(store, webhook.id).await;
        let mut failed = new_checkpoint(store, &stored).await;
        let retry = retry(3, webhook.created_at);
        failed.handshake = Some(HandshakeStep::Failed { number: 1, retry, answered });
        write_checkpoint(store, failed).await;
        find_webhook(store, webhook.id).await
    };
    let failing = fail(None).await;
    let changes = store.changed_webhooks(0).await.unwrap().last_change;
    let asked_at = fixture.clock.advance(Duration::from_secs(60));
    let asked = subscribe_again(&fixture, &request).await;
    let handshake = store::Handshake { asked_at: Some(asked_at), ..failing.handshake };
    assert_eq!(asked, Webhook { handshake, ..failing.clone() }, "nothing else changes");
    assert_eq!(find_webhook(store, webhook.id).await, asked);
    let notified = store.changed_webhooks(0).await.unwrap().last_change;
    assert!(notified > changes, "the engine is notified");

    fixture.clock.advance(Duration::from_millis(4999));
    assert_eq!(subscribe_again(&fixture, &request).await, asked, "the first request stands for this one");
    assert_eq!(store.changed_webhooks(0).await.unwrap().last_change, notified);
    let later = fixture.clock.advance(Duration::from_millis(1));
    assert_eq!(subscribe_again(&fixture, &request).await.handshake.asked_at, Some(later));
    assert_eq!(fail(Some(asked_at)).await.handshake.asked_at, Some(later), "a later request still stands");
    assert_eq!(fail(Some(later)).await.handshake.asked_at, None);

    accept_handshake(store, &webhook, 0).await;
    fixture.clock.advance(Duration::from_secs(60));
    let active = find_webhook(store, webhook.id).await;
    assert_eq!(subscribe_again(&fixture, &request).await, active, "an active webhook needs none");
}

pub(crate) async fn invoicing_handshake_is_asked_for_by_pausing_and_resuming(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    let request = NewWebhook { resource: invoicing(), ..new_webhook(&fixture, &tenant, "a") };
    let webhook = create_webhook(store, request.clone()).await;
    for (change, enabled) in [
        (WebhookChange::Enable, true),
        (WebhookChange::Disable, false),
        (WebhookChange::Disable, false),
        (WebhookChange::Enable, true),
    ] {
        let now = fixture.clock.advance(Duration::from_secs(60));
        store.change_webhook(webhook.id, None, change.clone(), &by()).await.unwrap();
        let stored = find_webhook(store, webhook.id).await;
        let handshake = stored.handshake;
        assert_eq!((stored.enabled, handshake.asked_at), (enabled, Some(now)), "{change:?}");
        assert_eq!((handshake.number, handshake.at), (1, webhook.created_at), "{change:?}: the same one");
    }
    let now = fixture.clock.advance(Duration::from_secs(60));
    let paused = NewWebhook { enabled: false, description: "nueva".into(), ..request.clone() };
    let again = subscribe_again(&fixture, &paused).await;
    assert_eq!((again.enabled, again.handshake.asked_at), (false, Some(now)));
    assert_eq!((again.description.as_str(), again.handshake.number), ("nueva", 1));
    assert_eq!(find_webhook(store, webhook.id).await, again);

    accept_handshake(store, &again, 0).await;
    let resumed = subscribe_again(&fixture, &request).await;
    assert!(resumed.flags().is_active(), "a paused one resumes without a handshake");
    let mut gives_up = new_checkpoint(store, &resumed).await;
    gives_up.disabled = Some("24 h".into());
    write_checkpoint(store, gives_up).await;
    let paused = subscribe_again(&fixture, &paused).await;
    assert_eq!((paused.enabled, paused.disabled.clone(), paused.handshake.number), (false, None, 2));
}

pub(crate) async fn unsubscribe_finds_the_present_url_before_the_first_one(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    let at = |url: &str| with_url(new_webhook(&fixture, &tenant, "a"), url);
    let [a, b, c, d] = ["https://h/a", "https://h/b", "https://h/c", "https://h/d"];
    let found =
        async |url: &str| store.find_subscribed_webhook(&at(url)).await.unwrap().map(|webhook| webhook.id);
    let move_to = async |webhook: &Webhook, url: &str| {
        store.change_webhook(webhook.id, None, WebhookChange::ChangeUrl(url.into()), &by()).await.unwrap();
    };
    let first = create_webhook(store, at(a)).await;
    move_to(&first, b).await;
    assert_eq!([found(a).await, found(b).await], [Some(first.id); 2], "the first url names it too");
    assert_eq!(found("https://h:443/a").await, Some(first.id));
    let second = create_webhook(store, at(a)).await;
    assert_eq!([found(a).await, found(b).await], [Some(second.id), Some(first.id)], "the present url wins");
    move_to(&second, c).await;
    assert_eq!(found(a).await, None, "it names two");
    assert_eq!([found(b).await, found(c).await], [Some(first.id), Some(second.id)]);
    move_to(&first, d).await;
    assert_eq!(
        [found(b).await, found(d).await],
        [None, Some(first.id)],
        "only the first and the present url"
    );

    let rotate =
        WebhookChange::RotateSecret { secret: Secret::new("new"), previous_valid_until: fixture.now() };
    store.change_webhook(second.id, None, rotate, &by()).await.unwrap();
    assert_eq!(found(a).await, Some(first.id), "the other one has another secret now");
    let present = NewWebhook { secret: Secret::new("new"), ..at(a) };
    let by_secret = store.find_subscribed_webhook(&present).await.unwrap();
    assert_eq!(by_secret.map(|webhook| webhook.id), Some(second.id));
    store.change_webhook(first.id, None, WebhookChange::Unsubscribe, &by()).await.unwrap();
    assert_eq!(found(a).await, None, "an ended webhook is not named");
    let nobody = WebhookOwner { tenant: domain::TenantId::new("nobody"), ..owner(&tenant) };
    assert_eq!(store.find_subscribed_webhook(&NewWebhook { owner: nobody, ..at(a) }).await, Ok(None));
}

pub(crate) async fn identical_subscription_is_the_same_webhook(fixture: Fixture) {
    let (tenant, other) = (fixture.add_tenant().await, fixture.add_tenant().await);
    let first = new_webhook(&fixture, &tenant, "a");
    let webhook = create_webhook(&fixture.store, first.clone()).await;
    assert_eq!(subscribe_again(&fixture, &first).await.id, webhook.id);
    let described = NewWebhook { description: "otra".into(), host_mismatch: "d".into(), ..first.clone() };
    let again = subscribe_again(&fixture, &described).await;
    assert_eq!((again.id, again.revision, again.description.as_str()), (webhook.id, 1, "otra"));
    assert_eq!(again.host_mismatch, webhook.host_mismatch);
    assert_eq!(fixture.store.find_subscribed_webhook(&first).await, Ok(Some(again)));

    let fresh = || new_webhook(&fixture, &tenant, "a");
    let client = WebhookOwner { client: ClientId::new("other"), ..owner(&tenant) };
    for different in [
        NewWebhook { name: "b".into(), ..fresh() },
        NewWebhook { url: "https://erp.example/b".into(), ..fresh() },
        NewWebhook { secret: Secret::new("another"), ..fresh() },
        NewWebhook { kinds: [EventKind::Created].into_iter().collect(), ..fresh() },
        NewWebhook { resource: Resource::accounts(), ..fresh() },
        NewWebhook { owner: client, ..fresh() },
        NewWebhook { owner: owner(&other), ..fresh() },
    ] {
        assert_eq!(fixture.store.find_subscribed_webhook(&different).await, Ok(None));
        create_webhook(&fixture.store, different).await;
    }
    let nowhere = WebhookOwner { tenant: domain::TenantId::new("nobody"), ..owner(&tenant) };
    let unknown = NewWebhook { owner: nowhere, ..fresh() };
    assert_eq!(fixture.store.find_subscribed_webhook(&unknown).await, Ok(None));
    assert_eq!(
        fixture.store.subscribe(unknown, MAX, &by()).await,
        Err(StoreError::UnknownTenant("nobody".into()))
    );
}

pub(crate) async fn concurrent_identical_subscriptions_create_one_webhook(fixture: Fixture) {
    let (tenant, second_store) = (fixture.add_tenant().await, fixture.reopen().await.store);
    for round in 0..5 {
        let name = format!("a{round}");
        let answers = concurrently(12, &[&fixture.store, &second_store], |_, store| {
            let body = new_webhook(&fixture, &tenant, &name);
            async move { store.subscribe(body, MAX, &by()).await.unwrap() }
        })
        .await;
        let new = answers.iter().filter(|answer| matches!(answer, SubscribeOutcome::Created(_)));
        assert_eq!(new.count(), 1);
        let ids: BTreeSet<Guid> = answers
            .iter()
            .map(|answer| match answer {
                SubscribeOutcome::Created(webhook) | SubscribeOutcome::Existing(webhook) => webhook.id,
                SubscribeOutcome::LimitReached => panic!("the limit was not reached"),
            })
            .collect();
        assert_eq!(ids.len(), 1);
    }
}

pub(crate) async fn owner_has_a_webhook_limit(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    let subscribe =
        async |name: &str| store.subscribe(new_webhook(&fixture, &tenant, name), 2, &by()).await.unwrap();
    let first = create_webhook(store, new_webhook(&fixture, &tenant, "a")).await;
    // Webhooks of both families count.
    create_webhook(store, NewWebhook { resource: invoicing(), ..new_webhook(&fixture, &tenant, "b") }).await;
    assert_eq!(subscribe("c").await, SubscribeOutcome::LimitReached);
    let again = subscribe("a").await;
    assert!(
        matches!(&again, SubscribeOutcome::Existing(found) if found.id == first.id),
        "an existing webhook is found at the limit: {again:?}"
    );
    let other = WebhookOwner { client: ClientId::new("other"), ..owner(&tenant) };
    create_webhook(store, NewWebhook { owner: other, ..new_webhook(&fixture, &tenant, "c") }).await;
    store.change_webhook(first.id, None, WebhookChange::Unsubscribe, &by()).await.unwrap();
    assert!(matches!(subscribe("c").await, SubscribeOutcome::Created(_)));
    assert_eq!(subscribe("d").await, SubscribeOutcome::LimitReached);

    let (crowd, second_store) = (fixture.add_tenant().await, fixture.reopen().await.store);
    let answers = concurrently(10, &[store, &second_store], |number, store| {
        let body = new_webhook(&fixture, &crowd, &format!("n{number}"));
        async move { store.subscribe(body, 3, &by()).await.unwrap() }
    })
    .await;
    assert_eq!(answers.iter().filter(|webhook| matches!(webhook, SubscribeOutcome::Created(_))).count(), 3);
    assert_eq!(answers.iter().filter(|webhook| **webhook == SubscribeOutcome::LimitReached).count(), 7);
}

/// A disabled webhook is active again once its receiver has accepted a new handshake.
pub(crate) async fn subscribing_again_enables_a_disabled_webhook(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    let request = new_webhook(&fixture, &tenant, "a");
    let active = active_webhook(&fixture, &tenant, "a").await;
    assert_eq!(subscribe_again(&fixture, &request).await, active);
    store.change_webhook(active.id, None, WebhookChange::Disable, &by()).await.unwrap();
    tenant.accept([company("c1")]).await;
    let now = fixture.clock.advance(Duration::from_secs(60));
    let enabled = subscribe_again(&fixture, &request).await;
    assert!(enabled.enabled && !enabled.flags().is_active());
    assert_eq!((enabled.handshake.number, enabled.handshake.at, enabled.revision), (2, now, 3));
    assert_eq!(
        (enabled.cursor, enabled.initial_cursor),
        (Some(1), Some(0)),
        "it resumes with the next event"
    );
    assert_eq!(find_webhook(store, active.id).await, enabled);
    accept_handshake(store, &enabled, 1).await;
    let enabled = find_webhook(store, active.id).await;
    assert!(enabled.flags().is_active());

    let mut gives_up = new_checkpoint(store, &enabled).await;
    gives_up.disabled = Some("nobody answered\0".into());
    write_checkpoint(store, gives_up).await;
    let disabled = find_webhook(store, active.id).await.disabled.unwrap();
    assert_eq!((disabled.at, disabled.reason.as_str()), (fixture.now(), "nobody answered\u{fffd}"));
    tenant.accept([company("c2")]).await;
    let enabled = subscribe_again(&fixture, &request).await;
    assert_eq!((enabled.disabled, enabled.handshake.number, enabled.cursor), (None, 3, Some(1)));
    assert!(!enabled.handshake.accepted);
}

pub(crate) async fn same_subscription_after_unsubscribe_creates_a_new_webhook(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    let first = create_webhook(store, new_webhook(&fixture, &tenant, "a")).await;
    store.change_webhook(first.id, None, WebhookChange::Unsubscribe, &by()).await.unwrap();
    assert_eq!(store.find_subscribed_webhook(&new_webhook(&fixture, &tenant, "a")).await, Ok(None));
    let second = create_webhook(store, new_webhook(&fixture, &tenant, "a")).await;
    store.change_webhook(second.id, None, WebhookChange::Delete, &by()).await.unwrap();
    let third = create_webhook(store, new_webhook(&fixture, &tenant, "a")).await;
    assert_eq!(BTreeSet::from([first.id, second.id, third.id]).len(), 3);
    assert!(find_webhook(store, first.id).await.unsubscribed_at.is_some());
    assert!(find_webhook(store, second.id).await.deleted_at.is_some());
}

pub(crate) async fn webhooks_are_listed_in_order_of_creation(fixture: Fixture) {
    let (tenant, other, store) = (fixture.add_tenant().await, fixture.add_tenant().await, &fixture.store);
    let mut all = Vec::new();
    for number in 0..6 {
        // Two per time: equal times are sorted by id.
        if number % 2 == 0 {
            fixture.clock.advance(Duration::from_secs(1));
        }
        let resource = if number == 3 { invoicing() } else { Resource::customers() };
        let owner_tenant = if number == 4 { &other } else { &tenant };
        let webhook = NewWebhook { resource, ..new_webhook(&fixture, owner_tenant, &format!("n{number}")) };
        all.push(create_webhook(store, webhook).await);
    }
    store.change_webhook(all[0].id, None, WebhookChange::Unsubscribe, &by()).await.unwrap();
    all[0] = find_webhook(store, all[0].id).await;
    all.sort_by_key(|webhook| (webhook.created_at, webhook.id));
    let everything = WebhookQuery { rows_max: 100, include_ended: true, ..WebhookQuery::default() };
    assert_eq!(store.webhooks(&everything).await, Ok(all.clone()));
    let check_query = async |query: WebhookQuery, matches: &dyn Fn(&Webhook) -> bool| {
        let expected: Vec<Webhook> = all.iter().filter(|webhook| matches(webhook)).cloned().collect();
        assert!(!expected.is_empty());
        assert_eq!(store.webhooks(&query).await, Ok(expected), "{query:?}");
    };
    let tenant_id = || Some(tenant.id.clone());
    let live = WebhookQuery { include_ended: false, ..everything.clone() };
    check_query(live.clone(), &|webhook| webhook.unsubscribed_at.is_none()).await;
    check_query(WebhookQuery { tenant: tenant_id(), ..everything.clone() }, &|webhook| {
        webhook.owner.tenant == tenant.id
    })
    .await;
    let of_owner = WebhookQuery { tenant: tenant_id(), client: Some(ClientId::new("erp")), ..live.clone() };
    check_query(of_owner, &|webhook| webhook.owner.tenant == tenant.id && webhook.unsubscribed_at.is_none())
        .await;
    let family = WebhookQuery { family: Some(Family::Invoicing), ..everything.clone() };
    check_query(family, &|webhook| webhook.resource == invoicing()).await;
    let resource = WebhookQuery { resource: Some(Resource::customers()), ..everything.clone() };
    check_query(resource, &|webhook| webhook.resource == Resource::customers()).await;
    let unknown = WebhookQuery { client: Some(ClientId::new("no\0body")), ..everything.clone() };
    assert_eq!(store.webhooks(&unknown).await, Ok(Vec::new()));

    let mut paged: Vec<Webhook> = Vec::new();
    loop {
        let after = paged.last().map(|webhook| (webhook.created_at, webhook.id));
        let page = store.webhooks(&WebhookQuery { after, rows_max: 2, ..everything.clone() }).await.unwrap();
        if page.is_empty() {
            break;
        }
        paged.extend(page);
    }
    assert_eq!(paged, all);
}

pub(crate) async fn webhook_is_changed_only_by_its_owner(fixture: Fixture) {
    let (tenant, other, store) = (fixture.add_tenant().await, fixture.add_tenant().await, &fixture.store);
    let webhook = create_webhook(store, new_webhook(&fixture, &tenant, "a")).await;
    let stranger = WebhookOwner { client: ClientId::new("other"), ..owner(&tenant) };
    for unknown in [stranger, owner(&other)] {
        let tried = store.change_webhook(webhook.id, Some(&unknown), WebhookChange::Delete, &by()).await;
        assert_eq!(tried, Ok(WebhookChangeOutcome::Unknown));
    }
    let unknown = store.change_webhook(Guid::from_bytes([5; 16]), None, WebhookChange::Enable, &by()).await;
    assert_eq!(unknown, Ok(WebhookChangeOutcome::Unknown));
    assert_eq!(find_webhook(store, webhook.id).await, webhook);
    let own =
        store.change_webhook(webhook.id, Some(&owner(&tenant)), WebhookChange::Disable, &by()).await.unwrap();
    assert!(matches!(own, WebhookChangeOutcome::Changed(webhook) if !webhook.enabled));
}

/// A tenant's webhooks are gone with it at once; their rows are purged later. A new tenant with the same id has none of them.
pub(crate) async fn erased_tenant_has_no_webhooks(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    let other = fixture.add_tenant().await;
    let webhook = active_webhook(&fixture, &tenant, "a").await;
    let stored = active_webhook(&fixture, &other, "a").await;
    super::webhook_fixtures::add_lanes_and_replay(&fixture, &webhook).await;
    let late = new_checkpoint(store, &webhook).await;
    let before = store.changed_webhooks(0).await.unwrap().last_change;
    store.erase_tenant(&tenant.id, &by()).await.unwrap();
    assert_eq!(store.find_webhook(webhook.id).await, Ok(None));
    assert_eq!(store.load_webhook(webhook.id).await, Ok(None));
    assert_eq!(store.checkpoint(vec![late]).await, Ok(vec![store::CheckpointResult::Stale]));
    assert_eq!(store.request_replay(webhook.id, store::ReplayKind::Test, (0, 0), &by()).await, Ok(None));
    let changed = store.change_webhook(webhook.id, None, WebhookChange::Delete, &by()).await;
    assert_eq!(changed, Ok(WebhookChangeOutcome::Unknown));
    if fixture.kind != super::fixture::StoreKind::Memory {
        assert!(store.changed_webhooks(before).await.unwrap().webhooks.contains(&webhook.id));
    }

    store.add_tenant(&new_tenant(tenant.id.as_str(), fixture.now()), &by()).await.unwrap();
    let new = create_webhook(store, new_webhook(&fixture, &tenant, "a")).await;
    tenant.purge_all(3).await;
    assert_eq!(find_webhook(store, new.id).await, new);
    assert_eq!(store.lanes(new.id, 10).await, Ok(Vec::new()));
    assert_eq!(find_webhook(store, stored.id).await, stored);
}
