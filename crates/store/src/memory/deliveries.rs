//! What the delivery engine reads and writes, in memory.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use domain::{Guid, Resource, TenantId, WebhookId};

use super::webhooks::{Hooks, StoredWebhook};
use super::{MemoryStore, State};
use crate::plan::LogRow;
use crate::webhooks::{Lease, Ledger, Position, Whose, held_by, id_key, settle, share_out};
use crate::{
    AttemptRecord, ChangedWebhooks, CheckpointResult, Deliveries, DisabledOwners, LoadedWebhook, LogEvent,
    LogTail, Result, SHARDS, ShardLease, Status, Vault, WebhookCheckpoint, shard_of,
};

impl Hooks {
    fn fence(&self, webhook: WebhookId) -> i64 {
        self.leases.get(usize::from(shard_of(webhook))).map_or(0, |lease| lease.fence)
    }

    fn leases(&mut self) -> &mut Vec<Lease> {
        if self.leases.is_empty() {
            self.leases = (0..=u8::MAX).map(Lease::free).collect();
        }
        debug_assert_eq!(self.leases.len(), usize::from(SHARDS));
        &mut self.leases
    }

    fn positions(&self, points: &[WebhookCheckpoint]) -> HashMap<WebhookId, Position> {
        let known = points.iter().filter_map(|point| self.all.get(&point.webhook));
        known
            .map(|kept| {
                let id = kept.webhook.id;
                (id, Position::of(&kept.webhook, kept.tenant_no, self.fence(id)))
            })
            .collect()
    }

    fn write(&mut self, ledger: Ledger, now: domain::Ticks) {
        for Whose { webhook, .. } in ledger.renewed {
            if let Some(kept) = self.all.get_mut(&webhook) {
                kept.renew_lanes(now);
            }
        }
        for (Whose { webhook, .. }, position) in ledger.changed {
            if let Some(kept) = self.all.get_mut(&webhook) {
                kept.webhook.cursor = position.cursor;
                kept.webhook.initial_cursor = position.initial_cursor;
                kept.webhook.handshake = position.handshake;
                kept.webhook.disabled = position.disabled;
                kept.webhook.event_gap = position.event_gap;
            }
        }
        for ((Whose { webhook, .. }, record_key), lane) in ledger.lanes {
            let Some(kept) = self.all.get_mut(&webhook) else { continue };
            match lane {
                Some(lane) => kept.lanes.insert(record_key, lane),
                None => kept.lanes.remove(&record_key),
            };
        }
        for ((Whose { webhook, .. }, number), step) in ledger.replays {
            let kept = self.all.get_mut(&webhook);
            if let Some(replay) =
                kept.and_then(|kept| kept.replays.iter_mut().find(|one| one.number == number))
            {
                replay.position = replay.position.max(step.position);
                replay.delivered = step.delivered;
                replay.failed = step.failed;
                replay.is_done = step.is_done;
            }
        }
        for (Whose { webhook, .. }, attempt) in ledger.attempts {
            if let Some(kept) = self.all.get_mut(&webhook) {
                // A checkpoint that is written again, its answer being lost, tells nothing twice.
                if let Err(place) = kept.attempts.binary_search_by_key(&attempt.key(), AttemptRecord::key) {
                    kept.attempts.insert(place, attempt);
                }
            }
        }
        for (Whose { webhook, .. }, delivered) in ledger.delivered {
            if let Some(kept) = self.all.get_mut(&webhook) {
                kept.delivered.extend(delivered.into_iter().map(|one| ((one.at, one.sequence), one)));
            }
        }
    }
}

fn hook(kept: &StoredWebhook, vault: &Vault) -> LoadedWebhook {
    LoadedWebhook {
        webhook: kept.webhook.clone(),
        lanes: kept.lanes.values().copied().collect(),
        replays: kept.replays.iter().filter(|replay| !replay.is_done).copied().collect(),
        id_key: id_key(vault, kept.webhook.id),
    }
}

fn event(row: &LogRow) -> LogEvent {
    LogEvent { entry: row.entry.clone(), record_key: row.record_key }
}

impl State {
    /// Rows of one resource after a number, in order.
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
    async fn renew_shard_leases(&self, node: Guid, nodes: u32, lease: Duration) -> Result<Vec<ShardLease>> {
        let now = self.ports.clock.now();
        let mut state = self.writing()?;
        let leases = state.webhooks.leases();
        for changed in share_out(leases, node, nodes, now, now + lease) {
            leases[usize::from(changed.shard)] = changed;
        }
        Ok(held_by(leases, node))
    }

    async fn release_shards(&self, node: Guid) -> Result<()> {
        for lease in self.writing()?.webhooks.leases() {
            lease.holder = lease.holder.filter(|holder| *holder != node);
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
        let wanted = state
            .webhooks
            .live()
            .filter(|kept| shard_of(kept.webhook.id) == shard)
            .filter(|kept| after.is_none_or(|after| kept.webhook.id > after));
        Ok(wanted.take(rows_max).map(|kept| hook(kept, &self.ports.vault)).collect())
    }

    async fn load_webhook(&self, webhook: WebhookId) -> Result<Option<LoadedWebhook>> {
        let state = self.state();
        let found = state.webhooks.all.get(&webhook).filter(|kept| !kept.webhook.flags().is_final());
        Ok(found.map(|kept| hook(kept, &self.ports.vault)))
    }

    async fn changed_webhooks(&self, since: u64) -> Result<ChangedWebhooks> {
        let state = self.state();
        let moved = state.webhooks.all.values().filter(|kept| kept.moved > since);
        Ok(ChangedWebhooks {
            last_change: state.webhooks.moved,
            webhooks: moved.map(|kept| kept.webhook.id).collect(),
        })
    }

    async fn disabled_owners(&self) -> Result<DisabledOwners> {
        let state = self.state();
        let tenants = state.tenants.values().filter(|one| one.status == Status::Disabled);
        let clients = state.clients.values().filter(|kept| kept.client.status == Status::Disabled);
        Ok(DisabledOwners {
            tenants: tenants.map(|one| one.id.clone()).collect(),
            clients: clients.map(|kept| kept.client.id.clone()).collect(),
        })
    }

    async fn log_heads(&self) -> Result<Vec<(TenantId, u64)>> {
        let state = self.state();
        let mut heads: Vec<(TenantId, u64)> = state
            .webhooks
            .live()
            .filter_map(|kept| {
                let head = state.heads.get(&kept.tenant_no)?.bounds.head;
                Some((kept.webhook.owner.tenant.clone(), head))
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

    async fn checkpoint(&self, points: Vec<WebhookCheckpoint>) -> Result<Vec<CheckpointResult>> {
        let now = self.ports.clock.now();
        let mut state = self.writing()?;
        let positions = state.webhooks.positions(&points);
        let mut ledger = settle(points, positions, now);
        let verdicts = std::mem::take(&mut ledger.verdicts);
        for entry in std::mem::take(&mut ledger.audit) {
            state.add_record(&*self.ports.random, entry);
        }
        state.webhooks.write(ledger, now);
        Ok(verdicts)
    }
}
