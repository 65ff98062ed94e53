//! Public keys in the COSE form (RFC 9052, RFC 8230) and the verification of signatures with them.

use aws_lc_rs::rsa::PublicKeyComponents;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1, ED25519, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256};

use super::cbor::{self, Value};
use super::error::{Field, WebauthnError};

/// The longest COSE key that is read: an RSA key of 4,096 bits has about 540 bytes.
pub(crate) const KEY_BYTES_MAX: usize = 1024;
const RSA_MODULUS_BYTES: std::ops::RangeInclusive<usize> = 256..=512;
const RSA_EXPONENT_BYTES_MAX: usize = 4;
const COORDINATE_BYTES: usize = 32;
/// The first byte of a curve point with both coordinates (SEC 1).
const UNCOMPRESSED: u8 = 4;

// The labels and values of the IANA registry "CBOR Object Signing and Encryption".
const KEY_TYPE: i64 = 1;
const ALGORITHM: i64 = 3;
const CURVE: i64 = -1;
const X: i64 = -2;
const Y: i64 = -3;
const RSA_N: i64 = -1;
const RSA_E: i64 = -2;
const KEY_TYPE_OKP: i64 = 1;
const KEY_TYPE_EC2: i64 = 2;
const KEY_TYPE_RSA: i64 = 3;
const CURVE_P256: i64 = 1;
const CURVE_ED25519: i64 = 6;

/// A signature algorithm that is offered to authenticators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    EdDsa,
    Es256,
    Rs256,
}

impl Algorithm {
    /// In the order of preference. Authenticators of all makers have one of them.
    pub(crate) const OFFERED: [Self; 3] = [Self::EdDsa, Self::Es256, Self::Rs256];

    /// The number in the IANA registry "COSE Algorithms".
    pub(crate) const fn number(self) -> i64 {
        match self {
            Self::EdDsa => -8,
            Self::Es256 => -7,
            Self::Rs256 => -257,
        }
    }
}

/// A credential's public key.
#[derive(Clone)]
pub(crate) struct PublicKey {
    algorithm: Algorithm,
    key: ParsedPublicKey,
}

impl std::fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PublicKey({:?})", self.algorithm)
    }
}

impl PublicKey {
    /// Reads a key that takes up all bytes.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, WebauthnError> {
        if bytes.len() > KEY_BYTES_MAX {
            return Err(WebauthnError::Length(Field::PublicKey));
        }
        let map = cbor::decode(bytes).map_err(|error| WebauthnError::Cbor(Field::PublicKey, error))?;
        let number = integer(&map, ALGORITHM)?;
        let algorithm = Algorithm::OFFERED.into_iter().find(|offered| offered.number() == number);
        let algorithm = algorithm.ok_or(WebauthnError::Algorithm)?;
        let key = match algorithm {
            Algorithm::EdDsa => ed25519(&map)?,
            Algorithm::Es256 => p256(&map)?,
            Algorithm::Rs256 => rsa(&map)?,
        };
        Ok(Self { algorithm, key })
    }

    #[cfg(test)]
    pub(crate) fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        self.key.verify_sig(message, signature).is_ok()
    }
}

fn ed25519(map: &Value<'_>) -> Result<ParsedPublicKey, WebauthnError> {
    expect(map, KEY_TYPE, KEY_TYPE_OKP)?;
    expect(map, CURVE, CURVE_ED25519)?;
    let x = bytes(map, X)?;
    if x.len() != COORDINATE_BYTES {
        return Err(WebauthnError::PublicKey);
    }
    ParsedPublicKey::new(&ED25519, x).map_err(|_| WebauthnError::PublicKey)
}

/// Both coordinates are required: WebAuthn forbids compressed points.
fn p256(map: &Value<'_>) -> Result<ParsedPublicKey, WebauthnError> {
    expect(map, KEY_TYPE, KEY_TYPE_EC2)?;
    expect(map, CURVE, CURVE_P256)?;
    let (x, y) = (bytes(map, X)?, bytes(map, Y)?);
    if x.len() != COORDINATE_BYTES || y.len() != COORDINATE_BYTES {
        return Err(WebauthnError::PublicKey);
    }
    let point = [&[UNCOMPRESSED], x, y].concat();
    // Parsing checks that the point is on the curve.
    ParsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point).map_err(|_| WebauthnError::PublicKey)
}

fn rsa(map: &Value<'_>) -> Result<ParsedPublicKey, WebauthnError> {
    expect(map, KEY_TYPE, KEY_TYPE_RSA)?;
    let (n, e) = (bytes(map, RSA_N)?, bytes(map, RSA_E)?);
    let is_minimal = |number: &[u8]| number.first().is_some_and(|first| *first != 0);
    let is_bounded = RSA_MODULUS_BYTES.contains(&n.len()) && e.len() <= RSA_EXPONENT_BYTES_MAX;
    if !is_minimal(n) || !is_minimal(e) || !is_bounded {
        return Err(WebauthnError::PublicKey);
    }
    let components = PublicKeyComponents { n, e };
    components.to_parsed_public_key(&RSA_PKCS1_2048_8192_SHA256).map_err(|_| WebauthnError::PublicKey)
}

fn integer(map: &Value<'_>, label: i64) -> Result<i64, WebauthnError> {
    let value = map.label(label).and_then(Value::as_integer);
    value.ok_or(WebauthnError::Structure(Field::PublicKey))
}

fn bytes<'a>(map: &Value<'a>, label: i64) -> Result<&'a [u8], WebauthnError> {
    let value = map.label(label).and_then(Value::as_bytes);
    value.ok_or(WebauthnError::Structure(Field::PublicKey))
}

/// Refuses a key type or a curve that is not the one of the algorithm.
fn expect(map: &Value<'_>, label: i64, expected: i64) -> Result<(), WebauthnError> {
    if integer(map, label)? == expected { Ok(()) } else { Err(WebauthnError::PublicKey) }
}
