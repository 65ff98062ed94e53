//! Token signing keys. The private key is sealed with the master key before it is stored.

use async_trait::async_trait;
use domain::{Secret, Ticks};

use crate::{AuditContext, Result};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningKey {
    pub kid: String,
    /// PKCS#8, base64.
    pub private: Secret,
    pub public_jwk: String,
    pub created_at: Ticks,
    /// When the key starts to sign; it is published earlier.
    pub signs_from: Ticks,
    pub retired_at: Option<Ticks>,
}

/// Every mutation and its audit entry are one transaction.
#[async_trait]
pub trait SigningKeys: Send + Sync + 'static {
    /// Adds a key after `newest`, the kid of the newest stored key (none in a new store). Returns false if
    /// another key is the newest by now, because another node was faster. If the clock stands still or jumped
    /// back, `created_at` becomes one tick later than that of `newest`, so that the order is the order of
    /// insertion.
    async fn add_signing_key(
        &self,
        key: &SigningKey,
        newest: Option<&str>,
        context: &AuditContext,
    ) -> Result<bool>;
    /// All stored keys, oldest first.
    async fn signing_keys(&self) -> Result<Vec<SigningKey>>;
    /// After this time the key's signatures are no longer accepted.
    async fn retire_signing_key(&self, kid: &str, at: Ticks, context: &AuditContext) -> Result<bool>;
    /// Deletes the key with its private half.
    async fn delete_signing_key(&self, kid: &str, context: &AuditContext) -> Result<bool>;
}

/// The creation time of a key that is added after the newest one (given by id and time), or none if another
/// key came first.
pub(crate) fn created_after<Id: PartialEq + ?Sized>(
    created_at: Ticks,
    expected: Option<&Id>,
    newest: Option<(&Id, Ticks)>,
) -> Option<Ticks> {
    match (expected, newest) {
        (None, None) => Some(created_at),
        (Some(expected), Some((id, at))) if id == expected => Some(created_at.max(at.next())),
        _ => None,
    }
}

/// The sealing purpose of a private key.
pub(crate) fn sealing_purpose(kid: &str) -> String {
    format!("signing key {kid}")
}
