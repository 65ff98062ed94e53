//! Filters by last update, repeated between changes: a store that indexes or caches them must stay correct.

use std::collections::BTreeMap;

use serde_json::Value;
use store::Page;

use super::fixture::Fixture;
use super::test_tenant::{TestTenant, delete, payroll};

const COMPANIES: u64 = 120;
const ROUNDS: u64 = 6;
/// Enough repetitions for a store to build its index.
const TURNS: u64 = 60;

/// Companies by ordinal: their code and the day of their last update.
type Companies = BTreeMap<u64, (u64, u64)>;
/// Whether a filter matches a day.
type DayFilter = Box<dyn Fn(u64) -> bool>;

fn codes(page: &Page) -> Vec<u64> {
    let read = |body: &str| serde_json::from_str::<Value>(body).unwrap()["companyCode"].as_u64().unwrap();
    page.bodies.iter().map(read).collect()
}

async fn put(tenant: &TestTenant, code: u64, day: u64) {
    tenant.accept([payroll(code, "", Some(&format!("2026-01-{day:02}")))]).await;
}

async fn check(tenant: &TestTenant, companies: &Companies, turn: u64) {
    let (from, to) = (turn % 27 + 1, (turn * 5) % 27 + 1);
    let cases: [(String, DayFilter); 6] = [
        (format!("lastUpdate gt 2026-01-{from:02}"), Box::new(move |day| day > from)),
        (format!("lastUpdate ge 2026-01-{from:02}"), Box::new(move |day| day >= from)),
        (format!("lastUpdate lt 2026-01-{from:02}"), Box::new(move |day| day < from)),
        (format!("lastUpdate le 2026-01-{from:02}"), Box::new(move |day| day <= from)),
        (format!("lastUpdate eq 2026-01-{from:02}"), Box::new(move |day| day == from)),
        (
            format!("lastUpdate gt 2026-01-{from:02} and lastUpdate le 2026-01-{to:02}"),
            Box::new(move |day| day > from && day <= to),
        ),
    ];
    for (filter, matches) in cases {
        let all: Vec<u64> =
            companies.values().filter(|(_, day)| matches(*day)).map(|(code, _)| *code).collect();
        for (offset, rows_max) in [(0, 25), (7, 5), (0, usize::MAX)] {
            let page = tenant.payroll_page(&filter, "", offset, rows_max).await;
            let expected: Vec<u64> =
                all.iter().skip(usize::try_from(offset).unwrap()).take(rows_max).copied().collect();
            assert_eq!((codes(&page), page.total), (expected, all.len() as u64), "{filter} from {offset}");
        }
    }
}

pub(crate) async fn repeated_last_update_queries_stay_correct(fixture: Fixture) {
    let (tenant, other) = (fixture.add_tenant().await, fixture.add_tenant().await);
    let mut companies = Companies::new();
    for code in 1..=COMPANIES {
        companies.insert(code, (code, code * 11 % 28 + 1));
    }
    let day = |day: u64| format!("2026-01-{day:02}");
    tenant.accept(companies.values().map(|(code, at)| payroll(*code, "", Some(&day(*at))))).await;
    other.accept((1..=COMPANIES).map(|code| payroll(code, "", Some("2026-01-28")))).await;
    for round in 0..ROUNDS {
        for turn in 0..TURNS {
            check(&tenant, &companies, turn + round).await;
        }
        let updated = round * 13 + 2;
        put(&tenant, updated, 28 - round).await;
        companies.insert(updated, (updated, 28 - round));
        check(&tenant, &companies, round).await;
        let deleted = round * 13 + 3;
        tenant.accept([delete(payroll(deleted, "", None))]).await;
        companies.remove(&deleted);
        check(&tenant, &companies, round).await;
        put(&tenant, deleted, round + 1).await;
        companies.insert(COMPANIES + round + 1, (deleted, round + 1));
        check(&tenant, &companies, round).await;
    }
}
