//! What the identity provider is told from outside.

use std::time::Duration;

use crate::keys::KeyPolicy;

/// How far clocks may differ.
pub const CLOCK_TOLERANCE: Duration = Duration::from_secs(5);

#[derive(Clone, Debug)]
pub struct Settings {
    /// `{auth_url}/auth/core`, whatever a request's Host says.
    pub issuer: String,
    pub code_ttl: Duration,
    pub access_token_ttl: Duration,
    pub refresh_token_ttl: Duration,
    /// Whether each refresh begins the time anew.
    pub refresh_sliding: bool,
    pub refresh_grace: Duration,
    pub session_ttl: Duration,
    /// How long a key signs; zero: until somebody rotates.
    pub key_period: Duration,
    /// How long a key is published before it signs.
    pub key_lead: Duration,
    /// Failed sign-ins that one address may make in a row.
    pub address_failures_max: u32,
    /// Passwords that are checked at the same time, and how many more may wait.
    pub hashing_parallel: usize,
    pub hashing_queue_max: usize,
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

    pub(crate) fn is_https(&self) -> bool {
        self.issuer.starts_with("https://")
    }

    /// The path under which everything here lies: `/auth/core`.
    pub fn base_path(&self) -> &str {
        let rest = self.issuer.split_once("://").map_or("", |(_, rest)| rest);
        rest.find('/').and_then(|slash| rest.get(slash..)).unwrap_or("/auth/core")
    }
}

/// How long an id_token lives, wherever it is given.
pub(crate) const ID_TOKEN_TTL: Duration = Duration::from_secs(300);
