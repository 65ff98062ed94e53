//! Deliveries that somebody asked for again, and test events: one at a time, outside the order and the counting of
//! failures, and only of what the webhook was ever entitled to.

use std::collections::VecDeque;

use domain::WebhookId;
use store::{AttemptPurpose, AttemptTiming, Replay, ReplayKind, ReplayStep};

use super::core::Core;
use super::deliver::{Path, attempt};
use super::feed::{Ask, PIECE_ROWS, Piece};
use super::judge::Judged;
use super::target::Job;
use super::{Command, SharedEvent};

#[derive(Debug, Default)]
pub(crate) struct Replaying {
    /// The first is under way.
    open: VecDeque<Replay>,
    /// Nothing up to here was ever meant for the webhook.
    began: u64,
    events: VecDeque<SharedEvent>,
    doing: Doing,
    /// The number of the last one that is done.
    done_upto: i64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Doing {
    #[default]
    Waiting,
    Reading {
        after: u64,
    },
    Knocking,
}

/// What comes next.
#[derive(Debug)]
pub(crate) enum Step {
    Knock(SharedEvent),
    Test(Replay),
    /// The log has to be read, after this number.
    Read {
        after: u64,
    },
    /// The first replay is done.
    Done(ReplayStep),
}

impl Replaying {
    pub(crate) fn new(open: Vec<Replay>, began: u64) -> Self {
        Self { open: open.into(), began, ..Self::default() }
    }

    /// What was asked for meanwhile; what is under way goes on.
    pub(crate) fn learn(&mut self, open: Vec<Replay>, began: u64) {
        self.began = began;
        for replay in open {
            // One that is done here may not be written down yet.
            let is_new = replay.number > self.done_upto;
            if is_new && self.open.iter().all(|known| known.number != replay.number) {
                self.open.push_back(replay);
            }
        }
    }

    pub(crate) fn begin(&mut self, began: u64) {
        self.began = began;
    }

    /// What to do next; it is under way then.
    pub(crate) fn next(&mut self) -> Option<Step> {
        if self.doing != Doing::Waiting {
            return None;
        }
        let replay = *self.open.front()?;
        if replay.kind == ReplayKind::Test {
            self.doing = Doing::Knocking;
            return Some(Step::Test(replay));
        }
        if let Some(event) = self.events.front() {
            self.doing = Doing::Knocking;
            return Some(Step::Knock(event.clone()));
        }
        if replay.position >= replay.through {
            return self.close().map(Step::Done);
        }
        let after = replay.position.max(self.began);
        self.doing = Doing::Reading { after };
        Some(Step::Read { after })
    }

    /// Whether a read from there on is what it waits for.
    pub(crate) fn waits_for(&self, after: u64) -> bool {
        self.doing == Doing::Reading { after }
    }

    /// A piece of the log that starts where the read was asked for.
    pub(crate) fn read(&mut self, piece: Option<&Piece>, wants: impl Fn(&SharedEvent) -> bool) {
        self.doing = Doing::Waiting;
        let (Some(piece), Some(replay)) = (piece, self.open.front_mut()) else { return };
        let from = replay.position.max(self.began);
        let within = |event: &&SharedEvent| event.entry.sequence <= replay.through;
        self.events =
            piece.events_after(from).take_while(within).filter(|event| wants(event)).cloned().collect();
        if self.events.is_empty() {
            // A piece that went up to the head holds all there is.
            replay.position = if piece.reached.is_some() { replay.through } else { piece.upto };
        }
    }

    /// An attempt is done; tells how far the replay has come.
    pub(crate) fn knocked(&mut self, succeeded: bool) -> Option<ReplayStep> {
        self.doing = Doing::Waiting;
        let replay = self.open.front_mut()?;
        if succeeded {
            replay.delivered += 1;
        } else {
            replay.failed += 1;
        }
        if replay.kind == ReplayKind::Test {
            return self.close();
        }
        if let Some(event) = self.events.pop_front() {
            replay.position = replay.position.max(event.entry.sequence);
        }
        Some(step(replay, false))
    }

    fn close(&mut self) -> Option<ReplayStep> {
        self.events.clear();
        let replay = self.open.pop_front()?;
        self.done_upto = self.done_upto.max(replay.number);
        Some(step(&replay, true))
    }
}

fn step(replay: &Replay, is_done: bool) -> ReplayStep {
    let Replay { number, position, delivered, failed, .. } = *replay;
    ReplayStep { number, position, delivered, failed, is_done }
}

impl Core {
    pub(super) fn start_replay(&mut self, webhook: WebhookId) -> bool {
        let Some(state) = self.hooks.get_mut(&webhook) else { return false };
        if state.in_flight >= state.slots(self.settings.in_flight_per_webhook_max) {
            return false;
        }
        match state.replaying.next() {
            None => false,
            Some(Step::Knock(event)) => {
                self.fly(webhook, Path::Replay { number: 1 }, Job::LogEvent(event));
                true
            }
            Some(Step::Test(replay)) => {
                let job = Job::Test { number: replay.number, at: replay.requested_at };
                self.fly(webhook, Path::Replay { number: 1 }, job);
                true
            }
            Some(Step::Done(step)) => {
                state.pending().replays.push(step);
                self.dirty.insert(webhook);
                true
            }
            Some(Step::Read { after }) => {
                self.ask_for_replay(webhook, after);
                true
            }
        }
    }

    fn ask_for_replay(&mut self, webhook: WebhookId, after: u64) {
        let Some(state) = self.hooks.get_mut(&webhook) else { return };
        let Some(feed) = self.feeds.get_mut(&state.feed) else { return };
        match feed.ask(webhook, after) {
            Ask::Have(piece) => {
                let kinds = state.kinds;
                state.replaying.read(Some(&piece), |event| kinds.contains(event.entry.kind));
            }
            Ask::Wait { is_new: true } => {
                let (feed, serial) = (state.feed.clone(), feed.serial);
                self.out.push(Command::ReadTail { feed, after, serial, rows_max: PIECE_ROWS });
            }
            Ask::Wait { is_new: false } => {}
        }
    }

    pub(super) fn replay_read(&mut self, webhook: WebhookId, after: u64, piece_came: bool) {
        let Some(state) = self.hooks.get_mut(&webhook) else { return };
        let Some(feed) = self.feeds.get_mut(&state.feed) else { return };
        let kinds = state.kinds;
        let wants = |event: &SharedEvent| kinds.contains(event.entry.kind);
        match feed.piece_after(after).filter(|_| piece_came) {
            Some(piece) => state.replaying.read(Some(&piece), wants),
            None => state.replaying.read(None, wants),
        }
    }

    pub(super) fn replayed(
        &mut self,
        webhook: WebhookId,
        number: u32,
        is_current: bool,
        job: &Job,
        judged: &Judged,
        spent: AttemptTiming,
    ) {
        let now = self.now.wall;
        let Some(state) = self.hooks.get_mut(&webhook) else { return };
        let purpose = match job {
            Job::LogEvent(event) => AttemptPurpose::Replay { sequence: event.entry.sequence },
            Job::Handshake { .. } | Job::Test { .. } => AttemptPurpose::Test,
        };
        state.pending().attempts.push(attempt(purpose, number, now, judged, spent));
        if is_current {
            let step = state.replaying.knocked(judged.succeeded);
            state.pending().replays.extend(step);
        }
    }
}
