//! Usage of a subscription: its calls by day and route, as flushed by the nodes every few seconds.

use domain::Ticks;
use domain::ids::SubscriptionId;
use serde::Serialize;
use store::CallCount;
use utoipa::ToSchema;

use super::{Admin, AdminError, Result};

const DAYS_MAX: i64 = 400;
const DAYS_DEFAULT: i64 = 30;

/// The authorized calls of a subscription in a span of days (UTC).
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Usage {
    #[schema(examples("7d0f3d2e-6f0b-4a39-8a55-0c8f6b1f8a52"))]
    pub subscription: String,
    /// The first day.
    #[schema(format = Date, examples("2026-11-01"))]
    pub from: String,
    /// The last day.
    #[schema(format = Date, examples("2026-11-15"))]
    pub to: String,
    #[schema(examples(120))]
    pub calls: u64,
    /// Calls that were answered with an error.
    #[schema(examples(2))]
    pub failed: u64,
    /// The days with calls, latest first.
    pub days: Vec<DayUsage>,
}

/// The calls of one day.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DayUsage {
    #[schema(format = Date, examples("2026-11-15"))]
    pub day: String,
    #[schema(examples(120))]
    pub calls: u64,
    #[schema(examples(2))]
    pub failed: u64,
    pub routes: Vec<RouteUsage>,
}

/// The calls to one route on one day.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RouteUsage {
    /// The path, with `{id}` in place of a correlationId.
    #[schema(examples("/accounting/api/customers/{id}"))]
    pub route: String,
    #[schema(examples(120))]
    pub calls: u64,
    #[schema(examples(2))]
    pub failed: u64,
}

impl Admin {
    /// The usage of a subscription. `to_day` defaults to today, `from_day` to 30 days up to `to_day`.
    pub async fn usage(&self, id: &str, from_day: Option<i64>, to_day: Option<i64>) -> Result<Usage> {
        let id = self.subscription(id).await?.id;
        let to_day = to_day.unwrap_or_else(|| self.now().day());
        let from_day = from_day.unwrap_or_else(|| (to_day - DAYS_DEFAULT + 1).max(0));
        check_span(from_day, to_day)?;
        let calls = self.store.call_counts(&id, from_day, to_day).await?;
        Ok(summarize(&id, (from_day, to_day), calls))
    }
}

impl Usage {
    /// Every day of the span with its sums, oldest first, also those without calls; none if there were no calls at all.
    pub fn every_day(&self) -> Vec<DayUsage> {
        let (Ok(from), Ok(to), false) = (read_day(&self.from), read_day(&self.to), self.days.is_empty())
        else {
            return Vec::new();
        };
        let day = |date: String| {
            let counted = self.days.iter().find(|day| day.day == date);
            let (calls, failed) = counted.map_or((0, 0), |day| (day.calls, day.failed));
            DayUsage { day: date, calls, failed, routes: Vec::new() }
        };
        (from..=to).map(|number| day(Ticks::from_day(number).date())).collect()
    }

    /// The sums of each route, most calls first.
    pub fn by_route(&self) -> Vec<RouteUsage> {
        let mut routes: Vec<RouteUsage> = Vec::new();
        for one in self.days.iter().flat_map(|day| &day.routes) {
            match routes.iter_mut().find(|known| known.route == one.route) {
                Some(known) => {
                    known.calls += one.calls;
                    known.failed += one.failed;
                }
                None => routes.push(one.clone()),
            }
        }
        routes.sort_by_key(|route| std::cmp::Reverse(route.calls));
        routes
    }
}

/// Parses a date as days since 0001-01-01.
pub fn read_day(text: &str) -> std::result::Result<i64, String> {
    let day = Ticks::parse_iso(text).map(Ticks::day);
    let is_canonical = |day: &i64| *day >= 0 && Ticks::from_day(*day).date() == text;
    day.filter(is_canonical).ok_or_else(|| format!("{text:?} is no day as in 2026-11-15"))
}

fn check_span(from_day: i64, to_day: i64) -> Result<()> {
    if from_day > to_day {
        return Err(AdminError::Invalid("from must not be later than to".into()));
    }
    if to_day - from_day >= DAYS_MAX {
        return Err(AdminError::Invalid(format!("from and to may span {DAYS_MAX} days at most")));
    }
    Ok(())
}

/// Groups the store's counts, which come latest day first, by day.
fn summarize(id: &SubscriptionId, (from_day, to_day): (i64, i64), all: Vec<CallCount>) -> Usage {
    let date = |day| Ticks::from_day(day).date();
    let mut days: Vec<DayUsage> = Vec::new();
    for CallCount { day, route, calls, failed, .. } in all {
        let day = date(day);
        if days.last().is_none_or(|last| last.day != day) {
            days.push(DayUsage { day, calls: 0, failed: 0, routes: Vec::new() });
        }
        if let Some(last) = days.last_mut() {
            last.calls += calls;
            last.failed += failed;
            last.routes.push(RouteUsage { route, calls, failed });
        }
    }
    Usage {
        subscription: id.to_string(),
        from: date(from_day),
        to: date(to_day),
        calls: days.iter().map(|day| day.calls).sum(),
        failed: days.iter().map(|day| day.failed).sum(),
        days,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_dates_are_read() {
        let day = read_day("2026-11-15").unwrap();
        assert_eq!(Ticks::from_day(day).date(), "2026-11-15");
        for wrong in
            ["", "2026-11-15T00:00:00Z", "20261115", "2026-02-30", "2026-1-5", "15/11/2026", "0000-12-31"]
        {
            assert!(read_day(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn span_is_bounded() {
        assert!(check_span(5, 5).is_ok() && check_span(5, 404).is_ok());
        assert!(check_span(5, 405).unwrap_err().to_string().contains("400 days at most"));
        assert!(check_span(6, 5).unwrap_err().to_string().contains("not be later"));
    }

    #[test]
    fn days_are_summed() {
        let id = SubscriptionId::new("a");
        let call = |day, route: &str, calls, failed| CallCount {
            subscription: SubscriptionId::new("a"),
            day,
            route: route.into(),
            calls,
            failed,
        };
        let all = vec![call(9, "/a", 3, 1), call(9, "/b", 4, 0), call(7, "/a", 5, 2)];
        let usage = summarize(&id, (5, 9), all);
        assert_eq!((usage.calls, usage.failed), (12, 3));
        let days: Vec<_> = usage.days.iter().map(|day| (day.calls, day.failed, day.routes.len())).collect();
        assert_eq!(days, [(7, 1, 2), (5, 2, 1)]);
        let routes: Vec<_> =
            usage.by_route().into_iter().map(|one| (one.route, one.calls, one.failed)).collect();
        assert_eq!(routes, [("/a".into(), 8, 3), ("/b".into(), 4, 0)]);
        let days: Vec<_> = usage.every_day().iter().map(|day| (day.calls, day.failed)).collect();
        assert_eq!(days, [(0, 0), (0, 0), (5, 2), (0, 0), (7, 1)]);
        let unused = summarize(&id, (5, 9), Vec::new());
        assert!(unused.calls == 0 && unused.every_day().is_empty() && unused.by_route().is_empty());
    }
}
