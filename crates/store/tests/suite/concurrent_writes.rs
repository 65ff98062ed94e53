//! Many writers at once, on two handles, while readers follow the log.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::change::Change;
use tokio::task::JoinSet;

use super::desk::{Desk, company, customer, delete, journal};
use super::stage::{Kind, Stage, at_once, soon};

const WRITERS: usize = 16;
const TENANTS: usize = 3;
const BATCHES: usize = 20;

/// Two changes of a batch that was answered, one of them of a record that every batch changes.
struct Answered {
    one: Change,
    other: Change,
    last_sequence: u64,
}

impl Answered {
    /// What a reader does not see of it yet.
    async fn missing(&self, reader: &Desk) -> Option<&'static str> {
        let last = self.last_sequence;
        let Some(seen) = reader.record(&self.one).await else { return Some("a record") };
        assert_eq!(seen.sequence, last - 1);
        if reader.record(&self.other).await.is_none_or(|other| other.sequence != last) {
            return Some("a record's last state");
        }
        let page = reader.page(&self.one, 0, 1).await;
        if page.head < last || page.version < seen.sequence {
            return Some("what a page tells of its moment");
        }
        assert!(reader.head().await >= last);
        let entry = &reader.read(&reader.query(last - 2, 1)).await[0];
        assert_eq!(*entry.correlation_id, *self.one.correlation_id.as_str());
        None
    }
}

/// Sends batches of two changes, and checks after each answer that what was answered can be read: at once at its own
/// handle, and elsewhere too, but that records of a file that others write to may be a moment old.
async fn write(writer: usize, desk: Desk, elsewhere: Desk, kind: Kind) {
    for number in 0..BATCHES {
        let one = journal("c1", &format!("w{writer}-{number}"), &format!(r#"{{"n":{number}}}"#));
        let other = customer("c1", &format!("k{writer}"), &format!("Ana {number}"));
        let counts = desk.accept([one.clone(), other.clone()]).await;
        let answered = Answered { one, other, last_sequence: counts.last_sequence };
        assert_eq!(answered.missing(&desk).await, None);
        if kind == Kind::Sqlite {
            soon(|| async { answered.missing(&elsewhere).await.is_none() }).await;
        } else {
            assert_eq!(answered.missing(&elsewhere).await, None);
        }
    }
}

/// Follows the log by the last number seen, until the writers are done and nothing is left.
async fn follow(desk: Desk, done: Arc<AtomicBool>) -> u64 {
    let mut seen = 0;
    loop {
        let all_written = done.load(Ordering::SeqCst);
        let page = desk.read(&desk.query(seen, 7)).await;
        for entry in &page {
            assert_eq!(entry.sequence, seen + 1, "a number was missed or came late");
            seen = entry.sequence;
        }
        if page.is_empty() && all_written {
            return seen;
        }
        tokio::task::yield_now().await;
    }
}

pub(crate) async fn a_follower_misses_nothing_while_many_write(stage: Stage) {
    let there = stage.reopen().await.store;
    let mut desks = Vec::new();
    for _ in 0..TENANTS {
        let desk = stage.desk().await;
        desk.accept([company("c1")]).await;
        desks.push((desk.clone(), desk.at(&there)));
    }
    let done = Arc::new(AtomicBool::new(false));
    let mut followers = JoinSet::new();
    for (here, there) in &desks {
        followers.spawn(follow(here.clone(), done.clone()));
        followers.spawn(follow(there.clone(), done.clone()));
    }
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let (here, there) = desks[writer % TENANTS].clone();
        // Half of the writers sit at the other handle.
        if writer % 2 == 0 {
            writers.spawn(write(writer, here, there, stage.kind));
        } else {
            writers.spawn(write(writer, there, here, stage.kind));
        }
    }
    while let Some(ended) = writers.join_next().await {
        ended.unwrap();
    }
    done.store(true, Ordering::SeqCst);
    let mut numbers = followers.join_all().await;
    numbers.sort_unstable();

    let mut expected = Vec::new();
    for (index, (desk, _)) in desks.iter().enumerate() {
        let writers = (0..WRITERS).filter(|writer| writer % TENANTS == index).count();
        let changes = (1 + writers * BATCHES * 2) as u64;
        assert_eq!(desk.numbers(&desk.query(0, usize::MAX)).await, (1..=changes).collect::<Vec<_>>());
        expected.extend([changes, changes]);
    }
    expected.sort_unstable();
    assert_eq!(numbers, expected);
}

/// Changes that wait together are written together; each request still gets its own answer.
pub(crate) async fn requests_that_are_joined_get_their_own_answers(stage: Stage) {
    let desk = stage.desk().await;
    assert_eq!(desk.store.change_commits(), 0);
    desk.accept([company("c1")]).await;
    let before = desk.store.change_commits();
    assert_eq!(before, 1);
    let answers = at_once(60, &[&desk.store], |number, store| {
        let desk = desk.at(&store);
        async move {
            let good = journal("c1", &format!("j{number}"), "{}");
            let bad = delete(journal("c1", &format!("none{number}"), "{}"));
            let batch = desk.chunk(&format!("key {number}"), 0, [good.clone(), bad, good]);
            (number, desk.store.apply_changes(batch).await.unwrap())
        }
    })
    .await;
    let commits = desk.store.change_commits() - before;
    assert!((1..=60).contains(&commits), "{commits} commits for 60 requests");
    let mut last = Vec::new();
    for (number, counts) in answers {
        assert_eq!((counts.accepted, counts.rejected), (2, 1));
        assert_eq!(counts.errors.len(), 1);
        assert_eq!(counts.errors[0].line, 2);
        assert!(counts.errors[0].fault.message.contains(&format!("\"none{number}\"")));
        let progress = desk.store.find_ingest_progress(&desk.tenant, &format!("key {number}")).await.unwrap();
        assert_eq!(progress.unwrap().counts, counts);
        assert_eq!(
            desk.record(&journal("c1", &format!("j{number}"), "{}")).await.unwrap().sequence,
            counts.last_sequence
        );
        last.push(counts.last_sequence);
    }
    last.sort_unstable();
    assert_eq!(last, (2..=61).collect::<Vec<_>>(), "one change each, one number each");
}

/// Whoever goes away before the answer takes nobody's changes along, and leaves nobody waiting.
pub(crate) async fn a_caller_who_goes_away_takes_nothing_along(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([company("c1")]).await;
    for round in 0..10 {
        let mut leaving = JoinSet::new();
        for number in 0..5 {
            let (desk, one) = (desk.clone(), journal("c1", &format!("gone {round} {number}"), "{}"));
            leaving.spawn(async move { desk.send([one]).await });
        }
        tokio::task::yield_now().await;
        leaving.abort_all();
        let staying = journal("c1", &format!("stays {round}"), "{}");
        desk.accept([staying.clone()]).await;
        assert!(desk.has(&staying).await);
    }
    let head = desk.head().await;
    assert_eq!(desk.numbers(&desk.query(0, usize::MAX)).await, (1..=head).collect::<Vec<_>>());
    assert_eq!(desk.page(&journal("c1", "j", "{}"), 0, 1).await.total, head - 1);
}

/// What breaks down while it is written is undone, and nobody after it waits in vain.
pub(crate) async fn a_change_that_breaks_down_harms_nobody(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([company("c1")]).await;
    for number in 0..3 {
        let (broken, whole) =
            (journal("c1", &format!("broken{number}"), "{}"), journal("c1", &format!("j{number}"), "{}"));
        stage.random.fail_next();
        let (sender, sent) = (desk.clone(), broken.clone());
        let answer = tokio::spawn(async move { sender.try_send([sent]).await }).await;
        assert!(!matches!(answer, Ok(Ok(_))), "what broke down was not accepted: {answer:?}");
        assert_eq!(desk.accept([whole.clone()]).await.last_sequence, number + 2);
        assert!(desk.has(&whole).await && !desk.has(&broken).await);
    }
    assert_eq!(desk.store.health().await.unwrap().queued, 0);
}
