//! One process at a time delivers from a SQLite file. It holds an operating system lock on a file next to the
//! store's, which ends with the process, so the next process need not wait for a lease to expire.

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

/// The delivery lock of a store handle.
pub(super) struct DeliveryLock {
    path: PathBuf,
    lock: Mutex<Option<File>>,
}

/// Whether this handle may deliver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ownership {
    /// Acquired just now: the previous holder is gone.
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

    /// Lets other processes acquire the lock.
    pub(super) fn release(&self) {
        *self.lock.lock() = None;
    }
}

/// The leases of this node, if it holds all shards. Needs no writer: the lock decides who holds them, so a renewal has nothing to write.
pub(super) fn held_shards(reader: &Connection, node: Guid) -> Result<Option<Vec<ShardLease>>> {
    let is_held: bool = reader
        .prepare_cached("SELECT NOT EXISTS (SELECT 1 FROM shard_leases WHERE holder IS NOT ?1)")
        .and_then(|mut all| all.query_row([node.as_bytes()], |row| row.get(0)))
        .map_err(store_error)?;
    if is_held { shards(reader).map(Some) } else { Ok(None) }
}

fn shards(reader: &Connection) -> Result<Vec<ShardLease>> {
    let held = |row: &rusqlite::Row<'_>| {
        let lease = Lease { fence: row.get(1)?, ..Lease::free(row.get(0)?) };
        Ok(lease.as_shard_lease())
    };
    reader
        .prepare_cached("SELECT shard, fence FROM shard_leases ORDER BY shard")
        .and_then(|mut all| all.query_map([], held)?.collect())
        .map_err(store_error)
}

/// Leases all shards to this node. The fences increase if another node held them or if the lock was just
/// acquired.
pub(super) fn lease_all_shards(
    writer: &Connection,
    node: Guid,
    is_new: bool,
    until: Ticks,
) -> Result<Vec<ShardLease>> {
    if !is_new && let Some(held) = held_shards(writer, node)? {
        return Ok(held);
    }
    take_all_shards(writer, node, is_new, until)?;
    shards(writer)
}

fn take_all_shards(writer: &Connection, node: Guid, is_new: bool, until: Ticks) -> Result<()> {
    change(
        writer,
        "UPDATE shard_leases SET fence = fence + CASE WHEN ?3 OR holder IS NOT ?1 THEN 1 ELSE 0 END,
             holder = ?1, expires_at = ?2",
        params![node.as_bytes(), until.0, is_new],
    )
    .map(drop)
}

pub(super) fn release_all_shards(writer: &Connection, node: Guid) -> Result<()> {
    change(writer, "UPDATE shard_leases SET holder = NULL WHERE holder = ?1", [node.as_bytes()])?;
    Ok(())
}
