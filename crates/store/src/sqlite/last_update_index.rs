//! An in-memory index of the payroll companies' last updates, for tenants that are often queried for changes
//! since a time. An index belongs to one version of the collection and is valid as long as that version is
//! current.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::Resource;
use domain::filter::{Comparison, Field, Filter, Value};
use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension, params};

use super::reader::CollectionState;
use crate::plan::{NO_COMPANY, unsigned};

const BYTES_MAX: usize = 16 * 1024 * 1024;
/// Few enough for a linear search.
const TENANTS_MAX: usize = 64;

/// Pairs of (last update, ordinal), sorted.
pub(super) type LastUpdateIndex = Arc<[(i64, i64)]>;

#[derive(Default)]
pub(super) struct LastUpdateIndexes {
    /// The most recently used tenant is last; the first is evicted.
    tenants: Mutex<Vec<TenantIndex>>,
    has_due: AtomicBool,
}

struct TenantIndex {
    tenant_no: i64,
    version: u64,
    /// How many rows queries of this version have read without the index.
    rows_found: u64,
    is_due: bool,
    entries: LastUpdateIndex,
}

impl LastUpdateIndexes {
    pub(super) fn find(&self, state: &CollectionState) -> Option<LastUpdateIndex> {
        let tenants = self.tenants.lock();
        let index = tenants.iter().find(|index| index.tenant_no == state.tenant_no)?;
        let is_complete =
            index.version == state.counters.version && index.entries.len() as u64 == state.counters.live;
        (is_complete && !index.entries.is_empty()).then(|| index.entries.clone())
    }

    /// Counts the rows that a query read without the index. Once queries have read as many rows as the
    /// collection has, building the index would have cost no more.
    pub(super) fn count(&self, state: &CollectionState, rows: usize) {
        let mut tenants = self.tenants.lock();
        let position = tenants.iter().position(|index| index.tenant_no == state.tenant_no);
        let index = position
            .map(|position| tenants.remove(position))
            .filter(|index| index.version == state.counters.version);
        let mut index = index.unwrap_or_else(|| TenantIndex {
            tenant_no: state.tenant_no,
            version: state.counters.version,
            rows_found: 0,
            is_due: false,
            entries: Arc::default(),
        });
        let rows_before = index.rows_found;
        index.rows_found += rows as u64;
        if rows_before < state.counters.live
            && index.rows_found >= state.counters.live
            && bytes(state.counters.live) <= BYTES_MAX
        {
            index.is_due = true;
            self.has_due.store(true, Ordering::Release);
        }
        if tenants.len() >= TENANTS_MAX {
            tenants.remove(0);
        }
        tenants.push(index);
    }

    /// A tenant whose index should be built; each is returned once.
    pub(super) fn take_due(&self) -> Option<i64> {
        if !self.has_due.load(Ordering::Acquire) {
            return None;
        }
        let mut tenants = self.tenants.lock();
        let mut all_due = tenants.iter_mut().filter(|index| index.is_due);
        let due = all_due.next();
        self.has_due.store(all_due.next().is_some(), Ordering::Release);
        due.map(|index| {
            index.is_due = false;
            index.tenant_no
        })
    }

    /// Stores an index if its version is still the queried one, and evicts older ones beyond the memory limit.
    pub(super) fn store(&self, tenant_no: i64, version: u64, entries: &LastUpdateIndex) {
        let mut tenants = self.tenants.lock();
        let mut bytes_left = BYTES_MAX.saturating_sub(bytes(entries.len() as u64));
        for index in tenants.iter_mut().rev() {
            if index.tenant_no == tenant_no {
                if index.version == version {
                    index.entries = entries.clone();
                }
                continue;
            }
            let bytes = bytes(index.entries.len() as u64);
            if bytes > bytes_left {
                index.entries = Arc::default();
            } else {
                bytes_left -= bytes;
            }
        }
    }
}

fn bytes(entries: u64) -> usize {
    usize::try_from(entries).unwrap_or(usize::MAX).saturating_mul(size_of::<(i64, i64)>())
}

/// Reads the index of a tenant with its version; must run in one snapshot.
pub(super) fn build(reader: &Connection, tenant_no: i64) -> rusqlite::Result<Option<(u64, LastUpdateIndex)>> {
    let version: Option<i64> = reader
        .prepare_cached(
            "SELECT version FROM collections WHERE tenant_no = ?1 AND company_no = ?2 AND resource = ?3",
        )?
        .query_row(params![tenant_no, NO_COMPANY, Resource::payroll_companies().code()], |row| row.get(0))
        .optional()?;
    let entries: Vec<(i64, i64)> = reader
        .prepare_cached(
            "SELECT last_update, ordinal FROM payroll_companies WHERE tenant_no = ?1 ORDER BY last_update",
        )?
        .query_map([tenant_no], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(version.map(|version| (unsigned(version), entries.into())))
}

/// The range that a filter selects. None if the filter is not a time range.
pub(super) fn matching_range(filter: &Filter, entries: &[(i64, i64)]) -> Option<Range<usize>> {
    match filter {
        Filter::Compare(Field::LastUpdate, comparison, Value::Time(at)) => {
            let before = || entries.partition_point(|(last_update, _)| *last_update < at.0);
            let until = || entries.partition_point(|(last_update, _)| *last_update <= at.0);
            match comparison {
                Comparison::Equal => Some(before()..until()),
                Comparison::NotEqual => None,
                Comparison::Greater => Some(until()..entries.len()),
                Comparison::GreaterOrEqual => Some(before()..entries.len()),
                Comparison::Less => Some(0..before()),
                Comparison::LessOrEqual => Some(0..until()),
            }
        }
        Filter::And(left, right) => {
            let (left, right) = (matching_range(left, entries)?, matching_range(right, entries)?);
            let start = left.start.max(right.start);
            Some(start..left.end.min(right.end).max(start))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use domain::Ticks;
    use domain::filter::CompanyFields;
    use proptest::prelude::*;

    use super::*;

    fn span() -> impl Strategy<Value = Filter> {
        use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual};
        let comparison = prop::sample::select(vec![Equal, Greater, GreaterOrEqual, Less, LessOrEqual]);
        let one = (comparison, -1..12_i64)
            .prop_map(|(sign, at)| Filter::Compare(Field::LastUpdate, sign, Value::Time(Ticks(at))));
        one.prop_recursive(3, 8, 2, |inner| {
            (inner.clone(), inner).prop_map(|(left, right)| Filter::And(Box::new(left), Box::new(right)))
        })
    }

    proptest! {
        #[test]
        fn matching_range_equals_filtered_entries(mut entries in prop::collection::vec((0..10_i64, 0..99_i64), 0..40), filter in span()) {
            entries.sort_unstable();
            let fits = |at: i64| {
                filter.matches(&CompanyFields { code: 0, name: "", identifier: "", last_update: Ticks(at) })
            };
            let expected: Vec<_> = entries.iter().copied().filter(|(at, _)| fits(*at)).collect();
            prop_assert_eq!(&entries[matching_range(&filter, &entries).unwrap()], &expected[..]);
        }
    }
}
