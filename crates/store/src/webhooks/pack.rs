//! Packed successful deliveries: a few bytes each instead of a row each. A pack spans little time and few
//! sequences, so that a query reads only the few packs that may match.

use std::collections::HashSet;
use std::time::Duration;

use domain::Ticks;

use super::{DeliveryQuery, SuccessfulDelivery};
use crate::plan::signed;
use crate::{Result, StoreError};

/// The longest time between the first and the last delivery of a pack.
pub(crate) const PACK_SPAN: Duration = Duration::from_secs(60);
pub(crate) const PACK_NUMBERS_MAX: u64 = 16_384;
const PACK_EVENTS_MAX: usize = 1_000;
/// Between two sequences of one pack: an old event that was delivered at last does not make the pack of new ones wide.
const PACK_GAP_MAX: u64 = 255;
/// Packs with more numbers than this between their ends have an index of their own (`delivered_wide`): what may contain an
/// event is then found among the few numbers after it, and among the few wide packs.
pub(crate) const NARROW_NUMBERS_MAX: u64 = 31;
/// Between two sequences of one run, for narrow packs and for wide ones: what lies between is read too.
const NARROW_GAP_MAX: u64 = 8;
const WIDE_GAP_MAX: u64 = 256;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pack {
    pub(crate) first_sequence: u64,
    pub(crate) last_sequence: u64,
    pub(crate) first_at: Ticks,
    pub(crate) last_at: Ticks,
    pub(crate) events: u64,
    pub(crate) packed: Vec<u8>,
}

impl Pack {
    fn of(one: &SuccessfulDelivery) -> Self {
        Self {
            first_sequence: one.sequence,
            last_sequence: one.sequence,
            first_at: one.at,
            last_at: one.at,
            events: 0,
            packed: Vec::new(),
        }
    }

    fn has_room_for(&self, one: &SuccessfulDelivery) -> bool {
        let (first, last) = (self.first_at.min(one.at), self.last_at.max(one.at));
        self.events < PACK_EVENTS_MAX as u64
            && one.sequence - self.last_sequence <= PACK_GAP_MAX
            && one.sequence - self.first_sequence <= PACK_NUMBERS_MAX
            && last.since(first) <= PACK_SPAN
    }

    fn add(&mut self, one: &SuccessfulDelivery, before: Option<&SuccessfulDelivery>) {
        let (sequence, at) = before.map_or((0, 0), |before| (before.sequence, before.at.0));
        put(&mut self.packed, one.sequence - sequence);
        put(&mut self.packed, zigzag(one.at.0.wrapping_sub(at)));
        put(&mut self.packed, one.status.into());
        put(&mut self.packed, one.duration_ms.into());
        self.last_sequence = one.sequence;
        self.first_at = self.first_at.min(one.at);
        self.last_at = self.last_at.max(one.at);
        self.events += 1;
    }
}

pub(crate) fn pack(mut delivered: Vec<SuccessfulDelivery>) -> Vec<Pack> {
    delivered.sort_by_key(|one| (one.sequence, one.at));
    let mut packs: Vec<Pack> = Vec::new();
    let mut before = None;
    for one in &delivered {
        if !packs.last().is_some_and(|pack| pack.has_room_for(one)) {
            packs.push(Pack::of(one));
            before = None;
        }
        if let Some(pack) = packs.last_mut() {
            pack.add(one, before);
        }
        before = Some(one);
    }
    packs
}

pub(crate) fn unpack(mut packed: &[u8]) -> Result<Vec<SuccessfulDelivery>> {
    let mut delivered: Vec<SuccessfulDelivery> = Vec::new();
    while !packed.is_empty() {
        let (sequence, at) = delivered.last().map_or((0, 0), |before| (before.sequence, before.at.0));
        let one = SuccessfulDelivery {
            sequence: sequence.wrapping_add(take(&mut packed)?),
            at: Ticks(at.wrapping_add(unzigzag(take(&mut packed)?))),
            status: u16::try_from(take(&mut packed)?).map_err(StoreError::internal)?,
            duration_ms: u32::try_from(take(&mut packed)?).map_err(StoreError::internal)?,
        };
        delivered.push(one);
    }
    Ok(delivered)
}

/// The deliveries in the packs that match a query, newest first. Each pack comes with the time of its last delivery; packs
/// that are older than all that is wanted are not unpacked.
pub(crate) fn newest<P: AsRef<[u8]>>(
    mut packs: Vec<(Ticks, P)>,
    query: &DeliveryQuery,
) -> Result<Vec<SuccessfulDelivery>> {
    packs.sort_by_key(|(last_at, _)| std::cmp::Reverse(*last_at));
    let mut found: Vec<SuccessfulDelivery> = Vec::new();
    for (last_at, packed) in packs {
        if query.rows_max > 0 && found.len() >= query.rows_max {
            let (_, oldest, _) = found.select_nth_unstable_by_key(query.rows_max - 1, newer_first);
            if last_at < oldest.at {
                break;
            }
        }
        found.extend(unpack(packed.as_ref())?.into_iter().filter(|one| query.includes(one.at, one.sequence)));
    }
    found.sort_unstable_by_key(newer_first);
    found.truncate(query.rows_max);
    Ok(found)
}

fn newer_first(one: &SuccessfulDelivery) -> std::cmp::Reverse<(Ticks, u64)> {
    std::cmp::Reverse((one.at, one.sequence))
}

/// Of what the packs hold, the deliveries of these events.
pub(crate) fn successes_of<P: AsRef<[u8]>>(
    packs: &[P],
    sequences: &[u64],
) -> Result<Vec<SuccessfulDelivery>> {
    let wanted: HashSet<u64> = sequences.iter().copied().collect();
    let mut found = Vec::new();
    for packed in packs {
        found.extend(unpack(packed.as_ref())?.into_iter().filter(|one| wanted.contains(&one.sequence)));
    }
    Ok(found)
}

/// Where the packs with some sequences can be.
pub(crate) struct PackRanges {
    /// Of packs with up to `NARROW_NUMBERS_MAX` numbers between their ends.
    pub(crate) narrow: Vec<PackRange>,
    /// Of wider packs.
    pub(crate) wide: Vec<PackRange>,
}

/// A pack may contain one of the sequences if it starts at `start_max` or before, and ends from `end_min` to `end_max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PackRange {
    pub(crate) start_max: i64,
    pub(crate) end_min: i64,
    pub(crate) end_max: i64,
}

impl PackRanges {
    pub(crate) fn of(sequences: &[u64]) -> Self {
        let ranges = |gap_max, numbers_max| {
            let range = |(first, last): (u64, u64)| PackRange {
                start_max: signed(last),
                end_min: signed(first),
                // Saturates: any number may come from outside.
                end_max: signed(last.saturating_add(numbers_max)),
            };
            runs(sequences, gap_max).into_iter().map(range).collect()
        };
        Self {
            narrow: ranges(NARROW_GAP_MAX, NARROW_NUMBERS_MAX),
            wide: ranges(WIDE_GAP_MAX, PACK_NUMBERS_MAX),
        }
    }
}

/// Sequences as runs, each from its first to its last: what lies close together is looked up in one range.
fn runs(sequences: &[u64], gap_max: u64) -> Vec<(u64, u64)> {
    let mut sorted = sequences.to_vec();
    sorted.sort_unstable();
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for sequence in sorted {
        match runs.last_mut() {
            Some((_, last)) if sequence - *last <= gap_max => *last = sequence,
            _ => runs.push((sequence, sequence)),
        }
    }
    runs
}

/// A varint: seven bits per byte, lowest first; the highest bit says that more bytes follow.
fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(low_bits(number) | 0x80);
        number >>= 7;
    }
    out.push(low_bits(number));
}

fn low_bits(number: u64) -> u8 {
    number.to_le_bytes()[0] & 0x7f
}

fn take(packed: &mut &[u8]) -> Result<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) =
            packed.split_first().ok_or_else(|| StoreError::internal("a pack of deliveries is truncated"))?;
        *packed = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(StoreError::internal("a number in a pack of deliveries is too long"))
}

/// Maps small numbers of either sign to small unsigned numbers.
fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -((number & 1).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_sequences_form_one_run() {
        assert_eq!(runs(&[], 256), []);
        assert_eq!(runs(&[7], 256), [(7, 7)]);
        assert_eq!(runs(&[300, 5, 5, 44, 556], 256), [(5, 556)]);
        assert_eq!(runs(&[u64::MAX, 0, 257], 256), [(0, 0), (257, 257), (u64::MAX, u64::MAX)]);
    }

    #[test]
    fn ranges_cover_every_pack_that_may_contain_a_sequence() {
        let ranges = PackRanges::of(&[100, u64::MAX]);
        let range = |start_max, end_min, end_max| PackRange { start_max, end_min, end_max };
        let last = range(i64::MAX, i64::MAX, i64::MAX);
        assert_eq!(ranges.narrow, [range(100, 100, 131), last]);
        assert_eq!(ranges.wide, [range(100, 100, 16_484), last]);
    }

    #[test]
    fn packs_that_are_too_old_are_not_unpacked() {
        let success =
            |sequence, at| SuccessfulDelivery { sequence, at: Ticks(at), status: 204, duration_ms: 5 };
        let one = |delivered: Vec<SuccessfulDelivery>| pack(delivered).remove(0).packed;
        let query = |rows_max| DeliveryQuery {
            rows_max,
            ..DeliveryQuery::newest_since(domain::Guid::from_bytes([1; 16]), Ticks(0), 0)
        };
        let packs = || {
            vec![
                // It cannot be unpacked.
                (Ticks(4), vec![0x80]),
                (Ticks(9), one(vec![success(1, 5), success(2, 9)])),
                (Ticks(7), one(vec![success(3, 6), success(4, 7)])),
            ]
        };
        let found = |rows_max| {
            let found = newest(packs(), &query(rows_max));
            found.map(|found| found.iter().map(|one| one.sequence).collect::<Vec<_>>())
        };
        assert_eq!(found(4), Ok(vec![2, 4, 3, 1]));
        assert_eq!(found(2), Ok(vec![2, 4]));
        assert!(found(5).is_err(), "more are wanted than the newer packs have");
    }

    #[test]
    fn old_event_that_is_delivered_at_last_has_a_pack_of_its_own() {
        let success = |sequence| SuccessfulDelivery { sequence, at: Ticks(1), status: 204, duration_ms: 5 };
        let packs = pack([7, 1_000, 1_001, 1_256, 1_512].map(success).into());
        let ends: Vec<_> = packs.iter().map(|pack| (pack.first_sequence, pack.last_sequence)).collect();
        assert_eq!(ends, [(7, 7), (1_000, 1_256), (1_512, 1_512)]);
    }
}
