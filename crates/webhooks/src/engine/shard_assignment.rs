//! Which webhooks this node delivers to: shards are leased and lost, and owners change their webhooks.

use std::time::Duration;

use domain::WebhookId;
use store::{LoadedWebhook, ShardLease, shard_of};

use super::Command;
use super::core::Core;
use super::deterministic::{StableMap, StableSet};
use super::webhook_state::WebhookState;

impl Core {
    pub(super) fn shards_leased(
        &mut self,
        mut leases: Vec<ShardLease>,
        until: Duration,
        asked: Vec<u8>,
        given: &[u8],
    ) {
        self.gate.set_leased_until(until);
        self.given.retain(|shard| !given.contains(shard));
        leases.retain(|lease| !self.given.contains(&lease.shard));
        let asked = asked.into_iter().filter(|shard| !self.given.contains(shard)).collect();
        let before = std::mem::replace(&mut self.giving, asked);
        if self.giving.iter().any(|shard| !before.contains(shard)) {
            self.checkpoints.write_soon();
        }
        self.update_shards(&leases);
        if before.iter().any(|shard| !self.giving.contains(shard)) {
            self.wake_all();
        }
    }

    /// Gives up the shards that another node asks for and that have nothing in flight and nothing to write.
    pub(super) fn give_idle_shards(&mut self) {
        if self.giving.is_empty() || self.checkpoints.is_writing() {
            return;
        }
        let attempts = self.in_flight.values().map(|in_flight| in_flight.webhook);
        let busy: StableSet<u8> = attempts.chain(self.dirty.iter().copied()).map(shard_of).collect();
        let mut idle: Vec<u8> = self.giving.iter().filter(|shard| !busy.contains(shard)).copied().collect();
        if idle.is_empty() {
            return;
        }
        idle.sort_unstable();
        for shard in &idle {
            self.giving.remove(shard);
            self.given.insert(*shard);
        }
        let kept = self.shards.iter().filter(|(shard, _)| !self.given.contains(shard));
        let kept: Vec<ShardLease> =
            kept.map(|(shard, fence)| ShardLease { shard: *shard, fence: *fence }).collect();
        self.update_shards(&kept);
        self.commands.push(Command::GiveShards(idle));
    }

    fn update_shards(&mut self, leases: &[ShardLease]) {
        let shards: StableMap<u8, i64> = leases.iter().map(|lease| (lease.shard, lease.fence)).collect();
        if shards == self.shards {
            return;
        }
        let before = std::mem::replace(&mut self.shards, shards);
        let is_still_held = |webhook: &WebhookId| {
            let shard = shard_of(*webhook);
            self.shards.contains_key(&shard) && self.shards.get(&shard) == before.get(&shard)
        };
        let lost: Vec<WebhookId> =
            self.webhooks.keys().filter(|webhook| !is_still_held(webhook)).copied().collect();
        for webhook in lost {
            self.remove_webhook(webhook);
        }
        for ShardLease { shard, fence } in leases {
            if before.get(shard) != Some(fence) {
                self.loading.insert(*shard, StableSet::default());
                self.commands.push(Command::LoadShard { shard: *shard, fence: *fence, after: None });
            }
        }
        self.wake_all();
    }

    pub(super) fn shard_loaded(&mut self, shard: u8, fence: i64, page: Vec<LoadedWebhook>, is_last: bool) {
        if self.shards.get(&shard) != Some(&fence) {
            return;
        }
        let after = page.last().map(|loaded| loaded.webhook.id);
        for loaded in page {
            let webhook = loaded.webhook.id;
            // A webhook that changed during the load may have been read in its old state.
            if self.loading.get(&shard).is_some_and(|changed| changed.contains(&webhook)) {
                self.reload(webhook);
            } else {
                self.apply_loaded(webhook, loaded);
            }
        }
        if is_last {
            self.loading.remove(&shard);
        } else {
            self.commands.push(Command::LoadShard { shard, fence, after });
        }
    }

    pub(super) fn webhook_changed(&mut self, webhook: WebhookId) {
        let shard = shard_of(webhook);
        if self.shards.contains_key(&shard) {
            if let Some(changed) = self.loading.get_mut(&shard) {
                changed.insert(webhook);
            }
            self.reload(webhook);
        }
    }

    /// Starts nothing for the webhook until the store has returned its current state.
    pub(super) fn reload(&mut self, webhook: WebhookId) {
        if let Some(state) = self.webhooks.get_mut(&webhook) {
            state.is_frozen = true;
            state.target.withdraw();
        }
        self.next_reload += 1;
        self.reloads.insert(webhook, self.next_reload);
        self.commands.push(Command::LoadWebhook { webhook, reload: self.next_reload });
    }

    pub(super) fn webhook_loaded(&mut self, webhook: WebhookId, reload: u64, loaded: Option<LoadedWebhook>) {
        if self.reloads.get(&webhook) == Some(&reload) {
            self.reloads.remove(&webhook);
            match loaded {
                Some(loaded) => self.apply_loaded(webhook, loaded),
                None => self.remove_webhook(webhook),
            }
        }
    }

    /// Updates the webhook's state where revision and fence are the same, and replaces it otherwise.
    fn apply_loaded(&mut self, webhook: WebhookId, mut loaded: LoadedWebhook) {
        let owner = self.owners.intern(&mut loaded.webhook.owner);
        let Some(fence) = self.shards.get(&shard_of(webhook)).copied() else { return };
        let revision = loaded.webhook.revision;
        let is_same = |state: &&mut Box<WebhookState>| state.revision == revision && state.fence == fence;
        if let Some(state) = self.webhooks.get_mut(&webhook).filter(is_same) {
            state.update(loaded);
        } else {
            let earlier = self.webhooks.get(&webhook).filter(|state| state.fence == fence);
            let handshake = earlier.map(|state| state.handshake);
            self.remove_webhook(webhook);
            self.next_epoch += 1;
            let mut state = WebhookState::new(loaded, owner, fence, self.next_epoch);
            if let Some(earlier) = &handshake {
                state.handshake.continue_from(earlier);
            }
            state.clamp_loaded(self.now.wall, self.latest_due());
            if self.orphans > 0 {
                let records = self.in_flight.values().filter_map(|one| one.record_of(webhook));
                records.for_each(|record| state.hold(record));
            }
            self.tails.entry(state.tail_key.clone()).or_default().webhooks.insert(webhook);
            self.webhooks.insert(webhook, Box::new(state));
        }
        self.apply_access(webhook);
        self.wake(webhook);
        self.queue_read(webhook);
    }

    pub(super) fn remove_webhook(&mut self, webhook: WebhookId) {
        let Some(state) = self.webhooks.remove(&webhook) else { return };
        state.target.withdraw();
        self.orphans += state.in_flight;
        self.buffered -= state.buffered();
        self.dirty.remove(&webhook);
        if let Some(at) = state.due {
            self.due.remove(&(at, webhook));
        }
        if let Some(tail) = self.tails.get_mut(&state.tail_key) {
            tail.webhooks.remove(&webhook);
            if tail.webhooks.is_empty() {
                self.tails.remove(&state.tail_key);
            }
        }
    }
}
