//! Signing keys in memory, sealed as in the databases.

use async_trait::async_trait;
use domain::{Secret, Ticks};

use super::MemoryStore;
use crate::keys::{created_after, sealing_purpose};
use crate::{Result, SigningKey, SigningKeys, StoreError};

#[async_trait]
impl SigningKeys for MemoryStore {
    async fn add_signing_key(&self, key: &SigningKey, newest: Option<&str>) -> Result<bool> {
        let sealed =
            self.ports.vault.seal(&*self.ports.random, &sealing_purpose(&key.kid), key.private.reveal())?;
        let mut state = self.state_mut()?;
        let stored = state.signing_keys.values().map(|(key, _)| (key.created_at, key.kid.as_str()));
        let last = stored.max().map(|(at, kid)| (kid, at));
        let Some(created_at) = created_after(key.created_at, newest, last) else {
            return Ok(false);
        };
        if state.signing_keys.contains_key(&key.kid) {
            return Err(StoreError::Exists(format!("a signing key \"{}\"", key.kid)));
        }
        let stored = SigningKey { private: Secret::new(""), created_at, ..key.clone() };
        state.signing_keys.insert(key.kid.clone(), (stored, sealed));
        Ok(true)
    }

    async fn signing_keys(&self) -> Result<Vec<SigningKey>> {
        let state = self.state();
        let open_sealed = state.signing_keys.values().map(|(key, sealed)| {
            let private = self.ports.vault.open(&sealing_purpose(&key.kid), sealed)?;
            Ok(SigningKey { private, ..key.clone() })
        });
        let mut keys = open_sealed.collect::<Result<Vec<_>>>()?;
        keys.sort_by_key(|key| (key.created_at, key.kid.clone()));
        Ok(keys)
    }

    async fn retire_signing_key(&self, kid: &str, at: Ticks) -> Result<bool> {
        let mut state = self.state_mut()?;
        let found = state.signing_keys.get_mut(kid);
        Ok(found.map(|(key, _)| key.retired_at = Some(at)).is_some())
    }

    async fn delete_signing_key(&self, kid: &str) -> Result<bool> {
        Ok(self.state_mut()?.signing_keys.remove(kid).is_some())
    }
}
