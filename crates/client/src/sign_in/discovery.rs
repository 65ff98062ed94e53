//! OpenID Connect discovery: fetches and caches the metadata and the keys of the identity provider.

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

/// The cache lifetime that the service allows for its keys.
const CACHE_TTL: Duration = Duration::from_secs(300);
/// Tokens with unknown keys do not cause more frequent requests than this.
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

    /// Fetches again if the cached keys lack this one, which may be new.
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
                "the identity provider at this URL has the issuer {:?}; use the URL that it is configured with",
                metadata.issuer
            );
            return Err(Error::invalid_input("the URL of the identity provider", reason));
        }
        for address in [&metadata.jwks_uri, &metadata.revocation_endpoint, &metadata.end_session_endpoint] {
            check_url("a URL in the metadata of the identity provider", address)?;
        }
        let JwkSet { keys } = self.get(&metadata.jwks_uri).await?;
        // Skip keys of unknown types: they are for other purposes.
        let keys =
            keys.into_iter().take(KEYS_MAX).filter_map(|key| serde_json::from_value(key).ok()).collect();
        Ok(Provider { metadata, keys, at })
    }

    async fn get<T: serde::de::DeserializeOwned>(&self, url: &str) -> Result<T, Error> {
        let unusable =
            |error: http::Error| Error::invalid_input("the URL of the identity provider", error.to_string());
        let request = Request::get(url).body(Bytes::new()).map_err(unusable)?;
        let call = format!("GET {url}");
        let response = self.http.send(&request, RetrySafety::Idempotent).await?;
        if !response.status().is_success() {
            return Err(error_from_response(&call, &response));
        }
        parse_body(&call, &response)
    }
}
