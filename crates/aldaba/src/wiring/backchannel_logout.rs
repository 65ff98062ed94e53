//! Gives the identity provider's back-channel logout its transport: the egress, the only client that dials receivers.

use std::sync::Arc;
use std::time::Duration;

use ::identity::{Identity, LogoutSender, LogoutTransport};
use ::webhooks::egress::{Egress, OutboundRequest};
use async_trait::async_trait;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use axum::http::{HeaderMap, Method};
use domain::Clock;
use domain::receiver_url::ReceiverUrl;

use super::BasePorts;
use crate::config::Config;

/// The task that delivers logouts.
pub(crate) fn logout_sender(
    config: &Config,
    base: &BasePorts,
    identity: &Arc<Identity>,
    egress: Egress,
) -> LogoutSender {
    let (clock, is_local) = (base.clock.clone(), config.egress.loopback);
    LogoutSender::new(identity.clone(), Arc::new(EgressTransport { egress, clock, is_local }))
}

struct EgressTransport {
    egress: Egress,
    clock: Arc<dyn Clock>,
    /// Whether loopback addresses are allowed, as under `dev`.
    is_local: bool,
}

#[async_trait]
impl LogoutTransport for EgressTransport {
    async fn post_form(&self, uri: &str, body: String, timeout: Duration) -> Result<u16, String> {
        let url = ReceiverUrl::parse(uri, self.is_local).map_err(|why| format!("the address {why}"))?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        let request = OutboundRequest {
            webhook: None,
            url: Arc::new(url),
            method: Method::POST,
            query: None,
            headers,
            body: body.into(),
            timeout,
            now: self.clock.now(),
        };
        match self.egress.send(request).await.result {
            Ok(response) => Ok(response.status),
            Err(error) => Err(error.to_string()),
        }
    }
}
