//! Builds the gateway. The identity provider verifies its tokens.

use std::sync::Arc;

use async_trait::async_trait;
use domain::Caller;
use gateway::{Gateway, Guest, Ports, Settings, TokenRefusal, Tokens};
use identity::Identity;
use store::Store;

use super::BasePorts;
use crate::config::Config;

struct FromIdentity(Arc<Identity>);

#[async_trait]
impl Tokens for FromIdentity {
    async fn caller(&self, token: &str) -> Result<Arc<Caller>, TokenRefusal> {
        self.0.caller(token).await.map_err(|refusal| match refusal {
            identity::TokenRefusal::Invalid => TokenRefusal::Invalid,
            identity::TokenRefusal::Unknown(error) => TokenRefusal::Unknown(error),
        })
    }
}

/// `guests`: routes of other crates that the gate guards.
pub(crate) fn gateway(
    config: &Config,
    base: &BasePorts,
    store: Arc<dyn Store>,
    identity: Arc<Identity>,
    guests: Vec<Guest>,
) -> Gateway {
    let ports = Ports { store, clock: base.clock.clone(), tokens: Arc::new(FromIdentity(identity)) };
    let (rate, quota) = (config.gateway.rate_per_minute, config.gateway.quota_per_day);
    let settings = Settings {
        base_url: config.server.base_url.clone(),
        rate_per_minute: (rate > 0).then_some(rate),
        quota_per_day: (quota > 0).then_some(quota),
    };
    Gateway::new(ports, settings, guests)
}
