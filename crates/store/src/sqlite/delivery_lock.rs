//! Who delivers: a SQLite file belongs to one delivering process at a time. It holds a lock of the operating system's
//! on a file beside the store's, which ends with the process, so that the next need not wait for a lease to expire.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use domain::{Guid, Ticks};
use parking_lot::Mutex;
use rusqlite::{Connection, params};

use super::directory::change;
use super::store_error;
use super::write_lock::{companion, open_companion};
use crate::webhooks::Lease;
use crate::{Result, ShardLease, StoreError};

/// The lock of a handle on the store, where it has it.
pub(super) struct DeliveryLock {
    path: PathBuf,
    lock: Mutex<Option<File>>,
}

/// Whether this handle may deliver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ownership {
    /// Just now: whoever had the shards is gone.
    Acquired,
    AlreadyHeld,
    HeldElsewhere,
}

impl DeliveryLock {
    pub(super) fn next_to(store: &Path) -> Self {
        Self { path: companion(store, ".delivering"), lock: Mutex::new(None) }
    }

    pub(super) fn acquire(&self) -> Result<Ownership> {
        let mut lock = self.lock.lock();
        if lock.is_some() {
            return Ok(Ownership::AlreadyHeld);
        }
        let cannot_open = |error| StoreError::Unavailable(format!("{}: {error}", self.path.display()));
        let file = open_companion(&self.path).map_err(cannot_open)?;
        match file.try_lock() {
            Ok(()) => {
                *lock = Some(file);
                Ok(Ownership::Acquired)
            }
            Err(TryLockError::WouldBlock) => Ok(Ownership::HeldElsewhere),
            Err(TryLockError::Error(error)) => Err(cannot_open(error)),
        }
    }

    /// Others may have it.
    pub(super) fn release(&self) {
        *self.lock.lock() = None;
    }
}

/// All shards are this node's until then. Where they were not, or where their holder is gone, it takes them anew.
pub(super) fn lease_all_shards(
    writer: &Connection,
    node: Guid,
    is_new: bool,
    until: Ticks,
) -> Result<Vec<ShardLease>> {
    change(
        writer,
        "UPDATE shard_leases SET fence = fence + CASE WHEN ?3 OR holder IS NOT ?1 THEN 1 ELSE 0 END,
             holder = ?1, expires_at = ?2",
        params![node.as_bytes(), until.0, is_new],
    )?;
    let held = |row: &rusqlite::Row<'_>| {
        let lease = Lease { fence: row.get(1)?, ..Lease::free(row.get(0)?) };
        Ok(lease.as_shard_lease())
    };
    writer
        .prepare_cached("SELECT shard, fence FROM shard_leases ORDER BY shard")
        .and_then(|mut all| all.query_map([], held)?.collect())
        .map_err(store_error)
}

pub(super) fn release_all_shards(writer: &Connection, node: Guid) -> Result<()> {
    change(writer, "UPDATE shard_leases SET holder = NULL WHERE holder = ?1", [node.as_bytes()])?;
    Ok(())
}
