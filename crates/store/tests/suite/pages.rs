//! Pages: in order of creation and with the right total, at every offset and after any deletions.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::change::Change;
use store::Page;

use super::fixture::Fixture;
use super::test_tenant::{TestTenant, company, delete, id_of, journal};

/// A store counts deletions per block of this many ordinals.
const BLOCK: usize = 1024;
const BATCH: usize = 1000;

fn numbered(number: usize) -> Change {
    journal("c1", &number.to_string(), "{}")
}

async fn create(tenant: &TestTenant, model: &mut Vec<usize>, numbers: impl Iterator<Item = usize>) {
    let numbers: Vec<usize> = numbers.collect();
    for chunk in numbers.chunks(BATCH) {
        tenant.accept(chunk.iter().map(|number| numbered(*number))).await;
    }
    model.extend(numbers);
}

async fn remove(tenant: &TestTenant, model: &mut Vec<usize>, is_deleted: impl Fn(usize) -> bool) {
    let (deleted, remaining): (Vec<usize>, Vec<usize>) =
        model.iter().partition(|number| is_deleted(**number));
    for chunk in deleted.chunks(BATCH) {
        tenant.accept(chunk.iter().map(|number| delete(numbered(*number)))).await;
    }
    *model = remaining;
}

fn numbers(page: &Page) -> Vec<usize> {
    page.bodies.iter().map(|body| id_of(body).parse().unwrap()).collect()
}

async fn check(tenant: &TestTenant, model: &[usize], offset: usize, rows_max: usize) {
    let page = tenant.page(&numbered(0), offset as u64, rows_max).await;
    let end = model.len().min(offset + rows_max);
    assert_eq!(page.total, model.len() as u64);
    assert_eq!(numbers(&page), model[offset.min(end)..end], "{rows_max} from {offset}");
}

/// Checks every page of one size, and small pages at every block's edge and at random offsets.
async fn compare(tenant: &TestTenant, model: &[usize], fixture: &Fixture) {
    for offset in (0..model.len() + 500).step_by(500) {
        check(tenant, model, offset, 500).await;
    }
    for edge in (0..=model.len()).step_by(BLOCK) {
        for offset in edge.saturating_sub(2)..edge + 2 {
            check(tenant, model, offset, 3).await;
        }
    }
    for _ in 0..60 {
        let offset = fixture.random.below(model.len() as u64 + 10);
        check(tenant, model, usize::try_from(offset).unwrap(), 25).await;
    }
}

pub(crate) async fn pages_match_a_model_after_deletions(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1")]).await;
    let mut model = Vec::new();
    create(&tenant, &mut model, 0..4500).await;
    compare(&tenant, &model, &fixture).await;

    // Random deletions, denser towards the end.
    let is_deleted: Vec<bool> =
        (0..4500).map(|number| fixture.random.below(10) < (number / 1500) * 3).collect();
    remove(&tenant, &mut model, |number| is_deleted[number]).await;
    compare(&tenant, &model, &fixture).await;

    // Deletes a whole block, the first records and the last record.
    remove(&tenant, &mut model, |number| {
        (BLOCK..2 * BLOCK).contains(&number) || number < 10 || number == 4499
    })
    .await;
    compare(&tenant, &model, &fixture).await;

    // New records come last, also those with a reused id.
    create(&tenant, &mut model, (4500..5000).chain(0..10)).await;
    remove(&tenant, &mut model, |number| number % 7 == 0).await;
    compare(&tenant, &model, &fixture).await;

    remove(&tenant, &mut model, |_| true).await;
    check(&tenant, &model, 0, 25).await;
    create(&tenant, &mut model, 0..30).await;
    check(&tenant, &model, 0, 25).await;
    check(&tenant, &model, 20, 25).await;
}

pub(crate) async fn page_past_the_end_is_empty(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1")]).await;
    let empty = tenant.page(&numbered(1), 0, 25).await;
    assert_eq!((empty.bodies.len(), empty.total, empty.version, empty.head), (0, 0, 0, 1));

    tenant.accept((1..=30).map(numbered)).await;
    for offset in [30, 31, 1_000_000, u64::MAX] {
        let past = tenant.page(&numbered(1), offset, 25).await;
        assert_eq!((past.bodies.len(), past.total, past.head), (0, 30, 31), "from {offset}");
    }
    let end = tenant.page(&numbered(1), 25, 25).await;
    assert_eq!(numbers(&end), (26..=30).collect::<Vec<_>>());
    assert_eq!(tenant.page(&numbered(1), 0, 0).await.bodies.len(), 0);
    assert_eq!(tenant.find_page(Some("c2"), numbered(1).resource, 0, 25).await, None);
}

/// A page's version changes with its collection only; its head with every change of the tenant.
pub(crate) async fn page_reports_collection_version_and_log_head(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1"), company("c2"), numbered(1)]).await;
    let first = tenant.page(&numbered(1), 0, 25).await;
    assert_eq!((first.version, first.head), (3, 3));
    tenant.accept([journal("c2", "1", "{}")]).await;
    let same = tenant.page(&numbered(1), 0, 25).await;
    assert_eq!((same.version, same.head), (3, 4));
    assert_eq!(same.bodies, first.bodies);
    tenant.accept([journal("c1", "1", r#"{"new":true}"#)]).await;
    let updated = tenant.page(&numbered(1), 0, 25).await;
    assert_eq!((updated.version, updated.head), (5, 5));
    tenant.accept([delete(numbered(1))]).await;
    let emptied = tenant.page(&numbered(1), 0, 25).await;
    assert_eq!((emptied.version, emptied.head, emptied.total), (6, 6, 0));
    let companies = tenant.page(&company("any"), 0, 25).await;
    assert_eq!((companies.version, companies.head, companies.total), (2, 6, 2));
}

/// Adds records at the end and deletes records at the start until `stop` is set, so that the remaining records are one range
/// of numbers. Returns the range at each head of the log.
async fn replace_records(tenant: TestTenant, stop: Arc<AtomicBool>) -> HashMap<u64, Range<usize>> {
    let mut run = 0..1200;
    let mut runs = HashMap::from([(tenant.head().await, run.clone())]);
    while !stop.load(Ordering::SeqCst) {
        let end = run.end + 7 + run.end % 5;
        let start = (run.start + 6 + run.end % 7).min(end);
        let deletions = (run.start..start).map(|number| delete(numbered(number)));
        let counts = tenant.accept((run.end..end).map(numbered).chain(deletions)).await;
        run = start..end;
        runs.insert(counts.last_sequence, run.clone());
    }
    runs
}

pub(crate) async fn page_and_total_come_from_one_snapshot(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1")]).await;
    tenant.accept((0..1200).map(numbered)).await;
    let stop = Arc::new(AtomicBool::new(false));
    let writer = tokio::spawn(replace_records(tenant.clone(), stop.clone()));
    let (mut pages, mut heads) = (Vec::new(), HashSet::new());
    while pages.len() < 500 || heads.len() < 40 {
        let offset = fixture.random.below(1300);
        let rows_max = 1 + usize::try_from(fixture.random.below(60)).unwrap();
        let page = tenant.page(&numbered(0), offset, rows_max).await;
        heads.insert(page.head);
        pages.push((offset, rows_max, page));
    }
    stop.store(true, Ordering::SeqCst);
    let runs = writer.await.unwrap();
    for (offset, rows_max, page) in pages {
        let run = &runs[&page.head];
        assert_eq!((page.total, page.version), (run.len() as u64, page.head));
        let offset = usize::try_from(offset).unwrap();
        let expected: Vec<usize> = run.clone().skip(offset).take(rows_max).collect();
        assert_eq!(numbers(&page), expected, "{rows_max} from {offset} of {run:?}");
    }
}
