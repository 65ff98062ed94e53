//! The tokens of one user's sign-in, and where they are kept.

use std::fmt;

use async_trait::async_trait;
use domain::{Secret, Ticks};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tokio::sync::Mutex;

/// The tokens of one sign-in. They do not print; serialised they are in plain, so encrypt what you store.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    #[serde(with = "plain")]
    pub access_token: Secret,
    /// When the access token expires, in seconds since 1970.
    pub expires_at: i64,
    /// Only with the scope `offline_access`. Used once: each renewal brings the next.
    #[serde(with = "plain_or_none", default)]
    pub refresh_token: Option<Secret>,
    /// The last one, for signing out.
    #[serde(default)]
    pub id_token: Option<String>,
    /// Whose tokens these are, where an id_token told.
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
    /// Whether the access token is good for so many seconds more.
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

    #[expect(clippy::ref_option, reason = "serde hands it over like this")]
    pub(super) fn serialize<S: Serializer>(secret: &Option<Secret>, to: S) -> Result<S::Ok, S::Error> {
        secret.as_ref().map(Secret::reveal).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Secret>, D::Error> {
        Ok(Option::<String>::deserialize(from)?.map(Secret::new))
    }
}

/// Where the tokens of one signed-in user are kept: a row of the application's database, a file, a key ring.
///
/// A renewal uses the old refresh token up. So `save` returns once the tokens are where a crash does not take them.
#[async_trait]
pub trait TokenStore: Send + Sync + 'static {
    async fn load(&self) -> Result<Option<Tokens>, Box<dyn std::error::Error + Send + Sync>>;
    async fn save(&self, tokens: &Tokens) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
    async fn clear(&self) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
}

/// Keeps tokens as long as the process lives.
#[derive(Debug, Default)]
pub struct MemoryTokens(Mutex<Option<Tokens>>);

impl MemoryTokens {
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
