//! What a node knows about its lease, and what it has under way.

use super::database::Renewed;
use super::{Fault, LEASE, LeaseModel};

#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    pub is_running: bool,
    /// Ticks until its lease ends, by its own clock.
    pub lease_left: u8,
    /// By how many ticks it has been late since it sent the renewal that it counts the lease from.
    pub lag: u8,
    /// It delivers the shard's webhooks; whether the fence that it has learned is still the shard's.
    pub fence: Option<Fence>,
    /// Another node asks for the shard: nothing starts.
    pub is_giving: bool,
    /// The shard is given up; the next renewal gives it.
    pub is_given: bool,
    pub is_stopping: bool,
    pub attempt: Attempt,
    pub renewal: Renewal,
    /// A renewal that the node no longer waits for, and that the database may still execute; whether it gives.
    pub late_renewal: Option<bool>,
    /// Progress that is not sent to the store yet.
    pub has_progress: bool,
    /// A checkpoint on its way to the store, with its fence.
    pub checkpoint: Option<Fence>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fence {
    Current,
    Old,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Attempt {
    None,
    /// The node has looked at its lease, and has sent nothing yet.
    Decided,
    /// Ticks until its time-out, by the node's clock.
    Sent {
        left: u8,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Renewal {
    None,
    /// `age` and `lag`: ticks since the node sent it, by its clock, and by how many of them the node was late.
    Sent {
        age: u8,
        lag: u8,
        gives: bool,
    },
    Answered {
        age: u8,
        lag: u8,
        gave: bool,
        fence: Option<Fence>,
        is_asked: bool,
    },
}

impl Node {
    pub const STARTED: Self = Self {
        is_running: true,
        lease_left: 0,
        lag: 0,
        fence: None,
        is_giving: false,
        is_given: false,
        is_stopping: false,
        attempt: Attempt::None,
        renewal: Renewal::None,
        late_renewal: None,
        has_progress: false,
        checkpoint: None,
    };

    pub fn has_current_fence(&self) -> bool {
        self.fence == Some(Fence::Current)
    }

    pub(super) fn outdate_fence(&mut self) {
        let outdate = |fence: &mut Option<Fence>| *fence = fence.map(|_| Fence::Old);
        outdate(&mut self.fence);
        outdate(&mut self.checkpoint);
        if let Renewal::Answered { fence, .. } = &mut self.renewal {
            outdate(fence);
        }
    }

    pub(super) fn can_start<const NODES: usize>(&self, model: &LeaseModel<NODES>) -> bool {
        let is_serving = self.is_running && self.fence.is_some() && !self.is_giving && !self.is_stopping;
        is_serving && self.attempt == Attempt::None && self.lease_left > model.needed_to_start()
    }

    pub(super) fn send_renewal(&mut self) {
        self.renewal = Renewal::Sent { age: 0, lag: 0, gives: self.is_given };
    }

    /// The database has executed the renewal.
    pub(super) fn renewal_executed(&mut self, renewed: Renewed) {
        if let Renewal::Sent { age, lag, gives } = self.renewal {
            let fence = renewed.is_held.then_some(Fence::Current);
            self.renewal = Renewal::Answered { age, lag, gave: gives, fence, is_asked: renewed.is_asked };
        }
    }

    /// The answer to the renewal arrives.
    pub(super) fn renewed<const NODES: usize>(&mut self, model: &LeaseModel<NODES>) {
        let Renewal::Answered { age, lag, gave, fence, is_asked } = self.renewal else { return };
        self.renewal = Renewal::None;
        if model.has(Fault::CountsFromAnswer) {
            (self.lease_left, self.lag) = (LEASE, 0);
        } else {
            (self.lease_left, self.lag) = (LEASE.saturating_sub(age), lag);
        }
        self.is_given &= !gave;
        let is_usable = !self.is_given || model.has(Fault::EarlierRenewalReturnsShard);
        self.fence = fence.filter(|_| is_usable);
        self.is_giving = is_asked && is_usable;
    }

    /// Gives the shard up, where another node asks for it and nothing is under way in it.
    pub(super) fn can_give<const NODES: usize>(&self, model: &LeaseModel<NODES>) -> bool {
        let is_idle = self.attempt == Attempt::None || model.has(Fault::GivesWhileBusy);
        self.is_running && self.is_giving && is_idle && !self.has_progress && self.checkpoint.is_none()
    }

    /// The process ends: what it has sent remains.
    pub(super) fn end(&mut self, keeps_attempt: bool) {
        let attempt = match self.attempt {
            sent @ Attempt::Sent { .. } if keeps_attempt => sent,
            _ => Attempt::None,
        };
        let late_renewal = match self.renewal {
            Renewal::Sent { gives, .. } => Some(gives),
            _ => self.late_renewal,
        };
        let checkpoint = self.checkpoint;
        *self = Self { is_running: false, attempt, late_renewal, checkpoint, ..Self::STARTED };
    }

    /// Forgets numbers that no longer matter, so that fewer states differ: nothing can start under this lease, or under the
    /// one that the renewal brings.
    pub(super) fn normalize<const NODES: usize>(&mut self, model: &LeaseModel<NODES>) {
        let needed = model.needed_to_start();
        if self.lease_left <= needed {
            self.lease_left = 0;
        }
        let is_over = self.lease_left == 0 && self.attempt == Attempt::None;
        if is_over || model.lag_max.is_none() {
            self.lag = 0;
        }
        if let Renewal::Sent { age, lag, .. } | Renewal::Answered { age, lag, .. } = &mut self.renewal {
            if *age >= LEASE - needed && !model.has(Fault::CountsFromAnswer) {
                *age = LEASE;
            }
            if (is_over && *age == LEASE) || model.lag_max.is_none() {
                *lag = 0;
            }
        }
    }
}
