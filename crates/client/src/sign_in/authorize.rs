//! Where the user's browser is sent, and what has to be remembered until it comes back.

use std::fmt;

use aws_lc_rs::digest::{SHA256, digest};
use domain::Scope;
use domain::secret::base64url;
use serde::{Deserialize, Serialize};

/// What to ask the user for.
///
/// ```
/// use aldaba_client::sign_in::AuthorizationRequest;
///
/// let ask = AuthorizationRequest::accounting().tenant("7f0c").login_hint("maria@example.com");
/// # let _ = ask;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationRequest {
    scopes: Vec<String>,
    extra: Vec<(&'static str, String)>,
}

impl AuthorizationRequest {
    /// The scopes of the accounting API, with webhooks, and with tokens that can be renewed.
    pub fn accounting() -> Self {
        use Scope::{Accounting, Core, Management, OfflineAccess, OpenId, Webhooks};
        Self::scopes([OfflineAccess, OpenId, Core, Accounting, Management, Webhooks].map(Scope::name))
    }

    /// The scopes of the payroll API, with tokens that can be renewed.
    pub fn payroll() -> Self {
        use Scope::{IdInfo, OfflineAccess, OpenId, Payroll};
        Self::scopes([OfflineAccess, OpenId, IdInfo, Payroll].map(Scope::name))
    }

    /// Any scopes. Without `openid` there is no id_token, without `offline_access` nothing to renew tokens with.
    pub fn scopes<T: Into<String>>(scopes: impl IntoIterator<Item = T>) -> Self {
        Self { scopes: scopes.into_iter().map(Into::into).collect(), extra: Vec::new() }
    }

    /// One scope more.
    pub fn with_scope(mut self, scope: impl Into<String>) -> Self {
        let scope = scope.into();
        if !self.scopes.contains(&scope) {
            self.scopes.push(scope);
        }
        self
    }

    /// Everything that another asks for, too: both APIs with one sign-in.
    pub fn with_scopes_of(self, other: &Self) -> Self {
        other.scopes.iter().cloned().fold(self, Self::with_scope)
    }

    /// Preselects this tenant where the user has several; the user still chooses.
    pub fn tenant(self, id: &str) -> Self {
        self.with_parameter("acr_values", format!("tenant:{id}"))
    }

    /// Fills in the name on the sign-in page.
    pub fn login_hint(self, name: &str) -> Self {
        self.with_parameter("login_hint", name.to_owned())
    }

    /// `none`, `login`, `consent` or `select_account`.
    pub fn prompt(self, prompt: &str) -> Self {
        self.with_parameter("prompt", prompt.to_owned())
    }

    /// Asks for a new password entry where the last one is longer ago.
    pub fn max_age_seconds(self, seconds: u64) -> Self {
        self.with_parameter("max_age", seconds.to_string())
    }

    /// `es` or `en`.
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

/// A sign-in that has begun.
#[derive(Clone, Debug)]
pub struct StartedSignIn {
    /// Send the browser there.
    pub url: String,
    /// Keep this for the browser's return: in its session, never in another's.
    pub pending: PendingSignIn,
}

/// What has to be remembered between the start of a sign-in and its callback. Belongs to one browser.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingSignIn {
    pub(super) state: String,
    pub(super) nonce: String,
    pub(super) verifier: String,
    pub(super) expects_id_token: bool,
}

impl PendingSignIn {
    /// To find it again among several, by the callback's parameter of this name.
    pub fn state(&self) -> &str {
        &self.state
    }
}

impl fmt::Debug for PendingSignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("state", &self.state).finish_non_exhaustive()
    }
}

/// PKCE's S256.
pub(super) fn challenge(verifier: &str) -> String {
    base64url(digest(&SHA256, verifier.as_bytes()).as_ref())
}
