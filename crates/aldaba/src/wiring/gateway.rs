//! Builds the gateway. The identity provider verifies its tokens.

use std::sync::Arc;

use async_trait::async_trait;
use domain::Caller;
use gateway::{GatedRoute, Gateway, Ports, Settings, TokenError, TokenVerifier};
use identity::Identity;
use store::Store;

use super::BasePorts;
use crate::config::Config;

struct FromIdentity(Arc<Identity>);

#[async_trait]
impl TokenVerifier for FromIdentity {
    async fn verify(&self, token: &str) -> Result<Arc<Caller>, TokenError> {
        self.0.caller(token).await.map_err(|error| match error {
            identity::TokenError::Invalid => TokenError::Invalid,
            identity::TokenError::Expired => TokenError::Expired,
            identity::TokenError::Revoked => TokenError::Revoked,
            identity::TokenError::Unavailable(error) => TokenError::Unavailable(error),
        })
    }
}

/// `gated_routes` are the routes of other crates behind the gate.
pub(crate) fn gateway(
    config: &Config,
    base: &BasePorts,
    store: Arc<dyn Store>,
    identity: Arc<Identity>,
    gated_routes: Vec<GatedRoute>,
) -> Gateway {
    let ports = Ports { store, clock: base.clock.clone(), tokens: Arc::new(FromIdentity(identity)) };
    let limits = super::call_limits(config);
    let settings = Settings {
        base_url: config.server.base_url.clone(),
        rate_per_minute: limits.rate_per_minute,
        quota_per_day: limits.calls_per_day,
        is_sandbox_open: config.portal.is_sandbox_open,
        has_call_log: config.gateway.call_log,
    };
    Gateway::new(ports, settings, gated_routes)
}
