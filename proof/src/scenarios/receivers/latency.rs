//! How long events take from their acknowledgement to their arrival, and whether others' faults made that longer.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::Part;
use crate::ledger::Acknowledged;
use crate::receivers::Arrival;

/// Latencies below this are not compared: a busy machine alone makes them longer.
const FLOOR: Duration = Duration::from_millis(20);
/// How much longer deliveries may take than without faults.
const RATIO_MAX: f64 = 2.0;

/// The latency of the first delivery of each change to each of these webhooks, in order.
pub(super) fn latencies(
    acknowledged: &[Acknowledged],
    arrivals: &[Arrival],
    is_counted: impl Fn(usize) -> bool,
) -> Vec<Duration> {
    let known: HashMap<u64, &Acknowledged> = acknowledged.iter().map(|one| (one.change, one)).collect();
    let mut seen = HashSet::new();
    let mut all: Vec<Duration> = arrivals
        .iter()
        .filter(|arrival| is_counted(arrival.webhook) && seen.insert((arrival.webhook, arrival.change)))
        .filter_map(|arrival| {
            // An event may come before its acknowledgement has been read.
            Some(arrival.at.saturating_duration_since(known.get(&arrival.change)?.at))
        })
        .collect();
    all.sort_unstable();
    all
}

/// The latency that this share of all, in thousandths, does not exceed.
pub(super) fn quantile(sorted: &[Duration], thousandths: usize) -> Duration {
    let place = (sorted.len() * thousandths / 1000).min(sorted.len().saturating_sub(1));
    sorted.get(place).copied().unwrap_or_default()
}

/// How much longer the 99th percentile is, where both are at least the floor.
pub(super) fn ratio(quiet: &[Duration], during: &[Duration]) -> f64 {
    let p99 = |sorted: &[Duration]| quantile(sorted, 990).max(FLOOR).as_secs_f64();
    p99(during) / p99(quiet)
}

/// Writes both and compares them.
pub(super) fn tell(part: &mut Part, quiet: &[Duration], during: &[Duration]) {
    let text = |sorted: &[Duration]| {
        let ms = |thousandths| quantile(sorted, thousandths).as_secs_f64() * 1000.0;
        format!("{:.1} ms, {:.1} ms, {:.1} ms ({} deliveries)", ms(500), ms(990), ms(1000), sorted.len())
    };
    part.tell("p50, p99 and longest of well-behaved receivers in the quiet run", text(quiet));
    part.tell("the same while others misbehave", text(during));
    let name = "p99 beside the quiet run's, both at least 20 ms";
    part.at_most(name, ratio(quiet, during), RATIO_MAX, "×");
}

/// Prints which changes were late, where the ratio is not met: a few late for all receivers are a pause, and many late for few are
/// receivers that wait for others.
pub(super) fn explain(
    acknowledged: &[Acknowledged],
    arrivals: &[Arrival],
    is_counted: impl Fn(usize) -> bool,
    quiet: &[Duration],
) {
    let late = quantile(quiet, 990).max(FLOOR).mul_f64(RATIO_MAX);
    let Some(first) = acknowledged.iter().map(|one| one.at).min() else { return };
    for one in acknowledged {
        let of_change: Vec<Arrival> =
            arrivals.iter().filter(|arrival| arrival.change == one.change).cloned().collect();
        let found = latencies(std::slice::from_ref(one), &of_change, &is_counted);
        let count = found.iter().filter(|latency| **latency > late).count();
        if count > 0 {
            let (at, median) = (one.at.duration_since(first), quantile(&found, 500));
            eprintln!("    at {at:.1?}: {count} of {} late, median {median:.0?}", found.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    /// A hundred changes to four webhooks, each delivered after a millisecond.
    fn history() -> (Vec<Acknowledged>, Vec<Arrival>) {
        let start = Instant::now();
        let (mut acknowledged, mut arrivals) = (Vec::new(), Vec::new());
        for change in 1..=100 {
            let at = start + Duration::from_millis(change);
            acknowledged.push(Acknowledged { change, record: "r".into(), sequence: change, at });
            for webhook in 0..4 {
                arrivals.push(Arrival {
                    webhook,
                    change,
                    record: "r".into(),
                    sequence: change,
                    outgoing_id: String::new(),
                    body_hash: change,
                    at: at + Duration::from_millis(1),
                });
            }
        }
        (acknowledged, arrivals)
    }

    #[test]
    fn delay_of_counted_webhooks_is_found_and_that_of_others_is_not() {
        let (acknowledged, mut arrivals) = history();
        let is_good = |webhook| webhook < 3;
        let quiet = latencies(&acknowledged, &arrivals, is_good);
        assert_eq!((quiet.len(), quantile(&quiet, 990)), (300, Duration::from_millis(1)));
        for arrival in arrivals.iter_mut().filter(|one| one.webhook == 3) {
            arrival.at += Duration::from_secs(5);
        }
        let during = latencies(&acknowledged, &arrivals, is_good);
        assert!(ratio(&quiet, &during) <= RATIO_MAX);
        // Six of three hundred: two percent.
        for arrival in arrivals.iter_mut().filter(|one| one.webhook == 1 && one.change > 94) {
            arrival.at += Duration::from_millis(60);
        }
        let during = latencies(&acknowledged, &arrivals, is_good);
        assert!(ratio(&quiet, &during) > RATIO_MAX, "{during:?}");
    }

    #[test]
    fn repetition_does_not_count() {
        let (acknowledged, mut arrivals) = history();
        let mut again = arrivals[0].clone();
        again.at += Duration::from_secs(9);
        arrivals.push(again);
        assert_eq!(latencies(&acknowledged, &arrivals, |_| true).len(), 400);
        assert_eq!(latencies(&acknowledged, &arrivals, |_| true).last(), Some(&Duration::from_millis(1)));
    }
}
