//! Who read what: counts by hour, filters and pages, the bound of a day, expiry, and erasure.

use std::sync::Arc;

use domain::{ClientId, TenantId, Ticks};
use store::{READ_KEYS_MAX, ReadCount, ReadDay, ReadQuery, ReadTarget, RetentionCutoffs, Store};

use super::fixture::{Fixture, by, concurrently, new_tenant};

const DAY: i64 = 739_000;

fn target(name: &str) -> ReadTarget {
    ReadTarget::all().find(|target| target.as_str() == name).unwrap()
}

/// `hour` counts from the beginning of `DAY`.
pub(crate) fn reads(
    tenant: &TenantId,
    client: &str,
    resource: &str,
    company: Option<&str>,
    hour: i64,
    reads: u64,
) -> ReadCount {
    ReadCount {
        tenant: tenant.clone(),
        client: ClientId::new(client),
        target: target(resource),
        company: company.map(Into::into),
        hour: DAY * 24 + hour,
        reads,
    }
}

async fn tenant(fixture: &Fixture, id: &str) -> TenantId {
    fixture.store.add_tenant(&new_tenant(id, fixture.now()), &by()).await.unwrap();
    TenantId::new(id)
}

async fn list(store: &Arc<dyn Store>, query: ReadQuery) -> Vec<ReadDay> {
    store.list_reads(&query).await.unwrap().rows
}

/// `0 app journals c1 8:2 9:1`, row by row; days count from `DAY`.
fn lines(rows: &[ReadDay]) -> Vec<String> {
    let line = |row: &ReadDay| {
        let hours = row.hours.iter().enumerate().filter(|(_, reads)| **reads > 0);
        let hours: Vec<String> = hours.map(|(hour, reads)| format!("{hour}:{reads}")).collect();
        let company = row.company.as_deref().unwrap_or("-");
        format!("{} {} {} {company} {}", row.day - DAY, row.client, row.target.as_str(), hours.join(" "))
    };
    rows.iter().map(line).collect()
}

fn cutoffs(reads: Ticks) -> RetentionCutoffs {
    let never = Ticks(0);
    RetentionCutoffs {
        now: never,
        processes: never,
        audit: never,
        calls: never,
        reads,
        deliveries: never,
        mails: never,
    }
}

pub(crate) async fn reads_add_up_by_hour_newest_day_first(fixture: Fixture) {
    let (store, t) = (&fixture.store, tenant(&fixture, "t").await);
    let other = tenant(&fixture, "other").await;
    store.add_reads(&[]).await.unwrap();
    let first = [
        reads(&t, "app", "journals", Some("c1"), 8, 2),
        reads(&t, "app", "journals", Some("c1"), 8, 3),
        reads(&t, "app", "journals", Some("c1"), 23, 1),
        reads(&t, "app", "companies", None, 9, 1),
        reads(&other, "app", "journals", Some("ñ'1"), 8, 1),
        reads(&TenantId::new("erased"), "app", "journals", Some("c1"), 8, 1),
    ];
    store.add_reads(&first).await.unwrap();
    let second =
        [reads(&t, "app", "journals", Some("c1"), 8, 10), reads(&t, "app", "journals", Some("c1"), 24, 7)];
    store.add_reads(&second).await.unwrap();
    store.add_reads(&[reads(&t, "app", "changes", None, 24, u64::from(u32::MAX))]).await.unwrap();
    assert_eq!(
        lines(&list(store, ReadQuery::of(t.clone())).await),
        [
            "1 app journals c1 0:7",
            "1 app changes - 0:4294967295",
            "0 app companies - 9:1",
            "0 app journals c1 8:15 23:1",
        ]
    );
    assert_eq!(lines(&list(store, ReadQuery::of(other)).await), ["0 app journals ñ'1 8:1"]);
    assert_eq!(list(store, ReadQuery::of(TenantId::new("erased"))).await, []);
    let reopened = fixture.reopen().await.store;
    assert_eq!(list(&reopened, ReadQuery::of(t.clone())).await, list(store, ReadQuery::of(t)).await);
}

/// Every combination of conditions, in pages of every size, finds the same rows as filtering all of them here.
pub(crate) async fn every_filter_of_reads_finds_its_rows(fixture: Fixture) {
    let (store, t) = (&fixture.store, tenant(&fixture, "t").await);
    let names = ["journals", "customers", "companies"];
    let mut counts = Vec::new();
    for number in 0..60 {
        let company = (number % 5 != 0).then(|| format!("c{}", number % 3));
        let client = format!("app{}", number % 2);
        let name = names[usize::try_from(number).unwrap() / 2 % 3];
        counts.push(reads(&t, &client, name, company.as_deref(), number * 3, 1));
    }
    store.add_reads(&counts).await.unwrap();
    let everything = list(store, ReadQuery::of(t.clone())).await;
    assert!(everything.len() > 30, "{}", everything.len());
    let mut found_any = 0;
    for bits in 0..32 {
        let has = |bit: i32| bits & bit != 0;
        let query = ReadQuery {
            client: has(1).then(|| ClientId::new("app1")),
            target: has(2).then(|| target("customers")),
            company: has(4).then(|| "c1".into()),
            since_day: has(8).then_some(DAY + 2),
            until_day: has(16).then_some(DAY + 5),
            ..ReadQuery::of(t.clone())
        };
        let is_wanted = |row: &&ReadDay| {
            query.client.as_ref().is_none_or(|client| *client == row.client)
                && query.target.is_none_or(|target| target == row.target)
                && query.company.as_ref().is_none_or(|company| Some(company) == row.company.as_ref())
                && query.since_day.is_none_or(|day| row.day >= day)
                && query.until_day.is_none_or(|day| row.day <= day)
        };
        let expected: Vec<ReadDay> = everything.iter().filter(is_wanted).cloned().collect();
        found_any += usize::from(!expected.is_empty());
        for rows_max in [1, 3, 100] {
            let (mut seen, mut before) = (Vec::new(), None);
            loop {
                let page = store.list_reads(&ReadQuery { before, rows_max, ..query.clone() }).await.unwrap();
                assert!(page.rows.len() <= rows_max);
                seen.extend(page.rows);
                before = page.next;
                if before.is_none() {
                    break;
                }
            }
            assert_eq!(seen, expected, "{query:?}");
        }
    }
    assert!(found_any > 20, "{found_any} of 32 queries found something");
}

pub(crate) async fn companies_beyond_the_bound_of_a_day_share_a_row(fixture: Fixture) {
    let (store, t) = (&fixture.store, tenant(&fixture, "t").await);
    let counts: Vec<ReadCount> = (0..READ_KEYS_MAX)
        .map(|number| reads(&t, "app", "journals", Some(&format!("c{number}")), 8, 1))
        .collect();
    for batch in counts.chunks(5000) {
        store.add_reads(batch).await.unwrap();
    }
    let late = [
        reads(&t, "app", "journals", Some("c7"), 9, 1),
        reads(&t, "app", "journals", Some("new"), 9, 2),
        reads(&t, "app", "journals", Some("newer"), 9, 4),
        reads(&t, "app", "journals", Some("newer"), 24, 8),
    ];
    store.add_reads(&late).await.unwrap();
    let of = async |company: &str| {
        let company = Some(company.into());
        lines(&list(store, ReadQuery { company, ..ReadQuery::of(t.clone()) }).await)
    };
    assert_eq!(of("c7").await, ["0 app journals c7 8:1 9:1"], "a known company keeps its row");
    assert_eq!(of("new").await, [""; 0]);
    assert_eq!(of("newer").await, ["1 app journals newer 0:8"], "the next day has room");
    assert_eq!(of("").await, ["0 app journals - 9:6"], "nothing is lost");
}

pub(crate) async fn old_reads_expire(fixture: Fixture) {
    let (store, t) = (&fixture.store, tenant(&fixture, "t").await);
    let other = tenant(&fixture, "other").await;
    for day in 0..4 {
        let counts = [&t, &other].map(|tenant| reads(tenant, "app", "journals", Some("c1"), day * 24, 1));
        store.add_reads(&counts).await.unwrap();
    }
    let day = |number: i64| Ticks::from_day(DAY + number);
    assert_eq!(store.expire(cutoffs(day(0)), 10).await.unwrap().total(), 0);
    assert_eq!(store.expire(cutoffs(day(2)), 3).await.unwrap().reads, 3);
    assert_eq!(store.expire(cutoffs(day(2)), 3).await.unwrap().reads, 1);
    assert_eq!(store.expire(cutoffs(day(2)), 3).await.unwrap().total(), 0);
    for tenant in [t, other] {
        let left = lines(&list(store, ReadQuery::of(tenant)).await);
        assert_eq!(left, ["3 app journals c1 0:1", "2 app journals c1 0:1"]);
    }
}

pub(crate) async fn erased_tenants_reads_are_erased(fixture: Fixture) {
    let (store, t) = (&fixture.store, tenant(&fixture, "t").await);
    let other = tenant(&fixture, "other").await;
    let counts = [&t, &other].map(|tenant| reads(tenant, "app", "journals", Some("c1"), 8, 1));
    store.add_reads(&counts).await.unwrap();
    assert_eq!(store.erase_tenant(&t, &by()).await, Ok(true));
    assert_eq!(list(store, ReadQuery::of(t.clone())).await, []);
    while store.purge(100).await.unwrap() > 0 {}
    tenant_again(&fixture, &t).await;
    assert_eq!(list(store, ReadQuery::of(t)).await, [], "another tenant with the same id");
    assert_eq!(list(store, ReadQuery::of(other)).await.len(), 1);
}

async fn tenant_again(fixture: &Fixture, id: &TenantId) {
    fixture.store.add_tenant(&new_tenant(id.as_str(), fixture.now()), &by()).await.unwrap();
}

pub(crate) async fn concurrent_reads_lose_nothing(fixture: Fixture) {
    let t = tenant(&fixture, "t").await;
    let second = fixture.reopen().await.store;
    concurrently(16, &[&fixture.store, &second], |number, store| {
        let t = t.clone();
        async move {
            // In different orders.
            let mut counts: Vec<ReadCount> = ["c1", "c2", "c3"]
                .into_iter()
                .map(|company| reads(&t, "app", "journals", Some(company), 8, 1))
                .collect();
            counts.rotate_left(number % 3);
            store.add_reads(&counts).await.unwrap();
        }
    })
    .await;
    let rows = lines(&list(&fixture.store, ReadQuery::of(t)).await);
    assert_eq!(rows, ["c3", "c2", "c1"].map(|company| format!("0 app journals {company} 8:16")));
}
