//! The actions of the model, and when each is possible.

use super::node::{LaneActivity, Node};
use super::store::write_lanes;
use super::{Broken, DeliveryModel, Fault, RECORDS, World};
use crate::bits::Bits;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A record changes.
    Append {
        record: u8,
    },
    /// The node reads the next event of the log.
    Pull,
    Send {
        sequence: u8,
    },
    Finish {
        sequence: u8,
        answer: Answer,
    },
    /// A lane's event, or a read of its record's events, starts.
    SendFromLane {
        record: u8,
    },
    ReadLane {
        record: u8,
    },
    LaneRead {
        record: u8,
    },
    FinishFromLane {
        record: u8,
        answer: Answer,
    },
    /// The last attempt of the window fails: the service disables the webhook.
    GiveUp {
        record: u8,
        is_taken: bool,
    },
    /// An attempt that an earlier state or node started ends.
    FinishEarlier {
        sequence: u8,
        is_taken: bool,
    },
    TakeCheckpoint,
    WriteCheckpoint,
    /// Only with a fault: the second transaction of a checkpoint, or one that comes late.
    WriteLanes,
    WriteLate,
    CheckpointAnswered,
    /// The node does not know whether its checkpoint was written, and sends it again.
    CheckpointAnswerLost,
    Crash,
    /// A node takes over, when the attempts of the one before have ended.
    Start,
    Disable,
    Enable,
    /// The node learns that the owner has changed the webhook, and loads it again.
    Reload,
}

/// What becomes of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Success,
    /// The receiver took the event, and its answer was lost.
    Lost,
    Refused,
}

impl Action {
    pub(super) fn is_progress(self) -> bool {
        match self {
            Self::Finish { answer, .. } | Self::FinishFromLane { answer, .. } => answer == Answer::Success,
            Self::Append { .. }
            | Self::GiveUp { .. }
            | Self::CheckpointAnswerLost
            | Self::WriteLate
            | Self::Crash
            | Self::Disable => false,
            _ => true,
        }
    }
}

type Steps = Vec<(Action, World)>;

impl DeliveryModel {
    pub(super) fn add_steps(&self, world: &World, steps: &mut Steps) {
        self.add_outside_steps(world, steps);
        if let Some(node) = &world.node {
            self.add_window_steps(world, node, steps);
            (0..RECORDS).for_each(|record| self.add_lane_steps(world, node, record, steps));
            self.add_checkpoint_steps(world, node, steps);
        }
    }

    fn add_outside_steps(&self, world: &World, steps: &mut Steps) {
        let mut add = |action, change: &dyn Fn(&mut World)| steps.push((action, after(world, change)));
        if world.log.head < self.events_max {
            // The records are alike: the first event belongs to the first one.
            for record in (0..RECORDS).filter(|record| *record == 0 || world.log.head > 0) {
                add(Action::Append { record }, &|next| next.log.append(record));
            }
        }
        if world.owner_changes < self.owner_changes_max {
            if world.store.enabled {
                add(Action::Disable, &|next| {
                    next.owner_changes += 1;
                    self.disable(next);
                });
            }
            add(Action::Enable, &|next| {
                next.owner_changes += 1;
                self.enable(next);
            });
        }
        for sequence in world.earlier.iter() {
            for is_taken in [true, false] {
                let action = Action::FinishEarlier { sequence, is_taken };
                add(action, &|next| self.finish_earlier(next, sequence, is_taken));
            }
        }
        match world.node {
            None if world.earlier.is_empty() => {
                add(Action::Start, &|next| next.node = Some(Node::load(&next.store)));
            }
            None => {}
            Some(node) => {
                add(Action::Crash, &|next| self.crash(next));
                if node.revision != world.store.revision {
                    add(Action::Reload, &|next| reload(next));
                }
            }
        }
        if world.late.is_some() {
            add(Action::WriteLate, &|next| {
                let late = next.late.take().unwrap_or_default();
                self.write(&mut next.store, &late);
            });
        }
        if let Some(checkpoint) = world.store.unwritten_lanes {
            add(Action::WriteLanes, &|next| {
                next.store.unwritten_lanes = None;
                write_lanes(&mut next.store, &checkpoint);
            });
        }
    }

    fn add_window_steps(&self, world: &World, node: &Node, steps: &mut Steps) {
        let mut add =
            |action, change: &dyn Fn(&mut World, &mut Node)| steps.push((action, with_node(world, change)));
        if node.is_active && !node.is_breaker_open && node.read_to < world.log.head {
            add(Action::Pull, &|next, node| node.pull(self, next.log));
        }
        for sequence in node.window.iter().filter(|sequence| node.can_send(self, world.log, *sequence)) {
            add(Action::Send { sequence }, &|next, node| {
                note_start(next, node, sequence);
                node.in_flight.insert(sequence);
            });
        }
        for sequence in node.in_flight.iter() {
            for answer in [Answer::Success, Answer::Lost, Answer::Refused] {
                add(Action::Finish { sequence, answer }, &|next, node| {
                    node.in_flight.remove(sequence);
                    if self.hears_success(next, sequence, answer) {
                        node.delivered(sequence);
                    } else {
                        node.park(self, next.log, sequence);
                    }
                });
            }
        }
    }

    fn add_lane_steps(&self, world: &World, node: &Node, record: u8, steps: &mut Steps) {
        let Some(lane) = node.lanes[usize::from(record)] else { return };
        let mut add =
            |action, change: &dyn Fn(&mut World, &mut Node)| steps.push((action, with_node(world, change)));
        let has_slot = !node.is_breaker_open || (node.in_flight.is_empty() && !node.is_sending_from_lane());
        let is_probing = !(node.is_breaker_open && self.has(Fault::BreakerStopsProbes));
        let set = |node: &mut Node, activity| {
            node.lane(record).iter_mut().for_each(|lane| lane.activity = activity);
        };
        match (lane.activity, lane.events.first()) {
            (LaneActivity::Waiting, first) if node.is_active && has_slot && is_probing => match first {
                Some(sequence) => add(Action::SendFromLane { record }, &|next, node| {
                    note_start(next, node, sequence);
                    set(node, LaneActivity::Sending);
                }),
                None => add(Action::ReadLane { record }, &|_, node| {
                    set(node, LaneActivity::Reading { upto: node.read_to.max(lane.sequence) });
                }),
            },
            (LaneActivity::Reading { .. }, _) => {
                add(Action::LaneRead { record }, &|next, node| node.lane_read(self, next.log, record));
            }
            (LaneActivity::Sending, Some(sequence)) => {
                for answer in [Answer::Success, Answer::Lost, Answer::Refused] {
                    add(Action::FinishFromLane { record, answer }, &|next, node| {
                        if self.hears_success(next, sequence, answer) {
                            node.lane_delivered(record);
                        } else {
                            node.lane_failed(record, false);
                        }
                    });
                }
                for is_taken in [true, false] {
                    add(Action::GiveUp { record, is_taken }, &|next, node| {
                        let answer = if is_taken { Answer::Lost } else { Answer::Refused };
                        self.hears_success(next, sequence, answer);
                        node.lane_failed(record, true);
                    });
                }
            }
            _ => {}
        }
    }

    fn add_checkpoint_steps(&self, world: &World, node: &Node, steps: &mut Steps) {
        let mut add =
            |action, change: &dyn Fn(&mut World, &mut Node)| steps.push((action, with_node(world, change)));
        match (node.writing, node.answer) {
            (None, _) if node.is_dirty() => {
                add(Action::TakeCheckpoint, &|_, node| node.take_checkpoint(self));
            }
            (Some(checkpoint), None) if world.store.unwritten_lanes.is_none() => {
                add(Action::WriteCheckpoint, &|next, node| {
                    node.answer = Some(self.write(&mut next.store, &checkpoint));
                });
            }
            (None, _) | (Some(_), None) => {}
            (Some(checkpoint), Some(is_written)) => {
                add(Action::CheckpointAnswered, &|next, node| {
                    (node.writing, node.answer) = (None, None);
                    if !is_written && node.revision == checkpoint.revision {
                        next.node = Some(*node);
                        reload(next);
                        *node = next.node.unwrap_or(*node);
                    }
                });
                add(Action::CheckpointAnswerLost, &|next, node| {
                    node.answer = None;
                    if self.has(Fault::RepeatedWriteComesLate) {
                        next.late = Some(checkpoint);
                    }
                });
            }
        }
    }

    /// Ends an attempt; returns whether the node believes that the event was delivered.
    fn hears_success(&self, world: &mut World, sequence: u8, answer: Answer) -> bool {
        if answer != Answer::Refused {
            world.receiver.take(world.log, sequence);
        }
        // An attempt that is refused at once is known to have failed, even to a node that takes silence for success.
        answer == Answer::Success || self.has(Fault::NoAnswerIsSuccess)
    }

    fn finish_earlier(&self, world: &mut World, sequence: u8, is_taken: bool) {
        world.earlier.remove(sequence);
        let was_from_lane = world.earlier_from_lane.contains(sequence);
        world.earlier_from_lane.remove(sequence);
        if is_taken {
            world.receiver.take(world.log, sequence);
        }
        let (log, earlier) = (world.log, world.earlier);
        let Some(node) = &mut world.node else { return };
        let record = log.record_of(sequence);
        if !earlier.iter().any(|other| log.record_of(other) == record) {
            node.held_records.remove(record);
        }
        if self.has(Fault::EarlierOutcomesCount) {
            match (was_from_lane, is_taken) {
                (true, true) => node.lane_delivered(record),
                (true, false) => node.lane_failed(record, false),
                (false, true) => node.delivered(sequence),
                (false, false) => node.park(self, log, sequence),
            }
        }
    }

    fn crash(&self, world: &mut World) {
        leave_attempts(world);
        let writing = world.node.take().and_then(|node| node.writing.filter(|_| node.answer.is_none()));
        if self.has(Fault::FenceNotChecked) {
            world.late = writing;
        }
    }
}

fn after(world: &World, change: &dyn Fn(&mut World)) -> World {
    let mut next = *world;
    change(&mut next);
    next
}

fn with_node(world: &World, change: &dyn Fn(&mut World, &mut Node)) -> World {
    after(world, &|next| {
        if let Some(mut node) = next.node {
            change(next, &mut node);
            next.node = Some(node);
        }
    })
}

/// A node that knows of the owner's change sends nothing from before it.
fn note_start(world: &mut World, node: &Node, sequence: u8) {
    if node.revision == world.store.revision && world.receiver.dropped.contains(sequence) {
        world.receiver.broken = Some(Broken::Dropped);
    }
}

/// The attempts of the node's present state go on without it.
fn leave_attempts(world: &mut World) {
    let Some(node) = &world.node else { return };
    let lanes = node.lanes.iter().flatten().filter(|lane| lane.activity == LaneActivity::Sending);
    let from_lanes: Bits = lanes.filter_map(|lane| lane.events.first()).collect();
    world.earlier = world.earlier.union(node.in_flight).union(from_lanes);
    world.earlier_from_lane = world.earlier_from_lane.union(from_lanes);
}

/// Replaces the webhook's state in memory by what the store has. A checkpoint under way stays under way.
fn reload(world: &mut World) {
    let Some(before) = world.node else { return };
    leave_attempts(world);
    let mut node = Node::load(&world.store);
    (node.writing, node.answer) = (before.writing, before.answer);
    let passed = world.earlier.iter().filter(|sequence| *sequence <= node.read_to);
    let records = passed.map(|sequence| world.log.record_of(sequence));
    node.held_records = records.filter(|record| node.lanes[usize::from(*record)].is_none()).collect();
    world.node = Some(node);
}
