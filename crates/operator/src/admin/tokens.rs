//! Named tokens of the operator's API: each with a role, and an end where it is given.

use std::time::Duration;

use domain::ids::OperatorTokenId;
use domain::{OperatorRole, Secret};
use store::{ListPage, ListQuery, NamedToken, TokenState};

use super::{Admin, AdminError, Permission, Result};
use crate::checks::checked_id;

/// What every secret begins with, so that scanners of code and logs find those that leaked.
pub(crate) const TOKEN_PREFIX: &str = "aldaba_op_";

const LIFETIME_MAX: Duration = Duration::from_secs(3660 * 24 * 60 * 60);

#[derive(Clone, Debug)]
pub struct NewToken {
    pub name: String,
    pub role: OperatorRole,
    /// `None`: the token does not expire.
    pub lifetime: Option<Duration>,
}

impl Admin {
    /// Adds a token. Its secret is not stored and cannot be shown again.
    pub async fn add_token(&self, new: NewToken) -> Result<(NamedToken, Secret)> {
        let context = self.require(Permission::Keys)?;
        let token = NamedToken {
            id: OperatorTokenId::from(self.random.guid()),
            name: checked_id("a token's name", &new.name)?,
            role: new.role,
            created_at: self.now(),
            created_by: context.actor.to_string(),
            expires_at: new.lifetime.map(checked_lifetime).transpose()?.map(|lifetime| self.now() + lifetime),
            last_used_at: None,
            revoked_at: None,
        };
        let secret = Secret::new(format!("{TOKEN_PREFIX}{}", self.random.token()));
        self.store.add_operator_token(&token, &secret, context).await?;
        Ok((token, secret))
    }

    /// Tokens, oldest first, also those that have expired or are revoked.
    pub async fn tokens(&self, query: &ListQuery) -> Result<ListPage<NamedToken>> {
        Ok(self.store.list_operator_tokens(query).await?)
    }

    pub async fn token(&self, id: &str) -> Result<NamedToken> {
        let token = self.store.find_operator_token(&OperatorTokenId::new(id)).await?;
        token.ok_or_else(|| AdminError::NotFound(format!("token \"{id}\"")))
    }

    /// The token with this name that is not revoked.
    pub async fn token_named(&self, name: &str) -> Result<NamedToken> {
        let token = self.store.find_operator_token_by_name(name).await?;
        token.ok_or_else(|| AdminError::NotFound(format!("token \"{name}\" that is not revoked")))
    }

    /// Revokes a token for good. A revoked one stays as it is.
    pub async fn revoke_token(&self, id: &str) -> Result<NamedToken> {
        let context = self.require(Permission::Keys)?;
        self.store.revoke_operator_token(&OperatorTokenId::new(id), self.now(), context).await?;
        self.token(id).await
    }

    pub fn token_state(&self, token: &NamedToken) -> TokenState {
        token.state(self.now())
    }
}

fn checked_lifetime(lifetime: Duration) -> Result<Duration> {
    if (Duration::from_secs(1)..=LIFETIME_MAX).contains(&lifetime) {
        return Ok(lifetime);
    }
    let days = LIFETIME_MAX.as_secs() / (24 * 60 * 60);
    Err(AdminError::Invalid(format!(
        "a token expires after 1s to {days}d; leave it out for one that does not"
    )))
}
