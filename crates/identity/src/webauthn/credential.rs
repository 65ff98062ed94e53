//! What a relying party stores of a passkey, and the bytes by which it names credentials and accounts.

use domain::secret::base64url;

use super::encoding::decode;
use super::error::{Field, WebauthnError};

/// Longer ids are refused (WebAuthn, section 7.1).
pub(super) const CREDENTIAL_ID_BYTES_MAX: usize = 1023;
pub(super) const USER_HANDLE_BYTES_MAX: usize = 64;
const TRANSPORTS_MAX: usize = 8;
const TRANSPORT_BYTES_MAX: usize = 32;

/// The model of an authenticator; zeros where it does not tell. Without attestation nothing proves it.
pub type Aaguid = [u8; 16];

/// The id that an authenticator gave to a credential: 1 to 1,023 bytes.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct CredentialId(Vec<u8>);

impl CredentialId {
    pub fn new(bytes: &[u8]) -> Option<Self> {
        (1..=CREDENTIAL_ID_BYTES_MAX).contains(&bytes.len()).then(|| Self(bytes.to_owned()))
    }

    /// Decodes the members `id` and `rawId` of a response, which have the same bytes.
    pub(super) fn decode_both(id: &str, raw_id: &str) -> Result<Self, WebauthnError> {
        let decoded = |text: &str| decode(text, Field::CredentialId, CREDENTIAL_ID_BYTES_MAX);
        let id = decoded(id)?;
        if id == decoded(raw_id)? { Ok(Self(id)) } else { Err(WebauthnError::IdsDiffer) }
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Base64url.
    pub fn to_text(&self) -> String {
        base64url(&self.0)
    }
}

impl std::fmt::Debug for CredentialId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CredentialId({})", self.to_text())
    }
}

/// The bytes by which authenticators know an account: 1 to 64, never the same for two accounts, and nothing personal.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct UserHandle(Vec<u8>);

impl UserHandle {
    pub fn new(bytes: &[u8]) -> Option<Self> {
        (1..=USER_HANDLE_BYTES_MAX).contains(&bytes.len()).then(|| Self(bytes.to_owned()))
    }

    pub(super) fn decode(text: &str) -> Result<Self, WebauthnError> {
        decode(text, Field::UserHandle, USER_HANDLE_BYTES_MAX).map(Self)
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Base64url.
    pub fn to_text(&self) -> String {
        base64url(&self.0)
    }
}

impl std::fmt::Debug for UserHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "UserHandle({})", self.to_text())
    }
}

/// A registered passkey. All of it is public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    pub id: CredentialId,
    /// A COSE key, byte for byte as the authenticator sent it.
    pub public_key: Vec<u8>,
    /// How often the authenticator has signed; zero where it does not count.
    pub sign_count: u32,
    pub aaguid: Aaguid,
    /// Whether the credential can leave its authenticator (a synchronised passkey). It never changes.
    pub is_backup_eligible: bool,
    pub is_backed_up: bool,
    /// How the authenticator can be reached (`internal`, `usb`, `hybrid`…): hints for the browser's later requests.
    pub transports: Vec<String>,
}

/// The transports of a response that can be stored. They are hints, so others are left out and refuse nothing.
pub(super) fn usable_transports(transports: Vec<String>) -> Vec<String> {
    let is_token = |one: &String| {
        (1..=TRANSPORT_BYTES_MAX).contains(&one.len())
            && one.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    let mut usable: Vec<String> = Vec::new();
    for one in transports {
        if usable.len() < TRANSPORTS_MAX && is_token(&one) && !usable.contains(&one) {
            usable.push(one);
        }
    }
    usable
}
