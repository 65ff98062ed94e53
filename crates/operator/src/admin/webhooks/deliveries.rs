//! The deliveries of a webhook, newest first. The store keeps attempts and successes apart; here each event stands
//! once, at its newest moment.

use std::collections::HashSet;

use domain::{Ticks, WebhookId};
use serde::Serialize;
use store::{AttemptRecord, DeliveryHistory, DeliveryQuery};
use utoipa::ToSchema;

use super::{DeliveryShown, DeliveryStatus};
use crate::admin::{Admin, AdminError, Result};

pub(crate) const PAGE_SIZE_DEFAULT: usize = 25;
pub(crate) const PAGE_SIZE_MAX: usize = 100;
/// How many rows one look takes, and how many looks one page may take; past that the page ends early.
const ROWS_MAX: usize = 200;
const LOOKS_MAX: usize = 10;

/// Which deliveries are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliveryAsk {
    pub status: Option<DeliveryStatus>,
    /// Only what happened from then on.
    pub since: Option<Ticks>,
    pub before: Option<DeliveryMark>,
    pub rows_max: Option<usize>,
}

/// A place in the history: when, and the event's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeliveryMark(Ticks, u64);

impl std::fmt::Display for DeliveryMark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.0.0, self.1)
    }
}

impl std::str::FromStr for DeliveryMark {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let read = || {
            let (ticks, sequence) = text.split_once('-')?;
            let mark = Self(Ticks(ticks.parse().ok().filter(|ticks| *ticks >= 0)?), sequence.parse().ok()?);
            (mark.to_string() == text).then_some(mark)
        };
        read().ok_or_else(|| format!("{text:?} is not the next of an earlier page"))
    }
}

/// Deliveries, newest first.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DeliveryPage {
    pub deliveries: Vec<DeliveryShown>,
    /// Ask with `before` for what is older; null at the end. A page may be shorter than was asked for and go on.
    #[schema(required = true)]
    pub next: Option<String>,
}

impl Admin {
    /// Events that were sent at least once. Those that wait for their first attempt are counted in the health.
    pub async fn deliveries(&self, id: &str, ask: &DeliveryAsk) -> Result<DeliveryPage> {
        let size = ask.rows_max.unwrap_or(PAGE_SIZE_DEFAULT);
        if !(1..=PAGE_SIZE_MAX).contains(&size) {
            let why = format!("a page has 1 to {PAGE_SIZE_MAX} deliveries, not {size}");
            return Err(AdminError::Invalid(why));
        }
        let teller = self.teller(self.kept_webhook(id).await?).await?;
        let webhook = &teller.webhook;
        let (mut deliveries, mut next, mut seen) = (Vec::new(), ask.before, HashSet::new());
        for _ in 0..LOOKS_MAX {
            let marks = self.marks(webhook.id, ask, next).await?;
            let is_last = marks.len() < ROWS_MAX;
            for mark in marks {
                if deliveries.len() == size {
                    return Ok(page(deliveries, next));
                }
                next = Some(mark);
                let sequence = mark.1;
                // Handshakes and tests are of no event; an event stands where it was last heard of.
                if sequence == 0 || !seen.insert(sequence) {
                    continue;
                }
                let history = self.store.delivery_history(webhook.id, sequence).await?;
                if newest(&history) != Some(mark) {
                    continue;
                }
                let event = self.event(webhook, sequence).await?;
                let shown = teller.tell(history, event.as_ref());
                if ask.status.is_none_or(|status| status == shown.status) {
                    deliveries.push(shown);
                }
            }
            if is_last {
                return Ok(page(deliveries, None));
            }
        }
        Ok(page(deliveries, next))
    }

    /// The next moments of the history, newest first.
    async fn marks(
        &self,
        webhook: WebhookId,
        ask: &DeliveryAsk,
        before: Option<DeliveryMark>,
    ) -> Result<Vec<DeliveryMark>> {
        let query = DeliveryQuery {
            webhook,
            before: before.map(|mark| (mark.0, mark.1)),
            since: ask.since,
            only_failed: ask.status.is_some_and(|status| status != DeliveryStatus::SuccessfulDelivery),
            rows_max: ROWS_MAX,
        };
        let tried = self.store.attempts(&query).await?;
        let delivered = self.store.successful_deliveries(&query).await?;
        let tried = tried.iter().map(AttemptRecord::cursor);
        let delivered = delivered.iter().map(|one| (one.at, one.sequence));
        let mut marks: Vec<DeliveryMark> =
            tried.chain(delivered).map(|(at, sequence)| DeliveryMark(at, sequence)).collect();
        marks.sort_unstable_by(|one, other| other.cmp(one));
        marks.truncate(ROWS_MAX);
        Ok(marks)
    }
}

fn page(deliveries: Vec<DeliveryShown>, next: Option<DeliveryMark>) -> DeliveryPage {
    DeliveryPage { deliveries, next: next.map(|mark| mark.to_string()) }
}

/// Its newest moment, by which lists are ordered.
fn newest(history: &DeliveryHistory) -> Option<DeliveryMark> {
    let tried = history.attempts.iter().map(AttemptRecord::cursor);
    let all = tried.chain(history.delivered.map(|one| (one.at, one.sequence)));
    all.max().map(|(at, sequence)| DeliveryMark(at, sequence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_marks_of_ours_are_read() {
        assert_eq!("17-3".parse(), Ok(DeliveryMark(Ticks(17), 3)));
        for wrong in ["", "17", "17-", "-17-3", "017-3", "17-03", "17-+3", "a-3", "17-3-4"] {
            assert!(wrong.parse::<DeliveryMark>().is_err(), "{wrong}");
        }
    }
}
