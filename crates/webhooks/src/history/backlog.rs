//! Why a webhook is behind, from what the store knows of it. The decision is pure; words for it are the pages' business.

use std::time::Duration;

use domain::{Suspension, Ticks, WebhookStatus};
use serde::Serialize;
use store::{AttemptPurpose, AttemptRecord, DeliveryQuery, Webhook};

use super::{History, LANES_MAX, Result};
use crate::engine;

/// The pace is that of so many minutes, up to now.
const PACE_MINUTES: u64 = 10;
/// A receiver whose 95th percentile is longer holds up its own deliveries.
const SLOW_MILLISECONDS: u32 = 2_000;
/// Something has been delivered lately, or a webhook with waiting events gets no work.
const IDLE_AFTER: Duration = Duration::from_secs(60);

/// One cause. Several may hold at once.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "cause")]
pub enum BacklogCause {
    /// Unsubscribed or deleted, for good.
    Ended,
    /// Its application has no access.
    Suspended {
        reason: Suspension,
        #[serde(skip)]
        since: Option<Ticks>,
    },
    DisabledByService {
        #[serde(skip)]
        at: Ticks,
        reason: String,
    },
    Paused,
    AwaitingContract {
        failed_attempts: u32,
        #[serde(skip)]
        next_attempt_at: Option<Ticks>,
    },
    /// The receiver keeps failing: nothing new is read, and one parked event is tried at a time.
    BreakerOpen {
        failures_in_a_row: usize,
    },
    /// Records whose next event failed; their later events wait behind it.
    LanesParked {
        lanes: u64,
        #[serde(skip)]
        oldest_failure: Option<Ticks>,
        #[serde(skip)]
        next_attempt_at: Option<Ticks>,
        /// Why the newest attempt failed.
        last_failure: Option<String>,
    },
    /// Each answer takes long.
    SlowReceiver {
        p95_milliseconds: u32,
    },
    /// Events are delivered, and these are still waiting.
    CatchingUp {
        delivered_per_minute: u64,
        /// None where more events come than are delivered, or too many wait to be counted.
        minutes_left: Option<u64>,
    },
    /// Events wait, nothing fails and nothing is delivered.
    Idle,
    /// Some events were pruned before they could be delivered.
    EventsLost {
        #[serde(skip)]
        at: Ticks,
    },
    NothingWrong,
}

/// What is known of a webhook's backlog.
#[derive(Clone, Debug, Default)]
pub struct BacklogFacts {
    pub behind: u64,
    /// `behind` counts up to this.
    pub behind_max: u64,
    pub lanes: u64,
    pub oldest_failure: Option<Ticks>,
    pub next_attempt_at: Option<Ticks>,
    pub last_delivered_at: Option<Ticks>,
    /// Failed attempts at events since the last success, counted up to a limit.
    pub failures_in_a_row: usize,
    pub last_failure: Option<String>,
    pub p95_milliseconds: Option<u32>,
    pub delivered_per_minute: u64,
}

/// Undelivered events are counted up to this.
const BEHIND_MAX: u64 = 10_000;

impl History {
    /// Why a webhook is behind, the most important cause first; that nothing is wrong, where nothing is.
    pub async fn backlog(&self, webhook: &Webhook) -> Result<Vec<BacklogCause>> {
        let now = self.ports.clock.now();
        let access = self.ports.store.owner_access(&webhook.owner).await?;
        let suspension = access.suspension(webhook.resource.area());
        let facts = self.backlog_facts(webhook, now).await?;
        Ok(causes(webhook, suspension, &facts, now))
    }

    async fn backlog_facts(&self, webhook: &Webhook, now: Ticks) -> Result<BacklogFacts> {
        let (store, id) = (&self.ports.store, webhook.id);
        let stats = store.webhook_stats(id, now.minus(Duration::from_secs(PACE_MINUTES * 60))).await?;
        let newest = DeliveryQuery {
            webhook: id,
            before: None,
            since: stats.last_delivered_at,
            only_failed: true,
            rows_max: usize::try_from(engine::FAILURES_IN_A_ROW_MAX).unwrap_or(usize::MAX),
        };
        let failures = store.attempts(&newest).await?;
        let in_turn: Vec<&AttemptRecord> =
            failures.iter().filter(|one| matches!(one.purpose, AttemptPurpose::Event { .. })).collect();
        Ok(BacklogFacts {
            behind: stats.behind,
            behind_max: BEHIND_MAX,
            lanes: stats.lanes,
            oldest_failure: stats.failing_since,
            next_attempt_at: stats.next_attempt_at,
            last_delivered_at: stats.last_delivered_at,
            failures_in_a_row: in_turn.len(),
            last_failure: in_turn.first().map(|one| one.reason.clone()),
            p95_milliseconds: stats.p95_ms,
            delivered_per_minute: stats.delivered / PACE_MINUTES,
        })
    }
}

/// The causes, the most important first.
fn causes(
    webhook: &Webhook,
    suspension: Option<Suspension>,
    facts: &BacklogFacts,
    now: Ticks,
) -> Vec<BacklogCause> {
    let status = WebhookStatus::of(webhook.flags(), suspension.is_some());
    if status.is_final() {
        return vec![BacklogCause::Ended];
    }
    let mut causes = Vec::new();
    causes.extend(suspension.map(|reason| BacklogCause::Suspended { reason, since: webhook.suspended_at }));
    if let Some(disabled) = &webhook.disabled {
        causes.push(BacklogCause::DisabledByService { at: disabled.at, reason: disabled.reason.clone() });
    } else if status == WebhookStatus::Disabled || (suspension.is_some() && !webhook.enabled) {
        causes.push(BacklogCause::Paused);
    } else if suspension.is_none() && status == WebhookStatus::AwaitingContract {
        let retry = webhook.handshake.retry;
        causes.push(BacklogCause::AwaitingContract {
            failed_attempts: retry.map_or(0, |retry| retry.attempts),
            next_attempt_at: retry.map(|retry| retry.next_at),
        });
    }
    if status == WebhookStatus::Active {
        causes.extend(causes_of_active(facts, now));
    }
    causes.extend(webhook.event_gap.map(|gap| BacklogCause::EventsLost { at: gap.at }));
    if causes.is_empty() {
        causes.push(BacklogCause::NothingWrong);
    }
    causes
}

fn causes_of_active(facts: &BacklogFacts, now: Ticks) -> Vec<BacklogCause> {
    let mut causes = Vec::new();
    let failures_max = usize::try_from(engine::FAILURES_IN_A_ROW_MAX).unwrap_or(usize::MAX);
    let lanes_max = u64::try_from(engine::LANES_MAX.min(LANES_MAX)).unwrap_or(u64::MAX);
    if facts.failures_in_a_row >= failures_max || facts.lanes >= lanes_max {
        causes.push(BacklogCause::BreakerOpen { failures_in_a_row: facts.failures_in_a_row });
    }
    if facts.lanes > 0 {
        causes.push(BacklogCause::LanesParked {
            lanes: facts.lanes,
            oldest_failure: facts.oldest_failure,
            next_attempt_at: facts.next_attempt_at,
            last_failure: facts.last_failure.clone(),
        });
    }
    if facts.behind == 0 {
        return causes;
    }
    let slow = facts.p95_milliseconds.filter(|p95| *p95 >= SLOW_MILLISECONDS);
    causes.extend(slow.map(|p95_milliseconds| BacklogCause::SlowReceiver { p95_milliseconds }));
    let is_moving = facts.last_delivered_at.is_some_and(|at| now.since(at) < IDLE_AFTER);
    if is_moving {
        let pace = facts.delivered_per_minute;
        let is_counted = facts.behind < facts.behind_max;
        let minutes_left = (is_counted && pace > 0).then(|| facts.behind.div_ceil(pace));
        causes.push(BacklogCause::CatchingUp { delivered_per_minute: pace, minutes_left });
    } else if causes.is_empty() {
        causes.push(BacklogCause::Idle);
    }
    causes
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Ticks = Ticks(1_000 * 10_000_000);

    #[allow(clippy::unnecessary_wraps, reason = "the facts are optional")]
    fn seconds_ago(seconds: u64) -> Option<Ticks> {
        Some(NOW.minus(Duration::from_secs(seconds)))
    }

    fn names(facts: &BacklogFacts) -> Vec<String> {
        let name =
            |cause: &BacklogCause| serde_json::to_value(cause).unwrap()["cause"].as_str().unwrap().to_owned();
        causes_of_active(facts, NOW).iter().map(name).collect()
    }

    #[test]
    fn active_webhook_that_is_not_behind_has_no_cause() {
        assert!(names(&BacklogFacts::default()).is_empty());
        let slow = BacklogFacts { p95_milliseconds: Some(9_000), ..BacklogFacts::default() };
        assert!(names(&slow).is_empty(), "slow, but not behind");
    }

    #[test]
    fn failures_open_the_breaker_and_park_records() {
        let failing = BacklogFacts {
            behind: 3,
            lanes: 2,
            failures_in_a_row: 15,
            oldest_failure: seconds_ago(90),
            ..BacklogFacts::default()
        };
        assert_eq!(names(&failing), ["lanesParked"]);
        let failing = BacklogFacts { failures_in_a_row: 16, ..failing };
        assert_eq!(names(&failing), ["breakerOpen", "lanesParked"]);
        let full = BacklogFacts { lanes: 1_000, failures_in_a_row: 0, ..failing };
        assert_eq!(names(&full), ["breakerOpen", "lanesParked"]);
    }

    #[test]
    fn moving_webhook_catches_up_in_time() {
        let moving = BacklogFacts {
            behind: 100,
            behind_max: 10_000,
            last_delivered_at: seconds_ago(1),
            delivered_per_minute: 30,
            ..BacklogFacts::default()
        };
        let minutes = |facts: &BacklogFacts| match causes_of_active(facts, NOW).pop() {
            Some(BacklogCause::CatchingUp { minutes_left, .. }) => minutes_left,
            other => panic!("{other:?}"),
        };
        assert_eq!(minutes(&moving), Some(4));
        assert_eq!(minutes(&BacklogFacts { behind: 10_000, ..moving.clone() }), None, "not counted");
        let slow = BacklogFacts { p95_milliseconds: Some(2_000), ..moving.clone() };
        assert_eq!(names(&slow), ["slowReceiver", "catchingUp"]);
        let still = BacklogFacts { last_delivered_at: seconds_ago(60), ..moving };
        assert_eq!(names(&still), ["idle"]);
    }
}
