//! Sessions in memory.

use std::cmp::Reverse;

use async_trait::async_trait;
use domain::second_factor::has_second_factor;
use domain::{AccountId, Realm, Secret, Ticks};

use super::MemoryStore;
use crate::audit::Act;
use crate::sessions::session_hash;
use crate::{
    AuditContext, AuditEntry, EndedSessions, GrantSession, Result, SESSIONS_LISTED_MAX, Session, Sessions,
    SignInProof, Status, StoreError,
};

#[async_trait]
impl Sessions for MemoryStore {
    async fn begin_session(
        &self,
        cookie: &Secret,
        session: &Session,
        replaced: Option<&Secret>,
        proof: Option<&SignInProof>,
        entry: &AuditEntry,
    ) -> Result<()> {
        let hash = session_hash(&self.ports.vault, session.realm, cookie);
        let replaced = replaced.map(|old| session_hash(&self.ports.vault, session.realm, old));
        let mut state = self.state_mut()?;
        let account = state.accounts.get(session.account.as_str());
        let account = account.filter(|account| account.status != Status::Disabled);
        let holds = match proof {
            None => true,
            Some(SignInProof::Password(hash)) => {
                account.is_some_and(|account| account.password_hash == *hash)
            }
            Some(SignInProof::Passkey(factor)) => {
                let factor = state.second_factors.get(factor.as_bytes());
                account.is_some() && factor.is_some_and(|factor| factor.account == session.account)
            }
        };
        if !holds {
            return Err(StoreError::ProofVoid);
        }
        let is_enrolled = state.second_factors.values().any(|factor| factor.account == session.account);
        if is_enrolled && !has_second_factor(&session.methods) {
            return Err(StoreError::SecondFactorNeeded);
        }
        if replaced != Some(hash) && state.sessions.contains_key(&hash) {
            return Err(StoreError::Exists("such a session".into()));
        }
        if let Some(replaced) = replaced {
            let successor = Some(GrantSession { id: session.id, expires_at: session.expires_at });
            state.end_session(&*self.ports.random, &replaced, successor, &Act::of(entry));
        }
        state.sessions.insert(hash, session.clone());
        let mut is_confirmed = false;
        if let Some(user) = state.accounts.get_mut(session.account.as_str())
            && user.status == Status::Unconfirmed
        {
            user.status = Status::Active;
            user.revision += 1;
            is_confirmed = true;
        }
        state.append_audit(&*self.ports.random, entry.clone());
        let webhooks = is_confirmed.then(|| state.touch_user(&session.account));
        drop(state);
        self.access_changed_for(webhooks);
        Ok(())
    }

    async fn find_session(&self, realm: Realm, cookie: &Secret, now: Ticks) -> Result<Option<Session>> {
        let hash = session_hash(&self.ports.vault, realm, cookie);
        Ok(self.state().sessions.get(&hash).filter(|session| session.expires_at > now).cloned())
    }

    async fn end_session(&self, realm: Realm, cookie: &Secret, entry: &AuditEntry) -> Result<bool> {
        let hash = session_hash(&self.ports.vault, realm, cookie);
        let mut state = self.state_mut()?;
        let ended = state.end_session(&*self.ports.random, &hash, None, &Act::of(entry));
        if ended {
            state.append_audit(&*self.ports.random, entry.clone());
        }
        Ok(ended)
    }

    async fn list_sessions(&self, account: &AccountId, now: Ticks) -> Result<Vec<Session>> {
        let state = self.state();
        let is_own = |one: &&Session| one.account == *account && one.expires_at > now;
        let mut all: Vec<Session> = state.sessions.values().filter(is_own).cloned().collect();
        all.sort_unstable_by_key(|one| (Reverse(one.authenticated_at), one.id));
        all.truncate(SESSIONS_LISTED_MAX);
        Ok(all)
    }

    async fn end_sessions(
        &self,
        account: &AccountId,
        which: EndedSessions,
        context: &AuditContext,
    ) -> Result<u64> {
        let act = self.act(context);
        let mut state = self.state_mut()?;
        let ended = state.end_sessions(&*self.ports.random, account, which, &act);
        if let Some(realm) = ended.first() {
            let entry = act.sessions_ended(*realm, account, ended.len() as u64);
            state.append_audit(&*self.ports.random, entry);
        }
        Ok(ended.len() as u64)
    }
}
