//! Chance that can be repeated (splitmix64): all of the sample follows from the seed, nothing is remembered.

/// One of 2^64 keys for what stands under `key` at `place`.
pub(crate) fn mix(key: u64, place: u64) -> u64 {
    scramble(key ^ scramble(place.wrapping_add(0x9e37_79b9_7f4a_7c15)))
}

fn scramble(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// `index` sent to a place of its own in `0..modulus`, far from its neighbours'. The stride must share no
/// factor with the modulus.
pub(crate) fn spread(index: u32, offset: u64, stride: u64, modulus: u32) -> u32 {
    let modulus = u64::from(modulus);
    let place = (u64::from(index) * stride + offset % modulus) % modulus;
    u32::try_from(place).unwrap_or_default()
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(key: u64) -> Self {
        Self(key)
    }

    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        scramble(self.0)
    }

    /// A number in `0..end`; 0 where the range is empty.
    pub(crate) fn below(&mut self, end: u32) -> u32 {
        let scaled = ((self.roll() >> 32) * u64::from(end)) >> 32;
        u32::try_from(scaled).unwrap_or_default()
    }

    /// A number in `low..=high`.
    pub(crate) fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }

    pub(crate) fn one_in(&mut self, chances: u32) -> bool {
        self.below(chances) == 0
    }

    /// One of the table's rows. Tables are never empty: they are this module's constants.
    pub(crate) fn pick<'table, Row>(&mut self, table: &'table [Row]) -> &'table Row {
        let rows = u32::try_from(table.len()).unwrap_or(u32::MAX);
        &table[self.below(rows) as usize]
    }
}
