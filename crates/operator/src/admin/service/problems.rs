//! Decides which problems the service has.

use std::time::Duration;

use domain::figures::{FigureCounts, Outcome};
use domain::{Area, Ticks};
use serde::Serialize;
use utoipa::ToSchema;

use super::report::{Ending, EndingKind, NodeReport, ReplicaReport, WebhookTotals, iso_or_null};

/// Certificates and tokens are a problem this long before they expire.
const CERTIFICATE_MARGIN: Duration = Duration::from_secs(14 * 24 * 60 * 60);
const TOKEN_MARGIN: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// An event that has waited for longer is late.
const LATE_AFTER: Duration = Duration::from_secs(15 * 60);
/// A standby that is further behind has a problem.
const REPLICA_LAG_MAX_MILLIS: u64 = 60_000;
/// How many of 1,000 calls may fail; a handful may fail in any case.
const FAILED_PER_MILLE_MAX: u64 = 10;
const FAILED_CALLS_MAX: u64 = 5;

/// A problem of the service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceProblem {
    pub kind: ProblemKind,
    /// Whether users or clients notice it already.
    pub is_urgent: bool,
    /// What it is about: an area, a node's machine, the name of a token or a standby.
    #[schema(required = true)]
    pub subject: Option<String>,
    #[schema(required = true)]
    pub count: Option<u64>,
    #[serde(serialize_with = "iso_or_null")]
    #[schema(value_type = Option<String>, format = DateTime, required = true)]
    pub at: Option<Ticks>,
    /// For people.
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ProblemKind {
    /// No node delivers to `count` of the 256 groups of webhooks.
    UnheldShards,
    /// More than 1 % of an area's calls failed in the last hour.
    CallsFail,
    WebhooksFail,
    /// An event has waited for more than 15 minutes, though no webhook fails.
    DeliveriesLate,
    /// The certificate of a node's listener has expired, or expires within 14 days.
    CertificateEnds,
    /// A named token of the operator's API expires within 7 days.
    TokenEnds,
    /// A standby is more than a minute behind.
    ReplicaBehind,
    /// The nodes run `count` different versions.
    VersionsDiffer,
}

/// The facts from which problems are decided.
pub(super) struct Facts<'a> {
    pub(super) now: Ticks,
    pub(super) unheld_shards: u16,
    /// The calls of the last hour.
    pub(super) failed_calls: Vec<(Area, FigureCounts)>,
    pub(super) webhooks: WebhookTotals,
    pub(super) nodes: &'a [NodeReport],
    pub(super) endings: &'a [Ending],
    pub(super) replicas: &'a [ReplicaReport],
}

/// The problems, most urgent first.
pub(super) fn problems(facts: &Facts<'_>) -> Vec<ServiceProblem> {
    let mut found = Vec::new();
    if facts.unheld_shards > 0 {
        let count = u64::from(facts.unheld_shards);
        let message = format!("no node delivers to {count} of the 256 groups of webhooks");
        found.push(ServiceProblem::new(ProblemKind::UnheldShards, true, message).count(count));
    }
    found.extend(facts.failed_calls.iter().filter_map(|(area, counts)| failing_calls(*area, counts)));
    found.extend(facts.endings.iter().filter_map(|one| certificate(one, facts.now)));
    found.extend(webhooks(&facts.webhooks, facts.now));
    found.extend(facts.replicas.iter().filter_map(replica));
    found.extend(facts.endings.iter().filter_map(|one| token(one, facts.now)));
    found.extend(versions(facts.nodes));
    found.sort_by_key(|problem| !problem.is_urgent);
    found
}

fn failing_calls(area: Area, counts: &FigureCounts) -> Option<ServiceProblem> {
    let (failed, total) = (counts.of(Outcome::Failed), counts.total());
    if failed <= FAILED_CALLS_MAX
        || failed.saturating_mul(1_000) <= total.saturating_mul(FAILED_PER_MILLE_MAX)
    {
        return None;
    }
    let message = format!("{failed} of {total} calls of {} failed in the last hour", area.as_str());
    Some(ServiceProblem::new(ProblemKind::CallsFail, true, message).subject(area.as_str()).count(failed))
}

fn webhooks(totals: &WebhookTotals, now: Ticks) -> Option<ServiceProblem> {
    if totals.failing > 0 {
        let message = format!("the deliveries to {} webhooks fail", totals.failing);
        return Some(ServiceProblem::new(ProblemKind::WebhooksFail, false, message).count(totals.failing));
    }
    let oldest = totals.oldest_undelivered_at.filter(|oldest| now.since(*oldest) > LATE_AFTER)?;
    let message = format!("an event waits for its delivery since {}", oldest.iso());
    Some(ServiceProblem::new(ProblemKind::DeliveriesLate, true, message).at(oldest))
}

fn certificate(one: &Ending, now: Ticks) -> Option<ServiceProblem> {
    let listener = match one.kind {
        EndingKind::Certificate => "public",
        EndingKind::OperatorCertificate => "operator",
        _ => return None,
    };
    if one.at > now + CERTIFICATE_MARGIN {
        return None;
    }
    let (has_ended, end) = (one.at <= now, one.at.iso());
    let verb = if has_ended { "has ended" } else { "ends" };
    let message = format!("the certificate of the {listener} listener of {} {verb} ({end})", one.name);
    Some(ServiceProblem::new(ProblemKind::CertificateEnds, has_ended, message).subject(&one.name).at(one.at))
}

fn token(one: &Ending, now: Ticks) -> Option<ServiceProblem> {
    if one.kind != EndingKind::OperatorToken || one.at > now + TOKEN_MARGIN {
        return None;
    }
    let message = format!("the token {} of this API ends ({})", one.name, one.at.iso());
    Some(ServiceProblem::new(ProblemKind::TokenEnds, false, message).subject(&one.name).at(one.at))
}

fn replica(one: &ReplicaReport) -> Option<ServiceProblem> {
    let lag = one.lag_millis.filter(|lag| *lag > REPLICA_LAG_MAX_MILLIS)?;
    let seconds = lag / 1_000;
    let message = format!("the standby {} is {seconds} s behind", one.name);
    Some(ServiceProblem::new(ProblemKind::ReplicaBehind, false, message).subject(&one.name).count(seconds))
}

fn versions(nodes: &[NodeReport]) -> Option<ServiceProblem> {
    let mut versions: Vec<&str> = nodes.iter().map(|node| node.version.as_str()).collect();
    // A node that has just started has not said its version yet.
    versions.retain(|version| !version.is_empty());
    versions.sort_unstable();
    versions.dedup();
    let count = versions.len() as u64;
    let message = format!("the nodes run {count} different versions");
    (count > 1).then(|| ServiceProblem::new(ProblemKind::VersionsDiffer, false, message).count(count))
}

impl ServiceProblem {
    fn new(kind: ProblemKind, is_urgent: bool, message: String) -> Self {
        Self { kind, is_urgent, subject: None, count: None, at: None, message }
    }

    fn subject(self, subject: &str) -> Self {
        Self { subject: Some(subject.to_owned()), ..self }
    }

    fn count(self, count: u64) -> Self {
        Self { count: Some(count), ..self }
    }

    fn at(self, at: Ticks) -> Self {
        Self { at: Some(at), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    fn now() -> Ticks {
        Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap()
    }

    fn well<'a>() -> Facts<'a> {
        Facts {
            now: now(),
            unheld_shards: 0,
            failed_calls: Vec::new(),
            webhooks: WebhookTotals::default(),
            nodes: &[],
            endings: &[],
            replicas: &[],
        }
    }

    fn kinds(facts: &Facts<'_>) -> Vec<(ProblemKind, bool)> {
        problems(facts).iter().map(|problem| (problem.kind, problem.is_urgent)).collect()
    }

    fn calls(succeeded: u64, failed: u64) -> Vec<(Area, FigureCounts)> {
        let mut counts = FigureCounts::default();
        (counts.outcomes[0], counts.outcomes[3]) = (succeeded, failed);
        vec![(Area::Payroll, counts)]
    }

    #[test]
    fn nothing_is_wrong_with_an_idle_service() {
        assert_eq!(kinds(&well()), []);
    }

    #[test]
    fn calls_fail_from_one_percent_and_a_handful_on() {
        for (succeeded, failed, is_problem) in
            [(0, 5, false), (0, 6, true), (594, 6, false), (593, 6, true), (99_000, 1_001, true)]
        {
            let facts = Facts { failed_calls: calls(succeeded, failed), ..well() };
            let expected = is_problem.then_some((ProblemKind::CallsFail, true));
            assert_eq!(kinds(&facts), Vec::from_iter(expected), "{succeeded} {failed}");
        }
    }

    #[test]
    fn urgent_problems_come_first() {
        let webhooks = WebhookTotals { failing: 2, ..WebhookTotals::default() };
        let facts = Facts { webhooks, unheld_shards: 3, ..well() };
        let found = problems(&facts);
        assert_eq!(kinds(&facts), [(ProblemKind::UnheldShards, true), (ProblemKind::WebhooksFail, false)]);
        assert_eq!((found[0].count, found[1].count), (Some(3), Some(2)));
    }

    #[test]
    fn events_are_late_after_a_quarter_of_an_hour() {
        let waiting = |minutes: u64| {
            let oldest = Some(now().minus(Duration::from_secs(minutes * 60)));
            kinds(&Facts {
                webhooks: WebhookTotals { oldest_undelivered_at: oldest, ..WebhookTotals::default() },
                ..well()
            })
        };
        assert_eq!((waiting(15), waiting(16)), (vec![], vec![(ProblemKind::DeliveriesLate, true)]));
    }

    #[test]
    fn what_ends_is_a_problem_in_time() {
        let of = |kind, at| {
            let ending = Ending { kind, id: "i".into(), name: "n".into(), at };
            kinds(&Facts { endings: &[ending], ..well() })
        };
        let (certificate, token) = (ProblemKind::CertificateEnds, ProblemKind::TokenEnds);
        assert_eq!(of(EndingKind::Certificate, now() + 15 * DAY), []);
        assert_eq!(of(EndingKind::Certificate, now() + 14 * DAY), [(certificate, false)]);
        assert_eq!(of(EndingKind::OperatorCertificate, now()), [(certificate, true)]);
        assert_eq!(of(EndingKind::OperatorToken, now() + 8 * DAY), []);
        assert_eq!(of(EndingKind::OperatorToken, now() + 7 * DAY), [(token, false)]);
        for harmless in [EndingKind::ClientSecret, EndingKind::SubscriptionKey, EndingKind::SigningKey] {
            assert_eq!(of(harmless, now() + DAY), [], "another one works already");
        }
    }

    #[test]
    fn nodes_should_run_one_version() {
        let node = |version: &str| NodeReport {
            id: version.into(),
            host: String::new(),
            version: version.into(),
            started_at: now(),
            last_seen_at: now(),
            shards: 0,
            webhooks: 0,
            events_behind: 0,
            certificate_ends_at: None,
            operator_certificate_ends_at: None,
        };
        let differ = |versions: &[&str]| {
            let nodes: Vec<NodeReport> = versions.iter().map(|version| node(version)).collect();
            kinds(&Facts { nodes: &nodes, ..well() })
        };
        assert_eq!(differ(&["1", "1", ""]), []);
        assert_eq!(differ(&["1", "2", "1"]), [(ProblemKind::VersionsDiffer, false)]);
    }
}
