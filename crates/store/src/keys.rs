//! Signing keys: the private half is sealed with the master key before it is kept.

use async_trait::async_trait;
use domain::{Secret, Ticks};

use crate::Result;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningKey {
    pub kid: String,
    /// PKCS#8, base64.
    pub private: Secret,
    pub public_jwk: String,
    pub created_at: Ticks,
    /// From when on it signs; it is published before.
    pub signs_from: Ticks,
    pub retired_at: Option<Ticks>,
}

#[async_trait]
pub trait SigningKeys: Send + Sync + 'static {
    /// Adds a key behind `newest`, the kid of the newest that there is (none in a new store). False where
    /// another key is the newest by now: somebody else was faster. Where the clock stands or has jumped back,
    /// `created_at` is moved to the moment after that of `newest`, so that the order is that of adding.
    async fn add_signing_key(&self, key: &SigningKey, newest: Option<&str>) -> Result<bool>;
    /// All that are kept, oldest first.
    async fn signing_keys(&self) -> Result<Vec<SigningKey>>;
    /// From then on its signatures count no more.
    async fn retire_signing_key(&self, kid: &str, at: Ticks) -> Result<bool>;
    /// The key is gone, its private half with it.
    async fn delete_signing_key(&self, kid: &str) -> Result<bool>;
}

/// When a key that is added behind the newest one (its kid and time) is made, or nothing where it is not to
/// be added.
pub(crate) fn created_after(
    key: &SigningKey,
    expected: Option<&str>,
    newest: Option<(&str, Ticks)>,
) -> Option<Ticks> {
    match (expected, newest) {
        (None, None) => Some(key.created_at),
        (Some(expected), Some((kid, at))) if kid == expected => Some(key.created_at.max(at.next())),
        _ => None,
    }
}

/// What the private half of a key is sealed for.
pub(crate) fn sealing_purpose(kid: &str) -> String {
    format!("signing key {kid}")
}
