//! Keeps a sign-in of a sandbox that the portal has begun in a cookie of the developer's browser, encrypted for the session
//! that began it: what another session brings back ends nothing.

use axum::http::HeaderValue;
use axum::http::request::Parts;
use domain::secret::base64url;
use domain::{Secret, Ticks};
use serde::{Deserialize, Serialize};
use store::StoreError;

use super::RealmPages;
use super::browser::cookie;
use crate::flow::ticket::TICKET_TTL;
use crate::params::Params;
use crate::sandbox_sign_in::SandboxSignIn;

const PURPOSE: &str = "sandbox sign-in";
/// Browsers refuse longer cookies, their name and attributes included.
const BYTES_MAX: usize = 3800;

/// A sign-in of a sandbox on its way through the browser.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SandboxRun {
    pub sign_in: SandboxSignIn,
    /// The query that the redirect address got, once the browser is back.
    pub callback: Option<String>,
}

impl SandboxRun {
    /// Whether the query of a callback belongs to this sign-in: its `state` is the one of the authorization request.
    pub fn owns_callback(&self, query: &str) -> bool {
        Params::parse(query.as_bytes()).get("state") == Some(&self.sign_in.state)
    }
}

/// The content of the cookie.
#[derive(Serialize, Deserialize)]
struct KeptRun {
    run: SandboxRun,
    kept_at: i64,
}

impl RealmPages {
    /// The cookie that keeps a sign-in for this session; none without a session, or where it would be too long.
    pub async fn keep_sandbox_run(
        &self,
        parts: &mut Parts,
        run: &SandboxRun,
    ) -> Result<Option<HeaderValue>, StoreError> {
        let Some(purpose) = self.run_purpose(parts).await else { return Ok(None) };
        let kept = KeptRun { run: run.clone(), kept_at: self.site.clock.now().0 };
        let text = self.site.tickets.seal_value(&purpose, &kept)?;
        if text.len() > BYTES_MAX {
            return Ok(None);
        }
        let cookies = self.site.cookies;
        Ok(cookies.set_for(cookies.sandbox_run, &Secret::new(text), TICKET_TTL))
    }

    /// The sign-in that this session keeps.
    pub async fn kept_sandbox_run(&self, parts: &mut Parts) -> Option<SandboxRun> {
        let purpose = self.run_purpose(parts).await?;
        let text = cookie(&parts.headers, self.site.cookies.sandbox_run, BYTES_MAX)?;
        let kept: KeptRun = self.site.tickets.open_value(&purpose, text)?;
        let age = self.site.clock.now().since(Ticks(kept.kept_at));
        (age <= TICKET_TTL).then_some(kept.run)
    }

    /// Clears the cookie: the sign-in has ended.
    pub fn forget_sandbox_run(&self) -> Option<HeaderValue> {
        self.site.cookies.clear(self.site.cookies.sandbox_run)
    }

    /// What the value is encrypted for: this session alone.
    async fn run_purpose(&self, parts: &mut Parts) -> Option<String> {
        let session = self.browser(parts).await.session?;
        Some(format!("{PURPOSE} {}", base64url(&self.site.vault.fingerprint(PURPOSE, &session))))
    }
}
