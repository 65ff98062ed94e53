//! Sessions: found by their cookie until they end; every start and end is audited.

use std::time::Duration;

use domain::{AccountId, Guid, Realm, Secret, Ticks};
use store::{AuditEntry, AuditKind, AuditQuery, EndedSessions, Session, StoreError};

use super::audit::audit_lines;
use super::codes::context;
use super::directory::user;
use super::fixture::{Fixture, by, concurrently};

pub(crate) fn session(user: &str, now: Ticks) -> Session {
    Session {
        id: Guid::from_bytes([7; 16]),
        realm: Realm::Users,
        account: AccountId::new(user),
        authenticated_at: now,
        methods: "password 2fa".into(),
        expires_at: now + Duration::from_hours(8),
        address: "203.0.113.9".into(),
        user_agent: "Firefox".into(),
    }
}

pub(crate) fn sign_in_entry(user: &str, now: Ticks) -> AuditEntry {
    AuditEntry::new(AuditKind::SignedIn, now, &context()).user(&AccountId::new(user))
}

pub(crate) fn sign_out_entry(user: &str, now: Ticks) -> AuditEntry {
    AuditEntry::new(AuditKind::SignedOut, now, &context()).user(&AccountId::new(user))
}

pub(crate) async fn session_is_found_until_it_expires(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let (cookie, maria) = (Secret::new("cookie-1"), session("maria", now));
    store.begin_session(&cookie, &maria, None, None, &sign_in_entry("maria", now)).await.unwrap();
    let last = Ticks(maria.expires_at.0 - 1);
    for moment in [now, last, Ticks(0)] {
        assert_eq!(store.find_session(Realm::Users, &cookie, moment).await, Ok(Some(maria.clone())));
    }
    assert_eq!(store.find_session(Realm::Users, &cookie, maria.expires_at).await, Ok(None));
    assert_eq!(store.find_session(Realm::Users, &Secret::new("cookie-2"), now).await, Ok(None));
    let reopened = fixture.reopen().await.store;
    assert_eq!(reopened.find_session(Realm::Users, &cookie, now).await, Ok(Some(maria)));
    assert_eq!(audit_lines(store).await, ["signed_in maria"]);
}

pub(crate) async fn new_session_replaces_the_browsers_old_one(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let [old, new, other] = ["old", "new", "other"].map(Secret::new);
    store
        .begin_session(&old, &session("maria", now), None, None, &sign_in_entry("maria", now))
        .await
        .unwrap();
    store
        .begin_session(&other, &session("maria", now), None, None, &sign_in_entry("maria", now))
        .await
        .unwrap();
    let later = now + Duration::from_secs(1);
    store
        .begin_session(&new, &session("jon", later), Some(&old), None, &sign_in_entry("jon", later))
        .await
        .unwrap();
    assert_eq!(store.find_session(Realm::Users, &old, later).await, Ok(None));
    assert_eq!(store.find_session(Realm::Users, &new, later).await, Ok(Some(session("jon", later))));
    assert_eq!(store.find_session(Realm::Users, &other, later).await, Ok(Some(session("maria", now))));
    // The browser's old cookie may be unknown.
    let third = Secret::new("third");
    store
        .begin_session(&third, &session("ane", later), Some(&old), None, &sign_in_entry("ane", later))
        .await
        .unwrap();
    assert_eq!(store.find_session(Realm::Users, &third, later).await, Ok(Some(session("ane", later))));
}

/// A duplicate session is refused: the existing one stays, and nothing is audited.
pub(crate) async fn session_is_never_overwritten(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let [first, second] = ["first", "second"].map(Secret::new);
    for (cookie, user) in [(&first, "maria"), (&second, "jon")] {
        store
            .begin_session(cookie, &session(user, now), None, None, &sign_in_entry(user, now))
            .await
            .unwrap();
    }
    let twice = store
        .begin_session(&first, &session("eva", now), Some(&second), None, &sign_in_entry("eva", now))
        .await;
    assert_eq!(twice, Err(StoreError::Exists("such a session".into())));
    assert_eq!(store.find_session(Realm::Users, &first, now).await, Ok(Some(session("maria", now))));
    assert_eq!(store.find_session(Realm::Users, &second, now).await, Ok(Some(session("jon", now))));
    assert_eq!(audit_lines(store).await.len(), 2);
}

pub(crate) async fn session_ends_once(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let second_store = fixture.reopen().await.store;
    let cookie = Secret::new("cookie");
    store
        .begin_session(&cookie, &session("maria", now), None, None, &sign_in_entry("maria", now))
        .await
        .unwrap();
    let later = now + Duration::from_secs(5);
    let answers = concurrently(20, &[store, &second_store], |_, store| async move {
        store
            .end_session(Realm::Users, &Secret::new("cookie"), &sign_out_entry("maria", later))
            .await
            .unwrap()
    })
    .await;
    assert_eq!(answers.iter().filter(|has_ended| **has_ended).count(), 1);
    assert_eq!(store.find_session(Realm::Users, &cookie, later).await, Ok(None));
    assert_eq!(
        store.end_session(Realm::Users, &Secret::new("none"), &sign_out_entry("maria", later)).await,
        Ok(false)
    );
    assert_eq!(audit_lines(store).await, ["signed_out maria", "signed_in maria"], "once, newest first");
}

pub(crate) async fn new_password_ends_the_users_sessions(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    for name in ["maria", "jon"] {
        store.add_account(&user(&fixture, name), &[], &by()).await.unwrap();
    }
    let [first, second_store, other] = ["here", "there", "theirs"].map(Secret::new);
    for (cookie, user) in [(&first, "maria"), (&second_store, "maria"), (&other, "jon")] {
        store
            .begin_session(cookie, &session(user, now), None, None, &sign_in_entry(user, now))
            .await
            .unwrap();
    }
    assert_eq!(store.set_password_hash(&AccountId::new("maria"), "$argon2id$new", &by()).await, Ok(true));
    assert_eq!(store.find_session(Realm::Users, &first, now).await, Ok(None));
    assert_eq!(store.find_session(Realm::Users, &second_store, now).await, Ok(None));
    assert_eq!(store.find_session(Realm::Users, &other, now).await, Ok(Some(session("jon", now))));
    store
        .begin_session(&first, &session("maria", now), None, None, &sign_in_entry("maria", now))
        .await
        .unwrap();
    assert!(
        store.find_session(Realm::Users, &first, now).await.unwrap().is_some(),
        "the user can sign in again"
    );
}

pub(crate) async fn cookie_of_one_realm_finds_no_session_in_another(fixture: Fixture) {
    let (store, now, cookie) = (&fixture.store, fixture.now(), Secret::new("cookie"));
    for realm in Realm::ALL {
        let own = Session { realm, ..session("maria", now) };
        store.begin_session(&cookie, &own, None, None, &sign_in_entry("maria", now)).await.unwrap();
        for other in Realm::ALL {
            let expected = (other == realm).then(|| own.clone());
            assert_eq!(store.find_session(other, &cookie, now).await, Ok(expected));
            let is_ended = store.end_session(other, &cookie, &sign_out_entry("maria", now)).await;
            assert_eq!(is_ended, Ok(other == realm));
            if other == realm {
                store.begin_session(&cookie, &own, None, None, &sign_in_entry("maria", now)).await.unwrap();
            }
        }
        store.end_session(realm, &cookie, &sign_out_entry("maria", now)).await.unwrap();
    }
}

pub(crate) async fn owner_lists_and_ends_sessions(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let numbered = |number: u8| Session {
        id: Guid::from_bytes([number; 16]),
        authenticated_at: now + Duration::from_secs(number.into()),
        ..session("maria", now)
    };
    let begin = async |number: u8, session: &Session| {
        let cookie = Secret::new(format!("cookie-{number}"));
        store.begin_session(&cookie, session, None, None, &sign_in_entry("maria", now)).await.unwrap();
    };
    for number in 1..=4 {
        begin(number, &numbered(number)).await;
    }
    begin(5, &Session { account: AccountId::new("jon"), ..numbered(5) }).await;
    begin(6, &Session { expires_at: now, ..numbered(6) }).await;
    let maria = AccountId::new("maria");
    let listed = async || store.list_sessions(&maria, now).await.unwrap();
    assert_eq!(listed().await, [4, 3, 2, 1].map(numbered));
    let end = async |which| store.end_sessions(&maria, which, &by()).await.unwrap();
    assert_eq!(end(EndedSessions::One(Guid::from_bytes([5; 16]))).await, 0, "another's");
    assert_eq!(end(EndedSessions::One(Guid::from_bytes([3; 16]))).await, 1);
    assert_eq!(end(EndedSessions::AllExcept(Guid::from_bytes([2; 16]))).await, 3);
    assert_eq!(listed().await, [numbered(2)]);
    assert_eq!(end(EndedSessions::All).await, 1);
    assert_eq!(end(EndedSessions::All).await, 0);
    assert_eq!(store.list_sessions(&AccountId::new("jon"), now).await.unwrap().len(), 1);
    let query = AuditQuery { kind: Some(AuditKind::SessionsEnded), rows_max: 9, ..AuditQuery::default() };
    let entries = store.audit(&query).await.unwrap();
    assert_eq!(entries.len(), 3, "one each time that something ended");
    assert!(entries.iter().all(|record| record.entry.user.as_ref() == Some(&maria)));
}
