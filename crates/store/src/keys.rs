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
    async fn add_signing_key(&self, key: &SigningKey) -> Result<()>;
    /// All that are kept, oldest first.
    async fn signing_keys(&self) -> Result<Vec<SigningKey>>;
    async fn retire_signing_key(&self, kid: &str, at: Ticks) -> Result<bool>;
}

/// What the private half of a key is sealed for.
pub(crate) fn purpose(kid: &str) -> String {
    format!("signing key {kid}")
}
