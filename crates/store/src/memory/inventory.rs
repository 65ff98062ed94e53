//! The credentials that end soon, in memory.

use async_trait::async_trait;
use domain::Ticks;

use super::MemoryStore;
use crate::inventory::soonest;
use crate::{CredentialKind, EndingCredential, Inventory, Result, StoreState};

#[async_trait]
impl Inventory for MemoryStore {
    async fn store_state(&self) -> Result<StoreState> {
        Ok(StoreState { kind: "memory", replicas: Some(Vec::new()), ..StoreState::default() })
    }

    async fn ending_credentials(
        &self,
        after: Ticks,
        until: Ticks,
        rows_max: usize,
    ) -> Result<Vec<EndingCredential>> {
        let state = self.state();
        let new = |kind, id: &str, name: &str, ends_at| EndingCredential {
            kind,
            id: id.to_owned(),
            name: name.to_owned(),
            ends_at,
        };
        let tokens = state.operator_tokens.values().filter(|token| token.revoked_at.is_none());
        let tokens = tokens.filter_map(|token| {
            Some(new(CredentialKind::OperatorToken, token.id.as_str(), &token.name, token.expires_at?))
        });
        let secrets = state.clients.values().filter_map(|stored| {
            let (one, until) = (&stored.client, stored.old.as_ref().map(|(_, until)| *until)?);
            Some(new(CredentialKind::ClientSecret, one.id.as_str(), &one.name, until))
        });
        let keys = state.keys.values().filter_map(|key| {
            let one = state.subscriptions.get(&key.subscription).filter(|one| one.cancelled_at.is_none())?;
            Some(new(CredentialKind::SubscriptionKey, one.id.as_str(), &one.name, key.valid_until?))
        });
        let is_soon = |one: &EndingCredential| one.ends_at > after && one.ends_at <= until;
        Ok(soonest(tokens.chain(secrets).chain(keys).filter(is_soon).collect(), rows_max))
    }
}
