//! The shard's row in the database, and what a renewal does to it.

use super::{ASK_SPAN, Fault, LEASE, LeaseModel, World};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Database {
    pub holder: Holder,
    /// Ticks until the lease ends, by the database's clock.
    pub left: u8,
    pub asked_by: Option<u8>,
    /// Ticks until the ask ends.
    pub ask_left: u8,
    /// The node that acquired the shard last; it may still write after it has released it.
    pub last_acquirer: Holder,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Holder {
    #[default]
    Nobody,
    Node(u8),
    /// A node that has crashed. When it starts again it is another one.
    Gone,
}

impl Database {
    pub(super) fn asker(&self) -> Option<u8> {
        self.asked_by.filter(|_| self.ask_left > 0)
    }

    pub(super) fn release(&mut self, node: u8) {
        if self.holder == Holder::Node(node) {
            (self.holder, self.left) = (Holder::Nobody, 0);
        }
    }
}

/// What a renewal tells its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Renewed {
    pub(super) is_held: bool,
    pub(super) is_asked: bool,
}

impl<const NODES: usize> LeaseModel<NODES> {
    /// One transaction: renews or gives the lease, takes the shard where nobody holds it, and asks for it.
    pub(super) fn renew(&self, world: &mut World<NODES>, node: u8, gives: bool, asks: bool) -> Renewed {
        let database = &mut world.database;
        let is_asked = |database: &Database| database.asker().is_some_and(|asker| asker != node);
        if database.holder == Holder::Node(node) {
            if gives && is_asked(database) {
                database.release(node);
            } else {
                database.left = LEASE;
            }
        }
        let skew = if self.has(Fault::ExpiryByNodesClock) { 2 } else { 0 };
        let is_own = database.holder == Holder::Node(node);
        let is_free =
            database.holder == Holder::Nobody || (database.left <= skew && !self.has(Fault::LeasesNeverEnd));
        if is_free && !is_own && !is_asked(database) {
            database.holder = Holder::Node(node);
            database.left = LEASE;
            (database.asked_by, database.ask_left) = (None, 0);
            self.raise_fence(world, node);
        }
        let database = &mut world.database;
        let is_held = database.holder == Holder::Node(node);
        if asks && !is_held && !is_asked(database) {
            (database.asked_by, database.ask_left) = (Some(node), ASK_SPAN);
        }
        Renewed { is_held, is_asked: is_held && is_asked(database) }
    }

    /// The fences that nodes know are old from now on. The model keeps no numbers, only whether they are.
    fn raise_fence(&self, world: &mut World<NODES>, acquirer: u8) {
        world.database.last_acquirer = Holder::Node(acquirer);
        if !self.has(Fault::FenceNotRaised) {
            world.nodes.iter_mut().for_each(super::Node::outdate_fence);
        }
    }
}
