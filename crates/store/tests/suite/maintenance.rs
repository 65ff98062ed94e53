//! Maintenance: expired rows are removed, a bounded number per call; health and closing a store.

use std::time::Duration;

use domain::{GrantId, Realm, Secret, Ticks};
use store::{
    AuditKind, AuditQuery, AuthorizationCode, CodeOutcome, ExpiredRows, Grant, KeySlot, ListQuery,
    RefreshOutcome, RefreshRotation, RetentionCutoffs, Session, StoreError,
};

use super::client_access::access;
use super::clients::subscription;
use super::codes::{approve, code, context, exchange, grant, membership_id, our_client};
use super::fixture::{Fixture, by, concurrently, new_tenant};
use super::sessions::{session, sign_in_entry, sign_out_entry};
use super::signing_keys::signing_key;
use super::test_tenant::{company, journal};

const COUNT: usize = 5;

fn seconds(count: usize) -> Duration {
    Duration::from_secs(count as u64)
}

/// The last tick at which a code can be redeemed; its audit entry has this time.
fn tick_before(moment: Ticks) -> Ticks {
    Ticks(moment.0 - 1)
}

pub(crate) fn cutoffs_at(moment: Ticks) -> RetentionCutoffs {
    RetentionCutoffs {
        now: moment,
        processes: moment,
        audit: tick_before(moment),
        calls: moment,
        reads: moment,
        deliveries: moment,
        mails: moment,
    }
}

/// Adds five rows of every kind that expires; number N expires N times ten seconds after `start`.
async fn add_five_expiring_rows(fixture: &Fixture, start: Ticks) {
    let (store, never) = (&fixture.store, start + Duration::from_hours(1000));
    // The audit entries of the fixture do not expire.
    fixture.clock.set(never);
    store
        .add_subscription(&subscription(fixture, "a"), &Secret::new("key 0"), &Secret::new("s"), &by())
        .await
        .unwrap();
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1")]).await;
    for number in 1..=COUNT {
        fixture.clock.set(never);
        let expires_at = start + seconds(10 * number);
        let secret = Secret::new(format!("code {number}"));
        store
            .store_code(
                &secret,
                &AuthorizationCode { expires_at, ..code(start) },
                &membership_id(),
                never,
                &by(),
            )
            .await
            .unwrap();
        let new_grant = Grant { expires_at, ..grant(&format!("g{number}"), start) };
        let token = format!("token {number}");
        let exchange = exchange(&secret, &our_client(), tick_before(expires_at));
        store.take_code(&exchange, approve(&new_grant, Some((&token, expires_at)))).await.unwrap();
        let key = Secret::new(format!("key {number}"));
        store
            .rotate_key(&subscription(fixture, "a").id, KeySlot::Primary, &key, expires_at, &by())
            .await
            .unwrap();
        let id = Secret::new(format!("session {number}"));
        let new_session = Session { expires_at, ..session("maria", start) };
        store.begin_session(&id, &new_session, None, None, &sign_in_entry("maria", never)).await.unwrap();
        fixture.clock.set(expires_at);
        store
            .apply_changes(tenant.chunk(&format!("import {number}"), 0, [journal("c1", "j1", "{}")]))
            .await
            .unwrap();
    }
    fixture.clock.set(start);
}

/// Which of the five rows remain, by kind: codes, refresh tokens, grants, key overlaps, idempotency keys, sessions, audit
/// records.
async fn remaining(fixture: &Fixture, start: Ticks) -> [Vec<usize>; 7] {
    let store = &fixture.store;
    let tenant = store.list_tenants(&ListQuery::default()).await.map(|page| page.rows).unwrap().remove(0).id;
    let late = start + seconds(1000);
    let granted = AuditQuery { kind: Some(AuditKind::Granted), rows_max: 100, ..AuditQuery::default() };
    let granted = store.audit(&granted).await.unwrap();
    let mut remaining: [Vec<usize>; 7] = Default::default();
    for number in 1..=COUNT {
        let key = Secret::new(format!("key {}", number - 1));
        let rotation = RefreshRotation {
            presented: Secret::new(format!("token {number}")),
            client: our_client(),
            successor: Secret::new(format!("next {number}")),
            successor_expires_at: None,
            tokens_until: late,
            grace: Duration::ZERO,
            now: late,
            context: context(),
        };
        let rotated = store.rotate_refresh(&rotation).await.unwrap();
        let exchange = exchange(&Secret::new(format!("code {number}")), &our_client(), late);
        let grant = GrantId::new(format!("g{number}"));
        let session = Secret::new(format!("session {number}"));
        let stored = [
            store.take_code(&exchange, Box::new(|_| None)).await.unwrap() != CodeOutcome::Unknown,
            rotated != RefreshOutcome::Unknown,
            store.find_grant(&grant).await.unwrap().is_some(),
            store.find_subscription_by_key(&key, start).await.unwrap().is_some(),
            store.find_ingest_progress(&tenant, &format!("import {number}")).await.unwrap().is_some(),
            store.find_session(Realm::Users, &session, start).await.unwrap().is_some(),
            granted.iter().any(|record| record.entry.grant.as_ref() == Some(&grant)),
        ];
        for (list, stored) in remaining.iter_mut().zip(stored) {
            if stored {
                list.push(number);
            }
        }
    }
    remaining
}

fn each(count: usize) -> ExpiredRows {
    ExpiredRows {
        codes: count,
        refresh_tokens: count,
        grants: count,
        keys: count,
        processes: count,
        sessions: count,
        sign_in_buckets: 0,
        used_challenges: 0,
        audit: count,
        calls: 0,
        deliveries: 0,
        mails: 0,
        logouts: 0,
        invitations: 0,
        links: 0,
        call_log: 0,
        figures: 0,
        notices: 0,
        reads: 0,
    }
}

pub(crate) async fn expiry_removes_only_expired_rows(fixture: Fixture) {
    let (store, start) = (&fixture.store, fixture.now());
    add_five_expiring_rows(&fixture, start).await;
    let third = start + seconds(30);
    let nothing = store.expire(cutoffs_at(start), 100).await.unwrap();
    assert_eq!((nothing, nothing.total()), (each(0), 0));

    // A row that ends at the cutoff is not expired yet.
    let expired = store.expire(cutoffs_at(third), 100).await.unwrap();
    assert_eq!((expired, expired.total()), (each(2), 14));
    assert_eq!(remaining(&fixture, start).await, [const { [3, 4, 5] }; 7]);
    assert_eq!(store.expire(cutoffs_at(third), 100).await, Ok(each(0)));

    let current = store.find_subscription_by_key(&Secret::new("key 5"), start).await.unwrap();
    assert!(current.is_some(), "a current key does not expire");
}

pub(crate) async fn expiry_is_bounded_per_call(fixture: Fixture) {
    let (store, start) = (&fixture.store, fixture.now());
    add_five_expiring_rows(&fixture, start).await;
    let late = start + seconds(1000);
    assert_eq!(store.expire(cutoffs_at(late), 0).await, Ok(each(0)));
    for count in [2, 2, 1, 0] {
        assert_eq!(store.expire(cutoffs_at(late), 2).await, Ok(each(count)));
    }
    assert_eq!(remaining(&fixture, start).await, [const { Vec::<usize>::new() }; 7]);
}

/// A second use of a code revokes its grant even after the code has expired.
pub(crate) async fn used_code_is_known_as_long_as_its_grant(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let [good, bad, waiting] = ["good", "bad", "waiting"].map(Secret::new);
    for secret in [&good, &bad, &waiting] {
        store.store_code(secret, &code(now), &membership_id(), now, &by()).await.unwrap();
    }
    let new_grant = grant("g1", now);
    let taken = store.take_code(&exchange(&good, &our_client(), now), approve(&new_grant, None)).await;
    assert_eq!(taken, Ok(CodeOutcome::Redeemed { code: code(now), grant: Some(new_grant.clone()) }));
    store.take_code(&exchange(&bad, &our_client(), now), Box::new(|_| None)).await.unwrap();

    let after_the_code = code(now).expires_at + seconds(1);
    let cutoffs = |moment| RetentionCutoffs { now: moment, ..cutoffs_at(now) };
    let expired = store.expire(cutoffs(after_the_code), 100).await;
    assert_eq!(expired, Ok(ExpiredRows { codes: 2, ..each(0) }), "the codes without a grant");
    for late in [after_the_code, new_grant.expires_at] {
        assert_eq!(store.expire(cutoffs(late), 100).await, Ok(each(0)));
        let again = store.take_code(&exchange(&good, &our_client(), late), Box::new(|_| None)).await;
        assert_eq!(again, Ok(CodeOutcome::Reused { revoked: Some(new_grant.id.clone()) }));
        let stored = store.find_grant(&new_grant.id).await.unwrap().unwrap();
        assert_eq!(stored.revoked_at, Some(after_the_code));
    }
    let after_the_grant = Ticks(new_grant.expires_at.0 + 1);
    let expired = store.expire(cutoffs(after_the_grant), 100).await;
    assert_eq!(expired, Ok(ExpiredRows { codes: 1, grants: 1, ..each(0) }));
    let unknown = store.take_code(&exchange(&good, &our_client(), after_the_grant), Box::new(|_| None)).await;
    assert_eq!(unknown, Ok(CodeOutcome::Unknown));
}

/// Idempotency keys expire by their last use.
pub(crate) async fn idempotency_key_in_use_does_not_expire(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let start = fixture.now();
    tenant.accept([company("c1")]).await;
    tenant.store.apply_changes(tenant.chunk("old", 0, [journal("c1", "j1", "{}")])).await.unwrap();
    tenant.store.apply_changes(tenant.chunk("used", 0, [journal("c1", "j2", "{}")])).await.unwrap();
    let later = fixture.clock.advance(seconds(60));
    tenant.store.apply_changes(tenant.chunk("used", 1, [journal("c1", "j3", "{}")])).await.unwrap();
    let expired =
        tenant.store.expire(RetentionCutoffs { processes: later, ..cutoffs_at(start) }, 100).await.unwrap();
    assert_eq!(expired, ExpiredRows { processes: 1, ..each(0) });
    assert_eq!(tenant.store.find_ingest_progress(&tenant.id, "old").await, Ok(None));
    assert_eq!(tenant.store.find_ingest_progress(&tenant.id, "used").await.unwrap().unwrap().line, 2);
}

pub(crate) async fn health_reports_queue_and_schema(fixture: Fixture) {
    let health = fixture.store.health().await.unwrap();
    assert_eq!(health.queued, 0);
    let reopened = fixture.reopen().await.store;
    assert_eq!(reopened.health().await, Ok(health));
}

/// After `close` every write is refused; earlier writes are there when the store is opened again.
pub(crate) async fn closed_store_refuses_writes(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1")]).await;
    fixture.store.close().await;
    fixture.store.close().await;
    let closed = |answer: Result<(), StoreError>| {
        assert!(matches!(answer, Err(StoreError::Unavailable(_))), "{answer:?}");
    };
    let (store, now) = (&fixture.store, fixture.now());
    closed(tenant.try_send([company("c2")]).await.map(drop));
    closed(store.add_tenant(&new_tenant("late", now), &by()).await);
    closed(store.store_code(&Secret::new("late"), &code(now), &membership_id(), now, &by()).await);
    closed(
        store
            .begin_session(
                &Secret::new("late"),
                &session("maria", now),
                None,
                None,
                &sign_in_entry("maria", now),
            )
            .await,
    );
    closed(
        store.end_session(Realm::Users, &Secret::new("late"), &sign_out_entry("maria", now)).await.map(drop),
    );
    closed(store.record(&sign_out_entry("maria", now)).await);
    closed(store.revoke_grant(&GrantId::new("g1"), now, &context(), "").await.map(drop));
    closed(store.revoke_client_access(&access(), now, &context(), "").await.map(drop));
    closed(store.add_signing_key(&signing_key("late", now), None, &by()).await.map(drop));
    closed(store.save_dev_credentials("{}").await);
    closed(store.prune_log(&tenant.id, now, 10).await.map(drop));
    closed(store.expire(cutoffs_at(now), 10).await.map(drop));
    closed(store.purge(10).await.map(drop));

    let reopened = tenant.via(&fixture.reopen().await.store);
    assert_eq!(reopened.log_lines().await, ["1 companies c1 Created"]);
    reopened.accept([company("c2")]).await;
    assert_eq!(
        reopened.store.list_tenants(&ListQuery::default()).await.map(|page| page.rows).unwrap().len(),
        1
    );
}

/// A write that is queued when the store closes is either stored or refused as unavailable.
pub(crate) async fn writes_acknowledged_before_close_are_stored(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1")]).await;
    let answers = concurrently(40, &[&fixture.store], |number, store| {
        let tenant = tenant.via(&store);
        async move {
            if number == 20 {
                tenant.store.close().await;
                return None;
            }
            let change = journal("c1", &format!("j{number}"), "{}");
            Some((change.clone(), tenant.try_send([change]).await))
        }
    })
    .await;
    let reopened = tenant.via(&fixture.reopen().await.store);
    let mut stored = 0;
    for (change, answer) in answers.into_iter().flatten() {
        assert!(matches!(answer, Ok(_) | Err(StoreError::Unavailable(_))), "{answer:?}");
        assert_eq!(reopened.has(&change).await, answer.is_ok());
        stored += u64::from(answer.is_ok());
    }
    assert_eq!(reopened.head().await, stored + 1);
}
