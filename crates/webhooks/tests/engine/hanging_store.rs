//! A store that nodes share and whose polls can hang, over the memory store.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::{Guid, Resource, TenantId, Ticks, WebhookId};
use parking_lot::Mutex;
use store::memory::MemoryStore;
use store::{
    BatchCounts, ChangeBatch, ChangeLog, ChangedWebhooks, CheckpointResult, Deliveries, DisabledOwners,
    ExpiredRows, Health, IngestProgress, InvalidationCounters, LeaseRenewal, LoadedWebhook, LogBounds,
    LogEvent, LogPage, LogQuery, LogTail, Maintenance, NodeDetails, Nodes, Operations, RecordLogQuery,
    RegisteredNode, RenewedLeases, Result, RetentionCutoffs, WebhookCheckpoint,
};
use tokio::sync::watch;

pub(super) struct HangingStore {
    pub(super) memory: Arc<MemoryStore>,
    /// So many of the next polls never get an answer.
    pub(super) hanging: Mutex<usize>,
    /// Nothing gets an answer from a poll while this is true.
    pub(super) all_hang: watch::Sender<bool>,
    /// What the engine has read and renewed, in order.
    pub(super) calls: Mutex<Vec<&'static str>>,
}

impl HangingStore {
    pub(super) fn new(memory: Arc<MemoryStore>, hanging: usize) -> Self {
        let all_hang = watch::channel(false).0;
        Self { memory, hanging: Mutex::new(hanging), all_hang, calls: Mutex::default() }
    }

    async fn poll_answers(&self) {
        let hangs = {
            let mut hanging = self.hanging.lock();
            let hangs = *hanging > 0;
            *hanging = hanging.saturating_sub(1);
            hangs
        };
        if hangs {
            self.calls.lock().push("hang");
            std::future::pending::<()>().await;
        }
        let _ = self.all_hang.subscribe().wait_for(|hangs| !*hangs).await;
    }
}

#[async_trait]
impl Deliveries for HangingStore {
    async fn renew_shard_leases(&self, renewal: &LeaseRenewal) -> Result<RenewedLeases> {
        self.calls.lock().push("renew");
        self.memory.renew_shard_leases(renewal).await
    }

    async fn release_shards(&self, node: Guid) -> Result<()> {
        self.memory.release_shards(node).await
    }

    async fn load_webhooks(
        &self,
        shard: u8,
        after: Option<WebhookId>,
        rows_max: usize,
    ) -> Result<Vec<LoadedWebhook>> {
        self.memory.load_webhooks(shard, after, rows_max).await
    }

    async fn load_webhook(&self, webhook: WebhookId) -> Result<Option<LoadedWebhook>> {
        self.memory.load_webhook(webhook).await
    }

    async fn changed_webhooks(&self, since: u64) -> Result<ChangedWebhooks> {
        self.poll_answers().await;
        self.calls.lock().push("poll");
        self.memory.changed_webhooks(since).await
    }

    async fn disabled_owners(&self) -> Result<DisabledOwners> {
        self.memory.disabled_owners().await
    }

    async fn log_heads(&self) -> Result<Vec<(TenantId, u64)>> {
        self.memory.log_heads().await
    }

    async fn read_tail(
        &self,
        tenant: &TenantId,
        resource: Resource,
        after: u64,
        rows_max: usize,
    ) -> Result<LogTail> {
        self.memory.read_tail(tenant, resource, after, rows_max).await
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
        self.memory.read_record_tail(tenant, resource, record_key, after, through, rows_max).await
    }

    async fn checkpoint(&self, checkpoints: Vec<WebhookCheckpoint>) -> Result<Vec<CheckpointResult>> {
        self.memory.checkpoint(checkpoints).await
    }
}

#[async_trait]
impl ChangeLog for HangingStore {
    async fn apply_changes(&self, batch: ChangeBatch) -> Result<BatchCounts> {
        self.memory.apply_changes(batch).await
    }

    async fn find_ingest_progress(&self, tenant: &TenantId, key: &str) -> Result<Option<IngestProgress>> {
        self.memory.find_ingest_progress(tenant, key).await
    }

    async fn read_log(&self, query: &LogQuery) -> Result<LogPage> {
        self.memory.read_log(query).await
    }

    async fn read_record_log(&self, query: &RecordLogQuery) -> Result<Vec<LogEvent>> {
        self.memory.read_record_log(query).await
    }

    async fn log_bounds(&self, tenant: &TenantId) -> Result<LogBounds> {
        self.memory.log_bounds(tenant).await
    }

    async fn prune_log(&self, tenant: &TenantId, before: Ticks, rows_max: usize) -> Result<usize> {
        self.memory.prune_log(tenant, before, rows_max).await
    }
}

#[async_trait]
impl Nodes for HangingStore {
    fn is_shared(&self) -> bool {
        true
    }

    async fn clock(&self) -> Result<Option<Ticks>> {
        self.memory.clock().await
    }

    async fn register_node(&self, node: Guid, silence_max: Duration) -> Result<u32> {
        self.memory.register_node(node, silence_max).await
    }

    async fn count_live_nodes(&self, silence_max: Duration) -> Result<u32> {
        self.memory.count_live_nodes(silence_max).await
    }

    async fn describe_node(&self, node: Guid, details: &NodeDetails) -> Result<()> {
        self.memory.describe_node(node, details).await
    }

    async fn live_nodes(&self, silence_max: Duration) -> Result<Vec<RegisteredNode>> {
        self.memory.live_nodes(silence_max).await
    }

    async fn deregister_node(&self, node: Guid) -> Result<()> {
        self.memory.deregister_node(node).await
    }
}

#[async_trait]
impl Maintenance for HangingStore {
    async fn health(&self) -> Result<Health> {
        self.memory.health().await
    }

    async fn expire(&self, cutoffs: RetentionCutoffs, rows_max: usize) -> Result<ExpiredRows> {
        self.memory.expire(cutoffs, rows_max).await
    }

    async fn purge(&self, rows_max: usize) -> Result<usize> {
        self.memory.purge(rows_max).await
    }

    fn invalidation(&self) -> &InvalidationCounters {
        self.memory.invalidation()
    }

    fn change_commits(&self) -> u64 {
        self.memory.change_commits()
    }

    fn operations(&self) -> &Operations {
        self.memory.operations()
    }

    async fn worker_ended(&self) {
        self.memory.worker_ended().await;
    }

    async fn close(&self) {
        self.memory.close().await;
    }
}
