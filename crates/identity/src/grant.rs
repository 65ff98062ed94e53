//! The JSON that codes and grants carry in the store. Only this crate reads it; its member names are persistent.

use domain::{Scopes, Ticks};
use serde::{Deserialize, Serialize};

/// What an authorization code is bound to besides its client, user and tenant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CodeBinding {
    pub(crate) redirect_uri: String,
    pub(crate) challenge: Option<String>,
    /// Whether the client was configured to ignore PKCE.
    pub(crate) ignores_pkce: bool,
    pub(crate) nonce: Option<String>,
    /// Whether the token response must contain `scope`, because it differs from the requested one.
    #[serde(rename = "tells_scope")]
    pub(crate) reports_scope: bool,
    pub(crate) details: GrantDetails,
}

/// What the tokens of a grant are issued from.
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
