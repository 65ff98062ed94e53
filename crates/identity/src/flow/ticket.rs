//! Tickets carry a pending request from page to page. They are encrypted and authenticated, and bound to the
//! browser by a cookie, so that another site cannot make a browser submit someone else's ticket.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::secret::base64url;
use domain::{ClientId, Random, Secret, Ticks};
use serde::{Deserialize, Serialize};
use store::{StoreError, Vault};

use crate::authorization_request::AuthorizationRequest;

const PURPOSE: &str = "ticket";
const BROWSER: &str = "browser";
const TTL: Duration = Duration::from_secs(30 * 60);
/// Longer tickets are refused.
const BYTES_MAX: usize = 48 * 1024;

/// The request that the pages are completing. The JSON names are those of earlier versions: a browser may hold a ticket
/// across an upgrade.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum PendingRequest {
    #[serde(rename = "Authorize")]
    Authorization(Box<AuthorizationRequest>),
    Permissions,
    #[serde(rename = "SignOut")]
    Logout(LogoutRequest),
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
    pub(crate) vault: Arc<Vault>,
    pub(crate) random: Arc<dyn Random>,
}

impl Tickets {
    /// Issues a ticket for this browser. `None` if it would be too long for a URL.
    pub(crate) fn issue(
        &self,
        pending: PendingRequest,
        browser_id: &Secret,
        started_at: Ticks,
    ) -> store::Result<Option<String>> {
        let ticket =
            Ticket { pending, browser_id: self.browser_fingerprint(browser_id), started_at: started_at.0 };
        let plain =
            serde_json::to_string(&ticket).map_err(|error| StoreError::Internal(error.to_string()))?;
        let text = base64url(&self.vault.seal(&*self.random, PURPOSE, &plain)?);
        Ok((text.len() <= BYTES_MAX).then_some(text))
    }

    pub(crate) fn open(&self, text: &str, browser_id: Option<&Secret>, now: Ticks) -> TicketState {
        let Some(ticket) = self.read(text) else { return TicketState::Unreadable };
        let is_own =
            browser_id.is_some_and(|browser_id| self.browser_fingerprint(browser_id) == ticket.browser_id);
        if is_own && now.since(ticket.started_at()) <= TTL {
            TicketState::Valid(ticket)
        } else {
            TicketState::Stale(ticket.pending)
        }
    }

    fn read(&self, text: &str) -> Option<Ticket> {
        if text.len() > BYTES_MAX {
            return None;
        }
        let sealed = URL_SAFE_NO_PAD.decode(text).ok()?;
        let plain = self.vault.open(PURPOSE, &sealed).ok()?;
        serde_json::from_str(plain.reveal()).ok()
    }

    /// The fingerprint of the browser id that the ticket contains.
    fn browser_fingerprint(&self, browser_id: &Secret) -> String {
        base64url(&self.vault.fingerprint(BROWSER, browser_id))
    }
}
