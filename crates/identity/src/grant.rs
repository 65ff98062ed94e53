//! The JSON that codes and grants carry in the store. Only this crate reads it; its member names are persistent.

use domain::{Guid, Scope, Scopes, Ticks};
use serde::{Deserialize, Serialize};
use store::{GrantSession, Session};

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
    /// The browser's session; codes that no browser asked for have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<BoundSession>,
    pub(crate) details: GrantDetails,
}

/// The session in which a code was issued.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct BoundSession {
    id: Guid,
    expires_at: i64,
}

impl From<&Session> for BoundSession {
    fn from(session: &Session) -> Self {
        Self { id: session.id, expires_at: session.expires_at.0 }
    }
}

/// What the tokens of a grant are issued from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct GrantDetails {
    scope: String,
    authenticated_at: i64,
    pub(crate) methods: String,
    /// The `sid` of the id_tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sid: Option<String>,
}

impl GrantDetails {
    pub(crate) fn new(scopes: Scopes, authenticated_at: Ticks, methods: &str, sid: Option<&str>) -> Self {
        Self {
            scope: scopes.to_string(),
            authenticated_at: authenticated_at.0,
            methods: methods.into(),
            sid: sid.map(Into::into),
        }
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
    /// The session in which the exchange of the code issues an id_token, if it does.
    pub(crate) fn session(&self) -> Option<GrantSession> {
        let BoundSession { id, expires_at } = self.session?;
        let has_id_token = self.details.scopes().has(Scope::OpenId);
        has_id_token.then_some(GrantSession { id, expires_at: Ticks(expires_at) })
    }

    pub(crate) fn from_json(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
