//! The relying party of WebAuthn (W3C Web Authentication, Level 3): what a browser is asked, and the verification of what
//! it answers (sections 7.1 and 7.2). Pure: the caller keeps challenges and credentials, and looks up accounts.
//!
//! A passkey signs in alone here. So a credential is discoverable, user verification is always required, and no attestation
//! is asked for or trusted.

mod assertion;
mod attestation_object;
mod authenticator_data;
pub(crate) mod cbor;
mod challenge;
mod client_data;
pub(crate) mod cose;
mod credential;
mod encoding;
mod error;
mod options;
mod registration;
mod relying_party;
#[cfg(test)]
mod tests;

pub use assertion::{Assertion, AssertionResponse, ExpectedUser};
pub use cbor::CborError;
pub use challenge::{AssertionChallenge, RegistrationChallenge};
pub use credential::{Aaguid, Credential, CredentialId, UserHandle};
pub use error::{Field, WebauthnError};
pub use options::{Account, creation_options, request_options};
pub use registration::RegistrationResponse;
pub use relying_party::{RelyingParty, RelyingPartyError};

/// The longest text of a response that is parsed: it fits into a form, and attestation statements that are ignored fit in it.
pub const RESPONSE_BYTES_MAX: usize = 32 * 1024;

/// The only type of credential that there is.
const PUBLIC_KEY: &str = "public-key";
