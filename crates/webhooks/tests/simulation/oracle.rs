//! The engine's invariants, checked at every attempt, delivery and checkpoint, and again at the end of a run.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use bytes::Bytes;
use domain::subscription::Products;
use domain::{ClientId, TenantId, Ticks, WebhookId};
use store::memory::MemoryStore;
use store::{
    AttemptPurpose, Authorizations as _, ChangeLog as _, CheckpointResult, Deliveries as _, History as _,
    LogEvent, Webhook, WebhookCheckpoint, WebhookQuery, Webhooks as _,
};
use webhooks::egress::OutboundRequest;
use webhooks::engine::Attempt;

use super::fixture::{TENANTS, block_on, resources};

/// How much later other nodes may act on a change than the one that served it; nothing excuses a node from it.
const PROPAGATION_MAX: Duration = Duration::from_secs(2);

/// A change of something, and the node that served it: that node knows it at once.
#[derive(Clone, Copy)]
pub(crate) struct Served {
    pub(crate) at: Duration,
    pub(crate) node: Option<usize>,
}

/// Which run of a node made an attempt, and the attempt's id there.
pub(crate) type AttemptKey = (usize, u32, u64);

#[derive(Default)]
pub(crate) struct Oracle {
    /// All events, by tenant and resource.
    events: BTreeMap<(TenantId, i16), Vec<LogEvent>>,
    delivered: HashMap<WebhookId, BTreeSet<u64>>,
    requests: HashMap<(WebhookId, u64), (String, Bytes)>,
    ids: HashMap<String, (WebhookId, u64)>,
    /// A webhook need not receive events up to this sequence.
    expect_nothing_upto: HashMap<WebhookId, u64>,
    /// What owners changed of a webhook: the webhook before the change.
    changed: HashMap<WebhookId, Vec<(Served, Webhook)>>,
    /// The last change of the authorizations of a webhook's owner.
    access_changed: HashMap<WebhookId, Served>,
    /// When a tenant, client, team or subscription last changed.
    status_changed: Option<Served>,
    /// Why nothing may be sent to a webhook, and since when. Each reason counts for itself: where one ends within two seconds
    /// of the beginning of another, a node may have heard of the one and not yet of the other.
    access_ended: HashMap<(WebhookId, &'static str), Duration>,
    /// The attempt that is on its way to a receiver or has no answer yet, for each record of a webhook.
    on_the_wire: HashMap<(WebhookId, i64), (AttemptKey, u64)>,
    /// When each event was first seen in the log.
    seen_at: HashMap<(TenantId, u64), Duration>,
    /// The longest that a webhook's receiver has waited for an event, by its address.
    longest_waits: HashMap<String, Duration>,
    pub(crate) attempts: u64,
    pub(crate) successes: u64,
    pub(crate) disabled: u64,
}

/// Whether the attempt may be sent to a webhook in this state, as far as its own owner's changes go.
fn allows(webhook: &Webhook, attempt: &Attempt) -> bool {
    let flags = webhook.flags();
    let is_wanted = match attempt.handshake() {
        Some(number) => flags.needs_handshake(webhook.family()) && number == webhook.handshake.number,
        None => flags.is_active(),
    };
    is_wanted && attempt.target.url == webhook.url
}

/// Why no authorization entitles the webhook's owner.
fn authorization_fault(store: &MemoryStore, webhook: &Webhook) -> Option<domain::Suspension> {
    let access = block_on(store.owner_access(&webhook.owner)).unwrap();
    access.authorization_gap(webhook.resource.area())
}

/// Why the webhook's tenant, client or team does not allow deliveries.
fn owner_faults(store: &MemoryStore, webhook: &Webhook) -> Vec<&'static str> {
    let disabled = block_on(store.disabled_owners()).unwrap();
    let product = webhook.resource.area().product();
    let lacks_product = |limited: &[(ClientId, Products)]| {
        let limited = limited.iter().find(|(client, _)| *client == webhook.owner.client);
        limited.is_some_and(|(_, products)| !products.contains(product))
    };
    let faults = [
        (disabled.tenants.contains(&webhook.owner.tenant), "a disabled tenant"),
        (disabled.clients.contains(&webhook.owner.client), "a disabled client"),
        (lacks_product(&disabled.limited_clients), "a client without the product"),
        (lacks_product(&disabled.team_clients), "a client whose team has no subscription to the product"),
    ];
    faults.into_iter().filter(|(holds, _)| *holds).map(|(_, fault)| fault).collect()
}

impl Oracle {
    /// Remembers new events of the log, because the log may be pruned.
    pub(crate) fn read_log(&mut self, store: &MemoryStore, at: Duration) {
        for tenant in TENANTS.map(TenantId::new) {
            for resource in resources() {
                let known = self.events.entry((tenant.clone(), resource.code())).or_default();
                let after = known.last().map_or(0, |event| event.entry.sequence);
                let events = block_on(store.read_tail(&tenant, resource, after, usize::MAX)).unwrap().events;
                let sequences = events.iter().map(|event| (tenant.clone(), event.entry.sequence));
                self.seen_at.extend(sequences.map(|event| (event, at)));
                known.extend(events);
            }
        }
    }

    /// The store was restored from a backup: later events never happened. Requests and ids are still remembered, because
    /// none of them may be used for another event.
    pub(crate) fn restored(&mut self, store: &MemoryStore) {
        for ((tenant, resource), known) in &mut self.events {
            let resource = resources().into_iter().find(|candidate| candidate.code() == *resource).unwrap();
            let restored = block_on(store.read_tail(tenant, resource, 0, usize::MAX)).unwrap().events;
            let last = restored.last().map_or(0, |event| event.entry.sequence);
            known.retain(|event| event.entry.sequence <= last);
        }
        self.changed.clear();
        self.access_changed.clear();
        self.status_changed = None;
        self.on_the_wire.clear();
        // Nodes start after a restore, and read everything then.
        self.access_ended.clear();
        self.note_access(store, Duration::ZERO);
    }

    pub(crate) fn changed(&mut self, before: Webhook, served: Served) {
        self.changed.entry(before.id).or_default().push((served, before));
    }

    pub(crate) fn access_changed(&mut self, webhook: WebhookId, served: Served) {
        self.access_changed.insert(webhook, served);
    }

    pub(crate) fn status_changed(&mut self, store: &MemoryStore, served: Served) {
        self.status_changed = Some(served);
        self.note_access(store, served.at);
    }

    /// Notes whose access has ended or stands again since the last call.
    pub(crate) fn note_access(&mut self, store: &MemoryStore, at: Duration) {
        let all = WebhookQuery { rows_max: usize::MAX, ..WebhookQuery::default() };
        for webhook in block_on(store.webhooks(&all)).unwrap() {
            let mut faults = owner_faults(store, &webhook);
            faults.extend(authorization_fault(store, &webhook).map(|_| "no authorization"));
            self.access_ended.retain(|(id, fault), _| *id != webhook.id || faults.contains(fault));
            for fault in faults {
                self.access_ended.entry((webhook.id, fault)).or_insert(at);
            }
        }
    }

    /// The webhook starts again at the head: its owner enabled it after disabling it.
    pub(crate) fn expect_nothing_upto(&mut self, webhook: WebhookId, upto: u64) {
        self.expect_nothing_upto.insert(webhook, upto);
    }

    /// The first byte of an attempt leaves a node.
    pub(crate) fn attempt_started(
        &mut self,
        store: &MemoryStore,
        attempt: &Attempt,
        at: Duration,
        key: AttemptKey,
    ) {
        self.attempts += 1;
        let id = attempt.target.webhook();
        let webhook = block_on(store.find_webhook(id)).unwrap().expect("the webhook exists");
        self.check_access(store, &webhook, at, key.0);
        let changes = self.changed.get(&id).map_or(&[][..], Vec::as_slice);
        let known =
            changes.iter().rposition(|(served, _)| served.node == Some(key.0)).map_or(0, |last| last + 1);
        let mut earlier = changes[known..].iter().filter(|(served, _)| at < served.at + PROPAGATION_MAX);
        assert!(
            allows(&webhook, attempt) || earlier.any(|(_, before)| allows(before, attempt)),
            "at {at:?} node {} sends to {}, which is not or no longer so: {webhook:?}",
            key.0,
            attempt.target.url
        );
        self.check_order(&webhook, attempt, key);
    }

    /// Nothing is sent to a webhook whose owner has no access: at once on the node that served the end of access, after the
    /// propagation on others, whatever has happened to them.
    fn check_access(&self, store: &MemoryStore, webhook: &Webhook, at: Duration, node: usize) {
        for ((_, fault), ended) in self.access_ended.iter().filter(|((id, _), _)| *id == webhook.id) {
            let late = at.saturating_sub(*ended);
            assert!(
                late < PROPAGATION_MAX,
                "at {at:?} node {node} sends {late:?} after the end of access ({fault}): {webhook:?}"
            );
        }
        let is_own = |served: Option<&Served>| served.is_some_and(|served| served.node == Some(node));
        if is_own(self.access_changed.get(&webhook.id)) {
            assert_eq!(
                authorization_fault(store, webhook),
                None,
                "at {at:?} node {node} itself ended the access"
            );
        }
        if is_own(self.status_changed.as_ref()) {
            assert_eq!(
                owner_faults(store, webhook),
                [""; 0],
                "at {at:?} node {node} itself ended the access"
            );
        }
    }

    /// No attempt of a record starts while another one of it is on its way: the receiver could get the later event first.
    fn check_order(&mut self, webhook: &Webhook, attempt: &Attempt, key: AttemptKey) {
        let Some(sequence) = attempt.sequence() else { return };
        let record = (webhook.id, self.event(webhook, sequence).record_key);
        if let Some((other, on_its_way)) = self.on_the_wire.insert(record, (key, sequence)) {
            panic!(
                "{key:?} sends {sequence} while {other:?} has sent {on_its_way} of the same record: {webhook:?}"
            );
        }
    }

    /// The attempt has been answered, or has timed out.
    pub(crate) fn attempt_ended(&mut self, key: AttemptKey) {
        self.on_the_wire.retain(|_, (other, _)| *other != key);
    }

    /// A node that stops in order has closed its connections to receivers.
    pub(crate) fn attempts_abandoned(&mut self, node: usize, incarnation: u32) {
        self.on_the_wire.retain(|_, (key, _)| (key.0, key.1) != (node, incarnation));
    }

    /// A request arrives: it must equal earlier requests for its event, and the event must belong to the webhook.
    pub(crate) fn request_arrived(
        &mut self,
        store: &MemoryStore,
        attempt: &Attempt,
        request: &OutboundRequest,
    ) {
        let Some(sequence) = attempt.sequence() else { return };
        let id = attempt.target.webhook();
        let outgoing_id = request.headers["webhook-id"].to_str().unwrap().to_owned();
        let this = (outgoing_id.clone(), request.body.clone());
        let first = self.requests.entry((id, sequence)).or_insert_with(|| this.clone());
        assert_eq!(*first, this, "an attempt with a different id or body");
        let owner = self.ids.entry(outgoing_id).or_insert((id, sequence));
        assert_eq!(*owner, (id, sequence), "an id that two events share");
        let webhook = block_on(store.find_webhook(id)).unwrap().unwrap();
        let event = self.event(&webhook, sequence);
        assert!(
            webhook.kinds.contains(event.entry.kind),
            "a kind of event that the webhook does not subscribe to"
        );
        assert!(sequence > webhook.initial_cursor.unwrap_or(u64::MAX), "an event from before the handshake");
    }

    fn event(&self, webhook: &Webhook, sequence: u64) -> &LogEvent {
        let own = &self.events[&(webhook.owner.tenant.clone(), webhook.resource.code())];
        let place = own.binary_search_by_key(&sequence, |event| event.entry.sequence);
        &own[place.expect("an event of the webhook's own tenant and resource")]
    }

    /// A receiver has accepted an event: it must have accepted all earlier events of the record before.
    pub(crate) fn event_accepted(&mut self, store: &MemoryStore, attempt: &Attempt, at: Duration) {
        let Some(sequence) = attempt.sequence() else { return };
        let webhook = block_on(store.find_webhook(attempt.target.webhook())).unwrap().unwrap();
        self.successes += 1;
        let record = self.event(&webhook, sequence).record_key;
        let missing: Vec<u64> = self
            .undelivered(store, &webhook)
            .filter(|event| event.record_key == record && event.entry.sequence < sequence)
            .map(|event| event.entry.sequence)
            .collect();
        assert_eq!(
            missing,
            Vec::<u64>::new(),
            "events before {sequence} of {} were not delivered",
            webhook.id
        );
        if self.delivered.entry(webhook.id).or_default().insert(sequence)
            && let Some(seen_at) = self.seen_at.get(&(webhook.owner.tenant.clone(), sequence))
        {
            let longest = self.longest_waits.entry(webhook.url).or_default();
            *longest = at.saturating_sub(*seen_at).max(*longest);
        }
    }

    /// The longest that the webhook's receiver has waited for an event, or waits at this time.
    pub(crate) fn longest_wait(&self, store: &MemoryStore, webhook: &Webhook, at: Duration) -> Duration {
        let seen = |event: &LogEvent| {
            let event = (webhook.owner.tenant.clone(), event.entry.sequence);
            self.seen_at.get(&event).copied().unwrap_or(at)
        };
        let waits = self.undelivered(store, webhook).map(|event| at.saturating_sub(seen(event)));
        let past = self.longest_waits.get(&webhook.url).copied().unwrap_or_default();
        waits.max().unwrap_or_default().max(past)
    }

    pub(crate) fn forget_waits(&mut self) {
        self.longest_waits.clear();
    }

    /// The events that the webhook is entitled to and its receiver has not accepted yet.
    fn undelivered<'a>(
        &'a self,
        store: &MemoryStore,
        webhook: &'a Webhook,
    ) -> impl Iterator<Item = &'a LogEvent> {
        let floor = block_on(store.log_bounds(&webhook.owner.tenant)).unwrap().floor;
        let nothing_upto = self.expect_nothing_upto.get(&webhook.id).copied().unwrap_or(0);
        let after = webhook.initial_cursor.unwrap_or(u64::MAX).max(nothing_upto).max(floor);
        let delivered = self.delivered.get(&webhook.id);
        let own = self.events.get(&(webhook.owner.tenant.clone(), webhook.resource.code()));
        own.into_iter().flatten().filter(move |event| {
            event.entry.sequence > after
                && webhook.kinds.contains(event.entry.kind)
                && !delivered.is_some_and(|accepted| accepted.contains(&event.entry.sequence))
        })
    }

    /// Every undelivered event still waits: after the cursor, or in its record's lane.
    pub(crate) fn check_nothing_forgotten(&self, store: &MemoryStore, webhook: &Webhook) {
        if webhook.flags().is_final() || !webhook.enabled {
            return;
        }
        let lanes = block_on(store.lanes(webhook.id, usize::MAX)).unwrap();
        for event in self.undelivered(store, webhook) {
            let sequence = event.entry.sequence;
            let waits = webhook.cursor.is_some_and(|cursor| sequence > cursor);
            let is_parked =
                lanes.iter().any(|lane| lane.record_key == event.record_key && lane.sequence <= sequence);
            assert!(waits || is_parked, "{sequence} is forgotten: {webhook:?} {lanes:?}");
        }
    }

    /// A webhook is disabled only after an attempt at the end of the window, and after enough attempts; or because its
    /// owner has had no access for too long.
    pub(crate) fn checkpoint_written(
        &mut self,
        checkpoints: &[WebhookCheckpoint],
        results: &[CheckpointResult],
        window: Duration,
        attempts_min: u32,
    ) {
        for (checkpoint, result) in checkpoints.iter().zip(results) {
            if checkpoint.disabled.is_none() || *result != CheckpointResult::Written {
                continue;
            }
            self.disabled += 1;
            if checkpoint.disabled.as_ref().is_some_and(|why| why.contains("no access")) {
                continue;
            }
            let is_handshake = checkpoint.attempts.iter().any(|attempt| {
                matches!(attempt.purpose, AttemptPurpose::Handshake { .. }) && attempt.number >= attempts_min
            });
            let is_window_over = checkpoint.parked.iter().any(|lane| {
                let purpose = AttemptPurpose::Event { sequence: lane.sequence };
                let first: Ticks = lane.retry.first_failed_at;
                let last = checkpoint
                    .attempts
                    .iter()
                    .filter(|attempt| attempt.purpose == purpose)
                    .map(|last| last.at)
                    .max();
                lane.retry.attempts >= attempts_min && last.is_some_and(|last| last.since(first) >= window)
            });
            assert!(is_handshake || is_window_over, "disabled too early: {checkpoint:?}");
        }
    }

    /// After the recovery every event must be delivered.
    pub(crate) fn check_all_delivered(&self, store: &MemoryStore, webhook: &Webhook) {
        if webhook.flags().is_final() || !webhook.enabled {
            return;
        }
        assert!(webhook.flags().is_active(), "still not active: {webhook:?}");
        let undelivered: Vec<u64> =
            self.undelivered(store, webhook).map(|event| event.entry.sequence).collect();
        assert_eq!(undelivered, Vec::<u64>::new(), "never delivered to {webhook:?}");
        let head = block_on(store.log_bounds(&webhook.owner.tenant)).unwrap().head;
        assert_eq!(webhook.cursor, Some(head), "the cursor is not at the head");
        assert_eq!(block_on(store.lanes(webhook.id, 1)).unwrap(), [], "a lane is left");
    }
}
