//! Tickets carry a pending request from page to page. They are encrypted and authenticated, and bound to the
//! browser by a cookie, so that another site cannot make a browser submit someone else's ticket.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::secret::base64url;
use domain::{ClientId, Guid, Realm, Secret, Ticks};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use store::{StoreError, Vault};

use super::ticket_keys::{KEY_ID_BYTES, TicketKeyRing};
use crate::authorization_request::AuthorizationRequest;

const PURPOSE: &str = "ticket";
const BROWSER: &str = "browser";
/// How long a ticket is valid.
pub(crate) const TICKET_TTL: Duration = Duration::from_secs(30 * 60);
/// Longer tickets are refused.
const BYTES_MAX: usize = 48 * 1024;

/// The request that the pages are completing. The JSON names are those of earlier versions: a browser may hold a ticket
/// across an upgrade.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum PendingRequest {
    #[serde(rename = "Authorize")]
    Authorization(Box<AuthorizationRequest>),
    /// Nothing: the realm's home follows.
    #[serde(rename = "Permissions")]
    Home,
    #[serde(rename = "SignOut")]
    Logout(LogoutRequest),
    /// The page of the person's own second factors follows.
    SecondFactors,
    /// A page of the realm follows; its path and query, from the root of the host.
    Page(String),
    /// The page of a one-time link; the link's secret.
    Link(LinkToken),
}

impl PendingRequest {
    /// The address that the request finally leads to, if it is not a page of this service.
    pub(crate) fn destination(&self) -> Option<&str> {
        match self {
            Self::Authorization(request) => Some(&request.target.redirect_uri),
            Self::Home | Self::Logout(_) | Self::SecondFactors | Self::Page(_) | Self::Link(_) => None,
        }
    }
}

/// What one page hands to the next besides the request.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum TicketExtra {
    /// The password was right; the second factor is missing.
    Password {
        account: String,
        /// A mark of the password that was right: another one voids the ticket.
        password: String,
        verified_at: i64,
    },
    /// The secret of an authenticator app that is being added.
    Totp { secret: String },
}

impl std::fmt::Debug for TicketExtra {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Password { .. } => "Password(***)",
            Self::Totp { .. } => "Totp(***)",
        })
    }
}

/// The secret of a one-time link. `Debug` does not print it.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct LinkToken(pub(crate) String);

impl std::fmt::Debug for LinkToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LinkToken(***)")
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct LogoutRequest {
    pub(crate) client: Option<ClientId>,
    /// The post-logout redirect URI; `state` is added to it.
    pub(crate) uri: Option<String>,
    pub(crate) state: Option<String>,
    pub(crate) ui_locales: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Ticket {
    #[serde(rename = "errand")]
    pub(crate) pending: PendingRequest,
    #[serde(rename = "browser")]
    browser_id: String,
    started_at: i64,
    /// Tickets of earlier versions are the users'.
    #[serde(default)]
    realm: TicketRealm,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) extra: Option<TicketExtra>,
}

/// The realm of a ticket: in another one it cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct TicketRealm(i64);

impl From<Realm> for TicketRealm {
    fn from(realm: Realm) -> Self {
        Self(realm.code())
    }
}

impl Ticket {
    pub(crate) fn started_at(&self) -> Ticks {
        Ticks(self.started_at)
    }
}

/// The result of opening a ticket.
#[derive(Debug)]
pub(crate) enum TicketState {
    Valid(Ticket),
    /// Authentic, but expired or issued to another browser: the flow may start again.
    Stale(PendingRequest),
    Unreadable,
}

pub(crate) struct Tickets {
    pub(crate) keys: TicketKeyRing,
}

impl Tickets {
    /// Issues a ticket for this browser. `None` if it would be too long for a URL.
    pub(crate) fn issue(
        &self,
        realm: Realm,
        pending: PendingRequest,
        browser_id: &Secret,
        started_at: Ticks,
        extra: Option<TicketExtra>,
    ) -> store::Result<Option<String>> {
        let encrypting = self.keys.encrypting()?;
        let browser_id = browser_fingerprint(&encrypting.1, browser_id);
        let ticket = Ticket { pending, browser_id, started_at: started_at.0, realm: realm.into(), extra };
        let text = self.seal(&encrypting, PURPOSE, &ticket)?;
        Ok((text.len() <= BYTES_MAX).then_some(text))
    }

    /// Encrypts a value that a browser keeps for the service. Only the same `purpose` opens it.
    pub(crate) fn seal_value(&self, purpose: &str, value: &impl Serialize) -> store::Result<String> {
        self.seal(&self.keys.encrypting()?, purpose, value)
    }

    /// The value that [`Tickets::seal_value`] has encrypted.
    pub(crate) fn open_value<T: DeserializeOwned>(&self, purpose: &str, text: &str) -> Option<T> {
        self.unseal(purpose, text).map(|(value, _)| value)
    }

    fn seal(
        &self,
        (id, key): &(Guid, Arc<Vault>),
        purpose: &str,
        value: &impl Serialize,
    ) -> store::Result<String> {
        let plain = serde_json::to_string(value).map_err(|error| StoreError::Internal(error.to_string()))?;
        let mut sealed = id.as_bytes().to_vec();
        sealed.extend(key.seal(self.keys.random(), purpose, &plain)?);
        Ok(base64url(&sealed))
    }

    /// The value, and the key that it was encrypted with.
    fn unseal<T: DeserializeOwned>(&self, purpose: &str, text: &str) -> Option<(T, Arc<Vault>)> {
        if text.len() > BYTES_MAX {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (id, sealed) = bytes.split_at_checked(KEY_ID_BYTES)?;
        let key = self.keys.find(id)?;
        let plain = key.open(purpose, sealed).ok()?;
        Some((serde_json::from_str(plain.reveal()).ok()?, key))
    }

    pub(crate) fn open(
        &self,
        realm: Realm,
        text: &str,
        browser_id: Option<&Secret>,
        now: Ticks,
    ) -> TicketState {
        let of_realm = |(ticket, _): &(Ticket, _)| ticket.realm == realm.into();
        let Some((ticket, fingerprint)) = self.read(text, browser_id).filter(of_realm) else {
            return TicketState::Unreadable;
        };
        let is_own = fingerprint.is_some_and(|fingerprint| fingerprint == ticket.browser_id);
        if is_own && now.since(ticket.started_at()) <= TICKET_TTL {
            TicketState::Valid(ticket)
        } else {
            match ticket.pending {
                // It is worth as much as the link: nobody else may use it.
                PendingRequest::Link(_) if !is_own => TicketState::Unreadable,
                pending => TicketState::Stale(pending),
            }
        }
    }

    /// The ticket, and the fingerprint that it has if this browser got it.
    fn read(&self, text: &str, browser_id: Option<&Secret>) -> Option<(Ticket, Option<String>)> {
        let (ticket, key) = self.unseal(PURPOSE, text)?;
        Some((ticket, browser_id.map(|browser_id| browser_fingerprint(&key, browser_id))))
    }
}

/// The fingerprint of the browser id that the ticket contains.
fn browser_fingerprint(key: &Vault, browser_id: &Secret) -> String {
    base64url(&key.fingerprint(BROWSER, browser_id))
}
