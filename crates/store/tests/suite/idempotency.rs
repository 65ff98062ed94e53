//! Idempotency keys: each chunk stores the progress of its request in its own transaction.

use domain::{ErrorCode, FieldError, Guid};
use store::{BatchCounts, ERRORS_LISTED_MAX, IngestProgress, LineError, StoreError};

use super::fixture::{Fixture, concurrently};
use super::test_tenant::{TestTenant, company, customer, delete, journal};

async fn progress(tenant: &TestTenant, key: &str) -> Option<IngestProgress> {
    tenant.store.find_ingest_progress(&tenant.id, key).await.unwrap()
}

fn entry(number: u64) -> domain::change::Change {
    journal("c1", &format!("j{number}"), "{}")
}

pub(crate) async fn key_stores_the_progress_of_its_request(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1")]).await;
    assert_eq!(progress(&tenant, "import 1").await, None);

    let first = tenant.chunk("import 1", 0, [entry(1), entry(2), customer("c2", "k", "Ana")]);
    let counts = tenant.store.apply_changes(first.clone()).await.unwrap();
    assert_eq!((counts.accepted, counts.rejected, counts.last_sequence), (2, 1, 3));
    let stored = progress(&tenant, "import 1").await.unwrap();
    let expected = IngestProgress {
        line: 3,
        hash: first.checkpoint.unwrap().hash,
        process: tenant.process,
        counts: counts.clone(),
    };
    assert_eq!(stored, expected);

    // The next chunk continues the counts, even with another process id.
    let mut second = tenant.chunk("import 1", 3, [entry(3)]);
    (second.counts, second.process) = (counts, Guid::from_bytes([2; 16]));
    let hash = second.checkpoint.as_ref().unwrap().hash;
    let counts = tenant.store.apply_changes(second).await.unwrap();
    assert_eq!((counts.accepted, counts.rejected, counts.last_sequence), (3, 1, 4));
    assert_eq!(counts.errors[0].line, 3);
    let stored = progress(&tenant, "import 1").await.unwrap();
    assert_eq!(
        (stored.line, stored.hash, stored.process, stored.counts),
        (4, hash, Guid::from_bytes([2; 16]), counts)
    );

    assert_eq!(progress(&tenant, "import 2").await, None);
    let other = fixture.add_tenant().await;
    assert_eq!(progress(&other, "import 1").await, None, "keys are per tenant");
}

pub(crate) async fn chunk_at_a_wrong_line_is_refused(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1")]).await;
    tenant.store.apply_changes(tenant.chunk("import", 0, [entry(1), entry(2)])).await.unwrap();
    let (stored, log) = (progress(&tenant, "import").await, tenant.log().await);
    for from_line in [0, 1, 3] {
        let batch = tenant.chunk("import", from_line, [entry(8), entry(9)]);
        let refused = tenant.store.apply_changes(batch).await;
        assert_eq!(refused, Err(StoreError::KeyInUse("import".into())), "from line {from_line}");
    }
    let unknown = tenant.store.apply_changes(tenant.chunk("other", 1, [entry(9)])).await;
    assert_eq!(unknown, Err(StoreError::KeyInUse("other".into())), "a new key starts at line 0");
    assert_eq!(progress(&tenant, "import").await, stored);
    assert_eq!(progress(&tenant, "other").await, None);
    assert_eq!(tenant.log().await, log);
    assert!(!tenant.has(&entry(8)).await && !tenant.has(&entry(9)).await);
    tenant.store.apply_changes(tenant.chunk("import", 2, [entry(3)])).await.unwrap();
    assert_eq!(tenant.head().await, 4);
}

pub(crate) async fn concurrent_requests_under_one_key_have_one_winner(fixture: Fixture) {
    let second_store = fixture.reopen().await.store;
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1")]).await;
    for round in 0..12_u64 {
        let answers = concurrently(4, &[&fixture.store, &second_store], |request, store| {
            let (tenant, id) = (tenant.via(&store), format!("{round}/{request}"));
            async move {
                let batch = tenant.chunk("import", round, [journal("c1", &id, "{}")]);
                (id, tenant.store.apply_changes(batch).await)
            }
        })
        .await;
        let winners: Vec<_> = answers.iter().filter(|(_, answer)| answer.is_ok()).collect();
        assert_eq!(winners.len(), 1, "{answers:?}");
        for (id, answer) in &answers {
            assert_eq!(tenant.has(&journal("c1", id, "{}")).await, answer.is_ok());
            if let Err(error) = answer {
                assert_eq!(*error, StoreError::KeyInUse("import".into()));
            }
        }
        assert_eq!(tenant.head().await, round + 2);
        assert_eq!(progress(&tenant, "import").await.unwrap().line, round + 1);
    }
}

pub(crate) async fn batch_counts_survive_a_restart(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1")]).await;
    let mut batch =
        tenant.chunk("import ñ", 0, [entry(1), customer("c1 \"x\"", "k", "Ana"), delete(entry(9))]);
    let odd =
        FieldError::new(ErrorCode::WrongControl, "data.vatNumber looks odd; accepted").at("data.vatNumber");
    batch.counts.warn(1, odd.clone());
    let counts = tenant.store.apply_changes(batch).await.unwrap();
    assert_eq!(counts.warnings, [LineError { line: 1, fault: odd }]);
    assert_eq!(counts.errors.iter().map(|error| error.line).collect::<Vec<_>>(), [2, 3]);
    fixture.store.close().await;
    let reopened = tenant.via(&fixture.reopen().await.store);
    assert_eq!(progress(&reopened, "import ñ").await.unwrap().counts, counts);
    reopened.store.apply_changes(reopened.chunk("import ñ", 3, [entry(2)])).await.unwrap();
    assert_eq!(reopened.head().await, 3);
}

/// Parsing reports errors of later lines before applying reports errors of earlier lines.
pub(crate) async fn errors_are_sorted_by_line_and_counted_beyond_the_limit(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1")]).await;
    let unreadable = |counts: &mut BatchCounts, line| {
        counts.reject(line, FieldError::new(ErrorCode::InvalidJson, "no JSON"));
    };
    let mut batch = tenant.chunk("import", 0, (1..=5).map(|number| delete(entry(number))));
    unreadable(&mut batch.counts, 4);
    unreadable(&mut batch.counts, 2);
    let counts = tenant.store.apply_changes(batch).await.unwrap();
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

    // Errors of later lines are already listed when errors of earlier lines are added.
    let mut long = tenant.chunk("long import", 0, (1..=900).map(|number| delete(entry(number))));
    for line in 600..2000 {
        unreadable(&mut long.counts, line);
    }
    assert_eq!(long.counts.errors.len(), ERRORS_LISTED_MAX);
    let counts = tenant.store.apply_changes(long).await.unwrap();
    assert_eq!((counts.accepted, counts.rejected), (0, 2300));
    assert_eq!(counts.errors.len(), ERRORS_LISTED_MAX);
    let listed: Vec<u64> = counts.errors.iter().map(|error| error.line).collect();
    let expected: Vec<u64> = (1..600).chain((600..=799).flat_map(|line| [line, line])).chain([800]).collect();
    assert_eq!(listed, expected);
    assert_eq!(progress(&tenant, "long import").await.unwrap().counts, counts);
}
