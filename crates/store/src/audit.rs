//! The audit trail: sign-ins, grants, refreshes, reuse, revocations, webhook changes. It never holds secrets.

use async_trait::async_trait;
use domain::{ClientId, GrantId, Guid, TenantId, Ticks, UserId};

use crate::Result;

/// Where an audited request came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditContext {
    pub address: String,
    pub request_id: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditKind {
    SignedIn,
    SignInFailed,
    SignedOut,
    ConsentDenied,
    ClientRefused,
    Granted,
    Refreshed,
    CodeReused,
    RefreshReused,
    Revoked,
    /// An application's access to a tenant in a user's name has ended.
    AccessEnded,
    /// A member became an administrator of the tenant, or no longer is one.
    MembershipChanged,
    SigningKeyRotated,
    /// Deliveries have failed for so long that the webhook is about to be disabled.
    WebhookFailing,
    WebhookDisabled,
    /// The log no longer holds events that the webhook was entitled to.
    WebhookEventsLost,
    /// The receiver's host may not belong to the caller.
    WebhookHostMismatch,
    WebhookReplayed,
    /// Its owner's access does not stand: nothing is sent until it does.
    WebhookSuspended,
    WebhookResumed,
    /// The operator enabled, disabled, deleted or tested the webhook.
    WebhookChanged,
}

impl AuditKind {
    pub const ALL: [Self; 21] = [
        Self::SignedIn,
        Self::SignInFailed,
        Self::SignedOut,
        Self::ConsentDenied,
        Self::ClientRefused,
        Self::Granted,
        Self::Refreshed,
        Self::CodeReused,
        Self::RefreshReused,
        Self::Revoked,
        Self::AccessEnded,
        Self::MembershipChanged,
        Self::SigningKeyRotated,
        Self::WebhookFailing,
        Self::WebhookDisabled,
        Self::WebhookEventsLost,
        Self::WebhookHostMismatch,
        Self::WebhookReplayed,
        Self::WebhookSuspended,
        Self::WebhookResumed,
        Self::WebhookChanged,
    ];

    /// The name in the database and in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SignedIn => "signed_in",
            Self::SignInFailed => "sign_in_failed",
            Self::SignedOut => "signed_out",
            Self::ConsentDenied => "consent_denied",
            Self::ClientRefused => "client_refused",
            Self::Granted => "granted",
            Self::Refreshed => "refreshed",
            Self::CodeReused => "code_reused",
            Self::RefreshReused => "refresh_reused",
            Self::Revoked => "revoked",
            Self::AccessEnded => "access_ended",
            Self::MembershipChanged => "membership_changed",
            Self::SigningKeyRotated => "signing_key_rotated",
            Self::WebhookFailing => "webhook_failing",
            Self::WebhookDisabled => "webhook_disabled",
            Self::WebhookEventsLost => "webhook_lost",
            Self::WebhookHostMismatch => "webhook_doubted",
            Self::WebhookReplayed => "webhook_replayed",
            Self::WebhookSuspended => "webhook_suspended",
            Self::WebhookResumed => "webhook_resumed",
            Self::WebhookChanged => "webhook_changed",
        }
    }

    pub fn from_name(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// One audited action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    pub at: Ticks,
    pub kind: AuditKind,
    pub user: Option<UserId>,
    pub tenant: Option<TenantId>,
    pub client: Option<ClientId>,
    pub grant: Option<GrantId>,
    pub context: AuditContext,
    /// A short text for people.
    pub note: String,
}

impl AuditEntry {
    pub fn new(kind: AuditKind, at: Ticks, context: &AuditContext) -> Self {
        let context = context.clone();
        Self { at, kind, user: None, tenant: None, client: None, grant: None, context, note: String::new() }
    }

    pub fn user(mut self, user: &UserId) -> Self {
        self.user = Some(user.clone());
        self
    }

    pub fn tenant(mut self, tenant: &TenantId) -> Self {
        self.tenant = Some(tenant.clone());
        self
    }

    pub fn client(mut self, client: &ClientId) -> Self {
        self.client = Some(client.clone());
        self
    }

    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Sets the grant, its user, its tenant and its client.
    pub fn for_grant(mut self, grant: &crate::Grant) -> Self {
        self.grant = Some(grant.id.clone());
        self.user(&grant.user).tenant(&grant.tenant).client(&grant.client)
    }

    /// Replaces NULs, which PostgreSQL's text columns reject: a NUL sent by a client must not keep the action
    /// out of the audit trail.
    pub(crate) fn without_nul(mut self) -> Self {
        for text in [&mut self.context.address, &mut self.context.request_id, &mut self.note] {
            if let Some(replace_nul) = without_nul(text) {
                *text = replace_nul;
            }
        }
        self.user = self.user.map(|id| without_nul(id.as_str()).map_or(id, UserId::new));
        self.tenant = self.tenant.map(|id| without_nul(id.as_str()).map_or(id, TenantId::new));
        self.client = self.client.map(|id| without_nul(id.as_str()).map_or(id, ClientId::new));
        self.grant = self.grant.map(|id| without_nul(id.as_str()).map_or(id, GrantId::new));
        self
    }
}

/// The text with U+FFFD for each NUL.
pub(crate) fn replace_nul(text: String) -> String {
    without_nul(&text).unwrap_or(text)
}

/// The text with U+FFFD for each NUL, or none if it has no NUL.
fn without_nul(text: &str) -> Option<String> {
    text.contains('\0').then(|| text.replace('\0', "\u{fffd}"))
}

/// The position of a record in the audit trail, which is ordered newest first, ties by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AuditCursor {
    pub at: Ticks,
    pub id: Guid,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRecord {
    pub id: Guid,
    pub entry: AuditEntry,
}

impl AuditRecord {
    pub fn cursor(&self) -> AuditCursor {
        AuditCursor { at: self.entry.at, id: self.id }
    }
}

/// Filters for audit records; all conditions must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditQuery {
    /// Only records older than this one.
    pub before: Option<AuditCursor>,
    pub kind: Option<AuditKind>,
    pub user: Option<UserId>,
    pub tenant: Option<TenantId>,
    pub client: Option<ClientId>,
    pub rows_max: usize,
}

impl AuditQuery {
    /// The cursor to start from; without one, the greatest possible.
    pub(crate) fn start(&self) -> AuditCursor {
        self.before.unwrap_or(AuditCursor { at: Ticks(i64::MAX), id: Guid::from_bytes([0xff; 16]) })
    }
}

#[async_trait]
pub trait Audit: Send + Sync + 'static {
    /// Appends a record. A NUL in a text is stored as U+FFFD.
    async fn record(&self, entry: &AuditEntry) -> Result<()>;
    /// Newest first.
    async fn audit(&self, query: &AuditQuery) -> Result<Vec<AuditRecord>>;
}
