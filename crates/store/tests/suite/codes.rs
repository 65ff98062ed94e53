//! Authorization codes: redeemed once, by their client, in the transaction that creates the grant.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use domain::{AccountId, ClientId, GrantId, MembershipId, Scopes, Secret, TenantId, Ticks};
use store::{
    Actor, AuditContext, AuthorizationCode, CodeExchange, CodeOutcome, Grant, GrantDecision, NewGrant,
    StoreError,
};

use super::authorizations::ALL;
use super::fixture::{Fixture, by, concurrently};

pub(crate) fn our_client() -> ClientId {
    ClientId::new("erp-norte")
}

pub(crate) fn other_client() -> ClientId {
    ClientId::new("erp-sur")
}

/// The membership that the user chose; it need not exist.
pub(crate) fn membership_id() -> MembershipId {
    MembershipId::new("m1")
}

pub(crate) fn context() -> AuditContext {
    AuditContext { actor: Actor::Anonymous, address: "192.0.2.7".into(), request_id: "request-ñ".into() }
}

pub(crate) fn exchange(code: &Secret, client: &ClientId, now: Ticks) -> CodeExchange {
    CodeExchange { code: code.clone(), client: client.clone(), now, context: context() }
}

pub(crate) fn grant(id: &str, now: Ticks) -> Grant {
    Grant {
        id: GrantId::new(id),
        client: our_client(),
        user: AccountId::new("maria"),
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
        client: our_client(),
        user: AccountId::new("maria"),
        tenant: TenantId::new("tenant-1"),
        expires_at: now + Duration::from_mins(5),
        details: r#"{"redirect_uri":"https://erp.example/ñ","nonce":"n"}"#.into(),
    }
}

/// A decision that creates this grant.
pub(crate) fn approve(grant: &Grant, refresh: Option<(&str, Ticks)>) -> GrantDecision {
    let new = NewGrant {
        grant: grant.clone(),
        scopes: Scopes::parse(ALL).scopes,
        refresh: refresh.map(|(token, expires_at)| (Secret::new(token), expires_at)),
        session: None,
    };
    Box::new(move |_| Some(new))
}

fn must_not_decide() -> GrantDecision {
    Box::new(|_| panic!("the decision must not be called"))
}

pub(crate) async fn second_use_of_code_revokes_its_grant(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let secret = Secret::new("code-1");
    store.store_code(&secret, &code(now), &membership_id(), now, &by()).await.unwrap();
    let new_grant = grant("g1", now);
    let decided = new_grant.clone();
    let decision: GrantDecision = Box::new(move |seen: &AuthorizationCode| {
        assert_eq!(*seen, code(now));
        Some(NewGrant { grant: decided, scopes: Scopes::default(), refresh: None, session: None })
    });
    let taken = store.take_code(&exchange(&secret, &our_client(), now), decision).await;
    let expected = CodeOutcome::Redeemed { code: code(now), grant: Some(new_grant.clone()) };
    assert_eq!(taken, Ok(expected));
    assert_eq!(store.find_grant(&new_grant.id).await, Ok(Some(new_grant.clone())));

    let later = now + Duration::from_secs(1);
    for _ in 0..2 {
        let again = store.take_code(&exchange(&secret, &our_client(), later), must_not_decide()).await;
        assert_eq!(again, Ok(CodeOutcome::Reused { revoked: Some(new_grant.id.clone()) }));
    }
    let revoked = Grant { revoked_at: Some(later), ..new_grant };
    assert_eq!(store.find_grant(&revoked.id).await, Ok(Some(revoked)));
}

pub(crate) async fn one_of_many_concurrent_exchanges_redeems_the_code(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let second_store = fixture.reopen().await.store;
    store.store_code(&Secret::new("code-1"), &code(now), &membership_id(), now, &by()).await.unwrap();
    let calls = Arc::new(AtomicUsize::new(0));
    let answers = concurrently(200, &[store, &second_store], |number, store| {
        let calls = calls.clone();
        async move {
            let decision: GrantDecision = Box::new(move |_| {
                calls.fetch_add(1, Ordering::SeqCst);
                let new = grant(&format!("g{number}"), now);
                Some(NewGrant { grant: new, scopes: Scopes::default(), refresh: None, session: None })
            });
            let taken =
                store.take_code(&exchange(&Secret::new("code-1"), &our_client(), now), decision).await;
            taken.unwrap()
        }
    })
    .await;
    assert_eq!(calls.load(Ordering::SeqCst), 1, "one decision was called");
    let grants: Vec<&Grant> = answers
        .iter()
        .filter_map(|answer| match answer {
            CodeOutcome::Redeemed { grant, .. } => grant.as_ref(),
            _ => None,
        })
        .collect();
    let [winner] = grants[..] else { panic!("{} exchanges redeemed the code", grants.len()) };
    let reused = CodeOutcome::Reused { revoked: Some(winner.id.clone()) };
    assert_eq!(answers.iter().filter(|answer| **answer == reused).count(), 199);
    let stored = store.find_grant(&winner.id).await.unwrap().unwrap();
    assert_eq!(stored.revoked_at, Some(now));
    for number in 0..200 {
        let id = GrantId::new(format!("g{number}"));
        assert_eq!(store.find_grant(&id).await.unwrap().is_some(), id == winner.id);
    }
}

pub(crate) async fn other_client_cannot_redeem_or_spend_a_code(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let secret = Secret::new("code-1");
    store.store_code(&secret, &code(now), &membership_id(), now, &by()).await.unwrap();
    assert_eq!(
        store.take_code(&exchange(&secret, &other_client(), now), must_not_decide()).await,
        Ok(CodeOutcome::Unknown)
    );
    let unknown = ClientId::new("erp\0");
    assert_eq!(
        store.take_code(&exchange(&secret, &unknown, now), must_not_decide()).await,
        Ok(CodeOutcome::Unknown)
    );
    let new_grant = grant("g1", now);
    let taken =
        store.take_code(&exchange(&secret, &our_client(), now), approve(&new_grant, None)).await.unwrap();
    assert!(matches!(taken, CodeOutcome::Redeemed { .. }));
    assert_eq!(
        store.take_code(&exchange(&secret, &other_client(), now), must_not_decide()).await,
        Ok(CodeOutcome::Unknown)
    );
    assert_eq!(
        store.find_grant(&new_grant.id).await,
        Ok(Some(new_grant)),
        "another client does not revoke the grant"
    );
    let unknown =
        store.take_code(&exchange(&Secret::new("code-2"), &our_client(), now), must_not_decide()).await;
    assert_eq!(unknown, Ok(CodeOutcome::Unknown));
}

pub(crate) async fn expired_code_is_spent(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let secret = Secret::new("code-1");
    store.store_code(&secret, &code(now), &membership_id(), now, &by()).await.unwrap();
    let end = code(now).expires_at;
    assert_eq!(
        store.take_code(&exchange(&secret, &our_client(), end), must_not_decide()).await,
        Ok(CodeOutcome::Expired)
    );
    let again = store.take_code(&exchange(&secret, &our_client(), now), must_not_decide()).await;
    assert_eq!(again, Ok(CodeOutcome::Reused { revoked: None }));

    let other = Secret::new("code-2");
    store.store_code(&other, &code(now), &membership_id(), now, &by()).await.unwrap();
    let just_in_time = Ticks(end.0 - 1);
    let taken = store
        .take_code(&exchange(&other, &our_client(), just_in_time), approve(&grant("g1", now), None))
        .await
        .unwrap();
    assert!(matches!(taken, CodeOutcome::Redeemed { .. }));
}

pub(crate) async fn refused_code_is_spent(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let secret = Secret::new("code-1");
    store.store_code(&secret, &code(now), &membership_id(), now, &by()).await.unwrap();
    let refused = store.take_code(&exchange(&secret, &our_client(), now), Box::new(|_| None)).await;
    assert_eq!(refused, Ok(CodeOutcome::Redeemed { code: code(now), grant: None }));
    let again = store.take_code(&exchange(&secret, &our_client(), now), must_not_decide()).await;
    assert_eq!(again, Ok(CodeOutcome::Reused { revoked: None }));
}

/// A duplicate is refused, and nothing of the request is stored.
pub(crate) async fn codes_and_grants_are_never_overwritten(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let end = now + Duration::from_mins(1);
    store.store_code(&Secret::new("code-1"), &code(now), &membership_id(), now, &by()).await.unwrap();
    let twice = store
        .store_code(
            &Secret::new("code-1"),
            &AuthorizationCode { client: other_client(), ..code(now) },
            &membership_id(),
            now,
            &by(),
        )
        .await;
    assert_eq!(twice, Err(StoreError::Exists("such a code".into())));
    let first = approve(&grant("g1", now), Some(("token-1", end)));
    store.take_code(&exchange(&Secret::new("code-1"), &our_client(), now), first).await.unwrap();

    store.store_code(&Secret::new("code-2"), &code(now), &membership_id(), now, &by()).await.unwrap();
    let same_grant = approve(&Grant { details: "other".into(), ..grant("g1", now) }, None);
    let refused = store.take_code(&exchange(&Secret::new("code-2"), &our_client(), now), same_grant).await;
    assert_eq!(refused, Err(StoreError::Exists("a grant \"g1\"".into())));
    let same_token = approve(&grant("g2", now), Some(("token-1", end)));
    let refused = store.take_code(&exchange(&Secret::new("code-2"), &our_client(), now), same_token).await;
    assert_eq!(refused, Err(StoreError::Exists("such a refresh token".into())));
    assert_eq!(store.find_grant(&GrantId::new("g2")).await, Ok(None));
    assert_eq!(store.find_grant(&GrantId::new("g1")).await, Ok(Some(grant("g1", now))));
    let taken = store
        .take_code(&exchange(&Secret::new("code-2"), &our_client(), now), approve(&grant("g2", now), None))
        .await
        .unwrap();
    assert!(matches!(taken, CodeOutcome::Redeemed { .. }), "a failed exchange does not spend the code");
}

/// A panic in a decision does not affect later requests.
pub(crate) async fn panicking_decision_is_rolled_back(fixture: Fixture) {
    let (store, now) = (fixture.store.clone(), fixture.now());
    let secret = Secret::new("code-1");
    store.store_code(&secret, &code(now), &membership_id(), now, &by()).await.unwrap();
    let (store_handle, taken) = (store.clone(), secret.clone());
    let broken = tokio::spawn(async move {
        store_handle.take_code(&exchange(&taken, &our_client(), now), must_not_decide()).await
    });
    assert!(!matches!(broken.await, Ok(Ok(_))), "the exchange fails");
    let taken = store
        .take_code(&exchange(&secret, &our_client(), now), approve(&grant("g1", now), None))
        .await
        .unwrap();
    assert!(matches!(taken, CodeOutcome::Redeemed { .. }), "the panicked exchange was rolled back");
    fixture.add_tenant().await.accept([super::test_tenant::company("c1")]).await;
}

pub(crate) async fn grant_is_revoked_once(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let new_grant = grant("g1", now);
    store.store_code(&Secret::new("code-1"), &code(now), &membership_id(), now, &by()).await.unwrap();
    store
        .take_code(&exchange(&Secret::new("code-1"), &our_client(), now), approve(&new_grant, None))
        .await
        .unwrap();
    let later = now + Duration::from_secs(5);
    assert_eq!(store.revoke_grant(&new_grant.id, later, &context(), "why").await, Ok(true));
    assert_eq!(
        store.revoke_grant(&new_grant.id, later + Duration::from_secs(5), &context(), "why").await,
        Ok(false)
    );
    for unknown in ["none", "g1\0"] {
        let id = GrantId::new(unknown);
        assert_eq!(store.revoke_grant(&id, later, &context(), "why").await, Ok(false));
    }
    let stored = store.find_grant(&new_grant.id).await.unwrap().unwrap();
    assert_eq!(stored.revoked_at, Some(later), "the first revocation counts");
    assert_eq!(store.find_grant(&GrantId::new("none")).await, Ok(None));
}
