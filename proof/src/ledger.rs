//! What the service acknowledged: the changes in the order of each record.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use parking_lot::Mutex;

/// A change that the service answered with 200.
#[derive(Clone, Debug)]
pub(crate) struct Acknowledged {
    /// Counts from 1 over all records and loads; the event carries it.
    pub(crate) change: u64,
    pub(crate) record: String,
    pub(crate) sequence: u64,
    pub(crate) at: Instant,
}

/// No two loads have the same number: a record that is stored as it was before makes no event.
static LAST_CHANGE: AtomicU64 = AtomicU64::new(0);

#[derive(Debug, Default)]
pub(crate) struct Ledger {
    acknowledged: Mutex<Vec<Acknowledged>>,
}

impl Ledger {
    /// The number of a new change.
    pub(crate) fn next_change() -> u64 {
        LAST_CHANGE.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The number of the last change that any load began.
    pub(crate) fn last_change() -> u64 {
        LAST_CHANGE.load(Ordering::Relaxed)
    }

    pub(crate) fn acknowledge(&self, change: u64, record: &str, sequence: u64) {
        let (record, at) = (record.to_owned(), Instant::now());
        self.acknowledged.lock().push(Acknowledged { change, record, sequence, at });
    }

    pub(crate) fn acknowledged(&self) -> Vec<Acknowledged> {
        self.acknowledged.lock().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.acknowledged.lock().len()
    }
}

/// The changes of each record, in the order in which the service stored them.
pub(crate) fn by_record(all: &[Acknowledged]) -> BTreeMap<&str, Vec<&Acknowledged>> {
    let mut records: BTreeMap<&str, Vec<&Acknowledged>> = BTreeMap::new();
    for one in all {
        records.entry(&one.record).or_default().push(one);
    }
    for changes in records.values_mut() {
        changes.sort_by_key(|one| one.sequence);
    }
    records
}

/// The changes by their number.
pub(crate) fn by_change(all: &[Acknowledged]) -> HashMap<u64, &Acknowledged> {
    all.iter().map(|one| (one.change, one)).collect()
}
