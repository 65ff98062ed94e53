//! The authenticator data (WebAuthn, section 6.1): what the authenticator says about a ceremony, and signs.

use aws_lc_rs::digest::{SHA256, digest};

use super::cbor::{self, CborError};
use super::cose::KEY_BYTES_MAX;
use super::credential::{Aaguid, CREDENTIAL_ID_BYTES_MAX, CredentialId};
use super::error::{Field, WebauthnError};
use super::relying_party::RelyingParty;

/// Room for the longest credential id, the longest key, and extensions.
pub(super) const AUTHENTICATOR_DATA_BYTES_MAX: usize = 4096;

const USER_PRESENT: u8 = 1;
const USER_VERIFIED: u8 = 1 << 2;
const BACKUP_ELIGIBLE: u8 = 1 << 3;
const BACKED_UP: u8 = 1 << 4;
const ATTESTED_CREDENTIAL: u8 = 1 << 6;
const EXTENSIONS: u8 = 1 << 7;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AuthenticatorData<'a> {
    relying_party_sha256: [u8; 32],
    flags: u8,
    pub(super) sign_count: u32,
    pub(super) credential: Option<AttestedCredential<'a>>,
}

/// A new credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AttestedCredential<'a> {
    pub(super) aaguid: Aaguid,
    pub(super) id: CredentialId,
    /// A COSE key.
    pub(super) public_key: &'a [u8],
}

impl<'a> AuthenticatorData<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, WebauthnError> {
        if bytes.len() > AUTHENTICATOR_DATA_BYTES_MAX {
            return Err(WebauthnError::Length(Field::AuthenticatorData));
        }
        let mut rest = bytes;
        let relying_party_sha256 = take(&mut rest)?;
        let [flags] = take(&mut rest)?;
        let sign_count = u32::from_be_bytes(take(&mut rest)?);
        let credential =
            if flags & ATTESTED_CREDENTIAL == 0 { None } else { Some(AttestedCredential::take(&mut rest)?) };
        if flags & EXTENSIONS != 0 {
            rest = take_extensions(rest)?;
        }
        if !rest.is_empty() {
            return Err(WebauthnError::Cbor(Field::AuthenticatorData, CborError::TrailingBytes));
        }
        Ok(Self { relying_party_sha256, flags, sign_count, credential })
    }

    /// Relying party, presence and verification of the user, and that the backup flags are consistent.
    pub(super) fn check(&self, relying_party: &RelyingParty) -> Result<(), WebauthnError> {
        if digest(&SHA256, relying_party.id.as_bytes()).as_ref() != self.relying_party_sha256 {
            return Err(WebauthnError::RelyingPartyId);
        }
        if !self.has(USER_PRESENT) {
            return Err(WebauthnError::UserNotPresent);
        }
        if !self.has(USER_VERIFIED) {
            return Err(WebauthnError::UserNotVerified);
        }
        if self.is_backed_up() && !self.is_backup_eligible() {
            return Err(WebauthnError::BackupState);
        }
        Ok(())
    }

    pub(super) fn is_backup_eligible(&self) -> bool {
        self.has(BACKUP_ELIGIBLE)
    }

    pub(super) fn is_backed_up(&self) -> bool {
        self.has(BACKED_UP)
    }

    fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

impl<'a> AttestedCredential<'a> {
    fn take(rest: &mut &'a [u8]) -> Result<Self, WebauthnError> {
        let aaguid = take(rest)?;
        let id_length = usize::from(u16::from_be_bytes(take(rest)?));
        if id_length > CREDENTIAL_ID_BYTES_MAX {
            return Err(WebauthnError::Length(Field::CredentialId));
        }
        let (id, after_id) = rest.split_at_checked(id_length).ok_or_else(truncated)?;
        let id = CredentialId::new(id).ok_or(WebauthnError::Length(Field::CredentialId))?;
        let after_key = match cbor::decode_first(after_id) {
            Ok((_, after_key)) => after_key,
            Err(error) => return Err(WebauthnError::Cbor(Field::PublicKey, error)),
        };
        let public_key = &after_id[..after_id.len() - after_key.len()];
        if public_key.len() > KEY_BYTES_MAX {
            return Err(WebauthnError::Length(Field::PublicKey));
        }
        *rest = after_key;
        Ok(Self { aaguid, id, public_key })
    }
}

/// Extensions are a map. None are asked for, and those that an authenticator adds are ignored.
fn take_extensions(bytes: &[u8]) -> Result<&[u8], WebauthnError> {
    let (extensions, rest) =
        cbor::decode_first(bytes).map_err(|error| WebauthnError::Cbor(Field::Extensions, error))?;
    if extensions.as_map().is_none() {
        return Err(WebauthnError::Structure(Field::Extensions));
    }
    Ok(rest)
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], WebauthnError> {
    let (taken, after) = rest.split_first_chunk().ok_or_else(truncated)?;
    *rest = after;
    Ok(*taken)
}

fn truncated() -> WebauthnError {
    WebauthnError::Cbor(Field::AuthenticatorData, CborError::Truncated)
}
