//! A folder for a while: fresh, private, and gone with its owner.

use std::{
    fs::{self, DirBuilder},
    io::{Error, ErrorKind},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering},
};

/// A temporary folder that is removed when this value goes.
#[derive(Debug)]
pub struct TempDir {
    path: PathBuf,
}

impl TempDir {
    /// Makes a folder that did not exist before, inside `parent`.
    pub fn inside(parent: &Path, label: &str) -> Result<Self, Error> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("aldaba-{label}-{}-{number}", process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self { path }),
                // Left behind by a killed run that had our process id.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The same, where the system keeps temporary things.
    pub fn new(label: &str) -> Result<Self, Error> {
        Self::inside(&std::env::temp_dir(), label)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        // It may be gone already, and nobody is left who could act on another answer.
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_fresh_and_go_with_their_owner() {
        let (one, other) = (TempDir::new("scratch").unwrap(), TempDir::new("scratch").unwrap());
        assert_ne!(one.path(), other.path());
        fs::write(one.path().join("file"), "text").unwrap();
        let path = one.path().to_path_buf();
        drop(one);
        assert!(!path.exists());
    }
}
