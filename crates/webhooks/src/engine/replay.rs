//! Replays and test events, which an owner or an operator requests: one attempt at a time, outside the event order and
//! the failure accounting, and only for events that the webhook was entitled to.

use std::collections::VecDeque;

use domain::WebhookId;
use domain::event::EventKind;
use domain::webhook::EventKinds;
use store::{AttemptPurpose, AttemptTiming, Replay, ReplayKind, ReplayStep};

use super::attempt::AttemptKind;
use super::classify::Outcome;
use super::core::Core;
use super::delivery::{AttemptSource, attempt_record};
use super::tail_cache::{CHUNK_ROWS, TailChunk, TailLookup, Waiter};
use super::{Command, SharedEvent};

#[derive(Debug, Default)]
pub(crate) struct ReplayQueue {
    /// Replays that are not done; the first one is running.
    open: VecDeque<Replay>,
    /// The webhook was entitled to events after this sequence.
    start: u64,
    events: VecDeque<SharedEvent>,
    activity: ReplayActivity,
    /// The number of the last replay that is done.
    done_upto: i64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ReplayActivity {
    #[default]
    Waiting,
    Reading {
        after: u64,
    },
    Sending,
}

/// What the running replay needs next.
#[derive(Debug)]
pub(crate) enum ReplayAction {
    Send(SharedEvent),
    SendTest(Replay),
    /// A read of the log after this sequence.
    Read {
        after: u64,
    },
    /// The replay is done.
    Finish(ReplayStep),
}

impl ReplayQueue {
    pub(crate) fn new(open: Vec<Replay>, start: u64) -> Self {
        Self { open: open.into(), start, ..Self::default() }
    }

    /// Adds the replays that were requested since; the running one continues.
    pub(crate) fn update(&mut self, open: Vec<Replay>, start: u64) {
        self.start = start;
        for replay in open {
            // The store may not know yet that a replay is done.
            let is_new = replay.number > self.done_upto;
            if is_new && self.open.iter().all(|known| known.number != replay.number) {
                self.open.push_back(replay);
            }
        }
    }

    pub(crate) fn set_start(&mut self, start: u64) {
        self.start = start;
    }

    /// Begins the next action, unless one is under way.
    pub(crate) fn next(&mut self) -> Option<ReplayAction> {
        if self.activity != ReplayActivity::Waiting {
            return None;
        }
        let replay = *self.open.front()?;
        if replay.kind == ReplayKind::Test {
            self.activity = ReplayActivity::Sending;
            return Some(ReplayAction::SendTest(replay));
        }
        if let Some(event) = self.events.front() {
            self.activity = ReplayActivity::Sending;
            return Some(ReplayAction::Send(event.clone()));
        }
        if replay.position >= replay.through {
            return self.finish().map(ReplayAction::Finish);
        }
        let after = replay.position.max(self.start);
        self.activity = ReplayActivity::Reading { after };
        Some(ReplayAction::Read { after })
    }

    /// Whether it waits for a read that starts after `after`.
    pub(crate) fn waits_for(&self, after: u64) -> bool {
        self.activity == ReplayActivity::Reading { after }
    }

    /// Takes the events of a chunk; `None`: the read failed.
    pub(crate) fn read(&mut self, chunk: Option<&TailChunk>, is_subscribed: impl Fn(&SharedEvent) -> bool) {
        self.activity = ReplayActivity::Waiting;
        let (Some(chunk), Some(replay)) = (chunk, self.open.front_mut()) else { return };
        let from = replay.position.max(self.start);
        let is_within = |event: &&SharedEvent| event.entry.sequence <= replay.through;
        let events = chunk.events_after(from).take_while(is_within).filter(|event| is_subscribed(event));
        self.events = events.cloned().collect();
        if self.events.is_empty() {
            // After a chunk that ends at the head there is nothing more to read.
            replay.position = if chunk.reached_head_at.is_some() { replay.through } else { chunk.upto };
        }
    }

    /// An attempt has finished; returns the replay's progress.
    pub(crate) fn attempt_finished(&mut self, has_succeeded: bool) -> Option<ReplayStep> {
        self.activity = ReplayActivity::Waiting;
        let replay = self.open.front_mut()?;
        if has_succeeded {
            replay.delivered += 1;
        } else {
            replay.failed += 1;
        }
        if replay.kind == ReplayKind::Test {
            return self.finish();
        }
        if let Some(event) = self.events.pop_front() {
            replay.position = replay.position.max(event.entry.sequence);
        }
        Some(progress(replay, false))
    }

    /// The attempt was not sent: it is due again.
    pub(crate) fn attempt_not_sent(&mut self) {
        self.activity = ReplayActivity::Waiting;
    }

    fn finish(&mut self) -> Option<ReplayStep> {
        self.events.clear();
        let replay = self.open.pop_front()?;
        self.done_upto = self.done_upto.max(replay.number);
        Some(progress(&replay, true))
    }
}

/// The kind of a test event: the requested one, or the first that the webhook subscribes to.
fn test_kind(replay: &Replay, subscribed: EventKinds) -> EventKind {
    let requested = i16::try_from(replay.through).ok().and_then(EventKind::from_code);
    let requested = requested.filter(|kind| subscribed.contains(*kind));
    requested.or_else(|| subscribed.iter().next()).unwrap_or(EventKind::Updated)
}

fn progress(replay: &Replay, is_done: bool) -> ReplayStep {
    let Replay { number, position, delivered, failed, .. } = *replay;
    ReplayStep { number, position, delivered, failed, is_done }
}

impl Core {
    pub(super) fn start_replay(&mut self, webhook: WebhookId) -> bool {
        let Some(state) = self.webhooks.get_mut(&webhook) else { return false };
        if state.in_flight >= state.slots(self.settings.in_flight_per_webhook_max) {
            return false;
        }
        match state.replays.next() {
            None => return false,
            Some(ReplayAction::Send(event)) => {
                self.send(webhook, AttemptSource::Replay { number: 1 }, AttemptKind::Event(event));
            }
            Some(ReplayAction::SendTest(replay)) => {
                let kind = test_kind(&replay, state.kinds);
                let kind = AttemptKind::Test { number: replay.number, at: replay.requested_at, kind };
                self.send(webhook, AttemptSource::Replay { number: 1 }, kind);
            }
            Some(ReplayAction::Finish(step)) => {
                state.pending().replays.push(step);
                self.checkpoints.add(webhook);
            }
            Some(ReplayAction::Read { after }) => self.read_for_replay(webhook, after),
        }
        true
    }

    fn read_for_replay(&mut self, webhook: WebhookId, after: u64) {
        let Some(state) = self.webhooks.get_mut(&webhook) else { return };
        let Some(tail) = self.feed.tails.get_mut(&state.tail_key) else { return };
        match tail.look_up(Waiter::Replay(webhook), after) {
            TailLookup::Cached(chunk) => {
                let kinds = state.kinds;
                state.replays.read(Some(&chunk), |event| kinds.contains(event.entry.kind));
            }
            TailLookup::Pending { is_new: true } => {
                let (key, serial) = (state.tail_key.clone(), tail.serial);
                self.commands.push(Command::ReadTail { key, after, serial, rows_max: CHUNK_ROWS });
            }
            TailLookup::Pending { is_new: false } => {}
        }
    }

    pub(super) fn replay_read(&mut self, webhook: WebhookId, after: u64, has_succeeded: bool) {
        let Some(state) = self.webhooks.get_mut(&webhook) else { return };
        let Some(tail) = self.feed.tails.get_mut(&state.tail_key) else { return };
        if !state.replays.waits_for(after) {
            return;
        }
        let kinds = state.kinds;
        let chunk = tail.chunk_after(after).filter(|_| has_succeeded);
        state.replays.read(chunk.as_ref(), |event| kinds.contains(event.entry.kind));
    }

    pub(super) fn replay_finished(
        &mut self,
        webhook: WebhookId,
        number: u32,
        is_current: bool,
        kind: &AttemptKind,
        outcome: &Outcome,
        timing: AttemptTiming,
    ) {
        let now = self.now.wall;
        let Some(state) = self.webhooks.get_mut(&webhook) else { return };
        let purpose = match kind {
            AttemptKind::Event(event) => AttemptPurpose::Replay { sequence: event.entry.sequence },
            AttemptKind::Handshake { .. } | AttemptKind::Test { .. } => AttemptPurpose::Test,
        };
        state.pending().attempts.push(attempt_record(purpose, number, now, outcome, timing));
        if is_current {
            let step = state.replays.attempt_finished(outcome.succeeded);
            state.pending().replays.extend(step);
        }
    }
}
