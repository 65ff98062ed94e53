//! The audit: who signed in, what was granted, refreshed, reused, revoked. Records, never secrets.

use async_trait::async_trait;
use domain::{ClientId, GrantId, Guid, TenantId, Ticks, UserId};

use crate::Result;

/// Where a request came from, for the audit.
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
    SigningKeyRotated,
    /// Deliveries have failed for long: the webhook will be disabled.
    WebhookFailing,
    WebhookDisabled,
    /// The log no longer has what a webhook was entitled to.
    WebhookEventsLost,
    /// The receiver's host may not be the caller's.
    WebhookHostMismatch,
    WebhookReplayed,
    /// The operator has enabled, disabled, deleted or tested it.
    WebhookChanged,
}

impl AuditKind {
    pub const ALL: [Self; 17] = [
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
        Self::SigningKeyRotated,
        Self::WebhookFailing,
        Self::WebhookDisabled,
        Self::WebhookEventsLost,
        Self::WebhookHostMismatch,
        Self::WebhookReplayed,
        Self::WebhookChanged,
    ];

    /// The word under which it is kept and shown.
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
            Self::SigningKeyRotated => "signing_key_rotated",
            Self::WebhookFailing => "webhook_failing",
            Self::WebhookDisabled => "webhook_disabled",
            Self::WebhookEventsLost => "webhook_lost",
            Self::WebhookHostMismatch => "webhook_doubted",
            Self::WebhookReplayed => "webhook_replayed",
            Self::WebhookChanged => "webhook_changed",
        }
    }

    pub fn from_name(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    pub at: Ticks,
    pub kind: AuditKind,
    pub user: Option<UserId>,
    pub tenant: Option<TenantId>,
    pub client: Option<ClientId>,
    pub grant: Option<GrantId>,
    pub context: AuditContext,
    /// A few words for people.
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

    /// Whom and what a grant concerns.
    pub fn for_grant(mut self, grant: &crate::Grant) -> Self {
        self.grant = Some(grant.id.clone());
        self.user(&grant.user).tenant(&grant.tenant).client(&grant.client)
    }

    /// The entry as every store can keep it. PostgreSQL's texts hold no NUL, and what a stranger has sent
    /// must not keep its trace out of the audit.
    pub(crate) fn without_nul(mut self) -> Self {
        for text in [&mut self.context.address, &mut self.context.request_id, &mut self.note] {
            if let Some(cleaned) = without_nul(text) {
                *text = cleaned;
            }
        }
        self.user = self.user.map(|id| without_nul(id.as_str()).map_or(id, UserId::new));
        self.tenant = self.tenant.map(|id| without_nul(id.as_str()).map_or(id, TenantId::new));
        self.client = self.client.map(|id| without_nul(id.as_str()).map_or(id, ClientId::new));
        self.grant = self.grant.map(|id| without_nul(id.as_str()).map_or(id, GrantId::new));
        self
    }
}

/// The text as every store can keep it.
pub(crate) fn cleaned(text: String) -> String {
    without_nul(&text).unwrap_or(text)
}

/// The text with another character for each NUL; nothing where it has none.
fn without_nul(text: &str) -> Option<String> {
    text.contains('\0').then(|| text.replace('\0', "\u{fffd}"))
}

/// The place of a record in the audit: newest first, ties by id.
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

/// Which records are wanted; all conditions hold together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditQuery {
    /// Only what lies behind this one, that is, is older.
    pub before: Option<AuditCursor>,
    pub kind: Option<AuditKind>,
    pub user: Option<UserId>,
    pub tenant: Option<TenantId>,
    pub client: Option<ClientId>,
    pub rows_max: usize,
}

impl AuditQuery {
    /// The mark behind which it starts; none lies before the last moment of all.
    pub(crate) fn start(&self) -> AuditCursor {
        self.before.unwrap_or(AuditCursor { at: Ticks(i64::MAX), id: Guid::from_bytes([0xff; 16]) })
    }
}

#[async_trait]
pub trait Audit: Send + Sync + 'static {
    /// A NUL in a text is kept as U+FFFD.
    async fn record(&self, entry: &AuditEntry) -> Result<()>;
    /// Newest first.
    async fn audit(&self, query: &AuditQuery) -> Result<Vec<AuditRecord>>;
}
