//! Totals over all webhooks.

use std::collections::HashSet;
use std::time::Duration;

use domain::{TenantId, Ticks, WebhookStatus};
use serde::Serialize;
use store::{Webhook, WebhookQuery, read_webhook_stats};
use utoipa::ToSchema;

use super::webhooks::Suspensions;
use super::{Admin, Result};

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// A node that sent no heartbeat for this long counts as gone.
const NODE_SILENCE_MAX: Duration = Duration::from_secs(10);
const SCAN_ROWS: usize = 1_000;
/// The most webhooks counted by status.
const COUNTED_MAX: u64 = 100_000;
/// The most webhooks whose traffic is summed.
const MEASURED_MAX: u64 = 1_000;

/// Totals over all webhooks that are neither unsubscribed nor deleted. Webhooks of sandboxes do not count.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    pub webhooks: StatusCounts,
    /// Webhooks whose deliveries are failing.
    #[schema(examples(1))]
    pub failing: u64,
    /// Events that wait for delivery; at most 10,000 are counted per webhook.
    #[schema(examples(17))]
    pub events_waiting: u64,
    pub last_hour: Traffic,
    pub last_day: Traffic,
    /// How many webhooks the totals (other than the counts by status) cover: at most the 1,000 oldest.
    #[schema(examples(42))]
    pub measured: u64,
    /// Nodes that serve this store.
    #[schema(examples(1))]
    pub nodes: u32,
}

/// Webhooks by status; at most 100,000 are counted.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusCounts {
    #[schema(examples(40))]
    pub active: u64,
    #[schema(examples(1))]
    pub awaiting_contract: u64,
    #[schema(examples(0))]
    pub suspended: u64,
    #[schema(examples(0))]
    pub disabled: u64,
    #[schema(examples(1))]
    pub disabled_by_service: u64,
}

/// Delivery counts.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Traffic {
    #[schema(examples(1200))]
    pub delivered: u64,
    #[schema(examples(3))]
    pub failed_attempts: u64,
}

impl Admin {
    pub async fn stats(&self) -> Result<Stats> {
        let now = self.now();
        let nodes =
            if self.store.is_shared() { self.store.count_live_nodes(NODE_SILENCE_MAX).await? } else { 1 };
        let mut stats = Stats { nodes, ..Stats::default() };
        let mut query = WebhookQuery { rows_max: SCAN_ROWS, ..WebhookQuery::default() };
        let sandboxes = self.store.disabled_owners().await?.sandboxes;
        let sandboxes: HashSet<TenantId> = sandboxes.into_iter().map(|sandbox| sandbox.tenant).collect();
        let mut counted = 0;
        loop {
            let found = self.store.webhooks(&query).await?;
            let is_last = found.len() < SCAN_ROWS;
            let suspensions = Suspensions::of(&*self.store, &found).await?;
            for webhook in found.iter().filter(|webhook| !sandboxes.contains(&webhook.owner.tenant)) {
                let suspension = suspensions.get(webhook);
                stats.webhooks.count(WebhookStatus::of(webhook.flags(), suspension.is_some()));
                counted += 1;
                // A webhook without an accepted handshake was never sent an event.
                if stats.measured < MEASURED_MAX && webhook.initial_cursor.is_some() {
                    self.measure(&mut stats, webhook, now).await?;
                }
            }
            query.after = found.last().map(|last| (last.created_at, last.id));
            if is_last || counted >= COUNTED_MAX {
                return Ok(stats);
            }
        }
    }

    async fn measure(&self, stats: &mut Stats, webhook: &Webhook, now: Ticks) -> Result<()> {
        let day = read_webhook_stats(&*self.store, webhook.id, now.minus(DAY), now).await?;
        stats.measured += 1;
        stats.failing += u64::from(day.failing_since.is_some());
        stats.events_waiting += day.behind;
        stats.last_day.add(day.delivered, day.failed);
        if day.delivered + day.failed > 0 {
            let hour = read_webhook_stats(&*self.store, webhook.id, now.minus(HOUR), now).await?;
            stats.last_hour.add(hour.delivered, hour.failed);
        }
        Ok(())
    }
}

impl StatusCounts {
    fn count(&mut self, status: WebhookStatus) {
        let count = match status {
            WebhookStatus::Active => &mut self.active,
            WebhookStatus::AwaitingContract => &mut self.awaiting_contract,
            WebhookStatus::Suspended => &mut self.suspended,
            WebhookStatus::Disabled => &mut self.disabled,
            WebhookStatus::DisabledByService => &mut self.disabled_by_service,
            WebhookStatus::Unsubscribed | WebhookStatus::Deleted => return,
        };
        *count += 1;
    }
}

impl Traffic {
    fn add(&mut self, delivered: u64, failed: u64) {
        self.delivered += delivered;
        self.failed_attempts += failed;
    }
}
