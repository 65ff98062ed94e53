//! The operator's API with the default configuration, over an empty store in memory, without listeners and without an engine.

use std::sync::Arc;

use axum::Router;
use domain::Secret;
use operator::{AppState, OperatorToken};
use store::memory::MemoryStore;
use store::{MasterKey, Ports, Store, Vault};
use web::{Metrics, RequestLayer, RequestLayerConfig};

use crate::config::{self, Sources};
use crate::wiring::{self, BasePorts, NoEngine};

pub const OPERATOR_TOKEN: &str = "token";

/// A new service each time.
///
/// # Panics
///
/// If the default configuration is invalid.
#[allow(clippy::expect_used, reason = "without a service there is nothing to try")]
pub fn operator_router() -> Router {
    let config = config::load(&Sources::default()).expect("the default configuration is valid");
    let base = BasePorts::system();
    let vault = Arc::new(Vault::new(&MasterKey::from_bytes([7; 32])).expect("a key has 32 bytes"));
    let ports = Ports { clock: base.clock.clone(), random: base.random.clone(), vault };
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(ports).expect("an empty store opens"));
    let metrics = Metrics::new();
    let layer = RequestLayer::new(RequestLayerConfig::new("operator", &*base.random, &metrics));
    let history = wiring::history(&base, store.clone(), Arc::new(NoEngine), config.delivery.window);
    let admin = wiring::admin(&config, &base, store.clone());
    let webhooks = wiring::webhook_admin(&base, store, history);
    let token = OperatorToken::new(&Secret::new(OPERATOR_TOKEN));
    let state =
        AppState::new(admin, webhooks, token, &metrics).with_sandbox(wiring::sandbox_settings(&config));
    operator::router(state).layer(layer)
}
