//! The attestation object of a registration. Its statement is not verified: no attestation is asked for, and what an
//! authenticator attests is not trusted.

use super::cbor::{self, Value};
use super::error::{Field, WebauthnError};

/// Room for the certificates of a statement.
pub(super) const ATTESTATION_OBJECT_BYTES_MAX: usize = 16 * 1024;

const NONE: &str = "none";

/// The authenticator data of an attestation object.
pub(super) fn authenticator_data(bytes: &[u8]) -> Result<&[u8], WebauthnError> {
    const FIELD: Field = Field::AttestationObject;
    let object = cbor::decode(bytes).map_err(|error| WebauthnError::Cbor(FIELD, error))?;
    let format = object.member("fmt").and_then(Value::as_text).ok_or(WebauthnError::Structure(FIELD))?;
    let statement =
        object.member("attStmt").and_then(Value::as_map).ok_or(WebauthnError::Structure(FIELD))?;
    if format == NONE && !statement.is_empty() {
        return Err(WebauthnError::NoneAttestation);
    }
    object.member("authData").and_then(Value::as_bytes).ok_or(WebauthnError::Structure(FIELD))
}
