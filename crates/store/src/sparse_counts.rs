//! The stored form of a row of counts, most of which are zero: each that is not, as its place and a LEB128 number.

/// At most 256 counts.
pub(crate) fn pack(counts: impl IntoIterator<Item = u64>) -> Vec<u8> {
    let mut packed = Vec::new();
    for (place, count) in (0_u8..=u8::MAX).zip(counts) {
        let mut rest = count;
        if rest == 0 {
            continue;
        }
        packed.push(place);
        while rest >= 0x80 {
            packed.push(u8::try_from(rest & 0x7f).unwrap_or(0) | 0x80);
            rest >>= 7;
        }
        packed.push(u8::try_from(rest).unwrap_or(0));
    }
    packed
}

/// Places and counts; none if the bytes are malformed.
pub(crate) fn unpack(packed: &[u8]) -> Option<Vec<(usize, u64)>> {
    let mut counts = Vec::new();
    let mut bytes = packed.iter().copied();
    while let Some(place) = bytes.next() {
        let (mut count, mut shift) = (0_u64, 0);
        loop {
            let byte = bytes.next().filter(|_| shift < u64::BITS)?;
            count |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                break;
            }
        }
        counts.push((usize::from(place), count));
    }
    Some(counts)
}
