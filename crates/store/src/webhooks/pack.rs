//! Packed successful deliveries: a few bytes each instead of a row each. A pack spans little time and few
//! sequences, so that a query reads only the few packs that may match.

use std::collections::HashSet;
use std::time::Duration;

use domain::Ticks;

use super::{DeliveryQuery, SuccessfulDelivery};
use crate::{Result, StoreError};

/// The longest time between the first and the last delivery of a pack.
pub(crate) const PACK_SPAN: Duration = Duration::from_secs(60);
pub(crate) const PACK_NUMBERS_MAX: u64 = 16_384;
const PACK_EVENTS_MAX: usize = 1_000;
/// Between two sequences of one run; the packs of a wider gap are not worth reading.
const RUN_GAP_MAX: u64 = 256;

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

/// The deliveries in the packs that match a query, newest first.
pub(crate) fn newest<P: AsRef<[u8]>>(packs: &[P], query: &DeliveryQuery) -> Result<Vec<SuccessfulDelivery>> {
    let mut found = Vec::new();
    for packed in packs {
        found.extend(unpack(packed.as_ref())?.into_iter().filter(|one| query.includes(one.at, one.sequence)));
    }
    found.sort_unstable_by_key(|one: &SuccessfulDelivery| std::cmp::Reverse((one.at, one.sequence)));
    found.truncate(query.rows_max);
    Ok(found)
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

/// Sequences as runs, each from its first to its last: what lies close together is looked up in one range.
pub(crate) fn runs(sequences: &[u64]) -> Vec<(u64, u64)> {
    let mut sorted = sequences.to_vec();
    sorted.sort_unstable();
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for sequence in sorted {
        match runs.last_mut() {
            Some((_, last)) if sequence - *last <= RUN_GAP_MAX => *last = sequence,
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
        assert_eq!(runs(&[]), []);
        assert_eq!(runs(&[7]), [(7, 7)]);
        assert_eq!(runs(&[300, 5, 5, 44, 556]), [(5, 556)]);
        assert_eq!(runs(&[u64::MAX, 0, 257]), [(0, 0), (257, 257), (u64::MAX, u64::MAX)]);
    }
}
