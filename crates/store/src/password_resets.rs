//! Password resets: a one-time link with which an account's owner sets a new password.

use std::time::Duration;

use async_trait::async_trait;
use domain::{AccountId, Realm, Secret, Ticks};

use crate::{Account, AuditContext, Mail, Result, Vault};

/// How long the link of a reset works.
pub const PASSWORD_RESET_LIFE: Duration = Duration::from_secs(60 * 60);

/// The keyed hash of a link's secret. The purpose depends on the realm: a link of one realm finds nothing in another.
pub(crate) fn reset_hash(vault: &Vault, realm: Realm, token: &Secret) -> [u8; 32] {
    let purpose = match realm {
        Realm::Users => "user password reset",
        Realm::Developers => "developer password reset",
        Realm::Operators => "operator password reset",
    };
    vault.fingerprint(purpose, token)
}

/// Every mutation, its mail and its audit entry are one transaction. An account has one link at a time; any new password
/// makes it void.
#[async_trait]
pub trait PasswordResets: Send + Sync + 'static {
    /// Stores a link for an account and queues the mail that carries it, if there is one; an earlier link is void. False if
    /// there is no such account.
    async fn request_password_reset(
        &self,
        account: &AccountId,
        token: &Secret,
        expires_at: Ticks,
        mail: Option<&Mail>,
        context: &AuditContext,
    ) -> Result<bool>;

    /// The account of a link that works. The link stays as it is.
    async fn find_password_reset(&self, realm: Realm, token: &Secret, now: Ticks) -> Result<Option<Account>>;

    /// Uses a link: sets the password, ends all sessions of the account and queues the mail that tells the owner. Second
    /// factors stay. `None` if the link is unknown, was used or replaced, or has expired.
    async fn reset_password(
        &self,
        realm: Realm,
        token: &Secret,
        password_hash: &str,
        mail: Option<&Mail>,
        context: &AuditContext,
    ) -> Result<Option<Account>>;
}
