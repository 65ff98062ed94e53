//! The names of the cookies and the `Set-Cookie` values that set and clear them.

use std::time::Duration;

use axum::http::HeaderValue;
use domain::{Realm, Secret};

const YEAR_SECONDS: u64 = 365 * 24 * 3600;

/// The names of the cookies. Browsers restrict `__Host-` cookies to this host and to https.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CookieNames {
    pub(crate) browser_id: &'static str,
    pub(crate) session: &'static str,
    /// Recognises a browser that has signed in before.
    pub(crate) known_browser: &'static str,
    /// The language that the person selected on a page.
    pub(crate) lang: &'static str,
    /// Keeps a sign-in of a sandbox that the portal has begun.
    pub(crate) sandbox_run: &'static str,
    attributes: &'static str,
}

impl CookieNames {
    pub(crate) fn new(realm: Realm, is_https: bool) -> Self {
        macro_rules! names {
            ($prefix:literal, $attributes:literal) => {
                Self {
                    browser_id: concat!($prefix, "-browser"),
                    session: concat!($prefix, "-session"),
                    known_browser: concat!($prefix, "-known-browser"),
                    lang: concat!($prefix, "-lang"),
                    sandbox_run: concat!($prefix, "-sandbox-sign-in"),
                    attributes: $attributes,
                }
            };
        }
        // Cookies do not know ports, and realms may share a host: each has names of its own.
        match (realm, is_https) {
            (Realm::Users, true) => {
                names!("__Host-aldaba", "; Path=/; HttpOnly; SameSite=Lax; Secure")
            }
            (Realm::Users, false) => names!("aldaba", "; Path=/; HttpOnly; SameSite=Lax"),
            (Realm::Developers, true) => {
                names!("__Host-aldaba-developer", "; Path=/; HttpOnly; SameSite=Lax; Secure")
            }
            (Realm::Developers, false) => names!("aldaba-developer", "; Path=/; HttpOnly; SameSite=Lax"),
            (Realm::Operators, true) => {
                names!("__Host-aldaba-operator", "; Path=/; HttpOnly; SameSite=Lax; Secure")
            }
            (Realm::Operators, false) => names!("aldaba-operator", "; Path=/; HttpOnly; SameSite=Lax"),
        }
    }

    /// Sets a cookie until the browser is closed.
    pub(crate) fn set(&self, name: &str, value: &Secret) -> Option<HeaderValue> {
        sensitive(&format!("{name}={}{}", value.reveal(), self.attributes))
    }

    /// Sets a cookie for a year.
    pub(crate) fn set_lasting(&self, name: &str, value: &Secret) -> Option<HeaderValue> {
        self.set_for(name, value, Duration::from_secs(YEAR_SECONDS))
    }

    /// Sets a cookie for some time.
    pub(crate) fn set_for(&self, name: &str, value: &Secret, span: Duration) -> Option<HeaderValue> {
        sensitive(&format!("{name}={}{}; Max-Age={}", value.reveal(), self.attributes, span.as_secs()))
    }

    pub(crate) fn clear(&self, name: &str) -> Option<HeaderValue> {
        HeaderValue::from_str(&format!("{name}={}; Max-Age=0", self.attributes)).ok()
    }
}

fn sensitive(line: &str) -> Option<HeaderValue> {
    let mut line = HeaderValue::from_str(line).ok()?;
    line.set_sensitive(true);
    Some(line)
}
