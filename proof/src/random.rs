//! Numbers that look random and are the same for the same seed, so that a round can be repeated.

use std::ops::Range;
use std::time::Duration;

/// SplitMix64.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number of the range, which must not be empty.
    pub(crate) fn among(&mut self, range: Range<usize>) -> usize {
        let size = (range.end - range.start).max(1) as u64;
        range.start + usize::try_from(self.next() % size).unwrap_or_default()
    }

    pub(crate) fn millis(&mut self, range: Range<usize>) -> Duration {
        Duration::from_millis(self.among(range) as u64)
    }

    /// True in so many of a hundred cases.
    pub(crate) fn percent(&mut self, share: usize) -> bool {
        self.among(0..100) < share
    }
}
