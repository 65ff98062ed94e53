//! The stored forms of a series and of its counts.

use domain::figures::{FigureCounts, Series};
use domain::{Area, Guid};

use crate::{Result, StoreError, sparse_counts};

/// A short key; GUIDs take 17 bytes.
pub(crate) fn series_bytes(series: &Series) -> Vec<u8> {
    let tagged = |tag: u8, rest: &[u8]| [&[tag], rest].concat();
    match series {
        Series::AreaCalls(area) => {
            let number = Area::ALL.iter().position(|one| one == area).unwrap_or(Area::ALL.len());
            vec![1, u8::try_from(number).unwrap_or(u8::MAX)]
        }
        Series::SignIns => vec![2],
        Series::Deliveries => vec![3],
        Series::SubscriptionCalls(id) => match Guid::parse(id.as_str()) {
            Some(guid) if guid.to_string() == id.as_str() => tagged(4, guid.as_bytes()),
            _ => tagged(5, id.as_str().as_bytes()),
        },
        Series::WebhookDeliveries(id) => tagged(6, id.as_bytes()),
    }
}

/// The counts of the outcomes, then of the latencies.
pub(crate) fn pack_counts(counts: &FigureCounts) -> Vec<u8> {
    sparse_counts::pack(counts.outcomes.iter().chain(&counts.latencies).copied())
}

pub(crate) fn unpack_counts(packed: &[u8]) -> Result<FigureCounts> {
    let wrong = || StoreError::internal("the counts of a figure are malformed");
    let mut counts = FigureCounts::default();
    let outcomes = counts.outcomes.len();
    for (class, count) in sparse_counts::unpack(packed).ok_or_else(wrong)? {
        let place = match class.checked_sub(outcomes) {
            None => counts.outcomes.get_mut(class),
            Some(bucket) => counts.latencies.get_mut(bucket),
        };
        *place.ok_or_else(wrong)? = count;
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use domain::ids::SubscriptionId;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn series_have_different_keys() {
        let guid = "0b6a7a2e-5f0a-4a57-9d5a-0c2f6f1f7b11";
        let of = |id: &str| Series::SubscriptionCalls(SubscriptionId::new(id));
        let mut all = vec![
            Series::SignIns,
            Series::Deliveries,
            of(guid),
            of(&guid.to_uppercase()),
            of("a"),
            Series::WebhookDeliveries(Guid::parse(guid).unwrap()),
        ];
        all.extend(Area::ALL.map(Series::AreaCalls));
        let keys: std::collections::BTreeSet<_> = all.iter().map(series_bytes).collect();
        assert_eq!(keys.len(), all.len());
        assert_eq!(series_bytes(&of(guid)).len(), 17);
    }

    #[test]
    fn malformed_counts_are_an_error() {
        for wrong in
            [&[0_u8][..], &[99, 1], &[0, 0x80], &[0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1]]
        {
            assert!(unpack_counts(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(unpack_counts(&[]), Ok(FigureCounts::default()));
    }

    proptest! {
        #[test]
        fn counts_round_trip(outcomes: [u64; 4], latencies: [u64; 24], zeroed in 0_usize..24) {
            let mut counts = FigureCounts { outcomes, latencies };
            counts.latencies[zeroed] = 0;
            prop_assert_eq!(unpack_counts(&pack_counts(&counts)), Ok(counts));
        }
    }
}
