//! Signing keys: stored encrypted, readable only with the master key that encrypted them.

use std::time::Duration;

use domain::{Secret, Ticks};
use store::{SigningKey, StoreError};

use super::fixture::{Fixture, by, concurrently, other_master_key};

pub(crate) fn signing_key(kid: &str, created_at: Ticks) -> SigningKey {
    SigningKey {
        kid: kid.into(),
        private: Secret::new(format!("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC{kid}")),
        public_jwk: format!(r#"{{"kty":"RSA","kid":"{kid}"}}"#),
        created_at,
        signs_from: created_at + Duration::from_hours(24),
        retired_at: None,
    }
}

pub(crate) async fn signing_keys_are_stored_unchanged(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    assert_eq!(store.signing_keys().await, Ok(Vec::new()));
    let young = signing_key("a", now + Duration::from_secs(1));
    let old = SigningKey { retired_at: Some(now), ..signing_key("b", now) };
    assert_eq!(store.add_signing_key(&old, None, &by()).await, Ok(true));
    assert_eq!(store.add_signing_key(&young, Some("b"), &by()).await, Ok(true));
    assert_eq!(store.signing_keys().await, Ok(vec![old.clone(), young.clone()]), "oldest first");
    let exists = StoreError::Exists("a signing key \"a\"".into());
    assert_eq!(store.add_signing_key(&signing_key("a", now), Some("a"), &by()).await, Err(exists));

    let end = now + Duration::from_secs(5);
    assert_eq!(store.retire_signing_key("a", end, &by()).await, Ok(true));
    assert_eq!(store.retire_signing_key("c", end, &by()).await, Ok(false));
    let retired = SigningKey { retired_at: Some(end), ..young };
    let reopened = fixture.reopen().await.store;
    assert_eq!(reopened.signing_keys().await, Ok(vec![old, retired]));
}

/// A key is added only if the caller named the current newest key.
pub(crate) async fn concurrent_additions_add_one_signing_key(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let second_store = fixture.reopen().await.store;
    let mut newest: Option<String> = None;
    for round in 0..3 {
        let answers = concurrently(40, &[store, &second_store], |number, store| {
            let newest = newest.clone();
            async move {
                let kid = format!("{:02}-{round}", 40 - number);
                let added =
                    store.add_signing_key(&signing_key(&kid, now), newest.as_deref(), &by()).await.unwrap();
                added.then_some(kid)
            }
        })
        .await;
        let added: Vec<String> = answers.into_iter().flatten().collect();
        let [kid] = &added[..] else { panic!("several keys were added: {added:?}") };
        let keys = store.signing_keys().await.unwrap();
        assert_eq!(keys.len(), round + 1);
        assert_eq!(keys[round].kid, *kid, "the newest key is the last added");
        newest = Some(kid.clone());
    }
}

pub(crate) async fn signing_keys_are_listed_in_order_of_addition(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    assert_eq!(
        store.add_signing_key(&signing_key("m", now), Some("a"), &by()).await,
        Ok(false),
        "there is no key yet"
    );
    assert_eq!(store.add_signing_key(&signing_key("m", now), None, &by()).await, Ok(true));
    assert_eq!(
        store.add_signing_key(&signing_key("n", now), None, &by()).await,
        Ok(false),
        "there is a key already"
    );
    // The clock stops, then goes back.
    assert_eq!(store.add_signing_key(&signing_key("b", now), Some("m"), &by()).await, Ok(true));
    let earlier = signing_key("c", now.minus(Duration::from_secs(60)));
    assert_eq!(store.add_signing_key(&earlier, Some("m"), &by()).await, Ok(false));
    assert_eq!(store.add_signing_key(&earlier, Some("b"), &by()).await, Ok(true));
    let stored = [
        signing_key("m", now),
        SigningKey { created_at: now.next(), ..signing_key("b", now) },
        SigningKey { created_at: now.next().next(), ..earlier.clone() },
    ];
    assert_eq!(store.signing_keys().await, Ok(stored.to_vec()));
}

pub(crate) async fn deleted_signing_key_is_gone(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    store.add_signing_key(&signing_key("a", now), None, &by()).await.unwrap();
    store.add_signing_key(&signing_key("b", now), Some("a"), &by()).await.unwrap();
    assert_eq!(store.delete_signing_key("b", &by()).await, Ok(true));
    assert_eq!(store.delete_signing_key("b", &by()).await, Ok(false));
    assert_eq!(store.retire_signing_key("b", now, &by()).await, Ok(false));
    assert_eq!(store.signing_keys().await, Ok(vec![signing_key("a", now)]));
    assert_eq!(store.add_signing_key(&signing_key("c", now), Some("b"), &by()).await, Ok(false));
    assert_eq!(
        store.add_signing_key(&signing_key("b", now), Some("a"), &by()).await,
        Ok(true),
        "the kid can be reused"
    );
    assert_eq!(store.delete_signing_key("a", &by()).await, Ok(true));
    assert_eq!(store.delete_signing_key("b", &by()).await, Ok(true));
    assert_eq!(
        store.add_signing_key(&signing_key("c", now), None, &by()).await,
        Ok(true),
        "as in an empty store"
    );
}

pub(crate) async fn other_master_key_cannot_open_the_store(fixture: Fixture) {
    fixture.store.add_signing_key(&signing_key("a", fixture.now()), None, &by()).await.unwrap();
    let reopened = fixture.reopen_with(&other_master_key()).await;
    assert_eq!(reopened.err(), Some(StoreError::WrongMasterKey));
    let reopened = fixture.reopen().await.store;
    assert_eq!(reopened.signing_keys().await.unwrap().len(), 1, "the right key still opens it");
}

/// The first open binds a store to its master key, even if it stays empty.
pub(crate) async fn empty_store_is_bound_to_its_master_key(fixture: Fixture) {
    let reopened = fixture.reopen_with(&other_master_key()).await;
    assert_eq!(reopened.err(), Some(StoreError::WrongMasterKey));
}
