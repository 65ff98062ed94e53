//! The names of the cookies and the `Set-Cookie` values that set and clear them.

use axum::http::HeaderValue;
use domain::Secret;

/// The names of the cookies. Browsers restrict `__Host-` cookies to this host and to https.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CookieNames {
    pub(crate) browser_id: &'static str,
    pub(crate) session: &'static str,
    attributes: &'static str,
}

impl CookieNames {
    pub(crate) fn new(is_https: bool) -> Self {
        if is_https {
            Self {
                browser_id: "__Host-aldaba-browser",
                session: "__Host-aldaba-session",
                attributes: "; Path=/; HttpOnly; SameSite=Lax; Secure",
            }
        } else {
            Self {
                browser_id: "aldaba-browser",
                session: "aldaba-session",
                attributes: "; Path=/; HttpOnly; SameSite=Lax",
            }
        }
    }

    pub(crate) fn set(&self, name: &str, value: &Secret) -> Option<HeaderValue> {
        let mut line =
            HeaderValue::from_str(&format!("{name}={}{}", value.reveal(), self.attributes)).ok()?;
        line.set_sensitive(true);
        Some(line)
    }

    pub(crate) fn clear(&self, name: &str) -> Option<HeaderValue> {
        HeaderValue::from_str(&format!("{name}={}; Max-Age=0", self.attributes)).ok()
    }
}
