//! Webhooks in memory, as their owners manage them.

use std::collections::BTreeMap;

use async_trait::async_trait;
use domain::{Ticks, WebhookId};

use super::{MemoryStore, State};
use crate::webhooks::{Lease, anew, change, made};
use crate::{
    AttemptRecord, AuditEntry, Lane, NewWebhook, Replay, Result, StoreError, SubscribeOutcome,
    SuccessfulDelivery, Webhook, WebhookChange, WebhookChangeOutcome, WebhookOwner, WebhookQuery, Webhooks,
};

/// All that has to do with webhooks.
#[derive(Clone, Default)]
pub(super) struct Hooks {
    pub(super) all: BTreeMap<WebhookId, StoredWebhook>,
    /// The last number of a change of theirs.
    pub(super) moved: u64,
    pub(super) leases: Vec<Lease>,
}

#[derive(Clone)]
pub(super) struct StoredWebhook {
    pub(super) tenant_no: i64,
    pub(super) webhook: Webhook,
    fingerprint: [u8; 32],
    pub(super) moved: u64,
    pub(super) lanes: BTreeMap<i64, Lane>,
    pub(super) replays: Vec<Replay>,
    pub(super) replays_asked: i64,
    /// In the order of (time, sequence).
    pub(super) attempts: Vec<AttemptRecord>,
    pub(super) delivered: BTreeMap<(Ticks, u64), SuccessfulDelivery>,
}

impl StoredWebhook {
    pub(super) fn renew_lanes(&mut self, now: Ticks) {
        for lane in self.lanes.values_mut() {
            lane.retry = anew(now);
        }
    }
}

impl Hooks {
    pub(super) fn live(&self) -> impl Iterator<Item = &StoredWebhook> {
        self.all.values().filter(|kept| !kept.webhook.flags().is_final())
    }

    fn alike(&self, fingerprint: &[u8; 32]) -> Option<&StoredWebhook> {
        self.live().find(|kept| kept.fingerprint == *fingerprint)
    }

    pub(super) fn next_move(&mut self) -> u64 {
        self.moved += 1;
        self.moved
    }
}

impl State {
    fn change_hook(
        &mut self,
        id: WebhookId,
        what: &WebhookChange,
        now: Ticks,
        fingerprint: impl Fn(&Webhook) -> [u8; 32],
    ) -> WebhookChangeOutcome {
        let Some(kept) = self.webhooks.all.get(&id) else {
            return WebhookChangeOutcome::Unknown;
        };
        let Some(head) = self.heads.get(&kept.tenant_no) else {
            return WebhookChangeOutcome::Unknown;
        };
        let mut webhook = kept.webhook.clone();
        let Some(effects) = change(&mut webhook, what, now, head.bounds.head) else {
            return WebhookChangeOutcome::Ended(webhook);
        };
        if effects.none {
            return WebhookChangeOutcome::Changed(webhook);
        }
        let mark = fingerprint(&webhook);
        if !webhook.flags().is_final()
            && self.webhooks.alike(&mark).is_some_and(|other| other.webhook.id != id)
        {
            return WebhookChangeOutcome::Duplicate;
        }
        let moved = self.webhooks.next_move();
        if let Some(kept) = self.webhooks.all.get_mut(&id) {
            kept.webhook = webhook.clone();
            kept.fingerprint = mark;
            kept.moved = moved;
            if effects.drop_lanes {
                kept.lanes.clear();
                kept.replays.retain(|replay| replay.is_done);
            }
            if effects.renew_lanes {
                kept.renew_lanes(now);
            }
        }
        WebhookChangeOutcome::Changed(webhook)
    }
}

#[async_trait]
impl Webhooks for MemoryStore {
    async fn subscribe_audited(
        &self,
        new: NewWebhook,
        webhooks_max: usize,
        entry: Option<AuditEntry>,
    ) -> Result<SubscribeOutcome> {
        let now = self.ports.clock.now();
        let fingerprint = |webhook: &Webhook| webhook.fingerprint(&self.ports.vault);
        let webhook = made(new, now);
        let (id, mark) = (webhook.id, fingerprint(&webhook));
        let mut state = self.writing()?;
        let (tenant_no, _) = state.head(&webhook.owner.tenant)?;
        if let Some(kept) = state.webhooks.alike(&mark) {
            let found = kept.webhook.clone();
            if !found.rests() {
                return Ok(SubscribeOutcome::Existing(found));
            }
            let enabled = state.change_hook(found.id, &WebhookChange::Enable, now, fingerprint);
            drop(state);
            self.invalidation.commit_signal().signal_webhook(found.id);
            return Ok(SubscribeOutcome::Existing(if let WebhookChangeOutcome::Changed(one) = enabled {
                one
            } else {
                found
            }));
        }
        let own = state.webhooks.live().filter(|kept| kept.webhook.owner == webhook.owner);
        if own.count() >= webhooks_max {
            return Ok(SubscribeOutcome::LimitReached);
        }
        if state.webhooks.all.contains_key(&id) {
            return Err(StoreError::Exists(format!("a webhook \"{id}\"")));
        }
        if let Some(entry) = entry {
            state.add_record(&*self.ports.random, entry);
        }
        let moved = state.webhooks.next_move();
        let kept = StoredWebhook {
            tenant_no,
            webhook: webhook.clone(),
            fingerprint: mark,
            moved,
            lanes: BTreeMap::new(),
            replays: Vec::new(),
            replays_asked: 0,
            attempts: Vec::new(),
            delivered: BTreeMap::new(),
        };
        state.webhooks.all.insert(id, kept);
        drop(state);
        self.invalidation.commit_signal().signal_webhook(id);
        Ok(SubscribeOutcome::Created(webhook))
    }

    async fn find_identical_webhook(&self, body: &NewWebhook) -> Result<Option<Webhook>> {
        let mark = made(body.clone(), Ticks(0)).fingerprint(&self.ports.vault);
        Ok(self.state().webhooks.alike(&mark).map(|kept| kept.webhook.clone()))
    }

    async fn find_webhook(&self, id: WebhookId) -> Result<Option<Webhook>> {
        Ok(self.state().webhooks.all.get(&id).map(|kept| kept.webhook.clone()))
    }

    async fn webhooks(&self, query: &WebhookQuery) -> Result<Vec<Webhook>> {
        let state = self.state();
        let is_wanted = |one: &&Webhook| {
            query.tenant.as_ref().is_none_or(|tenant| one.owner.tenant == *tenant)
                && query.client.as_ref().is_none_or(|client| one.owner.client == *client)
                && query.resource.is_none_or(|resource| one.resource == resource)
                && query.family.is_none_or(|family| one.family() == family)
                && (query.include_ended || !one.flags().is_final())
                && query.after.is_none_or(|after| (one.created_at, one.id) > after)
        };
        let mut found: Vec<Webhook> =
            state.webhooks.all.values().map(|kept| &kept.webhook).filter(is_wanted).cloned().collect();
        found.sort_by_key(|one| (one.created_at, one.id));
        found.truncate(query.rows_max);
        Ok(found)
    }

    async fn change_webhook_audited(
        &self,
        id: WebhookId,
        owner: Option<&WebhookOwner>,
        what: WebhookChange,
        entry: Option<AuditEntry>,
    ) -> Result<WebhookChangeOutcome> {
        let now = self.ports.clock.now();
        let mut state = self.writing()?;
        let is_theirs = |kept: &&StoredWebhook| owner.is_none_or(|owner| kept.webhook.owner == *owner);
        let Some(before) = state.webhooks.all.get(&id).filter(is_theirs).map(|kept| kept.webhook.clone())
        else {
            return Ok(WebhookChangeOutcome::Unknown);
        };
        let changed = state.change_hook(id, &what, now, |webhook| webhook.fingerprint(&self.ports.vault));
        if let (true, Some(entry)) = (changed.is_other_than(&before), entry) {
            state.add_record(&*self.ports.random, entry);
        }
        drop(state);
        self.invalidation.commit_signal().signal_webhook(id);
        Ok(changed)
    }
}
