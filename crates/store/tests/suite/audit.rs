//! The audit: newest first, found by whom and what it concerns, page after page; and what codes, refresh
//! tokens and revocations leave in it.

use std::sync::Arc;
use std::time::Duration;

use domain::{ClientId, GrantId, Secret, TenantId, Ticks, UserId};
use store::{
    AuditContext, AuditEntry, AuditKind, AuditQuery, AuditRecord, Grant, GrantDecision, RefreshRotation,
    Store,
};

use super::codes::{chosen, code, context, grant, makes, ours, taking, theirs};
use super::refresh::rotation;
use super::stage::{Stage, at_once};

fn all() -> AuditQuery {
    AuditQuery { rows_max: 1000, ..AuditQuery::default() }
}

async fn entries(store: &Arc<dyn Store>, query: &AuditQuery) -> Vec<AuditEntry> {
    store.audit(query).await.unwrap().into_iter().map(|record| record.entry).collect()
}

/// `granted maria`, record by record, newest first.
pub(crate) async fn told(store: &Arc<dyn Store>) -> Vec<String> {
    let words = |entry: AuditEntry| {
        let user = entry.user.map_or_else(|| "nobody".to_owned(), |user| user.to_string());
        format!("{} {user}", entry.kind.as_str())
    };
    entries(store, &all()).await.into_iter().map(words).collect()
}

/// Records of `count` moments, oldest first: three users, two tenants, two clients and every kind in turn.
fn varied(stage: &Stage, count: usize) -> Vec<AuditEntry> {
    let start = stage.now();
    let one = |number: usize| {
        let kind = AuditKind::ALL[number % AuditKind::ALL.len()];
        let at = start + Duration::from_secs(number as u64);
        let mut entry = AuditEntry::new(kind, at, &context()).note(format!("número {number}"));
        entry.user = (!number.is_multiple_of(5)).then(|| UserId::new(format!("u{}", number % 3)));
        entry.tenant = (number % 7 != 2).then(|| TenantId::new(format!("t{}", number % 2)));
        entry.client = (number % 4 != 1).then(|| ClientId::new(format!("c{}", number / 3 % 2)));
        entry.grant = (number % 3 == 1).then(|| GrantId::new(format!("g{number}")));
        entry
    };
    (0..count).map(one).collect()
}

pub(crate) async fn records_are_kept_as_given_newest_first(stage: Stage) {
    let store = &stage.store;
    assert_eq!(store.audit(&all()).await, Ok(Vec::new()));
    let mut given = varied(&stage, 40);
    // Written in an order that the times do not follow.
    for entry in given.iter().skip(20).chain(given.iter().take(20)) {
        store.record(entry).await.unwrap();
    }
    given.reverse();
    assert_eq!(entries(store, &all()).await, given);
    let again = stage.reopen().await.store;
    assert_eq!(again.audit(&all()).await, store.audit(&all()).await);
    let mut ids: Vec<_> = store.audit(&all()).await.unwrap().iter().map(|record| record.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 40, "every record has an id of its own");
    assert_eq!(store.audit(&AuditQuery { rows_max: 0, ..all() }).await, Ok(Vec::new()));
    assert_eq!(entries(store, &AuditQuery { rows_max: 3, ..all() }).await, given[..3]);
    assert_eq!(entries(store, &AuditQuery { rows_max: usize::MAX, ..all() }).await, given);
}

/// Every combination of conditions finds what a plain look at all records finds.
pub(crate) async fn every_filter_finds_its_records(stage: Stage) {
    let store = &stage.store;
    for entry in varied(&stage, 120) {
        store.record(&entry).await.unwrap();
    }
    let everything = store.audit(&all()).await.unwrap();
    assert_eq!(everything.len(), 120);
    let mut found_any = 0;
    for number in 0..16 {
        let has = |bit: usize| number & bit != 0;
        for before in [None, Some(everything[50].cursor())] {
            let query = AuditQuery {
                before,
                kind: has(1).then_some(AuditKind::Refreshed),
                user: has(2).then(|| UserId::new("u1")),
                tenant: has(4).then(|| TenantId::new("t0")),
                client: has(8).then(|| ClientId::new("c1")),
                rows_max: 100,
            };
            let fits = |record: &&AuditRecord| {
                let entry = &record.entry;
                query.kind.is_none_or(|kind| kind == entry.kind)
                    && (query.user.is_none() || query.user == entry.user)
                    && (query.tenant.is_none() || query.tenant == entry.tenant)
                    && (query.client.is_none() || query.client == entry.client)
            };
            let from = if before.is_some() { 51 } else { 0 };
            let expected: Vec<_> = everything[from..].iter().filter(fits).take(100).cloned().collect();
            found_any += usize::from(!expected.is_empty());
            assert_eq!(store.audit(&query).await, Ok(expected), "{query:?}");
        }
    }
    assert!(found_any > 24, "{found_any} of 32 queries found something");
    for kind in AuditKind::ALL {
        let found = entries(store, &AuditQuery { kind: Some(kind), ..all() }).await;
        assert!(!found.is_empty() && found.iter().all(|entry| entry.kind == kind), "{kind:?}");
    }
}

/// Nothing is found under a name that nobody has, whatever is in it.
pub(crate) async fn a_filter_of_nobody_finds_nothing(stage: Stage) {
    let store = &stage.store;
    for entry in varied(&stage, 20) {
        store.record(&entry).await.unwrap();
    }
    for nobody in ["", "U1", "u1\0", "\0", "nobody", "u_", "%"] {
        let queries = [
            AuditQuery { user: Some(UserId::new(nobody)), ..all() },
            AuditQuery { tenant: Some(TenantId::new(nobody)), ..all() },
            AuditQuery { client: Some(ClientId::new(nobody)), ..all() },
            AuditQuery { kind: Some(AuditKind::Granted), client: Some(ClientId::new(nobody)), ..all() },
        ];
        for query in queries {
            assert_eq!(store.audit(&query).await, Ok(Vec::new()), "{query:?}");
        }
    }
}

/// PostgreSQL has no NUL in a text; what has one is kept all the same, alike everywhere.
pub(crate) async fn a_nul_keeps_nothing_out_of_the_audit(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let odd = AuditContext { address: "a\0b".into(), request_id: "\0".into() };
    let mut entry = AuditEntry::new(AuditKind::ClientRefused, now, &odd)
        .client(&ClientId::new("erp\0"))
        .user(&UserId::new("\0u"))
        .tenant(&TenantId::new("t\0"))
        .note("who\0?");
    entry.grant = Some(GrantId::new("g\0g"));
    store.record(&entry).await.unwrap();
    let [kept] = &entries(store, &all()).await[..] else { panic!("one record was to be kept") };
    let even = AuditContext { address: "a\u{fffd}b".into(), request_id: "\u{fffd}".into() };
    let mut expected = AuditEntry::new(AuditKind::ClientRefused, now, &even)
        .client(&ClientId::new("erp\u{fffd}"))
        .user(&UserId::new("\u{fffd}u"))
        .tenant(&TenantId::new("t\u{fffd}"))
        .note("who\u{fffd}?");
    expected.grant = Some(GrantId::new("g\u{fffd}g"));
    assert_eq!(*kept, expected);
    assert_eq!(entries(store, &AuditQuery { client: entry.client, ..all() }).await, []);
}

/// Pages go on behind the last record of the one before, also among records of one moment.
pub(crate) async fn pages_follow_one_another_through_ties(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    for number in 0..30 {
        let at = now + Duration::from_secs(number / 10);
        let user = UserId::new(format!("u{}", number % 2));
        let entry = AuditEntry::new(AuditKind::SignedIn, at, &context()).user(&user);
        store.record(&entry.note(number.to_string())).await.unwrap();
    }
    for query in [all(), AuditQuery { user: Some(UserId::new("u1")), ..all() }] {
        let whole = store.audit(&query).await.unwrap();
        for pair in whole.windows(2) {
            assert!(pair[0].cursor() > pair[1].cursor(), "newest first, ties by id");
        }
        for rows_max in [1, 4, 7, 100] {
            let mut page = AuditQuery { rows_max, ..query.clone() };
            let mut read = Vec::new();
            loop {
                let found = store.audit(&page).await.unwrap();
                assert!(found.len() <= rows_max);
                let Some(last) = found.last() else { break };
                page.before = Some(last.cursor());
                read.extend(found);
            }
            assert_eq!(read, whole, "in pages of {rows_max}");
        }
    }
}

pub(crate) async fn what_many_record_at_once_is_all_kept(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let there = stage.reopen().await.store;
    at_once(100, &[store, &there], |number, store| async move {
        let entry = AuditEntry::new(AuditKind::SignInFailed, now, &context()).note(number.to_string());
        store.record(&entry).await.unwrap();
    })
    .await;
    let mut notes: Vec<usize> =
        entries(store, &all()).await.iter().map(|entry| entry.note.parse().unwrap()).collect();
    notes.sort_unstable();
    assert_eq!(notes, (0..100).collect::<Vec<_>>());
}

fn for_grant(kind: AuditKind, at: Ticks, grant: &Grant) -> AuditEntry {
    AuditEntry::new(kind, at, &context()).for_grant(grant)
}

pub(crate) async fn a_code_leaves_its_grant_and_its_reuse_in_the_audit(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let never = || -> GrantDecision { Box::new(|_| panic!("nobody was to be asked")) };
    let [good, bad, late] = ["good", "bad", "late"].map(Secret::new);
    for secret in [&good, &bad, &late] {
        store.store_code(secret, &code(now), &chosen(), now).await.unwrap();
    }
    let made = grant("g1", now);
    store.take_code(&taking(&good, &theirs(), now), never()).await.unwrap();
    store.take_code(&taking(&Secret::new("none"), &ours(), now), never()).await.unwrap();
    store.take_code(&taking(&bad, &ours(), now), Box::new(|_| None)).await.unwrap();
    store.take_code(&taking(&late, &ours(), code(now).expires_at), never()).await.unwrap();
    assert_eq!(entries(store, &all()).await, [], "nothing was granted, nothing was reused");

    store.take_code(&taking(&good, &ours(), now), makes(&made, None)).await.unwrap();
    let mut expected = vec![for_grant(AuditKind::Granted, now, &made)];
    assert_eq!(entries(store, &all()).await, expected);
    for seconds in 1..=2 {
        let later = now + Duration::from_secs(seconds);
        store.take_code(&taking(&good, &ours(), later), never()).await.unwrap();
        expected.insert(0, for_grant(AuditKind::CodeReused, later, &made));
    }
    let later = now + Duration::from_secs(3);
    store.take_code(&taking(&bad, &ours(), later), never()).await.unwrap();
    expected.insert(0, AuditEntry::new(AuditKind::CodeReused, later, &context()).client(&ours()));
    assert_eq!(entries(store, &all()).await, expected);
}

/// The grant that came of a code may be gone by the time that the code is used again.
pub(crate) async fn a_reuse_names_a_grant_that_is_gone(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let tenant = stage.desk().await.tenant;
    let made = Grant { tenant: tenant.clone(), ..grant("g1", now) };
    let secret = Secret::new("code");
    store.store_code(&secret, &code(now), &chosen(), now).await.unwrap();
    store.take_code(&taking(&secret, &ours(), now), makes(&made, None)).await.unwrap();
    store.erase_tenant(&tenant).await.unwrap();
    let later = now + Duration::from_secs(1);
    store.take_code(&taking(&secret, &ours(), later), Box::new(|_| None)).await.unwrap();
    let bare = AuditEntry::new(AuditKind::CodeReused, later, &context()).client(&ours());
    let reused = AuditEntry { grant: Some(made.id.clone()), ..bare };
    let granted = for_grant(AuditKind::Granted, now, &made);
    assert_eq!(entries(store, &all()).await, [reused, granted], "the audit outlives the tenant");
}

pub(crate) async fn refreshing_and_its_misuse_are_in_the_audit(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let made = grant("g1", now);
    let secret = Secret::new("code");
    store.store_code(&secret, &code(now), &chosen(), now).await.unwrap();
    let end = now + Duration::from_secs(1000);
    store.take_code(&taking(&secret, &ours(), now), makes(&made, Some(("token-1", end)))).await.unwrap();
    let at = |seconds| now + Duration::from_secs(seconds);
    let refused = [
        RefreshRotation { client: theirs(), ..rotation(1, at(1)) },
        rotation(7, at(1)),
        rotation(1, end + Duration::from_secs(1)),
    ];
    for rotation in &refused {
        store.rotate_refresh(rotation).await.unwrap();
    }
    assert_eq!(told(store).await, ["granted maria"], "who gets nothing leaves nothing");

    let presented = [(1, 10), (1, 20), (2, 25), (1, 30), (2, 40)];
    for (token, seconds) in presented {
        store.rotate_refresh(&rotation(token, at(seconds))).await.unwrap();
    }
    let expected = [
        for_grant(AuditKind::RefreshReused, at(30), &made),
        for_grant(AuditKind::Refreshed, at(25), &made),
        for_grant(AuditKind::Refreshed, at(20), &made).note("the same answer again"),
        for_grant(AuditKind::Refreshed, at(10), &made),
        for_grant(AuditKind::Granted, now, &made),
    ];
    assert_eq!(entries(store, &all()).await, expected, "a token of a revoked grant leaves nothing");
}

pub(crate) async fn a_revocation_says_why(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let there = stage.reopen().await.store;
    let made = grant("g1", now);
    let secret = Secret::new("code");
    store.store_code(&secret, &code(now), &chosen(), now).await.unwrap();
    store.take_code(&taking(&secret, &ours(), now), makes(&made, None)).await.unwrap();
    let later = now + Duration::from_secs(1);
    let answers = at_once(20, &[store, &there], |_, store| async move {
        let id = GrantId::new("g1");
        store.revoke_grant(&id, later, &context(), "señora, \"basta\"").await.unwrap()
    })
    .await;
    assert_eq!(answers.iter().filter(|revoked| **revoked).count(), 1);
    store.revoke_grant(&GrantId::new("none"), later, &context(), "why").await.unwrap();
    let revoked = for_grant(AuditKind::Revoked, later, &made).note("señora, \"basta\"");
    assert_eq!(entries(store, &all()).await, [revoked, for_grant(AuditKind::Granted, now, &made)]);
}

/// What fails leaves nothing in the audit either.
pub(crate) async fn what_was_undone_is_not_in_the_audit(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let end = now + Duration::from_secs(1000);
    for (code_name, id, token) in [("code-1", "g1", "token-1"), ("code-2", "g2", "token-2")] {
        let secret = Secret::new(code_name);
        store.store_code(&secret, &code(now), &chosen(), now).await.unwrap();
        let judge = makes(&grant(id, now), Some((token, end)));
        store.take_code(&taking(&secret, &ours(), now), judge).await.unwrap();
    }
    let before = store.audit(&all()).await.unwrap();
    // The successor that is asked for is a token already.
    for _ in 0..2 {
        let later = now + Duration::from_secs(1);
        assert!(store.rotate_refresh(&rotation(1, later)).await.is_err());
    }
    let third = Secret::new("code-3");
    store.store_code(&third, &code(now), &chosen(), now).await.unwrap();
    let same = makes(&grant("g1", now), None);
    assert!(store.take_code(&taking(&third, &ours(), now), same).await.is_err());
    assert_eq!(store.audit(&all()).await, Ok(before));
    assert_eq!(store.find_grant(&GrantId::new("g1")).await, Ok(Some(grant("g1", now))), "as it was");
}
