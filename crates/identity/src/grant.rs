//! What a code is bound to and what a grant remembers, as the store keeps them: JSON that only this room reads.

use domain::{Scopes, Ticks};
use serde::{Deserialize, Serialize};

/// What an authorization code is bound to, beside its client, its user and its tenant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CodeBinding {
    pub(crate) redirect_uri: String,
    pub(crate) challenge: Option<String>,
    /// Whether the client uses PKCE at all.
    pub(crate) ignores_pkce: bool,
    pub(crate) nonce: Option<String>,
    /// Whether the client asked for more than it gets, and must be told.
    #[serde(rename = "tells_scope")]
    pub(crate) reports_scope: bool,
    pub(crate) details: GrantDetails,
}

/// What a grant remembers for the tokens that come of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct GrantDetails {
    scope: String,
    authenticated_at: i64,
    pub(crate) methods: String,
}

impl GrantDetails {
    pub(crate) fn new(scopes: Scopes, authenticated_at: Ticks, methods: &str) -> Self {
        Self { scope: scopes.to_string(), authenticated_at: authenticated_at.0, methods: methods.into() }
    }

    pub(crate) fn from_json(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(crate) fn scopes(&self) -> Scopes {
        Scopes::parse(&self.scope).scopes
    }

    pub(crate) fn authenticated_at(&self) -> Ticks {
        Ticks(self.authenticated_at)
    }
}

impl CodeBinding {
    pub(crate) fn from_json(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
