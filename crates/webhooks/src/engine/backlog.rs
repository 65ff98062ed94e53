//! How far the webhooks of this node are behind, for the metrics endpoint: counted every few seconds, some webhooks at a time,
//! and only from what is in memory.

use std::time::Duration;

use domain::{Ticks, WebhookId};

use super::core::Core;
use super::webhook_state::WebhookState;

const COUNT_EVERY: Duration = Duration::from_secs(5);
/// How many webhooks the core counts in one go; deliveries wait meanwhile.
const SLICE: usize = 1000;
const SLICE_EVERY: Duration = Duration::from_millis(10);

/// What the webhooks of this node have not delivered yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Events that active webhooks have to deliver. Parts of the log that were not read yet count in full, so this is an
    /// upper bound.
    pub events: u64,
    /// When the oldest of the events in memory happened.
    pub oldest: Option<Ticks>,
    /// Webhooks whose last handshake, or the last attempt of an event, failed.
    pub failing: u64,
    /// Webhooks that the service has disabled.
    pub disabled: u64,
    /// Webhooks whose owner has no access at present.
    pub suspended: u64,
}

impl Backlog {
    fn add(&mut self, state: &WebhookState, unread: u64) {
        self.disabled += u64::from(state.flags.disabled);
        self.suspended += u64::from(state.is_suspended);
        let handshake_failed = state.handshake.retry.is_some_and(|retry| retry.attempts > 0);
        if !state.is_active() {
            self.failing += u64::from(state.needs_handshake() && handshake_failed);
            return;
        }
        let (parked, first_parked) = (state.lanes.len(), state.lanes.oldest());
        self.events += state.buffered() as u64 + parked as u64 + unread;
        self.failing += u64::from(state.failures_in_a_row > 0 || state.lanes.has_failed());
        let first_queued = state.queue.front().map(|event| event.entry.version);
        self.note([first_queued, first_parked]);
    }

    fn note<const N: usize>(&mut self, times: [Option<Ticks>; N]) {
        self.oldest = times.into_iter().chain([self.oldest]).flatten().min();
    }
}

/// The count that is under way, or the last one.
#[derive(Debug, Default)]
pub(super) struct BacklogCount {
    /// When the next slice, or the next count, is due, on the monotonic clock.
    due: Duration,
    /// When the next count is due at the earliest.
    next_count: Duration,
    /// The webhooks that remain to be counted.
    left: Vec<WebhookId>,
    counted: Backlog,
}

impl BacklogCount {
    /// How long until the next slice of the count that is under way. For a new count nobody wakes the core: it wakes every second.
    pub(super) fn next_slice(&self, steady: Duration) -> Option<Duration> {
        (!self.left.is_empty()).then(|| self.due.saturating_sub(steady))
    }
}

impl Core {
    /// Counts the next slice when it is due.
    pub(super) fn count_backlog(&mut self) {
        let now = self.now.steady;
        let count = &mut self.backlog_count;
        if now < count.due {
            return;
        }
        if count.left.is_empty() {
            count.next_count = now + COUNT_EVERY;
            count.counted = Backlog::default();
            count.left.extend(self.webhooks.keys());
        }
        let mut counted = count.counted;
        for webhook in count.left.drain(count.left.len().saturating_sub(SLICE)..) {
            // Sandboxes are not in the figures.
            let Some(state) = self.webhooks.get(&webhook) else { continue };
            if self.access.is_sandbox(&state.tail_key.tenant) {
                continue;
            }
            let tail = self.feed.tails.get(&state.tail_key);
            let position = self.feed.group_position(state).unwrap_or_else(|| state.position());
            let unread = match tail {
                Some(tail) if position.caught_up_at != Some(tail.serial) => {
                    tail.head().saturating_sub(position.read_to)
                }
                _ => 0,
            };
            counted.add(state, unread);
        }
        count.counted = counted;
        if !count.left.is_empty() {
            count.due = now + SLICE_EVERY;
            return;
        }
        count.due = count.next_count.max(now + SLICE_EVERY);
        for in_flight in self.attempts.in_flight() {
            counted.note([in_flight.event_time()]);
        }
        self.counts.set_backlog(counted);
    }
}
