//! How far a backup is.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Debug, Default)]
pub(crate) struct Progress {
    lines: AtomicU64,
    bytes: AtomicU64,
    is_verifying: AtomicBool,
}

impl Progress {
    /// Of the backup's text; nearly all lines are rows.
    pub(crate) fn lines(&self) -> u64 {
        self.lines.load(Ordering::Relaxed)
    }

    /// Before encryption.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn is_verifying(&self) -> bool {
        self.is_verifying.load(Ordering::Relaxed)
    }

    pub(super) fn begin_verifying(&self) {
        self.is_verifying.store(true, Ordering::Relaxed);
    }
}

/// Counts what is written through it.
pub(super) struct Counting<W> {
    pub(super) out: W,
    pub(super) progress: Arc<Progress>,
}

impl<W: Write> Write for Counting<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.out.write(bytes)?;
        let lines = bytes.iter().take(written).filter(|byte| **byte == b'\n').count();
        self.progress.lines.fetch_add(lines as u64, Ordering::Relaxed);
        self.progress.bytes.fetch_add(written as u64, Ordering::Relaxed);
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}
