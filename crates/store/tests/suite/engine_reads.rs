//! What the delivery engine reads: the log after its cursors, the webhooks and their changes, and the commit signal.

use std::pin::Pin;
use std::time::Duration;

use domain::subscription::{Product, Products};
use domain::{ClientId, Resource, Secret, TenantId};
use store::{
    ChangeSet, ClientUpdate, CommitSignal, DisabledOwners, LogEvent, LogPage, LogQuery, NewWebhook, Status,
    StoreError, WebhookChange, shard_of,
};
use tokio::time::Instant;

use super::clients::client;
use super::fixture::{Fixture, StoreKind, by};
use super::postgres_database::connect;
use super::test_tenant::{TestTenant, company, customer, delete, disable, entity, fail, journal, log_lines};
use super::webhook_fixtures::{MAX, add_lanes_and_replay, create_webhook, load_webhook, new_webhook};

const BATCHES: usize = 30;
const BATCH_ROWS: usize = 1000;

fn event_lines(events: &[LogEvent]) -> Vec<String> {
    log_lines(&events.iter().map(|event| event.entry.clone()).collect::<Vec<_>>())
}

async fn write_sample_changes(tenant: &TestTenant) {
    tenant
        .accept([company("c1"), company("c2"), customer("c1", "k1", "Ana"), journal("c1", "j1", "{}")])
        .await;
    tenant
        .accept([customer("c2", "k1", "Eva"), customer("c1", "k1", "Berta"), journal("c1", "j2", "{}")])
        .await;
    tenant
        .accept([
            disable(customer("c1", "k1", "")),
            fail(customer("c1", "k2", "")),
            journal("c1", "j3", "{}"),
        ])
        .await;
}

/// One way of reading the log after a sequence.
type ReadFn<'a> = &'a dyn Fn(u64) -> Pin<Box<dyn Future<Output = ()> + 'a>>;

/// The shortest time of several reads after each of two sequences: other load on the machine does not count.
async fn shortest_times(read: ReadFn<'_>, afters: [u64; 2]) -> [Duration; 2] {
    let mut shortest_times = [Duration::MAX; 2];
    for _ in 0..15 {
        for (shortest_times, after) in shortest_times.iter_mut().zip(afters) {
            let from = Instant::now();
            read(after).await;
            *shortest_times = from.elapsed().min(*shortest_times);
        }
    }
    shortest_times
}

/// Most kinds of events never occur here: a read that scans for them would scan the whole log.
pub(crate) async fn read_cost_does_not_depend_on_the_position_in_the_log(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    let (customers, rows_max) = (Resource::customers(), 20);
    let tail = async |after| {
        let read = store.read_tail(&tenant.id, customers, after, rows_max).await.unwrap();
        assert_eq!(read.events.len(), rows_max);
    };
    let filtered_log = async |after| {
        let events = Some(customers.event_kinds().into_iter().map(|kind| (customers, kind)).collect());
        let (tenant, company) = (tenant.id.clone(), None);
        let query = LogQuery { tenant, company, events, after, rows_max };
        let LogPage::Entries(read) = store.read_log(&query).await.unwrap() else {
            panic!("the entries exist")
        };
        assert_eq!(read.len(), rows_max);
    };
    // This record does not exist.
    let record = async |after| {
        let read = store.read_record_tail(&tenant.id, customers, 7, after, u64::MAX >> 1, rows_max).await;
        assert_eq!(read.unwrap().len(), 0);
    };
    let all: [(&str, ReadFn<'_>); 3] = [
        ("tail", &|after| Box::pin(tail(after))),
        ("feed", &|after| Box::pin(filtered_log(after))),
        ("record", &|after| Box::pin(record(after))),
    ];
    // The memory store scans for a record's events: it is only for tests.
    let reads = if fixture.kind == StoreKind::Memory { &all[..2] } else { &all[..] };
    let check_costs = async |when: &str, head: u64| {
        for &(what, read) in reads {
            let [near, far] = shortest_times(read, [head - 20, 1]).await;
            let bound = near * 5 + Duration::from_millis(2);
            assert!(far < bound, "{what} {when}: {near:?} near the end, {far:?} near the start");
        }
    };
    tenant.accept([company("c1")]).await;
    let mut head = 1;
    for part in 0..BATCHES {
        tenant
            .accept((0..BATCH_ROWS).map(|number| customer("c1", &format!("k{part}-{number}"), "Ana")))
            .await;
        head += BATCH_ROWS as u64;
        // PostgreSQL may keep a plan from when the log was small.
        for &(_, read) in reads {
            read(head - 20).await;
        }
    }
    check_costs("as the log grew", head).await;
    if fixture.kind == StoreKind::Postgres {
        // Autovacuum does this sooner or later; PostgreSQL then plans again with statistics.
        connect(&fixture.url()).await.batch_execute("ANALYZE").await.unwrap();
        check_costs("with statistics", head).await;
    }
}

pub(crate) async fn tail_has_one_resources_events_in_order(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    let read = async |after, rows_max| {
        store.read_tail(&tenant.id, Resource::customers(), after, rows_max).await.unwrap()
    };
    let empty = read(0, 10).await;
    assert_eq!((empty.events.len(), empty.read_to, empty.floor), (0, 0, 0));
    write_sample_changes(&tenant).await;
    let expected = [
        "3 customers k1 Created",
        "5 customers k1 Created",
        "6 customers k1 Updated",
        "8 customers k1 Disabled",
        "9 customers k2 ErrorOccurred",
    ];
    let all = read(0, 10).await;
    assert_eq!(event_lines(&all.events), expected);
    assert_eq!((all.read_to, all.floor), (10, 0), "the read reached the end of the log");
    let log = tenant.log().await;
    assert!(all.events.iter().all(|event| log.contains(&event.entry)));
    let some = read(3, 2).await;
    assert_eq!(
        (event_lines(&some.events), some.read_to),
        (expected[1..3].iter().map(ToString::to_string).collect(), 6)
    );
    let exact = read(3, 4).await;
    assert_eq!((exact.events.len(), exact.read_to), (4, 9), "there may be more");
    let rest = read(9, 4).await;
    assert_eq!((rest.events.len(), rest.read_to), (0, 10));
    assert_eq!(read(10, 4).await.read_to, 10);
    assert_eq!(tenant.prune(fixture.now() + Duration::from_secs(1), 4).await, 4);
    let below = read(0, 10).await;
    assert_eq!(
        (event_lines(&below.events), below.floor),
        (expected[1..].iter().map(ToString::to_string).collect(), 4)
    );
    let unknown = TenantId::new("no\0body");
    let unknown = store.read_tail(&unknown, Resource::customers(), 0, 1).await;
    assert_eq!(unknown, Err(StoreError::UnknownTenant("no\0body".into())));
}

pub(crate) async fn record_tail_has_one_records_events(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    write_sample_changes(&tenant).await;
    tenant.accept([delete(journal("c1", "j1", "{}")), journal("c1", "j1", "{}")]).await;
    let tail = store.read_tail(&tenant.id, Resource::customers(), 0, 10).await.unwrap().events;
    let key = tail[0].record_key;
    assert_ne!(key, tail[1].record_key, "the same id in another company is another record");
    let read = async |after, through, rows_max| {
        let found =
            store.read_record_tail(&tenant.id, Resource::customers(), key, after, through, rows_max).await;
        event_lines(&found.unwrap())
    };
    let expected = ["3 customers k1 Created", "6 customers k1 Updated", "8 customers k1 Disabled"];
    assert_eq!(read(0, 100, 100).await, expected);
    assert_eq!(read(3, 8, 100).await, expected[1..]);
    assert_eq!(read(2, 7, 100).await, expected[..2]);
    assert_eq!(read(0, 100, 1).await, expected[..1]);
    assert_eq!(read(8, 3, 100).await, [""; 0]);
    let journals = Resource::find(domain::Area::Accounting, "journals").unwrap();
    let first = store.read_tail(&tenant.id, journals, 0, 1).await.unwrap().events.remove(0);
    let again = store.read_record_tail(&tenant.id, journals, first.record_key, 0, 100, 9).await.unwrap();
    assert_eq!(again.len(), 3, "created, deleted and created again");
    let unknown = TenantId::new("nobody");
    assert_eq!(store.read_record_tail(&unknown, journals, 1, 0, 9, 9).await, Ok(Vec::new()));
}

pub(crate) async fn webhooks_of_a_shard_are_read_in_pages(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    let mut ids = Vec::new();
    for number in 0..9_u8 {
        let mut bytes = [number; 16];
        bytes[15] = if number == 4 { 1 } else { 200 };
        let id = domain::Guid::from_bytes(bytes);
        let webhook = NewWebhook { id, ..new_webhook(&fixture, &tenant, &format!("n{number}")) };
        ids.push(create_webhook(store, webhook).await.id);
    }
    store.change_webhook(ids[2], None, WebhookChange::Unsubscribe, &by()).await.unwrap();
    store.change_webhook(ids[3], None, WebhookChange::Disable, &by()).await.unwrap();
    add_lanes_and_replay(&fixture, &load_webhook(store, ids[5]).await.webhook).await;
    let mut read = Vec::new();
    loop {
        let after = read.last().map(|loaded: &store::LoadedWebhook| loaded.webhook.id);
        let page = store.load_webhooks(200, after, 3).await.unwrap();
        if page.is_empty() {
            break;
        }
        read.extend(page);
    }
    let expected: Vec<_> = [0, 1, 3, 5, 6, 7, 8].map(|number: usize| ids[number]).to_vec();
    assert_eq!(read.iter().map(|loaded| loaded.webhook.id).collect::<Vec<_>>(), expected);
    assert!(read.iter().all(|loaded| shard_of(loaded.webhook.id) == 200));
    assert_eq!((read[3].lanes.len(), read[3].replays.len()), (2, 1));
    assert_eq!(read[3], load_webhook(store, ids[5]).await);
    assert_ne!(read[0].id_key, read[1].id_key);
    assert_eq!(store.load_webhooks(1, None, 3).await.unwrap().len(), 1);
    assert_eq!(store.load_webhook(ids[2]).await, Ok(None));
}

pub(crate) async fn changed_webhooks_are_listed_in_commit_order(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    let start = store.changed_webhooks(0).await.unwrap();
    assert_eq!(start.webhooks, []);
    let (a, b) = (
        create_webhook(store, new_webhook(&fixture, &tenant, "a")).await,
        create_webhook(store, new_webhook(&fixture, &tenant, "b")).await,
    );
    let both = store.changed_webhooks(start.last_change).await.unwrap();
    assert_eq!(both.webhooks.len(), 2);
    assert_eq!(store.changed_webhooks(both.last_change).await.unwrap().webhooks, []);
    store.change_webhook(a.id, None, WebhookChange::Disable, &by()).await.unwrap();
    let disabled = store.changed_webhooks(both.last_change).await.unwrap();
    assert_eq!(disabled.webhooks, [a.id]);
    store.change_webhook(b.id, None, WebhookChange::Delete, &by()).await.unwrap();
    let end = store.changed_webhooks(disabled.last_change).await.unwrap();
    assert_eq!(end.webhooks, [b.id], "a deletion is a change too");
    assert_eq!(store.changed_webhooks(end.last_change).await.unwrap().last_change, end.last_change);
}

pub(crate) async fn log_heads_cover_tenants_with_webhooks(fixture: Fixture) {
    let (tenant, other, store) = (fixture.add_tenant().await, fixture.add_tenant().await, &fixture.store);
    tenant.accept([company("c1")]).await;
    other.accept([company("c1")]).await;
    assert_eq!(store.log_heads().await, Ok(Vec::new()));
    let a = create_webhook(store, new_webhook(&fixture, &tenant, "a")).await;
    create_webhook(store, new_webhook(&fixture, &tenant, "b")).await;
    let past = create_webhook(store, new_webhook(&fixture, &other, "a")).await;
    store.change_webhook(past.id, None, WebhookChange::Unsubscribe, &by()).await.unwrap();
    assert_eq!(store.log_heads().await, Ok(vec![(tenant.id.clone(), 1)]));
    store.change_webhook(a.id, None, WebhookChange::Disable, &by()).await.unwrap();
    tenant.accept([company("c2")]).await;
    assert_eq!(store.log_heads().await, Ok(vec![(tenant.id.clone(), 2)]));
}

pub(crate) async fn disabled_owners_are_listed(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    fixture.add_tenant().await;
    store.add_client(&client(&fixture, "erp"), &Secret::new("s"), &by()).await.unwrap();
    assert_eq!(store.disabled_owners().await, Ok(DisabledOwners::default()));
    store.set_tenant_status(&tenant.id, Status::Disabled, &by()).await.unwrap();
    store.set_client_status(&ClientId::new("erp"), Status::Disabled, &by()).await.unwrap();
    let limited_clients = Vec::new();
    let both = DisabledOwners {
        tenants: vec![tenant.id.clone()],
        clients: vec![ClientId::new("erp")],
        limited_clients,
        team_clients: Vec::new(),
        sandboxes: Vec::new(),
    };
    assert_eq!(store.disabled_owners().await, Ok(both));
    let products = Products::from_iter([Product::Payroll]);
    let update = ClientUpdate { products: Some(products), ..ClientUpdate::default() };
    assert!(store.update_client(&ClientId::new("erp"), &update, None, &by()).await.unwrap().is_updated());
    let listed = store.disabled_owners().await.unwrap().limited_clients;
    assert_eq!(listed, [(ClientId::new("erp"), products)]);
}

/// The changes that the signal already holds, without waiting.
async fn pending_changes(commit_signal: &CommitSignal) -> ChangeSet {
    tokio::select! {
        biased;
        pending_changes = commit_signal.wait() => pending_changes,
        () = std::future::ready(()) => ChangeSet::default(),
    }
}

pub(crate) async fn commit_signal_is_raised_before_the_call_returns(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    let commit_signal = store.invalidation().commit_signal();
    tenant.accept([company("c1")]).await;
    assert_eq!(pending_changes(commit_signal).await, ChangeSet::default(), "nobody listened yet");
    commit_signal.listen();
    tenant.accept([customer("c1", "k1", "Ana"), entity("Bank", "b1", "{}")]).await;
    let change_set = pending_changes(commit_signal).await;
    let resources = change_set.tenants[&tenant.id];
    assert!(resources.contains(Resource::customers()) && !resources.contains(Resource::companies()));
    assert_eq!(resources.bits().count_ones(), 2);
    tenant.send([customer("c1", "k1", "Ana")]).await;
    assert_eq!(
        pending_changes(commit_signal).await,
        ChangeSet::default(),
        "an unchanged batch does not signal"
    );

    let of = |webhook| ChangeSet { webhooks: [webhook].into(), ..ChangeSet::default() };
    let webhook = create_webhook(store, new_webhook(&fixture, &tenant, "a")).await;
    assert_eq!(pending_changes(commit_signal).await, of(webhook.id));
    store.change_webhook(webhook.id, None, WebhookChange::Disable, &by()).await.unwrap();
    assert_eq!(pending_changes(commit_signal).await, of(webhook.id));
    store.subscribe(new_webhook(&fixture, &tenant, "a"), MAX, &by()).await.unwrap();
    assert_eq!(pending_changes(commit_signal).await, of(webhook.id));
    store.request_replay(webhook.id, store::ReplayKind::Test, (0, 0), &by()).await.unwrap();
    assert_eq!(pending_changes(commit_signal).await, of(webhook.id));
    store.set_tenant_status(&tenant.id, Status::Active, &by()).await.unwrap();
    assert!(pending_changes(commit_signal).await.access);
    store.erase_tenant(&tenant.id, &by()).await.unwrap();
    assert!(pending_changes(commit_signal).await.all);
}
