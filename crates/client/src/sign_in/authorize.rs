//! The authorization request, and the state to store until the browser returns.

use std::fmt;

use aws_lc_rs::digest::{SHA256, digest};
use domain::Scope;
use domain::secret::base64url;
use serde::{Deserialize, Serialize};

/// The scopes and parameters of an authorization request.
///
/// ```
/// use aldaba_client::sign_in::AuthorizationRequest;
///
/// let request = AuthorizationRequest::accounting().tenant("7f0c").login_hint("maria@example.com");
/// # let _ = request;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationRequest {
    scopes: Vec<String>,
    extra: Vec<(&'static str, String)>,
}

impl AuthorizationRequest {
    /// The scopes of the accounting API and webhooks, with a refresh token.
    pub fn accounting() -> Self {
        use Scope::{Accounting, Core, Management, OfflineAccess, OpenId, Webhooks};
        Self::scopes([OfflineAccess, OpenId, Core, Accounting, Management, Webhooks].map(Scope::name))
    }

    /// The scopes of the payroll API, with a refresh token.
    pub fn payroll() -> Self {
        use Scope::{IdInfo, OfflineAccess, OpenId, Payroll};
        Self::scopes([OfflineAccess, OpenId, IdInfo, Payroll].map(Scope::name))
    }

    /// Any scopes. Without `openid` there is no id_token, without `offline_access` no refresh token.
    pub fn scopes<T: Into<String>>(scopes: impl IntoIterator<Item = T>) -> Self {
        Self { scopes: scopes.into_iter().map(Into::into).collect(), extra: Vec::new() }
    }

    /// Adds a scope.
    pub fn with_scope(mut self, scope: impl Into<String>) -> Self {
        let scope = scope.into();
        if !self.scopes.contains(&scope) {
            self.scopes.push(scope);
        }
        self
    }

    /// Adds the scopes of another request, to sign in for both APIs at once.
    pub fn with_scopes_of(self, other: &Self) -> Self {
        other.scopes.iter().cloned().fold(self, Self::with_scope)
    }

    /// Preselects a tenant if the user has several; the user can choose another one.
    pub fn tenant(self, id: &str) -> Self {
        self.with_parameter("acr_values", format!("tenant:{id}"))
    }

    /// Fills in the user name on the sign-in page.
    pub fn login_hint(self, name: &str) -> Self {
        self.with_parameter("login_hint", name.to_owned())
    }

    /// The parameter `prompt`: `none`, `login`, `consent` or `select_account`.
    pub fn prompt(self, prompt: &str) -> Self {
        self.with_parameter("prompt", prompt.to_owned())
    }

    /// Requires the user to authenticate again if the last time is longer ago (`max_age`).
    pub fn max_age_seconds(self, seconds: u64) -> Self {
        self.with_parameter("max_age", seconds.to_string())
    }

    /// The language of the pages: `es` or `en` (`ui_locales`).
    pub fn language(self, tag: &str) -> Self {
        self.with_parameter("ui_locales", tag.to_owned())
    }

    fn with_parameter(mut self, name: &'static str, value: String) -> Self {
        self.extra.retain(|(known, _)| *known != name);
        self.extra.push((name, value));
        self
    }

    pub(super) fn expects_id_token(&self) -> bool {
        self.scopes.iter().any(|scope| scope == Scope::OpenId.name())
    }

    pub(super) fn pairs(&self) -> impl Iterator<Item = (&str, String)> {
        let extra = self.extra.iter().map(|(name, value)| (*name, value.clone()));
        std::iter::once(("scope", self.scopes.join(" "))).chain(extra)
    }
}

/// A started sign-in.
#[derive(Clone, Debug)]
pub struct StartedSignIn {
    /// Redirect the browser to this URL.
    pub url: String,
    /// Store this in the session of this browser until it returns.
    pub pending: PendingSignIn,
}

/// The state of a sign-in between its start and its callback. It belongs to one browser.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingSignIn {
    pub(super) state: String,
    pub(super) nonce: String,
    pub(super) verifier: String,
    #[serde(alias = "wants_identity")]
    pub(super) expects_id_token: bool,
}

impl PendingSignIn {
    /// The parameter `state` of the callback, to find this sign-in among several.
    pub fn state(&self) -> &str {
        &self.state
    }
}

impl fmt::Debug for PendingSignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("state", &self.state).finish_non_exhaustive()
    }
}

/// The PKCE code challenge (S256).
pub(super) fn challenge(verifier: &str) -> String {
    base64url(digest(&SHA256, verifier.as_bytes()).as_ref())
}
