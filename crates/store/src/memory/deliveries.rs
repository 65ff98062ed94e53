//! The delivery engine's port in memory.

use std::collections::HashMap;

use async_trait::async_trait;
use domain::subscription::Products;
use domain::{Guid, Resource, TenantId, Ticks, WebhookId};

use super::webhooks::{StoredWebhook, WebhookTable};
use super::{MemoryStore, State};
use crate::plan::LogRow;
use crate::teams::limited_by_team;
use crate::webhooks::{
    CheckpointWrites, DeliveryState, Lease, WebhookKey, decide_checkpoints, id_key, rebalance,
};
use crate::{
    AttemptRecord, ChangedWebhooks, CheckpointResult, Deliveries, DisabledOwners, LeaseRenewal,
    LoadedWebhook, LogEvent, LogTail, RenewedLeases, Result, SHARDS, Status, Vault, Webhook,
    WebhookCheckpoint, shard_of,
};

impl WebhookTable {
    fn fence(&self, webhook: WebhookId) -> i64 {
        self.leases.get(usize::from(shard_of(webhook))).map_or(0, |lease| lease.fence)
    }

    /// How many shards a node holds.
    pub(super) fn shards_of(&self, node: Guid, now: Ticks) -> u16 {
        let held = self.leases.iter().filter(|lease| lease.holder == Some(node) && lease.expires_at > now);
        u16::try_from(held.count()).unwrap_or(u16::MAX)
    }

    fn leases(&mut self) -> &mut Vec<Lease> {
        if self.leases.is_empty() {
            self.leases = (0..=u8::MAX).map(Lease::free).collect();
        }
        debug_assert_eq!(self.leases.len(), usize::from(SHARDS));
        &mut self.leases
    }

    fn delivery_states(&self, checkpoints: &[WebhookCheckpoint]) -> HashMap<WebhookId, DeliveryState> {
        let known = checkpoints.iter().filter_map(|checkpoint| self.all.get(&checkpoint.webhook));
        known
            .map(|stored| {
                let id = stored.webhook.id;
                (id, delivery_state(&stored.webhook, stored.tenant_no, self.fence(id)))
            })
            .collect()
    }

    fn write(&mut self, writes: CheckpointWrites, now: Ticks) {
        for WebhookKey { webhook, .. } in writes.lane_resets {
            if let Some(stored) = self.all.get_mut(&webhook) {
                stored.reset_lanes(now);
            }
        }
        for (WebhookKey { webhook, .. }, state) in writes.changed {
            if let Some(stored) = self.all.get_mut(&webhook) {
                stored.webhook.cursor = state.cursor;
                stored.webhook.initial_cursor = state.initial_cursor;
                stored.webhook.handshake = state.handshake;
                stored.webhook.disabled = state.disabled;
                stored.webhook.suspended_at = state.suspended_at;
                stored.webhook.event_gap = state.event_gap;
            }
        }
        for ((WebhookKey { webhook, .. }, record_key), lane) in writes.lanes {
            let Some(stored) = self.all.get_mut(&webhook) else { continue };
            match lane {
                Some(lane) => stored.lanes.insert(record_key, lane),
                None => stored.lanes.remove(&record_key),
            };
        }
        for ((WebhookKey { webhook, .. }, number), step) in writes.replays {
            let stored = self.all.get_mut(&webhook);
            if let Some(replay) =
                stored.and_then(|stored| stored.replays.iter_mut().find(|one| one.number == number))
            {
                replay.position = replay.position.max(step.position);
                replay.delivered = step.delivered;
                replay.failed = step.failed;
                replay.is_done = step.is_done;
            }
        }
        for (WebhookKey { webhook, .. }, attempt) in writes.attempts {
            if let Some(stored) = self.all.get_mut(&webhook) {
                // A checkpoint may be written twice if its response was lost; the same attempt is recorded
                // once.
                if let Err(index) = stored.attempts.binary_search_by_key(&attempt_key(&attempt), attempt_key)
                {
                    stored.attempts.insert(index, attempt);
                }
            }
        }
        for (WebhookKey { webhook, .. }, delivered) in writes.delivered {
            if let Some(stored) = self.all.get_mut(&webhook) {
                stored.delivered.extend(delivered.into_iter().map(|one| ((one.at, one.sequence), one)));
            }
        }
    }
}

fn loaded_webhook(state: &State, stored: &StoredWebhook, vault: &Vault) -> LoadedWebhook {
    let Webhook { owner, resource, .. } = &stored.webhook;
    LoadedWebhook {
        authorization_gap: state.owner_access(owner).authorization_gap(resource.area()),
        webhook: stored.webhook.clone(),
        lanes: stored.lanes.values().copied().collect(),
        replays: stored.replays.iter().filter(|replay| !replay.is_done).copied().collect(),
        id_key: id_key(vault, stored.webhook.id),
    }
}

fn event(row: &LogRow) -> LogEvent {
    LogEvent { entry: row.entry.clone(), record_key: row.record_key }
}

impl State {
    /// The log rows of one resource between two sequences, in order.
    pub(super) fn events(
        &self,
        tenant_no: i64,
        resource: Resource,
        after: u64,
        through: u64,
    ) -> impl Iterator<Item = &LogRow> {
        let first = after.saturating_add(1).min(through.saturating_add(1));
        self.log
            .range((tenant_no, first)..(tenant_no, through.saturating_add(1)))
            .map(|(_, row)| row)
            .filter(move |row| row.entry.resource == resource)
    }
}

#[async_trait]
impl Deliveries for MemoryStore {
    async fn renew_shard_leases(&self, renewal: &LeaseRenewal) -> Result<RenewedLeases> {
        let now = self.ports.clock.now();
        let mut state = self.state_mut()?;
        let leases = state.webhooks.leases();
        let (changed, renewed) = rebalance(leases, renewal, now);
        *leases = changed;
        Ok(renewed)
    }

    async fn release_shards(&self, node: Guid) -> Result<()> {
        let now = self.ports.clock.now();
        for lease in self.state_mut()?.webhooks.leases().iter_mut() {
            if lease.holder == Some(node) {
                *lease = lease.released(now);
            }
        }
        Ok(())
    }

    async fn load_webhooks(
        &self,
        shard: u8,
        after: Option<WebhookId>,
        rows_max: usize,
    ) -> Result<Vec<LoadedWebhook>> {
        let state = self.state();
        let matching = state
            .webhooks
            .live()
            .filter(|stored| shard_of(stored.webhook.id) == shard)
            .filter(|stored| after.is_none_or(|after| stored.webhook.id > after));
        Ok(matching.take(rows_max).map(|stored| loaded_webhook(&state, stored, &self.ports.vault)).collect())
    }

    async fn load_webhook(&self, webhook: WebhookId) -> Result<Option<LoadedWebhook>> {
        let state = self.state();
        let found = state.webhooks.all.get(&webhook).filter(|stored| !stored.webhook.flags().is_final());
        Ok(found.map(|stored| loaded_webhook(&state, stored, &self.ports.vault)))
    }

    async fn changed_webhooks(&self, since: u64) -> Result<ChangedWebhooks> {
        let state = self.state();
        let change_number = state.webhooks.all.values().filter(|stored| stored.change_number > since);
        Ok(ChangedWebhooks {
            last_change: state.webhooks.change_number,
            webhooks: change_number.map(|stored| stored.webhook.id).collect(),
        })
    }

    async fn disabled_owners(&self) -> Result<DisabledOwners> {
        let state = self.state();
        let tenants = state.tenants.values().filter(|one| one.status == Status::Disabled);
        let clients = state.clients.values().filter(|stored| stored.client.status == Status::Disabled);
        let limited = state.clients.values().filter(|stored| stored.client.products != Products::all());
        let of_teams = state.clients.values().filter_map(|stored| {
            let products = state.team_products(&stored.client)?;
            Some((stored.client.id.clone(), Some(products)))
        });
        Ok(DisabledOwners {
            tenants: tenants.map(|one| one.id.clone()).collect(),
            clients: clients.map(|stored| stored.client.id.clone()).collect(),
            limited_clients: limited.map(|one| (one.client.id.clone(), one.client.products)).collect(),
            team_clients: limited_by_team(of_teams),
            sandboxes: state.sandbox_clients(),
        })
    }

    async fn log_heads(&self) -> Result<Vec<(TenantId, u64)>> {
        let state = self.state();
        let mut heads: Vec<(TenantId, u64)> = state
            .webhooks
            .live()
            .filter_map(|stored| {
                let head = state.heads.get(&stored.tenant_no)?.bounds.head;
                Some((stored.webhook.owner.tenant.clone(), head))
            })
            .collect();
        heads.sort_unstable();
        heads.dedup();
        Ok(heads)
    }

    async fn read_tail(
        &self,
        tenant: &TenantId,
        resource: Resource,
        after: u64,
        rows_max: usize,
    ) -> Result<LogTail> {
        let state = self.state();
        let (tenant_no, head) = state.head(tenant)?;
        let rows = state.events(tenant_no, resource, after, head.bounds.head).take(rows_max);
        let events: Vec<LogEvent> = rows.map(event).collect();
        Ok(LogTail::of(events, rows_max, head.bounds))
    }

    async fn read_record_tail(
        &self,
        tenant: &TenantId,
        resource: Resource,
        record_key: i64,
        after: u64,
        through: u64,
        rows_max: usize,
    ) -> Result<Vec<LogEvent>> {
        let state = self.state();
        let Some(tenant_no) = state.tenant_no(tenant) else {
            return Ok(Vec::new());
        };
        let rows = state.events(tenant_no, resource, after, through);
        Ok(rows.filter(|row| row.record_key == record_key).take(rows_max).map(event).collect())
    }

    async fn checkpoint(&self, checkpoints: Vec<WebhookCheckpoint>) -> Result<Vec<CheckpointResult>> {
        let now = self.ports.clock.now();
        let mut state = self.state_mut()?;
        let delivery_states = state.webhooks.delivery_states(&checkpoints);
        let mut writes = decide_checkpoints(checkpoints, delivery_states, now);
        let results = std::mem::take(&mut writes.results);
        for entry in std::mem::take(&mut writes.audit) {
            state.append_audit(&*self.ports.random, entry);
        }
        let notices = std::mem::take(&mut writes.notices);
        state.insert_webhook_notices(&*self.ports.random, notices, now);
        state.webhooks.write(writes, now);
        Ok(results)
    }
}

fn delivery_state(webhook: &Webhook, tenant_no: i64, fence: i64) -> DeliveryState {
    DeliveryState {
        tenant_no,
        fence,
        revision: webhook.revision,
        cursor: webhook.cursor,
        initial_cursor: webhook.initial_cursor,
        handshake: webhook.handshake,
        disabled: webhook.disabled.clone(),
        suspended_at: webhook.suspended_at,
        event_gap: webhook.event_gap,
    }
}

/// Unique within a webhook; sorts in history order.
fn attempt_key(attempt: &AttemptRecord) -> (Ticks, u64, i64, u32) {
    (attempt.at, attempt.purpose.sequence(), attempt.purpose.code(), attempt.number)
}
