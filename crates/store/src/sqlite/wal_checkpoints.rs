//! Copies what the write-ahead log holds into the file, on a thread of its own. On the writer's thread, which SQLite would use, every commit
//! meanwhile would wait for the disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread::JoinHandle;

use parking_lot::{Condvar, Mutex};
use rusqlite::Connection;
use rusqlite::hooks::Wal;

use super::store_error;
use crate::{Result, StoreError};

/// So many pages more in the log (16 MiB) are copied.
const COPY_EVERY: i32 = 4000;
/// The log begins anew when all of it is copied, which does not happen while there is always more to write. From this length on (64 MiB)
/// the writer copies the rest itself where that is little, and from `RESTART_ALWAYS_FROM` on whatever it is.
const RESTART_FROM: i32 = 16_000;
const RESTART_ALWAYS_FROM: i32 = 64_000;
const REST_MAX: i32 = 2000;

pub(super) struct WalCheckpoints {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared {
    /// Pages of the present log that are in the file.
    copied: AtomicI32,
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Default)]
struct State {
    is_due: bool,
    is_closed: bool,
}

impl WalCheckpoints {
    /// Follows the commits of `writer`; `own` is for the thread alone.
    pub(super) fn start(writer: &mut Connection, own: Connection) -> Result<Self> {
        let shared = Arc::<Shared>::default();
        let of_writer = shared.clone();
        let committed = move |wal: &mut Wal, pages| {
            of_writer.committed(wal, pages);
            Ok(())
        };
        writer.wal_hook(Some(committed)).map_err(store_error)?;
        let of_thread = shared.clone();
        let thread = std::thread::Builder::new()
            .name("store-checkpoints".into())
            .spawn(move || run(&own, &of_thread))
            .map_err(StoreError::internal)?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Returns when the thread has ended and closed its connection.
    pub(super) fn close(&self) {
        self.shared.state.lock().is_closed = true;
        self.shared.wake.notify_one();
        if let Some(thread) = self.thread.lock().take() {
            let _ = thread.join();
        }
    }
}

impl Drop for WalCheckpoints {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    /// A commit has made the log so long.
    fn committed(&self, wal: &mut Wal, pages: i32) {
        let copied = self.copied.load(Ordering::Relaxed);
        if pages < copied {
            self.copied.store(0, Ordering::Relaxed);
        }
        let rest = if pages < copied { pages } else { pages - copied };
        if (pages >= RESTART_FROM && rest <= REST_MAX) || pages >= RESTART_ALWAYS_FROM {
            // The commit stands whether this succeeds or not.
            let _ = wal.checkpoint();
        } else if rest >= COPY_EVERY {
            self.state.lock().is_due = true;
            self.wake.notify_one();
        }
    }

    /// Waits until there is something to copy; false: the store closes.
    fn wait(&self) -> bool {
        let mut state = self.state.lock();
        while !state.is_due && !state.is_closed {
            self.wake.wait(&mut state);
        }
        state.is_due = false;
        !state.is_closed
    }
}

fn run(connection: &Connection, shared: &Shared) {
    while shared.wait() {
        let copied = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(2));
        match copied {
            Ok(copied) => shared.copied.store(copied, Ordering::Relaxed),
            // A later commit asks again; whoever writes finds out what is wrong with the disk.
            Err(error) => tracing::debug!(%error, "the log of the store's file could not be copied"),
        }
    }
}
