//! Why a response is refused. The messages are for the log; a page shows one neutral text for all of them.

use super::cbor::CborError;

/// A part of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    AttestationObject,
    AuthenticatorData,
    ClientData,
    CredentialId,
    Extensions,
    PublicKey,
    Signature,
    UserHandle,
}

impl std::fmt::Display for Field {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::AttestationObject => "the attestation object",
            Self::AuthenticatorData => "the authenticator data",
            Self::ClientData => "the client data",
            Self::CredentialId => "the credential id",
            Self::Extensions => "the extensions of the authenticator data",
            Self::PublicKey => "the credential's public key",
            Self::Signature => "the signature",
            Self::UserHandle => "the user handle",
        })
    }
}

/// Why a registration or an assertion is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebauthnError {
    #[error("the response has {0} bytes, which is more than is read")]
    ResponseTooLong(usize),
    #[error("the response is not the JSON of a public key credential (line {line}, column {column})")]
    Response { line: usize, column: usize },
    #[error("the credential's type is not `public-key`")]
    CredentialType,
    #[error("{0} is empty or too long")]
    Length(Field),
    #[error("{0} is not base64url")]
    Base64(Field),
    #[error("{0} is not valid CBOR: {1}")]
    Cbor(Field, CborError),
    #[error("{0} lacks a member or has one of the wrong type")]
    Structure(Field),
    #[error("the members `id` and `rawId` of the response differ")]
    IdsDiffer,

    #[error("the client data is not the JSON of client data (line {line}, column {column})")]
    ClientDataJson { line: usize, column: usize },
    #[error("the client data's type is not that of this ceremony")]
    Ceremony,
    #[error("the client data has another challenge than the one that was given")]
    Challenge,
    #[error("the client data has an origin that is not one of the relying party's")]
    Origin,
    #[error("the ceremony ran in a frame of a page of another origin")]
    CrossOrigin,

    #[error("the authenticator data is for another relying party")]
    RelyingPartyId,
    #[error("the authenticator has not tested the presence of the user")]
    UserNotPresent,
    #[error("the authenticator has not verified the user (by PIN, fingerprint or face)")]
    UserNotVerified,
    #[error("the authenticator data says that the credential is backed up, but not that it can be")]
    BackupState,
    #[error("the authenticator data contradicts the registration on whether the credential can be backed up")]
    BackupEligibility,

    #[error("the authenticator data has no attested credential")]
    NoCredential,
    #[error("the response and the authenticator data have different credential ids")]
    AttestedId,
    #[error("the public key's algorithm is not one of those that were offered")]
    Algorithm,
    #[error("the public key is not a valid key of its algorithm")]
    PublicKey,
    #[error("the attestation has the format `none` and a statement")]
    NoneAttestation,

    #[error("the response has another credential id than the credential that it is verified against")]
    CredentialId,
    #[error("the response has no user handle, and nothing else says who signs in")]
    NoUserHandle,
    #[error("the response has the user handle of another account")]
    UserHandle,
    #[error("the signature does not verify with the credential's public key")]
    Signature,
}

impl WebauthnError {
    /// The parser's own message is left out: it quotes the input.
    pub(super) fn response(error: &serde_json::Error) -> Self {
        Self::Response { line: error.line(), column: error.column() }
    }

    pub(super) fn client_data_json(error: &serde_json::Error) -> Self {
        Self::ClientDataJson { line: error.line(), column: error.column() }
    }
}
