//! Delivery history in memory.

use std::collections::{BTreeSet, HashSet};

use async_trait::async_trait;
use domain::{Resource, TenantId, Ticks, WebhookId};

use super::webhooks::StoredWebhook;
use super::{MemoryStore, State};
use crate::webhooks::{BEHIND_MAX, P95_OF_MAX, id_key, percentile_95};
use crate::{
    AttemptPurpose, AttemptRecord, AuditContext, DeliveryHistory, DeliveryQuery, History, Lane, LogEvent,
    Replay, ReplayKind, Result, SuccessfulDelivery, WebhookStats,
};

impl State {
    /// Counts undelivered events, after the cursor and in lanes.
    pub(super) fn behind(&self, stored: &StoredWebhook) -> u64 {
        let webhook = &stored.webhook;
        let Some(cursor) = webhook.cursor else { return 0 };
        let ahead = self.events(stored.tenant_no, webhook.resource, cursor, u64::MAX - 1);
        let parked = stored.lanes.values().flat_map(|lane| {
            let rows =
                self.events(stored.tenant_no, webhook.resource, lane.sequence.saturating_sub(1), cursor);
            rows.filter(|row| row.record_key == lane.record_key)
        });
        let waiting = ahead.chain(parked).filter(|row| webhook.kinds.contains(row.entry.kind));
        waiting.take(BEHIND_MAX.into()).count() as u64
    }

    fn webhook_stats(&self, stored: &StoredWebhook, since: Ticks) -> WebhookStats {
        let is_failure = |one: &&AttemptRecord| {
            !one.succeeded && one.at >= since && matches!(one.purpose, AttemptPurpose::Event { .. })
        };
        let delivered = stored.delivered.range((since, 0)..).rev().map(|(_, one)| one);
        let troubles = stored.lanes.values().map(|lane| lane.retry).chain(stored.webhook.handshake.retry);
        WebhookStats {
            delivered: delivered.clone().count() as u64,
            failed: stored.attempts.iter().filter(is_failure).count() as u64,
            p95_ms: percentile_95(delivered.take(P95_OF_MAX).map(|one| one.duration_ms).collect()),
            last_delivered_at: stored.delivered.keys().next_back().map(|(at, _)| *at),
            lanes: stored.lanes.len() as u64,
            failing_since: troubles
                .clone()
                .filter(|retry| retry.attempts > 0)
                .map(|retry| retry.first_failed_at)
                .min(),
            next_attempt_at: troubles.map(|retry| retry.next_at).min(),
            behind: self.behind(stored),
            is_partial: false,
        }
    }
}

#[async_trait]
impl History for MemoryStore {
    fn outgoing_id_key(&self, webhook: WebhookId) -> [u8; 32] {
        id_key(&self.ports.vault, webhook)
    }

    async fn attempts(&self, query: &DeliveryQuery) -> Result<Vec<AttemptRecord>> {
        let state = self.state();
        let Some(stored) = state.webhooks.all.get(&query.webhook) else {
            return Ok(Vec::new());
        };
        let matching = stored.attempts.iter().rev().filter(|one| {
            query.includes(one.at, one.purpose.sequence()) && !(query.only_failed && one.succeeded)
        });
        Ok(matching.take(query.rows_max).cloned().collect())
    }

    async fn successful_deliveries(&self, query: &DeliveryQuery) -> Result<Vec<SuccessfulDelivery>> {
        let state = self.state();
        let stored = state.webhooks.all.get(&query.webhook).filter(|_| !query.only_failed);
        let all = stored.into_iter().flat_map(|stored| stored.delivered.values().rev());
        Ok(all.filter(|one| query.includes(one.at, one.sequence)).take(query.rows_max).copied().collect())
    }

    async fn find_deliveries(&self, webhook: WebhookId, sequences: &[u64]) -> Result<Vec<DeliveryHistory>> {
        let state = self.state();
        let stored = state.webhooks.all.get(&webhook);
        let wanted: HashSet<u64> = sequences.iter().copied().collect();
        let successes = stored.into_iter().flat_map(|stored| stored.delivered.values());
        let attempts = stored.into_iter().flat_map(|stored| &stored.attempts);
        let is_wanted =
            |attempt: &&AttemptRecord| attempt.purpose.event().is_some_and(|event| wanted.contains(&event));
        Ok(DeliveryHistory::group(
            sequences,
            successes.filter(|success| wanted.contains(&success.sequence)).copied(),
            attempts.filter(is_wanted).cloned(),
        ))
    }

    async fn find_events(
        &self,
        tenant: &TenantId,
        resource: Resource,
        sequences: &[u64],
    ) -> Result<Vec<LogEvent>> {
        let state = self.state();
        let Some(tenant_no) = state.tenant_no(tenant) else { return Ok(Vec::new()) };
        let wanted: BTreeSet<u64> = sequences.iter().copied().collect();
        let rows = wanted.iter().filter_map(|sequence| state.log.get(&(tenant_no, *sequence)));
        let events = rows.filter(|row| row.entry.resource == resource);
        Ok(events.map(|row| LogEvent { entry: row.entry.clone(), record_key: row.record_key }).collect())
    }

    async fn lanes(&self, webhook: WebhookId, rows_max: usize) -> Result<Vec<Lane>> {
        let state = self.state();
        let stored = state.webhooks.all.get(&webhook);
        let mut lanes: Vec<Lane> =
            stored.map(|stored| stored.lanes.values().copied().collect()).unwrap_or_default();
        lanes.sort_by_key(|lane| (lane.sequence, lane.record_key));
        lanes.truncate(rows_max);
        Ok(lanes)
    }

    async fn webhook_stats(&self, webhook: WebhookId, since: Ticks) -> Result<WebhookStats> {
        let state = self.state();
        let stored = state.webhooks.all.get(&webhook);
        Ok(stored.map(|stored| state.webhook_stats(stored, since)).unwrap_or_default())
    }

    async fn request_replay(
        &self,
        webhook: WebhookId,
        kind: ReplayKind,
        (after, through): (u64, u64),
        context: &AuditContext,
    ) -> Result<Option<Replay>> {
        let now = self.ports.clock.now();
        let mut state = self.state_mut()?;
        let known = state.webhooks.all.get(&webhook);
        if known.is_none_or(|stored| stored.webhook.flags().is_final()) {
            return Ok(None);
        }
        let change_number = state.webhooks.next_change_number();
        let Some(stored) = state.webhooks.all.get_mut(&webhook) else { return Ok(None) };
        stored.replay_count += 1;
        stored.change_number = change_number;
        let replay = Replay::new(stored.replay_count, kind, now, after, through);
        stored.replays.push(replay);
        let entry =
            self.act(context).replay_requested((webhook, &stored.webhook.owner), kind, (after, through));
        state.append_audit(&*self.ports.random, entry);
        drop(state);
        self.invalidation.commit_signal().signal_webhook(webhook);
        Ok(Some(replay))
    }

    async fn replays(&self, webhook: WebhookId, rows_max: usize) -> Result<Vec<Replay>> {
        let state = self.state();
        let all = state.webhooks.all.get(&webhook).into_iter().flat_map(|stored| stored.replays.iter().rev());
        Ok(all.take(rows_max).copied().collect())
    }

    async fn sequence_range(&self, webhook: WebhookId, from: Ticks, to: Ticks) -> Result<Option<(u64, u64)>> {
        let state = self.state();
        let Some(stored) = state.webhooks.all.get(&webhook) else { return Ok(None) };
        let mut within = state
            .events(stored.tenant_no, stored.webhook.resource, 0, u64::MAX - 1)
            .map(|row| &row.entry)
            .filter(|entry| stored.webhook.kinds.contains(entry.kind))
            .filter(|entry| (from..=to).contains(&entry.version))
            .map(|entry| entry.sequence);
        let Some(first) = within.next() else { return Ok(None) };
        Ok(Some((first.saturating_sub(1), within.last().unwrap_or(first))))
    }
}
