//! Finds what reached an application while it had no access.

use std::time::{Duration, Instant};

use crate::Part;
use crate::ledger::Acknowledged;
use crate::receivers::Arrival;

/// After the end of access no node starts an attempt for longer than this (docs/delivery.md).
pub(crate) const ENDED_WITHIN: Duration = Duration::from_secs(2);
/// What the last attempt takes until it has come, on a busy machine.
const ON_THE_WAY: Duration = Duration::from_millis(500);

/// A time without access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Absence {
    /// When its end was acknowledged.
    pub(crate) ended: Instant,
    /// Just before access was asked for again.
    pub(crate) returned: Instant,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct AccessFindings {
    /// Events that came when no attempt may have been under way any more.
    pub(crate) sent: usize,
    /// How long after an end the last event came.
    pub(crate) latest: Duration,
    /// Absences without a change: they show nothing.
    pub(crate) idle: usize,
}

pub(crate) fn check(
    absences: &[Absence],
    acknowledged: &[Acknowledged],
    arrivals: &[Arrival],
) -> AccessFindings {
    let mut findings = AccessFindings::default();
    for absence in absences {
        let is_within = |at: Instant| absence.ended < at && at < absence.returned;
        for arrival in arrivals.iter().filter(|arrival| is_within(arrival.at)) {
            let after = arrival.at.saturating_duration_since(absence.ended);
            findings.latest = findings.latest.max(after);
            findings.sent += usize::from(after > ENDED_WITHIN + ON_THE_WAY);
        }
        let is_idle = !acknowledged
            .iter()
            .any(|change| is_within(change.at) && change.at > absence.ended + ENDED_WITHIN + ON_THE_WAY);
        findings.idle += usize::from(is_idle);
    }
    findings
}

impl AccessFindings {
    pub(crate) fn tell(&self, part: &mut Part) {
        part.none("events sent without access", self.sent);
        part.within("last event after an end of access", self.latest, ENDED_WITHIN + ON_THE_WAY);
        part.none("times without access in which nothing changed", self.idle);
    }
}

#[cfg(test)]
mod tests {
    //! Each fault that the checker is for, planted into a history without faults.

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Twenty changes, one a second, each of which comes at once; from the fifth second to the fifteenth there is no access,
    /// and what changed meanwhile comes at the end of it.
    fn history() -> (Absence, Vec<Acknowledged>, Vec<Arrival>) {
        let start = Instant::now();
        let absence = Absence { ended: start + 5 * SECOND, returned: start + 15 * SECOND };
        let (mut acknowledged, mut arrivals) = (Vec::new(), Vec::new());
        for change in 0..20_u32 {
            let at = start + SECOND * change + SECOND / 10;
            let record = "r".to_owned();
            let came = if at > absence.ended { at.max(absence.returned + SECOND / 10) } else { at };
            let sequence = u64::from(change);
            acknowledged.push(Acknowledged { change: sequence, record: record.clone(), sequence, at });
            arrivals.push(Arrival {
                webhook: 0,
                change: sequence,
                record,
                sequence,
                outgoing_id: sequence.to_string(),
                body_hash: sequence,
                at: came,
            });
        }
        (absence, acknowledged, arrivals)
    }

    #[test]
    fn nothing_is_found_in_a_history_without_faults() {
        let (absence, acknowledged, arrivals) = history();
        assert_eq!(check(&[absence], &acknowledged, &arrivals), AccessFindings::default());
    }

    #[test]
    fn event_without_access_is_found() {
        let (absence, acknowledged, mut arrivals) = history();
        arrivals[9].at = absence.ended + 4 * SECOND;
        let expected = AccessFindings { sent: 1, latest: 4 * SECOND, idle: 0 };
        assert_eq!(check(&[absence], &acknowledged, &arrivals), expected);
    }

    #[test]
    fn attempt_that_was_under_way_is_told_and_allowed() {
        let (absence, acknowledged, mut arrivals) = history();
        arrivals[5].at = absence.ended + SECOND;
        let expected = AccessFindings { sent: 0, latest: SECOND, idle: 0 };
        assert_eq!(check(&[absence], &acknowledged, &arrivals), expected);
    }

    #[test]
    fn absence_in_which_nothing_could_be_sent_is_found() {
        let (absence, mut acknowledged, arrivals) = history();
        acknowledged.retain(|change| change.at < absence.ended + SECOND || change.at > absence.returned);
        assert_eq!(check(&[absence], &acknowledged, &arrivals).idle, 1);
    }
}
