//! Codes, grants and refresh tokens in memory.

use std::cmp::Reverse;

use async_trait::async_trait;
use domain::{AccountId, GrantId, MembershipId, Secret, Ticks, WebhookId};

use super::{MemoryStore, State, StoredCode};
use crate::audit::Act;
use crate::grants::{
    CODE, CODE_REUSED, REFRESH, REFRESH_REUSED, RefreshDecision, RefreshRow, code_exchange_entry,
    decide_refresh, revocation_entry, rotation_entry,
};
use crate::{
    AuditContext, AuthorizationCode, AuthorizationEnd, AuthorizationFacts, ClientAccess, CodeExchange,
    CodeOutcome, EndedAuthorization, Grant, GrantDecision, Grants, OwnerAccess, Ports, RefreshOutcome,
    RefreshRotation, RefreshToken, Result, Status, StoreError, WebhookOwner,
};

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

    /// Consumes a code on its first use.
    fn redeem(
        &mut self,
        ports: &Ports,
        hash: &[u8; 32],
        exchange: &CodeExchange,
        decide: GrantDecision,
    ) -> Result<(CodeOutcome, Option<Vec<WebhookId>>)> {
        let Some(stored) = self.codes.get(hash) else { return Ok((CodeOutcome::Unknown, None)) };
        // Decide and check for duplicates first: nothing may change if this fails.
        let code = stored.code.clone();
        let is_live = exchange.now < code.expires_at;
        let new = if is_live { decide(&code) } else { None };
        if let Some(new) = &new {
            let refresh = new.refresh.as_ref();
            let refresh =
                refresh.map(|(token, expires_at)| (ports.vault.fingerprint(REFRESH, token), *expires_at));
            self.add_grant(&new.grant, refresh)?;
        }
        if let Some(stored) = self.codes.get_mut(hash) {
            stored.used = true;
            if let Some(new) = &new {
                stored.grant = Some(new.grant.id.clone());
                stored.code.expires_at = new.grant.expires_at;
            }
        }
        if !is_live {
            return Ok((CodeOutcome::Expired, None));
        }
        if let Some((new, session)) = new.as_ref().and_then(|new| Some((new, new.session?))) {
            let parties = (&new.grant.user, &new.grant.client);
            let act = Act::new(exchange.now, &exchange.context);
            self.join_session(&*ports.random, session, parties, &act);
        }
        let webhooks = new.as_ref().and_then(|new| self.add_authorization(&new.grant, new.scopes));
        Ok((CodeOutcome::Redeemed { code, grant: new.map(|new| new.grant) }, webhooks))
    }

    /// Deletes the unused codes and revokes the live grants of a client's access, with their audit entries; returns the
    /// grants. The entries come first: nothing may change if they fail.
    pub(super) fn revoke_grants(
        &mut self,
        ports: &Ports,
        access: &ClientAccess,
        now: Ticks,
        (context, note): (&AuditContext, &str),
    ) -> Vec<Grant> {
        let is_live = |grant: &&Grant| {
            ClientAccess::of(grant) == *access && grant.revoked_at.is_none() && grant.expires_at > now
        };
        let revoked_grants: Vec<Grant> = self.grants.values().filter(is_live).cloned().collect();
        for grant in &revoked_grants {
            self.append_audit(&*ports.random, revocation_entry(grant, now, context, note));
        }
        for grant in &revoked_grants {
            self.revoke(&grant.id, now);
        }
        let ClientAccess { user, client, tenant } = access;
        self.codes.retain(|_, StoredCode { code, used, .. }| {
            *used || (&code.user, &code.client, &code.tenant) != (user, client, tenant)
        });
        revoked_grants
    }

    /// A refresh token with the relevant fields of its successor.
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
    async fn store_code(
        &self,
        code: &Secret,
        stored: &AuthorizationCode,
        membership_id: &MembershipId,
        now: Ticks,
        context: &AuditContext,
    ) -> Result<()> {
        let hash = self.ports.vault.fingerprint(CODE, code);
        let mut state = self.state_mut()?;
        if state.codes.contains_key(&hash) {
            return Err(StoreError::Exists("such a code".into()));
        }
        state.append_audit(&*self.ports.random, Act::new(now, context).code_issued(stored));
        let stored = StoredCode { code: stored.clone(), used: false, grant: None };
        state.codes.insert(hash, stored);
        if let Some(membership) = state.memberships.iter_mut().find(|one| one.id == *membership_id) {
            membership.last_used_at = Some(now);
        }
        Ok(())
    }

    async fn take_code(&self, exchange: &CodeExchange, decide: GrantDecision) -> Result<CodeOutcome> {
        let hash = self.ports.vault.fingerprint(CODE, &exchange.code);
        let mut state = self.state_mut()?;
        let Some(stored) = state.codes.get(&hash).filter(|stored| stored.code.client == exchange.client)
        else {
            return Ok(CodeOutcome::Unknown);
        };
        let mut webhooks = None;
        let (outcome, before) = if stored.used {
            let revoked = stored.grant.clone();
            let is_revoked = revoked.as_ref().is_some_and(|grant| state.revoke(grant, exchange.now));
            let before =
                revoked.as_ref().and_then(|created_grant| state.grants.get(created_grant.as_str()).cloned());
            if let Some(grant) = before.as_ref().filter(|_| is_revoked) {
                let why = (&exchange.context, CODE_REUSED);
                webhooks = state.end_if_unused(&self.ports, &ClientAccess::of(grant), exchange.now, why);
            }
            (CodeOutcome::Reused { revoked }, before)
        } else {
            let redeemed = state.redeem(&self.ports, &hash, exchange, decide)?;
            webhooks = redeemed.1;
            (redeemed.0, None)
        };
        if let Some(entry) = code_exchange_entry(exchange, &outcome, before.as_ref()) {
            state.append_audit(&*self.ports.random, entry);
        }
        drop(state);
        self.access_changed_for(webhooks);
        Ok(outcome)
    }

    async fn rotate_refresh(&self, rotation: &RefreshRotation) -> Result<RefreshOutcome> {
        let presented = self.ports.vault.fingerprint(REFRESH, &rotation.presented);
        let successor = self.ports.vault.fingerprint(REFRESH, &rotation.successor);
        let mut state = self.state_mut()?;
        let row = state.refresh(&presented);
        let grant = row.as_ref().and_then(|row| state.grants.get(&row.grant).cloned());
        let decision = decide_refresh(rotation, row, grant, &successor);
        let entry = rotation_entry(rotation, &decision);
        let mut webhooks = None;
        let outcome = match decision {
            RefreshDecision::Done(done) => done,
            RefreshDecision::Revoke(grant) => {
                state.revoke(&grant.id, rotation.now);
                let why = (&rotation.context, REFRESH_REUSED);
                webhooks = state.end_if_unused(&self.ports, &ClientAccess::of(&grant), rotation.now, why);
                RefreshOutcome::Reused { revoked: grant.id }
            }
            RefreshDecision::Retry { grant, expires_at, is_longer: _ } => {
                state.grants.insert(grant.id.as_str().into(), grant.clone());
                RefreshOutcome::Retried { grant, expires_at }
            }
            RefreshDecision::Rotate { grant, expires_at } => {
                state.add_refresh(successor, &grant, expires_at)?;
                if let Some(used) = state.refresh_tokens.get_mut(&presented) {
                    used.used_at = Some(rotation.now);
                    used.successor = Some(successor);
                }
                state.grants.insert(grant.id.as_str().into(), grant.clone());
                RefreshOutcome::Rotated { grant, expires_at }
            }
        };
        if let Some(entry) = entry {
            state.append_audit(&*self.ports.random, entry);
        }
        drop(state);
        self.access_changed_for(webhooks);
        Ok(outcome)
    }

    async fn find_refresh_token(&self, token: &Secret) -> Result<Option<RefreshToken>> {
        let hash = self.ports.vault.fingerprint(REFRESH, token);
        let state = self.state();
        let Some(row) = state.refresh_tokens.get(&hash) else { return Ok(None) };
        let (expires_at, is_used) = (row.expires_at, row.used_at.is_some());
        let grant = state.grants.get(&row.grant).cloned();
        Ok(grant.map(|grant| RefreshToken { grant, expires_at, is_used }))
    }

    async fn find_grant(&self, id: &GrantId) -> Result<Option<Grant>> {
        Ok(self.state().grants.get(id.as_str()).cloned())
    }

    async fn live_grants(&self, user: &AccountId, now: Ticks) -> Result<Vec<Grant>> {
        let state = self.state();
        let is_live =
            |grant: &&Grant| grant.user == *user && grant.revoked_at.is_none() && grant.expires_at > now;
        let mut live: Vec<Grant> = state.grants.values().filter(is_live).cloned().collect();
        live.sort_by_key(|grant| (Reverse(grant.last_used_at), grant.id.clone()));
        Ok(live)
    }

    async fn is_grant_live(&self, id: &GrantId) -> Result<bool> {
        let state = self.state();
        let Some(grant) = state.grants.get(id.as_str()) else { return Ok(false) };
        let owner = WebhookOwner { tenant: grant.tenant.clone(), client: grant.client.clone() };
        let OwnerAccess { tenant, client, authorizations, .. } = state.owner_access(&owner);
        let stands = |facts: &AuthorizationFacts| {
            facts.authorization.access.user == grant.user && facts.obstacle().is_none()
        };
        Ok(grant.revoked_at.is_none()
            && [tenant, client] == [Some(Status::Active); 2]
            && authorizations.iter().any(stands))
    }

    async fn revoke_grant(
        &self,
        id: &GrantId,
        now: Ticks,
        context: &AuditContext,
        note: &str,
    ) -> Result<bool> {
        let mut state = self.state_mut()?;
        let live = state.grants.get(id.as_str()).filter(|grant| grant.revoked_at.is_none());
        let Some(grant) = live.cloned() else { return Ok(false) };
        state.append_audit(&*self.ports.random, revocation_entry(&grant, now, context, note));
        state.revoke(id, now);
        let webhooks = state.end_if_unused(&self.ports, &ClientAccess::of(&grant), now, (context, note));
        drop(state);
        self.access_changed_for(webhooks);
        Ok(true)
    }

    async fn revoke_client_access(
        &self,
        access: &ClientAccess,
        now: Ticks,
        context: &AuditContext,
        note: &str,
    ) -> Result<Vec<GrantId>> {
        let mut state = self.state_mut()?;
        let revoked_grants = state.revoke_grants(&self.ports, access, now, (context, note));
        let ended = EndedAuthorization { at: now, cause: AuthorizationEnd::Withdrawn };
        let webhooks = state.end_authorization(&self.ports, access, ended, (context, note));
        drop(state);
        self.access_changed_for(webhooks);
        Ok(revoked_grants.into_iter().map(|grant| grant.id).collect())
    }
}
