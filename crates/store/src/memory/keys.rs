//! Signing keys in memory, sealed as anywhere else.

use async_trait::async_trait;
use domain::{Secret, Ticks};

use super::MemoryStore;
use crate::keys::{made_behind, purpose};
use crate::{Result, SigningKey, SigningKeys, StoreError};

#[async_trait]
impl SigningKeys for MemoryStore {
    async fn add_signing_key(&self, key: &SigningKey, newest: Option<&str>) -> Result<bool> {
        let sealed = self.ports.vault.seal(&*self.ports.random, &purpose(&key.kid), key.private.reveal())?;
        let mut state = self.writing()?;
        let kept = state.signing_keys.values().map(|(key, _)| (key.created_at, key.kid.as_str()));
        let last = kept.max().map(|(at, kid)| (kid, at));
        let Some(created_at) = made_behind(key, newest, last) else {
            return Ok(false);
        };
        if state.signing_keys.contains_key(&key.kid) {
            return Err(StoreError::Exists(format!("a signing key \"{}\"", key.kid)));
        }
        let kept = SigningKey { private: Secret::new(""), created_at, ..key.clone() };
        state.signing_keys.insert(key.kid.clone(), (kept, sealed));
        Ok(true)
    }

    async fn signing_keys(&self) -> Result<Vec<SigningKey>> {
        let state = self.state();
        let opened = state.signing_keys.values().map(|(key, sealed)| {
            let private = self.ports.vault.open(&purpose(&key.kid), sealed)?;
            Ok(SigningKey { private, ..key.clone() })
        });
        let mut keys = opened.collect::<Result<Vec<_>>>()?;
        keys.sort_by_key(|key| (key.created_at, key.kid.clone()));
        Ok(keys)
    }

    async fn retire_signing_key(&self, kid: &str, at: Ticks) -> Result<bool> {
        let mut state = self.writing()?;
        let found = state.signing_keys.get_mut(kid);
        Ok(found.map(|(key, _)| key.retired_at = Some(at)).is_some())
    }

    async fn delete_signing_key(&self, kid: &str) -> Result<bool> {
        Ok(self.writing()?.signing_keys.remove(kid).is_some())
    }
}
