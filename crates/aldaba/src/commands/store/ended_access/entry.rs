//! An entry of an exported audit.

use std::collections::BTreeMap;

use domain::{Guid, Ticks};
use serde::Deserialize;
use serde_json::Value;
use store::AuditKind;

/// An entry as `aldaba audit --json` prints it; a page of entries has them as `records`.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Line {
    Page { records: Vec<Entry> },
    Entry(Entry),
}

#[derive(Deserialize)]
pub(super) struct Entry {
    pub(super) at: String,
    pub(super) kind: String,
    pub(super) user: Option<String>,
    pub(super) email: Option<String>,
    pub(super) tenant: Option<String>,
    pub(super) client: Option<String>,
    pub(super) grant: Option<String>,
    pub(super) object: Option<String>,
    #[serde(default)]
    pub(super) changes: Vec<Change>,
}

#[derive(Deserialize)]
pub(super) struct Change {
    pub(super) member: String,
    #[serde(default)]
    from: Value,
    #[serde(default)]
    pub(super) to: Value,
}

impl Entry {
    /// The id of the object, where it is of this kind.
    pub(super) fn object_of(&self, kind: &str) -> Option<String> {
        let id = self.object.as_deref()?.strip_prefix(kind)?.strip_prefix(':')?;
        Some(id.to_owned())
    }

    /// The id of the account, whatever its realm.
    pub(super) fn account(&self) -> Option<String> {
        let other = || self.object_of("developer").or_else(|| self.object_of("operator"));
        other().or_else(|| self.user.clone())
    }

    pub(super) fn webhook(&self) -> Option<Guid> {
        self.object_of("webhook").and_then(|id| Guid::parse(&id))
    }

    /// The new value of a member that is text.
    pub(super) fn new_text(&self, member: &str) -> Option<&str> {
        new_value(&self.changes, member).and_then(Value::as_str)
    }
}

/// The new value of a member that was changed.
pub(super) fn new_value<'a>(changes: &'a [Change], member: &str) -> Option<&'a Value> {
    changes.iter().find(|change| change.member == member).map(|change| &change.to)
}

/// The value of a member before the change.
pub(super) fn old_value<'a>(changes: &'a [Change], member: &str) -> Option<&'a Value> {
    changes.iter().find(|change| change.member == member).map(|change| &change.from)
}

/// Keeps the latest value.
pub(super) fn latest<K: Ord, V>(values: &mut BTreeMap<K, (Ticks, V)>, key: K, at: Ticks, value: V) {
    match values.get_mut(&key) {
        Some(last) if last.0 > at => {}
        Some(last) => *last = (at, value),
        None => {
            values.insert(key, (at, value));
        }
    }
}

/// The values, the oldest first. Where somebody has to stay, it is who lost access last.
pub(super) fn oldest_first<K, V>(values: &BTreeMap<K, (Ticks, V)>) -> Vec<(&K, &V)> {
    let mut all: Vec<_> = values.iter().collect();
    all.sort_by_key(|(_, (at, _))| *at);
    all.into_iter().map(|(key, (_, value))| (key, value)).collect()
}

/// The kinds of actions that may take away access.
pub(super) const ENDING: &[AuditKind] = &[
    AuditKind::Revoked,
    AuditKind::CodeReused,
    AuditKind::RefreshReused,
    AuditKind::AccessEnded,
    AuditKind::TenantChanged,
    AuditKind::TenantErased,
    AuditKind::UserChanged,
    AuditKind::DeveloperChanged,
    AuditKind::OperatorChanged,
    AuditKind::MembershipChanged,
    AuditKind::MembershipRemoved,
    AuditKind::ClientChanged,
    AuditKind::ClientSecretRotated,
    AuditKind::SubscriptionChanged,
    AuditKind::SubscriptionCancelled,
    AuditKind::SubscriptionKeyRotated,
    AuditKind::TeamChanged,
    // An owner who was removed may have been added again as a member.
    AuditKind::TeamMemberAdded,
    AuditKind::TeamMemberChanged,
    AuditKind::TeamMemberRemoved,
    AuditKind::OperatorTokenRevoked,
    AuditKind::SecondFactorRemoved,
    AuditKind::SecondFactorReset,
    AuditKind::RecoveryCodesMade,
    AuditKind::RecoveryCodeUsed,
    AuditKind::SigningKeyRetired,
    AuditKind::WebhookChanged,
    AuditKind::WebhookSecretRotated,
    AuditKind::WebhookUnsubscribed,
    AuditKind::WebhookDeleted,
];

/// The others begin or record something; what has begun after the backup is not in it.
#[cfg(test)]
pub(super) const NOT_ENDING: &[AuditKind] = &[
    AuditKind::NoticePreferencesChanged,
    AuditKind::SubscriptionKeyRevealed,
    AuditKind::SignedIn,
    AuditKind::SignInFailed,
    AuditKind::SignedOut,
    AuditKind::DeveloperSignedIn,
    AuditKind::DeveloperSignInFailed,
    AuditKind::DeveloperSignedOut,
    AuditKind::OperatorSignedIn,
    AuditKind::OperatorSignInFailed,
    AuditKind::OperatorSignedOut,
    AuditKind::SessionsEnded,
    AuditKind::LogoutQueued,
    AuditKind::LogoutDelivered,
    AuditKind::LogoutFailed,
    AuditKind::ConsentDenied,
    AuditKind::ClientRefused,
    AuditKind::CodeIssued,
    AuditKind::Granted,
    AuditKind::Refreshed,
    AuditKind::TenantAdded,
    AuditKind::UserAdded,
    AuditKind::DeveloperAdded,
    AuditKind::TeamAdded,
    AuditKind::SandboxAdded,
    AuditKind::SandboxReset,
    AuditKind::SandboxReceiverChanged,
    AuditKind::RecordEdited,
    AuditKind::RequestAdded,
    AuditKind::RequestApproved,
    AuditKind::RequestRefused,
    AuditKind::RequestWithdrawn,
    AuditKind::OperatorAdded,
    AuditKind::MembershipAdded,
    AuditKind::ClientAdded,
    AuditKind::SubscriptionAdded,
    AuditKind::OperatorTokenAdded,
    AuditKind::SecondFactorAdded,
    AuditKind::SecondFactorRenamed,
    AuditKind::SigningKeyRotated,
    AuditKind::SigningKeyDeleted,
    AuditKind::WebhookSubscribed,
    AuditKind::WebhookReplayed,
    AuditKind::WebhookFailing,
    AuditKind::WebhookDisabled,
    AuditKind::WebhookEventsLost,
    AuditKind::WebhookHostMismatch,
    AuditKind::WebhookSuspended,
    AuditKind::WebhookResumed,
    AuditKind::BackupStarted,
    AuditKind::BackupCompleted,
    AuditKind::BackupFailed,
    AuditKind::BackupDownloaded,
    AuditKind::Restored,
    // No link outlives a restore, and a password that was reset has an entry of its own.
    AuditKind::InvitationMade,
    AuditKind::InvitationResent,
    AuditKind::InvitationRevoked,
    AuditKind::InvitationAccepted,
    AuditKind::PasswordResetRequested,
    AuditKind::PasswordReset,
];

/// Whether an action of this kind may take away access.
pub(super) fn may_end_access(kind: AuditKind) -> bool {
    ENDING.contains(&kind)
}

/// Whom an entry is about.
fn account(entry: &Entry) -> String {
    let user = entry.email.as_ref().or(entry.user.as_ref());
    user.or(entry.object.as_ref()).map_or_else(String::new, |who| who.replace(':', " "))
}

/// A change that cannot be repeated, because no audit contains a secret or all of a row.
pub(super) fn not_repeatable(kind: AuditKind, entry: &Entry) -> Option<String> {
    let who = entry.email.as_ref().or(entry.user.as_ref()).cloned().unwrap_or_default();
    let (tenant, client) =
        (entry.tenant.as_deref().unwrap_or_default(), entry.client.as_deref().unwrap_or_default());
    let object = |kind| entry.object_of(kind).unwrap_or_default();
    let is_changed = |member: &str| entry.changes.iter().any(|change| change.member == member);
    Some(match kind {
        AuditKind::UserChanged if is_changed("password") => format!("the password of {who} was changed"),
        AuditKind::DeveloperChanged if is_changed("password") => {
            format!("the password of developer {} was changed", object("developer"))
        }
        AuditKind::OperatorChanged if is_changed("password") => {
            format!("the password of operator {} was changed", object("operator"))
        }
        AuditKind::SecondFactorRemoved | AuditKind::SecondFactorReset => {
            let who = account(entry);
            format!(
                "second factors of {who} were removed (aldaba user|developer|operator reset-second-factors)"
            )
        }
        AuditKind::RecoveryCodeUsed | AuditKind::RecoveryCodesMade => {
            format!("recovery codes of {} were used or replaced", account(entry))
        }
        AuditKind::TenantErased => format!("tenant {tenant} was erased (it is disabled now)"),
        AuditKind::ClientChanged if is_changed("pkce") => {
            format!("the PKCE mode of client {client} was changed")
        }
        AuditKind::ClientSecretRotated => format!("the secret of client {client} was replaced"),
        AuditKind::SubscriptionKeyRotated => {
            format!("a key of subscription {} was replaced", object("subscription"))
        }
        AuditKind::WebhookChanged if is_changed("url") => {
            format!("webhook {} got another URL (it is disabled now)", object("webhook"))
        }
        AuditKind::WebhookSecretRotated => {
            format!("the secret of webhook {} was replaced", object("webhook"))
        }
        AuditKind::SigningKeyRetired => {
            format!("signing key {} was retired (aldaba signing-keys rotate)", object("signing_key"))
        }
        _ => return None,
    })
}
