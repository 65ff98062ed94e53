//! A lock that lets several processes write to one file in turn. SQLite alone has no queue, and a process that
//! writes continuously could starve the others.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longer than SQLite takes to notice that the file is free. A process that holds the lock for longer has
/// stalled, and the others continue without it.
const WAIT_MAX: Duration = Duration::from_millis(250);
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// An operating system lock on a file next to the store's, held while a process waits for the store's file.
pub(super) struct WriteLock {
    /// None if the file cannot be opened: then writers do not take turns.
    file: Option<File>,
}

impl WriteLock {
    pub(super) fn next_to(store: &Path) -> Self {
        let path = companion(store, ".writing");
        let file = open_companion(&path);
        if let Err(error) = &file {
            tracing::warn!(path = %path.display(), %error, "cannot open the write lock file; writing processes will not take turns");
        }
        Self { file: file.ok() }
    }

    /// Waits for the lock, then runs `enter`, which may wait for the store's file.
    pub(super) fn run_in_turn<T>(&self, enter: impl FnOnce() -> T) -> T {
        let locked_file = self.file.as_ref().filter(|file| wait_for(file));
        let entered = enter();
        if let Some(file) = locked_file {
            let _ = file.unlock();
        }
        entered
    }
}

/// Whether the lock was acquired.
#[expect(
    clippy::disallowed_methods,
    reason = "a lock of another process cannot be awaited, and may be held forever"
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

/// The path of a companion file of the store's file.
pub(super) fn companion(store: &Path, ending: &str) -> PathBuf {
    let mut path = store.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

/// Opens or creates a lock file that only its owner can access.
pub(super) fn open_companion(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}
