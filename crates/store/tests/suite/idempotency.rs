//! Idempotency keys: each chunk keeps how far its request has come, in the chunk's own transaction.

use domain::{FieldError, Guid};
use store::{BatchCounts, ERRORS_LISTED_MAX, IngestProgress, LineError, StoreError};

use super::desk::{Desk, company, customer, delete, journal};
use super::stage::{Stage, at_once};

async fn progress(desk: &Desk, key: &str) -> Option<IngestProgress> {
    desk.store.find_ingest_progress(&desk.tenant, key).await.unwrap()
}

fn entry(number: u64) -> domain::change::Change {
    journal("c1", &format!("j{number}"), "{}")
}

pub(crate) async fn a_key_remembers_how_far_its_request_has_come(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([company("c1")]).await;
    assert_eq!(progress(&desk, "import 1").await, None);

    let first = desk.chunk("import 1", 0, [entry(1), entry(2), customer("c2", "k", "Ana")]);
    let counts = desk.store.apply_changes(first.clone()).await.unwrap();
    assert_eq!((counts.accepted, counts.rejected, counts.last_sequence), (2, 1, 3));
    let kept = progress(&desk, "import 1").await.unwrap();
    let expected = IngestProgress {
        line: 3,
        hash: first.checkpoint.unwrap().hash,
        process: desk.process,
        counts: counts.clone(),
    };
    assert_eq!(kept, expected);

    // The next chunk carries the count on, under whatever process its request has by now.
    let mut second = desk.chunk("import 1", 3, [entry(3)]);
    (second.counts, second.process) = (counts, Guid::from_bytes([2; 16]));
    let hash = second.checkpoint.as_ref().unwrap().hash;
    let counts = desk.store.apply_changes(second).await.unwrap();
    assert_eq!((counts.accepted, counts.rejected, counts.last_sequence), (3, 1, 4));
    assert_eq!(counts.errors[0].line, 3);
    let kept = progress(&desk, "import 1").await.unwrap();
    assert_eq!(
        (kept.line, kept.hash, kept.process, kept.counts),
        (4, hash, Guid::from_bytes([2; 16]), counts)
    );

    assert_eq!(progress(&desk, "import 2").await, None);
    let other = stage.desk().await;
    assert_eq!(progress(&other, "import 1").await, None, "keys belong to their tenant");
}

pub(crate) async fn another_line_under_a_key_applies_nothing(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([company("c1")]).await;
    desk.store.apply_changes(desk.chunk("import", 0, [entry(1), entry(2)])).await.unwrap();
    let (kept, log) = (progress(&desk, "import").await, desk.log().await);
    for from_line in [0, 1, 3] {
        let batch = desk.chunk("import", from_line, [entry(8), entry(9)]);
        let refused = desk.store.apply_changes(batch).await;
        assert_eq!(refused, Err(StoreError::KeyInUse("import".into())), "from line {from_line}");
    }
    let unknown = desk.store.apply_changes(desk.chunk("other", 1, [entry(9)])).await;
    assert_eq!(unknown, Err(StoreError::KeyInUse("other".into())), "a new key starts at its start");
    assert_eq!(progress(&desk, "import").await, kept);
    assert_eq!(progress(&desk, "other").await, None);
    assert_eq!(desk.log().await, log);
    assert!(!desk.has(&entry(8)).await && !desk.has(&entry(9)).await);
    desk.store.apply_changes(desk.chunk("import", 2, [entry(3)])).await.unwrap();
    assert_eq!(desk.head().await, 4);
}

pub(crate) async fn of_two_requests_under_one_key_one_wins(stage: Stage) {
    let there = stage.reopen().await.store;
    let desk = stage.desk().await;
    desk.accept([company("c1")]).await;
    for round in 0..12_u64 {
        let answers = at_once(4, &[&stage.store, &there], |request, store| {
            let (desk, id) = (desk.at(&store), format!("{round}/{request}"));
            async move {
                let batch = desk.chunk("import", round, [journal("c1", &id, "{}")]);
                (id, desk.store.apply_changes(batch).await)
            }
        })
        .await;
        let won: Vec<_> = answers.iter().filter(|(_, answer)| answer.is_ok()).collect();
        assert_eq!(won.len(), 1, "{answers:?}");
        for (id, answer) in &answers {
            assert_eq!(desk.has(&journal("c1", id, "{}")).await, answer.is_ok());
            if let Err(error) = answer {
                assert_eq!(*error, StoreError::KeyInUse("import".into()));
            }
        }
        assert_eq!(desk.head().await, round + 2);
        assert_eq!(progress(&desk, "import").await.unwrap().line, round + 1);
    }
}

pub(crate) async fn a_tally_survives_the_programs_end(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([company("c1")]).await;
    let mut batch = desk.chunk("import ñ", 0, [entry(1), customer("c1 \"x\"", "k", "Ana"), delete(entry(9))]);
    let odd = FieldError::new("wrong_control", "data.vatNumber looks odd; accepted").at("data.vatNumber");
    batch.counts.warn(1, odd.clone());
    let counts = desk.store.apply_changes(batch).await.unwrap();
    assert_eq!(counts.warnings, [LineError { line: 1, fault: odd }]);
    assert_eq!(counts.errors.iter().map(|error| error.line).collect::<Vec<_>>(), [2, 3]);
    stage.store.close().await;
    let again = desk.at(&stage.reopen().await.store);
    assert_eq!(progress(&again, "import ñ").await.unwrap().counts, counts);
    again.store.apply_changes(again.chunk("import ñ", 3, [entry(2)])).await.unwrap();
    assert_eq!(again.head().await, 3);
}

/// Reading a request finds faults of later lines before applying finds those of earlier ones.
pub(crate) async fn errors_are_listed_by_line_and_counted_beyond_the_list(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([company("c1")]).await;
    let unreadable =
        |counts: &mut BatchCounts, line| counts.reject(line, FieldError::new("invalid_json", "no JSON"));
    let mut batch = desk.chunk("import", 0, (1..=5).map(|number| delete(entry(number))));
    unreadable(&mut batch.counts, 4);
    unreadable(&mut batch.counts, 2);
    let counts = desk.store.apply_changes(batch).await.unwrap();
    let listed: Vec<_> = counts.errors.iter().map(|error| (error.line, &*error.fault.code)).collect();
    assert_eq!(
        listed,
        [
            (1, "unknown_record"),
            (2, "invalid_json"),
            (2, "unknown_record"),
            (3, "unknown_record"),
            (4, "invalid_json"),
            (4, "unknown_record"),
            (5, "unknown_record"),
        ]
    );

    // Faults of lines far ahead are already listed when those of lines before them come in.
    let mut long = desk.chunk("long import", 0, (1..=900).map(|number| delete(entry(number))));
    for line in 600..2000 {
        unreadable(&mut long.counts, line);
    }
    assert_eq!(long.counts.errors.len(), ERRORS_LISTED_MAX);
    let counts = desk.store.apply_changes(long).await.unwrap();
    assert_eq!((counts.accepted, counts.rejected), (0, 2300));
    assert_eq!(counts.errors.len(), ERRORS_LISTED_MAX);
    let listed: Vec<u64> = counts.errors.iter().map(|error| error.line).collect();
    let expected: Vec<u64> = (1..600).chain((600..=799).flat_map(|line| [line, line])).chain([800]).collect();
    assert_eq!(listed, expected);
    assert_eq!(progress(&desk, "long import").await.unwrap().counts, counts);
}
