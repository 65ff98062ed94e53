//! The tokens of a signed-in user, and their storage.

use std::fmt;

use async_trait::async_trait;
use domain::{Secret, Ticks};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tokio::sync::Mutex;

/// The tokens of one sign-in. `Debug` does not print them. Serialisation writes them in plain text: encrypt it before
/// you store it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// The access token for API calls.
    #[serde(with = "plain")]
    pub access_token: Secret,
    /// When the access token expires, in Unix seconds.
    pub expires_at: i64,
    /// The refresh token; only with the scope `offline_access`. It can be used once: each renewal returns the next one.
    #[serde(with = "plain_or_none", default)]
    pub refresh_token: Option<Secret>,
    /// The last id_token, for signing out.
    #[serde(default)]
    pub id_token: Option<String>,
    /// The user, if there was an id_token.
    #[serde(default)]
    pub sub: Option<String>,
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Tokens");
        debug.field("expires_at", &self.expires_at).field("sub", &self.sub).finish_non_exhaustive()
    }
}

impl Tokens {
    /// Whether the access token is valid for at least so many more seconds.
    pub fn is_valid_for(&self, seconds: i64, now: Ticks) -> bool {
        now.unix_seconds().saturating_add(seconds) < self.expires_at
    }
}

mod plain {
    use super::{Deserialize, Deserializer, Secret, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(secret: &Secret, to: S) -> Result<S::Ok, S::Error> {
        secret.reveal().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Secret, D::Error> {
        String::deserialize(from).map(Secret::new)
    }
}

mod plain_or_none {
    use super::{Deserialize, Deserializer, Secret, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde requires this signature")]
    pub(super) fn serialize<S: Serializer>(secret: &Option<Secret>, to: S) -> Result<S::Ok, S::Error> {
        secret.as_ref().map(Secret::reveal).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Secret>, D::Error> {
        Ok(Option::<String>::deserialize(from)?.map(Secret::new))
    }
}

/// The storage for the tokens of one user: a row in the application's database, a file, a keyring.
///
/// A renewal invalidates the old refresh token, so `save` must not return before the tokens are stored durably.
#[async_trait]
pub trait TokenStore: Send + Sync + 'static {
    /// The stored tokens; `None` if the user is not signed in.
    async fn load(&self) -> Result<Option<Tokens>, Box<dyn std::error::Error + Send + Sync>>;
    /// Stores the tokens durably, replacing the previous ones.
    async fn save(&self, tokens: &Tokens) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
    /// Deletes the stored tokens.
    async fn clear(&self) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
}

/// A token store in memory.
#[derive(Debug, Default)]
pub struct MemoryTokens(Mutex<Option<Tokens>>);

impl MemoryTokens {
    /// A store that contains these tokens.
    pub fn new(tokens: Tokens) -> Self {
        Self(Mutex::new(Some(tokens)))
    }
}

#[async_trait]
impl TokenStore for MemoryTokens {
    async fn load(&self) -> Result<Option<Tokens>, Box<dyn std::error::Error + Send + Sync>> {
        Ok(self.0.lock().await.clone())
    }

    async fn save(&self, tokens: &Tokens) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        *self.0.lock().await = Some(tokens.clone());
        Ok(())
    }

    async fn clear(&self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        *self.0.lock().await = None;
        Ok(())
    }
}
