//! Payroll companies by filter and order: matches, order, pages and totals.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use domain::TenantId;
use serde_json::Value;
use store::{Page, PayrollQuery, RecordBodies, StoreError};

use super::fixture::Fixture;
use super::test_tenant::{TestTenant, company, delete, payroll, payroll_with};

fn codes(page: &Page) -> Vec<u64> {
    let read = |body: &str| serde_json::from_str::<Value>(body).unwrap()["companyCode"].as_u64().unwrap();
    page.bodies.iter().map(read).collect()
}

/// The codes of all matching companies, in order.
async fn ordered(tenant: &TestTenant, filter: &str, order: &str) -> Vec<u64> {
    let page = tenant.payroll_page(filter, order, 0, usize::MAX).await;
    assert_eq!(page.total, page.bodies.len() as u64, "{filter}");
    codes(&page)
}

/// Asserts that each filter finds the given codes, in order of creation.
async fn check(tenant: &TestTenant, expected: &[(&str, &[u64])]) {
    for (filter, found) in expected {
        assert_eq!(ordered(tenant, filter, "").await, *found, "{filter}");
    }
}

/// A tenant with one company per name; their codes start at 1.
async fn companies_named(fixture: &Fixture, names: &[&str]) -> TestTenant {
    let tenant = fixture.add_tenant().await;
    tenant.accept((1..).zip(names).map(|(code, name)| payroll(code, name, None))).await;
    tenant
}

/// Created in the order 30, 10, 20, 40.
async fn four_companies(fixture: &Fixture) -> TestTenant {
    let tenant = fixture.add_tenant().await;
    tenant
        .accept([
            payroll_with(30, "Carpintería", "C3", Some("2026-03-01")),
            payroll_with(10, "Asesoría", "A1", Some("2026-01-01T10:00:00.250Z")),
            payroll_with(20, "Bodega", "B2", Some("2026-02-01")),
            payroll_with(40, "Bodega", "", Some("2026-02-01")),
        ])
        .await;
    tenant
}

pub(crate) async fn every_operator_works_on_every_field(fixture: Fixture) {
    let tenant = four_companies(&fixture).await;
    check(
        &tenant,
        &[
            ("companyCode eq 20", &[20]),
            ("companyCode ne 20", &[30, 10, 40]),
            ("companyCode gt 20", &[30, 40]),
            ("companyCode ge 20", &[30, 20, 40]),
            ("companyCode lt 20", &[10]),
            ("companyCode le 20", &[10, 20]),
            ("companyCode gt -9223372036854775808", &[30, 10, 20, 40]),
            ("companyCode ge 9223372036854775807", &[]),
            ("companyName eq 'Bodega'", &[20, 40]),
            ("companyName ne 'Bodega'", &[30, 10]),
            ("companyName gt 'Bodega'", &[30]),
            ("companyName ge 'Bodega'", &[30, 20, 40]),
            ("companyName lt 'Bodega'", &[10]),
            ("companyName le 'Bodega'", &[10, 20, 40]),
            ("identifierNumber eq 'B2'", &[20]),
            ("identifierNumber ne 'B2'", &[30, 10, 40]),
            ("identifierNumber gt 'B2'", &[30]),
            ("identifierNumber ge 'B2'", &[30, 20]),
            ("identifierNumber lt 'B2'", &[10, 40]),
            ("identifierNumber le 'B2'", &[10, 20, 40]),
            ("lastUpdate eq 2026-02-01", &[20, 40]),
            ("lastUpdate eq 2026-01-01T11:00:00.250+01:00", &[10]),
            ("lastUpdate ne 2026-02-01", &[30, 10]),
            ("lastUpdate gt 2026-02-01", &[30]),
            ("lastUpdate ge 2026-02-01", &[30, 20, 40]),
            ("lastUpdate lt 2026-02-01", &[10]),
            ("lastUpdate le 2026-02-01", &[10, 20, 40]),
            (
                "lastUpdate gt 2026-01-01T10:00:00.2499999Z and lastUpdate lt 2026-01-01T10:00:00.2500001Z",
                &[10],
            ),
        ],
    )
    .await;
}

pub(crate) async fn and_binds_tighter_than_or_and_not_tightest(fixture: Fixture) {
    let tenant = four_companies(&fixture).await;
    check(
        &tenant,
        &[
            ("companyCode eq 10 or companyCode eq 20 and companyCode eq 30", &[10]),
            ("(companyCode eq 10 or companyCode eq 20) and companyCode eq 30", &[]),
            ("companyCode eq 30 and (companyCode eq 20 or companyCode ge 30)", &[30]),
            ("companyCode eq 30 and companyCode eq 20 or companyCode ge 30", &[30, 40]),
            ("not companyCode eq 10 and companyCode lt 30", &[20]),
            ("not (companyCode eq 10 and companyCode lt 30)", &[30, 20, 40]),
            ("not companyCode eq 10 or companyCode eq 10", &[30, 10, 20, 40]),
            ("not (companyCode eq 10 or not contains(companyName,'o'))", &[20, 40]),
            ("not not companyCode eq 10", &[10]),
            ("lastUpdate gt 2026-01-15 and companyName eq 'Bodega' and identifierNumber ne ''", &[20]),
        ],
    )
    .await;
}

pub(crate) async fn string_functions_compare_exact_characters(fixture: Fixture) {
    let names = ["Año Nuevo", "ano", "Ñandú", "ñandú", "n\u{303}andu\u{301}", "añoañ", ""];
    let tenant = companies_named(&fixture, &names).await;
    check(
        &tenant,
        &[
            ("contains(companyName,'ño')", &[1, 6]),
            ("contains(companyName,'Año Nuevo')", &[1]),
            ("contains(companyName,'Año Nuevo ')", &[]),
            ("contains(companyName,'o N')", &[1]),
            ("contains(companyName,'AND')", &[]),
            ("startswith(companyName,'Añ')", &[1]),
            ("startswith(companyName,'ñ')", &[4]),
            ("startswith(companyName,'n')", &[5]),
            ("startswith(companyName,'ano')", &[2]),
            ("startswith(companyName,'anoano')", &[]),
            ("endswith(companyName,'dú')", &[3, 4]),
            ("endswith(companyName,'añ')", &[6]),
            ("endswith(companyName,'\u{301}')", &[5]),
            ("endswith(companyName,'ano')", &[2]),
            ("endswith(companyName,'anoano')", &[]),
            ("contains(identifierNumber,'345')", &[1, 2, 3, 4, 5, 6, 7]),
            ("startswith(identifierNumber,'B12')", &[1, 2, 3, 4, 5, 6, 7]),
            ("endswith(identifierNumber,'B12')", &[]),
            ("endswith(identifierNumber,'74') and startswith(companyName,'a')", &[2, 6]),
        ],
    )
    .await;
}

pub(crate) async fn empty_string_matches_every_text(fixture: Fixture) {
    let tenant = companies_named(&fixture, &["", "a", "ñ"]).await;
    check(
        &tenant,
        &[
            ("contains(companyName,'')", &[1, 2, 3]),
            ("startswith(companyName,'')", &[1, 2, 3]),
            ("endswith(companyName,'')", &[1, 2, 3]),
            ("not contains(companyName,'')", &[]),
            ("not startswith(companyName,'')", &[]),
            ("not endswith(companyName,'')", &[]),
            ("companyName eq ''", &[1]),
            ("companyName gt ''", &[2, 3]),
            ("companyName ge ''", &[1, 2, 3]),
            ("companyName lt ''", &[]),
            ("companyName le ''", &[1]),
        ],
    )
    .await;
}

pub(crate) async fn wildcard_and_quote_characters_are_literal(fixture: Fixture) {
    let names = ["100%", "100", "a_b", "axb", r"c\d", r"c\\d", "O'Higgins", "x'; --", "$1 ?1"];
    let tenant = companies_named(&fixture, &names).await;
    check(
        &tenant,
        &[
            ("contains(companyName,'%')", &[1]),
            ("startswith(companyName,'1%')", &[]),
            ("endswith(companyName,'0%')", &[1]),
            ("contains(companyName,'_')", &[3]),
            ("startswith(companyName,'a_')", &[3]),
            ("companyName eq 'a_b'", &[3]),
            (r"contains(companyName,'\')", &[5, 6]),
            (r"contains(companyName,'\\')", &[6]),
            (r"endswith(companyName,'\d')", &[5, 6]),
            (r"contains(companyName,'\%')", &[]),
            ("contains(companyName,'''')", &[7, 8]),
            ("companyName eq 'O''Higgins'", &[7]),
            ("companyName eq 'x''; --'", &[8]),
            ("companyName eq ''' OR 1 = 1 --'", &[]),
            ("contains(companyName,'$1')", &[9]),
            ("contains(companyName,'?1')", &[9]),
        ],
    )
    .await;
}

pub(crate) async fn texts_compare_by_bytes(fixture: Fixture) {
    // U+FFFD comes before U+1F600 by bytes, and after it by UTF-16 units.
    let tenant =
        companies_named(&fixture, &["b", "B", "ñ", "n", "😀", "\u{fffd}", "ba", "a b", "a-b", "ab"]).await;
    assert_eq!(ordered(&tenant, "", "companyName").await, [2, 8, 9, 10, 1, 7, 4, 3, 6, 5]);
    assert_eq!(ordered(&tenant, "", "companyName desc").await, [5, 6, 3, 4, 7, 1, 10, 9, 8, 2]);
    check(
        &tenant,
        &[
            ("companyName lt 'a'", &[2]),
            ("companyName gt 'n'", &[3, 5, 6]),
            ("companyName gt '\u{fffd}'", &[5]),
            ("companyName ge 'b' and companyName lt 'c'", &[1, 7]),
        ],
    )
    .await;
}

pub(crate) async fn nul_matches_no_text_and_sorts_first(fixture: Fixture) {
    let tenant = companies_named(&fixture, &["", "a", "a\u{1}", "ab", "b"]).await;
    check(
        &tenant,
        &[
            ("companyName eq 'a\0'", &[]),
            ("companyName ne 'a\0'", &[1, 2, 3, 4, 5]),
            ("companyName gt 'a\0'", &[3, 4, 5]),
            ("companyName ge 'a\0b'", &[3, 4, 5]),
            ("companyName lt 'a\0'", &[1, 2]),
            ("companyName le 'a\0\0b'", &[1, 2]),
            ("companyName gt '\0'", &[2, 3, 4, 5]),
            ("companyName lt '\0'", &[1]),
            ("companyName lt 'ab\0' and companyName gt '\0a'", &[2, 3, 4]),
            ("contains(companyName,'\0')", &[]),
            ("startswith(companyName,'a\0')", &[]),
            ("startswith(companyName,'\0a')", &[]),
            ("endswith(companyName,'\0')", &[]),
            ("endswith(companyName,'\0b')", &[]),
            ("not endswith(companyName,'a\0b')", &[1, 2, 3, 4, 5]),
            ("not (companyName eq '\0') and contains(companyName,'b')", &[4, 5]),
        ],
    )
    .await;
}

pub(crate) async fn order_is_ascending_or_descending_with_the_code_as_tie_breaker(fixture: Fixture) {
    let tenant = four_companies(&fixture).await;
    for (order, expected) in [
        ("", [30, 10, 20, 40]),
        ("companyCode", [10, 20, 30, 40]),
        ("companyCode desc", [40, 30, 20, 10]),
        ("companyName", [10, 20, 40, 30]),
        ("companyName desc", [30, 20, 40, 10]),
        ("companyName desc, companyCode desc", [30, 40, 20, 10]),
        ("identifierNumber", [40, 10, 20, 30]),
        ("companyName, identifierNumber", [10, 40, 20, 30]),
        ("lastUpdate", [10, 20, 40, 30]),
        ("lastUpdate desc", [30, 20, 40, 10]),
        ("lastUpdate desc, companyCode desc", [30, 40, 20, 10]),
        ("lastUpdate, companyCode desc", [10, 40, 20, 30]),
        ("lastUpdate, identifierNumber desc, companyName", [10, 20, 40, 30]),
    ] {
        assert_eq!(ordered(&tenant, "", order).await, expected, "{order}");
        // The order does not depend on the index that the filter uses.
        for filter in [
            "lastUpdate gt 2020-01-01",
            "companyCode ge 0",
            "companyName ne ''",
            "companyCode gt 0 and lastUpdate le 2027-01-01",
        ] {
            assert_eq!(ordered(&tenant, filter, order).await, expected, "{filter}, {order}");
        }
    }
    let page = tenant.payroll_page("companyName eq 'Bodega'", "companyCode desc", 1, 1).await;
    assert_eq!((codes(&page), page.total), (vec![20], 2));
}

pub(crate) async fn filtered_pages_join_to_the_whole_result(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let company = |number: u64| {
        let day = format!("2026-01-{:02}", number % 28 + 1);
        payroll(number * 37 % 200, &format!("{}", number % 3), Some(&day))
    };
    tenant.accept((0..200).map(company)).await;
    for (filter, total) in [("", 200), ("companyCode lt 100", 100), ("companyName eq '1'", 67)] {
        for order in ["", "companyName desc", "lastUpdate desc, companyCode desc", "companyCode"] {
            let whole = ordered(&tenant, filter, order).await;
            let mut joined = Vec::new();
            for offset in (0..total).step_by(30) {
                let page = tenant.payroll_page(filter, order, offset, 30).await;
                assert_eq!(page.total, total);
                joined.extend(codes(&page));
            }
            assert_eq!(joined.len() as u64, total);
            assert_eq!(joined, whole, "{filter}, {order}");
            for offset in [total, total + 1, 200, 1_000_000, u64::MAX] {
                let past = tenant.payroll_page(filter, order, offset, 30).await;
                assert_eq!((past.bodies.len(), past.total), (0, total), "from {offset}");
            }
            let none = tenant.payroll_page(filter, order, 0, 0).await;
            assert_eq!((none.bodies.len(), none.total), (0, total));
        }
    }
    let plain = tenant.page(&payroll(0, "", None), 20, 30).await;
    assert_eq!(tenant.payroll_page("", "", 20, 30).await, plain);
    assert_eq!(tenant.payroll_page("companyCode ge 0", "", 20, 30).await, plain);
}

pub(crate) async fn filter_sees_only_its_own_tenant(fixture: Fixture) {
    let (bilbao, vigo) = (fixture.add_tenant().await, fixture.add_tenant().await);
    bilbao.accept([payroll(1, "Bilbao", None), payroll(2, "Ambas", None)]).await;
    vigo.accept([company("1"), payroll(2, "Ambas", None), payroll(3, "Vigo", None)]).await;
    for filter in
        ["companyCode ge 0", "not contains(companyName,'\0')", "companyCode eq 1 or companyCode ne 1"]
    {
        assert_eq!(ordered(&bilbao, filter, "").await, [1, 2]);
        assert_eq!(ordered(&vigo, filter, "companyCode desc").await, [3, 2]);
    }
    assert_eq!(ordered(&vigo, "companyName eq 'Bilbao'", "").await, [0; 0]);
    let empty = fixture.add_tenant().await;
    for (filter, order) in [("", ""), ("companyCode ge 0", "lastUpdate")] {
        let page = empty.payroll_page(filter, order, 0, 25).await;
        assert_eq!(page, Page { bodies: RecordBodies::default(), total: 0, version: 0, head: 0 });
    }
    for id in ["nowhere", "no\0where"] {
        let tenant = TenantId::new(id);
        let query = PayrollQuery { tenant, filter: None, order: None, offset: 0, rows_max: 25 };
        assert_eq!(bilbao.store.payroll_page(&query).await, Err(StoreError::UnknownTenant(id.into())));
    }
}

pub(crate) async fn filter_matches_the_current_state(fixture: Fixture) {
    let tenant = four_companies(&fixture).await;
    tenant
        .accept([payroll_with(20, "Taberna", "T9", Some("2026-09-01")), delete(payroll(30, "", None))])
        .await;
    check(
        &tenant,
        &[
            ("companyName eq 'Bodega'", &[40]),
            ("companyName eq 'Taberna'", &[20]),
            ("identifierNumber eq 'B2'", &[]),
            ("identifierNumber eq 'T9'", &[20]),
            ("lastUpdate gt 2026-02-15", &[20]),
            ("lastUpdate eq 2026-02-01", &[40]),
            ("companyCode eq 30", &[]),
            ("companyCode ge 0", &[10, 20, 40]),
        ],
    )
    .await;
    assert_eq!(ordered(&tenant, "", "lastUpdate desc").await, [20, 40, 10]);

    // A change without a last update gets the commit time; a recreated company comes last.
    let now = fixture.clock.advance(Duration::from_mins(1)).to_millisecond();
    tenant.accept([payroll(30, "Otra vez", None), payroll(10, "Asesoría Ría", None)]).await;
    let at_commit = format!("lastUpdate eq {}", now.iso());
    check(
        &tenant,
        &[
            ("companyCode ge 0", &[10, 20, 40, 30]),
            (&at_commit, &[10, 30]),
            ("companyName eq 'Carpintería'", &[]),
        ],
    )
    .await;
    let page = tenant.payroll_page("companyCode eq 10", "", 0, 25).await;
    let body = tenant.record(&payroll(10, "", None)).await.unwrap().body;
    assert_eq!(page.bodies.iter().collect::<Vec<_>>(), [&*body]);

    tenant.accept([10, 20, 30, 40].map(|code| delete(payroll(code, "", None)))).await;
    assert_eq!(ordered(&tenant, "companyCode ge 0", "").await, [0; 0]);
    assert_eq!(ordered(&tenant, "", "companyName").await, [0; 0]);
}

pub(crate) async fn filtered_page_reports_collection_version_and_log_head(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let versions = async || {
        let page = tenant.payroll_page("companyCode eq 1", "companyName", 0, 25).await;
        let plain = tenant.page(&payroll(0, "", None), 0, 25).await;
        assert_eq!((page.version, page.head), (plain.version, plain.head));
        (page.version, page.head, page.total)
    };
    tenant.accept([company("c1")]).await;
    assert_eq!(versions().await, (0, 1, 0));
    tenant.accept([payroll(1, "Norte", None), company("c2")]).await;
    assert_eq!(versions().await, (2, 3, 1));
    tenant.accept([payroll(2, "Sur", None)]).await;
    assert_eq!(versions().await, (4, 4, 1), "a company that does not match changes the version too");
    tenant.accept([delete(payroll(1, "", None))]).await;
    assert_eq!(versions().await, (5, 5, 0));
}

/// Renames all companies in one batch, with one more company each time; returns the round at each head.
async fn rename(tenant: TestTenant, stop: Arc<AtomicBool>) -> HashMap<u64, u64> {
    let mut rounds = HashMap::new();
    for round in 1.. {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        let all = (0..20 + round).map(|code| payroll(code, &format!("r{round}"), None));
        rounds.insert(tenant.accept(all).await.last_sequence, round);
    }
    rounds
}

pub(crate) async fn filtered_page_and_total_come_from_one_snapshot(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let stop = Arc::new(AtomicBool::new(false));
    let writer = tokio::spawn(rename(tenant.clone(), stop.clone()));
    let (mut pages, mut heads) = (Vec::new(), HashSet::new());
    while pages.len() < 200 || heads.len() < 20 {
        let page = tenant.payroll_page("startswith(companyName,'r')", "companyCode desc", 5, 30).await;
        heads.insert(page.head);
        pages.push(page);
    }
    stop.store(true, Ordering::SeqCst);
    let rounds = writer.await.unwrap();
    for page in pages.into_iter().filter(|page| page.head > 0) {
        let round = rounds[&page.head];
        assert_eq!((page.total, page.version), (20 + round, page.head));
        let expected: Vec<u64> = (0..15 + round).rev().take(30).collect();
        assert_eq!(codes(&page), expected);
        let name = format!("\"r{round}\"");
        assert!(page.bodies.iter().all(|body| body.contains(&name)), "{name}: {page:?}");
    }
}

pub(crate) async fn longest_and_deepest_filters_are_answered(fixture: Fixture) {
    let tenant = four_companies(&fixture).await;
    let any = (0..100).map(|code| format!("companyCode eq {code}")).collect::<Vec<_>>();
    let all = (41..141).map(|code| format!("companyCode lt {code}")).collect::<Vec<_>>();
    let mixed = vec!["contains(companyName,'x') and companyCode gt 1 or companyCode eq 10"; 33];
    let deep = format!("{}companyCode eq 10{}", "not (".repeat(16), ")".repeat(16));
    let enclosed = format!("{}companyCode eq 10{}", "(".repeat(32), ")".repeat(32));
    let all_codes: &[u64] = &[30, 10, 20, 40];
    check(
        &tenant,
        &[
            (&any.join(" or "), all_codes),
            (&all.join(" and "), all_codes),
            (&mixed.join(" or "), &[10]),
            (&deep, &[10]),
            (&enclosed, &[10]),
        ],
    )
    .await;
}
