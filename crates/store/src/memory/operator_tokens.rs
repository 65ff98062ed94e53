//! Named tokens of the operator's API in memory.

use async_trait::async_trait;
use domain::ids::OperatorTokenId;
use domain::{Secret, Ticks};

use super::MemoryStore;
use crate::operator_tokens::OPERATOR_TOKEN;
use crate::{AuditContext, ListPage, ListQuery, NamedToken, OperatorTokens, Result, StoreError};

#[async_trait]
impl OperatorTokens for MemoryStore {
    async fn add_operator_token(
        &self,
        token: &NamedToken,
        secret: &Secret,
        context: &AuditContext,
    ) -> Result<()> {
        let hash = self.ports.vault.fingerprint(OPERATOR_TOKEN, secret);
        let mut state = self.state_mut()?;
        let is_taken = |other: &NamedToken| {
            let is_same_name = other.name == token.name && other.revoked_at.is_none();
            other.id == token.id || (is_same_name && token.revoked_at.is_none())
        };
        if state.operator_tokens.contains_key(&hash) || state.operator_tokens.values().any(is_taken) {
            return Err(StoreError::Exists(token.described()));
        }
        state.operator_tokens.insert(hash, token.clone());
        state.append_audit(&*self.ports.random, self.act(context).operator_token_added(token));
        Ok(())
    }

    async fn list_operator_tokens(&self, query: &ListQuery) -> Result<ListPage<NamedToken>> {
        Ok(query.page_of_all(self.state().operator_tokens.values().cloned()))
    }

    async fn list_operator_tokens_by(
        &self,
        created_by: &str,
        query: &ListQuery,
    ) -> Result<ListPage<NamedToken>> {
        let state = self.state();
        let made = state.operator_tokens.values().filter(|token| token.created_by == created_by);
        Ok(query.page_of_all(made.cloned()))
    }

    async fn find_operator_token(&self, id: &OperatorTokenId) -> Result<Option<NamedToken>> {
        Ok(self.state().operator_tokens.values().find(|token| token.id == *id).cloned())
    }

    async fn find_operator_token_by_name(&self, name: &str) -> Result<Option<NamedToken>> {
        let state = self.state();
        let mut live = state.operator_tokens.values().filter(|token| token.revoked_at.is_none());
        Ok(live.find(|token| token.name == name).cloned())
    }

    async fn find_operator_token_by_secret(&self, secret: &Secret) -> Result<Option<NamedToken>> {
        let hash = self.ports.vault.fingerprint(OPERATOR_TOKEN, secret);
        Ok(self.state().operator_tokens.get(&hash).cloned())
    }

    async fn revoke_operator_token(
        &self,
        id: &OperatorTokenId,
        now: Ticks,
        context: &AuditContext,
    ) -> Result<bool> {
        let mut state = self.state_mut()?;
        let mut tokens = state.operator_tokens.values_mut();
        let Some(token) = tokens.find(|token| token.id == *id && token.revoked_at.is_none()) else {
            return Ok(false);
        };
        token.revoked_at = Some(now);
        let after = token.clone();
        state.append_audit(&*self.ports.random, self.act(context).operator_token_revoked(&after));
        Ok(true)
    }

    async fn record_operator_token_use(&self, id: &OperatorTokenId, at: Ticks) -> Result<()> {
        let mut state = self.state_mut()?;
        let token = state.operator_tokens.values_mut().find(|token| token.id == *id);
        if let Some(token) = token.filter(|token| token.is_use_to_record(at)) {
            token.last_used_at = Some(at);
        }
        Ok(())
    }
}
