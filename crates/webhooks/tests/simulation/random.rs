//! Random numbers from a seed, and a clock that only the simulation moves.

use std::ops::Range;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use domain::{Clock, Random, Ticks};
use parking_lot::Mutex;

pub(crate) struct SeededRandom(u64);

impl SeededRandom {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x616c_6461_6261)
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.number() % end.max(1)
    }

    /// True with this probability, in percent.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        let place = usize::try_from(self.below(all.len() as u64)).unwrap();
        &all[place]
    }

    pub(crate) fn span(&mut self, millis: Range<u64>) -> Duration {
        let micros = (millis.end - millis.start) * 1000;
        Duration::from_millis(millis.start) + Duration::from_micros(self.below(micros))
    }
}

/// The store's source of random bytes.
pub(crate) struct RandomBytes(pub(crate) Mutex<SeededRandom>);

impl Random for RandomBytes {
    fn fill(&self, bytes: &mut [u8]) {
        let mut random = self.0.lock();
        for byte in bytes {
            *byte = random.number().to_le_bytes()[0];
        }
    }
}

/// The database's clock, which never jumps.
pub(crate) struct SteadyClock(pub(crate) AtomicI64);

impl Clock for SteadyClock {
    fn now(&self) -> Ticks {
        Ticks(self.0.load(Ordering::Relaxed))
    }
}
