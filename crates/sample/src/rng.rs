//! A repeatable random number generator (splitmix64). Every record of the sample follows from the seed.

/// Derives the key of item `number` below `key`.
pub(crate) fn mix(key: u64, number: u64) -> u64 {
    scramble(key ^ scramble(number.wrapping_add(0x9e37_79b9_7f4a_7c15)))
}

fn scramble(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// Maps `index` to a unique number in `0..modulus`, far from those of its neighbours. The stride and the modulus
/// must have no common factor.
pub(crate) fn spread(index: u32, offset: u64, stride: u64, modulus: u32) -> u32 {
    let modulus = u64::from(modulus);
    let spread = (u64::from(index) * stride + offset % modulus) % modulus;
    u32::try_from(spread).unwrap_or_default()
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(key: u64) -> Self {
        Self(key)
    }

    pub(crate) fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        scramble(self.0)
    }

    /// A number in `0..end`, or 0 if the range is empty.
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        let scaled = ((self.next_u64() >> 32) * u64::from(end)) >> 32;
        u32::try_from(scaled).unwrap_or_default()
    }

    /// A number in `low..=high`.
    pub(crate) fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }

    /// True with a probability of 1 in `chances`.
    pub(crate) fn one_in(&mut self, chances: u32) -> bool {
        self.below(chances) == 0
    }

    /// A random row of the table, which must not be empty (all tables are constants of this crate).
    pub(crate) fn pick<'table, Row>(&mut self, table: &'table [Row]) -> &'table Row {
        let rows = u32::try_from(table.len()).unwrap_or(u32::MAX);
        &table[self.below(rows) as usize]
    }
}
