//! Codes, grants and refresh tokens in memory.

use async_trait::async_trait;
use domain::{ClientId, GrantId, Secret, Ticks};

use super::{KeptCode, MemoryStore, State};
use crate::grants::{CODE, REFRESH, RefreshRow, RefreshVerdict, refresh_verdict};
use crate::{Code, CodeTaken, Grant, Grants, Judge, RefreshRotated, Result, Rotation, StoreError};

impl State {
    fn revoke(&mut self, id: &GrantId, now: Ticks) -> bool {
        match self.grants.get_mut(id.as_str()) {
            Some(grant) if grant.revoked_at.is_none() => {
                grant.revoked_at = Some(now);
                true
            }
            _ => false,
        }
    }

    fn add_grant(&mut self, grant: &Grant, refresh: Option<([u8; 32], Ticks)>) -> Result<()> {
        if self.grants.contains_key(grant.id.as_str()) {
            return Err(StoreError::Exists(format!("a grant \"{}\"", grant.id)));
        }
        if let Some((hash, expires_at)) = refresh {
            self.add_refresh(hash, grant, expires_at)?;
        }
        self.grants.insert(grant.id.as_str().into(), grant.clone());
        Ok(())
    }

    fn add_refresh(&mut self, hash: [u8; 32], grant: &Grant, expires_at: Ticks) -> Result<()> {
        let row = RefreshRow {
            client: grant.client.clone(),
            grant: grant.id.as_str().into(),
            expires_at,
            used_at: None,
            successor: None,
            successor_used: false,
            successor_expires_at: None,
        };
        if self.refresh_tokens.contains_key(&hash) {
            return Err(StoreError::Exists("such a refresh token".into()));
        }
        self.refresh_tokens.insert(hash, row);
        Ok(())
    }

    /// The token with what matters of its successor.
    fn refresh(&self, hash: &[u8; 32]) -> Option<RefreshRow> {
        let mut row = self.refresh_tokens.get(hash)?.clone();
        if let Some(next) = row.successor.and_then(|next| self.refresh_tokens.get(&next)) {
            row.successor_used = next.used_at.is_some();
            row.successor_expires_at = Some(next.expires_at);
        }
        Some(row)
    }
}

#[async_trait]
impl Grants for MemoryStore {
    async fn keep_code(&self, code: &Secret, kept: &Code) -> Result<()> {
        let hash = self.ports.vault.fingerprint(CODE, code);
        let mut state = self.writing()?;
        if state.codes.contains_key(&hash) {
            return Err(StoreError::Exists("such a code".into()));
        }
        let kept = KeptCode { code: kept.clone(), used: false, grant: None };
        state.codes.insert(hash, kept);
        Ok(())
    }

    async fn take_code(
        &self,
        code: &Secret,
        client: &ClientId,
        now: Ticks,
        judge: Judge,
    ) -> Result<CodeTaken> {
        let vault = &self.ports.vault;
        let hash = vault.fingerprint(CODE, code);
        let mut state = self.writing()?;
        let Some(kept) = state.codes.get(&hash).filter(|kept| kept.code.client == *client) else {
            return Ok(CodeTaken::Unknown);
        };
        if kept.used {
            let made = kept.grant.clone();
            if let Some(grant) = &made {
                state.revoke(grant, now);
            }
            return Ok(CodeTaken::Reused { revoked: made });
        }
        // Nothing is changed before the judge has spoken and all that is new is known to be new.
        let code = kept.code.clone();
        let is_live = now < code.expires_at;
        let new = if is_live { judge(&code) } else { None };
        if let Some(new) = &new {
            let refresh = new.refresh.as_ref();
            let refresh = refresh.map(|(token, expires_at)| (vault.fingerprint(REFRESH, token), *expires_at));
            state.add_grant(&new.grant, refresh)?;
        }
        if let Some(kept) = state.codes.get_mut(&hash) {
            kept.used = true;
            kept.grant = new.as_ref().map(|new| new.grant.id.clone());
        }
        if !is_live {
            return Ok(CodeTaken::Expired);
        }
        Ok(CodeTaken::Fresh { code, grant: new.map(|new| new.grant) })
    }

    async fn rotate_refresh(&self, rotation: &Rotation) -> Result<RefreshRotated> {
        let presented = self.ports.vault.fingerprint(REFRESH, &rotation.presented);
        let successor = self.ports.vault.fingerprint(REFRESH, &rotation.successor);
        let mut state = self.writing()?;
        let row = state.refresh(&presented);
        let grant = row.as_ref().and_then(|row| state.grants.get(&row.grant).cloned());
        Ok(match refresh_verdict(rotation, row, grant, &successor) {
            RefreshVerdict::Done(done) => done,
            RefreshVerdict::Revoke(grant) => {
                state.revoke(&grant, rotation.now);
                RefreshRotated::Reused { revoked: grant }
            }
            RefreshVerdict::Rotate { grant, expires_at } => {
                state.add_refresh(successor, &grant, expires_at)?;
                if let Some(used) = state.refresh_tokens.get_mut(&presented) {
                    used.used_at = Some(rotation.now);
                    used.successor = Some(successor);
                }
                if let Some(kept) = state.grants.get_mut(grant.id.as_str()) {
                    kept.expires_at = grant.expires_at;
                }
                RefreshRotated::Fresh { grant, expires_at }
            }
        })
    }

    async fn find_grant(&self, id: &GrantId) -> Result<Option<Grant>> {
        Ok(self.state().grants.get(id.as_str()).cloned())
    }

    async fn revoke_grant(&self, id: &GrantId, now: Ticks) -> Result<bool> {
        Ok(self.writing()?.revoke(id, now))
    }
}
