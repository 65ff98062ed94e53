//! A temporary folder: new, private, and removed on drop.

use std::{
    fs::{self, DirBuilder},
    io::{Error, ErrorKind},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering},
};

/// A temporary folder that is removed when this value is dropped.
#[derive(Debug)]
pub struct TempDir {
    path: PathBuf,
}

impl TempDir {
    /// Creates a new folder inside `parent`.
    pub fn inside(parent: &Path, label: &str) -> Result<Self, Error> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("aldaba-{label}-{}-{number}", process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self { path }),
                // Left behind by a killed run with the same process id.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The same, in the system's temporary folder.
    pub fn new(label: &str) -> Result<Self, Error> {
        Self::inside(&std::env::temp_dir(), label)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        // The folder may be gone already, and a drop cannot report another error.
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_new_and_removed_on_drop() {
        let (first, second) = (TempDir::new("scratch").unwrap(), TempDir::new("scratch").unwrap());
        assert_ne!(first.path(), second.path());
        fs::write(first.path().join("file"), "text").unwrap();
        let path = first.path().to_path_buf();
        drop(first);
        assert!(!path.exists());
    }
}
