//! Authorization codes, grants and refresh tokens. Each single-use credential is consumed in one transaction.

use async_trait::async_trait;
use domain::{AccountId, ClientId, GrantId, MembershipId, Scopes, Secret, TenantId, Ticks};
use std::time::Duration;

use crate::{AuditContext, AuditEntry, AuditKind, GrantSession, Result};

/// An authorization code that has not been redeemed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationCode {
    pub client: ClientId,
    pub user: AccountId,
    pub tenant: TenantId,
    pub expires_at: Ticks,
    /// The other values that the code is bound to (redirect URI, scopes, nonce, code challenge), in the
    /// issuer's own format.
    pub details: String,
}

/// A user's authorization of a client for a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    pub id: GrantId,
    pub client: ClientId,
    pub user: AccountId,
    pub tenant: TenantId,
    pub details: String,
    pub created_at: Ticks,
    /// When a token was last issued from it.
    pub last_used_at: Ticks,
    /// When the last token issued from it expires.
    pub expires_at: Ticks,
    pub revoked_at: Option<Ticks>,
}

/// A client's access to a user's data in a tenant, through any number of grants.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClientAccess {
    pub user: AccountId,
    pub client: ClientId,
    pub tenant: TenantId,
}

impl ClientAccess {
    pub fn of(grant: &Grant) -> Self {
        Self { user: grant.user.clone(), client: grant.client.clone(), tenant: grant.tenant.clone() }
    }
}

/// The grant to create from a code, with its first refresh token if it has one.
#[derive(Clone, Debug)]
pub struct NewGrant {
    pub grant: Grant,
    /// What the user allows the client; an authorization that stands is widened by it.
    pub scopes: Scopes,
    pub refresh: Option<(Secret, Ticks)>,
    /// The session in which the client gets an id_token; it is told when the session ends.
    pub session: Option<GrantSession>,
}

/// Decides, after a code was consumed, which grant to create, if any. Runs inside the transaction, so it must
/// not block.
pub type GrantDecision = Box<dyn FnOnce(&AuthorizationCode) -> Option<NewGrant> + Send>;

/// A client's attempt to redeem a code.
#[derive(Clone, Debug)]
pub struct CodeExchange {
    pub code: Secret,
    pub client: ClientId,
    pub now: Ticks,
    pub context: AuditContext,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeOutcome {
    /// The code was consumed; `grant` is what the decision created.
    Redeemed {
        code: AuthorizationCode,
        grant: Option<Grant>,
    },
    /// The client had already redeemed the code: the grant created from it is now revoked.
    Reused {
        revoked: Option<GrantId>,
    },
    Expired,
    /// The code is unknown or belongs to another client (and is left alone).
    Unknown,
}

/// The exchange of a refresh token for its successor.
#[derive(Clone, Debug)]
pub struct RefreshRotation {
    pub presented: Secret,
    pub client: ClientId,
    /// Derived from the presented token, so a retry yields the same successor.
    pub successor: Secret,
    pub successor_expires_at: Option<Ticks>,
    /// When the last token issued by this rotation expires; an access token may outlive the refresh token.
    pub tokens_until: Ticks,
    pub grace: Duration,
    pub now: Ticks,
    pub context: AuditContext,
}

/// A refresh token, valid or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefreshToken {
    pub grant: Grant,
    pub expires_at: Ticks,
    pub is_used: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefreshOutcome {
    /// The successor is valid until `expires_at`.
    Rotated {
        grant: Grant,
        expires_at: Ticks,
    },
    /// The same exchange was repeated within the grace period and the successor is unused: the same successor
    /// is returned.
    Retried {
        grant: Grant,
        expires_at: Ticks,
    },
    /// The token had been used before: its grant is now revoked.
    Reused {
        revoked: GrantId,
    },
    Expired,
    Revoked,
    /// The token is unknown or belongs to another client.
    Unknown,
}

#[async_trait]
pub trait Grants: Send + Sync + 'static {
    /// Stores a code, records that the user chose this membership, and audits it.
    async fn store_code(
        &self,
        code: &Secret,
        issued: &AuthorizationCode,
        membership_id: &MembershipId,
        now: Ticks,
        context: &AuditContext,
    ) -> Result<()>;

    /// Consumes a client's code, creates the grant, makes or widens the user's authorization and appends to the audit trail, in one transaction. A code
    /// with a grant is retained until the grant expires, so that a second use is detected however late it
    /// comes.
    async fn take_code(&self, exchange: &CodeExchange, decide: GrantDecision) -> Result<CodeOutcome>;

    /// Rotates a refresh token, or revokes the grant if the token was used before, and appends to the audit
    /// trail, in one transaction. The grant expires no earlier than the tokens of the rotation.
    async fn rotate_refresh(&self, rotation: &RefreshRotation) -> Result<RefreshOutcome>;

    async fn find_refresh_token(&self, token: &Secret) -> Result<Option<RefreshToken>>;

    async fn find_grant(&self, id: &GrantId) -> Result<Option<Grant>>;

    /// The user's grants that are neither revoked nor expired, most recently used first.
    async fn live_grants(&self, user: &AccountId, now: Ticks) -> Result<Vec<Grant>>;

    /// Whether the grant exists, is not revoked, and its authorization stands.
    async fn is_grant_live(&self, id: &GrantId) -> Result<bool>;

    /// Revokes a grant and audits it; where no unexpired grant is left, the authorization ends too. False if the grant does not exist or was already revoked.
    async fn revoke_grant(
        &self,
        id: &GrantId,
        now: Ticks,
        context: &AuditContext,
        note: &str,
    ) -> Result<bool>;

    /// Ends a user's authorization of a client for a tenant: revokes the live grants, deletes unused codes
    /// and audits, in one transaction. Returns the revoked grants by id.
    async fn revoke_client_access(
        &self,
        access: &ClientAccess,
        now: Ticks,
        context: &AuditContext,
        note: &str,
    ) -> Result<Vec<GrantId>>;
}

/// The audit entry for a code exchange; `before` is the grant of the code's first use, if it still exists.
pub(crate) fn code_exchange_entry(
    exchange: &CodeExchange,
    outcome: &CodeOutcome,
    before: Option<&Grant>,
) -> Option<AuditEntry> {
    let entry = |kind| AuditEntry::new(kind, exchange.now, &exchange.context).client(&exchange.client);
    match (outcome, before) {
        (CodeOutcome::Redeemed { grant: Some(grant), .. }, _) => {
            Some(entry(AuditKind::Granted).for_grant(grant))
        }
        (CodeOutcome::Reused { .. }, Some(before)) => Some(entry(AuditKind::CodeReused).for_grant(before)),
        (CodeOutcome::Reused { revoked }, None) => {
            Some(AuditEntry { grant: revoked.clone(), ..entry(AuditKind::CodeReused) })
        }
        (CodeOutcome::Redeemed { grant: None, .. } | CodeOutcome::Expired | CodeOutcome::Unknown, _) => None,
    }
}

/// The audit entry for a presented refresh token.
pub(crate) fn rotation_entry(rotation: &RefreshRotation, decision: &RefreshDecision) -> Option<AuditEntry> {
    let entry = |kind, grant| Some(AuditEntry::new(kind, rotation.now, &rotation.context).for_grant(grant));
    match decision {
        RefreshDecision::Rotate { grant, .. } => entry(AuditKind::Refreshed, grant),
        RefreshDecision::Revoke(grant) => entry(AuditKind::RefreshReused, grant),
        RefreshDecision::Retry { grant, .. } => {
            entry(AuditKind::Refreshed, grant).map(|entry| entry.note("the same answer again"))
        }
        RefreshDecision::Done(_) => None,
    }
}

/// The audit entry for a deliberate revocation.
pub(crate) fn revocation_entry(grant: &Grant, now: Ticks, context: &AuditContext, note: &str) -> AuditEntry {
    AuditEntry::new(AuditKind::Revoked, now, context).for_grant(grant).note(note)
}

/// Why an authorization ended with a credential that was used twice.
pub(crate) const CODE_REUSED: &str = "an authorization code was used twice";
pub(crate) const REFRESH_REUSED: &str = "a refresh token was used twice";

/// Purposes of the keyed hashes.
pub(crate) const CODE: &str = "authorization code";
pub(crate) const REFRESH: &str = "refresh token";

/// A stored refresh token with the relevant columns of its successor.
#[derive(Clone, Debug)]
pub(crate) struct RefreshRow {
    pub(crate) client: ClientId,
    pub(crate) grant: Box<str>,
    pub(crate) expires_at: Ticks,
    pub(crate) used_at: Option<Ticks>,
    pub(crate) successor: Option<[u8; 32]>,
    pub(crate) successor_used: bool,
    pub(crate) successor_expires_at: Option<Ticks>,
}

/// What to do with a presented refresh token.
pub(crate) enum RefreshDecision {
    Done(RefreshOutcome),
    Revoke(Grant),
    /// The updated grant, which expires no earlier than its tokens.
    Rotate {
        grant: Grant,
        expires_at: Ticks,
    },
    /// Return the same successor again; the updated grant, and whether it now expires later.
    Retry {
        grant: Grant,
        expires_at: Ticks,
        is_longer: bool,
    },
}

/// Decides alike for every store: the first use rotates, a repetition within the grace period is a retry, and
/// anything else is treated as theft.
pub(crate) fn decide_refresh(
    rotation: &RefreshRotation,
    row: Option<RefreshRow>,
    grant: Option<Grant>,
    successor: &[u8; 32],
) -> RefreshDecision {
    let (Some(row), Some(grant)) = (row, grant) else {
        return RefreshDecision::Done(RefreshOutcome::Unknown);
    };
    if row.client != rotation.client {
        return RefreshDecision::Done(RefreshOutcome::Unknown);
    }
    if grant.revoked_at.is_some() {
        return RefreshDecision::Done(RefreshOutcome::Revoked);
    }
    if let Some(used_at) = row.used_at {
        let in_grace = rotation.now.since(used_at) <= rotation.grace;
        if in_grace && !row.successor_used && row.successor == Some(*successor) {
            let expires_at = row.successor_expires_at.unwrap_or(row.expires_at);
            let lives_until = lives_until(&grant, rotation, expires_at);
            let is_longer = lives_until > grant.expires_at;
            let grant = Grant { expires_at: lives_until, ..grant };
            return RefreshDecision::Retry { grant, expires_at, is_longer };
        }
        return RefreshDecision::Revoke(grant);
    }
    if rotation.now >= row.expires_at {
        return RefreshDecision::Done(RefreshOutcome::Expired);
    }
    // The lifetime is absolute unless the caller asks for sliding expiry.
    let expires_at = rotation.successor_expires_at.unwrap_or(row.expires_at);
    let lives_until = lives_until(&grant, rotation, expires_at);
    let grant = Grant { expires_at: lives_until, last_used_at: rotation.now, ..grant };
    RefreshDecision::Rotate { grant, expires_at }
}

/// When the last token of the grant expires, including the tokens of this rotation.
fn lives_until(grant: &Grant, rotation: &RefreshRotation, successor_expires_at: Ticks) -> Ticks {
    grant.expires_at.max(successor_expires_at).max(rotation.tokens_until)
}
