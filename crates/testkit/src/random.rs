//! Randomness that follows from a seed (SplitMix64): the same seed gives the same bytes.

use std::sync::atomic::{AtomicBool, Ordering};

use domain::Random;
use parking_lot::Mutex;

#[derive(Debug)]
pub struct SeededRandom {
    state: Mutex<u64>,
    panics_next: AtomicBool,
}

impl SeededRandom {
    pub fn new(seed: u64) -> Self {
        Self { state: Mutex::new(seed), panics_next: AtomicBool::new(false) }
    }

    /// Makes the next `fill` panic: a test interrupts an operation halfway with it.
    pub fn panic_next(&self) {
        self.panics_next.store(true, Ordering::SeqCst);
    }

    pub fn below(&self, bound: u64) -> u64 {
        self.next_u64() % bound
    }

    pub fn next_u64(&self) -> u64 {
        let mut state = self.state.lock();
        *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = *state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

impl Random for SeededRandom {
    fn fill(&self, bytes: &mut [u8]) {
        assert!(!self.panics_next.swap(false, Ordering::SeqCst), "a test asked for this panic");
        for chunk in bytes.chunks_mut(8) {
            let value = self.next_u64().to_le_bytes();
            chunk.copy_from_slice(&value[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
        let bytes = |seed| {
            let mut bytes = [0; 21];
            SeededRandom::new(seed).fill(&mut bytes);
            bytes
        };
        assert_eq!(bytes(1), bytes(1));
        assert_ne!(bytes(1), bytes(2));
    }
}
