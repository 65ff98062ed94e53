//! Connections that wait for somebody who reads. One may leave its view of the file standing, and the next read goes on
//! in it while it is as good as a new one: nothing was written through this handle since it began, and it is not old,
//! for another process may write to the file too. No view stands while the writer works, so none holds up a checkpoint.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::reader::Reader;
use super::{connect, store_error};
use crate::Result;

const IDLE_MAX: usize = 4;
/// What is read at random comes from the system's cache all the same, and is copied faster to where a core's own cache
/// still holds the place.
const CACHE_KIB: i64 = 2048;
/// The era of a view that is never used again.
pub(super) const NEVER_REUSED: u64 = u64::MAX;

pub(super) struct ReaderPool {
    path: PathBuf,
    idle: Mutex<Idle>,
    /// Views of an era that has passed are not used again. In an odd era the writer works, and none is left standing.
    generation: AtomicU64,
    /// Whether a view was left standing since they were last ended.
    has_open_snapshot: AtomicBool,
}

#[derive(Default)]
struct Idle {
    reader_pool: Vec<Reader>,
    /// None is kept any more.
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
        let reader = self.idle.lock().reader_pool.pop();
        reader.map_or_else(|| self.connect(), Ok)
    }

    fn connect(&self) -> Result<Reader> {
        let connection = connect(&self.path)?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB).map_err(store_error)?;
        Ok(Reader::new(connection))
    }

    /// To be looked up before a view begins: it then has all that was committed before this era.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Takes a reader back. Tells whether its view is the first that stands since they were last ended.
    pub(super) fn put_back(&self, reader: Reader) -> bool {
        let mut idle = self.idle.lock();
        // Under the lock: who ends an era looks through all that are idle after it.
        let generation = self.generation();
        if generation % 2 == 1 || reader.generation() != Some(generation) {
            reader.end_snapshot();
        }
        let is_full = idle.is_closed || idle.reader_pool.len() >= IDLE_MAX;
        if is_full || (reader.generation().is_none() && !reader.is_autocommit()) {
            return false;
        }
        let has_snapshot = reader.generation().is_some();
        idle.reader_pool.push(reader);
        has_snapshot
            && !self.has_open_snapshot.load(Ordering::Relaxed)
            && !self.has_open_snapshot.swap(true, Ordering::AcqRel)
    }

    pub(super) fn has_open_snapshot(&self) -> bool {
        self.has_open_snapshot.load(Ordering::Acquire)
    }

    /// Ends the views that stand: they have had their time.
    pub(super) fn expire_snapshots(&self) {
        self.has_open_snapshot.store(false, Ordering::Release);
        self.generation.fetch_add(2, Ordering::AcqRel);
        self.end_snapshots();
    }

    /// The writer begins: no view stands until it is done.
    pub(super) fn pause_snapshots(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.end_snapshots();
    }

    /// The writer is done, and has not answered anybody yet.
    pub(super) fn resume_snapshots(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// The writer has ended. Who still reads closes the file when it is done.
    pub(super) fn close(&self) {
        let mut idle = self.idle.lock();
        idle.is_closed = true;
        idle.reader_pool.clear();
    }

    fn end_snapshots(&self) {
        for reader in &self.idle.lock().reader_pool {
            reader.end_snapshot();
        }
    }
}
