//! Pseudorandom numbers: the same seed gives the same inputs.

/// The generator. Not for secrets.
#[derive(Clone, Debug)]
pub(crate) struct Rng(fastrand::Rng);

impl Rng {
    /// The generator of a target: two targets with the same seed have different inputs.
    pub(crate) fn new(seed: u64, target: &str) -> Self {
        let mix = |seed: u64, byte: u8| fastrand::Rng::with_seed(seed ^ u64::from(byte)).u64(..);
        Self(fastrand::Rng::with_seed(target.bytes().fold(seed, mix)))
    }

    /// A number below `end`; zero if `end` is zero.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0.usize(..end.max(1))
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
        self.0.u8(..)
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    #[test]
    fn same_seed_gives_the_same_numbers_and_another_target_others() {
        let numbers = |seed, target| {
            let mut rng = Rng::new(seed, target);
            [(); 3].map(|()| rng.below(usize::MAX))
        };
        assert_eq!(numbers(7, "json"), numbers(7, "json"));
        assert_ne!(numbers(7, "json"), numbers(8, "json"));
        assert_ne!(numbers(7, "json"), numbers(7, "filter"));
        assert!((0..1000).all(|_| Rng::new(1, "a").below(3) < 3));
        assert_eq!(Rng::new(1, "a").below(0), 0);
    }
}
