//! The log of calls: the newest calls of each subscription, for its team. Not to be confused with the call counts of
//! [`crate::Subscriptions`], which are complete and kept longer.

use std::time::Duration;

use async_trait::async_trait;
use domain::ids::SubscriptionId;
use domain::{CallRecord, Ticks};

use crate::Result;
use crate::plan::signed;

/// Older calls are deleted by maintenance.
pub const CALL_LOG_KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// This many newest calls of each subscription are kept.
pub const CALLS_KEPT: usize = 1000;
/// The largest page that a store returns, whatever the query asks for.
pub const CALL_ROWS_MAX: usize = 1000;
/// A query reads the calls of at most so many subscriptions; further ones are ignored.
pub const CALL_SUBSCRIPTIONS_MAX: usize = 200;

/// A call with its number. Numbers grow in the order in which calls were recorded, over all subscriptions and nodes: who
/// has seen N never later finds an N−1 that was missed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedCall {
    pub number: u64,
    pub call: CallRecord,
}

/// Which calls to list, newest first. All conditions must hold.
#[derive(Clone, Debug, Default)]
pub struct CallQuery {
    pub subscriptions: Vec<SubscriptionId>,
    /// Only calls with a smaller number: the cursor of the next page.
    pub before: Option<u64>,
    /// Only calls with a greater number, for who follows the log.
    pub after: Option<u64>,
    /// Only calls that arrived then or later.
    pub since: Option<Ticks>,
    /// The first digit of the status.
    pub status_class: Option<u8>,
    /// Only calls that got an error.
    pub only_refused: bool,
    /// The route's template.
    pub route: Option<String>,
    pub request_id: Option<String>,
    pub rows_max: usize,
}

impl CallQuery {
    fn rows_max(&self) -> usize {
        self.rows_max.clamp(1, CALL_ROWS_MAX)
    }

    /// The `LIMIT`: one row more than the page, to see whether another page follows.
    pub(crate) fn limit(&self) -> i64 {
        i64::try_from(self.rows_max() + 1).unwrap_or(i64::MAX)
    }

    pub(crate) fn subscriptions(&self) -> &[SubscriptionId] {
        self.subscriptions.get(..CALL_SUBSCRIPTIONS_MAX).unwrap_or(&self.subscriptions)
    }

    /// SQL parameters: the numbers between which calls are listed, and the earliest time.
    pub(crate) fn bounds(&self) -> [i64; 3] {
        let before = self.before.map_or(i64::MAX, signed);
        [before, self.after.map_or(0, signed), self.since.map_or(i64::MIN, |since| since.0)]
    }

    /// The page of the rows that were found, in any order: up to `limit` newest of each subscription.
    pub(crate) fn page(&self, mut rows: Vec<NumberedCall>) -> CallPage {
        rows.sort_unstable_by_key(|row| std::cmp::Reverse(row.number));
        let has_more = rows.len() > self.rows_max();
        rows.truncate(self.rows_max());
        let next = rows.last().filter(|_| has_more).map(|row| row.number);
        CallPage { calls: rows, next }
    }

    #[cfg(feature = "memory")]
    pub(crate) fn includes(&self, number: u64, call: &CallRecord) -> bool {
        self.before.is_none_or(|before| number < before)
            && self.after.is_none_or(|after| number > after)
            && self.since.is_none_or(|since| call.at >= since)
            && self.status_class.is_none_or(|class| call.status / 100 == u16::from(class))
            && (!self.only_refused || call.refusal.is_some())
            && self.route.as_deref().is_none_or(|route| call.route == route)
            && self.request_id.as_deref().is_none_or(|id| call.request_id == id)
    }
}

/// A page of calls, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallPage {
    pub calls: Vec<NumberedCall>,
    /// `CallQuery::before` of the next page; `None` on the last page.
    pub next: Option<u64>,
}

#[async_trait]
pub trait Calls: Send + Sync + 'static {
    /// Appends calls and numbers them in their order. In the same transaction deletes all but the newest [`CALLS_KEPT`] calls
    /// of the subscriptions in `trimmed`.
    async fn append_calls(&self, calls: &[CallRecord], trimmed: &[SubscriptionId]) -> Result<()>;

    async fn list_calls(&self, query: &CallQuery) -> Result<CallPage>;
}
