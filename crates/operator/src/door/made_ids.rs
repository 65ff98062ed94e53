//! Correlation ids that were made here: derived from the process and the line, so that only the lines need
//! to be remembered, one bit each.

use aws_lc_rs::digest;
use domain::{Guid, ProcessId};

#[derive(Clone, Debug, Default)]
pub(super) struct MadeIds {
    words: Vec<u64>,
}

impl MadeIds {
    pub(super) fn insert(&mut self, line: u64) {
        let word = usize::try_from(line / 64).unwrap_or(usize::MAX);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (line % 64);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The lines, in order.
    pub(super) fn lines(self) -> impl Iterator<Item = u64> {
        (0_u64..).zip(self.words).flat_map(|(at, word)| {
            (0..64).filter(move |bit| word & (1 << bit) != 0).map(move |bit| at * 64 + bit)
        })
    }
}

/// The id of a line that came without one; the same whenever the same request is sent again.
pub(super) fn made_id(process: ProcessId, line: u64) -> Guid {
    let mut context = digest::Context::new(&digest::SHA256);
    context.update(b"aldaba made id");
    context.update(process.as_bytes());
    context.update(&line.to_be_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&context.finish().as_ref()[..16]);
    Guid::derived_from(bytes)
}
