//! The gate (key → token → scope → limit) and the read APIs behind it.

mod asked;
mod context;
mod endpoint;
mod feed;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod gate;
mod guest;
mod kept;
mod keys;
mod limit;
mod meter;
mod openapi;
mod paging;
mod payroll;
mod query;
mod reads;
mod ready;
mod refusal;
mod routes;
mod tend;

use std::sync::Arc;

use async_trait::async_trait;
use domain::{Caller, Clock};
use store::{Store, StoreError};

pub use guest::{Answering, Guest, Visit};
use kept::Kept;
use keys::KnownKeys;
use limit::Limiter;
pub use openapi::openapi;
pub use routes::router;

/// Who tells whether an access token is good. The identity provider does, through the wiring.
#[async_trait]
pub trait Tokens: Send + Sync + 'static {
    async fn caller(&self, token: &str) -> Result<Arc<Caller>, TokenRefusal>;
}

/// Why a token is not good.
#[derive(Debug)]
pub enum TokenRefusal {
    Invalid,
    /// It cannot be known now.
    Unknown(StoreError),
}

/// What the gateway is given from outside.
#[derive(Clone)]
pub struct Ports {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub tokens: Arc<dyn Tokens>,
}

impl std::fmt::Debug for Ports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ports")
    }
}

#[derive(Clone, Debug)]
pub struct Settings {
    /// Where links lead: `{base_url}`.
    pub base_url: String,
    /// Requests a minute for each subscription; none: no limit.
    pub rate_per_minute: Option<u32>,
    /// Requests a day for each subscription that has no quota of its own; none: no quota.
    pub quota_per_day: Option<u64>,
}

/// The gate and what it stands on.
pub struct Gateway {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    tokens: Arc<dyn Tokens>,
    settings: Settings,
    keys: KnownKeys,
    kept: Kept,
    limiter: Limiter,
    guests: Vec<Guest>,
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Gateway")
    }
}

impl Gateway {
    /// `guests`: what other rooms answer behind this gate.
    pub fn new(ports: Ports, settings: Settings, guests: Vec<Guest>) -> Self {
        let Ports { store, clock, tokens } = ports;
        let limiter = Limiter::new(settings.rate_per_minute);
        Self {
            keys: KnownKeys::new(store.clone(), routes::counted(&guests)),
            kept: Kept::new(),
            store,
            clock,
            tokens,
            settings,
            limiter,
            guests,
        }
    }
}
