//! Sessions in memory.

use async_trait::async_trait;
use domain::{Secret, Ticks};

use super::MemoryStore;
use crate::sessions::SESSION;
use crate::{AuditEntry, Result, Session, Sessions, Status, StoreError};

#[async_trait]
impl Sessions for MemoryStore {
    async fn begin_session(
        &self,
        id: &Secret,
        session: &Session,
        replaced: Option<&Secret>,
        entry: &AuditEntry,
    ) -> Result<()> {
        let hash = self.ports.vault.fingerprint(SESSION, id);
        let replaced = replaced.map(|old| self.ports.vault.fingerprint(SESSION, old));
        let mut state = self.state_mut()?;
        if replaced != Some(hash) && state.sessions.contains_key(&hash) {
            return Err(StoreError::Exists("such a session".into()));
        }
        if let Some(replaced) = replaced {
            state.sessions.remove(&replaced);
        }
        state.sessions.insert(hash, session.clone());
        let mut is_confirmed = false;
        if let Some(user) = state.users.get_mut(session.user.as_str())
            && user.status == Status::Unconfirmed
        {
            user.status = Status::Active;
            user.revision += 1;
            is_confirmed = true;
        }
        state.append_audit(&*self.ports.random, entry.clone());
        let webhooks = is_confirmed.then(|| state.touch_user(&session.user));
        drop(state);
        self.access_changed_for(webhooks);
        Ok(())
    }

    async fn find_session(&self, id: &Secret, now: Ticks) -> Result<Option<Session>> {
        let hash = self.ports.vault.fingerprint(SESSION, id);
        Ok(self.state().sessions.get(&hash).filter(|session| session.expires_at > now).cloned())
    }

    async fn end_session(&self, id: &Secret, entry: &AuditEntry) -> Result<bool> {
        let hash = self.ports.vault.fingerprint(SESSION, id);
        let mut state = self.state_mut()?;
        let ended = state.sessions.remove(&hash).is_some();
        if ended {
            state.append_audit(&*self.ports.random, entry.clone());
        }
        Ok(ended)
    }
}
