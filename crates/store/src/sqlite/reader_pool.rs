//! Idle reading connections. A connection may keep its snapshot open for the next read, as long as nothing was
//! written through this handle since it began and it is not old, because other processes may write too. No
//! snapshot stays open while the writer works, so none delays a WAL checkpoint.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::reader::Reader;
use super::{connect, store_error};
use crate::Result;

const IDLE_MAX: usize = 4;
/// A small cache: random reads are served by the system's page cache anyway, and copying is faster while the
/// buffers fit in the core's cache.
const CACHE_KIB: i64 = 2048;
/// The generation of a snapshot that is never reused.
pub(super) const NEVER_REUSED: u64 = u64::MAX;

pub(super) struct ReaderPool {
    path: PathBuf,
    idle: Mutex<Idle>,
    /// Snapshots of an earlier generation are not reused. The generation is odd while the writer works, and
    /// then no snapshot is kept.
    generation: AtomicU64,
    /// Whether a snapshot was kept open since snapshots were last ended.
    has_open_snapshot: AtomicBool,
}

#[derive(Default)]
struct Idle {
    readers: Vec<Reader>,
    /// No connection is kept any more.
    is_closed: bool,
}

impl ReaderPool {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            idle: Mutex::default(),
            generation: AtomicU64::new(0),
            has_open_snapshot: AtomicBool::new(false),
        }
    }

    pub(super) fn take(&self) -> Result<Reader> {
        let reader = self.idle.lock().readers.pop();
        reader.map_or_else(|| self.connect(), Ok)
    }

    fn connect(&self) -> Result<Reader> {
        let connection = connect(&self.path)?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB).map_err(store_error)?;
        Ok(Reader::new(connection))
    }

    /// Must be read before a snapshot begins: the snapshot then contains everything committed before this
    /// generation.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Returns a reader to the pool. True if its snapshot is the first one kept open since snapshots were last
    /// ended.
    pub(super) fn put_back(&self, reader: Reader) -> bool {
        let mut idle = self.idle.lock();
        // Read under the lock, because whoever ends a generation then ends the snapshots of all idle readers.
        let generation = self.generation();
        if generation % 2 == 1 || reader.generation() != Some(generation) {
            reader.end_snapshot();
        }
        let is_full = idle.is_closed || idle.readers.len() >= IDLE_MAX;
        if is_full || (reader.generation().is_none() && !reader.is_autocommit()) {
            return false;
        }
        let has_snapshot = reader.generation().is_some();
        idle.readers.push(reader);
        has_snapshot
            && !self.has_open_snapshot.load(Ordering::Relaxed)
            && !self.has_open_snapshot.swap(true, Ordering::AcqRel)
    }

    pub(super) fn has_open_snapshot(&self) -> bool {
        self.has_open_snapshot.load(Ordering::Acquire)
    }

    /// Ends the open snapshots because of their age.
    pub(super) fn expire_snapshots(&self) {
        self.has_open_snapshot.store(false, Ordering::Release);
        self.generation.fetch_add(2, Ordering::AcqRel);
        self.end_snapshots();
    }

    /// The writer begins: no snapshot is kept until it is done.
    pub(super) fn pause_snapshots(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.end_snapshots();
    }

    /// The writer has committed but not responded yet.
    pub(super) fn resume_snapshots(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// The writer has ended. Active readers close their connection when they are done.
    pub(super) fn close(&self) {
        let mut idle = self.idle.lock();
        idle.is_closed = true;
        idle.readers.clear();
    }

    fn end_snapshots(&self) {
        for reader in &self.idle.lock().readers {
            reader.end_snapshot();
        }
    }
}
