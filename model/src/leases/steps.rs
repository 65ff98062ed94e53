//! The actions of the model, and when each is possible.

use super::database::Holder;
use super::node::{Attempt, Fence, Node, Renewal};
use super::{Fault, LEASE, LeaseModel, TIMEOUT, World};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action<const NODES: usize> {
    /// Time passes, for each node as its pace says.
    Tick([Pace; NODES]),
    SendRenewal(u8),
    /// The database executes the renewal; `asks`: the node also asks for the shard.
    ExecuteRenewal {
        node: u8,
        asks: bool,
    },
    RenewalAnswered(u8),
    /// The renewal, or its answer, is lost.
    RenewalLost(u8),
    /// The node no longer waits for its renewal; the database may still execute it.
    AbandonRenewal(u8),
    ExecuteLateRenewal(u8),
    /// The node looks at its lease and decides to start an attempt; then it sends it.
    Decide(u8),
    Send(u8),
    Finish(u8),
    Give(u8),
    SendCheckpoint(u8),
    WriteCheckpoint(u8),
    Crash(u8),
    Stop(u8),
    /// The orderly stop ends: attempts are abandoned, the shard is released.
    Release(u8),
    Start(u8),
}

/// How a tick passes for a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    InTime,
    /// Its clock goes on, and it does not get to send or to end an attempt.
    Paused,
    /// Its clock stands still.
    SlowClock,
}

impl<const NODES: usize> Action<NODES> {
    pub(super) fn is_progress(&self) -> bool {
        match self {
            Self::Tick(paces) => paces.iter().all(|pace| *pace == Pace::InTime),
            Self::RenewalLost(_)
            | Self::AbandonRenewal(_)
            | Self::Crash(_)
            | Self::Stop(_)
            | Self::Start(_) => false,
            _ => true,
        }
    }
}

type Steps<const NODES: usize> = Vec<(Action<NODES>, World<NODES>)>;

impl<const NODES: usize> LeaseModel<NODES> {
    pub(super) fn add_steps(&self, world: &World<NODES>, steps: &mut Steps<NODES>) {
        self.add_ticks(world, [Pace::InTime; NODES], 0, steps);
        for (number, node) in (0u8..).zip(&world.nodes) {
            self.add_renewal_steps(world, number, node, steps);
            self.add_delivery_steps(world, number, node, steps);
            self.add_process_steps(world, number, node, steps);
        }
    }

    /// A tick for every choice of paces.
    fn add_ticks(
        &self,
        world: &World<NODES>,
        mut paces: [Pace; NODES],
        from: usize,
        steps: &mut Steps<NODES>,
    ) {
        if from == NODES {
            return self.add_tick(world, paces, steps);
        }
        let node = &world.nodes[from];
        for pace in [Pace::InTime, Pace::Paused, Pace::SlowClock] {
            let is_late = pace != Pace::InTime;
            // Lateness matters only to a node that sends, or may send under its lease.
            let matters = node.is_running && (node.lease_left > 0 || node.renewal != Renewal::None);
            let lag = node.lag.max(renewal_lag(node));
            if is_late && (!matters || self.lag_max.is_some_and(|lag_max| lag >= lag_max)) {
                continue;
            }
            let waits = match node.attempt {
                Attempt::None => false,
                Attempt::Decided => true,
                Attempt::Sent { left } => left == 0,
            };
            // A node in time sends at once and ends an attempt at its time-out; one whose clock stands still may not know.
            let is_possible = match pace {
                Pace::InTime => !waits || !node.is_running,
                Pace::Paused => waits,
                Pace::SlowClock => true,
            };
            if is_possible {
                paces[from] = pace;
                self.add_ticks(world, paces, from + 1, steps);
            }
        }
    }

    fn add_tick(&self, world: &World<NODES>, paces: [Pace; NODES], steps: &mut Steps<NODES>) {
        let mut next = *world;
        next.database.left = next.database.left.saturating_sub(1);
        if !self.has(Fault::AsksNeverEnd) {
            next.database.ask_left = next.database.ask_left.saturating_sub(1);
        }
        if next.database.ask_left == 0 {
            next.database.asked_by = None;
        }
        for (node, pace) in next.nodes.iter_mut().zip(paces) {
            tick_node(node, pace);
            node.normalize(self);
        }
        steps.push((Action::Tick(paces), next));
    }

    fn add_renewal_steps(&self, world: &World<NODES>, number: u8, node: &Node, steps: &mut Steps<NODES>) {
        let mut add = |action, change: &dyn Fn(&mut World<NODES>, &mut Node)| {
            steps.push((action, self.with_node(world, number, change)));
        };
        if let Some(gives) = node.late_renewal {
            add(Action::ExecuteLateRenewal(number), &|next, node| {
                node.late_renewal = None;
                next.nodes[usize::from(number)] = *node;
                self.execute_late(next, number, gives);
                *node = next.nodes[usize::from(number)];
            });
        }
        if !node.is_running {
            return;
        }
        match node.renewal {
            Renewal::None if !node.is_stopping => {
                add(Action::SendRenewal(number), &|_, node| node.send_renewal());
            }
            Renewal::None => {}
            Renewal::Sent { gives, .. } => {
                for asks in [false, true].into_iter().filter(|asks| self.is_sharing || !asks) {
                    add(Action::ExecuteRenewal { node: number, asks }, &|next, node| {
                        let renewed = self.renew(next, number, gives, asks);
                        *node = next.nodes[usize::from(number)];
                        node.renewal_executed(renewed);
                    });
                }
                add(Action::RenewalLost(number), &|_, node| node.renewal = Renewal::None);
                // One that gives is waited for: the node may use the shard again after the next renewal.
                let is_abandoned = self.has_late_renewals && (!gives || self.has(Fault::GiveComesLate));
                if is_abandoned && node.late_renewal.is_none() {
                    add(Action::AbandonRenewal(number), &|_, node| {
                        node.late_renewal = Some(gives);
                        node.renewal = Renewal::None;
                    });
                }
            }
            Renewal::Answered { .. } => {
                add(Action::RenewalAnswered(number), &|_, node| node.renewed(self));
                add(Action::RenewalLost(number), &|_, node| node.renewal = Renewal::None);
            }
        }
    }

    fn add_delivery_steps(&self, world: &World<NODES>, number: u8, node: &Node, steps: &mut Steps<NODES>) {
        let mut add = |action, change: &dyn Fn(&mut World<NODES>, &mut Node)| {
            steps.push((action, self.with_node(world, number, change)));
        };
        if node.can_start(self) {
            add(Action::Decide(number), &|_, node| node.attempt = Attempt::Decided);
        }
        match node.attempt {
            Attempt::Decided => {
                add(Action::Send(number), &|_, node| node.attempt = Attempt::Sent { left: TIMEOUT });
            }
            Attempt::Sent { .. } if node.is_running => add(Action::Finish(number), &|_, node| {
                node.attempt = Attempt::None;
                node.has_progress = self.has_checkpoints && node.fence.is_some();
            }),
            _ => {}
        }
        if node.can_give(self) {
            add(Action::Give(number), &|_, node| {
                (node.is_giving, node.is_given, node.fence) = (false, true, None);
            });
        }
        if node.has_progress && node.checkpoint.is_none() && node.fence.is_some() {
            add(Action::SendCheckpoint(number), &|_, node| {
                (node.has_progress, node.checkpoint) = (false, node.fence);
            });
        }
        if let Some(fence) = node.checkpoint {
            add(Action::WriteCheckpoint(number), &|next, node| {
                node.checkpoint = None;
                if fence == Fence::Current || self.has(Fault::FenceNotChecked) {
                    let is_own = next.database.last_acquirer == Holder::Node(number) || !node.is_running;
                    next.is_overwritten |= !is_own;
                } else {
                    // Another node holds the shard now.
                    (node.fence, node.has_progress) = (None, false);
                }
            });
        }
    }

    fn add_process_steps(&self, world: &World<NODES>, number: u8, node: &Node, steps: &mut Steps<NODES>) {
        let mut add = |action, change: &dyn Fn(&mut World<NODES>, &mut Node)| {
            steps.push((action, self.with_node(world, number, change)));
        };
        if !node.is_running {
            let is_over = node.attempt == Attempt::None && node.late_renewal.is_none();
            if self.is_restarting && is_over && node.checkpoint.is_none() {
                add(Action::Start(number), &|_, node| *node = Node::STARTED);
            }
            return;
        }
        add(Action::Crash(number), &|next, node| {
            node.end(true);
            let gone = |holder: &mut Holder| {
                if *holder == Holder::Node(number) {
                    *holder = Holder::Gone;
                }
            };
            gone(&mut next.database.holder);
            gone(&mut next.database.last_acquirer);
        });
        if self.is_restarting && !node.is_stopping {
            add(Action::Stop(number), &|_, node| node.is_stopping = true);
        }
        // A renewal under way ends first: it could lease the shard again after its release.
        if node.is_stopping && node.renewal == Renewal::None {
            add(Action::Release(number), &|next, node| {
                next.database.release(number);
                node.end(self.has(Fault::ReleasesBeforeAttemptsEnd));
            });
        }
    }

    /// A renewal of a node that no longer waits for it, or that has ended.
    fn execute_late(&self, world: &mut World<NODES>, number: u8, gives: bool) {
        if world.nodes[usize::from(number)].is_running {
            self.renew(world, number, gives, false);
        } else if world.database.holder == Holder::Gone {
            world.database.left = LEASE;
        }
    }

    fn with_node(
        &self,
        world: &World<NODES>,
        number: u8,
        change: &dyn Fn(&mut World<NODES>, &mut Node),
    ) -> World<NODES> {
        let mut next = *world;
        let mut node = next.nodes[usize::from(number)];
        change(&mut next, &mut node);
        node.normalize(self);
        next.nodes[usize::from(number)] = node;
        next
    }
}

fn renewal_lag(node: &Node) -> u8 {
    match node.renewal {
        Renewal::None => 0,
        Renewal::Sent { lag, .. } | Renewal::Answered { lag, .. } => lag,
    }
}

fn tick_node(node: &mut Node, pace: Pace) {
    let is_late = u8::from(pace != Pace::InTime);
    let passed = u8::from(pace != Pace::SlowClock);
    node.lag += is_late;
    node.lease_left = node.lease_left.saturating_sub(passed);
    if let Renewal::Sent { age, lag, .. } | Renewal::Answered { age, lag, .. } = &mut node.renewal {
        *lag += is_late;
        *age = (*age + passed).min(LEASE);
    }
    match &mut node.attempt {
        Attempt::Sent { left: 0 } if !node.is_running => node.attempt = Attempt::None,
        Attempt::Sent { left } => *left = left.saturating_sub(passed),
        Attempt::None | Attempt::Decided => {}
    }
}
