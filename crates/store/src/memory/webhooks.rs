//! Webhook management in memory.

use std::collections::BTreeMap;

use async_trait::async_trait;
use domain::{TeamId, Ticks, WebhookId};

use super::{MemoryStore, State};
use crate::webhooks::{Lease, apply_change, new_webhook, reset_retry, subscribe_again_change};
use crate::{
    AttemptRecord, AuditContext, Lane, NewWebhook, Replay, Result, StoreError, SubscribeOutcome,
    SuccessfulDelivery, Vault, Webhook, WebhookChange, WebhookChangeOutcome, WebhookOwner, WebhookQuery,
    Webhooks, receiver_host,
};

/// Everything about webhooks.
#[derive(Clone, Default)]
pub(super) struct WebhookTable {
    pub(super) all: BTreeMap<WebhookId, StoredWebhook>,
    /// The number of the last webhook change.
    pub(super) change_number: u64,
    pub(super) leases: Vec<Lease>,
}

#[derive(Clone)]
pub(super) struct StoredWebhook {
    pub(super) tenant_no: i64,
    pub(super) webhook: Webhook,
    fingerprint: [u8; 32],
    original_fingerprint: [u8; 32],
    pub(super) change_number: u64,
    pub(super) lanes: BTreeMap<i64, Lane>,
    pub(super) replays: Vec<Replay>,
    pub(super) replay_count: i64,
    /// Ordered by (time, sequence).
    pub(super) attempts: Vec<AttemptRecord>,
    pub(super) delivered: BTreeMap<(Ticks, u64), SuccessfulDelivery>,
}

impl StoredWebhook {
    pub(super) fn reset_lanes(&mut self, now: Ticks) {
        for lane in self.lanes.values_mut() {
            lane.retry = reset_retry(now);
        }
    }
}

impl WebhookTable {
    pub(super) fn live(&self) -> impl Iterator<Item = &StoredWebhook> {
        self.all.values().filter(|stored| !stored.webhook.flags().is_final())
    }

    fn find_identical(&self, fingerprint: &[u8; 32]) -> Option<&StoredWebhook> {
        self.live().find(|stored| stored.fingerprint == *fingerprint)
    }

    /// The only live webhook that was identical before its URL changed.
    fn find_by_original_url(&self, fingerprint: &[u8; 32]) -> Option<&StoredWebhook> {
        let mut found = self.live().filter(|stored| stored.original_fingerprint == *fingerprint);
        found.next().filter(|_| found.next().is_none())
    }

    pub(super) fn next_change_number(&mut self) -> u64 {
        self.change_number += 1;
        self.change_number
    }
}

impl State {
    fn change_stored_webhook(
        &mut self,
        id: WebhookId,
        what: &WebhookChange,
        now: Ticks,
        vault: &Vault,
    ) -> WebhookChangeOutcome {
        let Some(stored) = self.webhooks.all.get(&id) else {
            return WebhookChangeOutcome::Unknown;
        };
        let Some(head) = self.heads.get(&stored.tenant_no) else {
            return WebhookChangeOutcome::Unknown;
        };
        let mut webhook = stored.webhook.clone();
        let Some(effects) = apply_change(&mut webhook, what, now, head.bounds.head) else {
            return WebhookChangeOutcome::Ended(webhook);
        };
        if effects.unchanged {
            return WebhookChangeOutcome::Changed(webhook);
        }
        let fingerprint = webhook.fingerprint(vault);
        if fingerprint != stored.fingerprint
            && self.webhooks.find_identical(&fingerprint).is_some_and(|other| other.webhook.id != id)
        {
            return WebhookChangeOutcome::Duplicate;
        }
        let change_number = self.webhooks.next_change_number();
        if let Some(stored) = self.webhooks.all.get_mut(&id) {
            stored.webhook = webhook.clone();
            stored.fingerprint = fingerprint;
            stored.original_fingerprint = webhook.original_fingerprint(vault);
            stored.change_number = change_number;
            if effects.drop_lanes {
                stored.lanes.clear();
                stored.replays.retain(|replay| replay.is_done);
            }
            if effects.reset_lanes {
                stored.reset_lanes(now);
            }
        }
        WebhookChangeOutcome::Changed(webhook)
    }
}

/// Whether a webhook meets the conditions of a query, ended or not.
pub(super) fn is_wanted(state: &State, one: &Webhook, query: &WebhookQuery) -> bool {
    let is_of_team = |team: &TeamId| {
        let client = state.clients.get(one.owner.client.as_str());
        client.is_some_and(|stored| stored.client.team.as_ref() == Some(team))
    };
    query.tenant.as_ref().is_none_or(|tenant| one.owner.tenant == *tenant)
        && query.client.as_ref().is_none_or(|client| one.owner.client == *client)
        && query.team.as_ref().is_none_or(is_of_team)
        && query.host.as_ref().is_none_or(|host| receiver_host(&one.url) == *host)
        && query.resource.is_none_or(|resource| one.resource == resource)
        && query.family.is_none_or(|family| one.family() == family)
        && query.after.is_none_or(|after| (one.created_at, one.id) > after)
}

#[async_trait]
impl Webhooks for MemoryStore {
    async fn subscribe(
        &self,
        new: NewWebhook,
        webhooks_max: usize,
        context: &AuditContext,
    ) -> Result<SubscribeOutcome> {
        let now = self.ports.clock.now();
        let (vault, again) = (&self.ports.vault, subscribe_again_change(&new));
        let webhook = new_webhook(new, now);
        let (id, fingerprint) = (webhook.id, webhook.fingerprint(vault));
        let mut state = self.state_mut()?;
        let (tenant_no, _) = state.head(&webhook.owner.tenant)?;
        if let Some(stored) = state.webhooks.find_identical(&fingerprint) {
            let found = stored.webhook.clone();
            let changed = state.change_stored_webhook(found.id, &again, now, vault);
            if let (true, WebhookChangeOutcome::Changed(after)) = (changed.is_changed_from(&found), &changed)
            {
                let entry = self.act(context).webhook_changed(&found, after, &again);
                state.append_audit(&*self.ports.random, entry);
            }
            drop(state);
            self.invalidation.commit_signal().signal_webhook(found.id);
            return Ok(SubscribeOutcome::Existing(changed.webhook_or(found)));
        }
        let own = state.webhooks.live().filter(|stored| stored.webhook.owner == webhook.owner);
        if own.count() >= webhooks_max {
            return Ok(SubscribeOutcome::LimitReached);
        }
        if state.webhooks.all.contains_key(&id) {
            return Err(StoreError::Exists(format!("a webhook \"{id}\"")));
        }
        for entry in self.act(context).webhook_subscribed(&webhook) {
            state.append_audit(&*self.ports.random, entry);
        }
        let change_number = state.webhooks.next_change_number();
        let stored = StoredWebhook {
            tenant_no,
            webhook: webhook.clone(),
            fingerprint,
            original_fingerprint: webhook.original_fingerprint(vault),
            change_number,
            lanes: BTreeMap::new(),
            replays: Vec::new(),
            replay_count: 0,
            attempts: Vec::new(),
            delivered: BTreeMap::new(),
        };
        state.webhooks.all.insert(id, stored);
        drop(state);
        self.invalidation.commit_signal().signal_webhook(id);
        Ok(SubscribeOutcome::Created(webhook))
    }

    async fn find_subscribed_webhook(&self, body: &NewWebhook) -> Result<Option<Webhook>> {
        let fingerprint = new_webhook(body.clone(), Ticks(0)).fingerprint(&self.ports.vault);
        let webhooks = &self.state().webhooks;
        let found =
            webhooks.find_identical(&fingerprint).or_else(|| webhooks.find_by_original_url(&fingerprint));
        Ok(found.map(|stored| stored.webhook.clone()))
    }

    async fn find_webhook(&self, id: WebhookId) -> Result<Option<Webhook>> {
        Ok(self.state().webhooks.all.get(&id).map(|stored| stored.webhook.clone()))
    }

    async fn webhooks(&self, query: &WebhookQuery) -> Result<Vec<Webhook>> {
        let state = self.state();
        let is_wanted = |one: &&Webhook| {
            is_wanted(&state, one, query) && (query.include_ended || !one.flags().is_final())
        };
        let mut found: Vec<Webhook> =
            state.webhooks.all.values().map(|stored| &stored.webhook).filter(is_wanted).cloned().collect();
        found.sort_by_key(|one| (one.created_at, one.id));
        found.truncate(query.rows_max);
        Ok(found)
    }

    async fn change_webhook(
        &self,
        id: WebhookId,
        owner: Option<&WebhookOwner>,
        what: WebhookChange,
        context: &AuditContext,
    ) -> Result<WebhookChangeOutcome> {
        let now = self.ports.clock.now();
        let mut state = self.state_mut()?;
        let is_theirs = |stored: &&StoredWebhook| owner.is_none_or(|owner| stored.webhook.owner == *owner);
        let Some(before) = state.webhooks.all.get(&id).filter(is_theirs).map(|stored| stored.webhook.clone())
        else {
            return Ok(WebhookChangeOutcome::Unknown);
        };
        let changed = state.change_stored_webhook(id, &what, now, &self.ports.vault);
        if let (true, WebhookChangeOutcome::Changed(after)) = (changed.is_changed_from(&before), &changed) {
            let entry = self.act(context).webhook_changed(&before, after, &what);
            state.append_audit(&*self.ports.random, entry);
        }
        drop(state);
        self.invalidation.commit_signal().signal_webhook(id);
        Ok(changed)
    }
}
