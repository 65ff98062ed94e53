//! The registration of a new credential (WebAuthn, section 7.1).

use serde::Deserialize;

use super::attestation_object::{self, ATTESTATION_OBJECT_BYTES_MAX};
use super::authenticator_data::AuthenticatorData;
use super::challenge::RegistrationChallenge;
use super::client_data::{Ceremony, ClientData};
use super::cose::PublicKey;
use super::credential::{Credential, CredentialId, usable_transports};
use super::encoding::decode;
use super::error::{Field, WebauthnError};
use super::relying_party::RelyingParty;
use super::{PUBLIC_KEY, RESPONSE_BYTES_MAX};

/// A browser's answer to [`super::creation_options`], parsed and not yet verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistrationResponse {
    id: CredentialId,
    client_data: ClientData,
    attestation_object: Vec<u8>,
    transports: Vec<String>,
}

/// The members of `RegistrationResponseJSON` that are read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResponseJson<'a> {
    id: &'a str,
    raw_id: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(borrow)]
    response: AttestationJson<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AttestationJson<'a> {
    #[serde(rename = "clientDataJSON")]
    client_data_json: &'a str,
    attestation_object: &'a str,
    #[serde(default)]
    transports: Option<Vec<String>>,
}

impl RegistrationResponse {
    /// Parses the JSON form of the response (`RegistrationResponseJSON`), as `passkey.js` sends it.
    pub fn parse(json: &str) -> Result<Self, WebauthnError> {
        if json.len() > RESPONSE_BYTES_MAX {
            return Err(WebauthnError::ResponseTooLong(json.len()));
        }
        let parsed: ResponseJson<'_> =
            serde_json::from_str(json).map_err(|error| WebauthnError::response(&error))?;
        if parsed.kind != PUBLIC_KEY {
            return Err(WebauthnError::CredentialType);
        }
        let AttestationJson { client_data_json, attestation_object, transports } = parsed.response;
        Ok(Self {
            id: CredentialId::decode_both(parsed.id, parsed.raw_id)?,
            client_data: ClientData::decode(client_data_json)?,
            attestation_object: decode(
                attestation_object,
                Field::AttestationObject,
                ATTESTATION_OBJECT_BYTES_MAX,
            )?,
            transports: usable_transports(transports.unwrap_or_default()),
        })
    }

    /// Verifies the response to a challenge and returns the new credential. The caller refuses one whose id is already
    /// registered, whichever account it belongs to, and accepts each challenge once.
    pub fn verify(
        self,
        relying_party: &RelyingParty,
        challenge: &RegistrationChallenge,
    ) -> Result<Credential, WebauthnError> {
        self.client_data.check(Ceremony::Registration, &challenge.0, relying_party)?;
        let bytes = attestation_object::authenticator_data(&self.attestation_object)?;
        let data = AuthenticatorData::parse(bytes)?;
        data.check(relying_party)?;
        let (is_backup_eligible, is_backed_up) = (data.is_backup_eligible(), data.is_backed_up());
        let attested = data.credential.ok_or(WebauthnError::NoCredential)?;
        if attested.id != self.id {
            return Err(WebauthnError::AttestedId);
        }
        PublicKey::parse(attested.public_key)?;
        Ok(Credential {
            id: attested.id,
            public_key: attested.public_key.to_owned(),
            sign_count: data.sign_count,
            aaguid: attested.aaguid,
            is_backup_eligible,
            is_backed_up,
            transports: self.transports,
        })
    }
}
