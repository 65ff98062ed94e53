//! What the delivery engine reads: the log behind the cursors, which webhooks there are, and what rings the bell.

use std::pin::Pin;
use std::time::Duration;

use domain::{ClientId, Resource, Secret, TenantId};
use store::{
    ChangeSet, CommitSignal, DisabledOwners, LogEvent, LogPage, LogQuery, NewWebhook, Status, StoreError,
    WebhookChange, shard_of,
};
use tokio::time::Instant;

use super::applications::client;
use super::database::connect;
use super::desk::{Desk, company, customer, delete, disable, entity, fail, journal, told};
use super::stage::{Kind, Stage};
use super::webhook_fixtures::{MAX, body, in_trouble, load_webhook, made};

const LOADS: usize = 30;
const LOAD: usize = 1000;

fn words(events: &[LogEvent]) -> Vec<String> {
    told(&events.iter().map(|event| event.entry.clone()).collect::<Vec<_>>())
}

async fn busy(desk: &Desk) {
    desk.accept([company("c1"), company("c2"), customer("c1", "k1", "Ana"), journal("c1", "j1", "{}")]).await;
    desk.accept([customer("c2", "k1", "Eva"), customer("c1", "k1", "Berta"), journal("c1", "j2", "{}")])
        .await;
    desk.accept([
        disable(customer("c1", "k1", "")),
        fail(customer("c1", "k2", "")),
        journal("c1", "j3", "{}"),
    ])
    .await;
}

/// Reads in the log in a way of its own, after a number.
type Read<'a> = &'a dyn Fn(u64) -> Pin<Box<dyn Future<Output = ()> + 'a>>;

/// The shortest of some tries after either number, in turn: what it takes where nothing else holds it up.
async fn shortest(read: Read<'_>, afters: [u64; 2]) -> [Duration; 2] {
    let mut shortest = [Duration::MAX; 2];
    for _ in 0..15 {
        for (shortest, after) in shortest.iter_mut().zip(afters) {
            let from = Instant::now();
            read(after).await;
            *shortest = from.elapsed().min(*shortest);
        }
    }
    shortest
}

/// Most kinds of events never occur here, and whoever looks for them by walking walks through everything.
pub(crate) async fn reading_on_costs_what_is_read_and_not_what_lies_behind(stage: Stage) {
    let (desk, store) = (stage.desk().await, &stage.store);
    let (customers, rows_max) = (Resource::customers(), 20);
    let tail = async |after| {
        let read = store.read_tail(&desk.tenant, customers, after, rows_max).await.unwrap();
        assert_eq!(read.events.len(), rows_max);
    };
    let feed = async |after| {
        let events = Some(customers.event_kinds().into_iter().map(|kind| (customers, kind)).collect());
        let (tenant, company) = (desk.tenant.clone(), None);
        let query = LogQuery { tenant, company, events, after, rows_max };
        let LogPage::Entries(read) = store.read_log(&query).await.unwrap() else { panic!("it is there") };
        assert_eq!(read.len(), rows_max);
    };
    // There is no such record.
    let record = async |after| {
        let read = store.read_record_tail(&desk.tenant, customers, 7, after, u64::MAX >> 1, rows_max).await;
        assert_eq!(read.unwrap().len(), 0);
    };
    let all: [(&str, Read<'_>); 3] = [
        ("tail", &|after| Box::pin(tail(after))),
        ("feed", &|after| Box::pin(feed(after))),
        ("record", &|after| Box::pin(record(after))),
    ];
    // In memory a record's events are found by walking; that store is for tests.
    let ways = if stage.kind == Kind::Memory { &all[..2] } else { &all[..] };
    let both_cost_the_same = async |when: &str, head: u64| {
        for &(what, read) in ways {
            let [near, far] = shortest(read, [head - 20, 1]).await;
            let bound = near * 5 + Duration::from_millis(2);
            assert!(far < bound, "{what} {when}: {near:?} near the end, {far:?} far from it");
        }
    };
    desk.accept([company("c1")]).await;
    let mut head = 1;
    for part in 0..LOADS {
        desk.accept((0..LOAD).map(|number| customer("c1", &format!("k{part}-{number}"), "Ana"))).await;
        head += LOAD as u64;
        // PostgreSQL may hold on to a plan of when the log was small.
        for &(_, read) in ways {
            read(head - 20).await;
        }
    }
    both_cost_the_same("as the log grew", head).await;
    if stage.kind == Kind::Postgres {
        // What its housekeeping does by itself in a while: it then plans anew, by what it knows of the rows.
        connect(&stage.url()).await.batch_execute("ANALYZE").await.unwrap();
        both_cost_the_same("with statistics", head).await;
    }
}

pub(crate) async fn a_tail_is_one_resources_events_in_order(stage: Stage) {
    let (desk, store) = (stage.desk().await, &stage.store);
    let read = async |after, rows_max| {
        store.read_tail(&desk.tenant, Resource::customers(), after, rows_max).await.unwrap()
    };
    let empty = read(0, 10).await;
    assert_eq!((empty.events.len(), empty.read_to, empty.floor), (0, 0, 0));
    busy(&desk).await;
    let expected = [
        "3 customers k1 Created",
        "5 customers k1 Created",
        "6 customers k1 Updated",
        "8 customers k1 Disabled",
        "9 customers k2 ErrorOccurred",
    ];
    let all = read(0, 10).await;
    assert_eq!(words(&all.events), expected);
    assert_eq!((all.read_to, all.floor), (10, 0), "it has looked to the log's end");
    let log = desk.log().await;
    assert!(all.events.iter().all(|event| log.contains(&event.entry)));
    let some = read(3, 2).await;
    assert_eq!(
        (words(&some.events), some.read_to),
        (expected[1..3].iter().map(ToString::to_string).collect(), 6)
    );
    let exact = read(3, 4).await;
    assert_eq!((exact.events.len(), exact.read_to), (4, 9), "there may be more");
    let rest = read(9, 4).await;
    assert_eq!((rest.events.len(), rest.read_to), (0, 10));
    assert_eq!(read(10, 4).await.read_to, 10);
    assert_eq!(desk.prune(stage.now() + Duration::from_secs(1), 4).await, 4);
    let below = read(0, 10).await;
    assert_eq!(
        (words(&below.events), below.floor),
        (expected[1..].iter().map(ToString::to_string).collect(), 4)
    );
    let nobody = TenantId::new("no\0body");
    let unknown = store.read_tail(&nobody, Resource::customers(), 0, 1).await;
    assert_eq!(unknown, Err(StoreError::UnknownTenant("no\0body".into())));
}

pub(crate) async fn a_records_events_are_found_by_themselves(stage: Stage) {
    let (desk, store) = (stage.desk().await, &stage.store);
    busy(&desk).await;
    desk.accept([delete(journal("c1", "j1", "{}")), journal("c1", "j1", "{}")]).await;
    let tail = store.read_tail(&desk.tenant, Resource::customers(), 0, 10).await.unwrap().events;
    let key = tail[0].record_key;
    assert_ne!(key, tail[1].record_key, "another company's record of the same name");
    let read = async |after, through, rows_max| {
        let found =
            store.read_record_tail(&desk.tenant, Resource::customers(), key, after, through, rows_max).await;
        words(&found.unwrap())
    };
    let expected = ["3 customers k1 Created", "6 customers k1 Updated", "8 customers k1 Disabled"];
    assert_eq!(read(0, 100, 100).await, expected);
    assert_eq!(read(3, 8, 100).await, expected[1..]);
    assert_eq!(read(2, 7, 100).await, expected[..2]);
    assert_eq!(read(0, 100, 1).await, expected[..1]);
    assert_eq!(read(8, 3, 100).await, [""; 0]);
    let journals = Resource::find(domain::Area::Accounting, "journals").unwrap();
    let first = store.read_tail(&desk.tenant, journals, 0, 1).await.unwrap().events.remove(0);
    let again = store.read_record_tail(&desk.tenant, journals, first.record_key, 0, 100, 9).await.unwrap();
    assert_eq!(again.len(), 3, "made, deleted and made again");
    let nobody = TenantId::new("nobody");
    assert_eq!(store.read_record_tail(&nobody, journals, 1, 0, 9, 9).await, Ok(Vec::new()));
}

pub(crate) async fn a_shards_webhooks_are_read_page_by_page(stage: Stage) {
    let (desk, store) = (stage.desk().await, &stage.store);
    let mut ids = Vec::new();
    for number in 0..9_u8 {
        let mut bytes = [number; 16];
        bytes[15] = if number == 4 { 1 } else { 200 };
        let id = domain::Guid::from_bytes(bytes);
        let one = NewWebhook { id, ..body(&stage, &desk, &format!("n{number}")) };
        ids.push(made(store, one).await.id);
    }
    store.change_webhook(ids[2], None, WebhookChange::Unsubscribe).await.unwrap();
    store.change_webhook(ids[3], None, WebhookChange::Disable).await.unwrap();
    in_trouble(&stage, &load_webhook(store, ids[5]).await.webhook).await;
    let mut read = Vec::new();
    loop {
        let after = read.last().map(|one: &store::LoadedWebhook| one.webhook.id);
        let page = store.load_webhooks(200, after, 3).await.unwrap();
        if page.is_empty() {
            break;
        }
        read.extend(page);
    }
    let expected: Vec<_> = [0, 1, 3, 5, 6, 7, 8].map(|number: usize| ids[number]).to_vec();
    assert_eq!(read.iter().map(|one| one.webhook.id).collect::<Vec<_>>(), expected);
    assert!(read.iter().all(|one| shard_of(one.webhook.id) == 200));
    assert_eq!((read[3].lanes.len(), read[3].replays.len()), (2, 1));
    assert_eq!(read[3], load_webhook(store, ids[5]).await);
    assert_ne!(read[0].id_key, read[1].id_key);
    assert_eq!(store.load_webhooks(1, None, 3).await.unwrap().len(), 1);
    assert_eq!(store.load_webhook(ids[2]).await, Ok(None));
}

pub(crate) async fn what_moved_is_told_in_the_order_of_commits(stage: Stage) {
    let (desk, store) = (stage.desk().await, &stage.store);
    let start = store.changed_webhooks(0).await.unwrap();
    assert_eq!(start.webhooks, []);
    let (a, b) = (made(store, body(&stage, &desk, "a")).await, made(store, body(&stage, &desk, "b")).await);
    let both = store.changed_webhooks(start.last_change).await.unwrap();
    assert_eq!(both.webhooks.len(), 2);
    assert_eq!(store.changed_webhooks(both.last_change).await.unwrap().webhooks, []);
    store.change_webhook(a.id, None, WebhookChange::Disable).await.unwrap();
    let one = store.changed_webhooks(both.last_change).await.unwrap();
    assert_eq!(one.webhooks, [a.id]);
    store.change_webhook(b.id, None, WebhookChange::Delete).await.unwrap();
    let end = store.changed_webhooks(one.last_change).await.unwrap();
    assert_eq!(end.webhooks, [b.id], "an end is a change too");
    assert_eq!(store.changed_webhooks(end.last_change).await.unwrap().last_change, end.last_change);
}

pub(crate) async fn heads_are_told_of_tenants_that_have_webhooks(stage: Stage) {
    let (desk, other, store) = (stage.desk().await, stage.desk().await, &stage.store);
    desk.accept([company("c1")]).await;
    other.accept([company("c1")]).await;
    assert_eq!(store.log_heads().await, Ok(Vec::new()));
    let a = made(store, body(&stage, &desk, "a")).await;
    made(store, body(&stage, &desk, "b")).await;
    let past = made(store, body(&stage, &other, "a")).await;
    store.change_webhook(past.id, None, WebhookChange::Unsubscribe).await.unwrap();
    assert_eq!(store.log_heads().await, Ok(vec![(desk.tenant.clone(), 1)]));
    store.change_webhook(a.id, None, WebhookChange::Disable).await.unwrap();
    desk.accept([company("c2")]).await;
    assert_eq!(store.log_heads().await, Ok(vec![(desk.tenant.clone(), 2)]));
}

pub(crate) async fn whoever_is_disabled_has_its_webhooks_rest(stage: Stage) {
    let (desk, store) = (stage.desk().await, &stage.store);
    stage.desk().await;
    store.add_client(&client(&stage, "erp"), &Secret::new("s")).await.unwrap();
    assert_eq!(store.disabled_owners().await, Ok(DisabledOwners::default()));
    store.set_tenant_status(&desk.tenant, Status::Disabled).await.unwrap();
    let disabled = store::Client { status: Status::Disabled, ..client(&stage, "erp") };
    store.update_client(&disabled).await.unwrap();
    let both = DisabledOwners { tenants: vec![desk.tenant.clone()], clients: vec![ClientId::new("erp")] };
    assert_eq!(store.disabled_owners().await, Ok(both));
}

/// What has been rung already: who was answered need not wait for it.
async fn changes(commit_signal: &CommitSignal) -> ChangeSet {
    tokio::select! {
        biased;
        changes = commit_signal.wait() => changes,
        () = std::future::ready(()) => ChangeSet::default(),
    }
}

pub(crate) async fn the_bell_rings_before_the_answer(stage: Stage) {
    let (desk, store) = (stage.desk().await, &stage.store);
    let commit_signal = store.invalidation().commit_signal();
    desk.accept([company("c1")]).await;
    assert_eq!(changes(commit_signal).await, ChangeSet::default(), "nobody listened");
    commit_signal.listen();
    desk.accept([customer("c1", "k1", "Ana"), entity("Bank", "b1", "{}")]).await;
    let wait = changes(commit_signal).await;
    let resources = wait.tenants[&desk.tenant];
    assert!(resources.contains(Resource::customers()) && !resources.contains(Resource::companies()));
    assert_eq!(resources.bits().count_ones(), 2);
    desk.send([customer("c1", "k1", "Ana")]).await;
    assert_eq!(changes(commit_signal).await, ChangeSet::default(), "what changes nothing rings for nobody");

    let of = |webhook| ChangeSet { webhooks: [webhook].into(), ..ChangeSet::default() };
    let webhook = made(store, body(&stage, &desk, "a")).await;
    assert_eq!(changes(commit_signal).await, of(webhook.id));
    store.change_webhook(webhook.id, None, WebhookChange::Disable).await.unwrap();
    assert_eq!(changes(commit_signal).await, of(webhook.id));
    store.subscribe(body(&stage, &desk, "a"), MAX).await.unwrap();
    assert_eq!(changes(commit_signal).await, of(webhook.id));
    store.request_replay(webhook.id, store::ReplayKind::Test, 0, 0).await.unwrap();
    assert_eq!(changes(commit_signal).await, of(webhook.id));
    store.set_tenant_status(&desk.tenant, Status::Active).await.unwrap();
    assert!(changes(commit_signal).await.access);
    store.erase_tenant(&desk.tenant).await.unwrap();
    assert!(changes(commit_signal).await.all);
}
