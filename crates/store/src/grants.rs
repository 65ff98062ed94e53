//! Codes, grants and refresh tokens: what is used once is taken in one transaction, by one taker.

use async_trait::async_trait;
use domain::{ClientId, GrantId, MembershipId, Secret, TenantId, Ticks, UserId};
use std::time::Duration;

use crate::{AuditContext, AuditEntry, AuditKind, Result};

/// An authorization code that waits to be redeemed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationCode {
    pub client: ClientId,
    pub user: UserId,
    pub tenant: TenantId,
    pub expires_at: Ticks,
    /// What else it is bound to (redirect address, scopes, nonce, challenge), as its issuer writes it.
    pub details: String,
}

/// What a user allowed a client for a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    pub id: GrantId,
    pub client: ClientId,
    pub user: UserId,
    pub tenant: TenantId,
    pub details: String,
    pub created_at: Ticks,
    /// When a token was last got from it.
    pub last_used_at: Ticks,
    /// When the last token that came of it has expired.
    pub expires_at: Ticks,
    pub revoked_at: Option<Ticks>,
}

/// What a client may do for a user in a tenant, by however many grants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientAccess {
    pub user: UserId,
    pub client: ClientId,
    pub tenant: TenantId,
}

/// A grant to be made of a code, with its first refresh token where it has one.
#[derive(Clone, Debug)]
pub struct NewGrant {
    pub grant: Grant,
    pub refresh: Option<(Secret, Ticks)>,
}

/// Looks at a code that was just taken and decides whether a grant comes of it. Runs inside the
/// transaction, so it must not wait for anything.
pub type GrantDecision = Box<dyn FnOnce(&AuthorizationCode) -> Option<NewGrant> + Send>;

/// Who takes a code, and when.
#[derive(Clone, Debug)]
pub struct CodeExchange {
    pub code: Secret,
    pub client: ClientId,
    pub now: Ticks,
    pub context: AuditContext,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeOutcome {
    /// Consumed; the grant is there if the judge made one.
    Redeemed {
        code: AuthorizationCode,
        grant: Option<Grant>,
    },
    /// Already used by this client: the grant that came of it is now revoked.
    Reused {
        revoked: Option<GrantId>,
    },
    Expired,
    /// Not known, or another client's (which it stays).
    Unknown,
}

/// The exchange of a refresh token for its successor.
#[derive(Clone, Debug)]
pub struct RefreshRotation {
    pub presented: Secret,
    pub client: ClientId,
    /// Derived from the one presented, so that a retry names the same one.
    pub successor: Secret,
    pub successor_expires_at: Option<Ticks>,
    /// When the last token that this rotation gives expires; an access token may outlive the refresh token.
    pub tokens_until: Ticks,
    pub grace: Duration,
    pub now: Ticks,
    pub context: AuditContext,
}

/// A refresh token as a look-up finds it, live or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefreshToken {
    pub grant: Grant,
    pub expires_at: Ticks,
    pub is_used: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefreshOutcome {
    /// The successor is live until this moment.
    Rotated {
        grant: Grant,
        expires_at: Ticks,
    },
    /// The same exchange again, within the grace and with the successor unused: the same successor.
    Retried {
        grant: Grant,
        expires_at: Ticks,
    },
    /// Used before: the whole grant is now revoked.
    Reused {
        revoked: GrantId,
    },
    Expired,
    Revoked,
    /// Not known, or another client's.
    Unknown,
}

#[async_trait]
pub trait Grants: Send + Sync + 'static {
    /// Keeps a code, and that the user chose this membership now.
    async fn store_code(
        &self,
        code: &Secret,
        kept: &AuthorizationCode,
        chosen: &MembershipId,
        now: Ticks,
    ) -> Result<()>;

    /// Consumes a code for its client, makes the grant and records it, in one transaction. A code of which
    /// a grant came is kept until that grant's end, so that its second use is told however late.
    async fn take_code(&self, taking: &CodeExchange, judge: GrantDecision) -> Result<CodeOutcome>;

    /// Rotates, or revokes the grant where the token was used before, and records it, in one transaction.
    /// The grant lives at least as long as what the rotation gives.
    async fn rotate_refresh(&self, rotation: &RefreshRotation) -> Result<RefreshOutcome>;

    async fn find_refresh_token(&self, token: &Secret) -> Result<Option<RefreshToken>>;

    async fn find_grant(&self, id: &GrantId) -> Result<Option<Grant>>;

    /// The user's grants that are neither revoked nor expired, last used first.
    async fn live_grants(&self, user: &UserId, now: Ticks) -> Result<Vec<Grant>>;

    /// Whether a grant is there and not revoked, its client, user and tenant are active, and the user
    /// still belongs to the tenant.
    async fn is_grant_live(&self, id: &GrantId) -> Result<bool>;

    /// Revokes and records it; false where there is no such grant or it was revoked before.
    async fn revoke_grant(
        &self,
        id: &GrantId,
        now: Ticks,
        context: &AuditContext,
        note: &str,
    ) -> Result<bool>;

    /// Takes back all that a client may do for a user in a tenant: revokes the live grants and forgets codes
    /// that were not used yet, and records each revocation, in one transaction. Returns the grants, by id.
    async fn revoke_client_access(
        &self,
        access: &ClientAccess,
        now: Ticks,
        context: &AuditContext,
        note: &str,
    ) -> Result<Vec<GrantId>>;
}

/// What the audit says of a code that was taken; `before` is what came of its first use, where that is kept.
pub(crate) fn taking_entry(
    taking: &CodeExchange,
    taken: &CodeOutcome,
    before: Option<&Grant>,
) -> Option<AuditEntry> {
    let entry = |kind| AuditEntry::new(kind, taking.now, &taking.context).client(&taking.client);
    match (taken, before) {
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

/// What the audit says of a refresh token that was presented.
pub(crate) fn rotation_entry(rotation: &RefreshRotation, verdict: &RefreshDecision) -> Option<AuditEntry> {
    let entry = |kind, grant| Some(AuditEntry::new(kind, rotation.now, &rotation.context).for_grant(grant));
    match verdict {
        RefreshDecision::Rotate { grant, .. } => entry(AuditKind::Refreshed, grant),
        RefreshDecision::Revoke(grant) => entry(AuditKind::RefreshReused, grant),
        RefreshDecision::Retry { grant, .. } => {
            entry(AuditKind::Refreshed, grant).map(|entry| entry.note("the same answer again"))
        }
        RefreshDecision::Done(_) => None,
    }
}

/// What the audit says of a grant that was revoked on purpose.
pub(crate) fn revocation_entry(grant: &Grant, now: Ticks, context: &AuditContext, note: &str) -> AuditEntry {
    AuditEntry::new(AuditKind::Revoked, now, context).for_grant(grant).note(note)
}

/// Purposes of the fingerprints.
pub(crate) const CODE: &str = "authorization code";
pub(crate) const REFRESH: &str = "refresh token";

/// A refresh token as it lies in the store, with what matters of its successor.
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

/// What to do about a refresh token that was presented.
pub(crate) enum RefreshDecision {
    Done(RefreshOutcome),
    Revoke(Grant),
    /// The grant as it becomes: it lives at least as long as its tokens.
    Rotate {
        grant: Grant,
        expires_at: Ticks,
    },
    /// The same answer again; the grant as it becomes, and whether that is later than it was.
    Retry {
        grant: Grant,
        expires_at: Ticks,
        is_longer: bool,
    },
}

/// Decides, the same way for every store: one rotation, a retry within the grace, anything else is theft.
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
    // Absolute unless the caller slides it.
    let expires_at = rotation.successor_expires_at.unwrap_or(row.expires_at);
    let lives_until = lives_until(&grant, rotation, expires_at);
    let grant = Grant { expires_at: lives_until, last_used_at: rotation.now, ..grant };
    RefreshDecision::Rotate { grant, expires_at }
}

/// When the last token of a grant has expired, once a rotation has given its own.
fn lives_until(grant: &Grant, rotation: &RefreshRotation, successor_expires_at: Ticks) -> Ticks {
    grant.expires_at.max(successor_expires_at).max(rotation.tokens_until)
}
