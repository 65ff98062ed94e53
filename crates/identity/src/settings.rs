//! The settings of the identity provider.

use std::time::Duration;

use domain::{Realm, SecondFactorPolicies};

use crate::keys::KeyPolicy;
use crate::mail::MailIdentity;
use crate::site;

/// Tolerated clock skew.
pub const CLOCK_TOLERANCE: Duration = Duration::from_secs(5);

/// The portal's own redirect address, below the developers' URL.
pub const SANDBOX_CALLBACK_PATH: &str = "/sandbox/callback";

#[derive(Clone, Debug)]
pub struct Settings {
    /// `{auth_url}/auth/core`, independent of the Host header.
    pub issuer: String,
    pub code_ttl: Duration,
    pub access_token_ttl: Duration,
    pub refresh_token_ttl: Duration,
    /// Whether each refresh extends the lifetime of the refresh token.
    pub refresh_sliding: bool,
    pub refresh_grace: Duration,
    pub session_ttl: Duration,
    /// How long a key signs; zero disables automatic rotation.
    pub key_period: Duration,
    /// How long a key is published before it signs.
    pub key_lead: Duration,
    /// Failed sign-ins in a row that one address is allowed.
    pub address_failures_max: u32,
    /// Where each realm's pages are.
    pub realms: RealmUrls,
    pub mail: MailSettings,
    /// Whether developers without an invitation may register.
    pub is_registration_open: bool,
    /// Passwords that are hashed in parallel, and how many requests may wait for that.
    pub hashing_parallel: usize,
    pub hashing_queue_max: usize,
    pub second_factor: SecondFactorPolicies,
    /// Whether the sandboxes of teams are open.
    pub is_sandbox_open: bool,
    /// Whether this is `aldaba dev`, whose error pages show developers what `serve` keeps to itself.
    pub is_development: bool,
}

impl Settings {
    pub fn key_policy(&self) -> KeyPolicy {
        KeyPolicy {
            lead: self.key_lead,
            token_ttl_max: self.access_token_ttl.max(ID_TOKEN_TTL) + CLOCK_TOLERANCE,
            period: self.key_period,
        }
    }

    pub(crate) fn audience(&self) -> String {
        format!("{}/resources", self.issuer)
    }

    /// The portal's own redirect address. Any client of a team may use it, for the user of the team's sandbox alone.
    pub fn sandbox_redirect_uri(&self) -> String {
        format!("{}{SANDBOX_CALLBACK_PATH}", self.realms.developers)
    }

    /// The path of the issuer: `/auth/core`.
    pub fn base_path(&self) -> &str {
        site::base_path(&self.issuer)
    }
}

/// What mails and pages say about the service, and whether mails are sent.
#[derive(Clone, Debug)]
pub struct MailSettings {
    pub identity: MailIdentity,
    /// Whether a mail server is configured.
    pub is_sent: bool,
}

/// The absolute URLs below which the pages of the realms are.
#[derive(Clone, Debug)]
pub struct RealmUrls {
    /// The issuer.
    pub users: String,
    pub developers: String,
    pub operators: String,
}

impl RealmUrls {
    pub fn url(&self, realm: Realm) -> &str {
        match realm {
            Realm::Users => &self.users,
            Realm::Developers => &self.developers,
            Realm::Operators => &self.operators,
        }
    }
}

/// Lifetime of every id_token.
pub(crate) const ID_TOKEN_TTL: Duration = Duration::from_secs(300);
