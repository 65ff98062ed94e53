//! Codes, grants and refresh tokens in memory.

use async_trait::async_trait;
use domain::{ClientId, GrantId, Secret, Ticks};

use super::{KeptCode, MemoryStore, State};
use crate::grants::{CODE, REFRESH, RefreshRow, RefreshVerdict, refresh_verdict};
use crate::{Code, CodeTaken, Grant, Grants, Judge, RefreshRotated, Result, Rotation};

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

    fn add_refresh(&mut self, hash: [u8; 32], grant: &Grant, expires_at: Ticks) {
        let row = RefreshRow {
            client: grant.client.clone(),
            grant: grant.id.as_str().into(),
            expires_at,
            used_at: None,
            successor: None,
            successor_used: false,
            successor_expires_at: None,
        };
        self.refresh_tokens.insert(hash, row);
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
        self.state().codes.insert(
            hash,
            KeptCode {
                code: kept.clone(),
                used: false,
                grant: None,
            },
        );
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
        let mut state = self.state();
        let Some(kept) = state
            .codes
            .get_mut(&hash)
            .filter(|kept| kept.code.client == *client)
        else {
            return Ok(CodeTaken::Unknown);
        };
        if kept.used {
            let made = kept.grant.clone();
            if let Some(grant) = &made {
                state.revoke(grant, now);
            }
            return Ok(CodeTaken::Reused { revoked: made });
        }
        kept.used = true;
        let code = kept.code.clone();
        if now >= code.expires_at {
            return Ok(CodeTaken::Expired);
        }
        let new = judge(&code);
        kept.grant = new.as_ref().map(|new| new.grant.id.clone());
        if let Some(new) = &new {
            state
                .grants
                .insert(new.grant.id.as_str().into(), new.grant.clone());
            if let Some((token, expires_at)) = &new.refresh {
                state.add_refresh(vault.fingerprint(REFRESH, token), &new.grant, *expires_at);
            }
        }
        Ok(CodeTaken::Fresh {
            code,
            grant: new.map(|new| new.grant),
        })
    }

    async fn rotate_refresh(&self, rotation: &Rotation) -> Result<RefreshRotated> {
        let presented = self.ports.vault.fingerprint(REFRESH, &rotation.presented);
        let successor = self.ports.vault.fingerprint(REFRESH, &rotation.successor);
        let mut state = self.state();
        let row = state.refresh(&presented);
        let grant = row.as_ref().and_then(|row| state.grants.get(&row.grant).cloned());
        Ok(match refresh_verdict(rotation, row, grant, &successor) {
            RefreshVerdict::Done(done) => done,
            RefreshVerdict::Revoke(grant) => {
                state.revoke(&grant, rotation.now);
                RefreshRotated::Reused { revoked: grant }
            }
            RefreshVerdict::Rotate { grant, expires_at } => {
                if let Some(used) = state.refresh_tokens.get_mut(&presented) {
                    used.used_at = Some(rotation.now);
                    used.successor = Some(successor);
                }
                state.add_refresh(successor, &grant, expires_at);
                if let Some(kept) = state.grants.get_mut(grant.id.as_str()) {
                    kept.expires_at = kept.expires_at.max(expires_at);
                }
                RefreshRotated::Fresh { grant, expires_at }
            }
        })
    }

    async fn find_grant(&self, id: &GrantId) -> Result<Option<Grant>> {
        Ok(self.state().grants.get(id.as_str()).cloned())
    }

    async fn revoke_grant(&self, id: &GrantId, now: Ticks) -> Result<bool> {
        Ok(self.state().revoke(id, now))
    }
}
