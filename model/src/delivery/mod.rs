//! Cursor and lanes: one webhook, a log of a few events over two records, and one node that may crash between any two steps.
//! The time is left out: whatever is due at some time may happen at any time.

mod node;
mod owner;
mod steps;
mod store;
#[cfg(test)]
mod tests;

use crate::bits::Bits;
use crate::checker::Model;
pub use node::{Lane, LaneActivity, Node};
pub use steps::{Action, Answer};
pub use store::{Checkpoint, Stored};

pub const RECORDS: u8 = 2;
/// With this many parked records, or failures in a row, the breaker opens.
const LANES_MAX: usize = 2;
const FAILURES_IN_A_ROW_MAX: u8 = 2;

pub const NOTHING_LOST: &str =
    "an event that the webhook is entitled to is delivered, after the cursor, or in a lane";
pub const IN_ORDER: &str = "a record's events are first delivered in order";
pub const DROPPED_STAYS_DROPPED: &str =
    "an event from before the owner enabled the webhook again is not sent by a node that knows of it";

/// A rule that an action has broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Broken {
    Order,
    Dropped,
}

/// What the model has of the engine's rules 1, 2 and 5.
#[derive(Clone, Copy, Debug)]
pub struct DeliveryModel {
    pub events_max: u8,
    /// How often the owner disables or enables the webhook.
    pub owner_changes_max: u8,
    pub fault: Option<Fault>,
}

/// A fault that is planted into the model, and that a check must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The cursor is written first, and the lanes in a transaction of their own.
    CursorBeforeLanes,
    /// The cursor moves with what was read, not with what is delivered or parked.
    CursorFollowsReads,
    /// A time-out counts as delivered.
    NoAnswerIsSuccess,
    /// Later events of a parked record are sent.
    LaneHoldsNothingBack,
    /// Two events of a record are in flight together.
    RecordsOverlap,
    /// A read that finds nothing ends a lane, although events were left to the lane since the read began.
    LaneForgetsDeferred,
    /// A lane that is parked again stays among those that the next checkpoint deletes.
    LaneStaysCleared,
    /// A lane stays when nothing is left for it.
    LaneNeverEnds,
    /// Nothing probes the parked lanes while the breaker is open.
    BreakerStopsProbes,
    /// Enabling an active webhook moves its cursor to the head.
    EnableMovesActiveCursor,
    /// A webhook that the service disabled resumes at the head.
    ServiceResumesAtHead,
    /// The owner's disabling keeps the lanes.
    OwnerDisableKeepsLanes,
    /// A checkpoint from before the owner's change is written.
    RevisionNotChecked,
    /// A checkpoint that a crashed node had sent is written after its successor has taken over.
    FenceNotChecked,
    /// A checkpoint whose answer was lost may be written once more after a later one.
    RepeatedWriteComesLate,
    /// The outcome of an attempt that an earlier state of the webhook started changes the present one.
    EarlierOutcomesCount,
    /// The webhook's new state does not wait for attempts at dropped events that its earlier state left in flight.
    EarlierAttemptsForgotten,
}

impl Fault {
    pub const ALL: [Self; 17] = [
        Self::CursorBeforeLanes,
        Self::CursorFollowsReads,
        Self::NoAnswerIsSuccess,
        Self::LaneHoldsNothingBack,
        Self::RecordsOverlap,
        Self::LaneForgetsDeferred,
        Self::LaneStaysCleared,
        Self::LaneNeverEnds,
        Self::BreakerStopsProbes,
        Self::EnableMovesActiveCursor,
        Self::ServiceResumesAtHead,
        Self::OwnerDisableKeepsLanes,
        Self::RevisionNotChecked,
        Self::FenceNotChecked,
        Self::RepeatedWriteComesLate,
        Self::EarlierOutcomesCount,
        Self::EarlierAttemptsForgotten,
    ];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct World {
    pub log: Log,
    pub store: Stored,
    /// None: crashed.
    pub node: Option<Node>,
    /// Attempts in flight that an earlier state of the webhook, or a node that crashed, started.
    pub earlier: Bits,
    /// Of `earlier`: came from the lane of their record.
    pub earlier_from_lane: Bits,
    pub receiver: Receiver,
    pub owner_changes: u8,
    /// A checkpoint that a fault lets the store write later.
    pub late: Option<Checkpoint>,
}

/// Events have the sequences 1, 2, … and belong to record 0 or 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Log {
    pub head: u8,
    /// The events of record 1.
    of_second: Bits,
}

impl Log {
    pub fn record_of(self, sequence: u8) -> u8 {
        u8::from(self.of_second.contains(sequence))
    }

    pub fn append(&mut self, record: u8) {
        self.head += 1;
        if record == 1 {
            self.of_second.insert(self.head);
        }
    }

    /// The record's events from `from` up to `upto`.
    pub fn events(self, record: u8, from: u8, upto: u8) -> Bits {
        (from..=upto.min(self.head)).filter(|sequence| self.record_of(*sequence) == record).collect()
    }
}

/// What the receiver has got, and what it does not have to get.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Receiver {
    pub taken: Bits,
    /// Events from before the owner enabled the webhook again.
    pub dropped: Bits,
    pub broken: Option<Broken>,
}

impl Receiver {
    fn take(&mut self, log: Log, sequence: u8) {
        let record = log.record_of(sequence);
        let mut earlier = log.events(record, 1, sequence - 1).iter();
        let is_due = |event: &u8| !self.taken.contains(*event) && !self.dropped.contains(*event);
        let comes_late =
            log.events(record, sequence + 1, log.head).iter().any(|one| self.taken.contains(one));
        if earlier.any(|event| is_due(&event)) || (comes_late && !self.taken.contains(sequence)) {
            self.broken = Some(Broken::Order);
        }
        self.taken.insert(sequence);
    }
}

impl DeliveryModel {
    pub fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }
}

impl Model for DeliveryModel {
    type State = World;
    type Action = Action;

    fn initial_state(&self) -> World {
        let store = Stored { enabled: true, ..Stored::default() };
        World {
            log: Log::default(),
            store,
            node: Some(Node::load(&store)),
            earlier: Bits::default(),
            earlier_from_lane: Bits::default(),
            receiver: Receiver::default(),
            owner_changes: 0,
            late: None,
        }
    }

    fn steps(&self, world: &World, steps: &mut Vec<(Action, World)>) {
        self.add_steps(world, steps);
    }

    fn broken_rule(&self, world: &World) -> Option<&'static str> {
        let World { log, store, receiver, .. } = world;
        let is_lost = |sequence: u8| {
            let lane = store.lanes[usize::from(log.record_of(sequence))];
            let waits = sequence > store.cursor || (lane != 0 && lane <= sequence);
            !waits && !receiver.taken.contains(sequence) && !receiver.dropped.contains(sequence)
        };
        let is_any_lost = store.enabled && (1..=log.head).any(is_lost);
        match receiver.broken {
            Some(Broken::Order) => Some(IN_ORDER),
            Some(Broken::Dropped) => Some(DROPPED_STAYS_DROPPED),
            None => is_any_lost.then_some(NOTHING_LOST),
        }
    }

    /// Everything is delivered and written, and no lane is left. A webhook that is disabled for good is settled too.
    fn is_settled(&self, world: &World) -> bool {
        let World { log, store, receiver, .. } = world;
        if !store.is_active() {
            return world.owner_changes == self.owner_changes_max;
        }
        let is_node_settled = world.node.is_some_and(|node| node.is_idle() && node.lanes == [None; 2]);
        let is_delivered =
            receiver.taken.union(receiver.dropped).union(Bits::upto(0)) == Bits::upto(log.head);
        is_node_settled && is_delivered && store.cursor == log.head && store.lanes == [0; 2]
    }

    fn is_progress(&self, action: &Action) -> bool {
        action.is_progress()
    }
}
