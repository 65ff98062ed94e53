//! The audit log: filters, order and pages, and the entries that codes, refresh tokens and revocations write.

use std::sync::Arc;
use std::time::Duration;

use domain::{AccountId, ClientId, GrantId, Secret, TenantId, Ticks};
use serde_json::json;
use store::{
    Actor, ActorFilter, AuditContext, AuditEntry, AuditKind, AuditQuery, AuditRecord, Grant, GrantDecision,
    MemberChange, RefreshRotation, Store,
};

use super::codes::{approve, code, context, exchange, grant, membership_id, other_client, our_client};
use super::fixture::{Fixture, by, concurrently};
use super::refresh_tokens::rotation;

fn all() -> AuditQuery {
    AuditQuery { rows_max: 1000, ..AuditQuery::default() }
}

/// Without what the fixtures of a test did.
fn of_clients() -> AuditQuery {
    AuditQuery { actor: ActorFilter::parse("anonymous"), ..all() }
}

async fn entries(store: &Arc<dyn Store>, query: &AuditQuery) -> Vec<AuditEntry> {
    store.audit(query).await.unwrap().into_iter().map(|record| record.entry).collect()
}

/// All entries, newest first.
pub(crate) async fn entries_of_all(store: &Arc<dyn Store>) -> Vec<AuditEntry> {
    entries(store, &all()).await
}

/// `granted maria`, record by record, newest first.
pub(crate) async fn audit_lines(store: &Arc<dyn Store>) -> Vec<String> {
    let line = |entry: AuditEntry| {
        let user = entry.user.map_or_else(|| "nobody".to_owned(), |user| user.to_string());
        format!("{} {user}", entry.kind.as_str())
    };
    entries(store, &of_clients()).await.into_iter().map(line).collect()
}

/// `count` entries, one a second, oldest first: three users, two tenants, two clients and every kind in turn.
fn sample_entries(fixture: &Fixture, count: usize) -> Vec<AuditEntry> {
    let start = fixture.now();
    let entry = |number: usize| {
        // Shifted in each round, so that every kind meets every user, tenant and client.
        let kinds = AuditKind::ALL.len();
        let kind = AuditKind::ALL[(number + number / kinds) % kinds];
        let at = start + Duration::from_secs(number as u64);
        let actors = [Actor::Service, Actor::Cli(Some("maría".into())), Actor::Cli(None), Actor::Operator];
        let actor = actors[number % actors.len()].clone();
        let mut entry = AuditEntry::new(kind, at, &context().by(actor)).note(format!("número {number}"));
        if number % 4 == 3 {
            let change = |member: &str, from, to| MemberChange { member: member.into(), from, to };
            entry = entry.object("webhook", number).changes(vec![
                change("name", "a\0\u{1b}\"".into(), json!(["ñ", null])),
                change("secret", json!(null), json!(null)),
            ]);
            entry.count = 7;
        }
        entry.user = (!number.is_multiple_of(5)).then(|| AccountId::new(format!("u{}", number % 3)));
        entry.tenant = (number % 7 != 2).then(|| TenantId::new(format!("t{}", number % 2)));
        entry.client = (number % 4 != 1).then(|| ClientId::new(format!("c{}", number / 3 % 2)));
        entry.context.request_id = format!("r{}", number % 6);
        entry.grant = (number % 3 == 1).then(|| GrantId::new(format!("g{number}")));
        entry
    };
    (0..count).map(entry).collect()
}

pub(crate) async fn records_are_stored_unchanged_and_read_newest_first(fixture: Fixture) {
    let store = &fixture.store;
    assert_eq!(store.audit(&all()).await, Ok(Vec::new()));
    let mut expected = sample_entries(&fixture, 40);
    // Written in another order than their times.
    for entry in expected.iter().skip(20).chain(expected.iter().take(20)) {
        store.record(entry).await.unwrap();
    }
    expected.reverse();
    assert_eq!(entries(store, &all()).await, expected);
    let reopened = fixture.reopen().await.store;
    assert_eq!(reopened.audit(&all()).await, store.audit(&all()).await);
    let mut ids: Vec<_> = store.audit(&all()).await.unwrap().iter().map(|record| record.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 40, "every record has a unique id");
    assert_eq!(store.audit(&AuditQuery { rows_max: 0, ..all() }).await, Ok(Vec::new()));
    assert_eq!(entries(store, &AuditQuery { rows_max: 3, ..all() }).await, expected[..3]);
    assert_eq!(entries(store, &AuditQuery { rows_max: usize::MAX, ..all() }).await, expected);
}

/// Every combination of conditions finds the same records as filtering all of them here.
pub(crate) async fn every_filter_finds_its_records(fixture: Fixture) {
    let store = &fixture.store;
    for entry in sample_entries(&fixture, 120) {
        store.record(&entry).await.unwrap();
    }
    // Grants of a client have an index of their own.
    for entry in sample_entries(&fixture, 120).into_iter().step_by(3) {
        store.record(&AuditEntry { kind: AuditKind::Granted, ..entry }).await.unwrap();
    }
    let everything = store.audit(&AuditQuery { rows_max: 200, ..all() }).await.unwrap();
    assert_eq!(everything.len(), 160);
    let mut found_any = 0;
    for number in 0..512 {
        let has = |bit: usize| number & bit != 0;
        let (request_id, object) = match number / 7 % 3 {
            0 => (None, None),
            1 => (Some("r3".to_owned()), None),
            _ => (None, everything[4..].iter().find_map(|record| record.entry.object.clone())),
        };
        for before in [None, Some(everything[50].cursor())] {
            let query = AuditQuery {
                before,
                kind: has(1).then_some(if has(128) { AuditKind::Granted } else { AuditKind::ALL[1] }),
                user: has(2).then(|| AccountId::new("u1")),
                tenant: has(4).then(|| TenantId::new("t0")),
                client: has(8).then(|| ClientId::new("c1")),
                actor: if has(16) { ActorFilter::parse("cli") } else { ActorFilter::parse("cli:maría") }
                    .filter(|_| has(16) || has(32)),
                object: object.clone(),
                request_id: request_id.clone(),
                since: has(64).then(|| everything[80].entry.at),
                until: has(256).then(|| everything[20].entry.at),
                rows_max: 100,
                looks_max: None,
            };
            let matches = |record: &&AuditRecord| {
                let entry = &record.entry;
                query.kind.is_none_or(|kind| kind == entry.kind)
                    && (query.user.is_none() || query.user == entry.user)
                    && (query.tenant.is_none() || query.tenant == entry.tenant)
                    && (query.client.is_none() || query.client == entry.client)
                    && (query.object.is_none() || query.object == entry.object)
                    && query.request_id.as_ref().is_none_or(|id| *id == entry.context.request_id)
                    && query.since.is_none_or(|since| entry.at >= since)
                    && query.until.is_none_or(|until| entry.at < until)
                    && query.actor.as_ref().is_none_or(|actor| {
                        actor.kind == entry.context.actor.kind()
                            && (actor.id.is_none() || actor.id.as_deref() == entry.context.actor.id())
                    })
            };
            let from = if before.is_some() { 51 } else { 0 };
            let expected: Vec<_> = everything[from..].iter().filter(matches).take(100).cloned().collect();
            found_any += usize::from(!expected.is_empty());
            assert_eq!(store.audit(&query).await, Ok(expected), "{query:?}");
        }
    }
    assert!(found_any > 150, "{found_any} of 1024 queries found something");
    for kind in AuditKind::ALL {
        let found = entries(store, &AuditQuery { kind: Some(kind), ..all() }).await;
        assert!(!found.is_empty() && found.iter().all(|entry| entry.kind == kind), "{kind:?}");
    }
}

/// An unknown name finds nothing, even with NULs or wildcards in it.
pub(crate) async fn filter_by_an_unknown_name_finds_nothing(fixture: Fixture) {
    let store = &fixture.store;
    for entry in sample_entries(&fixture, 20) {
        store.record(&entry).await.unwrap();
    }
    for unknown in ["", "U1", "u1\0", "\0", "nobody", "u_", "%"] {
        let queries = [
            AuditQuery { user: Some(AccountId::new(unknown)), ..all() },
            AuditQuery { tenant: Some(TenantId::new(unknown)), ..all() },
            AuditQuery { client: Some(ClientId::new(unknown)), ..all() },
            AuditQuery { actor: Some(ActorFilter { kind: "cli", id: Some(unknown.into()) }), ..all() },
            AuditQuery { kind: Some(AuditKind::Granted), client: Some(ClientId::new(unknown)), ..all() },
        ];
        for query in queries {
            assert_eq!(store.audit(&query).await, Ok(Vec::new()), "{query:?}");
        }
    }
}

/// PostgreSQL cannot store a NUL in a text: every store replaces it with U+FFFD.
pub(crate) async fn nul_in_a_text_is_replaced(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let with_nul = AuditContext {
        actor: Actor::Cli(Some("\0".into())),
        address: "a\0b".into(),
        request_id: "\0".into(),
    };
    let mut entry = AuditEntry::new(AuditKind::ClientRefused, now, &with_nul)
        .client(&ClientId::new("erp\0"))
        .user(&AccountId::new("\0u"))
        .tenant(&TenantId::new("t\0"))
        .note("who\0?");
    entry.grant = Some(GrantId::new("g\0g"));
    store.record(&entry).await.unwrap();
    let [stored] = &entries(store, &all()).await[..] else { panic!("one record is stored") };
    let without_nul = AuditContext {
        actor: Actor::Cli(Some("\u{fffd}".into())),
        address: "a\u{fffd}b".into(),
        request_id: "\u{fffd}".into(),
    };
    let mut expected = AuditEntry::new(AuditKind::ClientRefused, now, &without_nul)
        .client(&ClientId::new("erp\u{fffd}"))
        .user(&AccountId::new("\u{fffd}u"))
        .tenant(&TenantId::new("t\u{fffd}"))
        .note("who\u{fffd}?");
    expected.grant = Some(GrantId::new("g\u{fffd}g"));
    assert_eq!(*stored, expected);
    assert_eq!(entries(store, &AuditQuery { client: entry.client, ..all() }).await, []);
}

/// A page starts after the last record of the page before, also among records with equal times.
pub(crate) async fn pages_continue_through_equal_times(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    for number in 0..30 {
        let at = now + Duration::from_secs(number / 10);
        let user = AccountId::new(format!("u{}", number % 2));
        let entry = AuditEntry::new(AuditKind::SignedIn, at, &context()).user(&user);
        store.record(&entry.note(number.to_string())).await.unwrap();
    }
    for query in [all(), AuditQuery { user: Some(AccountId::new("u1")), ..all() }] {
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

/// A page looks at a bounded number of records, says where the next one continues, and misses none.
pub(crate) async fn page_looks_at_a_bounded_number_of_records(fixture: Fixture) {
    let (store, start) = (&fixture.store, fixture.now());
    let tenant = TenantId::new("t");
    for number in 0..40 {
        let actor = if number == 3 { "rare" } else { "common" };
        let context = context().by(Actor::User(AccountId::new(actor)));
        let kind = if number % 20 == 3 { AuditKind::TenantChanged } else { AuditKind::SignedIn };
        let at = start + Duration::from_secs(number / 2);
        store.record(&AuditEntry::new(kind, at, &context).tenant(&tenant)).await.unwrap();
    }
    let of_kind = AuditQuery {
        tenant: Some(tenant),
        kind: Some(AuditKind::TenantChanged),
        looks_max: Some(10),
        rows_max: 5,
        ..all()
    };
    let (mut counts, mut found, mut query) = (Vec::new(), Vec::new(), of_kind.clone());
    loop {
        let page = store.audit_page(&query).await.unwrap();
        counts.push(page.records.len());
        found.extend(page.records);
        query.before = page.next;
        if page.next.is_none() {
            break;
        }
    }
    assert_eq!(counts, [0, 1, 0, 1, 0], "the last page has looked at as many as there are");
    assert_eq!(found, store.audit(&AuditQuery { looks_max: None, ..of_kind.clone() }).await.unwrap());
    let full = store.audit_page(&AuditQuery { rows_max: 1, looks_max: Some(20), ..of_kind }).await.unwrap();
    assert_eq!(full.next, Some(found[0].cursor()), "a full page continues after its last record");

    // What an index has is found at once.
    let by_actor = AuditQuery { actor: ActorFilter::parse("user:rare"), looks_max: Some(1), ..all() };
    assert_eq!(store.audit(&by_actor).await.unwrap().len(), 1);
    let and_kind = AuditQuery { kind: Some(AuditKind::TenantChanged), ..by_actor };
    assert_eq!(store.audit(&and_kind).await.unwrap().len(), 1);
    for (since, expected) in [(None, 40), (Some(start + Duration::from_secs(15)), 10)] {
        let page = store.audit_page(&AuditQuery { since, looks_max: Some(41), ..all() }).await.unwrap();
        assert_eq!((page.records.len(), page.next), (expected, None));
        let page = store.audit_page(&AuditQuery { since, looks_max: Some(11), ..all() }).await.unwrap();
        let has_next = since.is_none();
        assert_eq!((page.records.len(), page.next.is_some()), (expected.min(11), has_next));
    }
}

pub(crate) async fn concurrent_records_are_all_stored(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let second_store = fixture.reopen().await.store;
    concurrently(100, &[store, &second_store], |number, store| async move {
        let entry = AuditEntry::new(AuditKind::SignInFailed, now, &context()).note(number.to_string());
        store.record(&entry).await.unwrap();
    })
    .await;
    let mut notes: Vec<usize> =
        entries(store, &all()).await.iter().map(|entry| entry.note.parse().unwrap()).collect();
    notes.sort_unstable();
    assert_eq!(notes, (0..100).collect::<Vec<_>>());
}

/// Failed sign-ins are counted: one record for each account and minute, and one for all unknown accounts.
pub(crate) async fn failures_are_counted_by_account_and_minute(fixture: Fixture) {
    let (store, second_store) = (&fixture.store, fixture.reopen().await.store);
    let minute = Ticks(fixture.now().0 / 600_000_000 * 600_000_000);
    let at = |seconds| minute + Duration::from_secs(seconds);
    concurrently(60, &[store, &second_store], |number, store| async move {
        let at = minute + Duration::from_secs(number as u64);
        let mut entry = AuditEntry::new(AuditKind::SignInFailed, at, &context());
        entry.user = (number % 3 > 0).then(|| AccountId::new(format!("u{}", number % 3)));
        store.count(&entry).await.unwrap();
    })
    .await;
    let last = AuditContext { address: "192.0.2.99".into(), ..context() };
    let failed = |seconds| AuditEntry::new(AuditKind::SignInFailed, at(seconds), &last);
    store.count(&failed(59).user(&AccountId::new("u1"))).await.unwrap();
    store.count(&failed(60).user(&AccountId::new("u1"))).await.unwrap();
    store
        .count(&AuditEntry::new(AuditKind::ClientRefused, at(1), &last).user(&AccountId::new("u1")))
        .await
        .unwrap();
    let mut counts: Vec<_> = entries(store, &all()).await;
    counts.sort_by_key(|entry| (entry.at, entry.user.clone(), entry.kind.as_str()));
    let lines: Vec<_> = counts
        .iter()
        .map(|entry| {
            (entry.at == at(60), entry.kind.as_str(), entry.user.as_ref().map(AccountId::as_str), entry.count)
        })
        .collect();
    let expected = [
        (false, "sign_in_failed", None, 20),
        (false, "client_refused", Some("u1"), 1),
        (false, "sign_in_failed", Some("u1"), 21),
        (false, "sign_in_failed", Some("u2"), 20),
        (true, "sign_in_failed", Some("u1"), 1),
    ];
    assert_eq!(lines, expected);
    assert_eq!((counts[0].at, &*counts[2].context.address), (minute, "192.0.2.99"), "the last address");
}

fn for_grant(kind: AuditKind, at: Ticks, grant: &Grant) -> AuditEntry {
    AuditEntry::new(kind, at, &context()).for_grant(grant)
}

pub(crate) async fn grant_and_code_reuse_are_audited(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let must_not_decide = || -> GrantDecision { Box::new(|_| panic!("the decision must not be called")) };
    let [good, bad, late] = ["good", "bad", "late"].map(Secret::new);
    for secret in [&good, &bad, &late] {
        store.store_code(secret, &code(now), &membership_id(), now, &by()).await.unwrap();
    }
    let new_grant = grant("g1", now);
    store.take_code(&exchange(&good, &other_client(), now), must_not_decide()).await.unwrap();
    store.take_code(&exchange(&Secret::new("none"), &our_client(), now), must_not_decide()).await.unwrap();
    store.take_code(&exchange(&bad, &our_client(), now), Box::new(|_| None)).await.unwrap();
    store.take_code(&exchange(&late, &our_client(), code(now).expires_at), must_not_decide()).await.unwrap();
    assert_eq!(entries(store, &of_clients()).await, [], "no grant and no reuse, so no entry");

    store.take_code(&exchange(&good, &our_client(), now), approve(&new_grant, None)).await.unwrap();
    let mut expected = vec![for_grant(AuditKind::Granted, now, &new_grant)];
    assert_eq!(entries(store, &of_clients()).await, expected);
    for seconds in 1..=2 {
        let later = now + Duration::from_secs(seconds);
        store.take_code(&exchange(&good, &our_client(), later), must_not_decide()).await.unwrap();
        expected.insert(0, for_grant(AuditKind::CodeReused, later, &new_grant));
    }
    let later = now + Duration::from_secs(3);
    store.take_code(&exchange(&bad, &our_client(), later), must_not_decide()).await.unwrap();
    expected.insert(0, AuditEntry::new(AuditKind::CodeReused, later, &context()).client(&our_client()));
    assert_eq!(entries(store, &of_clients()).await, expected);
}

/// The grant of a code may have been deleted when the code is used again.
pub(crate) async fn code_reuse_names_a_deleted_grant(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let tenant = fixture.add_tenant().await.id;
    let new_grant = Grant { tenant: tenant.clone(), ..grant("g1", now) };
    let secret = Secret::new("code");
    store.store_code(&secret, &code(now), &membership_id(), now, &by()).await.unwrap();
    store.take_code(&exchange(&secret, &our_client(), now), approve(&new_grant, None)).await.unwrap();
    store.erase_tenant(&tenant, &by()).await.unwrap();
    let later = now + Duration::from_secs(1);
    store.take_code(&exchange(&secret, &our_client(), later), Box::new(|_| None)).await.unwrap();
    let bare = AuditEntry::new(AuditKind::CodeReused, later, &context()).client(&our_client());
    let reused = AuditEntry { grant: Some(new_grant.id.clone()), ..bare };
    let granted = for_grant(AuditKind::Granted, now, &new_grant);
    assert_eq!(
        entries(store, &of_clients()).await,
        [reused, granted],
        "audit entries survive the tenant's erasure"
    );
}

pub(crate) async fn refresh_and_refresh_reuse_are_audited(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let new_grant = grant("g1", now);
    let secret = Secret::new("code");
    store.store_code(&secret, &code(now), &membership_id(), now, &by()).await.unwrap();
    let end = now + Duration::from_secs(1000);
    store
        .take_code(&exchange(&secret, &our_client(), now), approve(&new_grant, Some(("token-1", end))))
        .await
        .unwrap();
    let at = |seconds| now + Duration::from_secs(seconds);
    let refused = [
        RefreshRotation { client: other_client(), ..rotation(1, at(1)) },
        rotation(7, at(1)),
        rotation(1, end + Duration::from_secs(1)),
    ];
    for rotation in &refused {
        store.rotate_refresh(rotation).await.unwrap();
    }
    assert_eq!(audit_lines(store).await, ["granted maria"], "a refused refresh is not audited");

    let presented = [(1, 10), (1, 20), (2, 25), (1, 30), (2, 40)];
    for (token, seconds) in presented {
        store.rotate_refresh(&rotation(token, at(seconds))).await.unwrap();
    }
    let expected = [
        for_grant(AuditKind::RefreshReused, at(30), &new_grant),
        for_grant(AuditKind::Refreshed, at(25), &new_grant),
        for_grant(AuditKind::Refreshed, at(20), &new_grant).note("the same answer again"),
        for_grant(AuditKind::Refreshed, at(10), &new_grant),
        for_grant(AuditKind::Granted, now, &new_grant),
    ];
    assert_eq!(entries(store, &of_clients()).await, expected, "a token of a revoked grant is not audited");
}

pub(crate) async fn revocation_is_audited_with_its_reason(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let second_store = fixture.reopen().await.store;
    let new_grant = grant("g1", now);
    let secret = Secret::new("code");
    store.store_code(&secret, &code(now), &membership_id(), now, &by()).await.unwrap();
    store.take_code(&exchange(&secret, &our_client(), now), approve(&new_grant, None)).await.unwrap();
    let later = now + Duration::from_secs(1);
    let answers = concurrently(20, &[store, &second_store], |_, store| async move {
        let id = GrantId::new("g1");
        store.revoke_grant(&id, later, &context(), "señora, \"basta\"").await.unwrap()
    })
    .await;
    assert_eq!(answers.iter().filter(|revoked| **revoked).count(), 1);
    store.revoke_grant(&GrantId::new("none"), later, &context(), "why").await.unwrap();
    let revoked = for_grant(AuditKind::Revoked, later, &new_grant).note("señora, \"basta\"");
    assert_eq!(
        entries(store, &of_clients()).await,
        [revoked, for_grant(AuditKind::Granted, now, &new_grant)]
    );
}

/// A failed operation writes no audit entry.
pub(crate) async fn rolled_back_operations_are_not_audited(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let end = now + Duration::from_secs(1000);
    for (code_name, id, token) in [("code-1", "g1", "token-1"), ("code-2", "g2", "token-2")] {
        let secret = Secret::new(code_name);
        store.store_code(&secret, &code(now), &membership_id(), now, &by()).await.unwrap();
        let decision = approve(&grant(id, now), Some((token, end)));
        store.take_code(&exchange(&secret, &our_client(), now), decision).await.unwrap();
    }
    let before = store.audit(&of_clients()).await.unwrap();
    // The successor exists already.
    for _ in 0..2 {
        let later = now + Duration::from_secs(1);
        assert!(store.rotate_refresh(&rotation(1, later)).await.is_err());
    }
    let third = Secret::new("code-3");
    store.store_code(&third, &code(now), &membership_id(), now, &by()).await.unwrap();
    let same = approve(&grant("g1", now), None);
    assert!(store.take_code(&exchange(&third, &our_client(), now), same).await.is_err());
    assert_eq!(store.audit(&of_clients()).await, Ok(before));
    assert_eq!(
        store.find_grant(&GrantId::new("g1")).await,
        Ok(Some(grant("g1", now))),
        "the grant is unchanged"
    );
}
