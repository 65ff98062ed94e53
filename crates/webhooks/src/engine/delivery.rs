//! Attempts: which one a webhook starts next, and what follows from its outcome.

use std::time::Duration;

use domain::retry::{RetryDecision, RetryState};
use domain::service_reason::DisabledReason;
use domain::{Ticks, WebhookId};
use store::{AttemptPurpose, AttemptRecord, AttemptTiming, Lane, SuccessfulDelivery};

use super::attempt::{Attempt, AttemptKind};
use super::classify::{Outcome, classify};
use super::core::Core;
use super::failures::{FAILURES_IN_A_ROW_MAX, LANES_MAX, postponed};
use super::lanes::LaneAction;
use super::owner_queues::OwnerNumber;
use super::webhook_state::{HandshakeState, WebhookState};
use super::{Command, SharedEvent};
use crate::egress::Exchange;

/// An attempt that takes this many percent of its timeout, or more, makes its webhook slow, even before it ends and even if it
/// succeeds: the webhook shares the slots of the slow ones, so that those that answer at once find one.
const SLOW_PERCENT: u32 = 20;
/// From here on the webhook also holds one slot at a time.
const ONE_SLOT_PERCENT: u32 = 80;

/// An attempt in flight.
#[derive(Debug)]
pub(super) struct InFlight {
    pub(super) webhook: WebhookId,
    /// The epoch of the state that started it.
    epoch: u64,
    attempt: Attempt,
    source: AttemptSource,
    owner: OwnerNumber,
    /// Its webhook was slow: it holds one of the slots for slow webhooks.
    started_slow: bool,
    /// It has taken so long that its webhook is slow.
    is_long: bool,
}

impl InFlight {
    /// When the event happened; `None` for handshakes, replays and test events.
    pub(super) fn event_time(&self) -> Option<Ticks> {
        match &self.source {
            AttemptSource::Queue(event) | AttemptSource::Lane(event) => Some(event.entry.version),
            AttemptSource::Handshake { .. } | AttemptSource::Replay { .. } => None,
        }
    }

    /// The record whose event it delivers to this webhook. Replays are outside the order.
    pub(super) fn record_of(&self, webhook: WebhookId) -> Option<i64> {
        match &self.source {
            AttemptSource::Queue(event) | AttemptSource::Lane(event) if self.webhook == webhook => {
                Some(event.record_key)
            }
            _ => None,
        }
    }
}

/// Where an attempt comes from.
#[derive(Debug)]
pub(super) enum AttemptSource {
    Queue(SharedEvent),
    Lane(SharedEvent),
    Handshake {
        number: u32,
        /// The handshake before the attempt started.
        before: Box<HandshakeState>,
    },
    Replay {
        number: u32,
    },
}

impl WebhookState {
    pub(super) fn is_slow(&self) -> bool {
        self.was_slow || self.long_in_flight > 0
    }

    pub(super) fn slots(&self, slots_max: usize) -> usize {
        if self.holds_one_slot || self.is_breaker_open { 1 } else { slots_max }
    }

    /// When the webhook's next handshake or lane is due, or its suspension has lasted too long, if later than now.
    /// `host_asked_at` as in [`super::webhook_state::HandshakeState::due_at`].
    pub(super) fn next_due(
        &self,
        now: Ticks,
        host_asked_at: Option<Ticks>,
        retention: Duration,
    ) -> Option<Ticks> {
        let needs_handshake =
            self.needs_handshake() && !self.handshake.is_in_flight && !self.handshake.is_accepted;
        let handshake = needs_handshake.then(|| self.handshake.due_at(now, host_asked_at));
        let lane = self.lanes.next_due().filter(|_| self.is_active());
        // What is due now waits for a slot; the attempt that frees it wakes the webhook.
        [handshake, lane, self.suspension_end(retention)].into_iter().flatten().filter(|at| *at > now).min()
    }
}

impl Core {
    /// Starts the webhook's next attempt or read; returns whether there was one to start.
    pub(super) fn start_next(&mut self, webhook: WebhookId) -> bool {
        let now = self.now.wall;
        let slots_max = self.settings.in_flight_per_webhook_max;
        let Some(state) = self.webhooks.get_mut(&webhook) else { return false };
        if self.shards.is_giving(webhook) {
            return false;
        }
        if state.is_suspended {
            return self.check_suspension(webhook);
        }
        if state.needs_handshake() {
            return self.start_handshake(webhook);
        }
        if !state.is_active() {
            return false;
        }
        let is_slot_free = state.in_flight < state.slots(slots_max);
        // Where lanes share one slot, none may wait behind the others for its last attempt.
        let window_ended =
            (state.holds_one_slot || state.is_breaker_open).then(|| now.minus(self.settings.schedule.window));
        if is_slot_free && let Some((record_key, action)) = state.lanes.take_due(now, window_ended) {
            match action {
                LaneAction::Send(event) => {
                    let kind = AttemptKind::Event(event.clone());
                    self.send(webhook, AttemptSource::Lane(event), kind);
                }
                LaneAction::Read { from } => {
                    let (key, epoch) = (state.tail_key.clone(), state.epoch);
                    let (after, upto) = (from - 1, state.read_to.max(from));
                    self.commands.push(Command::ReadRecord { webhook, epoch, key, record_key, after, upto });
                }
            }
            return true;
        }
        if is_slot_free
            && !state.is_breaker_open
            && let Some(event) = state.queue.pop_front()
        {
            let kind = AttemptKind::Event(event.clone());
            self.send(webhook, AttemptSource::Queue(event), kind);
            return true;
        }
        self.start_replay(webhook)
    }

    pub(super) fn send(&mut self, webhook: WebhookId, source: AttemptSource, kind: AttemptKind) {
        let Some(state) = self.webhooks.get_mut(&webhook) else { return };
        state.in_flight += 1;
        let started_slow = state.is_slow();
        self.owner_queues.attempt_started(state.owner, started_slow);
        let attempt = Attempt::new(&state.target, kind);
        let in_flight = InFlight {
            webhook,
            epoch: state.epoch,
            attempt: attempt.clone(),
            source,
            owner: state.owner,
            started_slow,
            is_long: false,
        };
        let attempt_id = self.attempts.begun(self.now.steady, in_flight);
        self.commands.push(Command::Send { attempt_id, attempt });
    }

    /// Marks webhooks as slow whose attempts take long: those that hang would otherwise take all slots until they time out.
    pub(super) fn mark_slow(&mut self) {
        let slow_after = self.settings.timeout * SLOW_PERCENT / 100;
        let Some(until) = self.now.steady.checked_sub(slow_after) else { return };
        while let Some(in_flight) = self.attempts.next_long(until) {
            in_flight.is_long = true;
            if !in_flight.started_slow {
                self.owner_queues.attempt_became_slow(in_flight.owner);
            }
            let (webhook, epoch) = (in_flight.webhook, in_flight.epoch);
            if let Some(state) = self.webhooks.get_mut(&webhook).filter(|state| state.epoch == epoch) {
                state.long_in_flight += 1;
            }
        }
    }

    pub(super) fn attempt_finished(&mut self, attempt_id: u64, exchange: &Exchange) {
        let Some(in_flight) = self.attempts.ended(attempt_id) else { return };
        let is_current = self.take_back(&in_flight);
        let InFlight { webhook, attempt, source, .. } = in_flight;
        let outcome = classify(&attempt.expected(), exchange);
        let timing = exchange.timing;
        let timeout = self.settings.timeout;
        let took = |percent| outcome.timed_out || timing.total >= timeout * percent / 100;
        let Some(state) = self.webhooks.get_mut(&webhook) else { return };
        if is_current {
            let has_failed = !outcome.succeeded;
            state.was_slow = took(SLOW_PERCENT) || (state.was_slow && has_failed);
            state.holds_one_slot = took(ONE_SLOT_PERCENT) || (state.holds_one_slot && has_failed);
        }
        self.checkpoints.add(webhook);
        match source {
            AttemptSource::Queue(event) => {
                self.event_finished(webhook, &event, None, is_current, &outcome, timing);
            }
            AttemptSource::Lane(event) => {
                let lane = state.lanes.get(event.record_key).copied().filter(|_| is_current);
                self.event_finished(webhook, &event, lane, is_current, &outcome, timing);
            }
            AttemptSource::Handshake { number, .. } => {
                self.handshake_finished(webhook, number, &outcome, timing);
            }
            AttemptSource::Replay { number } => {
                self.replay_finished(webhook, number, is_current, &attempt.kind, &outcome, timing);
            }
        }
        self.wake(webhook);
        self.queue_read(webhook);
    }

    /// An attempt is no longer in flight; returns whether the webhook's present state started it.
    fn take_back(&mut self, in_flight: &InFlight) -> bool {
        self.owner_queues.attempt_finished(in_flight.owner, in_flight.started_slow, in_flight.is_long);
        let state = self.webhooks.get_mut(&in_flight.webhook);
        if let Some(state) = state.filter(|state| state.epoch == in_flight.epoch) {
            state.in_flight -= 1;
            state.long_in_flight -= usize::from(in_flight.is_long);
            return true;
        }
        self.attempts.orphan_ended();
        false
    }

    /// An attempt was not sent: it is due again, as if it had never been decided.
    pub(super) fn attempt_not_sent(&mut self, attempt_id: u64) {
        let Some(in_flight) = self.attempts.ended(attempt_id) else { return };
        let is_current = self.take_back(&in_flight);
        let InFlight { webhook, source, .. } = in_flight;
        let Some(state) = self.webhooks.get_mut(&webhook) else { return };
        match source {
            AttemptSource::Queue(event) | AttemptSource::Lane(event) if !is_current => {
                state.release(event.record_key);
            }
            AttemptSource::Queue(event) => state.queue.push_front(event),
            AttemptSource::Lane(event) => {
                state.lanes.release(event.record_key);
            }
            AttemptSource::Handshake { number, before } => self.handshake_not_sent(webhook, number, &before),
            AttemptSource::Replay { .. } if is_current => state.replays.attempt_not_sent(),
            AttemptSource::Replay { .. } => {}
        }
        self.wake(webhook);
        self.queue_read(webhook);
    }

    /// An attempt at an event has finished; `lane`: it came from this lane, otherwise from the queue. An attempt that an
    /// earlier epoch started only goes into the history.
    fn event_finished(
        &mut self,
        webhook: WebhookId,
        event: &SharedEvent,
        lane: Option<Lane>,
        is_current: bool,
        outcome: &Outcome,
        timing: AttemptTiming,
    ) {
        let now = self.now.wall;
        let Some(state) = self.webhooks.get_mut(&webhook) else { return };
        let sequence = event.entry.sequence;
        let before = lane.map(|lane| lane.retry).filter(|retry| retry.attempts > 0);
        let is_sandbox = self.access.is_sandbox(&state.tail_key.tenant);
        self.counts.count_attempt((webhook, is_sandbox), outcome.succeeded, timing.total);
        if outcome.succeeded {
            let (status, duration_ms) = (outcome.status.unwrap_or(200), total_millis(timing));
            state.pending().delivered.push(SuccessfulDelivery { sequence, at: now, status, duration_ms });
        } else {
            let number = before.map_or(0, |retry| retry.attempts) + 1;
            let purpose = AttemptPurpose::Event { sequence };
            state.pending().attempts.push(attempt_record(purpose, number, now, outcome, timing));
        }
        if !is_current {
            state.release(event.record_key);
            return;
        }
        let buffered = state.buffered();
        if outcome.succeeded {
            state.receiver_succeeded(now);
            if lane.is_some() {
                state.lanes.delivered(event.record_key, now);
                state.pending().parked.insert(event.record_key);
            } else {
                state.mark_delivered(event);
            }
        } else if outcome.is_internal {
            state.park(event, lane.is_none(), postponed(before, now));
        } else {
            self.event_failed(webhook, event, lane.is_none(), before, outcome);
        }
        let Some(state) = self.webhooks.get(&webhook) else { return };
        self.feed.buffered = self.feed.buffered + state.buffered() - buffered;
    }

    fn event_failed(
        &mut self,
        webhook: WebhookId,
        event: &SharedEvent,
        is_new_lane: bool,
        before: Option<RetryState>,
        outcome: &Outcome,
    ) {
        let now = self.now.wall;
        let Some(state) = self.webhooks.get_mut(&webhook) else { return };
        state.failures_in_a_row = state.failures_in_a_row.saturating_add(1);
        let jitter = self.random.next();
        match self.settings.schedule.after_failure(before, now, outcome.retry_after, jitter) {
            RetryDecision::GiveUp => {
                let reason = &outcome.reason;
                let why = DisabledReason::DeliveriesFailed { last: reason }.to_string();
                state.give_up(event, is_new_lane, before, now, why);
            }
            RetryDecision::Retry(retry) => state.park(event, is_new_lane, retry),
        }
        state.is_breaker_open |=
            state.failures_in_a_row >= FAILURES_IN_A_ROW_MAX || state.lanes.len() >= LANES_MAX;
        state.warn(before, now, self.settings.schedule.window, &outcome.reason);
    }
}

pub(super) fn attempt_record(
    purpose: AttemptPurpose,
    number: u32,
    at: Ticks,
    outcome: &Outcome,
    timing: AttemptTiming,
) -> AttemptRecord {
    AttemptRecord {
        at,
        purpose,
        number,
        status: outcome.status,
        succeeded: outcome.succeeded,
        reason: outcome.reason.clone(),
        excerpt: outcome.excerpt.clone(),
        timing,
    }
}

fn total_millis(timing: AttemptTiming) -> u32 {
    u32::try_from(timing.total.as_millis()).unwrap_or(u32::MAX)
}
