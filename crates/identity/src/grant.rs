//! What a code is bound to and what a grant remembers, as the store keeps them: JSON that only this room reads.

use domain::{Scopes, Ticks};
use serde::{Deserialize, Serialize};

/// What an authorization code is bound to, beside its client, its user and its tenant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Binding {
    pub(crate) redirect_uri: String,
    pub(crate) challenge: Option<String>,
    /// Whether the client uses PKCE at all.
    pub(crate) ignores_pkce: bool,
    pub(crate) nonce: Option<String>,
    /// Whether the client asked for more than it gets, and must be told.
    pub(crate) tells_scope: bool,
    pub(crate) details: Details,
}

/// What a grant remembers for the tokens that come of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Details {
    scope: String,
    authenticated_at: i64,
    pub(crate) methods: String,
}

impl Details {
    pub(crate) fn new(scopes: Scopes, authenticated_at: Ticks, methods: &str) -> Self {
        Self { scope: scopes.to_string(), authenticated_at: authenticated_at.0, methods: methods.into() }
    }

    pub(crate) fn read(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    pub(crate) fn write(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(crate) fn scopes(&self) -> Scopes {
        Scopes::parse(&self.scope).scopes
    }

    pub(crate) fn authenticated_at(&self) -> Ticks {
        Ticks(self.authenticated_at)
    }
}

impl Binding {
    pub(crate) fn read(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    pub(crate) fn write(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
