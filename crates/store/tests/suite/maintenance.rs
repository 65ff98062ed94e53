//! Upkeep: what has had its time goes, a bounded number at a time, and nothing else; a closed store is closed.

use std::time::Duration;

use domain::{GrantId, Secret, Ticks};
use store::{
    AuditKind, AuditQuery, AuthorizationCode, CodeOutcome, ExpiredRows, Grant, KeySlot, ListQuery,
    RefreshOutcome, RefreshRotation, RetentionCutoffs, Session, StoreError,
};

use super::applications::subscription;
use super::codes::{chosen, code, context, grant, makes, ours, taking};
use super::desk::{company, journal};
use super::secrets::signing_key;
use super::sessions::{begun, ended, session};
use super::stage::{Stage, at_once, tenant};
use super::withdrawal::access;

const COUNT: usize = 5;

fn seconds(count: usize) -> Duration {
    Duration::from_secs(count as u64)
}

/// When a code can still be taken; the audit has it then.
fn a_tick_before(moment: Ticks) -> Ticks {
    Ticks(moment.0 - 1)
}

fn past(moment: Ticks) -> RetentionCutoffs {
    RetentionCutoffs {
        now: moment,
        processes: moment,
        audit: a_tick_before(moment),
        calls: moment,
        deliveries: moment,
    }
}

/// Five of everything that expires, one every ten seconds from `start` on.
async fn five_of_everything(stage: &Stage, start: Ticks) {
    let store = &stage.store;
    store
        .add_subscription(&subscription(stage, "a"), &Secret::new("key 0"), &Secret::new("s"))
        .await
        .unwrap();
    let desk = stage.desk().await;
    desk.accept([company("c1")]).await;
    let never = start + Duration::from_hours(1000);
    for number in 1..=COUNT {
        let expires_at = start + seconds(10 * number);
        let secret = Secret::new(format!("code {number}"));
        store
            .store_code(&secret, &AuthorizationCode { expires_at, ..code(start) }, &chosen(), start)
            .await
            .unwrap();
        let made = Grant { expires_at, ..grant(&format!("g{number}"), start) };
        let token = format!("token {number}");
        let taking = taking(&secret, &ours(), a_tick_before(expires_at));
        store.take_code(&taking, makes(&made, Some((&token, expires_at)))).await.unwrap();
        let key = Secret::new(format!("key {number}"));
        store.rotate_key(&subscription(stage, "a").id, KeySlot::Primary, &key, expires_at).await.unwrap();
        let id = Secret::new(format!("session {number}"));
        let one = Session { expires_at, ..session("maria", start) };
        store.begin_session(&id, &one, None, &begun("maria", never)).await.unwrap();
        stage.clock.set(expires_at);
        store
            .apply_changes(desk.chunk(&format!("import {number}"), 0, [journal("c1", "j1", "{}")]))
            .await
            .unwrap();
    }
    stage.clock.set(start);
}

/// Which of the five are still there: codes, refresh tokens, grants, key overlaps, idempotency keys, sessions,
/// audit records.
async fn alive(stage: &Stage, start: Ticks) -> [Vec<usize>; 7] {
    let store = &stage.store;
    let tenant = store.list_tenants(&ListQuery::default()).await.map(|page| page.rows).unwrap().remove(0).id;
    let late = start + seconds(1000);
    let granted = AuditQuery { kind: Some(AuditKind::Granted), rows_max: 100, ..AuditQuery::default() };
    let granted = store.audit(&granted).await.unwrap();
    let mut alive: [Vec<usize>; 7] = Default::default();
    for number in 1..=COUNT {
        let key = Secret::new(format!("key {}", number - 1));
        let rotation = RefreshRotation {
            presented: Secret::new(format!("token {number}")),
            client: ours(),
            successor: Secret::new(format!("next {number}")),
            successor_expires_at: None,
            tokens_until: late,
            grace: Duration::ZERO,
            now: late,
            context: context(),
        };
        let rotated = store.rotate_refresh(&rotation).await.unwrap();
        let taking = taking(&Secret::new(format!("code {number}")), &ours(), late);
        let grant = GrantId::new(format!("g{number}"));
        let session = Secret::new(format!("session {number}"));
        let kept = [
            store.take_code(&taking, Box::new(|_| None)).await.unwrap() != CodeOutcome::Unknown,
            rotated != RefreshOutcome::Unknown,
            store.find_grant(&grant).await.unwrap().is_some(),
            store.find_subscription_by_key(&key, start).await.unwrap().is_some(),
            store.find_ingest_progress(&tenant, &format!("import {number}")).await.unwrap().is_some(),
            store.find_session(&session, start).await.unwrap().is_some(),
            granted.iter().any(|record| record.entry.grant.as_ref() == Some(&grant)),
        ];
        for (list, kept) in alive.iter_mut().zip(kept) {
            if kept {
                list.push(number);
            }
        }
    }
    alive
}

fn each(count: usize) -> ExpiredRows {
    ExpiredRows {
        codes: count,
        refresh_tokens: count,
        grants: count,
        keys: count,
        processes: count,
        sessions: count,
        audit: count,
        calls: 0,
        deliveries: 0,
    }
}

pub(crate) async fn what_is_past_goes_and_nothing_else(stage: Stage) {
    let (store, start) = (&stage.store, stage.now());
    five_of_everything(&stage, start).await;
    let third = start + seconds(30);
    let nothing = store.expire(past(start), 100).await.unwrap();
    assert_eq!((nothing, nothing.total()), (each(0), 0));

    // What ends at this very moment is not past yet.
    let gone = store.expire(past(third), 100).await.unwrap();
    assert_eq!((gone, gone.total()), (each(2), 14));
    assert_eq!(alive(&stage, start).await, [const { [3, 4, 5] }; 7]);
    assert_eq!(store.expire(past(third), 100).await, Ok(each(0)));

    let current = store.find_subscription_by_key(&Secret::new("key 5"), start).await.unwrap();
    assert!(current.is_some(), "a key in use does not expire");
}

pub(crate) async fn what_is_past_goes_a_few_at_a_time(stage: Stage) {
    let (store, start) = (&stage.store, stage.now());
    five_of_everything(&stage, start).await;
    let late = start + seconds(1000);
    assert_eq!(store.expire(past(late), 0).await, Ok(each(0)));
    for count in [2, 2, 1, 0] {
        assert_eq!(store.expire(past(late), 2).await, Ok(each(count)));
    }
    assert_eq!(alive(&stage, start).await, [const { Vec::<usize>::new() }; 7]);
}

/// Used again after its own end, a code still ends what came of it.
pub(crate) async fn a_used_code_is_known_as_long_as_its_grant(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let [good, bad, waiting] = ["good", "bad", "waiting"].map(Secret::new);
    for secret in [&good, &bad, &waiting] {
        store.store_code(secret, &code(now), &chosen(), now).await.unwrap();
    }
    let made = grant("g1", now);
    let taken = store.take_code(&taking(&good, &ours(), now), makes(&made, None)).await;
    assert_eq!(taken, Ok(CodeOutcome::Redeemed { code: code(now), grant: Some(made.clone()) }));
    store.take_code(&taking(&bad, &ours(), now), Box::new(|_| None)).await.unwrap();

    let after_the_code = code(now).expires_at + seconds(1);
    let cutoffs = |moment| RetentionCutoffs { now: moment, ..past(now) };
    let gone = store.expire(cutoffs(after_the_code), 100).await;
    assert_eq!(gone, Ok(ExpiredRows { codes: 2, ..each(0) }), "those of which nothing came");
    for late in [after_the_code, made.expires_at] {
        assert_eq!(store.expire(cutoffs(late), 100).await, Ok(each(0)));
        let again = store.take_code(&taking(&good, &ours(), late), Box::new(|_| None)).await;
        assert_eq!(again, Ok(CodeOutcome::Reused { revoked: Some(made.id.clone()) }));
        let kept = store.find_grant(&made.id).await.unwrap().unwrap();
        assert_eq!(kept.revoked_at, Some(after_the_code));
    }
    let after_the_grant = Ticks(made.expires_at.0 + 1);
    let gone = store.expire(cutoffs(after_the_grant), 100).await;
    assert_eq!(gone, Ok(ExpiredRows { codes: 1, grants: 1, ..each(0) }));
    let unknown = store.take_code(&taking(&good, &ours(), after_the_grant), Box::new(|_| None)).await;
    assert_eq!(unknown, Ok(CodeOutcome::Unknown));
}

/// Idempotency keys go by when they were last used.
pub(crate) async fn a_key_that_is_used_again_lives_on(stage: Stage) {
    let desk = stage.desk().await;
    let start = stage.now();
    desk.accept([company("c1")]).await;
    desk.store.apply_changes(desk.chunk("old", 0, [journal("c1", "j1", "{}")])).await.unwrap();
    desk.store.apply_changes(desk.chunk("used", 0, [journal("c1", "j2", "{}")])).await.unwrap();
    let later = stage.clock.forward(seconds(60));
    desk.store.apply_changes(desk.chunk("used", 1, [journal("c1", "j3", "{}")])).await.unwrap();
    let gone = desk.store.expire(RetentionCutoffs { processes: later, ..past(start) }, 100).await.unwrap();
    assert_eq!(gone, ExpiredRows { processes: 1, ..each(0) });
    assert_eq!(desk.store.find_ingest_progress(&desk.tenant, "old").await, Ok(None));
    assert_eq!(desk.store.find_ingest_progress(&desk.tenant, "used").await.unwrap().unwrap().line, 2);
}

pub(crate) async fn a_store_tells_that_it_is_well(stage: Stage) {
    let health = stage.store.health().await.unwrap();
    assert_eq!(health.queued, 0);
    let again = stage.reopen().await.store;
    assert_eq!(again.health().await, Ok(health));
}

/// After `close` nothing can be written; what was written before is there for who opens it next.
pub(crate) async fn a_closed_store_takes_nothing_more(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([company("c1")]).await;
    stage.store.close().await;
    stage.store.close().await;
    let closed = |answer: Result<(), StoreError>| {
        assert!(matches!(answer, Err(StoreError::Unavailable(_))), "{answer:?}");
    };
    let (store, now) = (&stage.store, stage.now());
    closed(desk.try_send([company("c2")]).await.map(drop));
    closed(store.add_tenant(&tenant("late", now)).await);
    closed(store.store_code(&Secret::new("late"), &code(now), &chosen(), now).await);
    closed(
        store.begin_session(&Secret::new("late"), &session("maria", now), None, &begun("maria", now)).await,
    );
    closed(store.end_session(&Secret::new("late"), &ended("maria", now)).await.map(drop));
    closed(store.record(&ended("maria", now)).await);
    closed(store.revoke_grant(&GrantId::new("g1"), now, &context(), "").await.map(drop));
    closed(store.revoke_client_access(&access(), now, &context(), "").await.map(drop));
    closed(store.add_signing_key(&signing_key("late", now), None).await.map(drop));
    closed(store.save_dev_credentials("{}").await);
    closed(store.prune_log(&desk.tenant, now, 10).await.map(drop));
    closed(store.expire(past(now), 10).await.map(drop));
    closed(store.purge(10).await.map(drop));

    let again = desk.at(&stage.reopen().await.store);
    assert_eq!(again.told().await, ["1 companies c1 Created"]);
    again.accept([company("c2")]).await;
    assert_eq!(again.store.list_tenants(&ListQuery::default()).await.map(|page| page.rows).unwrap().len(), 1);
}

/// Whoever is in line when the store is closed is either answered and kept, or told that it is closed.
pub(crate) async fn what_was_answered_before_the_end_is_kept(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([company("c1")]).await;
    let answers = at_once(40, &[&stage.store], |number, store| {
        let desk = desk.at(&store);
        async move {
            if number == 20 {
                desk.store.close().await;
                return None;
            }
            let one = journal("c1", &format!("j{number}"), "{}");
            Some((one.clone(), desk.try_send([one]).await))
        }
    })
    .await;
    let again = desk.at(&stage.reopen().await.store);
    let mut kept = 0;
    for (one, answer) in answers.into_iter().flatten() {
        assert!(matches!(answer, Ok(_) | Err(StoreError::Unavailable(_))), "{answer:?}");
        assert_eq!(again.has(&one).await, answer.is_ok());
        kept += u64::from(answer.is_ok());
    }
    assert_eq!(again.head().await, kept + 1);
}
