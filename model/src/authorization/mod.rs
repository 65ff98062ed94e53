//! Access and its end: one webhook, two nodes, the three grounds that access rests on, and changes of them that nodes learn
//! of late. Cursor and lanes are one set of delivered events here; [`delivery`](crate::delivery) has them in detail.

mod node;
mod steps;
mod store;
#[cfg(test)]
mod tests;

use crate::bits::Bits;
use crate::checker::Model;
pub use node::{Answer, Known, Node, Reading, Source};
pub use steps::Action;
pub use store::{Change, Ground, Status, Stored};

pub const NODES: u8 = 2;
/// For how many ticks a node relies on what it has read.
const BOUND: u8 = 1;
/// Suspended for this many ticks, a webhook is disabled by the service.
const RETENTION: u8 = 2;

pub const NOTHING_WITHOUT_ACCESS: &str = "nothing is sent without access: at once on the node that the end came through, after the bound on others";
pub const NOTHING_LOST: &str = "an event that the store counts as delivered was delivered";
pub const KEPT_FOR_LATER: &str = "an event from the time without access waits until access stands again";
pub const IN_ORDER: &str = "a record's events are first delivered in order, whatever happened to access";
pub const ENDED_FOR_GOOD: &str = "nothing is sent to a webhook that was ended";
pub const DISABLED_BY_OWNER: &str =
    "nothing is sent while the owner has disabled the webhook, nor an event from that time later";
pub const DISABLED_WITHOUT_ACCESS_ONLY: &str = "a webhook with access is not disabled for the lack of it";

/// A rule that an action has broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Broken {
    Access,
    Order,
    Ended,
    Disabled,
    DisabledWithAccess,
}

/// What the model has of "Access, and when it ends".
#[derive(Clone, Copy, Debug)]
pub struct AuthorizationModel {
    /// The grounds that end and stand again.
    pub grounds: &'static [Ground],
    /// How often one of them does.
    pub access_changes_max: u8,
    pub events_max: u8,
    /// How often the owner disables, enables or ends the webhook.
    pub owner_changes_max: u8,
    /// Whether the webhook moves from node to node.
    pub is_moving: bool,
    /// Whether the service disables a webhook that is suspended for long.
    pub is_disabling: bool,
    pub fault: Option<Fault>,
}

/// A fault that is planted into the model, and that a check must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// What was decided is sent without another look at access.
    NotCheckedAgain,
    /// A node relies on what it knows, however old that is.
    OldKnowledgeIsUsed,
    /// The age of what a node has read counts from the answer to the read.
    AgeCountsFromAnswer,
    /// The node that a change came through learns of it as the others do, after the answer.
    AnsweredFirst,
    /// The answer to a read from before a change counts, although the node knows of the change.
    EarlierReadCounts,
    /// A node that has started takes for granted that no owner is suspended.
    StartsBeforeOwnersAreRead,
    /// After a change, one of the two reads is enough to go on.
    OneReadIsEnough,
    /// A suspended tenant counts only while its application is suspended too.
    TenantOverlooked,
    /// A node that takes the webhook over relies on whether it is stored as suspended.
    StoredSuspensionIsEnough,
    /// What may not be sent any more counts as delivered.
    RefusedCountsAsDelivered,
    /// An attempt that fails while the webhook is suspended is not repeated.
    FailureForgottenInSuspension,
    /// What was decided counts as delivered when the webhook moves.
    DecidedCountsWhenGiven,
    /// A webhook that was disabled for the lack of access resumes at the head.
    ServiceResumesAtHead,
    /// When access stands again, the webhook resumes at the head.
    ResumesAtHead,
    /// A suspended webhook passes over what is committed meanwhile.
    EventsPassedInSuspension,
    /// Events from the time without access are sent together.
    BacklogIsSentTogether,
    /// An event that waits to be sent does not hold back the later ones of its record.
    DecidedHoldsNothingBack,
    /// A node does not take over that the webhook was ended.
    EndIsNotTakenOver,
    /// Granting access makes the owner's webhooks active, ended ones too.
    GrantRevivesEnded,
    EnableRevivesEnded,
    /// A webhook that its owner had disabled resumes with the first event that is not delivered.
    EnableKeepsCursor,
    /// The same, for a webhook that is suspended when it is enabled.
    EnableKeepsCursorInSuspension,
    /// The time of a suspension goes on when access stands again.
    SuspensionTimeGoesOn,
    /// A suspended webhook stays suspended when access stands again.
    SuspensionStays,
    /// A read whose answer comes too late is not repeated.
    LateReadIsNotRepeated,
}

impl Fault {
    pub const ALL: [Self; 25] = [
        Self::NotCheckedAgain,
        Self::OldKnowledgeIsUsed,
        Self::AgeCountsFromAnswer,
        Self::AnsweredFirst,
        Self::EarlierReadCounts,
        Self::StartsBeforeOwnersAreRead,
        Self::OneReadIsEnough,
        Self::TenantOverlooked,
        Self::StoredSuspensionIsEnough,
        Self::RefusedCountsAsDelivered,
        Self::FailureForgottenInSuspension,
        Self::DecidedCountsWhenGiven,
        Self::ServiceResumesAtHead,
        Self::ResumesAtHead,
        Self::EventsPassedInSuspension,
        Self::BacklogIsSentTogether,
        Self::DecidedHoldsNothingBack,
        Self::EndIsNotTakenOver,
        Self::GrantRevivesEnded,
        Self::EnableRevivesEnded,
        Self::EnableKeepsCursor,
        Self::EnableKeepsCursorInSuspension,
        Self::SuspensionTimeGoesOn,
        Self::SuspensionStays,
        Self::LateReadIsNotRepeated,
    ];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct World {
    pub store: Stored,
    pub log: Log,
    pub nodes: [Node; NODES as usize],
    /// Attempts in flight that a node that crashed, or an earlier state of the webhook, started.
    pub earlier: Bits,
    pub receiver: Receiver,
    pub access_changes: u8,
    pub owner_changes: u8,
}

/// Events have the sequences 1, 2, … and belong to record 0 or 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Log {
    pub head: u8,
    /// The events of record 1.
    of_second: Bits,
    /// The events that were committed while access did not stand.
    pub without_access: Bits,
}

impl Log {
    fn append(&mut self, is_of_second: bool, has_access: bool) {
        self.head += 1;
        if is_of_second {
            self.of_second.insert(self.head);
        }
        if !has_access {
            self.without_access.insert(self.head);
        }
    }

    pub fn events(self) -> Bits {
        (1..=self.head).collect()
    }

    /// The earlier events of the same record.
    fn earlier(self, sequence: u8) -> impl Iterator<Item = u8> {
        let is_of_second = move |event: u8| self.of_second.contains(event);
        (1..sequence).filter(move |event| is_of_second(*event) == is_of_second(sequence))
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
        let settled = self.taken.union(self.dropped);
        if log.earlier(sequence).any(|event| !settled.contains(event)) && !self.dropped.contains(sequence) {
            self.broken = Some(Broken::Order);
        }
        self.taken.insert(sequence);
    }
}

impl AuthorizationModel {
    pub fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    /// Whether anything about owners can change, so that nodes have to read it.
    fn has_owners(&self) -> bool {
        self.grounds.iter().any(|ground| *ground != Ground::Authorization)
    }
}

impl Model for AuthorizationModel {
    type State = World;
    type Action = Action;

    fn initial_state(&self) -> World {
        World {
            store: Stored::new(),
            log: Log::default(),
            nodes: [Node::started(self); NODES as usize],
            earlier: Bits::default(),
            receiver: Receiver::default(),
            access_changes: 0,
            owner_changes: 0,
        }
    }

    fn steps(&self, world: &World, steps: &mut Vec<(Action, World)>) {
        self.add_steps(world, steps);
    }

    fn broken_rule(&self, world: &World) -> Option<&'static str> {
        let World { store, log, receiver, .. } = world;
        let settled = receiver.taken.union(receiver.dropped);
        let lost: Bits = store.delivered.iter().filter(|event| !settled.contains(*event)).collect();
        match receiver.broken {
            Some(Broken::Access) => Some(NOTHING_WITHOUT_ACCESS),
            Some(Broken::Order) => Some(IN_ORDER),
            Some(Broken::Ended) => Some(ENDED_FOR_GOOD),
            Some(Broken::Disabled) => Some(DISABLED_BY_OWNER),
            Some(Broken::DisabledWithAccess) => Some(DISABLED_WITHOUT_ACCESS_ONLY),
            None if lost.iter().any(|event| log.without_access.contains(event)) => Some(KEPT_FOR_LATER),
            None => (!lost.is_empty()).then_some(NOTHING_LOST),
        }
    }

    /// Everything is delivered and written, or the webhook gets nothing; and nothing is in flight.
    fn is_settled(&self, world: &World) -> bool {
        let World { store, log, receiver, .. } = world;
        let is_quiet = world.earlier.is_empty() && world.nodes.iter().all(|node| node.in_flight.is_empty());
        let is_entitled = store.status == Status::Active && store.has_access();
        let is_delivered = receiver.taken.union(receiver.dropped) == log.events();
        is_quiet && (!is_entitled || (is_delivered && store.delivered == log.events()))
    }

    fn is_progress(&self, action: &Action) -> bool {
        action.is_progress()
    }
}
