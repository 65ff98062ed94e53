//! Processes that write to one file take turns. SQLite lets in whoever happens to ask at the right moment, and a process
//! that writes without a pause leaves few such moments; here who waits for the file is the next to have it.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longer than SQLite takes to find out that the file is free. Who holds others up for longer stands still, and is passed by.
const WAIT_MAX: Duration = Duration::from_millis(250);
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// A file beside the store's, under a lock of the operating system's while somebody waits.
pub(super) struct WriteLock {
    /// None where it cannot be made: then nobody is promised a turn.
    file: Option<File>,
}

impl WriteLock {
    pub(super) fn next_to(store: &Path) -> Self {
        let path = companion(store, ".writing");
        let file = open_companion(&path);
        if let Err(error) = &file {
            tracing::warn!(path = %path.display(), %error, "processes that write cannot take turns");
        }
        Self { file: file.ok() }
    }

    /// Waits for whoever has come before, then does what may wait for the file itself.
    pub(super) fn run_in_turn<T>(&self, enter: impl FnOnce() -> T) -> T {
        let locked_file = self.file.as_ref().filter(|file| wait_for(file));
        let entered = enter();
        if let Some(file) = locked_file {
            let _ = file.unlock();
        }
        entered
    }
}

/// Tells whether it has the lock now.
#[expect(
    clippy::disallowed_methods,
    reason = "another process's lock rings no bell, and may be held for ever"
)]
fn wait_for(file: &File) -> bool {
    for _ in 0..WAIT_MAX.as_millis() / POLL_INTERVAL.as_millis() {
        match file.try_lock() {
            Ok(()) => return true,
            Err(TryLockError::WouldBlock) => std::thread::sleep(POLL_INTERVAL),
            Err(TryLockError::Error(_)) => return false,
        }
    }
    false
}

/// A file that belongs to the store's file.
pub(super) fn companion(store: &Path, ending: &str) -> PathBuf {
    let mut path = store.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

/// Opens one that says something only by who has its lock; makes it where there is none, its owner's alone.
pub(super) fn open_companion(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}
