//! Events on their way: pulled from the log, started in their order, delivered or parked.

use std::sync::Arc;
use std::time::Duration;

use domain::retry::{RetryDecision, RetryState};
use domain::{Ticks, WebhookId};
use store::{
    AttemptPurpose, AttemptRecord, AttemptTiming, AuditContext, AuditEntry, AuditKind, EventGap, Lane,
    LogEvent, LogTail, SuccessfulDelivery,
};

use super::core::Core;
use super::feed::{Ask, PIECE_ROWS};
use super::judge::{Judged, judge};
use super::lanes::Due;
use super::state::State;
use super::target::{Job, Knock};
use super::{Command, FeedKey, Reply, SharedEvent};

/// How many records of a webhook may be parked before nothing new is pulled for it.
const LANES_MAX: usize = 1000;
/// As many failures in a row open the breaker.
const FAILURES_MAX: u32 = 16;
/// How many events may be at hand for one webhook; and for one where many webhooks have many.
const WINDOW_MAX: usize = 512;
const WINDOW_TIGHT: usize = 16;
const BUFFERED_MANY: usize = 64 * 1024;
/// How long an attempt rests that failed through a fault of ours.
const OUR_PAUSE: Duration = Duration::from_secs(1);
/// How many events of a lane are read at once.
pub(super) const RECORD_ROWS: usize = 64;

/// An attempt that is under way.
#[derive(Debug)]
pub(super) struct Flight {
    webhook: WebhookId,
    /// The state that it was started from.
    epoch: u64,
    knock: Knock,
    path: Path,
    was_slow: bool,
}

/// Where an attempt comes from.
#[derive(Debug)]
pub(super) enum Path {
    Queue(SharedEvent),
    Lane(SharedEvent),
    Handshake(u32),
    Replay { number: u32 },
}

impl State {
    pub(super) fn slots(&self, slots_max: usize) -> usize {
        if self.is_slow || self.is_open { 1 } else { slots_max }
    }

    /// When something is due that is not now.
    pub(super) fn next_due(&self, now: Ticks) -> Option<Ticks> {
        let shakes = self.needs_handshake() && !self.handshake.is_under_way && !self.handshake.is_accepted;
        let handshake = shakes.then(|| self.handshake.retry.map_or(now, |retry| retry.next_at));
        let lane = self.lanes.next_due().filter(|_| self.is_active());
        // What is due now waits for a slot, and is woken by the attempt that frees it.
        [handshake, lane].into_iter().flatten().filter(|at| *at > now).min()
    }
}

impl Core {
    /// Reads on for a webhook, as far as it has room.
    pub(super) fn pull(&mut self, webhook: WebhookId) {
        let tight = self.buffered > BUFFERED_MANY;
        let window_max = if tight { WINDOW_TIGHT } else { WINDOW_MAX };
        loop {
            let Some(state) = self.hooks.get_mut(&webhook) else { return };
            let Some(feed) = self.feeds.get_mut(&state.feed) else { return };
            let has_room =
                state.buffered() <= window_max / 2 && state.lanes.len() < LANES_MAX && !state.is_open;
            if !state.is_active() || !has_room || state.is_reading || state.caught_up == Some(feed.serial) {
                break;
            }
            match feed.ask(webhook, state.read_to) {
                Ask::Have(piece) => {
                    if state.read_to < piece.floor {
                        state.lose(piece.floor, self.now.wall);
                        self.dirty.insert(webhook);
                    }
                    self.buffered += state.take(&piece, window_max);
                    if state.has_moved {
                        self.dirty.insert(webhook);
                    }
                }
                Ask::Wait { is_new } => {
                    state.is_reading = true;
                    if is_new {
                        let (feed, after, serial) = (state.feed.clone(), state.read_to, feed.serial);
                        self.out.push(Command::ReadTail { feed, after, serial, rows_max: PIECE_ROWS });
                    }
                    break;
                }
            }
        }
        self.wake(webhook);
    }

    pub(super) fn tail(&mut self, key: &FeedKey, after: u64, serial: u64, tail: Option<LogTail>) {
        if tail.is_none() {
            self.store_rests();
        } else {
            self.warm_up(key);
        }
        let Some(feed) = self.feeds.get_mut(key) else { return };
        let piece_came = tail.is_some();
        for webhook in feed.read(after, serial, tail) {
            let Some(state) = self.hooks.get_mut(&webhook) else { continue };
            if state.replaying.waits_for(after) {
                self.replay_read(webhook, after, piece_came);
            }
            if let Some(state) = self.hooks.get_mut(&webhook) {
                state.is_reading = false;
            }
            self.hunger(webhook);
            self.wake(webhook);
        }
    }

    /// Starts the next thing of a webhook; tells whether it has.
    pub(super) fn start_one(&mut self, webhook: WebhookId) -> bool {
        let now = self.now.wall;
        let slots_max = self.settings.in_flight_per_webhook_max;
        let Some(state) = self.hooks.get_mut(&webhook) else { return false };
        if state.needs_handshake() {
            return self.start_handshake(webhook);
        }
        if !state.is_active() {
            return false;
        }
        let is_free = state.in_flight < state.slots(slots_max);
        // Where lanes share one slot, none waits behind the others for its last attempt.
        let ended = (state.is_slow || state.is_open).then(|| now.minus(self.settings.schedule.window));
        if is_free && let Some((record_key, due)) = state.lanes.take_due(now, ended) {
            match due {
                Due::Knock(event) => self.knock(webhook, Path::Lane(event)),
                Due::Read { from } => {
                    let (feed, epoch, upto) = (state.feed.clone(), state.epoch, state.read_to.max(from));
                    let after = from - 1;
                    self.out.push(Command::ReadRecord { webhook, epoch, feed, record_key, after, upto });
                }
            }
            return true;
        }
        if is_free
            && !state.is_open
            && let Some(event) = state.queue.pop_front()
        {
            self.knock(webhook, Path::Queue(event));
            return true;
        }
        self.start_replay(webhook)
    }

    fn knock(&mut self, webhook: WebhookId, path: Path) {
        let Some(state) = self.hooks.get_mut(&webhook) else { return };
        let job = match &path {
            Path::Queue(event) | Path::Lane(event) => Job::LogEvent(event.clone()),
            Path::Handshake(number) => Job::Handshake { number: *number, at: state.handshake.at },
            Path::Replay { .. } => return,
        };
        self.fly(webhook, path, job);
    }

    pub(super) fn fly(&mut self, webhook: WebhookId, path: Path, job: Job) {
        let Some(state) = self.hooks.get_mut(&webhook) else { return };
        state.in_flight += 1;
        self.flights_of_slow += usize::from(state.is_slow);
        let knock = Knock { target: state.target.clone(), job };
        let flight =
            Flight { webhook, epoch: state.epoch, knock: knock.clone(), path, was_slow: state.is_slow };
        let flight = self.new_flight(flight);
        self.out.push(Command::Knock { flight, knock });
    }

    pub(super) fn knock_handshake(&mut self, webhook: WebhookId, number: u32) {
        self.knock(webhook, Path::Handshake(number));
    }

    pub(super) fn replied(&mut self, flight: u64, reply: &Reply) {
        let Some(flight) = self.flights.remove(&flight) else { return };
        self.flights_of_slow -= usize::from(flight.was_slow);
        let judged = judge(&flight.knock.wanted(), reply);
        let webhook = flight.webhook;
        let Some(state) = self.hooks.get_mut(&webhook) else { return };
        let is_current = state.epoch == flight.epoch;
        if is_current {
            state.in_flight -= 1;
            state.is_slow = judged.timed_out || (state.is_slow && !judged.succeeded);
        }
        self.dirty.insert(webhook);
        match flight.path {
            Path::Queue(event) => self.event_replied(webhook, &event, None, is_current, &judged, reply.spent),
            Path::Lane(event) => {
                let lane = state.lanes.get(event.record_key).copied().filter(|_| is_current);
                self.event_replied(webhook, &event, lane, is_current, &judged, reply.spent);
            }
            Path::Handshake(number) => self.shaken(webhook, number, &judged, reply.spent),
            Path::Replay { number } => {
                self.replayed(webhook, number, is_current, &flight.knock.job, &judged, reply.spent);
            }
        }
        self.wake(webhook);
        self.hunger(webhook);
    }

    /// An event's attempt is over, whether it came from the queue or from its lane.
    fn event_replied(
        &mut self,
        webhook: WebhookId,
        event: &SharedEvent,
        lane: Option<Lane>,
        is_current: bool,
        judged: &Judged,
        spent: AttemptTiming,
    ) {
        let now = self.now.wall;
        let Some(state) = self.hooks.get_mut(&webhook) else { return };
        let sequence = event.entry.sequence;
        let before = lane.map(|lane| lane.retry).filter(|retry| retry.attempts > 0);
        self.counts.count(judged.succeeded);
        if judged.succeeded {
            let (status, duration_ms) = (judged.status.unwrap_or(200), millis(spent));
            state.pending().delivered.push(SuccessfulDelivery { sequence, at: now, status, duration_ms });
        } else {
            let number = before.map_or(0, |retry| retry.attempts) + 1;
            state.pending().attempts.push(attempt(
                AttemptPurpose::Event { sequence },
                number,
                now,
                judged,
                spent,
            ));
        }
        if !is_current {
            return;
        }
        let buffered = state.buffered();
        if judged.succeeded {
            state.succeed(now);
            if lane.is_some() {
                state.lanes.delivered(event.record_key, now);
                state.pending().parked.insert(event.record_key);
            } else {
                state.delivered(event);
            }
        } else if judged.is_ours {
            state.fail(event, lane.is_none(), postponed(before, now));
        } else {
            state.failures_in_a_row = state.failures_in_a_row.saturating_add(1);
            let chance = self.chance.next();
            match self.settings.schedule.after_failure(before, now, judged.retry_after, chance) {
                RetryDecision::GiveUp => {
                    let why = format!(
                        "deliveries have failed for the whole window; the last one: {}",
                        judged.reason
                    );
                    state.give_up(event, lane.is_none(), before, now, why);
                }
                RetryDecision::Retry(retry) => state.fail(event, lane.is_none(), retry),
            }
            state.is_open |= state.failures_in_a_row >= FAILURES_MAX || state.lanes.len() >= LANES_MAX;
            state.warn(before, now, self.settings.schedule.window, &judged.reason);
        }
        self.buffered = self.buffered + state.buffered() - buffered;
    }

    pub(super) fn record(
        &mut self,
        webhook: WebhookId,
        epoch: u64,
        record_key: i64,
        upto: u64,
        read: Option<Vec<LogEvent>>,
    ) {
        let came = read.is_some();
        let Some(state) = self.hooks.get_mut(&webhook).filter(|state| state.epoch == epoch) else { return };
        match read {
            None => state.lanes.unread(record_key),
            Some(events) => {
                let kinds = state.kinds;
                let is_part = events.len() >= RECORD_ROWS;
                let rest = events.last().map(|event| event.entry.sequence + 1).filter(|_| is_part);
                let wanted =
                    events.into_iter().filter(|event| kinds.contains(event.entry.kind)).map(Arc::new);
                if state.lanes.read(record_key, wanted.collect(), upto, rest) {
                    state.pending().parked.remove(&record_key);
                    state.pending().cleared.insert(record_key);
                    self.dirty.insert(webhook);
                }
            }
        }
        if !came {
            self.store_rests();
        }
        self.wake(webhook);
        self.hunger(webhook);
    }
}

impl State {
    /// The receiver answers: the breaker closes, and everything that is parked is due.
    fn succeed(&mut self, now: Ticks) {
        self.failures_in_a_row = 0;
        self.is_warned = false;
        if std::mem::take(&mut self.is_open) {
            let hurried = self.lanes.hurry(now, false);
            self.pending().parked.extend(hurried);
        }
    }

    fn fail(&mut self, event: &SharedEvent, is_new: bool, retry: RetryState) {
        let record_key = event.record_key;
        if is_new {
            let lane = Lane { record_key, sequence: event.entry.sequence, retry };
            self.lanes.park(lane, Some(event.clone()));
            self.pending().cleared.remove(&record_key);
            self.parked(event);
        } else {
            self.lanes.failed(record_key, retry);
        }
        self.pending().parked.insert(record_key);
    }

    /// The attempt at the end of the window has failed: the webhook rests until its owner enables it.
    fn give_up(
        &mut self,
        event: &SharedEvent,
        is_new: bool,
        before: Option<RetryState>,
        now: Ticks,
        why: String,
    ) {
        let attempts = before.map_or(0, |retry| retry.attempts) + 1;
        let first_failed_at = before.map_or(now, |retry| retry.first_failed_at);
        self.fail(event, is_new, RetryState { attempts, first_failed_at, next_at: now });
        self.disable(now, why);
    }

    pub(super) fn disable(&mut self, now: Ticks, why: String) {
        self.flags.disabled = true;
        self.tell(AuditKind::WebhookDisabled, now, &why);
        self.pending().disabled = Some(why);
    }

    /// Half the window is over, and it still fails: its owner should know before it is too late.
    pub(super) fn warn(&mut self, before: Option<RetryState>, now: Ticks, window: Duration, reason: &str) {
        let is_long = before.is_some_and(|retry| now.since(retry.first_failed_at) >= window / 2);
        if is_long && !self.is_warned && !self.flags.disabled {
            self.is_warned = true;
            let note =
                format!("deliveries fail, and the webhook will be disabled when the window ends: {reason}");
            self.tell(AuditKind::WebhookFailing, now, &note);
        }
    }

    /// What the log no longer has cannot be told any more.
    fn lose(&mut self, floor: u64, now: Ticks) {
        let after = self.read_to;
        self.pending().lost = Some(EventGap { at: now, after, through: floor });
        self.tell(
            AuditKind::WebhookEventsLost,
            now,
            &format!("events after {after} up to {floor} are no longer kept"),
        );
        self.read_to = floor;
        self.has_moved = true;
    }

    fn tell(&mut self, kind: AuditKind, now: Ticks, note: &str) {
        let note = format!("webhook {}: {note}", self.target.webhook());
        let entry = AuditEntry::new(kind, now, &AuditContext::default());
        let entry = entry.tenant(&self.feed.tenant).client(&self.client).note(note);
        self.pending().audit.push(entry);
    }
}

pub(super) fn attempt(
    purpose: AttemptPurpose,
    number: u32,
    at: Ticks,
    judged: &Judged,
    spent: AttemptTiming,
) -> AttemptRecord {
    AttemptRecord {
        at,
        purpose,
        number,
        status: judged.status,
        succeeded: judged.succeeded,
        reason: judged.reason.clone(),
        excerpt: judged.excerpt.clone(),
        timing: spent,
    }
}

/// Tried again soon, and not counted: the fault was ours.
pub(super) fn postponed(before: Option<RetryState>, now: Ticks) -> RetryState {
    let uncounted = RetryState { attempts: 0, first_failed_at: now, next_at: now };
    RetryState { next_at: now + OUR_PAUSE, ..before.unwrap_or(uncounted) }
}

fn millis(spent: AttemptTiming) -> u32 {
    u32::try_from(spent.total.as_millis()).unwrap_or(u32::MAX)
}
