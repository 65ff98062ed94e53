//! What was read of the log for the webhooks, and which of them may have more to read.

use std::collections::VecDeque;
use std::time::Duration;

use domain::{Resource, TenantId, WebhookId};

use super::TailKey;
use super::deterministic::StableMap;
use super::tail_cache::TailCache;

/// How long nothing is read after a read failed.
const PAUSE: Duration = Duration::from_millis(200);
/// How many tails keep the chunks that they read last.
const TAILS_CACHED_MAX: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Feed {
    pub(super) tails: StableMap<TailKey, TailCache>,
    /// The tails that hold chunks, least recently added first.
    cached: VecDeque<TailKey>,
    /// Webhooks that may have something to read.
    queue: VecDeque<WebhookId>,
    paused_until: Duration,
    /// Events that webhooks hold in memory.
    pub(super) buffered: usize,
}

impl Feed {
    pub(super) fn add(&mut self, key: &TailKey, webhook: WebhookId) {
        self.tails.entry(key.clone()).or_default().webhooks.insert(webhook);
    }

    /// A tail without webhooks is forgotten.
    pub(super) fn remove(&mut self, key: &TailKey, webhook: WebhookId) {
        if let Some(tail) = self.tails.get_mut(key) {
            tail.webhooks.remove(&webhook);
            if tail.webhooks.is_empty() {
                self.tails.remove(key);
            }
        }
    }

    pub(super) fn tails_of(&self, tenant: &TenantId, includes: impl Fn(Resource) -> bool) -> Vec<TailKey> {
        let resources = Resource::all().filter(|resource| includes(*resource));
        let keys = resources.map(|resource| TailKey { tenant: tenant.clone(), resource });
        keys.filter(|key| self.tails.contains_key(key)).collect()
    }

    pub(super) fn webhooks_of(&self, key: &TailKey) -> Vec<WebhookId> {
        self.tails.get(key).map_or_else(Vec::new, |tail| tail.webhooks.iter().copied().collect())
    }

    /// The tail keeps the chunks that it reads; the tail that was added longest ago drops its own.
    pub(super) fn keep_cached(&mut self, key: &TailKey) {
        if self.cached.contains(key) {
            return;
        }
        self.cached.push_back(key.clone());
        if self.cached.len() > TAILS_CACHED_MAX
            && let Some(oldest) = self.cached.pop_front()
            && let Some(tail) = self.tails.get_mut(&oldest)
        {
            tail.clear();
        }
    }

    pub(super) fn push(&mut self, webhook: WebhookId) {
        self.queue.push_back(webhook);
    }

    pub(super) fn pop(&mut self) -> Option<WebhookId> {
        self.queue.pop_front()
    }

    /// A read has failed: nothing is read for a while.
    pub(super) fn pause(&mut self, now: Duration) {
        self.paused_until = now + PAUSE;
    }

    /// How long nothing is read; none: reads go on.
    pub(super) fn pause_left(&self, now: Duration) -> Option<Duration> {
        self.paused_until.checked_sub(now).filter(|left| !left.is_zero())
    }
}
