//! Pages: in order of creation, with the right total, wherever they lie and whatever was deleted before.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::change::Change;
use store::Page;

use super::desk::{Desk, company, delete, id_of, journal};
use super::stage::Stage;

/// Blocks of ordinals share one count of what was deleted among them.
const BLOCK: usize = 1024;
const BATCH: usize = 1000;

fn numbered(number: usize) -> Change {
    journal("c1", &number.to_string(), "{}")
}

async fn create(desk: &Desk, model: &mut Vec<usize>, numbers: impl Iterator<Item = usize>) {
    let numbers: Vec<usize> = numbers.collect();
    for some in numbers.chunks(BATCH) {
        desk.accept(some.iter().map(|number| numbered(*number))).await;
    }
    model.extend(numbers);
}

async fn remove(desk: &Desk, model: &mut Vec<usize>, gone: impl Fn(usize) -> bool) {
    let (going, staying): (Vec<usize>, Vec<usize>) = model.iter().partition(|number| gone(**number));
    for some in going.chunks(BATCH) {
        desk.accept(some.iter().map(|number| delete(numbered(*number)))).await;
    }
    *model = staying;
}

fn numbers(page: &Page) -> Vec<usize> {
    page.bodies.iter().map(|body| id_of(body).parse().unwrap()).collect()
}

async fn check(desk: &Desk, model: &[usize], offset: usize, rows_max: usize) {
    let page = desk.page(&numbered(0), offset as u64, rows_max).await;
    let end = model.len().min(offset + rows_max);
    assert_eq!(page.total, model.len() as u64);
    assert_eq!(numbers(&page), model[offset.min(end)..end], "{rows_max} from {offset}");
}

/// Every page of one size, small pages around every block's edge and at random places.
async fn compare(desk: &Desk, model: &[usize], stage: &Stage) {
    for offset in (0..model.len() + 500).step_by(500) {
        check(desk, model, offset, 500).await;
    }
    for edge in (0..=model.len()).step_by(BLOCK) {
        for offset in edge.saturating_sub(2)..edge + 2 {
            check(desk, model, offset, 3).await;
        }
    }
    for _ in 0..60 {
        let offset = stage.random.below(model.len() as u64 + 10);
        check(desk, model, usize::try_from(offset).unwrap(), 25).await;
    }
}

pub(crate) async fn pages_match_a_model_whatever_was_deleted(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([company("c1")]).await;
    let mut model = Vec::new();
    create(&desk, &mut model, 0..4500).await;
    compare(&desk, &model, &stage).await;

    // Here and there, unevenly.
    let unlucky: Vec<bool> = (0..4500).map(|number| stage.random.below(10) < (number / 1500) * 3).collect();
    remove(&desk, &mut model, |number| unlucky[number]).await;
    compare(&desk, &model, &stage).await;

    // A whole block, the first records, the last record.
    remove(&desk, &mut model, |number| (BLOCK..2 * BLOCK).contains(&number) || number < 10 || number == 4499)
        .await;
    compare(&desk, &model, &stage).await;

    // New ones come after all, those with an old id too.
    create(&desk, &mut model, (4500..5000).chain(0..10)).await;
    remove(&desk, &mut model, |number| number % 7 == 0).await;
    compare(&desk, &model, &stage).await;

    remove(&desk, &mut model, |_| true).await;
    check(&desk, &model, 0, 25).await;
    create(&desk, &mut model, 0..30).await;
    check(&desk, &model, 0, 25).await;
    check(&desk, &model, 20, 25).await;
}

pub(crate) async fn a_page_past_the_end_is_empty(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([company("c1")]).await;
    let empty = desk.page(&numbered(1), 0, 25).await;
    assert_eq!((empty.bodies.len(), empty.total, empty.version, empty.head), (0, 0, 0, 1));

    desk.accept((1..=30).map(numbered)).await;
    for offset in [30, 31, 1_000_000, u64::MAX] {
        let past = desk.page(&numbered(1), offset, 25).await;
        assert_eq!((past.bodies.len(), past.total, past.head), (0, 30, 31), "from {offset}");
    }
    let end = desk.page(&numbered(1), 25, 25).await;
    assert_eq!(numbers(&end), (26..=30).collect::<Vec<_>>());
    assert_eq!(desk.page(&numbered(1), 0, 0).await.bodies.len(), 0);
    assert_eq!(desk.find_page(Some("c2"), numbered(1).resource, 0, 25).await, None);
}

/// A page's version moves with its own collection only; its head with the tenant.
pub(crate) async fn a_page_tells_where_the_log_stood(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([company("c1"), company("c2"), numbered(1)]).await;
    let seen = desk.page(&numbered(1), 0, 25).await;
    assert_eq!((seen.version, seen.head), (3, 3));
    desk.accept([journal("c2", "1", "{}")]).await;
    let same = desk.page(&numbered(1), 0, 25).await;
    assert_eq!((same.version, same.head), (3, 4));
    assert_eq!(same.bodies, seen.bodies);
    desk.accept([journal("c1", "1", r#"{"new":true}"#)]).await;
    let updated = desk.page(&numbered(1), 0, 25).await;
    assert_eq!((updated.version, updated.head), (5, 5));
    desk.accept([delete(numbered(1))]).await;
    let emptied = desk.page(&numbered(1), 0, 25).await;
    assert_eq!((emptied.version, emptied.head, emptied.total), (6, 6, 0));
    let companies = desk.page(&company("any"), 0, 25).await;
    assert_eq!((companies.version, companies.head, companies.total), (2, 6, 2));
}

/// Adds at the end and deletes at the start until told to stop: what is alive is one run of numbers. Gives
/// the run that stood at each head of the log.
async fn churn(desk: Desk, stop: Arc<AtomicBool>) -> HashMap<u64, Range<usize>> {
    let mut run = 0..1200;
    let mut runs = HashMap::from([(desk.head().await, run.clone())]);
    while !stop.load(Ordering::SeqCst) {
        let end = run.end + 7 + run.end % 5;
        let start = (run.start + 6 + run.end % 7).min(end);
        let gone = (run.start..start).map(|number| delete(numbered(number)));
        let counts = desk.accept((run.end..end).map(numbered).chain(gone)).await;
        run = start..end;
        runs.insert(counts.last_sequence, run.clone());
    }
    runs
}

pub(crate) async fn a_page_and_its_total_are_of_one_moment(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([company("c1")]).await;
    desk.accept((0..1200).map(numbered)).await;
    let stop = Arc::new(AtomicBool::new(false));
    let churning = tokio::spawn(churn(desk.clone(), stop.clone()));
    let (mut seen, mut heads) = (Vec::new(), HashSet::new());
    while seen.len() < 500 || heads.len() < 40 {
        let offset = stage.random.below(1300);
        let rows_max = 1 + usize::try_from(stage.random.below(60)).unwrap();
        let page = desk.page(&numbered(0), offset, rows_max).await;
        heads.insert(page.head);
        seen.push((offset, rows_max, page));
    }
    stop.store(true, Ordering::SeqCst);
    let runs = churning.await.unwrap();
    for (offset, rows_max, page) in seen {
        let run = &runs[&page.head];
        assert_eq!((page.total, page.version), (run.len() as u64, page.head));
        let offset = usize::try_from(offset).unwrap();
        let expected: Vec<usize> = run.clone().skip(offset).take(rows_max).collect();
        assert_eq!(numbers(&page), expected, "{rows_max} from {offset} of {run:?}");
    }
}
