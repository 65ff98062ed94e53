//! A small generator of pseudorandom numbers (SplitMix64): the same seed gives the same inputs.

/// The generator. Not for secrets.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    /// The generator of a target: two targets with the same seed have different inputs.
    pub(crate) fn new(seed: u64, target: &str) -> Self {
        Self(target.bytes().fold(seed, |state, byte| Self(state ^ u64::from(byte)).number()))
    }

    /// The next number.
    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; zero if `end` is zero.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let end = end as u64;
        usize::try_from(self.number().checked_rem(end).unwrap_or(0)).unwrap_or(0)
    }

    /// True once in `times`.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of these; the default where there is none.
    pub(crate) fn pick<T: Copy + Default>(&mut self, items: &[T]) -> T {
        let at = self.below(items.len());
        items.get(at).copied().unwrap_or_default()
    }

    /// A byte.
    pub(crate) fn byte(&mut self) -> u8 {
        self.number().to_le_bytes()[0]
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    #[test]
    fn same_seed_gives_the_same_numbers_and_another_target_others() {
        let numbers = |seed, target| {
            let mut rng = Rng::new(seed, target);
            [rng.number(), rng.number(), rng.number()]
        };
        assert_eq!(numbers(7, "json"), numbers(7, "json"));
        assert_ne!(numbers(7, "json"), numbers(8, "json"));
        assert_ne!(numbers(7, "json"), numbers(7, "filter"));
        assert!((0..1000).all(|_| Rng::new(1, "a").below(3) < 3));
        assert_eq!(Rng::new(1, "a").below(0), 0);
    }
}
