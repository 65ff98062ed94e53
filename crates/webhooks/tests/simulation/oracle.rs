//! What must hold, whatever happens: watched at every attempt, every delivery and every checkpoint, and once more at
//! the end.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use domain::{TenantId, Ticks, WebhookId};
use store::memory::MemoryStore;
use store::{
    AttemptPurpose, ChangeLog as _, CheckpointResult, Deliveries as _, History as _, LogEvent, Webhook,
    WebhookCheckpoint, Webhooks as _,
};
use webhooks::engine::{Knock, Letter};

use super::stage::{TENANTS, now, resources};

/// Another node may learn of a change this much later.
const OTHERS_LEARN: Duration = Duration::from_millis(1500);

#[derive(Default)]
pub(crate) struct Oracle {
    /// All that ever happened, by tenant and resource.
    events: BTreeMap<(TenantId, i16), Vec<LogEvent>>,
    delivered: HashMap<WebhookId, BTreeSet<u64>>,
    letters: HashMap<(WebhookId, u64), (String, String)>,
    ids: HashMap<String, (WebhookId, u64)>,
    /// Up to these numbers a webhook's owner wants nothing.
    excused_upto: HashMap<WebhookId, u64>,
    /// When somebody changed a webhook last, and which node was told before the answer.
    changed: HashMap<WebhookId, (Duration, Option<usize>)>,
    /// When a tenant's or a client's standing changed last.
    standing_changed: Duration,
    pub(crate) attempts: u64,
    pub(crate) successes: u64,
    pub(crate) disabled: u64,
}

impl Oracle {
    /// The log has grown: remembers it, for it may be pruned.
    pub(crate) fn learn(&mut self, store: &MemoryStore) {
        for tenant in TENANTS.map(TenantId::new) {
            for resource in resources() {
                let known = self.events.entry((tenant.clone(), resource.code())).or_default();
                let after = known.last().map_or(0, |event| event.entry.sequence);
                known.extend(now(store.read_tail(&tenant, resource, after, usize::MAX)).unwrap().events);
            }
        }
    }

    /// The store is an older one again: what it does not know of never happened. Letters and ids are remembered, for none
    /// of them may ever mean another thing.
    pub(crate) fn restored(&mut self, store: &MemoryStore, at: Duration) {
        for ((tenant, resource), known) in &mut self.events {
            let resource = resources().into_iter().find(|one| one.code() == *resource).unwrap();
            let kept = now(store.read_tail(tenant, resource, 0, usize::MAX)).unwrap().events;
            let last = kept.last().map_or(0, |event| event.entry.sequence);
            known.retain(|event| event.entry.sequence <= last);
        }
        self.changed.clear();
        self.standing_changed = at;
    }

    pub(crate) fn changed(&mut self, webhook: WebhookId, at: Duration, node: Option<usize>) {
        self.changed.insert(webhook, (at, node));
    }

    pub(crate) fn standing_changed(&mut self, at: Duration) {
        self.standing_changed = at;
    }

    /// The webhook starts again at the head: what was before is its owner's loss.
    pub(crate) fn excuse(&mut self, webhook: WebhookId, upto: u64) {
        self.excused_upto.insert(webhook, upto);
    }

    /// A node starts an attempt. `is_deaf`: it cannot have heard of the last changes.
    pub(crate) fn starts(
        &mut self,
        store: &MemoryStore,
        knock: &Knock,
        at: Duration,
        node: usize,
        is_deaf: bool,
    ) {
        self.attempts += 1;
        let id = knock.target.webhook();
        let webhook = now(store.find_webhook(id)).unwrap().expect("only webhooks that there are");
        let (changed_at, told) = self.changed.get(&id).copied().unwrap_or_default();
        let may_not_know = told != Some(node) && (is_deaf || at < changed_at + OTHERS_LEARN);
        if may_not_know {
            return;
        }
        let flags = webhook.flags();
        if knock.handshake().is_some() {
            assert!(flags.needs_handshake(webhook.family()), "a handshake of {webhook:?}");
            assert_eq!(knock.handshake(), Some(webhook.handshake.number), "an old handshake");
        } else {
            assert!(flags.is_active(), "an attempt for an inactive webhook: {webhook:?}");
        }
        assert_eq!(knock.target.url, webhook.url, "an attempt to an old address");
        if !is_deaf && at >= self.standing_changed + OTHERS_LEARN {
            let suspended = now(store.disabled_owners()).unwrap();
            assert!(!suspended.tenants.contains(&webhook.owner.tenant), "a suspended tenant");
            assert!(!suspended.clients.contains(&webhook.owner.client), "a suspended client");
        }
    }

    /// A letter arrives: the same as every time before, and one of the webhook's own events.
    pub(crate) fn arrives(&mut self, store: &MemoryStore, knock: &Knock, letter: &Letter) {
        let Some(sequence) = knock.sequence() else { return };
        let id = knock.target.webhook();
        let this = (letter.id.clone(), letter.body.clone());
        let first = self.letters.entry((id, sequence)).or_insert_with(|| this.clone());
        assert_eq!(*first, this, "an attempt with other bytes");
        let owner = self.ids.entry(letter.id.clone()).or_insert((id, sequence));
        assert_eq!(*owner, (id, sequence), "an id that two events share");
        let webhook = now(store.find_webhook(id)).unwrap().unwrap();
        let event = self.event(&webhook, sequence);
        assert!(webhook.kinds.contains(event.entry.kind), "a kind that nobody subscribed to");
        assert!(sequence > webhook.initial_cursor.unwrap_or(u64::MAX), "an event from before the handshake");
    }

    fn event(&self, webhook: &Webhook, sequence: u64) -> &LogEvent {
        let own = &self.events[&(webhook.owner.tenant.clone(), webhook.resource.code())];
        let place = own.binary_search_by_key(&sequence, |event| event.entry.sequence);
        &own[place.expect("an event of the webhook's own tenant and resource")]
    }

    /// A receiver has taken an event: all earlier ones of its record must have been taken before.
    pub(crate) fn taken(&mut self, store: &MemoryStore, knock: &Knock) {
        let Some(sequence) = knock.sequence() else { return };
        let webhook = now(store.find_webhook(knock.target.webhook())).unwrap().unwrap();
        self.successes += 1;
        let record = self.event(&webhook, sequence).record_key;
        let missing: Vec<u64> = self
            .wanted(store, &webhook)
            .filter(|event| event.record_key == record && event.entry.sequence < sequence)
            .map(|event| event.entry.sequence)
            .collect();
        assert_eq!(
            missing,
            Vec::<u64>::new(),
            "events before {sequence} of {} were not delivered",
            webhook.id
        );
        self.delivered.entry(webhook.id).or_default().insert(sequence);
    }

    /// What the webhook was entitled to and nobody has taken yet.
    fn wanted<'a>(&'a self, store: &MemoryStore, webhook: &'a Webhook) -> impl Iterator<Item = &'a LogEvent> {
        let floor = now(store.log_bounds(&webhook.owner.tenant)).unwrap().floor;
        let excused = self.excused_upto.get(&webhook.id).copied().unwrap_or(0);
        let after = webhook.initial_cursor.unwrap_or(u64::MAX).max(excused).max(floor);
        let delivered = self.delivered.get(&webhook.id);
        let own = self.events.get(&(webhook.owner.tenant.clone(), webhook.resource.code()));
        own.into_iter().flatten().filter(move |event| {
            event.entry.sequence > after
                && webhook.kinds.contains(event.entry.kind)
                && !delivered.is_some_and(|taken| taken.contains(&event.entry.sequence))
        })
    }

    /// Whatever is not delivered yet still waits: behind the cursor, or in its record's lane.
    pub(crate) fn nothing_is_forgotten(&self, store: &MemoryStore, webhook: &Webhook) {
        if webhook.flags().is_final() || !webhook.enabled {
            return;
        }
        let lanes = now(store.lanes(webhook.id, usize::MAX)).unwrap();
        for event in self.wanted(store, webhook) {
            let sequence = event.entry.sequence;
            let waits = webhook.cursor.is_some_and(|cursor| sequence > cursor);
            let is_parked =
                lanes.iter().any(|lane| lane.record_key == event.record_key && lane.sequence <= sequence);
            assert!(waits || is_parked, "{sequence} is forgotten: {webhook:?} {lanes:?}");
        }
    }

    /// The service gives up only after an attempt at the end of the window, and after enough of them.
    pub(crate) fn checkpointed(
        &mut self,
        points: &[WebhookCheckpoint],
        verdicts: &[CheckpointResult],
        window: Duration,
        attempts_min: u32,
    ) {
        for (point, verdict) in points.iter().zip(verdicts) {
            if point.disabled.is_none() || *verdict != CheckpointResult::Written {
                continue;
            }
            self.disabled += 1;
            let is_shaking = point.attempts.iter().any(|attempt| {
                matches!(attempt.purpose, AttemptPurpose::Handshake { .. }) && attempt.number >= attempts_min
            });
            let is_final = point.parked.iter().any(|lane| {
                let purpose = AttemptPurpose::Event { sequence: lane.sequence };
                let first: Ticks = lane.retry.first_failed_at;
                let last = point
                    .attempts
                    .iter()
                    .filter(|attempt| attempt.purpose == purpose)
                    .map(|last| last.at)
                    .max();
                lane.retry.attempts >= attempts_min && last.is_some_and(|last| last.since(first) >= window)
            });
            assert!(is_shaking || is_final, "disabled before its time: {point:?}");
        }
    }

    /// Everything is well again and time has passed: all that was wanted was taken.
    pub(crate) fn all_is_delivered(&self, store: &MemoryStore, webhook: &Webhook) {
        if webhook.flags().is_final() || !webhook.enabled {
            return;
        }
        assert!(webhook.flags().is_active(), "still not active: {webhook:?}");
        let left: Vec<u64> = self.wanted(store, webhook).map(|event| event.entry.sequence).collect();
        assert_eq!(left, Vec::<u64>::new(), "never delivered to {webhook:?}");
        let head = now(store.log_bounds(&webhook.owner.tenant)).unwrap().head;
        assert_eq!(webhook.cursor, Some(head), "the cursor does not stand at the head");
        assert_eq!(now(store.lanes(webhook.id, 1)).unwrap(), [], "a lane is left");
    }
}
