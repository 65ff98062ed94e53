//! The pages of one realm: the identity provider as the people of that realm meet it.

use std::ops::Deref;
use std::sync::Arc;

use domain::Realm;

use crate::Identity;
use crate::cookies::CookieNames;
use crate::http::browser::BrowserContext;
use crate::webauthn::RelyingParty;

/// The pages of a realm: their paths and cookies, on top of what all realms share.
pub(crate) struct Site {
    identity: Arc<Identity>,
    pub(crate) realm: Realm,
    /// The path that all pages are below: `/auth/core`.
    pub(crate) base_path: String,
    /// Base path of the pages' static files.
    pub(crate) assets: String,
    pub(crate) cookies: CookieNames,
    /// Where passkeys of this realm are valid; none where they do not work.
    relying_party: Option<RelyingParty>,
}

impl Site {
    pub(crate) fn new(identity: Arc<Identity>, realm: Realm) -> Self {
        let url = identity.settings.realms.url(realm);
        let base_path = base_path(url).to_owned();
        let (assets, cookies) = (format!("{base_path}/look"), CookieNames::new(realm, is_https(url)));
        let relying_party = RelyingParty::at(url, &identity.settings.mail.identity.service).ok();
        Self { identity, realm, base_path, assets, cookies, relying_party }
    }

    /// The relying party for this browser. A page that was reached by an IP address cannot use passkeys.
    pub(crate) fn relying_party(&self, browser: &BrowserContext) -> Option<&RelyingParty> {
        self.relying_party.as_ref().filter(|_| !browser.is_at_ip_address)
    }

    /// What all realms share, for a task that outlives the request.
    pub(crate) fn shared(&self) -> Arc<Identity> {
        self.identity.clone()
    }

    /// The page that follows a sign-in which nothing else asked for.
    pub(crate) fn home(&self) -> &'static str {
        match self.realm {
            Realm::Users => "permissions",
            Realm::Developers | Realm::Operators => "",
        }
    }
}

impl Deref for Site {
    type Target = Identity;

    fn deref(&self) -> &Identity {
        &self.identity
    }
}

pub(crate) fn is_https(url: &str) -> bool {
    url.starts_with("https://")
}

/// The path of a URL, without a trailing slash.
pub(crate) fn base_path(url: &str) -> &str {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    rest.find('/').and_then(|slash| rest.get(slash..)).unwrap_or_default().trim_end_matches('/')
}
