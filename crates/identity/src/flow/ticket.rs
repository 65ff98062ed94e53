//! Tickets: what a browser carries from page to page, sealed, so that it can be neither read nor changed,
//! and bound to the browser that it was given to, so that nobody can make another's browser send it.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::secret::base64url;
use domain::{ClientId, Random, Secret, Ticks};
use serde::{Deserialize, Serialize};
use store::{StoreError, Vault};

use crate::request::Authorization;

const PURPOSE: &str = "ticket";
const BROWSER: &str = "browser";
const TTL: Duration = Duration::from_secs(30 * 60);
/// Longer ones are not ours.
const BYTES_MAX: usize = 48 * 1024;

/// What somebody came for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Errand {
    Authorize(Box<Authorization>),
    Permissions,
    SignOut(SignOutErrand),
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SignOutErrand {
    pub(crate) client: Option<ClientId>,
    /// Where to go afterwards, and what to take along.
    pub(crate) uri: Option<String>,
    pub(crate) state: Option<String>,
    pub(crate) ui_locales: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Ticket {
    pub(crate) errand: Errand,
    browser: String,
    started_at: i64,
}

impl Ticket {
    pub(crate) fn started_at(&self) -> Ticks {
        Ticks(self.started_at)
    }
}

/// What a text that claims to be a ticket turned out to be.
#[derive(Debug)]
pub(crate) enum Opened {
    Valid(Ticket),
    /// Ours, but its time is over or it was given to another browser: the errand may begin anew.
    Stale(Errand),
    Unreadable,
}

pub(crate) struct Tickets {
    pub(crate) vault: Arc<Vault>,
    pub(crate) random: Arc<dyn Random>,
}

impl Tickets {
    /// A ticket for an errand that began then, in this browser. None where it would be longer than an
    /// address can be.
    pub(crate) fn issue(
        &self,
        errand: Errand,
        browser: &Secret,
        started_at: Ticks,
    ) -> store::Result<Option<String>> {
        let ticket = Ticket { errand, browser: self.mark(browser), started_at: started_at.0 };
        let plain =
            serde_json::to_string(&ticket).map_err(|error| StoreError::Internal(error.to_string()))?;
        let text = base64url(&self.vault.seal(&*self.random, PURPOSE, &plain)?);
        Ok((text.len() <= BYTES_MAX).then_some(text))
    }

    pub(crate) fn open(&self, text: &str, browser: Option<&Secret>, now: Ticks) -> Opened {
        let Some(ticket) = self.read(text) else { return Opened::Unreadable };
        let is_theirs = browser.is_some_and(|browser| self.mark(browser) == ticket.browser);
        if is_theirs && now.since(ticket.started_at()) <= TTL {
            Opened::Valid(ticket)
        } else {
            Opened::Stale(ticket.errand)
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

    /// What stands for a browser's cookie inside a ticket.
    fn mark(&self, browser: &Secret) -> String {
        base64url(&self.vault.fingerprint(BROWSER, browser))
    }
}
