//! Named tokens of the operator's API. The store holds a keyed hash of a token's secret, never the secret.

use std::time::Duration;

use async_trait::async_trait;
use domain::ids::OperatorTokenId;
use domain::{OperatorRole, Secret, Ticks};

use crate::{AuditContext, ListPage, ListQuery, Result};

/// Purpose of the hash of a token's secret.
pub(crate) const OPERATOR_TOKEN: &str = "operator token";

/// How exactly the last use of a token is known; so many requests with one token cost one write.
pub const TOKEN_USE_PRECISION: Duration = Duration::from_secs(60);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedToken {
    pub id: OperatorTokenId,
    /// Unique among the tokens that are not revoked.
    pub name: String,
    pub role: OperatorRole,
    pub created_at: Ticks,
    /// Who added it, as the audit names them.
    pub created_by: String,
    pub expires_at: Option<Ticks>,
    pub last_used_at: Option<Ticks>,
    pub revoked_at: Option<Ticks>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenState {
    Live,
    Expired,
    Revoked,
}

impl NamedToken {
    pub fn state(&self, now: Ticks) -> TokenState {
        if self.revoked_at.is_some() {
            TokenState::Revoked
        } else if self.expires_at.is_some_and(|at| at <= now) {
            TokenState::Expired
        } else {
            TokenState::Live
        }
    }

    /// Whether a use at this time is worth a write.
    pub fn is_use_to_record(&self, at: Ticks) -> bool {
        self.last_used_at.is_none_or(|last| last + TOKEN_USE_PRECISION <= at)
    }

    /// For messages.
    pub(crate) fn described(&self) -> String {
        format!("a token \"{}\"", self.name)
    }
}

/// Every mutation and its audit entry are one transaction; the last use has none.
#[async_trait]
pub trait OperatorTokens: Send + Sync + 'static {
    /// `Exists` where a token that is not revoked has the name.
    async fn add_operator_token(
        &self,
        token: &NamedToken,
        secret: &Secret,
        context: &AuditContext,
    ) -> Result<()>;
    /// Also those that have expired or are revoked.
    async fn list_operator_tokens(&self, query: &ListQuery) -> Result<ListPage<NamedToken>>;
    /// The same, of those that one actor has added, as the audit names them.
    async fn list_operator_tokens_by(
        &self,
        created_by: &str,
        query: &ListQuery,
    ) -> Result<ListPage<NamedToken>>;
    async fn find_operator_token(&self, id: &OperatorTokenId) -> Result<Option<NamedToken>>;
    /// The token with this name that is not revoked.
    async fn find_operator_token_by_name(&self, name: &str) -> Result<Option<NamedToken>>;
    /// The token with this secret, in whatever state it is.
    async fn find_operator_token_by_secret(&self, secret: &Secret) -> Result<Option<NamedToken>>;
    /// Revokes a token for good. False if it is unknown, or revoked already.
    async fn revoke_operator_token(
        &self,
        id: &OperatorTokenId,
        now: Ticks,
        context: &AuditContext,
    ) -> Result<bool>;
    /// Records a use, unless another one was recorded less than `TOKEN_USE_PRECISION` before it.
    async fn record_operator_token_use(&self, id: &OperatorTokenId, at: Ticks) -> Result<()>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_lives_until_it_expires_or_is_revoked() {
        let token = NamedToken {
            id: OperatorTokenId::new("1"),
            name: "nightly".into(),
            role: OperatorRole::Viewer,
            created_at: Ticks(0),
            created_by: "cli".into(),
            expires_at: Some(Ticks(10)),
            last_used_at: None,
            revoked_at: None,
        };
        assert_eq!([9, 10, 11].map(|at| token.state(Ticks(at)) == TokenState::Live), [true, false, false]);
        assert_eq!(token.state(Ticks(10)), TokenState::Expired);
        let eternal = NamedToken { expires_at: None, ..token.clone() };
        assert_eq!(eternal.state(Ticks(i64::MAX)), TokenState::Live);
        let revoked = NamedToken { revoked_at: Some(Ticks(5)), ..token };
        assert_eq!(revoked.state(Ticks(4)), TokenState::Revoked);
    }
}
