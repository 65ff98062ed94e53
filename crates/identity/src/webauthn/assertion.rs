//! The verification of an assertion: a sign-in with a registered credential (WebAuthn, section 7.2).

use serde::Deserialize;

use super::authenticator_data::{AUTHENTICATOR_DATA_BYTES_MAX, AuthenticatorData};
use super::challenge::AssertionChallenge;
use super::client_data::{Ceremony, ClientData};
use super::cose::PublicKey;
use super::credential::{Credential, CredentialId, UserHandle};
use super::encoding::decode;
use super::error::{Field, WebauthnError};
use super::relying_party::RelyingParty;
use super::{PUBLIC_KEY, RESPONSE_BYTES_MAX};

/// That of an RSA key of 4,096 bits is the longest.
const SIGNATURE_BYTES_MAX: usize = 512;

/// A browser's answer to [`super::request_options`], parsed and not yet verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssertionResponse {
    /// The credential that has signed, by which the caller finds it and its account.
    pub credential_id: CredentialId,
    /// The account that the authenticator has stored with the credential.
    pub user_handle: Option<UserHandle>,
    client_data: ClientData,
    authenticator_data: Vec<u8>,
    signature: Vec<u8>,
}

/// The account that the credential is registered for.
#[derive(Clone, Copy, Debug)]
pub enum ExpectedUser<'a> {
    /// The user was known before the ceremony: a password or a session said who it is.
    Known(&'a UserHandle),
    /// The passkey alone says who signs in, so the response must name the account.
    Discovered(&'a UserHandle),
}

/// A verified assertion, and what changes in the stored credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assertion {
    pub sign_count: u32,
    pub is_backed_up: bool,
    /// The authenticator counts its signatures, but this count is not above the stored one: the credential may have been
    /// copied, or two assertions arrived out of order. The caller decides; the signature is valid.
    pub is_count_stale: bool,
}

/// The members of `AuthenticationResponseJSON` that are read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResponseJson<'a> {
    id: &'a str,
    raw_id: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(borrow)]
    response: AssertionJson<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AssertionJson<'a> {
    #[serde(rename = "clientDataJSON")]
    client_data_json: &'a str,
    authenticator_data: &'a str,
    signature: &'a str,
    #[serde(default)]
    user_handle: Option<&'a str>,
}

impl AssertionResponse {
    /// Parses the JSON form of the response (`AuthenticationResponseJSON`), as `passkey.js` sends it.
    pub fn parse(json: &str) -> Result<Self, WebauthnError> {
        if json.len() > RESPONSE_BYTES_MAX {
            return Err(WebauthnError::ResponseTooLong(json.len()));
        }
        let parsed: ResponseJson<'_> =
            serde_json::from_str(json).map_err(|error| WebauthnError::response(&error))?;
        if parsed.kind != PUBLIC_KEY {
            return Err(WebauthnError::CredentialType);
        }
        let AssertionJson { client_data_json, authenticator_data, signature, user_handle } = parsed.response;
        Ok(Self {
            credential_id: CredentialId::decode_both(parsed.id, parsed.raw_id)?,
            user_handle: user_handle.map(UserHandle::decode).transpose()?,
            client_data: ClientData::decode(client_data_json)?,
            authenticator_data: decode(
                authenticator_data,
                Field::AuthenticatorData,
                AUTHENTICATOR_DATA_BYTES_MAX,
            )?,
            signature: decode(signature, Field::Signature, SIGNATURE_BYTES_MAX)?,
        })
    }

    /// Verifies the response to a challenge with the stored credential that it names and the account that this credential
    /// belongs to. The caller accepts each challenge once.
    pub fn verify(
        &self,
        relying_party: &RelyingParty,
        challenge: &AssertionChallenge,
        credential: &Credential,
        user: ExpectedUser<'_>,
    ) -> Result<Assertion, WebauthnError> {
        if self.credential_id != credential.id {
            return Err(WebauthnError::CredentialId);
        }
        self.check_user(user)?;
        self.client_data.check(Ceremony::Assertion, &challenge.0, relying_party)?;
        let data = AuthenticatorData::parse(&self.authenticator_data)?;
        data.check(relying_party)?;
        if data.is_backup_eligible() != credential.is_backup_eligible {
            return Err(WebauthnError::BackupEligibility);
        }
        let signed = [&self.authenticator_data[..], self.client_data.sha256()].concat();
        if !PublicKey::parse(&credential.public_key)?.verifies(&signed, &self.signature) {
            return Err(WebauthnError::Signature);
        }
        let is_counting = data.sign_count != 0 || credential.sign_count != 0;
        Ok(Assertion {
            sign_count: data.sign_count,
            is_backed_up: data.is_backed_up(),
            is_count_stale: is_counting && data.sign_count <= credential.sign_count,
        })
    }

    fn check_user(&self, user: ExpectedUser<'_>) -> Result<(), WebauthnError> {
        let (ExpectedUser::Known(expected) | ExpectedUser::Discovered(expected)) = user;
        match (&self.user_handle, user) {
            (Some(handle), _) if handle != expected => Err(WebauthnError::UserHandle),
            (None, ExpectedUser::Discovered(_)) => Err(WebauthnError::NoUserHandle),
            _ => Ok(()),
        }
    }
}
