//! Back-channel logout (OpenID Connect Back-Channel Logout 1.0): tells clients that a session in which they got an id_token
//! has ended. The store queues a logout in the transaction that ends the session; the sender delivers it.

mod decision;
mod sender;
mod token;

pub use sender::{LogoutSender, LogoutTransport};

use domain::secret::base64url;
use domain::{ClientId, Guid, Secret};

use crate::Identity;

/// The vault's purpose for `sid`.
const SID: &str = "sid";
const SID_BYTES: usize = 16;

impl Identity {
    /// The `sid` of a session for one client. It follows from the session's id, but tells nothing about it, and clients cannot
    /// compare theirs.
    pub(crate) fn sid(&self, session: Guid, client: &ClientId) -> String {
        let hash = self.vault.fingerprint(SID, &Secret::new(format!("{session} {client}")));
        base64url(hash.get(..SID_BYTES).unwrap_or(&hash))
    }
}
