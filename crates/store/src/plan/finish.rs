//! Completes a plan: turns the changed inputs into the rows to write, in table order.

use std::collections::{HashMap, HashSet};

use super::inputs::PlanInputs;
use super::{CollectionKey, GapCount, Plan, RecordRow, signed};

/// Adds records, collections and gaps to a plan that already has its log rows, deletes and deleted companies.
/// Rows of deleted companies are left out, because maintenance deletes them.
pub(super) fn finish(
    mut plan: Plan,
    inputs: PlanInputs,
    gaps: HashMap<(CollectionKey, u64), u64>,
    head_before: u64,
) -> Plan {
    let deleted: HashSet<i64> = plan.deleted_companies.iter().copied().collect();
    let is_kept_collection = |collection: &CollectionKey| !deleted.contains(&collection.company_no);
    for (key, live) in inputs.records {
        if live.is_changed && is_kept_collection(&key.collection) {
            let rows = if live.is_new { &mut plan.inserts } else { &mut plan.updates };
            rows.push(RecordRow { key, stored: live.stored, payroll: live.payroll });
        }
    }
    let order = |row: &RecordRow| (row.key.collection.order(), signed(row.stored.ordinal));
    plan.inserts.sort_by_key(order);
    plan.updates.sort_by_key(order);
    let changed = inputs.collections.into_iter();
    plan.collections = changed
        .filter(|(collection, counters)| is_kept_collection(collection) && counters.version > head_before)
        .collect();
    plan.collections.sort_by_key(|(collection, _)| collection.order());
    plan.gaps = gaps
        .into_iter()
        .filter(|((collection, _), _)| is_kept_collection(collection))
        .map(|((collection, block), dead)| GapCount { collection, block, dead })
        .collect();
    plan.gaps.sort_by_key(|gap| (gap.collection.order(), gap.block));
    plan.deletes.retain(|(collection, _)| is_kept_collection(collection));
    plan.head = inputs.head;
    plan.version = inputs.version;
    plan
}
