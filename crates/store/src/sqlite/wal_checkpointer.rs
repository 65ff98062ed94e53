//! Copies the write-ahead log into the store's file on a thread of its own, while the writer goes on; a long log takes tens of
//! milliseconds. The writer only copies what it added meanwhile: the log begins anew when all of it is copied.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use parking_lot::{Condvar, Mutex};
use rusqlite::Connection;

use super::store_error;
use crate::{Result, StoreError};

/// The log is copied once it has this many pages, 16 MB.
const PAGES: usize = 4000;
/// What was added during a copy is copied as well, until it is this little, so often at most.
const REST_PAGES: usize = 200;
const COPIES_MAX: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The log is short.
    Idle,
    /// The thread is to copy it, or does.
    Copying,
    /// The thread has copied it; the writer copies the rest.
    Copied,
    Closed,
}

struct Shared {
    step: Mutex<Step>,
    changed: Condvar,
    /// The length of the log after the writer's last commit.
    pages: AtomicUsize,
}

pub(super) struct WalCheckpointer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl WalCheckpointer {
    /// `copying`: the thread's connection. `writing`: the writer's, whose commits no longer copy the log.
    pub(super) fn start(copying: Connection, writing: &mut Connection) -> Result<Self> {
        let (step, changed, pages) = (Mutex::new(Step::Idle), Condvar::new(), AtomicUsize::new(0));
        let shared = Arc::new(Shared { step, changed, pages });
        let committed = shared.clone();
        let note = move |_: &mut rusqlite::hooks::Wal, pages: i32| {
            committed.committed(usize::try_from(pages).unwrap_or(0));
            Ok(())
        };
        writing.wal_hook(Some(note)).map_err(store_error)?;
        let working = shared.clone();
        let thread = std::thread::Builder::new()
            .name("store-checkpoint".into())
            .spawn(move || working.run(&copying))
            .map_err(StoreError::internal)?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Copies what is left where the thread has copied the most. The writer calls it before a transaction.
    pub(super) fn copy_rest(&self, writing: &Connection) {
        let mut step = self.shared.step.lock();
        if *step == Step::Copied {
            *step = Step::Idle;
            drop(step);
            copy(writing);
        }
    }
}

impl Drop for WalCheckpointer {
    fn drop(&mut self) {
        *self.shared.step.lock() = Step::Closed;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn committed(&self, pages: usize) {
        self.pages.store(pages, Ordering::Relaxed);
        if pages < PAGES {
            return;
        }
        let mut step = self.step.lock();
        if *step == Step::Idle {
            *step = Step::Copying;
            self.changed.notify_all();
        }
    }

    fn run(&self, connection: &Connection) {
        loop {
            let mut step = self.step.lock();
            while matches!(*step, Step::Idle | Step::Copied) {
                self.changed.wait(&mut step);
            }
            if *step == Step::Closed {
                return;
            }
            drop(step);
            for _ in 0..COPIES_MAX {
                let copied = copy(connection);
                if self.pages.load(Ordering::Relaxed).saturating_sub(copied) <= REST_PAGES {
                    break;
                }
            }
            let mut step = self.step.lock();
            if *step == Step::Copying {
                *step = Step::Copied;
                self.changed.notify_all();
            }
        }
    }
}

/// Copies as much of the log as no reader needs, without waiting for anybody. Returns how many of its pages have been copied so far.
/// What fails is tried again after the next commit; a disk that is full or broken fails the commits themselves.
fn copy(connection: &Connection) -> usize {
    let copied = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get::<_, i64>(2));
    match copied {
        Ok(copied) => usize::try_from(copied).unwrap_or(0),
        Err(error) => {
            tracing::debug!(%error, "the write-ahead log could not be copied into the store's file");
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::super::{connect, switch_to_wal};
    use super::*;

    const WAIT_MAX: Duration = Duration::from_secs(20);

    fn open(path: &Path) -> (Connection, WalCheckpointer) {
        let mut writing = connect(path).unwrap();
        switch_to_wal(&writing).unwrap();
        writing.execute_batch("CREATE TABLE filling (id INTEGER PRIMARY KEY, bytes BLOB)").unwrap();
        let checkpointer = WalCheckpointer::start(connect(path).unwrap(), &mut writing).unwrap();
        (writing, checkpointer)
    }

    /// A commit that adds as many pages to the log.
    fn write(connection: &Connection, pages: usize) {
        let bytes = i64::try_from(pages * 4096).unwrap();
        connection.execute("INSERT INTO filling (bytes) VALUES (zeroblob(?1))", [bytes]).unwrap();
    }

    fn wait_until_copied(checkpointer: &WalCheckpointer) {
        let mut step = checkpointer.shared.step.lock();
        while *step != Step::Copied {
            assert!(
                !checkpointer.shared.changed.wait_for(&mut step, WAIT_MAX).timed_out(),
                "it is not copied"
            );
        }
    }

    #[test]
    fn long_log_is_copied_beside_the_writer_and_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        let (writing, checkpointer) = open(&folder.path().join("store.db"));
        let pages = || checkpointer.shared.pages.load(Ordering::Relaxed);
        let step = || *checkpointer.shared.step.lock();
        for _ in 0..3 {
            write(&writing, PAGES / 2);
            checkpointer.copy_rest(&writing);
            assert_eq!(step(), Step::Idle);
            write(&writing, PAGES / 2);
            assert!(pages() >= PAGES);
            wait_until_copied(&checkpointer);
            checkpointer.copy_rest(&writing);
            assert_eq!(step(), Step::Idle);
            write(&writing, 10);
            assert!((10..20).contains(&pages()), "the log has begun anew: {}", pages());
        }
    }

    #[test]
    fn log_that_a_reader_needs_is_copied_later() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let (writing, checkpointer) = open(&path);
        let pages = || checkpointer.shared.pages.load(Ordering::Relaxed);
        write(&writing, 1);
        let reading = connect(&path).unwrap();
        reading.execute_batch("BEGIN; SELECT count(*) FROM filling").unwrap();
        write(&writing, PAGES);
        wait_until_copied(&checkpointer);
        checkpointer.copy_rest(&writing);
        write(&writing, 1);
        assert!(pages() > PAGES, "nothing that the reader needs is lost");
        let count: i64 = reading.query_row("SELECT count(*) FROM filling", [], |row| row.get(0)).unwrap();
        assert_eq!(count, 1);
        reading.execute_batch("COMMIT").unwrap();
        for _ in 0..3 {
            wait_until_copied(&checkpointer);
            checkpointer.copy_rest(&writing);
            write(&writing, 1);
            if pages() < PAGES {
                return;
            }
        }
        panic!("the log does not begin anew: {}", pages());
    }
}
