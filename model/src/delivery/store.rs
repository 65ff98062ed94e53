//! What the store has of the webhook, and what a checkpoint does to it.

use super::{DeliveryModel, Fault, RECORDS};
use crate::bits::Bits;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stored {
    pub cursor: u8,
    /// The next sequence of each record's lane; 0: it has none.
    pub lanes: [u8; RECORDS as usize],
    /// The owner has not disabled it.
    pub enabled: bool,
    /// The service has disabled it.
    pub disabled: bool,
    /// Moves with every change of the owner.
    pub revision: u8,
    /// Only with the fault `CursorBeforeLanes`: the lanes of this checkpoint are still to be written.
    pub unwritten_lanes: Option<Checkpoint>,
}

impl Stored {
    pub fn is_active(&self) -> bool {
        self.enabled && !self.disabled
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Checkpoint {
    pub revision: u8,
    pub cursor: u8,
    /// The lanes to write; 0: none for this record.
    pub parked: [u8; RECORDS as usize],
    /// The records whose lanes are deleted.
    pub cleared: Bits,
    pub disables: bool,
}

impl DeliveryModel {
    /// Writes the checkpoint in one transaction; returns false where the owner has changed the webhook since.
    pub(super) fn write(&self, store: &mut Stored, checkpoint: &Checkpoint) -> bool {
        if checkpoint.revision != store.revision && !self.has(Fault::RevisionNotChecked) {
            return false;
        }
        store.cursor = store.cursor.max(checkpoint.cursor);
        if self.has(Fault::CursorBeforeLanes) {
            store.unwritten_lanes = Some(*checkpoint);
        } else {
            write_lanes(store, checkpoint);
        }
        true
    }
}

pub(super) fn write_lanes(store: &mut Stored, checkpoint: &Checkpoint) {
    for record in 0..RECORDS {
        let lane = &mut store.lanes[usize::from(record)];
        let parked = checkpoint.parked[usize::from(record)];
        *lane = if parked == 0 { *lane } else { parked };
        if checkpoint.cleared.contains(record) {
            *lane = 0;
        }
    }
    store.disabled |= checkpoint.disables;
}
