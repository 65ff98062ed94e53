//! The client data: what the browser says about a ceremony. The authenticator signs its hash.

use aws_lc_rs::digest::{SHA256, digest};
use serde::Deserialize;

use super::challenge::Challenge;
use super::encoding::decode;
use super::error::{Field, WebauthnError};
use super::relying_party::RelyingParty;

const CLIENT_DATA_BYTES_MAX: usize = 4096;
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ceremony {
    Registration,
    Assertion,
}

impl Ceremony {
    const fn client_data_type(self) -> &'static str {
        match self {
            Self::Registration => "webauthn.create",
            Self::Assertion => "webauthn.get",
        }
    }
}

/// The client data as the browser sent it, and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClientData {
    sha256: [u8; 32],
    members: Members,
}

/// Browsers may add members at any time: unknown ones are ignored.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
struct Members {
    #[serde(rename = "type")]
    kind: String,
    challenge: String,
    origin: String,
    #[serde(default)]
    cross_origin: Option<bool>,
    #[serde(default)]
    top_origin: Option<String>,
}

impl ClientData {
    pub(super) fn decode(text: &str) -> Result<Self, WebauthnError> {
        let bytes = decode(text, Field::ClientData, CLIENT_DATA_BYTES_MAX)?;
        // The hash is over the bytes as they came, with a byte order mark if there is one.
        let mut sha256 = [0; 32];
        sha256.copy_from_slice(digest(&SHA256, &bytes).as_ref());
        let json = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
        let members = serde_json::from_slice(json);
        let members = members.map_err(|error| WebauthnError::client_data_json(&error))?;
        Ok(Self { sha256, members })
    }

    pub(super) fn sha256(&self) -> &[u8; 32] {
        &self.sha256
    }

    /// Type, challenge, origin and frames.
    pub(super) fn check(
        &self,
        ceremony: Ceremony,
        challenge: &Challenge,
        relying_party: &RelyingParty,
    ) -> Result<(), WebauthnError> {
        let Members { kind, challenge: received, origin, cross_origin, top_origin } = &self.members;
        if kind != ceremony.client_data_type() {
            return Err(WebauthnError::Ceremony);
        }
        challenge.check(received)?;
        if !relying_party.origins.contains(origin) {
            return Err(WebauthnError::Origin);
        }
        // The pages cannot be framed, so no ceremony runs in a frame.
        if *cross_origin == Some(true) || top_origin.is_some() {
            return Err(WebauthnError::CrossOrigin);
        }
        Ok(())
    }
}
