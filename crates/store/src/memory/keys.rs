//! Signing keys in memory, sealed as in the databases.

use async_trait::async_trait;
use domain::{Secret, Ticks};

use super::MemoryStore;
use crate::keys::{created_after, sealing_purpose};
use crate::{AuditContext, Result, SigningKey, SigningKeys, StoreError};

#[async_trait]
impl SigningKeys for MemoryStore {
    async fn add_signing_key(
        &self,
        key: &SigningKey,
        newest: Option<&str>,
        context: &AuditContext,
    ) -> Result<bool> {
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
        state.append_audit(&*self.ports.random, self.act(context).signing_key_added(key));
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

    async fn retire_signing_key(&self, kid: &str, at: Ticks, context: &AuditContext) -> Result<bool> {
        let mut state = self.state_mut()?;
        let Some((key, _)) = state.signing_keys.get_mut(kid) else { return Ok(false) };
        key.retired_at = Some(at);
        state.append_audit(&*self.ports.random, self.act(context).signing_key_retired(kid, at));
        Ok(true)
    }

    async fn delete_signing_key(&self, kid: &str, context: &AuditContext) -> Result<bool> {
        let mut state = self.state_mut()?;
        let is_deleted = state.signing_keys.remove(kid).is_some();
        if is_deleted {
            state.append_audit(&*self.ports.random, self.act(context).signing_key_deleted(kid));
        }
        Ok(is_deleted)
    }
}
