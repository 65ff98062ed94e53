//! Correlation ids generated for lines that came without one. An id derives from the process and the line number, so
//! only the line numbers are stored, one bit each.

use aws_lc_rs::digest;
use domain::{Guid, ProcessId};

/// A sparse bit set of line numbers, 64 to a word. Lines are inserted in order.
#[derive(Clone, Debug, Default)]
pub(super) struct GeneratedIds {
    words: Vec<(u64, u64)>,
}

impl GeneratedIds {
    pub(super) fn insert(&mut self, line: u64) {
        let (at, bit) = (line / 64, 1 << (line % 64));
        match self.words.last_mut() {
            Some((last, bits)) if *last == at => *bits |= bit,
            _ => self.words.push((at, bit)),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The line numbers in order.
    pub(super) fn lines(self) -> impl Iterator<Item = u64> {
        self.words.into_iter().flat_map(|(at, word)| {
            (0..64).filter(move |bit| word & (1 << bit) != 0).map(move |bit| at * 64 + bit)
        })
    }
}

/// The id of a line that came without one; a retry of the same request generates the same id.
pub(super) fn generated_id(process: ProcessId, line: u64) -> Guid {
    let mut context = digest::Context::new(&digest::SHA256);
    context.update(b"aldaba made id");
    context.update(process.as_bytes());
    context.update(&line.to_be_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&context.finish().as_ref()[..16]);
    Guid::derived_from(bytes)
}
