//! What was read of the log for the webhooks, and which of them may have more to read.

use std::collections::VecDeque;
use std::time::Duration;

use domain::webhook::EventKinds;
use domain::{Resource, TenantId, WebhookId};

use super::TailKey;
use super::deterministic::{StableMap, StableSet};
use super::idle_groups::{IdleGroup, LogPosition};
use super::tail_cache::TailCache;
use super::webhook_state::WebhookState;

/// How long nothing is read after a read failed.
const PAUSE: Duration = Duration::from_millis(200);
/// How many tails keep the chunks that they read last.
const TAILS_CACHED_MAX: usize = 64;

/// How a webhook follows its tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Following {
    ByItself,
    /// Its idle group's position is its own.
    InGroup,
    /// It was not active when it was last to read: growth of the log does not concern it.
    Resting,
}

#[derive(Debug, Default)]
pub(super) struct Feed {
    pub(super) tails: StableMap<TailKey, TailCache>,
    /// The tails that hold chunks, least recently added first.
    cached: VecDeque<TailKey>,
    /// Tails that hold more chunks than they keep, until their webhooks have read them.
    grown: Vec<TailKey>,
    /// Webhooks that may have something to read.
    queue: VecDeque<WebhookId>,
    /// Tails whose idle groups may have something to read.
    tail_queue: VecDeque<TailKey>,
    unsaved: UnsavedGroups,
    paused_until: Duration,
    /// The greatest serial of a tail that was forgotten.
    last_serial: u64,
    /// Events that webhooks hold in memory.
    pub(super) buffered: usize,
}

/// Idle groups whose position has to be written for some members, in turn. Each is in both collections, once.
#[derive(Debug, Default)]
struct UnsavedGroups {
    order: VecDeque<(TailKey, EventKinds)>,
    members: StableSet<(TailKey, EventKinds)>,
}

impl UnsavedGroups {
    fn add(&mut self, group: (TailKey, EventKinds)) {
        if self.members.insert(group.clone()) {
            self.order.push_back(group);
        }
    }

    fn take(&mut self) -> Option<(TailKey, EventKinds)> {
        let group = self.order.pop_front()?;
        self.members.remove(&group);
        Some(group)
    }
}

impl Feed {
    pub(super) fn add(&mut self, key: &TailKey, webhook: WebhookId) {
        let new = || TailCache::new(self.last_serial + 1);
        self.tails.entry(key.clone()).or_insert_with(new).readers.insert(webhook);
    }

    /// A tail without webhooks is forgotten.
    pub(super) fn remove(&mut self, key: &TailKey, webhook: WebhookId) {
        if let Some(tail) = self.tails.get_mut(key) {
            tail.readers.remove(&webhook);
            tail.resting.remove(&webhook);
            if tail.is_unused() {
                self.last_serial = self.last_serial.max(tail.serial);
                self.tails.remove(key);
            }
        }
    }

    /// The webhook is active, or not any more.
    pub(super) fn set_active(&mut self, key: &TailKey, webhook: WebhookId, is_active: bool) {
        let Some(tail) = self.tails.get_mut(key) else { return };
        let TailCache { readers, resting, .. } = tail;
        let (from, to) = if is_active { (resting, readers) } else { (readers, resting) };
        if from.remove(&webhook) {
            to.insert(webhook);
        }
    }

    pub(super) fn tails_of(&self, tenant: &TenantId, includes: impl Fn(Resource) -> bool) -> Vec<TailKey> {
        let resources = Resource::all().filter(|resource| includes(*resource));
        let keys = resources.map(|resource| TailKey { tenant: tenant.clone(), resource });
        keys.filter(|key| self.tails.contains_key(key)).collect()
    }

    /// The active webhooks of the tail that read by themselves.
    pub(super) fn readers_of(&self, key: &TailKey) -> Vec<WebhookId> {
        self.tails.get(key).map_or_else(Vec::new, |tail| tail.readers.iter().copied().collect())
    }

    /// The position of the webhook's group, if it is in one.
    pub(super) fn group_position(&self, state: &WebhookState) -> Option<LogPosition> {
        if state.following != Following::InGroup {
            return None;
        }
        let tail = self.tails.get(&state.tail_key)?;
        tail.idle_groups.get(&state.kinds).map(IdleGroup::position)
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

    /// A chunk was added to the tail.
    pub(super) fn grew(&mut self, key: &TailKey) {
        self.grown.push(key.clone());
    }

    /// The chunks that were added have been read.
    pub(super) fn trim(&mut self) {
        for key in self.grown.drain(..) {
            if let Some(tail) = self.tails.get_mut(&key) {
                tail.trim();
            }
        }
    }

    pub(super) fn push(&mut self, webhook: WebhookId) {
        self.queue.push_back(webhook);
    }

    pub(super) fn pop(&mut self) -> Option<WebhookId> {
        self.queue.pop_front()
    }

    /// The idle groups of the tail may have something to read.
    pub(super) fn push_tail(&mut self, key: &TailKey) {
        let Some(tail) = self.tails.get_mut(key).filter(|tail| !tail.idle_groups.is_empty()) else { return };
        if !std::mem::replace(&mut tail.is_queued, true) {
            self.tail_queue.push_back(key.clone());
        }
    }

    pub(super) fn pop_tail(&mut self) -> Option<TailKey> {
        let key = self.tail_queue.pop_front()?;
        if let Some(tail) = self.tails.get_mut(&key) {
            tail.is_queued = false;
        }
        Some(key)
    }

    /// A read that this group waited for has ended.
    pub(super) fn group_read_ended(&mut self, key: &TailKey, kinds: EventKinds) {
        let tail = self.tails.get_mut(key);
        if let Some(group) = tail.and_then(|tail| tail.idle_groups.get_mut(&kinds)) {
            group.read_ended();
        }
        self.push_tail(key);
    }

    /// The position of the group has to be written for some members.
    pub(super) fn queue_unsaved(&mut self, key: &TailKey, kinds: EventKinds) {
        self.unsaved.add((key.clone(), kinds));
    }

    pub(super) fn has_unsaved(&self) -> bool {
        !self.unsaved.order.is_empty()
    }

    /// Webhooks whose position in their group has to be written, `most` at most.
    pub(super) fn take_unsaved(&mut self, most: usize) -> Vec<WebhookId> {
        let mut taken = Vec::new();
        for _ in 0..self.unsaved.order.len() {
            let Some((key, kinds)) = self.unsaved.take() else { break };
            let tail = self.tails.get_mut(&key);
            let Some(group) = tail.and_then(|tail| tail.idle_groups.get_mut(&kinds)) else { continue };
            let (some, are_more) = group.take_unsaved(most - taken.len());
            taken.extend(some);
            if are_more {
                self.unsaved.add((key, kinds));
            }
            if taken.len() == most {
                break;
            }
        }
        taken
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
