//! Processes that write to one file take turns. SQLite lets in whoever happens to ask at the right moment, and a process
//! that writes without a pause leaves few such moments; here who waits for the file is the next to have it.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

/// A file beside the store's, under a lock of the operating system's while somebody waits.
pub(super) struct Turnstile {
    /// None where it cannot be made: then nobody is promised a turn.
    file: Option<File>,
}

impl Turnstile {
    pub(super) fn beside(store: &Path) -> Self {
        let path = companion(store, ".writing");
        let file = open_companion(&path);
        if let Err(error) = &file {
            tracing::warn!(path = %path.display(), %error, "processes that write cannot take turns");
        }
        Self { file: file.ok() }
    }

    /// Waits for whoever has come before, then does what may wait for the file itself.
    pub(super) fn pass<T>(&self, enter: impl FnOnce() -> T) -> T {
        let held = self.file.as_ref().filter(|file| file.lock().is_ok());
        let entered = enter();
        if let Some(file) = held {
            let _ = file.unlock();
        }
        entered
    }
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
