//! Which webhooks this node delivers to: shards are leased and lost, and owners change their webhooks.

use std::time::Duration;

use domain::WebhookId;
use store::{LoadedWebhook, ShardLease, shard_of};

use super::Command;
use super::core::Core;
use super::deterministic::{StableMap, StableSet};
use super::webhook_state::WebhookState;

/// The shards of this node: which it holds, which it gives to others, and what is being loaded of them.
#[derive(Debug, Default)]
pub(super) struct ShardAssignment {
    /// With the fence of each.
    held: Fences,
    /// Another node asks for them: nothing starts in them.
    giving: StableSet<u8>,
    /// The next renewal gives them; leases from earlier renewals do not count for them.
    given: StableSet<u8>,
    /// Shards whose webhooks are being loaded, and which of these webhooks have changed since the load began.
    loading: StableMap<u8, StableSet<WebhookId>>,
    /// The last reload of each webhook that is being loaded.
    reloads: StableMap<WebhookId, u64>,
    last_reload: u64,
}

type Fences = StableMap<u8, i64>;

/// What a renewal changed about the shards that other nodes ask for.
struct Renewed {
    leases: Vec<ShardLease>,
    are_more_asked_for: bool,
    are_fewer_asked_for: bool,
}

impl ShardAssignment {
    /// The fence of the webhook's shard; none if this node does not hold it.
    fn fence(&self, webhook: WebhookId) -> Option<i64> {
        self.held.get(&shard_of(webhook)).copied()
    }

    fn holds(&self, shard: u8, fence: i64) -> bool {
        self.held.get(&shard) == Some(&fence)
    }

    /// Whether another node asks for the webhook's shard.
    pub(super) fn is_giving(&self, webhook: WebhookId) -> bool {
        self.giving.contains(&shard_of(webhook))
    }

    /// `given`: what this renewal gave.
    fn renew(&mut self, mut leases: Vec<ShardLease>, asked: Vec<u8>, given: &[u8]) -> Renewed {
        self.given.retain(|shard| !given.contains(shard));
        leases.retain(|lease| !self.given.contains(&lease.shard));
        let asked = asked.into_iter().filter(|shard| !self.given.contains(shard)).collect();
        let before = std::mem::replace(&mut self.giving, asked);
        Renewed {
            leases,
            are_more_asked_for: self.giving.iter().any(|shard| !before.contains(shard)),
            are_fewer_asked_for: before.iter().any(|shard| !self.giving.contains(shard)),
        }
    }

    /// Gives up what others ask for and is not busy: in order, with the leases that are kept.
    fn give_idle(&mut self, busy: &StableSet<u8>) -> (Vec<u8>, Vec<ShardLease>) {
        let mut idle: Vec<u8> = self.giving.iter().filter(|shard| !busy.contains(shard)).copied().collect();
        idle.sort_unstable();
        for shard in &idle {
            self.giving.remove(shard);
            self.given.insert(*shard);
        }
        let kept = self.held.iter().filter(|(shard, _)| !self.given.contains(shard));
        (idle, kept.map(|(shard, fence)| ShardLease { shard: *shard, fence: *fence }).collect())
    }

    /// Holds these shards alone; returns what it held before, if that differs.
    fn hold(&mut self, leases: &[ShardLease]) -> Option<Fences> {
        let held: Fences = leases.iter().map(|lease| (lease.shard, lease.fence)).collect();
        (held != self.held).then(|| std::mem::replace(&mut self.held, held))
    }

    /// Whether the shard of the webhook is held under the same fence as before.
    fn is_still_held(&self, webhook: WebhookId, before: &Fences) -> bool {
        self.fence(webhook).is_some_and(|fence| before.get(&shard_of(webhook)) == Some(&fence))
    }

    fn load_begun(&mut self, shard: u8) {
        self.loading.insert(shard, StableSet::default());
    }

    fn load_ended(&mut self, shard: u8) {
        self.loading.remove(&shard);
    }

    /// Notes a change; returns whether the webhook's shard is held.
    fn webhook_changed(&mut self, webhook: WebhookId) -> bool {
        let shard = shard_of(webhook);
        let is_held = self.held.contains_key(&shard);
        if let Some(changed) = self.loading.get_mut(&shard).filter(|_| is_held) {
            changed.insert(webhook);
        }
        is_held
    }

    /// Whether the webhook changed while its shard was being loaded: it may have been read in its old state.
    fn has_changed_during_load(&self, webhook: WebhookId) -> bool {
        self.loading.get(&shard_of(webhook)).is_some_and(|changed| changed.contains(&webhook))
    }

    /// The number of a new reload of the webhook; earlier ones do not count any more.
    fn reload_begun(&mut self, webhook: WebhookId) -> u64 {
        self.last_reload += 1;
        self.reloads.insert(webhook, self.last_reload);
        self.last_reload
    }

    /// Whether this is the last reload of the webhook.
    fn reload_ended(&mut self, webhook: WebhookId, reload: u64) -> bool {
        let is_last = self.reloads.get(&webhook) == Some(&reload);
        if is_last {
            self.reloads.remove(&webhook);
        }
        is_last
    }
}

impl Core {
    pub(super) fn shards_leased(
        &mut self,
        leases: Vec<ShardLease>,
        until: Duration,
        asked: Vec<u8>,
        given: &[u8],
    ) {
        self.gate.set_leased_until(until);
        let renewed = self.shards.renew(leases, asked, given);
        if renewed.are_more_asked_for {
            self.checkpoints.write_soon();
        }
        self.update_shards(&renewed.leases);
        if renewed.are_fewer_asked_for {
            self.wake_all();
        }
    }

    /// Gives up the shards that another node asks for and that have nothing in flight and nothing to write.
    pub(super) fn give_idle_shards(&mut self) {
        if self.shards.giving.is_empty() || self.checkpoints.is_writing() {
            return;
        }
        let busy = self.attempts.webhooks().chain(self.checkpoints.dirty()).map(shard_of).collect();
        let (idle, kept) = self.shards.give_idle(&busy);
        if !idle.is_empty() {
            self.update_shards(&kept);
            self.commands.push(Command::GiveShards(idle));
        }
    }

    fn update_shards(&mut self, leases: &[ShardLease]) {
        let Some(before) = self.shards.hold(leases) else { return };
        let is_lost = |webhook: &&WebhookId| !self.shards.is_still_held(**webhook, &before);
        let lost: Vec<WebhookId> = self.webhooks.keys().filter(is_lost).copied().collect();
        for webhook in lost {
            self.remove_webhook(webhook);
        }
        for ShardLease { shard, fence } in leases {
            if before.get(shard) != Some(fence) {
                self.shards.load_begun(*shard);
                self.commands.push(Command::LoadShard { shard: *shard, fence: *fence, after: None });
            }
        }
        self.wake_all();
    }

    pub(super) fn shard_loaded(&mut self, shard: u8, fence: i64, page: Vec<LoadedWebhook>, is_last: bool) {
        if !self.shards.holds(shard, fence) {
            return;
        }
        let after = page.last().map(|loaded| loaded.webhook.id);
        for loaded in page {
            let webhook = loaded.webhook.id;
            if self.shards.has_changed_during_load(webhook) {
                self.reload(webhook);
            } else {
                self.apply_loaded(webhook, loaded);
            }
        }
        if is_last {
            self.shards.load_ended(shard);
        } else {
            self.commands.push(Command::LoadShard { shard, fence, after });
        }
    }

    pub(super) fn webhook_changed(&mut self, webhook: WebhookId) {
        if self.shards.webhook_changed(webhook) {
            self.reload(webhook);
        }
    }

    /// Starts nothing for the webhook until the store has returned its current state.
    pub(super) fn reload(&mut self, webhook: WebhookId) {
        if let Some(state) = self.webhooks.get_mut(&webhook) {
            state.is_frozen = true;
            state.target.withdraw();
            self.leave_group(webhook);
        }
        let reload = self.shards.reload_begun(webhook);
        self.commands.push(Command::LoadWebhook { webhook, reload });
    }

    pub(super) fn webhook_loaded(&mut self, webhook: WebhookId, reload: u64, loaded: Option<LoadedWebhook>) {
        if self.shards.reload_ended(webhook, reload) {
            match loaded {
                Some(loaded) => self.apply_loaded(webhook, loaded),
                None => self.remove_webhook(webhook),
            }
        }
    }

    /// Updates the webhook's state where revision and fence are the same, and replaces it otherwise.
    fn apply_loaded(&mut self, webhook: WebhookId, mut loaded: LoadedWebhook) {
        let owner = self.owners.intern(&mut loaded.webhook.owner);
        let Some(fence) = self.shards.fence(webhook) else { return };
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
            self.attempts.records_of_earlier(webhook).for_each(|record| state.hold(record));
            self.feed.add(&state.tail_key, webhook);
            self.webhooks.insert(webhook, Box::new(state));
        }
        self.apply_access(webhook);
        self.wake(webhook);
        self.queue_read(webhook);
    }

    pub(super) fn remove_webhook(&mut self, webhook: WebhookId) {
        self.leave_group(webhook);
        let Some(state) = self.webhooks.remove(&webhook) else { return };
        state.target.withdraw();
        self.attempts.orphaned(state.in_flight);
        self.checkpoints.forget(webhook);
        if let Some(at) = state.due {
            self.due.remove(&(at, webhook));
        }
        self.feed.buffered -= state.buffered();
        self.feed.remove(&state.tail_key, webhook);
    }
}
