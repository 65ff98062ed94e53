//! What the store has of access and of the webhook, and what ends, grants and owners' changes do to it.

use super::{AuthorizationModel, BOUND, Broken, Fault, NODES, RETENTION, World};
use crate::bits::Bits;

/// What access rests on. A webhook is delivered to while all of them stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ground {
    /// A user's authorization. Nodes read it with the webhook.
    Authorization,
    /// Neither the tenant nor the application is suspended. Nodes read these for all owners together.
    Tenant,
    Application,
}

/// A change that nodes have to know of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Change {
    /// The node that it was made through.
    pub through: u8,
    /// Ticks since then.
    pub age: u8,
}

impl Change {
    pub(super) fn must_be_known_to(self, node: u8) -> bool {
        self.age > BOUND || self.through == node
    }

    fn grow_older(&mut self) {
        self.age = (self.age + 1).min(BOUND + 1);
        if self.age > BOUND {
            self.through = 0;
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    Active,
    DisabledByOwner,
    DisabledByService,
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stored {
    /// The end of each ground that does not stand.
    pub ends: [Option<Change>; 3],
    /// For how many ticks access has stood.
    pub stood: u8,
    pub status: Status,
    /// Moves with every change of the owner.
    pub revision: u8,
    /// The owner's last change.
    pub changed: Option<Change>,
    pub ended: Option<Change>,
    pub delivered: Bits,
    /// For how many ticks the webhook has been suspended, as far as the store knows.
    pub suspended: Option<u8>,
    /// The node that delivers to the webhook.
    pub holder: Option<u8>,
}

impl Stored {
    pub(super) fn new() -> Self {
        Self {
            ends: [None; 3],
            stood: BOUND + 1,
            status: Status::Active,
            revision: 0,
            changed: None,
            ended: None,
            delivered: Bits::default(),
            suspended: None,
            holder: Some(0),
        }
    }

    pub fn has_access(&self) -> bool {
        self.ends == [None; 3]
    }

    pub(super) fn is_authorized(&self) -> bool {
        self.ends[Ground::Authorization as usize].is_none()
    }

    /// The grounds of owners that do not stand.
    pub(super) fn suspended_owners(&self) -> Bits {
        let owners = [Ground::Tenant, Ground::Application].map(|ground| ground as u8);
        owners.into_iter().filter(|ground| self.ends[usize::from(*ground)].is_some()).collect()
    }

    pub(super) fn tick(&mut self, model: &AuthorizationModel) {
        let changes = self.ends.iter_mut().chain([&mut self.changed, &mut self.ended]);
        changes.flatten().for_each(Change::grow_older);
        if model.is_disabling {
            self.stood = (self.stood + u8::from(self.has_access())).min(BOUND + 1);
            self.suspended = self.suspended.map(|ticks| (ticks + 1).min(RETENTION));
        }
    }
}

impl AuthorizationModel {
    /// A user withdraws or grants, or the operator suspends or reinstates, through a node.
    pub(super) fn change_access(&self, world: &mut World, ground: Ground, through: u8, is_signalled: bool) {
        let had_access = world.store.has_access();
        let end = &mut world.store.ends[ground as usize];
        *end = if end.is_some() { None } else { Some(Change { through, age: 0 }) };
        let is_granted = end.is_none();
        world.access_changes += 1;
        if self.is_disabling && world.store.has_access() != had_access {
            world.store.stood = 0;
        }
        if is_granted && world.store.status == Status::Ended && self.has(Fault::GrantRevivesEnded) {
            world.store.status = Status::Active;
        }
        self.announce(world, through, is_signalled);
    }

    pub(super) fn change_status(&self, world: &mut World, status: Status, through: u8, is_signalled: bool) {
        let store = &mut world.store;
        let all = world.log.events();
        match (store.status, status) {
            (Status::DisabledByOwner, Status::Active) => {
                world.receiver.dropped =
                    all.iter().filter(|event| !world.receiver.taken.contains(*event)).collect();
                let is_kept = self.has(Fault::EnableKeepsCursor)
                    || (self.has(Fault::EnableKeepsCursorInSuspension) && store.suspended.is_some());
                if !is_kept {
                    store.delivered = all;
                }
            }
            (Status::DisabledByService, Status::Active) if self.has(Fault::ServiceResumesAtHead) => {
                store.delivered = all;
            }
            _ => {}
        }
        store.status = status;
        store.revision += 1;
        let change = Some(Change { through, age: 0 });
        store.changed = change;
        if status == Status::Ended {
            store.ended = change;
        }
        world.owner_changes += 1;
        self.announce(world, through, is_signalled);
    }

    /// The node itself has to read again before it answers; the others, when they get the signal. A signal comes at once or
    /// never: one that comes late only makes a node read again, which a poll does at any time.
    fn announce(&self, world: &mut World, through: u8, is_signalled: bool) {
        for node in 0..NODES {
            let is_told = node == through && !self.has(Fault::AnsweredFirst);
            if is_told || is_signalled {
                world.nodes[usize::from(node)].must_read_again(self);
            }
        }
    }
}

/// Notes which rule is broken by an attempt that starts now.
pub(super) fn note_start(world: &mut World, node: u8, sequence: u8) {
    let must_know = |change: &Option<Change>| change.is_some_and(|change| change.must_be_known_to(node));
    let store = &world.store;
    let is_dropped = store.status == Status::DisabledByOwner || world.receiver.dropped.contains(sequence);
    let broken = if must_know(&store.ended) {
        Some(Broken::Ended)
    } else if store.ends.iter().any(must_know) {
        Some(Broken::Access)
    } else {
        (is_dropped && must_know(&store.changed)).then_some(Broken::Disabled)
    };
    world.receiver.broken = world.receiver.broken.or(broken);
}
