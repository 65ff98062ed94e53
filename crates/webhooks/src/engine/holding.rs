//! Which webhooks are this node's, and what is known of them: shards come and go, owners change their webhooks, tenants and
//! clients are disabled.

use std::time::Duration;

use domain::WebhookId;
use store::{DisabledOwners, LoadedWebhook, ShardLease, shard_of};

use super::Command;
use super::core::Core;
use super::state::State;
use super::work::{Map, Set};

impl Core {
    pub(super) fn held(&mut self, shards: &[ShardLease], until: Duration) {
        self.held_until = until;
        let held: Map<u8, i64> = shards.iter().map(|held| (held.shard, held.fence)).collect();
        if held == self.shards {
            return;
        }
        let before = std::mem::replace(&mut self.shards, held);
        let is_ours = |webhook: &WebhookId| {
            let shard = shard_of(*webhook);
            self.shards.contains_key(&shard) && self.shards.get(&shard) == before.get(&shard)
        };
        let gone: Vec<WebhookId> = self.hooks.keys().filter(|webhook| !is_ours(webhook)).copied().collect();
        for webhook in gone {
            self.forget(webhook);
        }
        for ShardLease { shard, fence } in shards {
            if before.get(shard) != Some(fence) {
                self.loading.insert(*shard, Set::default());
                self.out.push(Command::LoadShard { shard: *shard, fence: *fence, after: None });
            }
        }
        self.wake_all();
    }

    pub(super) fn shard(&mut self, shard: u8, fence: i64, hooks: Vec<LoadedWebhook>, is_last: bool) {
        if self.shards.get(&shard) != Some(&fence) {
            return;
        }
        let after = hooks.last().map(|hook| hook.webhook.id);
        for hook in hooks {
            let webhook = hook.webhook.id;
            // What was changed since may not be what was read.
            if self.loading.get(&shard).is_some_and(|changed| changed.contains(&webhook)) {
                self.load(webhook);
            } else {
                self.known_anew(webhook, hook);
            }
        }
        if is_last {
            self.loading.remove(&shard);
        } else {
            self.out.push(Command::LoadShard { shard, fence, after });
        }
    }

    pub(super) fn touched(&mut self, webhook: WebhookId) {
        let shard = shard_of(webhook);
        if self.shards.contains_key(&shard) {
            if let Some(changed) = self.loading.get_mut(&shard) {
                changed.insert(webhook);
            }
            self.load(webhook);
        }
    }

    /// Nothing is started for the webhook until it is known anew.
    pub(super) fn load(&mut self, webhook: WebhookId) {
        if let Some(state) = self.hooks.get_mut(&webhook) {
            state.is_frozen = true;
        }
        self.next_load += 1;
        self.loads.insert(webhook, self.next_load);
        self.out.push(Command::LoadHook { webhook, load: self.next_load });
    }

    pub(super) fn loaded(&mut self, webhook: WebhookId, load: u64, hook: Option<LoadedWebhook>) {
        if self.loads.get(&webhook) == Some(&load) {
            self.loads.remove(&webhook);
            match hook {
                Some(hook) => self.known_anew(webhook, hook),
                None => self.forget(webhook),
            }
        }
    }

    pub(super) fn known_anew(&mut self, webhook: WebhookId, mut hook: LoadedWebhook) {
        self.owners.share(&mut hook.webhook.owner);
        let Some(fence) = self.shards.get(&shard_of(webhook)).copied() else { return };
        let same = |state: &&mut Box<State>| state.revision == hook.webhook.revision && state.fence == fence;
        if let Some(state) = self.hooks.get_mut(&webhook).filter(same) {
            state.learn(hook);
        } else {
            self.forget(webhook);
            self.next_epoch += 1;
            let mut state = State::new(hook, fence, self.next_epoch);
            state.clamp(self.latest());
            state.is_suspended = self.suspended_tenants.contains(&state.feed.tenant)
                || self.suspended_clients.contains(&state.client);
            self.feeds.entry(state.feed.clone()).or_default().webhooks.insert(webhook);
            self.hooks.insert(webhook, Box::new(state));
        }
        self.wake(webhook);
        self.hunger(webhook);
    }

    pub(super) fn forget(&mut self, webhook: WebhookId) {
        let Some(state) = self.hooks.remove(&webhook) else { return };
        self.buffered -= state.buffered();
        self.dirty.remove(&webhook);
        if let Some(at) = state.due {
            self.due.remove(&(at, webhook));
        }
        if let Some(feed) = self.feeds.get_mut(&state.feed) {
            feed.webhooks.remove(&webhook);
            if feed.webhooks.is_empty() {
                self.feeds.remove(&state.feed);
            }
        }
    }

    pub(super) fn suspend(&mut self, suspended: DisabledOwners) {
        self.knows_suspended = true;
        let (tenants, clients): (Set<_>, Set<_>) =
            (suspended.tenants.into_iter().collect(), suspended.clients.into_iter().collect());
        if tenants == self.suspended_tenants && clients == self.suspended_clients {
            return;
        }
        (self.suspended_tenants, self.suspended_clients) = (tenants, clients);
        for state in self.hooks.values_mut() {
            state.is_suspended = self.suspended_tenants.contains(&state.feed.tenant)
                || self.suspended_clients.contains(&state.client);
        }
        self.wake_all();
    }
}
