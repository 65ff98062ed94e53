//! The core: which webhooks are this node's, whose turn it is, and what time it is. How an event, a handshake, a
//! checkpoint goes stands in the files beside this one.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use domain::{ClientId, TenantId, Ticks, WebhookId};
use store::ChangeSet;

use super::counts::Counts;
use super::deliver::Flight;
use super::feed::Feed;
use super::points::Points;
use super::state::State;
use super::work::{Chance, Map, Owners, Set};
use super::{Command, FeedKey, Input, Moment, Settings};

/// An attempt starts only where the lease outlives it by this much.
const LEASE_MARGIN: Duration = Duration::from_secs(1);
/// How long reads rest after the store did not answer.
const READS_PAUSE: Duration = Duration::from_millis(200);
/// A clock that goes back by more was wrong before.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(1);
/// How many feeds keep what they read last.
const FEEDS_WARM_MAX: usize = 64;

#[derive(Debug)]
pub struct Core {
    pub(super) settings: Settings,
    pub(super) chance: Chance,
    pub(super) now: Moment,
    /// Boxed: a map has more places than it uses.
    pub(super) hooks: Map<WebhookId, Box<State>>,
    pub(super) owners: Owners,
    pub(super) feeds: Map<FeedKey, Feed>,
    warm: VecDeque<FeedKey>,
    pub(super) shards: Map<u8, i64>,
    /// Shards whose webhooks are being read, and which of these were changed meanwhile.
    pub(super) loading: Map<u8, Set<WebhookId>>,
    /// The last read of each webhook that is being read.
    pub(super) loads: Map<WebhookId, u64>,
    pub(super) next_load: u64,
    /// Until when, as time passes, the shards are held.
    pub(super) held_until: Duration,
    /// Who rests is not known from the first moment on.
    pub(super) knows_suspended: bool,
    pub(super) suspended_tenants: Set<TenantId>,
    pub(super) suspended_clients: Set<ClientId>,
    pub(super) flights: Map<u64, Flight>,
    pub(super) flights_of_slow: usize,
    next_flight: u64,
    pub(super) next_epoch: u64,
    ready: VecDeque<WebhookId>,
    hungry: VecDeque<WebhookId>,
    pub(super) due: BTreeSet<(Ticks, WebhookId)>,
    pub(super) dirty: Set<WebhookId>,
    pub(super) points: Points,
    reads_rest_until: Duration,
    /// Events that are at hand for somebody.
    pub(super) buffered: usize,
    pub(super) out: Vec<Command>,
    pub(super) counts: Counts,
}

impl Core {
    pub fn new(settings: Settings, seed: u64, now: Moment) -> Self {
        Self {
            settings,
            chance: Chance::new(seed),
            now,
            hooks: Map::default(),
            owners: Owners::default(),
            feeds: Map::default(),
            warm: VecDeque::new(),
            shards: Map::default(),
            loading: Map::default(),
            loads: Map::default(),
            next_load: 0,
            held_until: Duration::ZERO,
            knows_suspended: false,
            suspended_tenants: Set::default(),
            suspended_clients: Set::default(),
            flights: Map::default(),
            flights_of_slow: 0,
            next_flight: 0,
            next_epoch: 0,
            ready: VecDeque::new(),
            hungry: VecDeque::new(),
            due: BTreeSet::new(),
            dirty: Set::default(),
            points: Points::default(),
            reads_rest_until: Duration::ZERO,
            buffered: 0,
            out: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Takes in what has happened. What follows from it is said by `settle`, once for any number of inputs.
    pub fn handle(&mut self, now: Moment, input: Input) {
        self.set_now(now);
        match input {
            Input::Tick => {}
            Input::Held { shards, until } => self.held(&shards, until),
            Input::Shard { shard, fence, hooks, is_last } => self.shard(shard, fence, hooks, is_last),
            Input::Touched(webhook) => self.touched(webhook),
            Input::LoadedWebhook { webhook, load, hook } => {
                self.loaded(webhook, load, hook.map(|hook| *hook))
            }
            Input::Rang(changes) => self.rang(changes),
            Input::Heads(heads) => self.heads(&heads),
            Input::DisabledOwners(suspended) => self.suspend(suspended),
            Input::LogTail { feed, after, serial, read } => self.tail(&feed, after, serial, read.ok()),
            Input::Record { webhook, epoch, record_key, upto, read } => {
                self.record(webhook, epoch, record_key, upto, read.ok());
            }
            Input::Head { webhook, number, head } => self.head(webhook, number, head.ok()),
            Input::Reply { flight, reply } => self.replied(flight, &reply),
            Input::Checkpointed(verdicts) => self.checkpointed(verdicts.ok()),
        }
    }

    fn set_now(&mut self, now: Moment) {
        let before = std::mem::replace(&mut self.now, now);
        let expected = before.wall + now.steady.saturating_sub(before.steady);
        if expected.since(now.wall) > CLOCK_TOLERANCE {
            let latest = self.latest();
            for state in self.hooks.values_mut() {
                state.clamp(latest);
            }
            self.wake_all();
        }
    }

    /// As late as anything is ever set to be done.
    pub(super) fn latest(&self) -> Ticks {
        let longest = self.settings.schedule.pauses.iter().max().copied().unwrap_or_default();
        self.now.wall + longest + longest / 10
    }

    /// Does what is due at `now`, and tells what is to be done outside.
    pub fn settle(&mut self, now: Moment) -> Vec<Command> {
        self.set_now(now);
        while let Some((at, webhook)) = self.due.first().copied().filter(|(at, _)| *at <= now.wall) {
            self.due.remove(&(at, webhook));
            if let Some(state) = self.hooks.get_mut(&webhook) {
                state.due = None;
            }
            self.wake(webhook);
        }
        self.dispatch();
        self.feed_the_hungry();
        self.dispatch();
        self.checkpoint();
        self.counts.tell(self.flights.len(), self.hooks.len());
        std::mem::take(&mut self.out)
    }

    /// How long nothing will happen by itself; none: for as long as nothing comes in.
    pub fn rests_for(&self) -> Option<Duration> {
        let now = self.now;
        let due = self.due.first().map(|(at, _)| at.since(now.wall));
        let reads =
            (self.reads_rest_until > now.steady).then(|| self.reads_rest_until.saturating_sub(now.steady));
        [due, reads, self.points.rests_for(now, &self.settings, !self.dirty.is_empty())]
            .into_iter()
            .flatten()
            .min()
    }

    pub(super) fn timeout(&self) -> Duration {
        self.settings.timeout
    }

    pub fn counts(&self) -> Counts {
        self.counts.clone()
    }

    /// Starts nothing from now on; what is under way ends.
    pub fn stop(&mut self) {
        self.held_until = Duration::ZERO;
        self.points.hurry();
    }

    /// Whether anything is under way or waits to be written down.
    pub fn is_idle(&self) -> bool {
        self.flights.is_empty() && self.dirty.is_empty() && !self.points.is_under_way()
    }

    pub(super) fn store_rests(&mut self) {
        self.reads_rest_until = self.now.steady + READS_PAUSE;
    }

    fn may_read(&self) -> bool {
        self.now.steady >= self.reads_rest_until
    }

    /// Whether an attempt that starts now ends while the shards are still this node's.
    pub(super) fn may_start(&self) -> bool {
        self.knows_suspended && self.now.steady + self.settings.timeout + LEASE_MARGIN < self.held_until
    }

    fn rang(&mut self, changes: ChangeSet) {
        for webhook in changes.webhooks {
            self.touched(webhook);
        }
        for (tenant, resources) in changes.tenants {
            let keys: Vec<FeedKey> = self.feeds_of(&tenant, |resource| resources.contains(resource));
            for key in keys {
                self.grown(&key);
            }
        }
    }

    fn feeds_of(&self, tenant: &TenantId, wanted: impl Fn(domain::Resource) -> bool) -> Vec<FeedKey> {
        let all = domain::Resource::all().filter(|resource| wanted(*resource));
        let keys = all.map(|resource| FeedKey { tenant: tenant.clone(), resource });
        keys.filter(|key| self.feeds.contains_key(key)).collect()
    }

    fn grown(&mut self, key: &FeedKey) {
        let Some(feed) = self.feeds.get_mut(key) else { return };
        feed.rang();
        let webhooks: Vec<WebhookId> = feed.webhooks.iter().copied().collect();
        for webhook in webhooks {
            self.hunger(webhook);
        }
    }

    fn heads(&mut self, heads: &[(TenantId, u64)]) {
        for (tenant, head) in heads {
            for key in self.feeds_of(tenant, |_| true) {
                let Some(feed) = self.feeds.get_mut(&key) else { continue };
                if feed.stands_at(*head) {
                    let webhooks: Vec<WebhookId> = feed.webhooks.iter().copied().collect();
                    for webhook in webhooks {
                        self.hunger(webhook);
                    }
                }
            }
        }
    }

    pub(super) fn wake_all(&mut self) {
        let all: Vec<WebhookId> = self.hooks.keys().copied().collect();
        for webhook in all {
            self.wake(webhook);
            self.hunger(webhook);
        }
    }

    /// The webhook may have something to start.
    pub(super) fn wake(&mut self, webhook: WebhookId) {
        if let Some(state) = self.hooks.get_mut(&webhook).filter(|state| !state.is_ready) {
            state.is_ready = true;
            self.ready.push_back(webhook);
        }
    }

    /// The webhook may have something to read.
    pub(super) fn hunger(&mut self, webhook: WebhookId) {
        if let Some(state) =
            self.hooks.get_mut(&webhook).filter(|state| !state.is_hungry && state.is_active())
        {
            state.is_hungry = true;
            self.hungry.push_back(webhook);
        }
    }

    /// Each webhook starts one thing at a time and stands at the end of the queue again, so none waits for another.
    fn dispatch(&mut self) {
        if !self.may_start() || !self.may_read() {
            return;
        }
        let mut turned_away = 0;
        while turned_away < self.ready.len() && self.flights.len() < self.settings.in_flight_max {
            let Some(webhook) = self.ready.pop_front() else { return };
            let Some(state) = self.hooks.get_mut(&webhook) else { continue };
            if state.is_slow && self.flights_of_slow >= self.settings.in_flight_max / 4 {
                self.ready.push_back(webhook);
                turned_away += 1;
                continue;
            }
            state.is_ready = false;
            if self.start_one(webhook) {
                self.wake(webhook);
                turned_away = 0;
            } else {
                self.set_due(webhook);
            }
        }
    }

    /// When the webhook has something to do by itself.
    fn set_due(&mut self, webhook: WebhookId) {
        let Some(state) = self.hooks.get_mut(&webhook) else { return };
        let next = state.next_due(self.now.wall);
        if state.due != next {
            if let Some(at) = state.due {
                self.due.remove(&(at, webhook));
            }
            if let Some(at) = next {
                self.due.insert((at, webhook));
            }
            state.due = next;
        }
    }

    fn feed_the_hungry(&mut self) {
        if !self.may_read() {
            return;
        }
        while let Some(webhook) = self.hungry.pop_front() {
            if let Some(state) = self.hooks.get_mut(&webhook) {
                state.is_hungry = false;
                self.pull(webhook);
            }
        }
    }

    /// What this feed has read is kept; the one that was read longest ago is not, any more.
    pub(super) fn warm_up(&mut self, key: &FeedKey) {
        if self.warm.contains(key) {
            return;
        }
        self.warm.push_back(key.clone());
        if self.warm.len() > FEEDS_WARM_MAX
            && let Some(oldest) = self.warm.pop_front()
            && let Some(feed) = self.feeds.get_mut(&oldest)
        {
            feed.rest();
        }
    }

    pub(super) fn new_flight(&mut self, flight: Flight) -> u64 {
        self.next_flight += 1;
        self.flights.insert(self.next_flight, flight);
        self.next_flight
    }
}
