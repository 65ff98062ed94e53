//! What has changed since: asked again and again between changes, and right each time.

use std::collections::BTreeMap;

use serde_json::Value;
use store::Page;

use super::desk::{Desk, delete, payroll};
use super::stage::Stage;

const COMPANIES: u64 = 120;
const ROUNDS: u64 = 6;
/// Long enough for a store to see that it is worth remembering something, and to remember it.
const TURNS: u64 = 60;

/// Companies by ordinal: code and day of their last update.
type Companies = BTreeMap<u64, (u64, u64)>;
/// Whether a day is what a filter lets through.
type Fits = Box<dyn Fn(u64) -> bool>;

fn codes(page: &Page) -> Vec<u64> {
    let read = |body: &str| serde_json::from_str::<Value>(body).unwrap()["companyCode"].as_u64().unwrap();
    page.bodies.iter().map(read).collect()
}

async fn put(desk: &Desk, code: u64, day: u64) {
    desk.accept([payroll(code, "", Some(&format!("2026-01-{day:02}")))]).await;
}

async fn check(desk: &Desk, companies: &Companies, turn: u64) {
    let (from, to) = (turn % 27 + 1, (turn * 5) % 27 + 1);
    let cases: [(String, Fits); 6] = [
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
    for (filter, fits) in cases {
        let all: Vec<u64> = companies.values().filter(|(_, day)| fits(*day)).map(|(code, _)| *code).collect();
        for (offset, rows_max) in [(0, 25), (7, 5), (0, usize::MAX)] {
            let page = desk.payroll_page(&filter, "", offset, rows_max).await;
            let expected: Vec<u64> =
                all.iter().skip(usize::try_from(offset).unwrap()).take(rows_max).copied().collect();
            assert_eq!((codes(&page), page.total), (expected, all.len() as u64), "{filter} from {offset}");
        }
    }
}

pub(crate) async fn what_changed_since_is_right_however_often_it_is_asked(stage: Stage) {
    let (desk, other) = (stage.desk().await, stage.desk().await);
    let mut companies = Companies::new();
    for code in 1..=COMPANIES {
        companies.insert(code, (code, code * 11 % 28 + 1));
    }
    let day = |day: u64| format!("2026-01-{day:02}");
    desk.accept(companies.values().map(|(code, at)| payroll(*code, "", Some(&day(*at))))).await;
    other.accept((1..=COMPANIES).map(|code| payroll(code, "", Some("2026-01-28")))).await;
    for round in 0..ROUNDS {
        for turn in 0..TURNS {
            check(&desk, &companies, turn + round).await;
        }
        let updated = round * 13 + 2;
        put(&desk, updated, 28 - round).await;
        companies.insert(updated, (updated, 28 - round));
        check(&desk, &companies, round).await;
        let gone = round * 13 + 3;
        desk.accept([delete(payroll(gone, "", None))]).await;
        companies.remove(&gone);
        check(&desk, &companies, round).await;
        put(&desk, gone, round + 1).await;
        companies.insert(COMPANIES + round + 1, (gone, round + 1));
        check(&desk, &companies, round).await;
    }
}
