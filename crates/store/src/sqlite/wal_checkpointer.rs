//! Checkpoints the write-ahead log on a thread of its own, in parallel with the writer: a long log takes tens of milliseconds. The
//! writer checkpoints only what it added meanwhile. Whoever copies the last page also flushes the store's file, and the next commit
//! restarts the log unless a reader still uses it. A flush takes the longer the more pages were copied, and commits are slower meanwhile,
//! so the log is kept shorter while other writes wait.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use parking_lot::{Condvar, Mutex};
use rusqlite::Connection;

use super::store_error;
use crate::worker_end::WorkerEnd;
use crate::{Result, StoreError};

/// A log of this many pages, 16 MB, is checkpointed; 2 MB where it is kept short. Pages that change often are then copied several times
/// as often.
pub(super) const CHECKPOINT_PAGES_MIN: usize = 4000;
const CHECKPOINT_PAGES_MIN_SHORT: usize = 500;
/// How many pages are left to the writer even if they cannot be checkpointed yet.
const REMAINDER_PAGES_MAX: usize = 100;
/// How many checkpoints the thread makes, one after the other, before the writer makes the last one.
const ROUNDS_MAX: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The log is short, or a reader needs it. A commit that leaves a long log asks the thread.
    Idle,
    /// The thread was asked for a checkpoint, or is doing it.
    Running,
    /// The thread is done; the writer checkpoints the remainder before its next transaction.
    Remainder,
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
    /// Whether the writer's last checkpoint has failed.
    has_failed: Cell<bool>,
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
        Ok(Self { shared, thread: Some(thread), end, has_failed: Cell::new(false) })
    }

    /// Tells when the thread has ended.
    pub(super) fn end(&self) -> WorkerEnd {
        self.end.clone()
    }

    /// Takes effect with the next commit.
    pub(super) fn keep_log_short(&self, is_short: bool) {
        let pages = if is_short { CHECKPOINT_PAGES_MIN_SHORT } else { CHECKPOINT_PAGES_MIN };
        self.shared.pages_min.store(pages, Ordering::Relaxed);
    }

    /// Checkpoints what the thread has left. The writer calls it before a transaction.
    pub(super) fn checkpoint_remainder(&self, writer: &Connection) {
        let mut step = self.shared.step.lock();
        if *step == Step::Remainder {
            *step = Step::Idle;
            drop(step);
            let done = checkpoint(writer);
            self.has_failed.set(warn_of_first_failure(&done, self.has_failed.get()));
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
            while matches!(*step, Step::Idle | Step::Remainder) {
                self.changed.wait(&mut step);
            }
            if *step == Step::Closed {
                return;
            }
            drop(step);
            let next = self.checkpoint_most(connection);
            has_failed = warn_of_first_failure(&next, has_failed);
            let mut step = self.step.lock();
            if *step == Step::Running {
                *step = next.unwrap_or(Step::Idle);
                self.changed.notify_all();
            }
        }
    }

    /// Checkpoints the log, then what was added meanwhile, several times. SQLite flushes the store's file at the end of a checkpoint
    /// if nobody has committed since its beginning: seldom at the first one, which takes long, but mostly at one of the others.
    /// Otherwise the writer would wait for the flush. After all rounds the writer checkpoints what remains, however much that is, so
    /// that the log stays bounded on a slow disk. But where a reader (a backup, for example) needs the log, or another process
    /// checkpoints it, nothing is left to the writer: it would checkpoint a long log in one go once the reader has ended.
    fn checkpoint_most(&self, connection: &Connection) -> rusqlite::Result<Step> {
        let mut done_before = None;
        for _ in 0..ROUNDS_MAX {
            let done = checkpoint(connection)?;
            let remainder = self.pages.load(Ordering::Relaxed).saturating_sub(done);
            if remainder == 0 {
                break;
            }
            if remainder > REMAINDER_PAGES_MAX && done_before.is_some_and(|before| done <= before) {
                return Ok(Step::Idle);
            }
            done_before = Some(done);
        }
        Ok(Step::Remainder)
    }
}

/// Warns of the first of several failures; returns whether this is one.
fn warn_of_first_failure<T>(result: &rusqlite::Result<T>, had_failed: bool) -> bool {
    if let Err(error) = result
        && !had_failed
    {
        tracing::warn!(%error, "the write-ahead log cannot be checkpointed and grows; trying again after each commit");
    }
    result.is_err()
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
            assert_eq!(step_after_the_thread(&checkpointer), Step::Remainder);
            checkpointer.checkpoint_remainder(&writer);
            assert_eq!(step_after_the_thread(&checkpointer), Step::Idle);
            write(&writer, 10);
            let pages = pages(&checkpointer);
            assert!((10..20).contains(&pages), "the log has not restarted: {pages}");
        }
    }

    #[test]
    fn the_writer_checkpoints_what_is_left_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let (writer, checkpointer) = open(&folder.path().join("store.db"));
        write(&writer, 30);
        *checkpointer.shared.step.lock() = Step::Remainder;
        checkpointer.checkpoint_remainder(&writer);
        write(&writer, 1);
        assert!(pages(&checkpointer) < 30, "the log has not restarted");
    }

    #[test]
    fn the_thread_checkpoints_a_shorter_log_where_it_is_kept_short() {
        let folder = tempfile::tempdir().unwrap();
        let (writer, checkpointer) = open(&folder.path().join("store.db"));
        write(&writer, CHECKPOINT_PAGES_MIN_SHORT);
        assert_eq!(step_after_the_thread(&checkpointer), Step::Idle);
        checkpointer.keep_log_short(true);
        write(&writer, 1);
        assert_eq!(step_after_the_thread(&checkpointer), Step::Remainder);
        checkpointer.checkpoint_remainder(&writer);
        checkpointer.keep_log_short(false);
        write(&writer, CHECKPOINT_PAGES_MIN_SHORT);
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
        assert_eq!(step_after_the_thread(&checkpointer), Step::Remainder);
        checkpointer.checkpoint_remainder(&writer);
        write(&writer, 1);
        assert!(pages(&checkpointer) < CHECKPOINT_PAGES_MIN, "the log has not restarted");
    }

    #[tokio::test]
    async fn the_end_of_the_thread_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let (_writer, checkpointer) = open(&folder.path().join("store.db"));
        let end = checkpointer.end();
        drop(checkpointer);
        tokio::time::timeout(WAIT_MAX, end.ended()).await.unwrap();
    }
}
