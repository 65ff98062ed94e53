//! What was done: the kinds of audit entries and their names.

/// A kind of audit entry. The names are part of the format that `aldaba audit --json` prints: never rename one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditKind {
    SignedIn,
    /// Counted per account and minute.
    SignInFailed,
    SignedOut,
    ConsentDenied,
    ClientRefused,
    /// A user let a client have an authorization code for a tenant.
    CodeIssued,
    Granted,
    Refreshed,
    CodeReused,
    RefreshReused,
    Revoked,
    /// An application's access to a tenant in a user's name has ended.
    AccessEnded,
    TenantAdded,
    TenantChanged,
    TenantErased,
    UserAdded,
    UserChanged,
    MembershipAdded,
    /// A member became an administrator of the tenant, or no longer is one.
    MembershipChanged,
    MembershipRemoved,
    ClientAdded,
    ClientChanged,
    ClientSecretRotated,
    SubscriptionAdded,
    SubscriptionChanged,
    SubscriptionCancelled,
    SubscriptionKeyRotated,
    /// A signing key was added.
    SigningKeyRotated,
    SigningKeyRetired,
    SigningKeyDeleted,
    WebhookSubscribed,
    /// Enabled, disabled, sent to another URL, or tested.
    WebhookChanged,
    WebhookSecretRotated,
    WebhookReplayed,
    WebhookUnsubscribed,
    WebhookDeleted,
    /// Deliveries have failed for so long that the webhook is about to be disabled.
    WebhookFailing,
    /// The service disabled the webhook.
    WebhookDisabled,
    /// The log no longer holds events that the webhook was entitled to.
    WebhookEventsLost,
    /// The receiver's host may not belong to the caller.
    WebhookHostMismatch,
    /// Its owner's access does not stand: nothing is sent until it does.
    WebhookSuspended,
    WebhookResumed,
    /// A backup was restored into this store.
    Restored,
}

impl AuditKind {
    pub const ALL: [Self; 43] = [
        Self::SignedIn,
        Self::SignInFailed,
        Self::SignedOut,
        Self::ConsentDenied,
        Self::ClientRefused,
        Self::CodeIssued,
        Self::Granted,
        Self::Refreshed,
        Self::CodeReused,
        Self::RefreshReused,
        Self::Revoked,
        Self::AccessEnded,
        Self::TenantAdded,
        Self::TenantChanged,
        Self::TenantErased,
        Self::UserAdded,
        Self::UserChanged,
        Self::MembershipAdded,
        Self::MembershipChanged,
        Self::MembershipRemoved,
        Self::ClientAdded,
        Self::ClientChanged,
        Self::ClientSecretRotated,
        Self::SubscriptionAdded,
        Self::SubscriptionChanged,
        Self::SubscriptionCancelled,
        Self::SubscriptionKeyRotated,
        Self::SigningKeyRotated,
        Self::SigningKeyRetired,
        Self::SigningKeyDeleted,
        Self::WebhookSubscribed,
        Self::WebhookChanged,
        Self::WebhookSecretRotated,
        Self::WebhookReplayed,
        Self::WebhookUnsubscribed,
        Self::WebhookDeleted,
        Self::WebhookFailing,
        Self::WebhookDisabled,
        Self::WebhookEventsLost,
        Self::WebhookHostMismatch,
        Self::WebhookSuspended,
        Self::WebhookResumed,
        Self::Restored,
    ];

    /// The name in the database and in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SignedIn => "signed_in",
            Self::SignInFailed => "sign_in_failed",
            Self::SignedOut => "signed_out",
            Self::ConsentDenied => "consent_denied",
            Self::ClientRefused => "client_refused",
            Self::CodeIssued => "code_issued",
            Self::Granted => "granted",
            Self::Refreshed => "refreshed",
            Self::CodeReused => "code_reused",
            Self::RefreshReused => "refresh_reused",
            Self::Revoked => "revoked",
            Self::AccessEnded => "access_ended",
            Self::TenantAdded => "tenant_added",
            Self::TenantChanged => "tenant_changed",
            Self::TenantErased => "tenant_erased",
            Self::UserAdded => "user_added",
            Self::UserChanged => "user_changed",
            Self::MembershipAdded => "membership_added",
            Self::MembershipChanged => "membership_changed",
            Self::MembershipRemoved => "membership_removed",
            Self::ClientAdded => "client_added",
            Self::ClientChanged => "client_changed",
            Self::ClientSecretRotated => "client_secret_rotated",
            Self::SubscriptionAdded => "subscription_added",
            Self::SubscriptionChanged => "subscription_changed",
            Self::SubscriptionCancelled => "subscription_cancelled",
            Self::SubscriptionKeyRotated => "subscription_key_rotated",
            Self::SigningKeyRotated => "signing_key_rotated",
            Self::SigningKeyRetired => "signing_key_retired",
            Self::SigningKeyDeleted => "signing_key_deleted",
            Self::WebhookSubscribed => "webhook_subscribed",
            Self::WebhookChanged => "webhook_changed",
            Self::WebhookSecretRotated => "webhook_secret_rotated",
            Self::WebhookReplayed => "webhook_replayed",
            Self::WebhookUnsubscribed => "webhook_unsubscribed",
            Self::WebhookDeleted => "webhook_deleted",
            Self::WebhookFailing => "webhook_failing",
            Self::WebhookDisabled => "webhook_disabled",
            Self::WebhookEventsLost => "webhook_lost",
            Self::WebhookHostMismatch => "webhook_doubted",
            Self::WebhookSuspended => "webhook_suspended",
            Self::WebhookResumed => "webhook_resumed",
            Self::Restored => "restored",
        }
    }

    pub fn from_name(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}
