//! When payroll companies were last updated, in memory: for a tenant that is asked for what has changed since again and
//! again, the moments of all its companies in order. They are of one version of the collection, and serve while that
//! stands.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::Resource;
use domain::filter::{Comparison, Field, Filter, Value};
use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension, params};

use super::reader::Whole;
use crate::plan::{TENANT, unsigned};

const BYTES_MAX: usize = 16 * 1024 * 1024;
/// Few enough to be looked through.
const TENANTS_MAX: usize = 64;

/// Moments and the ordinals of who was updated then, in order.
pub(super) type Moments = Arc<[(i64, i64)]>;

#[derive(Default)]
pub(super) struct KnownMoments {
    /// Who came last is last, and goes last.
    tenants: Mutex<Vec<Known>>,
    is_one_due: AtomicBool,
}

struct Known {
    tenant_no: i64,
    version: u64,
    /// How many rows searches under this version have found without moments.
    rows_found: u64,
    is_due: bool,
    moments: Moments,
}

impl KnownMoments {
    pub(super) fn find(&self, of: &Whole) -> Option<Moments> {
        let tenants = self.tenants.lock();
        let known = tenants.iter().find(|known| known.tenant_no == of.tenant_no)?;
        let are_all = known.version == of.all.version && known.moments.len() as u64 == of.all.live;
        (are_all && !known.moments.is_empty()).then(|| known.moments.clone())
    }

    /// A search found so many rows without moments. Once searches have found as many as there are, it would have cost no
    /// more to gather the moments.
    pub(super) fn count(&self, of: &Whole, rows: usize) {
        let mut tenants = self.tenants.lock();
        let place = tenants.iter().position(|known| known.tenant_no == of.tenant_no);
        let known = place.map(|place| tenants.remove(place)).filter(|known| known.version == of.all.version);
        let mut known = known.unwrap_or_else(|| Known {
            tenant_no: of.tenant_no,
            version: of.all.version,
            rows_found: 0,
            is_due: false,
            moments: Arc::default(),
        });
        let rows_before = known.rows_found;
        known.rows_found += rows as u64;
        if rows_before < of.all.live && known.rows_found >= of.all.live && bytes(of.all.live) <= BYTES_MAX {
            known.is_due = true;
            self.is_one_due.store(true, Ordering::Release);
        }
        if tenants.len() >= TENANTS_MAX {
            tenants.remove(0);
        }
        tenants.push(known);
    }

    /// A tenant whose moments are to be gathered, told once.
    pub(super) fn take_due(&self) -> Option<i64> {
        if !self.is_one_due.load(Ordering::Acquire) {
            return None;
        }
        let mut tenants = self.tenants.lock();
        let mut all_due = tenants.iter_mut().filter(|known| known.is_due);
        let due = all_due.next();
        self.is_one_due.store(all_due.next().is_some(), Ordering::Release);
        due.map(|known| {
            known.is_due = false;
            known.tenant_no
        })
    }

    /// Keeps what was gathered, where its version is still the one that is searched.
    pub(super) fn keep(&self, tenant_no: i64, version: u64, moments: &Moments) {
        let mut tenants = self.tenants.lock();
        let mut room = BYTES_MAX.saturating_sub(bytes(moments.len() as u64));
        for known in tenants.iter_mut().rev() {
            if known.tenant_no == tenant_no {
                if known.version == version {
                    known.moments = moments.clone();
                }
                continue;
            }
            let bytes = bytes(known.moments.len() as u64);
            if bytes > room {
                known.moments = Arc::default();
            } else {
                room -= bytes;
            }
        }
    }
}

fn bytes(moments: u64) -> usize {
    usize::try_from(moments).unwrap_or(usize::MAX).saturating_mul(size_of::<(i64, i64)>())
}

/// All moments of a tenant, with the version that they are of; to be read in one view.
pub(super) fn gather(reader: &Connection, tenant_no: i64) -> rusqlite::Result<Option<(u64, Moments)>> {
    let version: Option<i64> = reader
        .prepare_cached(
            "SELECT version FROM collections WHERE tenant_no = ?1 AND company_no = ?2 AND resource = ?3",
        )?
        .query_row(params![tenant_no, TENANT, Resource::payroll_companies().code()], |row| row.get(0))
        .optional()?;
    let moments: Vec<(i64, i64)> = reader
        .prepare_cached(
            "SELECT last_update, ordinal FROM payroll_companies WHERE tenant_no = ?1 ORDER BY last_update",
        )?
        .query_map([tenant_no], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(version.map(|version| (unsigned(version), moments.into())))
}

/// The part that a filter lets through. None where it asks for more than a span of time.
pub(super) fn part(filter: &Filter, moments: &[(i64, i64)]) -> Option<Range<usize>> {
    match filter {
        Filter::Compare(Field::LastUpdate, comparison, Value::Time(at)) => {
            let before = || moments.partition_point(|(moment, _)| *moment < at.0);
            let until = || moments.partition_point(|(moment, _)| *moment <= at.0);
            match comparison {
                Comparison::Equal => Some(before()..until()),
                Comparison::NotEqual => None,
                Comparison::Greater => Some(until()..moments.len()),
                Comparison::GreaterOrEqual => Some(before()..moments.len()),
                Comparison::Less => Some(0..before()),
                Comparison::LessOrEqual => Some(0..until()),
            }
        }
        Filter::And(left, right) => {
            let (left, right) = (part(left, moments)?, part(right, moments)?);
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
        fn a_part_is_what_matches(mut moments in prop::collection::vec((0..10_i64, 0..99_i64), 0..40), filter in span()) {
            moments.sort_unstable();
            let fits = |at: i64| {
                filter.matches(&CompanyFields { code: 0, name: "", identifier: "", last_update: Ticks(at) })
            };
            let expected: Vec<_> = moments.iter().copied().filter(|(at, _)| fits(*at)).collect();
            prop_assert_eq!(&moments[part(&filter, &moments).unwrap()], &expected[..]);
        }
    }
}
