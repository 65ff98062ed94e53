//! How far the webhooks of this node are behind, for the metrics endpoint: counted every few seconds, and only from what is
//! in memory.

use std::time::Duration;

use domain::Ticks;

use super::core::Core;
use super::webhook_state::WebhookState;

const COUNT_EVERY: Duration = Duration::from_secs(5);

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

impl Core {
    /// Counts the backlog where the last count is old enough.
    pub(super) fn count_backlog(&mut self) {
        if self.now.steady < self.backlog_due {
            return;
        }
        self.backlog_due = self.now.steady + COUNT_EVERY;
        let mut backlog = Backlog::default();
        // Sandboxes are not in the figures.
        let counted = self.webhooks.values().filter(|state| !self.access.is_sandbox(&state.tail_key.tenant));
        for state in counted {
            let tail = self.feed.tails.get(&state.tail_key);
            let position = self.feed.group_position(state).unwrap_or_else(|| state.position());
            let unread = match tail {
                Some(tail) if position.caught_up_at != Some(tail.serial) => {
                    tail.head().saturating_sub(position.read_to)
                }
                _ => 0,
            };
            backlog.add(state, unread);
        }
        for in_flight in self.attempts.in_flight() {
            backlog.note([in_flight.event_time()]);
        }
        self.counts.set_backlog(backlog);
    }
}
