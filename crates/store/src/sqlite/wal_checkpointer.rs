//! Checkpoints the write-ahead log on a thread of its own, in parallel with the writer: a long log takes tens of milliseconds. The
//! writer checkpoints only what it added meanwhile; once nothing is left, SQLite flushes the store's file and restarts the log. The
//! flush takes the longer the more pages both have copied, so the log is kept shorter while other writes wait for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use parking_lot::{Condvar, Mutex};
use rusqlite::Connection;

use super::store_error;
use crate::worker_end::WorkerEnd;
use crate::{Result, StoreError};

/// A log of this many pages, 16 MB, is checkpointed; 2 MB while many small writes wait for large ones, which copies the pages that
/// change often several times more.
pub(super) const CHECKPOINT_PAGES_MIN: usize = 4000;
const CHECKPOINT_PAGES_MIN_SHARED: usize = 500;
/// The thread repeats the checkpoint until at most this many pages remain, at most `ROUNDS_MAX` times.
const REST_PAGES_MAX: usize = 100;
const ROUNDS_MAX: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The log is short, or a reader needs it. A commit that leaves a long log asks the thread.
    Idle,
    /// The thread was asked for a checkpoint, or is doing it.
    Running,
    /// The thread is done; the writer checkpoints the rest.
    Rest,
    Closed,
}

struct Shared {
    step: Mutex<Step>,
    changed: Condvar,
    /// The length of the log after the writer's last commit.
    pages: AtomicUsize,
    pages_min: AtomicUsize,
}

pub(super) struct WalCheckpointer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    end: WorkerEnd,
}

impl WalCheckpointer {
    /// `own` is the thread's connection, `writer` the writer's, whose commits no longer checkpoint the log.
    pub(super) fn start(own: Connection, writer: &mut Connection) -> Result<Self> {
        let shared = Arc::new(Shared {
            step: Mutex::new(Step::Idle),
            changed: Condvar::new(),
            pages: AtomicUsize::new(0),
            pages_min: AtomicUsize::new(CHECKPOINT_PAGES_MIN),
        });
        let hooked = shared.clone();
        let after_commit = move |_: &mut rusqlite::hooks::Wal, pages: i32| {
            hooked.committed(usize::try_from(pages).unwrap_or(0));
            Ok(())
        };
        writer.wal_hook(Some(after_commit)).map_err(store_error)?;
        let end = WorkerEnd::default();
        let (running, guard) = (shared.clone(), end.guard());
        let thread = std::thread::Builder::new()
            .name("store-checkpoint".into())
            .spawn(move || {
                let _guard = guard;
                running.run(&own);
            })
            .map_err(StoreError::internal)?;
        Ok(Self { shared, thread: Some(thread), end })
    }

    /// Tells when the thread has ended.
    pub(super) fn end(&self) -> WorkerEnd {
        self.end.clone()
    }

    /// Takes effect with the next commit.
    pub(super) fn keep_log_short(&self, is_short: bool) {
        let pages = if is_short { CHECKPOINT_PAGES_MIN_SHARED } else { CHECKPOINT_PAGES_MIN };
        self.shared.pages_min.store(pages, Ordering::Relaxed);
    }

    /// Checkpoints what the thread has left. The writer calls it before a transaction.
    pub(super) fn checkpoint_rest(&self, writer: &Connection) {
        let mut step = self.shared.step.lock();
        if *step == Step::Rest {
            *step = Step::Idle;
            drop(step);
            if let Err(error) = checkpoint(writer) {
                tracing::debug!(%error, "the rest of the write-ahead log was not checkpointed");
            }
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
        if pages < self.pages_min.load(Ordering::Relaxed) {
            return;
        }
        let mut step = self.step.lock();
        if *step == Step::Idle {
            *step = Step::Running;
            self.changed.notify_all();
        }
    }

    fn run(&self, connection: &Connection) {
        let mut has_failed = false;
        loop {
            let mut step = self.step.lock();
            while matches!(*step, Step::Idle | Step::Rest) {
                self.changed.wait(&mut step);
            }
            if *step == Step::Closed {
                return;
            }
            drop(step);
            let next = self.checkpoint_most(connection);
            if let Err(error) = &next
                && !has_failed
            {
                tracing::warn!(%error, "the write-ahead log cannot be checkpointed and grows; trying again after each commit");
            }
            has_failed = next.is_err();
            let mut step = self.step.lock();
            if *step == Step::Running {
                *step = next.unwrap_or(Step::Idle);
                self.changed.notify_all();
            }
        }
    }

    /// Checkpoints the log, and what is added meanwhile as long as that is less each time. Where a reader (a backup, for example) needs
    /// the log, or another process checkpoints it, nothing is left to the writer: it would checkpoint a long log in one go once the
    /// reader has ended.
    fn checkpoint_most(&self, connection: &Connection) -> rusqlite::Result<Step> {
        let (mut done_before, mut rest_before) = (None, usize::MAX);
        for _ in 0..ROUNDS_MAX {
            let done = checkpoint(connection)?;
            let rest = self.pages.load(Ordering::Relaxed).saturating_sub(done);
            if rest <= REST_PAGES_MAX {
                break;
            }
            if done_before.is_some_and(|before| done <= before) {
                return Ok(Step::Idle);
            }
            if rest >= rest_before {
                break;
            }
            (done_before, rest_before) = (Some(done), rest);
        }
        Ok(Step::Rest)
    }
}

/// Checkpoints the part of the log that no reader needs, without waiting for anybody. Returns how many pages of the log are in the
/// store's file now; 0 while another process checkpoints.
fn checkpoint(connection: &Connection) -> rusqlite::Result<usize> {
    let done = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get::<_, i64>(2))?;
    Ok(usize::try_from(done).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::super::{connect, switch_to_wal};
    use super::*;

    const WAIT_MAX: Duration = Duration::from_secs(20);

    fn open(path: &Path) -> (Connection, WalCheckpointer) {
        let mut writer = connect(path).unwrap();
        switch_to_wal(&writer).unwrap();
        writer.execute_batch("CREATE TABLE filling (id INTEGER PRIMARY KEY, bytes BLOB)").unwrap();
        let checkpointer = WalCheckpointer::start(connect(path).unwrap(), &mut writer).unwrap();
        (writer, checkpointer)
    }

    /// A commit that adds about as many pages to the log.
    fn write(connection: &Connection, pages: usize) {
        let bytes = i64::try_from(pages * 4096).unwrap();
        connection.execute("INSERT INTO filling (bytes) VALUES (zeroblob(?1))", [bytes]).unwrap();
    }

    fn pages(checkpointer: &WalCheckpointer) -> usize {
        checkpointer.shared.pages.load(Ordering::Relaxed)
    }

    /// Waits until the thread has done what it can.
    fn step_after_the_thread(checkpointer: &WalCheckpointer) -> Step {
        let mut step = checkpointer.shared.step.lock();
        while *step == Step::Running {
            let waited = checkpointer.shared.changed.wait_for(&mut step, WAIT_MAX);
            assert!(!waited.timed_out(), "the checkpoint does not end");
        }
        *step
    }

    #[test]
    fn the_thread_checkpoints_a_long_log_and_the_writer_restarts_it() {
        let folder = tempfile::tempdir().unwrap();
        let (writer, checkpointer) = open(&folder.path().join("store.db"));
        for _ in 0..3 {
            write(&writer, CHECKPOINT_PAGES_MIN / 2);
            assert_eq!(step_after_the_thread(&checkpointer), Step::Idle, "the log is short");
            write(&writer, CHECKPOINT_PAGES_MIN / 2);
            assert!(pages(&checkpointer) >= CHECKPOINT_PAGES_MIN);
            assert_eq!(step_after_the_thread(&checkpointer), Step::Rest);
            checkpointer.checkpoint_rest(&writer);
            assert_eq!(step_after_the_thread(&checkpointer), Step::Idle);
            write(&writer, 10);
            let pages = pages(&checkpointer);
            assert!((10..20).contains(&pages), "the log has not restarted: {pages}");
        }
    }

    #[test]
    fn the_thread_checkpoints_a_shorter_log_where_it_is_kept_short() {
        let folder = tempfile::tempdir().unwrap();
        let (writer, checkpointer) = open(&folder.path().join("store.db"));
        write(&writer, CHECKPOINT_PAGES_MIN_SHARED);
        assert_eq!(step_after_the_thread(&checkpointer), Step::Idle);
        checkpointer.keep_log_short(true);
        write(&writer, 1);
        assert_eq!(step_after_the_thread(&checkpointer), Step::Rest);
        checkpointer.checkpoint_rest(&writer);
        checkpointer.keep_log_short(false);
        write(&writer, CHECKPOINT_PAGES_MIN_SHARED);
        assert_eq!(step_after_the_thread(&checkpointer), Step::Idle);
    }

    #[test]
    fn the_writer_does_not_checkpoint_what_a_reader_needs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let (writer, checkpointer) = open(&path);
        write(&writer, 1);
        let reader = connect(&path).unwrap();
        let rows =
            || reader.query_row("SELECT count(*) FROM filling", [], |row| row.get::<_, i64>(0)).unwrap();
        reader.execute_batch("BEGIN").unwrap();
        assert_eq!(rows(), 1);
        for _ in 0..3 {
            write(&writer, CHECKPOINT_PAGES_MIN);
            assert_eq!(step_after_the_thread(&checkpointer), Step::Idle, "nothing is left to the writer");
        }
        assert_eq!(rows(), 1);
        reader.execute_batch("COMMIT").unwrap();

        write(&writer, 1);
        assert_eq!(step_after_the_thread(&checkpointer), Step::Rest);
        checkpointer.checkpoint_rest(&writer);
        write(&writer, 1);
        assert!(pages(&checkpointer) < CHECKPOINT_PAGES_MIN, "the log has not restarted");
    }

    #[tokio::test]
    async fn the_end_of_the_thread_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let (_writer, checkpointer) = open(&folder.path().join("store.db"));
        let end = checkpointer.end();
        drop(checkpointer);
        end.ended().await;
    }
}
