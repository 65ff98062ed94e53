//! What the owner does: disables and enables the webhook.

use super::{DeliveryModel, Fault, World};
use crate::bits::Bits;

impl DeliveryModel {
    pub(super) fn disable(&self, world: &mut World) {
        world.store.enabled = false;
        if !self.has(Fault::OwnerDisableKeepsLanes) {
            world.store.lanes = [0; 2];
        }
        world.store.revision += 1;
    }

    /// A webhook that its owner had disabled resumes with the next event; one that the service had disabled, with the first
    /// that is not delivered.
    pub(super) fn enable(&self, world: &mut World) {
        let store = &mut world.store;
        if store.is_active() {
            if self.has(Fault::EnableMovesActiveCursor) {
                store.cursor = world.log.head;
                store.revision += 1;
            }
            return;
        }
        if !store.enabled {
            store.cursor = world.log.head;
            world.receiver.dropped = world.receiver.dropped.union(Bits::upto(world.log.head));
        } else if self.has(Fault::ServiceResumesAtHead) {
            (store.cursor, store.lanes) = (world.log.head, [0; 2]);
        }
        (store.enabled, store.disabled) = (true, false);
        store.revision += 1;
    }
}
