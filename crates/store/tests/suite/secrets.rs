//! Secrets: signing keys come back whole, and only with the master key that they were sealed with.

use std::time::Duration;

use domain::{Secret, Ticks};
use store::{SigningKey, StoreError};

use super::stage::{Stage, another_key};

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

pub(crate) async fn signing_keys_come_back_whole(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    assert_eq!(store.signing_keys().await, Ok(Vec::new()));
    let young = signing_key("a", now + Duration::from_secs(1));
    let old = SigningKey { retired_at: Some(now), ..signing_key("b", now) };
    store.add_signing_key(&young).await.unwrap();
    store.add_signing_key(&old).await.unwrap();
    assert_eq!(store.signing_keys().await, Ok(vec![old.clone(), young.clone()]), "oldest first");
    let exists = StoreError::Exists("a signing key \"a\"".into());
    assert_eq!(store.add_signing_key(&signing_key("a", now)).await, Err(exists));

    let end = now + Duration::from_secs(5);
    assert_eq!(store.retire_signing_key("a", end).await, Ok(true));
    assert_eq!(store.retire_signing_key("c", end).await, Ok(false));
    let retired = SigningKey { retired_at: Some(end), ..young };
    let again = stage.reopen().await.store;
    assert_eq!(again.signing_keys().await, Ok(vec![old, retired]));
}

pub(crate) async fn another_master_key_opens_nothing(stage: Stage) {
    stage.store.add_signing_key(&signing_key("a", stage.now())).await.unwrap();
    let opened = stage.reopen_with(&another_key()).await;
    assert_eq!(opened.err(), Some(StoreError::WrongMasterKey));
    let again = stage.reopen().await.store;
    assert_eq!(again.signing_keys().await.unwrap().len(), 1, "the right one still does");
}

/// A store takes the key that it is first opened with, even if nothing was put into it.
pub(crate) async fn an_empty_store_has_its_master_key_too(stage: Stage) {
    let opened = stage.reopen_with(&another_key()).await;
    assert_eq!(opened.err(), Some(StoreError::WrongMasterKey));
}
