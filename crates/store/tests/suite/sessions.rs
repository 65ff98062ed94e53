//! Sessions: found by their cookie until they end, and every beginning and end is in the audit.

use std::time::Duration;

use domain::{Secret, Ticks, UserId};
use store::{AuditEntry, AuditKind, Session, StoreError};

use super::audit::told;
use super::codes::context;
use super::directory::user;
use super::stage::{Stage, at_once};

pub(crate) fn session(user: &str, now: Ticks) -> Session {
    Session {
        user: UserId::new(user),
        authenticated_at: now,
        methods: "pwd otp".into(),
        expires_at: now + Duration::from_hours(8),
    }
}

pub(crate) fn begun(user: &str, now: Ticks) -> AuditEntry {
    AuditEntry::new(AuditKind::SignedIn, now, &context()).user(&UserId::new(user))
}

pub(crate) fn ended(user: &str, now: Ticks) -> AuditEntry {
    AuditEntry::new(AuditKind::SignedOut, now, &context()).user(&UserId::new(user))
}

pub(crate) async fn a_session_lives_until_it_expires(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let (cookie, one) = (Secret::new("cookie-1"), session("maria", now));
    store.begin_session(&cookie, &one, None, &begun("maria", now)).await.unwrap();
    let last = Ticks(one.expires_at.0 - 1);
    for moment in [now, last, Ticks(0)] {
        assert_eq!(store.find_session(&cookie, moment).await, Ok(Some(one.clone())));
    }
    assert_eq!(store.find_session(&cookie, one.expires_at).await, Ok(None));
    assert_eq!(store.find_session(&Secret::new("cookie-2"), now).await, Ok(None));
    let again = stage.reopen().await.store;
    assert_eq!(again.find_session(&cookie, now).await, Ok(Some(one)));
    assert_eq!(told(store).await, ["signed_in maria"]);
}

pub(crate) async fn a_new_session_replaces_the_browsers_old_one(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let [old, new, other] = ["old", "new", "other"].map(Secret::new);
    store.begin_session(&old, &session("maria", now), None, &begun("maria", now)).await.unwrap();
    store.begin_session(&other, &session("maria", now), None, &begun("maria", now)).await.unwrap();
    let later = now + Duration::from_secs(1);
    store.begin_session(&new, &session("jon", later), Some(&old), &begun("jon", later)).await.unwrap();
    assert_eq!(store.find_session(&old, later).await, Ok(None));
    assert_eq!(store.find_session(&new, later).await, Ok(Some(session("jon", later))));
    assert_eq!(store.find_session(&other, later).await, Ok(Some(session("maria", now))));
    // A browser may have a cookie of which nothing is known.
    let third = Secret::new("third");
    store.begin_session(&third, &session("ane", later), Some(&old), &begun("ane", later)).await.unwrap();
    assert_eq!(store.find_session(&third, later).await, Ok(Some(session("ane", later))));
}

/// What must be new is refused whole: the old one stays, and the audit has nothing.
pub(crate) async fn a_session_is_never_overwritten(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let [first, second] = ["first", "second"].map(Secret::new);
    for (cookie, user) in [(&first, "maria"), (&second, "jon")] {
        store.begin_session(cookie, &session(user, now), None, &begun(user, now)).await.unwrap();
    }
    let twice = store.begin_session(&first, &session("eva", now), Some(&second), &begun("eva", now)).await;
    assert_eq!(twice, Err(StoreError::Exists("such a session".into())));
    assert_eq!(store.find_session(&first, now).await, Ok(Some(session("maria", now))));
    assert_eq!(store.find_session(&second, now).await, Ok(Some(session("jon", now))));
    assert_eq!(told(store).await.len(), 2);
}

pub(crate) async fn a_session_ends_once(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let there = stage.reopen().await.store;
    let cookie = Secret::new("cookie");
    store.begin_session(&cookie, &session("maria", now), None, &begun("maria", now)).await.unwrap();
    let later = now + Duration::from_secs(5);
    let answers = at_once(20, &[store, &there], |_, store| async move {
        store.end_session(&Secret::new("cookie"), &ended("maria", later)).await.unwrap()
    })
    .await;
    assert_eq!(answers.iter().filter(|ended| **ended).count(), 1);
    assert_eq!(store.find_session(&cookie, later).await, Ok(None));
    assert_eq!(store.end_session(&Secret::new("none"), &ended("maria", later)).await, Ok(false));
    assert_eq!(told(store).await, ["signed_out maria", "signed_in maria"], "once, newest first");
}

pub(crate) async fn a_new_password_ends_the_users_sessions(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    for name in ["maria", "jon"] {
        store.add_user(&user(&stage, name), &[]).await.unwrap();
    }
    let [here, there, theirs] = ["here", "there", "theirs"].map(Secret::new);
    for (cookie, user) in [(&here, "maria"), (&there, "maria"), (&theirs, "jon")] {
        store.begin_session(cookie, &session(user, now), None, &begun(user, now)).await.unwrap();
    }
    assert_eq!(store.set_password_hash(&UserId::new("maria"), "$argon2id$new").await, Ok(true));
    assert_eq!(store.find_session(&here, now).await, Ok(None));
    assert_eq!(store.find_session(&there, now).await, Ok(None));
    assert_eq!(store.find_session(&theirs, now).await, Ok(Some(session("jon", now))));
    store.begin_session(&here, &session("maria", now), None, &begun("maria", now)).await.unwrap();
    assert!(store.find_session(&here, now).await.unwrap().is_some(), "she can sign in anew");
}
