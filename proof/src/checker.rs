//! Compares what was acknowledged with what arrived: lost, out of order, duplicated, altered, and how long each webhook was
//! silent.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use crate::Part;
use crate::ledger::{Acknowledged, Ledger, by_change, by_record};
use crate::receivers::Arrival;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    /// Acknowledged changes that a webhook never got.
    pub(crate) lost: usize,
    /// Events that came to a webhook for the first time after a later one of the same record.
    pub(crate) out_of_order: usize,
    /// Repeated deliveries; these are allowed, and told.
    pub(crate) repeated: usize,
    /// Repeated deliveries with another body, another id or another number than the first.
    pub(crate) altered: usize,
    /// Events of changes that nobody made.
    pub(crate) invented: usize,
    /// The longest time that a webhook had something to get and got nothing.
    pub(crate) longest_silence: Duration,
    /// How long the last event of all was on its way.
    pub(crate) slowest: Duration,
}

/// Compares what was acknowledged with what came to the webhooks.
pub(crate) fn check(acknowledged: &[Acknowledged], arrivals: &[Arrival], webhooks: usize) -> Findings {
    check_until(Ledger::last_change(), acknowledged, arrivals, webhooks)
}

/// An event with a higher number than that of the last change that was begun is invented.
fn check_until(
    last_change: u64,
    acknowledged: &[Acknowledged],
    arrivals: &[Arrival],
    webhooks: usize,
) -> Findings {
    let mut of_webhook: Vec<Vec<&Arrival>> = vec![Vec::new(); webhooks];
    let mut findings = Findings::default();
    for arrival in arrivals {
        match of_webhook.get_mut(arrival.webhook) {
            Some(own) if arrival.change <= last_change => own.push(arrival),
            _ => findings.invented += 1,
        }
    }
    for own in of_webhook {
        check_webhook(acknowledged, &own, &mut findings);
    }
    findings
}

fn check_webhook(acknowledged: &[Acknowledged], arrivals: &[&Arrival], findings: &mut Findings) {
    let known = by_change(acknowledged);
    let mut first: HashMap<u64, (usize, &Arrival)> = HashMap::with_capacity(acknowledged.len());
    for (place, arrival) in arrivals.iter().enumerate() {
        let is_wrong = known
            .get(&arrival.change)
            .is_some_and(|change| change.sequence != arrival.sequence || change.record != arrival.record);
        findings.altered += usize::from(is_wrong);
        match first.get(&arrival.change) {
            None => {
                first.insert(arrival.change, (place, arrival));
            }
            Some((_, before)) => {
                findings.repeated += 1;
                let is_same =
                    before.body_hash == arrival.body_hash && before.outgoing_id == arrival.outgoing_id;
                findings.altered += usize::from(!is_same);
            }
        }
    }
    for changes in by_record(acknowledged).values() {
        let mut latest = 0;
        for change in changes {
            match first.get(&change.change) {
                None => findings.lost += 1,
                Some((place, _)) if *place < latest => findings.out_of_order += 1,
                Some((place, _)) => latest = *place,
            }
        }
    }
    for change in acknowledged {
        if let Some((_, arrival)) = first.get(&change.change) {
            findings.slowest = findings.slowest.max(arrival.at.saturating_duration_since(change.at));
        }
    }
    findings.longest_silence = findings.longest_silence.max(silence(acknowledged, arrivals));
}

/// The longest time without a delivery while an acknowledged change waited.
fn silence(acknowledged: &[Acknowledged], arrivals: &[&Arrival]) -> Duration {
    let mut waiting: Vec<&Acknowledged> = acknowledged.iter().collect();
    waiting.sort_by_key(|one| one.at);
    let mut got = HashSet::with_capacity(arrivals.len());
    let (mut oldest, mut last, mut longest) = (0, None::<Instant>, Duration::ZERO);
    for arrival in arrivals {
        while waiting.get(oldest).is_some_and(|one| got.contains(&one.change)) {
            oldest += 1;
        }
        if let Some(one) = waiting.get(oldest) {
            let since = last.map_or(one.at, |last| last.max(one.at));
            longest = longest.max(arrival.at.saturating_duration_since(since));
        }
        got.insert(arrival.change);
        last = Some(arrival.at);
    }
    longest
}

impl Findings {
    /// Writes what was found; everything but repetitions must be none.
    pub(crate) fn tell(&self, part: &mut Part, silence_max: Duration) {
        part.none("acknowledged changes that a webhook did not get", self.lost);
        part.none("events out of order of their record", self.out_of_order);
        part.none("events of no change", self.invented);
        part.none("repetitions with other bytes, id or number", self.altered);
        part.tell("repetitions (allowed)", self.repeated);
        part.within(
            "longest silence of a webhook that had something to get",
            self.longest_silence,
            silence_max,
        );
    }
}

#[cfg(test)]
mod tests {
    //! Each fault that the checker is for, planted into a history without faults.

    use super::*;

    const WEBHOOKS: usize = 3;
    const CHANGES: u64 = 60;

    /// Sixty changes of five records, ten milliseconds apart; each comes to three webhooks five milliseconds later.
    fn history() -> (Vec<Acknowledged>, Vec<Arrival>) {
        let start = Instant::now();
        let mut acknowledged = Vec::new();
        let mut arrivals = Vec::new();
        for change in 1..=CHANGES {
            let at = start + Duration::from_millis(10) * u32::try_from(change).unwrap();
            let record = format!("r{}", change % 5);
            acknowledged.push(Acknowledged { change, record: record.clone(), sequence: change + 100, at });
            for webhook in 0..WEBHOOKS {
                arrivals.push(Arrival {
                    webhook,
                    change,
                    record: record.clone(),
                    sequence: change + 100,
                    outgoing_id: format!("{webhook}-{change}"),
                    body_hash: change,
                    at: at + Duration::from_millis(5),
                });
            }
        }
        (acknowledged, arrivals)
    }

    fn found(acknowledged: &[Acknowledged], arrivals: &[Arrival]) -> Findings {
        check_until(CHANGES, acknowledged, arrivals, WEBHOOKS)
    }

    #[test]
    fn nothing_is_found_in_a_history_without_faults() {
        let (acknowledged, arrivals) = history();
        let five = Duration::from_millis(5);
        let expected = Findings { longest_silence: five, slowest: five, ..Findings::default() };
        assert_eq!(found(&acknowledged, &arrivals), expected);
    }

    #[test]
    fn lost_event_is_found() {
        let (acknowledged, mut arrivals) = history();
        arrivals.retain(|one| one.webhook != 1 || one.change != 17);
        assert_eq!(found(&acknowledged, &arrivals).lost, 1);
    }

    #[test]
    fn webhook_without_any_event_is_found() {
        let (acknowledged, mut arrivals) = history();
        arrivals.retain(|one| one.webhook != 2);
        assert_eq!(found(&acknowledged, &arrivals).lost, 60);
    }

    #[test]
    fn event_after_a_later_one_of_its_record_is_found() {
        let (acknowledged, mut arrivals) = history();
        let early = arrivals.iter().position(|one| one.webhook == 0 && one.change == 11).unwrap();
        let later = arrivals.iter().position(|one| one.webhook == 0 && one.change == 16).unwrap();
        arrivals.swap(early, later);
        assert_eq!(found(&acknowledged, &arrivals).out_of_order, 1);
    }

    #[test]
    fn order_of_different_records_is_free() {
        let (acknowledged, mut arrivals) = history();
        let early = arrivals.iter().position(|one| one.webhook == 0 && one.change == 11).unwrap();
        let later = arrivals.iter().position(|one| one.webhook == 0 && one.change == 12).unwrap();
        arrivals.swap(early, later);
        assert_eq!(found(&acknowledged, &arrivals).out_of_order, 0);
    }

    #[test]
    fn repetition_is_allowed_and_another_body_is_not() {
        let (acknowledged, mut arrivals) = history();
        let mut again = arrivals[30].clone();
        arrivals.push(again.clone());
        let findings = found(&acknowledged, &arrivals);
        assert_eq!((findings.repeated, findings.altered), (1, 0));
        again.body_hash += 1;
        arrivals.push(again);
        let findings = found(&acknowledged, &arrivals);
        assert_eq!((findings.repeated, findings.altered), (2, 1));
    }

    #[test]
    fn event_with_another_number_than_its_change_is_found() {
        let (acknowledged, mut arrivals) = history();
        arrivals[12].sequence += 1;
        assert_eq!(found(&acknowledged, &arrivals).altered, 1);
    }

    #[test]
    fn event_of_no_change_is_found() {
        let (acknowledged, mut arrivals) = history();
        let mut invented = arrivals[0].clone();
        invented.change = CHANGES + 1;
        arrivals.push(invented);
        assert_eq!(found(&acknowledged, &arrivals).invented, 1);
    }

    #[test]
    fn silence_of_one_webhook_among_busy_ones_is_found() {
        let (acknowledged, mut arrivals) = history();
        // Nothing comes to the second webhook between its 20th and its 50th event.
        let late = arrivals.iter().find(|one| one.change == 50).unwrap().at;
        for one in arrivals.iter_mut().filter(|one| one.webhook == 1 && (20..50).contains(&one.change)) {
            one.at = late;
        }
        let findings = found(&acknowledged, &arrivals);
        assert_eq!(findings.longest_silence, Duration::from_millis(305));
        assert_eq!((findings.lost, findings.out_of_order), (0, 0));
    }

    #[test]
    fn pause_without_changes_is_no_silence() {
        let (mut acknowledged, mut arrivals) = history();
        for one in acknowledged.iter_mut().filter(|one| one.change > 30) {
            one.at += Duration::from_secs(9);
        }
        for one in arrivals.iter_mut().filter(|one| one.change > 30) {
            one.at += Duration::from_secs(9);
        }
        assert_eq!(found(&acknowledged, &arrivals).longest_silence, Duration::from_millis(5));
    }
}
