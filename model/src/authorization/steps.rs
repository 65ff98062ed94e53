//! The actions of the model, and when each is possible.

use super::node::{Known, Node, Source};
use super::store::note_start;
use super::{AuthorizationModel, BOUND, Broken, Fault, Ground, NODES, Status, World};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Tick,
    /// A record changes.
    Append {
        is_of_second: bool,
    },
    /// The ground ends, or stands again.
    ChangeAccess {
        ground: Ground,
        through: u8,
        is_signalled: bool,
    },
    /// The owner disables, enables or ends the webhook.
    ChangeStatus {
        status: Status,
        through: u8,
        is_signalled: bool,
    },
    /// A poll, or a read that a signal causes, is executed by the store.
    Read {
        node: u8,
        source: Source,
    },
    /// Its answer arrives.
    TakeAnswer(u8),
    Decide {
        node: u8,
        sequence: u8,
    },
    /// Another look at access, and the attempt starts.
    Send {
        node: u8,
        sequence: u8,
    },
    Finish {
        node: u8,
        sequence: u8,
        is_taken: bool,
    },
    /// An attempt that an earlier state or node started ends.
    FinishEarlier {
        sequence: u8,
        is_taken: bool,
    },
    /// The webhook has been suspended for too long.
    Disable(u8),
    Checkpoint(u8),
    /// The node gives the webhook to another, or crashes.
    Give(u8),
    Crash(u8),
    Take(u8),
}

impl Action {
    pub(super) fn is_progress(self) -> bool {
        match self {
            Self::Read { .. }
            | Self::TakeAnswer(_)
            | Self::Decide { .. }
            | Self::Send { .. }
            | Self::Checkpoint(_)
            | Self::Take(_) => true,
            Self::Finish { is_taken, .. } | Self::FinishEarlier { is_taken, .. } => is_taken,
            Self::Tick
            | Self::Append { .. }
            | Self::ChangeAccess { .. }
            | Self::ChangeStatus { .. }
            | Self::Disable(_)
            | Self::Give(_)
            | Self::Crash(_) => false,
        }
    }
}

type Steps = Vec<(Action, World)>;

impl AuthorizationModel {
    pub(super) fn add_steps(&self, world: &World, steps: &mut Steps) {
        self.add_outside_steps(world, steps);
        for node in 0..NODES {
            self.add_knowledge_steps(world, node, steps);
            if world.store.holder == Some(node) {
                self.add_delivery_steps(world, node, steps);
                self.add_holder_steps(world, node, steps);
            }
        }
        if world.store.holder.is_none() && world.earlier.is_empty() {
            for node in 0..NODES {
                steps.push((Action::Take(node), after(world, &|next| self.take(next, node))));
            }
        }
    }

    /// Time, changes of records, of access and of the webhook, and what is in flight without a node.
    fn add_outside_steps(&self, world: &World, steps: &mut Steps) {
        let mut add = |action, change: &dyn Fn(&mut World)| steps.push((action, after(world, change)));
        add(Action::Tick, &|next| {
            next.store.tick(self);
            next.nodes.iter_mut().for_each(|node| node.tick(self));
        });
        if world.log.head < self.events_max {
            // The two records are alike: the first event belongs to the first one.
            for is_of_second in [false, true].into_iter().filter(|second| world.log.head > 0 || !second) {
                add(Action::Append { is_of_second }, &|next| self.append(next, is_of_second));
            }
        }
        for (through, is_signalled) in [(0, true), (0, false), (1, true), (1, false)] {
            let is_left = world.access_changes < self.access_changes_max;
            for ground in self.grounds.iter().copied().filter(|_| is_left) {
                add(Action::ChangeAccess { ground, through, is_signalled }, &|next| {
                    self.change_access(next, ground, through, is_signalled);
                });
            }
            for status in self.possible_statuses(world) {
                add(Action::ChangeStatus { status, through, is_signalled }, &|next| {
                    self.change_status(next, status, through, is_signalled);
                });
            }
        }
        for sequence in world.earlier.iter() {
            for is_taken in [true, false] {
                add(Action::FinishEarlier { sequence, is_taken }, &|next| {
                    next.earlier.remove(sequence);
                    if is_taken {
                        next.receiver.take(next.log, sequence);
                    }
                });
            }
        }
    }

    /// What the owner may make of the webhook.
    fn possible_statuses(&self, world: &World) -> impl Iterator<Item = Status> {
        let present = world.store.status;
        let is_final = present == Status::Ended && !self.has(Fault::EnableRevivesEnded);
        let is_possible = world.owner_changes < self.owner_changes_max && !is_final;
        let all = [Status::Active, Status::DisabledByOwner, Status::Ended];
        all.into_iter().filter(move |status| is_possible && *status != present)
    }

    fn append(&self, world: &mut World, is_of_second: bool) {
        world.log.append(is_of_second, world.store.has_access());
        let sequence = world.log.head;
        for node in &mut world.nodes {
            if node.suspended.is_some() && self.has(Fault::EventsPassedInSuspension) {
                node.delivered.insert(sequence);
            }
        }
    }

    fn add_knowledge_steps(&self, world: &World, number: u8, steps: &mut Steps) {
        let node = &world.nodes[usize::from(number)];
        let mut add = |action, change: &dyn Fn(&mut World, &mut Node)| {
            steps.push((action, with_node(world, number, change)));
        };
        let is_holder = world.store.holder == Some(number);
        let is_stuck = node.suspended.is_some() && self.has(Fault::SuspensionStays);
        for source in [Source::Webhook, Source::Owners] {
            // A node that does not deliver to the webhook knows the owners all the same.
            let is_wanted = match source {
                Source::Webhook => is_holder,
                Source::Owners => self.has_owners() && (is_holder || self.is_moving),
            };
            if is_wanted && !is_stuck && node.is_worth_reading(&world.store, source) {
                add(Action::Read { node: number, source }, &|next, node| {
                    node.begin_reading(&next.store, source);
                });
            }
        }
        if node.reading.is_some_and(|reading| reading.age <= BOUND) {
            add(Action::TakeAnswer(number), &|next, node| {
                let left = node.take_answer(self, &next.store, next.log);
                next.earlier = next.earlier.union(left);
            });
        }
    }

    fn add_delivery_steps(&self, world: &World, number: u8, steps: &mut Steps) {
        let node = &world.nodes[usize::from(number)];
        let mut add = |action, change: &dyn Fn(&mut World, &mut Node)| {
            steps.push((action, with_node(world, number, change)));
        };
        for sequence in world.log.events().iter().filter(|one| node.can_decide(self, world.log, *one)) {
            add(Action::Decide { node: number, sequence }, &|_, node| node.decided.insert(sequence));
        }
        let is_checked = node.can_start(self) || self.has(Fault::NotCheckedAgain);
        for sequence in node.decided.iter() {
            let action = Action::Send { node: number, sequence };
            if is_checked {
                add(action, &|next, node| {
                    note_start(next, number, sequence);
                    node.decided.remove(sequence);
                    node.in_flight.insert(sequence);
                });
            } else if self.has(Fault::RefusedCountsAsDelivered) {
                add(action, &|_, node| {
                    node.decided.remove(sequence);
                    node.delivered.insert(sequence);
                });
            }
        }
        for sequence in node.in_flight.iter() {
            for is_taken in [true, false] {
                add(Action::Finish { node: number, sequence, is_taken }, &|next, node| {
                    node.in_flight.remove(sequence);
                    let is_forgotten =
                        node.suspended.is_some() && self.has(Fault::FailureForgottenInSuspension);
                    if is_taken {
                        next.receiver.take(next.log, sequence);
                    }
                    if is_taken || is_forgotten {
                        node.delivered.insert(sequence);
                    }
                });
            }
        }
    }

    fn add_holder_steps(&self, world: &World, number: u8, steps: &mut Steps) {
        let node = &world.nodes[usize::from(number)];
        let mut add = |action, change: &dyn Fn(&mut World, &mut Node)| {
            steps.push((action, with_node(world, number, change)));
        };
        if self.is_disabling && node.can_disable(self) {
            add(Action::Disable(number), &|next, node| {
                node.disables = true;
                if next.store.has_access() && next.store.stood > BOUND {
                    next.receiver.broken = Some(Broken::DisabledWithAccess);
                }
            });
        }
        let is_dirty = node.is_dirty(&world.store);
        if is_dirty && node.webhook.is_some() {
            add(Action::Checkpoint(number), &|next, node| self.checkpoint(next, node));
        }
        if self.is_moving {
            if node.in_flight.is_empty() && !is_dirty {
                add(Action::Give(number), &|next, node| {
                    if self.has(Fault::DecidedCountsWhenGiven) {
                        next.store.delivered = next.store.delivered.union(node.decided);
                    }
                    next.store.holder = None;
                    node.give_up();
                });
            }
            add(Action::Crash(number), &|next, node| {
                next.earlier = next.earlier.union(node.in_flight);
                next.store.holder = None;
                *node = Node::started(self);
            });
        }
    }

    /// Writes the node's progress in one transaction, unless the owner has changed the webhook since.
    fn checkpoint(&self, world: &mut World, node: &mut Node) {
        let Some(known) = &mut node.webhook else { return };
        if known.revision != world.store.revision {
            node.must_read_again(self);
            return;
        }
        world.store.delivered = world.store.delivered.union(node.delivered);
        world.store.suspended = node.suspended;
        if std::mem::take(&mut node.disables) {
            (known.status, world.store.status) = (Status::DisabledByService, Status::DisabledByService);
        }
    }

    /// A node takes the webhook over, when the attempts of the one before have ended.
    fn take(&self, world: &mut World, number: u8) {
        world.store.holder = Some(number);
        if self.has(Fault::StoredSuspensionIsEnough) {
            let node = &mut world.nodes[usize::from(number)];
            let is_authorized = world.store.suspended.is_none();
            node.webhook = Some(Known { is_authorized, ..Known::of(&world.store) });
            node.delivered = world.store.delivered;
            node.ages[Source::Webhook as usize] = Some(0);
        }
    }
}

fn after(world: &World, change: &dyn Fn(&mut World)) -> World {
    let mut next = *world;
    change(&mut next);
    next
}

fn with_node(world: &World, number: u8, change: &dyn Fn(&mut World, &mut Node)) -> World {
    after(world, &|next| {
        let mut node = next.nodes[usize::from(number)];
        change(next, &mut node);
        next.nodes[usize::from(number)] = node;
    })
}
