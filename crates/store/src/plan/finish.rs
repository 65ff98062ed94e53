//! Turns the ground that the changes were walked over into what is to be written, in the order of the tables.

use std::collections::{HashMap, HashSet};

use super::ground::Ground;
use super::{Gap, Place, Plan, Row, signed};

/// Completes a plan whose log, deletes and departures stand. What belongs to a company that departed is
/// left out: it goes with the company.
pub(super) fn finish(
    mut plan: Plan,
    ground: Ground,
    gaps: HashMap<(Place, u64), u64>,
    head_before: u64,
) -> Plan {
    let gone: HashSet<i64> = plan.departed.iter().copied().collect();
    let stays = |place: &Place| !gone.contains(&place.company_no);
    for (key, live) in ground.records {
        if live.touched && stays(&key.place) {
            let rows = if live.fresh { &mut plan.inserts } else { &mut plan.updates };
            rows.push(Row { key, stored: live.stored, payroll: live.payroll });
        }
    }
    let order = |row: &Row| (row.key.place.order(), signed(row.stored.ordinal));
    plan.inserts.sort_by_key(order);
    plan.updates.sort_by_key(order);
    let moved = ground.collections.into_iter();
    plan.collections =
        moved.filter(|(place, collection)| stays(place) && collection.version > head_before).collect();
    plan.collections.sort_by_key(|(place, _)| place.order());
    plan.gaps = gaps
        .into_iter()
        .filter(|((place, _), _)| stays(place))
        .map(|((place, block), dead)| Gap { place, block, dead })
        .collect();
    plan.gaps.sort_by_key(|gap| (gap.place.order(), gap.block));
    plan.deletes.retain(|(place, _)| stays(place));
    plan.head = ground.head;
    plan.version = ground.version;
    plan
}
