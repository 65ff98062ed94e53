//! What was done: the kinds of audit entries and their names.

use domain::Realm;

/// Defines the kinds, their names and the list of all.
macro_rules! audit_kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal,)*) => {
        /// A kind of audit entry. The names are part of the format that `aldaba audit --json` prints: never rename one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum AuditKind {
            $($(#[$doc])* $kind,)*
        }

        impl AuditKind {
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$kind),*];

            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }
    };
}

audit_kinds! {
    SignedIn = "signed_in",
    /// Counted per account and minute.
    SignInFailed = "sign_in_failed",
    SignedOut = "signed_out",
    DeveloperSignedIn = "developer_signed_in",
    /// Counted per account and minute.
    DeveloperSignInFailed = "developer_sign_in_failed",
    DeveloperSignedOut = "developer_signed_out",
    OperatorSignedIn = "operator_signed_in",
    /// Counted per account and minute.
    OperatorSignInFailed = "operator_sign_in_failed",
    OperatorSignedOut = "operator_signed_out",
    /// Somebody ended sessions of an account at its page.
    SessionsEnded = "sessions_ended",
    /// A client is to be told that a session in which it got an id_token has ended.
    LogoutQueued = "backchannel_logout_queued",
    LogoutDelivered = "backchannel_logout_delivered",
    /// The client refused it, or it was given up.
    LogoutFailed = "backchannel_logout_failed",
    SecondFactorAdded = "second_factor_added",
    SecondFactorRenamed = "second_factor_renamed",
    SecondFactorRemoved = "second_factor_removed",
    /// An operator removed all factors of an account.
    SecondFactorReset = "second_factor_reset",
    RecoveryCodesMade = "recovery_codes_made",
    RecoveryCodeUsed = "recovery_code_used",
    ConsentDenied = "consent_denied",
    ClientRefused = "client_refused",
    /// A user let a client have an authorization code for a tenant.
    CodeIssued = "code_issued",
    Granted = "granted",
    Refreshed = "refreshed",
    CodeReused = "code_reused",
    RefreshReused = "refresh_reused",
    Revoked = "revoked",
    /// An application's access to a tenant in a user's name has ended.
    AccessEnded = "access_ended",
    TenantAdded = "tenant_added",
    TenantChanged = "tenant_changed",
    TenantErased = "tenant_erased",
    UserAdded = "user_added",
    UserChanged = "user_changed",
    DeveloperAdded = "developer_added",
    DeveloperChanged = "developer_changed",
    OperatorAdded = "operator_added",
    OperatorChanged = "operator_changed",
    InvitationMade = "invitation_made",
    /// An invitation got a new link.
    InvitationResent = "invitation_resent",
    InvitationRevoked = "invitation_revoked",
    InvitationAccepted = "invitation_accepted",
    PasswordResetRequested = "password_reset_requested",
    /// A password was set with the link of a reset.
    PasswordReset = "password_reset",
    MembershipAdded = "membership_added",
    /// A member became an administrator of the tenant, or no longer is one.
    MembershipChanged = "membership_changed",
    MembershipRemoved = "membership_removed",
    ClientAdded = "client_added",
    ClientChanged = "client_changed",
    ClientSecretRotated = "client_secret_rotated",
    SubscriptionAdded = "subscription_added",
    SubscriptionChanged = "subscription_changed",
    SubscriptionCancelled = "subscription_cancelled",
    SubscriptionKeyRotated = "subscription_key_rotated",
    /// Somebody has seen a key of a subscription again.
    SubscriptionKeyRevealed = "subscription_key_revealed",
    TeamAdded = "team_added",
    TeamChanged = "team_changed",
    TeamMemberAdded = "team_member_added",
    /// A member became an owner of the team, or no longer is one.
    TeamMemberChanged = "team_member_changed",
    TeamMemberRemoved = "team_member_removed",
    /// A member chose which notices come as mail.
    NoticePreferencesChanged = "notice_preferences_changed",
    /// A team asked for a client, a redirect address or a subscription.
    RequestAdded = "request_added",
    RequestApproved = "request_approved",
    RequestRefused = "request_refused",
    RequestWithdrawn = "request_withdrawn",
    /// A team got a sandbox.
    SandboxAdded = "sandbox_added",
    /// The sandbox of a team was taken back to its beginning.
    SandboxReset = "sandbox_reset",
    /// The built-in receiver of a sandbox was told how to answer.
    SandboxReceiverChanged = "sandbox_receiver_changed",
    /// An operator edited a record of a tenant by hand.
    RecordEdited = "record_edited",
    /// A named token of the operator's API was added.
    OperatorTokenAdded = "operator_token_added",
    OperatorTokenRevoked = "operator_token_revoked",
    /// A signing key was added.
    SigningKeyRotated = "signing_key_rotated",
    SigningKeyRetired = "signing_key_retired",
    SigningKeyDeleted = "signing_key_deleted",
    WebhookSubscribed = "webhook_subscribed",
    /// Enabled, disabled, sent to another URL, or tested.
    WebhookChanged = "webhook_changed",
    WebhookSecretRotated = "webhook_secret_rotated",
    WebhookReplayed = "webhook_replayed",
    WebhookUnsubscribed = "webhook_unsubscribed",
    WebhookDeleted = "webhook_deleted",
    /// Deliveries have failed for so long that the webhook is about to be disabled.
    WebhookFailing = "webhook_failing",
    /// The service disabled the webhook.
    WebhookDisabled = "webhook_disabled",
    /// The log no longer holds events that the webhook was entitled to.
    WebhookEventsLost = "webhook_lost",
    /// The receiver's host may not belong to the caller.
    WebhookHostMismatch = "webhook_doubted",
    /// Its owner's access does not stand: nothing is sent until it does.
    WebhookSuspended = "webhook_suspended",
    WebhookResumed = "webhook_resumed",
    /// Somebody let the service make a backup in its backup directory.
    BackupStarted = "backup_started",
    /// It was written, verified, and has its name.
    BackupCompleted = "backup_completed",
    BackupFailed = "backup_failed",
    BackupDownloaded = "backup_downloaded",
    /// A backup was restored into this store.
    Restored = "restored",
}

impl AuditKind {
    pub fn from_name(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    pub fn signed_in(realm: Realm) -> Self {
        match realm {
            Realm::Users => Self::SignedIn,
            Realm::Developers => Self::DeveloperSignedIn,
            Realm::Operators => Self::OperatorSignedIn,
        }
    }

    pub fn sign_in_failed(realm: Realm) -> Self {
        match realm {
            Realm::Users => Self::SignInFailed,
            Realm::Developers => Self::DeveloperSignInFailed,
            Realm::Operators => Self::OperatorSignInFailed,
        }
    }

    pub fn signed_out(realm: Realm) -> Self {
        match realm {
            Realm::Users => Self::SignedOut,
            Realm::Developers => Self::DeveloperSignedOut,
            Realm::Operators => Self::OperatorSignedOut,
        }
    }

    pub(crate) fn account_added(realm: Realm) -> Self {
        match realm {
            Realm::Users => Self::UserAdded,
            Realm::Developers => Self::DeveloperAdded,
            Realm::Operators => Self::OperatorAdded,
        }
    }

    pub(crate) fn account_changed(realm: Realm) -> Self {
        match realm {
            Realm::Users => Self::UserChanged,
            Realm::Developers => Self::DeveloperChanged,
            Realm::Operators => Self::OperatorChanged,
        }
    }
}
