//! Authorization codes: taken once, by their client, and the grant is made in the same breath.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use domain::{ClientId, GrantId, MembershipId, Secret, TenantId, Ticks, UserId};
use store::{
    AuditContext, AuthorizationCode, CodeExchange, CodeOutcome, Grant, GrantDecision, NewGrant, StoreError,
};

use super::stage::{Stage, at_once};

pub(crate) fn ours() -> ClientId {
    ClientId::new("erp-norte")
}

pub(crate) fn theirs() -> ClientId {
    ClientId::new("erp-sur")
}

/// The membership that the user chose; it need not be there.
pub(crate) fn chosen() -> MembershipId {
    MembershipId::new("m1")
}

pub(crate) fn context() -> AuditContext {
    AuditContext { address: "192.0.2.7".into(), request_id: "request-ñ".into() }
}

pub(crate) fn taking(code: &Secret, client: &ClientId, now: Ticks) -> CodeExchange {
    CodeExchange { code: code.clone(), client: client.clone(), now, context: context() }
}

pub(crate) fn grant(id: &str, now: Ticks) -> Grant {
    Grant {
        id: GrantId::new(id),
        client: ours(),
        user: UserId::new("maria"),
        tenant: TenantId::new("tenant-1"),
        details: r#"{"scopes":["openid","offline_access"]}"#.into(),
        created_at: now,
        last_used_at: now,
        expires_at: now + Duration::from_hours(1),
        revoked_at: None,
    }
}

pub(crate) fn code(now: Ticks) -> AuthorizationCode {
    AuthorizationCode {
        client: ours(),
        user: UserId::new("maria"),
        tenant: TenantId::new("tenant-1"),
        expires_at: now + Duration::from_mins(5),
        details: r#"{"redirect_uri":"https://erp.example/ñ","nonce":"n"}"#.into(),
    }
}

/// A judge that makes this grant.
pub(crate) fn makes(grant: &Grant, refresh: Option<(&str, Ticks)>) -> GrantDecision {
    let new = NewGrant {
        grant: grant.clone(),
        refresh: refresh.map(|(token, expires_at)| (Secret::new(token), expires_at)),
    };
    Box::new(move |_| Some(new))
}

fn never() -> GrantDecision {
    Box::new(|_| panic!("nobody was to be asked"))
}

pub(crate) async fn a_code_is_taken_once_and_its_second_use_revokes(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let secret = Secret::new("code-1");
    store.store_code(&secret, &code(now), &chosen(), now).await.unwrap();
    let made = grant("g1", now);
    let asked = made.clone();
    let judge: GrantDecision = Box::new(move |seen: &AuthorizationCode| {
        assert_eq!(*seen, code(now));
        Some(NewGrant { grant: asked, refresh: None })
    });
    let taken = store.take_code(&taking(&secret, &ours(), now), judge).await;
    let expected = CodeOutcome::Redeemed { code: code(now), grant: Some(made.clone()) };
    assert_eq!(taken, Ok(expected));
    assert_eq!(store.find_grant(&made.id).await, Ok(Some(made.clone())));

    let later = now + Duration::from_secs(1);
    for _ in 0..2 {
        let again = store.take_code(&taking(&secret, &ours(), later), never()).await;
        assert_eq!(again, Ok(CodeOutcome::Reused { revoked: Some(made.id.clone()) }));
    }
    let revoked = Grant { revoked_at: Some(later), ..made };
    assert_eq!(store.find_grant(&revoked.id).await, Ok(Some(revoked)));
}

pub(crate) async fn of_many_takers_one_gets_the_code(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let there = stage.reopen().await.store;
    store.store_code(&Secret::new("code-1"), &code(now), &chosen(), now).await.unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let answers = at_once(200, &[store, &there], |number, store| {
        let asked = asked.clone();
        async move {
            let judge: GrantDecision = Box::new(move |_| {
                asked.fetch_add(1, Ordering::SeqCst);
                let new = grant(&format!("g{number}"), now);
                Some(NewGrant { grant: new, refresh: None })
            });
            let taken = store.take_code(&taking(&Secret::new("code-1"), &ours(), now), judge).await;
            taken.unwrap()
        }
    })
    .await;
    assert_eq!(asked.load(Ordering::SeqCst), 1, "one judge was asked");
    let fresh: Vec<&Grant> = answers
        .iter()
        .filter_map(|answer| match answer {
            CodeOutcome::Redeemed { grant, .. } => grant.as_ref(),
            _ => None,
        })
        .collect();
    let [won] = fresh[..] else { panic!("{} got the code", fresh.len()) };
    let reused = CodeOutcome::Reused { revoked: Some(won.id.clone()) };
    assert_eq!(answers.iter().filter(|answer| **answer == reused).count(), 199);
    let kept = store.find_grant(&won.id).await.unwrap().unwrap();
    assert_eq!(kept.revoked_at, Some(now));
    for number in 0..200 {
        let id = GrantId::new(format!("g{number}"));
        assert_eq!(store.find_grant(&id).await.unwrap().is_some(), id == won.id);
    }
}

pub(crate) async fn another_client_neither_takes_nor_burns_a_code(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let secret = Secret::new("code-1");
    store.store_code(&secret, &code(now), &chosen(), now).await.unwrap();
    assert_eq!(store.take_code(&taking(&secret, &theirs(), now), never()).await, Ok(CodeOutcome::Unknown));
    let nobody = ClientId::new("erp\0");
    assert_eq!(store.take_code(&taking(&secret, &nobody, now), never()).await, Ok(CodeOutcome::Unknown));
    let made = grant("g1", now);
    let taken = store.take_code(&taking(&secret, &ours(), now), makes(&made, None)).await.unwrap();
    assert!(matches!(taken, CodeOutcome::Redeemed { .. }));
    assert_eq!(store.take_code(&taking(&secret, &theirs(), now), never()).await, Ok(CodeOutcome::Unknown));
    assert_eq!(store.find_grant(&made.id).await, Ok(Some(made)), "nor revokes what came of it");
    let unknown = store.take_code(&taking(&Secret::new("code-2"), &ours(), now), never()).await;
    assert_eq!(unknown, Ok(CodeOutcome::Unknown));
}

pub(crate) async fn an_expired_code_is_spent(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let secret = Secret::new("code-1");
    store.store_code(&secret, &code(now), &chosen(), now).await.unwrap();
    let end = code(now).expires_at;
    assert_eq!(store.take_code(&taking(&secret, &ours(), end), never()).await, Ok(CodeOutcome::Expired));
    let again = store.take_code(&taking(&secret, &ours(), now), never()).await;
    assert_eq!(again, Ok(CodeOutcome::Reused { revoked: None }));

    let other = Secret::new("code-2");
    store.store_code(&other, &code(now), &chosen(), now).await.unwrap();
    let just_in_time = Ticks(end.0 - 1);
    let taken = store
        .take_code(&taking(&other, &ours(), just_in_time), makes(&grant("g1", now), None))
        .await
        .unwrap();
    assert!(matches!(taken, CodeOutcome::Redeemed { .. }));
}

pub(crate) async fn a_code_that_is_judged_bad_is_spent(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let secret = Secret::new("code-1");
    store.store_code(&secret, &code(now), &chosen(), now).await.unwrap();
    let refused = store.take_code(&taking(&secret, &ours(), now), Box::new(|_| None)).await;
    assert_eq!(refused, Ok(CodeOutcome::Redeemed { code: code(now), grant: None }));
    let again = store.take_code(&taking(&secret, &ours(), now), never()).await;
    assert_eq!(again, Ok(CodeOutcome::Reused { revoked: None }));
}

/// What must be new is refused whole: nothing of the request stays.
pub(crate) async fn codes_and_grants_are_never_overwritten(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let end = now + Duration::from_mins(1);
    store.store_code(&Secret::new("code-1"), &code(now), &chosen(), now).await.unwrap();
    let twice = store
        .store_code(
            &Secret::new("code-1"),
            &AuthorizationCode { client: theirs(), ..code(now) },
            &chosen(),
            now,
        )
        .await;
    assert_eq!(twice, Err(StoreError::Exists("such a code".into())));
    let first = makes(&grant("g1", now), Some(("token-1", end)));
    store.take_code(&taking(&Secret::new("code-1"), &ours(), now), first).await.unwrap();

    store.store_code(&Secret::new("code-2"), &code(now), &chosen(), now).await.unwrap();
    let same_grant = makes(&Grant { details: "other".into(), ..grant("g1", now) }, None);
    let refused = store.take_code(&taking(&Secret::new("code-2"), &ours(), now), same_grant).await;
    assert_eq!(refused, Err(StoreError::Exists("a grant \"g1\"".into())));
    let same_token = makes(&grant("g2", now), Some(("token-1", end)));
    let refused = store.take_code(&taking(&Secret::new("code-2"), &ours(), now), same_token).await;
    assert_eq!(refused, Err(StoreError::Exists("such a refresh token".into())));
    assert_eq!(store.find_grant(&GrantId::new("g2")).await, Ok(None));
    assert_eq!(store.find_grant(&GrantId::new("g1")).await, Ok(Some(grant("g1", now))));
    let taken = store
        .take_code(&taking(&Secret::new("code-2"), &ours(), now), makes(&grant("g2", now), None))
        .await
        .unwrap();
    assert!(matches!(taken, CodeOutcome::Redeemed { .. }), "the code was not spent on what failed");
}

/// A judge that breaks down takes nobody else along.
pub(crate) async fn a_judge_that_panics_harms_nobody(stage: Stage) {
    let (store, now) = (stage.store.clone(), stage.now());
    let secret = Secret::new("code-1");
    store.store_code(&secret, &code(now), &chosen(), now).await.unwrap();
    let (taker, taken) = (store.clone(), secret.clone());
    let broken = tokio::spawn(async move { taker.take_code(&taking(&taken, &ours(), now), never()).await });
    assert!(!matches!(broken.await, Ok(Ok(_))), "a panic is no answer");
    let taken =
        store.take_code(&taking(&secret, &ours(), now), makes(&grant("g1", now), None)).await.unwrap();
    assert!(matches!(taken, CodeOutcome::Redeemed { .. }), "what was half done was undone");
    stage.desk().await.accept([super::desk::company("c1")]).await;
}

pub(crate) async fn a_grant_is_revoked_once(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let made = grant("g1", now);
    store.store_code(&Secret::new("code-1"), &code(now), &chosen(), now).await.unwrap();
    store.take_code(&taking(&Secret::new("code-1"), &ours(), now), makes(&made, None)).await.unwrap();
    let later = now + Duration::from_secs(5);
    assert_eq!(store.revoke_grant(&made.id, later, &context(), "why").await, Ok(true));
    assert_eq!(
        store.revoke_grant(&made.id, later + Duration::from_secs(5), &context(), "why").await,
        Ok(false)
    );
    for nobody in ["none", "g1\0"] {
        let id = GrantId::new(nobody);
        assert_eq!(store.revoke_grant(&id, later, &context(), "why").await, Ok(false));
    }
    let kept = store.find_grant(&made.id).await.unwrap().unwrap();
    assert_eq!(kept.revoked_at, Some(later), "the first time counts");
    assert_eq!(store.find_grant(&GrantId::new("none")).await, Ok(None));
}
