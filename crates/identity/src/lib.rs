//! The identity provider (OAuth 2.0 and OpenID Connect): sign-in, tenant choice, authorization codes, tokens,
//! signing keys, discovery and sessions.

mod account_mails;
mod authorization_request;
mod backchannel_logout;
mod claims;
mod cookies;
mod direct_authorization;
mod discovery;
mod flow;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod grant;
mod grant_status;
mod http;
mod joined;
mod jwt;
mod keys;
pub mod mail;
mod new_password;
mod oauth_error;
mod openapi;
mod pages;
mod params;
mod sandbox;
mod sandbox_sign_in;
mod second_factor;
mod settings;
mod sign_in;
mod site;
mod token_cache;
pub mod webauthn;

use std::sync::Arc;
use std::time::Duration;

use domain::{Caller, Clock, GrantId, Random};
use store::{AuditContext, FigureBuffer, Store, Vault};
use tokio::sync::watch;
use web::Metrics;

pub use account_mails::AccountMails;
pub use backchannel_logout::{LogoutSender, LogoutTransport};
use claims::{AccessTokenClaims, IdTokenHint};
pub use direct_authorization::{DirectAuthorization, DirectAuthorizationError, DirectRequest, DirectTokens};
use discovery::DiscoveryDocument;
use flow::ticket::Tickets;
use flow::ticket_keys::TicketKeyRing;
use grant_status::GrantStatusCache;
pub use http::{AuthorizationResponse, RealmPages, SandboxRun, Visitor, post_routes, realm_router, router};
pub use keys::{KeyError, KeyPolicy, Keys};
pub use openapi::openapi;
pub use pages::device_name;
pub use sandbox_sign_in::{SandboxPrompt, SandboxSignIn, SandboxSignInError, SandboxTokens};
pub use settings::{CLOCK_TOLERANCE, MailSettings, RealmUrls, SANDBOX_CALLBACK_PATH, Settings};
use sign_in::{ClientFailures, MailThrottle, PasswordSignIn};
use token_cache::{VerifiedToken, VerifiedTokenCache};

/// How often the signing keys are read from the store.
const KEY_RELOAD_INTERVAL: Duration = Duration::from_secs(2);
/// Every so many reloads, the maintenance also rotates a key that is due and deletes expired ones.
const RELOADS_PER_ROTATION_CHECK: u32 = 30;

/// The identity provider.
pub struct Identity {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    vault: Arc<Vault>,
    settings: Settings,
    audience: String,
    keys: Arc<Keys>,
    tickets: Tickets,
    client_failures: ClientFailures,
    password_sign_in: Arc<PasswordSignIn>,
    account_mails: AccountMails,
    mail_throttle: MailThrottle,
    token_cache: VerifiedTokenCache,
    grant_status: GrantStatusCache,
    discovery: DiscoveryDocument,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Identity({})", self.settings.issuer)
    }
}

/// The ports that the identity provider uses.
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

/// Why an access token is not accepted.
#[derive(Debug)]
pub enum TokenError {
    /// Forged, issued by another provider, or not an access token.
    Invalid,
    Expired,
    /// Its grant was revoked, or its authorization has ended.
    Revoked,
    /// The store could not say whether the grant is live.
    Unavailable(store::StoreError),
}

impl Identity {
    /// Opens the signing keys, creating the first one if there is none.
    pub async fn open(ports: Ports, settings: Settings, measures: &Metrics) -> Result<Self, KeyError> {
        let Ports { store, clock, random, vault } = ports;
        let keys = Arc::new(Keys::open(store.clone(), clock.clone(), settings.key_policy()).await?);
        let ticket_keys = TicketKeyRing::open(store.clone(), clock.clone(), random.clone()).await?;
        let password_sign_in = Arc::new(PasswordSignIn::new(&store, &clock, &vault, &settings));
        measures.with_registry(|registry| {
            let help = "Password hashes computed";
            registry.register("password_hashes", help, password_sign_in.password_hasher.computed.clone());
        });
        Ok(Self {
            audience: settings.audience(),
            keys,
            tickets: Tickets { keys: ticket_keys },
            client_failures: ClientFailures::default(),
            password_sign_in,
            account_mails: AccountMails::new(&settings.mail, &settings.realms, random.clone()),
            mail_throttle: MailThrottle { store: store.clone(), clock: clock.clone() },
            token_cache: VerifiedTokenCache::new(),
            grant_status: GrantStatusCache::new(store.clone(), clock.clone()),
            discovery: DiscoveryDocument::new(&settings),
            store,
            clock,
            random,
            vault,
            settings,
        })
    }

    /// The keys that sign tokens.
    pub fn signing_keys(&self) -> Arc<Keys> {
        self.keys.clone()
    }

    /// The password sign-ins since the last flush of the figures.
    pub fn figures(&self) -> &FigureBuffer {
        &self.password_sign_in.figures
    }

    /// Reloads and rotates the signing keys and the ticket keys. Returns only at shutdown; the caller spawns and supervises it.
    pub async fn run_maintenance(self: Arc<Self>, mut shutdown: watch::Receiver<bool>) {
        let mut reloads = 0;
        while tokio::time::timeout(KEY_RELOAD_INTERVAL, shutdown.wait_for(|stop| *stop)).await.is_err() {
            reloads = (reloads + 1) % RELOADS_PER_ROTATION_CHECK;
            let result =
                if reloads == 0 { self.keys.rotate_if_due().await } else { self.keys.reload().await };
            if let Err(error) = result {
                tracing::warn!(%error, "signing keys could not be reloaded; the last known keys stay in use");
            }
            let keys = &self.tickets.keys;
            let result = if reloads == 0 { keys.rotate_if_due().await } else { keys.reload().await };
            if let Err(error) = result {
                tracing::warn!(%error, "ticket keys could not be reloaded; the last known keys stay in use");
            }
        }
    }

    /// The caller that an access token stands for.
    pub async fn caller(&self, token: &str) -> Result<Arc<Caller>, TokenError> {
        let caller = self.verify_access_token(token)?;
        match self.grant_status.is_live(&caller.grant).await {
            Ok(true) => Ok(caller),
            Ok(false) => Err(TokenError::Revoked),
            Err(error) => Err(TokenError::Unavailable(error)),
        }
    }

    /// Verifies signature, issuer, audience and time of an access token, but not whether its grant is live.
    fn verify_access_token(&self, token: &str) -> Result<Arc<Caller>, TokenError> {
        let now = self.clock.now();
        if let Some(caller) = self.token_cache.find(token, &self.keys, now) {
            return Ok(caller);
        }
        let (presented, kid): (AccessTokenClaims, _) =
            jwt::verify_with_kid(&self.keys, token).ok_or(TokenError::Invalid)?;
        let caller = presented.caller(&self.settings, now).ok_or_else(|| {
            let is_expired = presented.is_expired(&self.settings, now);
            if is_expired { TokenError::Expired } else { TokenError::Invalid }
        })?;
        let known = VerifiedToken::new(caller, &kid, presented.validity());
        let caller = known.caller.clone();
        self.token_cache.insert(token, known);
        Ok(caller)
    }

    /// The claims of an `id_token_hint`, if it is an id_token of this provider. The caller compares its audience.
    fn verify_hint(&self, token: &str) -> Option<IdTokenHint> {
        jwt::verify::<IdTokenHint>(&self.keys, token).filter(|hint| hint.is_valid_for(&self.settings))
    }

    /// Revokes a grant; this node refuses its tokens at once.
    async fn revoke(&self, grant: &GrantId, context: &AuditContext, note: &str) -> store::Result<bool> {
        let revoked = self.store.revoke_grant(grant, self.clock.now(), context, note).await?;
        self.grant_status.mark_revoked(grant);
        Ok(revoked)
    }
}
