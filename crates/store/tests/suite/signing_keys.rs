//! Secrets: signing keys come back whole, and only with the master key that they were sealed with.

use std::time::Duration;

use domain::{Secret, Ticks};
use store::{SigningKey, StoreError};

use super::stage::{Stage, another_key, at_once};

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
    assert_eq!(store.add_signing_key(&old, None).await, Ok(true));
    assert_eq!(store.add_signing_key(&young, Some("b")).await, Ok(true));
    assert_eq!(store.signing_keys().await, Ok(vec![old.clone(), young.clone()]), "oldest first");
    let exists = StoreError::Exists("a signing key \"a\"".into());
    assert_eq!(store.add_signing_key(&signing_key("a", now), Some("a")).await, Err(exists));

    let end = now + Duration::from_secs(5);
    assert_eq!(store.retire_signing_key("a", end).await, Ok(true));
    assert_eq!(store.retire_signing_key("c", end).await, Ok(false));
    let retired = SigningKey { retired_at: Some(end), ..young };
    let again = stage.reopen().await.store;
    assert_eq!(again.signing_keys().await, Ok(vec![old, retired]));
}

/// A key is added only behind the one that its maker took for the newest.
pub(crate) async fn of_many_who_add_a_signing_key_one_does(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let there = stage.reopen().await.store;
    let mut newest: Option<String> = None;
    for round in 0..3 {
        let answers = at_once(40, &[store, &there], |number, store| {
            let newest = newest.clone();
            async move {
                let kid = format!("{:02}-{round}", 40 - number);
                let added = store.add_signing_key(&signing_key(&kid, now), newest.as_deref()).await.unwrap();
                added.then_some(kid)
            }
        })
        .await;
        let added: Vec<String> = answers.into_iter().flatten().collect();
        let [kid] = &added[..] else { panic!("{added:?} were added") };
        let keys = store.signing_keys().await.unwrap();
        assert_eq!(keys.len(), round + 1);
        assert_eq!(keys[round].kid, *kid, "the newest is the one that was added last");
        newest = Some(kid.clone());
    }
}

pub(crate) async fn signing_keys_are_in_the_order_of_adding(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    assert_eq!(store.add_signing_key(&signing_key("m", now), Some("a")).await, Ok(false), "there is none");
    assert_eq!(store.add_signing_key(&signing_key("m", now), None).await, Ok(true));
    assert_eq!(store.add_signing_key(&signing_key("n", now), None).await, Ok(false), "there is one");
    // The clock stands, then jumps back.
    assert_eq!(store.add_signing_key(&signing_key("b", now), Some("m")).await, Ok(true));
    let earlier = signing_key("c", now.minus(Duration::from_secs(60)));
    assert_eq!(store.add_signing_key(&earlier, Some("m")).await, Ok(false));
    assert_eq!(store.add_signing_key(&earlier, Some("b")).await, Ok(true));
    let kept = [
        signing_key("m", now),
        SigningKey { created_at: now.next(), ..signing_key("b", now) },
        SigningKey { created_at: now.next().next(), ..earlier.clone() },
    ];
    assert_eq!(store.signing_keys().await, Ok(kept.to_vec()));
}

pub(crate) async fn a_forgotten_signing_key_is_gone(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    store.add_signing_key(&signing_key("a", now), None).await.unwrap();
    store.add_signing_key(&signing_key("b", now), Some("a")).await.unwrap();
    assert_eq!(store.delete_signing_key("b").await, Ok(true));
    assert_eq!(store.delete_signing_key("b").await, Ok(false));
    assert_eq!(store.retire_signing_key("b", now).await, Ok(false));
    assert_eq!(store.signing_keys().await, Ok(vec![signing_key("a", now)]));
    assert_eq!(store.add_signing_key(&signing_key("c", now), Some("b")).await, Ok(false));
    assert_eq!(store.add_signing_key(&signing_key("b", now), Some("a")).await, Ok(true), "its name is free");
    assert_eq!(store.delete_signing_key("a").await, Ok(true));
    assert_eq!(store.delete_signing_key("b").await, Ok(true));
    assert_eq!(store.add_signing_key(&signing_key("c", now), None).await, Ok(true), "as in a new store");
}

pub(crate) async fn another_master_key_opens_nothing(stage: Stage) {
    stage.store.add_signing_key(&signing_key("a", stage.now()), None).await.unwrap();
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
