//! The API gateway: the gate (key → token → client → scope → rate limit → quota), the read APIs behind it, and the gated routes
//! of other crates.

mod cached_response;
mod call_recorder;
mod calling_clients;
mod context;
mod endpoint;
mod errors;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod gate;
mod gated_route;
mod maintenance;
mod meter;
mod openapi;
mod paging;
mod query;
mod rate_limit;
mod read_recorder;
mod reads;
mod response_cache;
mod routes;
mod subscription_keys;

use std::sync::Arc;

use async_trait::async_trait;
use domain::{Caller, Clock};
use store::{FigureBuffer, Store, StoreError};

use call_recorder::CallRecorder;
use calling_clients::CallingClients;
pub use gated_route::{AuthorizedRequest, GatedRoute, ResponseFuture};
pub use openapi::openapi;
use rate_limit::RateLimiter;
use read_recorder::ReadRecorder;
use response_cache::ResponseCache;
pub use routes::router;
use subscription_keys::SubscriptionKeys;

/// Verifies access tokens. The wiring connects it to the identity provider.
#[async_trait]
pub trait TokenVerifier: Send + Sync + 'static {
    async fn verify(&self, token: &str) -> Result<Arc<Caller>, TokenError>;
}

/// Why a token was not accepted.
#[derive(Debug)]
pub enum TokenError {
    /// Forged, issued by another provider, or not an access token.
    Invalid,
    Expired,
    /// Its grant was revoked, or its authorization has ended.
    Revoked,
    /// The token could not be verified.
    Unavailable(StoreError),
}

/// The gateway's dependencies.
#[derive(Clone)]
pub struct Ports {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub tokens: Arc<dyn TokenVerifier>,
}

impl std::fmt::Debug for Ports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ports")
    }
}

#[derive(Clone, Debug)]
pub struct Settings {
    /// The base of the links in responses.
    pub base_url: String,
    /// Requests per minute and subscription; `None`: no limit.
    pub rate_per_minute: Option<u32>,
    /// Requests per day for each subscription that has no quota of its own; `None`: no quota.
    pub quota_per_day: Option<u64>,
    /// Whether the sandboxes of teams are open.
    pub is_sandbox_open: bool,
    /// Whether calls are logged for the team of their subscription; figures count them in any case.
    pub has_call_log: bool,
}

/// The state that all requests share.
pub struct Gateway {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    tokens: Arc<dyn TokenVerifier>,
    settings: Settings,
    keys: SubscriptionKeys,
    calling_clients: CallingClients,
    response_cache: ResponseCache,
    limiter: RateLimiter,
    recorder: CallRecorder,
    reads: ReadRecorder,
    gated_routes: Vec<GatedRoute>,
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Gateway")
    }
}

impl Gateway {
    /// `gated_routes` are the routes of other crates behind the gate.
    pub fn new(ports: Ports, settings: Settings, gated_routes: Vec<GatedRoute>) -> Self {
        let Ports { store, clock, tokens } = ports;
        let limiter = RateLimiter::new(settings.rate_per_minute);
        let recorder = CallRecorder::new(settings.has_call_log);
        Self {
            keys: SubscriptionKeys::new(store.clone(), routes::counted_paths(&gated_routes)),
            calling_clients: CallingClients::new(store.clone(), settings.is_sandbox_open),
            response_cache: ResponseCache::new(),
            store,
            clock,
            tokens,
            settings,
            limiter,
            recorder,
            reads: ReadRecorder::default(),
            gated_routes,
        }
    }

    /// What was counted of calls since the last flush of the figures.
    pub fn figures(&self) -> &FigureBuffer {
        self.recorder.figures()
    }
}
