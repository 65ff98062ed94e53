//! Connections that wait for somebody who reads. One may leave its view of the file standing, and the next read goes on
//! in it while it is as good as a new one: nothing was written through this handle since it began, and it is not old,
//! for another process may write to the file too. No view stands while the writer works, so none holds up a checkpoint.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::reader::Reader;
use super::{connect, fault};
use crate::Result;

const KEPT_MAX: usize = 4;
/// What is read at random comes from the system's cache all the same, and is copied faster to where a core's own cache
/// still holds the place.
const CACHE_KIB: i64 = 2048;
/// The era of a view that is never used again.
pub(super) const NONE: u64 = u64::MAX;

pub(super) struct Readers {
    path: PathBuf,
    idle: Mutex<Idle>,
    /// Views of an era that has passed are not used again. In an odd era the writer works, and none is left standing.
    era: AtomicU64,
    /// Whether a view was left standing since they were last ended.
    may_stand: AtomicBool,
}

#[derive(Default)]
struct Idle {
    readers: Vec<Reader>,
    /// None is kept any more.
    is_closed: bool,
}

impl Readers {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, idle: Mutex::default(), era: AtomicU64::new(0), may_stand: AtomicBool::new(false) }
    }

    pub(super) fn take(&self) -> Result<Reader> {
        let reader = self.idle.lock().readers.pop();
        reader.map_or_else(|| self.connect(), Ok)
    }

    fn connect(&self) -> Result<Reader> {
        let connection = connect(&self.path)?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB).map_err(fault)?;
        Ok(Reader::new(connection))
    }

    /// To be looked up before a view begins: it then has all that was committed before this era.
    pub(super) fn era(&self) -> u64 {
        self.era.load(Ordering::Acquire)
    }

    /// Takes a reader back. Tells whether its view is the first that stands since they were last ended.
    pub(super) fn put_back(&self, reader: Reader) -> bool {
        let mut idle = self.idle.lock();
        // Under the lock: who ends an era looks through all that are idle after it.
        let era = self.era();
        if era % 2 == 1 || reader.era() != Some(era) {
            reader.end_view();
        }
        let is_full = idle.is_closed || idle.readers.len() >= KEPT_MAX;
        if is_full || (reader.era().is_none() && !reader.is_autocommit()) {
            return false;
        }
        let stands = reader.era().is_some();
        idle.readers.push(reader);
        stands && !self.may_stand.load(Ordering::Relaxed) && !self.may_stand.swap(true, Ordering::AcqRel)
    }

    pub(super) fn may_stand(&self) -> bool {
        self.may_stand.load(Ordering::Acquire)
    }

    /// Ends the views that stand: they have had their time.
    pub(super) fn turn(&self) {
        self.may_stand.store(false, Ordering::Release);
        self.era.fetch_add(2, Ordering::AcqRel);
        self.end_views();
    }

    /// The writer begins: no view stands until it is done.
    pub(super) fn pause(&self) {
        self.era.fetch_add(1, Ordering::AcqRel);
        self.end_views();
    }

    /// The writer is done, and has not answered anybody yet.
    pub(super) fn resume(&self) {
        self.era.fetch_add(1, Ordering::AcqRel);
    }

    /// The writer has ended. Who still reads closes the file when it is done.
    pub(super) fn close(&self) {
        let mut idle = self.idle.lock();
        idle.is_closed = true;
        idle.readers.clear();
    }

    fn end_views(&self) {
        for reader in &self.idle.lock().readers {
            reader.end_view();
        }
    }
}
