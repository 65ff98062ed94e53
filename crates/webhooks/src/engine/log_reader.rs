//! Reads the log: the shared tail for webhooks that follow it, and single records for parked lanes.

use std::sync::Arc;

use domain::WebhookId;
use store::{LogEvent, LogTail};

use super::core::Core;
use super::failures::LANES_MAX;
use super::feed::Following;
use super::idle_groups::Joining;
use super::tail_cache::{CHUNK_ROWS, TailLookup, Waiter};
use super::{Command, TailKey};

/// How many events one webhook may hold in memory; and how many where webhooks together hold very many.
const WINDOW_MAX: usize = 512;
const WINDOW_TIGHT_MAX: usize = 16;
const BUFFERED_MANY: usize = 64 * 1024;
/// How many events of a lane one read returns.
pub(super) const RECORD_ROWS: usize = 64;

impl Core {
    /// Reads on for a webhook, as far as its window has room.
    pub(super) fn pull(&mut self, webhook: WebhookId) {
        // What it reads would have to be written before the shard can be given.
        if self.shards.is_giving(webhook) {
            return;
        }
        let is_tight = self.feed.buffered > BUFFERED_MANY;
        let window_max = if is_tight { WINDOW_TIGHT_MAX } else { WINDOW_MAX };
        loop {
            let Some(state) = self.webhooks.get_mut(&webhook) else { return };
            let Some(tail) = self.feed.tails.get_mut(&state.tail_key) else { return };
            if state.can_join_group() {
                let joining = tail.join_group(webhook, state.kinds, state.position());
                if joining != Joining::Refused {
                    state.following = Following::InGroup;
                    if joining == Joining::Founded {
                        self.feed.push_tail(&state.tail_key);
                    }
                    break;
                }
            }
            let has_room =
                state.buffered() <= window_max / 2 && state.lanes.len() < LANES_MAX && !state.is_breaker_open;
            let is_caught_up = state.caught_up_at == Some(tail.serial);
            if !state.is_active() || !has_room || state.is_reading || is_caught_up {
                break;
            }
            match tail.look_up(Waiter::Webhook(webhook), state.read_to) {
                TailLookup::Cached(chunk) => {
                    if state.read_to < chunk.floor {
                        state.skip_to_floor(chunk.floor, self.now.wall);
                        self.checkpoints.add(webhook);
                    }
                    self.feed.buffered += state.take_events(&chunk, window_max);
                    if state.has_moved {
                        self.checkpoints.add_moved(webhook);
                    }
                }
                TailLookup::Pending { is_new } => {
                    state.is_reading = true;
                    if is_new {
                        let (key, after, serial) = (state.tail_key.clone(), state.read_to, tail.serial);
                        self.commands.push(Command::ReadTail { key, after, serial, rows_max: CHUNK_ROWS });
                    }
                    break;
                }
            }
        }
        self.wake(webhook);
    }

    pub(super) fn tail_read(&mut self, key: &TailKey, after: u64, serial: u64, read: Option<LogTail>) {
        let has_succeeded = read.is_some();
        if has_succeeded {
            self.feed.keep_cached(key);
        } else {
            self.feed.pause(self.now.steady);
        }
        let Some(tail) = self.feed.tails.get_mut(key) else { return };
        let waiters = tail.finish_read(after, serial, read);
        self.feed.grew(key);
        for waiter in waiters {
            match waiter {
                Waiter::IdleGroup(kinds) => self.feed.group_read_ended(key, kinds),
                Waiter::Replay(webhook) => {
                    self.replay_read(webhook, after, has_succeeded);
                    self.wake(webhook);
                }
                Waiter::Webhook(webhook) => {
                    let Some(state) = self.webhooks.get_mut(&webhook) else { continue };
                    state.is_reading = false;
                    self.queue_read(webhook);
                    self.wake(webhook);
                }
            }
        }
    }

    pub(super) fn record_read(
        &mut self,
        webhook: WebhookId,
        epoch: u64,
        record_key: i64,
        upto: u64,
        read: Option<Vec<LogEvent>>,
    ) {
        let has_failed = read.is_none();
        let Some(state) = self.webhooks.get_mut(&webhook).filter(|state| state.epoch == epoch) else {
            return;
        };
        match read {
            None => state.lanes.read_failed(record_key),
            Some(events) => {
                let kinds = state.kinds;
                let is_full = events.len() >= RECORD_ROWS;
                let continues_at = events.last().map(|event| event.entry.sequence + 1).filter(|_| is_full);
                let subscribed =
                    events.into_iter().filter(|event| kinds.contains(event.entry.kind)).map(Arc::new);
                if state.lanes.read(record_key, subscribed.collect(), upto, continues_at) {
                    state.pending().parked.remove(&record_key);
                    state.pending().cleared.insert(record_key);
                    self.checkpoints.add(webhook);
                }
            }
        }
        if has_failed {
            self.feed.pause(self.now.steady);
        }
        self.wake(webhook);
        self.queue_read(webhook);
    }
}
