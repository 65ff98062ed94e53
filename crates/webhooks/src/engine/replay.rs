//! Deliveries that somebody asked for again, and test events: one at a time, outside the order and the counting of
//! failures, and only of what the webhook was ever entitled to.

use std::collections::VecDeque;

use store::{Replay, ReplayKind, ReplayStep};

use super::SharedEvent;
use super::feed::Piece;

#[derive(Debug, Default)]
pub(crate) struct Replaying {
    /// The first is under way.
    open: VecDeque<Replay>,
    /// Nothing up to here was ever meant for the webhook.
    began: u64,
    events: VecDeque<SharedEvent>,
    doing: Doing,
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
            if self.open.iter().all(|known| known.number != replay.number) {
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
        if replay.position >= replay.upto {
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
        let within = |event: &&SharedEvent| event.entry.sequence <= replay.upto;
        self.events =
            piece.events_after(from).take_while(within).filter(|event| wants(event)).cloned().collect();
        if self.events.is_empty() {
            // A piece that went up to the head holds all there is.
            replay.position = if piece.reached.is_some() { replay.upto } else { piece.upto };
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
        self.open.pop_front().map(|replay| step(&replay, true))
    }
}

fn step(replay: &Replay, is_done: bool) -> ReplayStep {
    let Replay { number, position, delivered, failed, .. } = *replay;
    ReplayStep { number, position, delivered, failed, is_done }
}
