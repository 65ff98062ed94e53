//! What the identity provider publishes of itself: its addresses and its keys, looked up when they are needed and
//! kept for a while.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use domain::{Clock, Ticks};
use http::Request;
use serde::Deserialize;
use tokio::sync::Mutex;

use super::id_token::Jwk;
use crate::Error;
use crate::address::checked;
use crate::wire::{Again, Wire, read, refusal};

/// As long as the service lets its keys be kept.
const KEPT_FOR: Duration = Duration::from_secs(300);
/// Tokens with made-up keys do not make us ask more often than this.
const ASKED_AGAIN_AFTER: Duration = Duration::from_secs(10);
const KEYS_MAX: usize = 50;

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Published {
    issuer: String,
    jwks_uri: String,
    pub(super) revocation_endpoint: String,
    pub(super) end_session_endpoint: String,
}

#[derive(Deserialize)]
struct Keys {
    keys: Vec<serde_json::Value>,
}

#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) published: Published,
    pub(super) keys: Vec<Jwk>,
    at: Ticks,
}

pub(super) struct Lookup {
    pub(super) issuer: String,
    pub(super) wire: Wire,
    pub(super) clock: Arc<dyn Clock>,
    known: Mutex<Option<Arc<Known>>>,
}

impl Lookup {
    pub(super) fn new(issuer: String, wire: Wire, clock: Arc<dyn Clock>) -> Self {
        Self { issuer, wire, clock, known: Mutex::new(None) }
    }

    pub(super) async fn known(&self) -> Result<Arc<Known>, Error> {
        self.known_with(|_| true).await
    }

    /// With this key, if it is published at all: a new one is looked for.
    pub(super) async fn with_key(&self, kid: &str) -> Result<Arc<Known>, Error> {
        self.known_with(|known| known.keys.iter().any(|key| key.kid == kid)).await
    }

    async fn known_with(&self, is_enough: impl Fn(&Known) -> bool) -> Result<Arc<Known>, Error> {
        let mut kept = self.known.lock().await;
        let now = self.clock.now();
        if let Some(known) = &*kept {
            let age = now.since(known.at);
            if age < ASKED_AGAIN_AFTER || (age < KEPT_FOR && is_enough(known)) {
                return Ok(known.clone());
            }
        }
        let known = Arc::new(self.ask(now).await?);
        *kept = Some(known.clone());
        Ok(known)
    }

    async fn ask(&self, at: Ticks) -> Result<Known, Error> {
        let published: Published =
            self.get(&format!("{}/.well-known/openid-configuration", self.issuer)).await?;
        if published.issuer != self.issuer {
            let reason = format!(
                "the identity provider there calls itself {:?}; use the address that it is configured with",
                published.issuer
            );
            return Err(Error::unusable("the address of the identity provider", reason));
        }
        for address in [&published.jwks_uri, &published.revocation_endpoint, &published.end_session_endpoint]
        {
            checked("an address that the identity provider publishes", address)?;
        }
        let Keys { keys } = self.get(&published.jwks_uri).await?;
        // Keys of kinds that are not known here are somebody else's business.
        let keys =
            keys.into_iter().take(KEYS_MAX).filter_map(|key| serde_json::from_value(key).ok()).collect();
        Ok(Known { published, keys, at })
    }

    async fn get<T: serde::de::DeserializeOwned>(&self, url: &str) -> Result<T, Error> {
        let unusable =
            |error: http::Error| Error::unusable("the address of the identity provider", error.to_string());
        let request = Request::get(url).body(Bytes::new()).map_err(unusable)?;
        let call = format!("GET {url}");
        let answer = self.wire.send(&request, Again::Harmless).await?;
        if !answer.status().is_success() {
            return Err(refusal(&call, &answer));
        }
        read(&call, &answer)
    }
}
