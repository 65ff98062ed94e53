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
use crate::http_client::{HttpClient, RetrySafety, error_from_response, parse_body};
use crate::url::check_url;

/// As long as the service lets its keys be kept.
const CACHE_TTL: Duration = Duration::from_secs(300);
/// Tokens with made-up keys do not make us ask more often than this.
const REFETCH_INTERVAL_MIN: Duration = Duration::from_secs(10);
const KEYS_MAX: usize = 50;

#[derive(Clone, Debug, Deserialize)]
pub(super) struct ProviderMetadata {
    issuer: String,
    jwks_uri: String,
    pub(super) revocation_endpoint: String,
    pub(super) end_session_endpoint: String,
}

#[derive(Deserialize)]
struct JwkSet {
    keys: Vec<serde_json::Value>,
}

#[derive(Clone, Debug)]
pub(super) struct Provider {
    pub(super) metadata: ProviderMetadata,
    pub(super) keys: Vec<Jwk>,
    at: Ticks,
}

pub(super) struct Discovery {
    pub(super) issuer: String,
    pub(super) http: HttpClient,
    pub(super) clock: Arc<dyn Clock>,
    provider: Mutex<Option<Arc<Provider>>>,
}

impl Discovery {
    pub(super) fn new(issuer: String, http: HttpClient, clock: Arc<dyn Clock>) -> Self {
        Self { issuer, http, clock, provider: Mutex::new(None) }
    }

    pub(super) async fn provider(&self) -> Result<Arc<Provider>, Error> {
        self.provider_where(|_| true).await
    }

    /// With this key, if it is published at all: a new one is looked for.
    pub(super) async fn provider_with_key(&self, kid: &str) -> Result<Arc<Provider>, Error> {
        self.provider_where(|provider| provider.keys.iter().any(|key| key.kid == kid)).await
    }

    async fn provider_where(&self, is_enough: impl Fn(&Provider) -> bool) -> Result<Arc<Provider>, Error> {
        let mut cached = self.provider.lock().await;
        let now = self.clock.now();
        if let Some(provider) = &*cached {
            let age = now.since(provider.at);
            if age < REFETCH_INTERVAL_MIN || (age < CACHE_TTL && is_enough(provider)) {
                return Ok(provider.clone());
            }
        }
        let provider = Arc::new(self.fetch(now).await?);
        *cached = Some(provider.clone());
        Ok(provider)
    }

    async fn fetch(&self, at: Ticks) -> Result<Provider, Error> {
        let metadata: ProviderMetadata =
            self.get(&format!("{}/.well-known/openid-configuration", self.issuer)).await?;
        if metadata.issuer != self.issuer {
            let reason = format!(
                "the identity provider there calls itself {:?}; use the address that it is configured with",
                metadata.issuer
            );
            return Err(Error::invalid_input("the address of the identity provider", reason));
        }
        for address in [&metadata.jwks_uri, &metadata.revocation_endpoint, &metadata.end_session_endpoint] {
            check_url("an address that the identity provider publishes", address)?;
        }
        let JwkSet { keys } = self.get(&metadata.jwks_uri).await?;
        // Keys of kinds that are not known here are somebody else's business.
        let keys =
            keys.into_iter().take(KEYS_MAX).filter_map(|key| serde_json::from_value(key).ok()).collect();
        Ok(Provider { metadata, keys, at })
    }

    async fn get<T: serde::de::DeserializeOwned>(&self, url: &str) -> Result<T, Error> {
        let unusable = |error: http::Error| {
            Error::invalid_input("the address of the identity provider", error.to_string())
        };
        let request = Request::get(url).body(Bytes::new()).map_err(unusable)?;
        let call = format!("GET {url}");
        let response = self.http.send(&request, RetrySafety::Idempotent).await?;
        if !response.status().is_success() {
            return Err(error_from_response(&call, &response));
        }
        parse_body(&call, &response)
    }
}
