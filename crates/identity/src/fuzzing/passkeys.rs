//! Checks of the readers of what authenticators and browsers send: CBOR, and a whole registration.

use domain::fuzzing::signature;
use domain::secret::base64url;
use serde_json::json;

use super::FixedPorts;
use crate::webauthn::cbor::encoder::encode;
use crate::webauthn::cbor::{DEPTH_MAX, ITEMS_MAX, Value, decode, decode_first};
use crate::webauthn::cose::PublicKey;
use crate::webauthn::{Credential, RegistrationChallenge, RegistrationResponse, RelyingParty, WebauthnError};

#[cfg(test)]
const HOST: &str = "id.example";
const ORIGIN: &str = "https://id.example";
const CREDENTIAL_ID: &[u8] = b"a credential";

/// Takes any bytes as CBOR. What is accepted is within the bounds and, written again, the same value; another byte after it
/// is refused.
pub fn cbor(data: &[u8]) -> u64 {
    let (value, rest) = match decode_first(data) {
        Ok(decoded) => decoded,
        Err(error) => return signature(&format!("{error:?}")),
    };
    let (depth, items) = measure(&value);
    assert!(depth <= DEPTH_MAX && items <= ITEMS_MAX, "{depth} {items}");
    let used = &data[..data.len() - rest.len()];
    assert_eq!(decode(used).as_ref(), Ok(&value));
    assert_eq!(decode(data).is_ok(), rest.is_empty());
    let written = encode(&value);
    assert!(written.len() <= used.len());
    assert_eq!(decode(&written).as_ref(), Ok(&value));
    assert!(decode(&[used, &[0]].concat()).is_err());
    (depth.min(20) << 8 | items.min(200) << 1 | usize::from(rest.is_empty())) as u64
}

/// Takes any text that begins with a brace as a browser's response, and other bytes as the attestation object of an
/// otherwise valid one. An accepted credential is within the bounds, and its key can be used.
pub fn passkey_registration(data: &[u8]) -> u64 {
    let json = match data {
        [b'{', ..] => String::from_utf8_lossy(data).into_owned(),
        _ => response(data),
    };
    let credential = match verified(&json) {
        Ok(credential) => credential,
        Err(error) => return signature(&format!("{error:?}")),
    };
    assert!((1..=1023).contains(&credential.id.as_bytes().len()));
    assert!(json.contains(&credential.id.to_text()), "{json}");
    assert!(credential.is_backup_eligible || !credential.is_backed_up);
    assert!(credential.transports.len() <= 8);
    assert!(PublicKey::parse(&credential.public_key).is_ok());
    credential.transports.len() as u64
}

pub(super) fn verified(json: &str) -> Result<Credential, WebauthnError> {
    let Ok(relying_party) = RelyingParty::at(ORIGIN, "Aldaba") else { panic!("{ORIGIN}") };
    RegistrationResponse::parse(json)?.verify(&relying_party, &RegistrationChallenge::new(&FixedPorts))
}

/// A response with this attestation object.
pub(super) fn response(attestation_object: &[u8]) -> String {
    let challenge = RegistrationChallenge::new(&FixedPorts).to_text();
    let client_data = json!({ "type": "webauthn.create", "challenge": challenge, "origin": ORIGIN });
    let id = base64url(CREDENTIAL_ID);
    let response = json!({ "id": id, "rawId": id, "type": "public-key", "response": {
        "clientDataJSON": base64url(client_data.to_string().as_bytes()),
        "attestationObject": base64url(attestation_object),
    }});
    response.to_string()
}

/// How deeply arrays and maps are nested, and the number of all items.
fn measure(value: &Value<'_>) -> (usize, usize) {
    let inner: Vec<_> = match value {
        Value::Array(items) => items.iter().map(measure).collect(),
        Value::Map(entries) => {
            entries.iter().flat_map(|(key, value)| [measure(key), measure(value)]).collect()
        }
        _ => return (0, 1),
    };
    let depth = inner.iter().map(|(depth, _)| *depth).max().unwrap_or_default();
    (depth + 1, inner.iter().map(|(_, items)| items).sum::<usize>() + 1)
}

/// An attestation object that is accepted, with an Ed25519 key.
#[cfg(test)]
pub(super) fn valid_attestation_object() -> Vec<u8> {
    use aws_lc_rs::digest::{SHA256, digest};

    // The public key of the first test of RFC 8032, section 7.1.
    const PUBLIC_KEY: [u8; 32] = [
        0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7, 0xd5, 0x4b, 0xfe, 0xd3, 0xc9, 0x64, 0x07, 0x3a, 0x0e,
        0xe1, 0x72, 0xf3, 0xda, 0xa6, 0x23, 0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a,
    ];
    let number = Value::integer;
    let labels = [(1, number(1)), (3, number(-8)), (-1, number(6)), (-2, Value::Bytes(&PUBLIC_KEY))];
    let key = encode(&Value::Map(labels.map(|(label, value)| (number(label), value)).to_vec()));
    let data = [
        digest(&SHA256, HOST.as_bytes()).as_ref(),
        &[0x45, 0, 0, 0, 1],
        &[9; 16],
        &[0, 12],
        CREDENTIAL_ID,
        &key,
    ]
    .concat();
    let members = [
        ("fmt", Value::Text("none")),
        ("attStmt", Value::Map(Vec::new())),
        ("authData", Value::Bytes(&data)),
    ];
    encode(&Value::Map(members.map(|(name, value)| (Value::Text(name), value)).to_vec()))
}
