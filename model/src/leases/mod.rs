//! Leases and fences: one shard, two or three nodes, a database whose clock decides when a lease ends, and nodes whose
//! clocks and steps may be late. Time passes in ticks; states hold the ticks that are left, so that they stay finite.

mod database;
mod node;
mod steps;
#[cfg(test)]
mod tests;

use crate::checker::Model;
pub use database::{Database, Holder};
pub use node::{Attempt, Node, Renewal};
pub use steps::{Action, Pace};

/// How long an attempt may take.
const TIMEOUT: u8 = 2;
/// An attempt starts only where the lease outlives its time-out by more than this. It also bounds how late a node may be.
const MARGIN: u8 = 1;
const LEASE: u8 = 5;
/// An ask that is not renewed for this long has ended.
const ASK_SPAN: u8 = 2;

pub const ONE_SENDER: &str = "no two nodes have attempts in flight at the same time";
pub const FORMER_HOLDER_REFUSED: &str = "a checkpoint of a former holder is refused";

/// What the model has of the engine's rule 6.
#[expect(clippy::struct_excessive_bools, reason = "each adds a part of the model")]
#[derive(Clone, Copy, Debug)]
pub struct LeaseModel<const NODES: usize> {
    /// How many ticks a node may be late within one lease, by a slow clock, a pause before it sends, or a time-out that
    /// it notices late. None: however long; then two nodes may send, and only the fence is relied on.
    pub lag_max: Option<u8>,
    /// Whether the shard is asked for and given.
    pub is_sharing: bool,
    /// Whether nodes stop in order and start again.
    pub is_restarting: bool,
    /// Whether attempts lead to checkpoints.
    pub has_checkpoints: bool,
    /// Whether nodes abandon renewals that take long, which the database may still execute.
    pub has_late_renewals: bool,
    pub fault: Option<Fault>,
}

/// A fault that is planted into the model, and that a check must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The holder counts its lease from the answer to the renewal.
    CountsFromAnswer,
    /// Attempts start while the lease lasts, however long they may take.
    StartsUntilExpiry,
    /// Attempts start where the lease outlives the time-out, without a margin.
    NoMargin,
    /// Whether a lease has ended is judged by the clock of a node that is ahead.
    ExpiryByNodesClock,
    /// A lease never ends by itself.
    LeasesNeverEnd,
    /// An ask never ends, although its node is gone.
    AsksNeverEnd,
    FenceNotChecked,
    /// The fence stays the same when a shard moves to another node.
    FenceNotRaised,
    /// A shard that another node asks for is given with attempts in flight.
    GivesWhileBusy,
    /// A shard that was given up is used again when the answer to an earlier renewal says that it is held.
    EarlierRenewalReturnsShard,
    /// A renewal that gives the shard is abandoned when it takes long, and takes effect later.
    GiveComesLate,
    /// An orderly stop releases the shard before its attempts have ended.
    ReleasesBeforeAttemptsEnd,
}

impl Fault {
    pub const ALL: [Self; 12] = [
        Self::CountsFromAnswer,
        Self::StartsUntilExpiry,
        Self::NoMargin,
        Self::ExpiryByNodesClock,
        Self::LeasesNeverEnd,
        Self::AsksNeverEnd,
        Self::FenceNotChecked,
        Self::FenceNotRaised,
        Self::GivesWhileBusy,
        Self::EarlierRenewalReturnsShard,
        Self::GiveComesLate,
        Self::ReleasesBeforeAttemptsEnd,
    ];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct World<const NODES: usize> {
    pub database: Database,
    pub nodes: [Node; NODES],
    /// The store has written a checkpoint of a node that no longer holds the shard.
    pub is_overwritten: bool,
}

impl<const NODES: usize> LeaseModel<NODES> {
    pub fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    /// An attempt starts only with more than this left of the lease.
    fn needed_to_start(&self) -> u8 {
        match self.fault {
            Some(Fault::StartsUntilExpiry) => 0,
            Some(Fault::NoMargin) => TIMEOUT,
            _ => TIMEOUT + MARGIN,
        }
    }
}

impl<const NODES: usize> Model for LeaseModel<NODES> {
    type State = World<NODES>;
    type Action = Action<NODES>;

    fn initial_state(&self) -> World<NODES> {
        World { database: Database::default(), nodes: [Node::STARTED; NODES], is_overwritten: false }
    }

    fn steps(&self, world: &World<NODES>, steps: &mut Vec<(Action<NODES>, World<NODES>)>) {
        self.add_steps(world, steps);
    }

    fn broken_rule(&self, world: &World<NODES>) -> Option<&'static str> {
        let sending = world.nodes.iter().filter(|node| matches!(node.attempt, Attempt::Sent { .. })).count();
        if sending > 1 && self.lag_max.is_some() {
            return Some(ONE_SENDER);
        }
        world.is_overwritten.then_some(FORMER_HOLDER_REFUSED)
    }

    /// A running node sends, and its checkpoints are written; or no node runs that could.
    fn is_settled(&self, world: &World<NODES>) -> bool {
        let is_sending = |node: &Node| {
            node.is_running && node.has_current_fence() && matches!(node.attempt, Attempt::Sent { .. })
        };
        let can_serve = |node: &Node| node.is_running && !node.is_stopping;
        world.nodes.iter().any(is_sending) || !world.nodes.iter().any(can_serve)
    }

    fn is_progress(&self, action: &Action<NODES>) -> bool {
        action.is_progress()
    }
}
