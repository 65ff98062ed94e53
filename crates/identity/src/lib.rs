//! Who is calling: sign-in, tenant choice, codes, tokens, signing keys, discovery, sessions.

mod cookies;
mod discovery;
mod flow;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod grant;
mod http;
mod jwt;
mod keys;
mod liveness;
mod oauth_error;
mod openapi;
mod pages;
mod params;
mod request;
mod settings;
mod sign_in;
mod tokens;
mod verified;

use std::sync::Arc;
use std::time::Duration;

use domain::{Caller, Clock, GrantId, Random};
use store::{AuditContext, Store, Vault};
use tokio::sync::watch;
use web::Metrics;

use cookies::CookieNames;
use discovery::Discovery;
use flow::ticket::Tickets;
pub use http::router;
pub use keys::{KeyFault, KeyPolicy, KeyState, Keys, ShownKey};
use liveness::Liveness;
pub use openapi::openapi;
pub use settings::{CLOCK_TOLERANCE, Settings};
use sign_in::{Guard, Hashing};
use tokens::Presented;
use verified::{Known, Verified};

/// How often keys are looked at, and how often they are tended.
const KEYS_EVERY: Duration = Duration::from_secs(2);
const TEND_EVERY_ROUNDS: u32 = 30;

/// The identity provider.
pub struct Identity {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    vault: Arc<Vault>,
    settings: Settings,
    audience: String,
    /// Where pages find their styles.
    assets: String,
    keys: Keys,
    tickets: Tickets,
    cookies: CookieNames,
    guard: Guard,
    hashing: Hashing,
    verified: Verified,
    liveness: Liveness,
    discovery: Discovery,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Identity({})", self.settings.issuer)
    }
}

/// What the identity provider is given from outside.
#[derive(Clone)]
pub struct Ports {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub vault: Arc<Vault>,
}

impl std::fmt::Debug for Ports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ports")
    }
}

/// Why a token is not good.
#[derive(Debug)]
pub enum TokenRefusal {
    /// Not ours, changed, expired, revoked, or not an access token.
    Invalid,
    /// It cannot be known now.
    Unknown(store::StoreError),
}

impl Identity {
    /// Opens the keys and gets ready to serve.
    pub async fn open(ports: Ports, settings: Settings, measures: &Metrics) -> Result<Self, KeyFault> {
        let Ports { store, clock, random, vault } = ports;
        let keys = Keys::open(store.clone(), clock.clone(), settings.key_policy()).await?;
        let hashing = Hashing::new(settings.hashing_parallel, settings.hashing_queue_max);
        measures.with_registry(|registry| {
            let help = "Password hashes computed";
            registry.register("password_hashes", help, hashing.computed.clone());
        });
        Ok(Self {
            audience: settings.audience(),
            assets: format!("{}/look", settings.base_path()),
            keys,
            tickets: Tickets { vault: vault.clone(), random: random.clone() },
            cookies: CookieNames::new(settings.is_https()),
            guard: Guard::new(settings.address_failures_max),
            hashing,
            verified: Verified::new(),
            liveness: Liveness::new(store.clone(), clock.clone()),
            discovery: Discovery::new(&settings),
            store,
            clock,
            random,
            vault,
            settings,
        })
    }

    /// Keeps the keys up to date until the end is called.
    pub async fn tend(self: Arc<Self>, mut stopped: watch::Receiver<bool>) {
        let mut rounds = 0;
        while tokio::time::timeout(KEYS_EVERY, stopped.wait_for(|stop| *stop)).await.is_err() {
            rounds = (rounds + 1) % TEND_EVERY_ROUNDS;
            let done = if rounds == 0 { self.keys.tend().await } else { self.keys.reload().await };
            if let Err(error) = done {
                tracing::warn!(%error, "the signing keys could not be looked at; those known stay in use");
            }
        }
    }

    /// Who carries this access token.
    pub async fn caller(&self, token: &str) -> Result<Arc<Caller>, TokenRefusal> {
        let caller = self.bearer(token).ok_or(TokenRefusal::Invalid)?;
        match self.liveness.is_live(&caller.grant).await {
            Ok(true) => Ok(caller),
            Ok(false) => Err(TokenRefusal::Invalid),
            Err(error) => Err(TokenRefusal::Unknown(error)),
        }
    }

    /// Whose token this is by what it says of itself.
    fn bearer(&self, token: &str) -> Option<Arc<Caller>> {
        let now = self.clock.now();
        if let Some(caller) = self.verified.find(token, &self.keys, now) {
            return Some(caller);
        }
        let (presented, kid): (Presented, _) = jwt::verify_by(&self.keys, token)?;
        let known = Known::new(presented.caller(&self.settings, now)?, &kid, presented.valid());
        let caller = known.caller.clone();
        self.verified.learn(token, known);
        Some(caller)
    }

    /// Revokes a grant; this node knows at once.
    async fn revoke(&self, grant: &GrantId, context: &AuditContext, note: &str) -> store::Result<bool> {
        let revoked = self.store.revoke_grant(grant, self.clock.now(), context, note).await?;
        self.liveness.revoked(grant);
        Ok(revoked)
    }
}
