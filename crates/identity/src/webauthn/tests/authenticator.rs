//! An authenticator: real keys, and responses of which a test can change any part.

use std::sync::LazyLock;

use aws_lc_rs::digest::{SHA256, digest};
#[allow(clippy::disallowed_types, reason = "the library requires it to sign")]
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
};
use domain::secret::base64url;
use serde_json::{Value as Json, json};

use super::super::cbor::{Value, encoder::encode};
use super::{HOST, ORIGIN, assertion_challenge, registration_challenge, user_handle};

pub(super) const USER_PRESENT: u8 = 0x01;
pub(super) const USER_VERIFIED: u8 = 0x04;
pub(super) const BACKUP_ELIGIBLE: u8 = 0x08;
pub(super) const BACKED_UP: u8 = 0x10;
pub(super) const ATTESTED_CREDENTIAL: u8 = 0x40;
pub(super) const EXTENSIONS: u8 = 0x80;

pub(super) static ES256: LazyLock<Key> =
    LazyLock::new(|| Key::Es256(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).unwrap()));
pub(super) static EDDSA: LazyLock<Key> = LazyLock::new(|| Key::EdDsa(Ed25519KeyPair::generate().unwrap()));
pub(super) static RS256: LazyLock<Key> =
    LazyLock::new(|| Key::Rs256(RsaKeyPair::generate(KeySize::Rsa2048).unwrap()));

pub(super) fn keys() -> [&'static Key; 3] {
    [&ES256, &EDDSA, &RS256]
}

/// A credential's key pair.
pub(super) enum Key {
    Es256(EcdsaKeyPair),
    EdDsa(Ed25519KeyPair),
    Rs256(RsaKeyPair),
}

impl Key {
    pub(super) fn cose(&self) -> Vec<u8> {
        match self {
            Self::Es256(pair) => {
                let point = pair.public_key().as_ref();
                cose(&[
                    (1, int(2)),
                    (3, int(-7)),
                    (-1, int(1)),
                    (-2, raw(&point[1..33])),
                    (-3, raw(&point[33..])),
                ])
            }
            Self::EdDsa(pair) => {
                cose(&[(1, int(1)), (3, int(-8)), (-1, int(6)), (-2, raw(pair.public_key().as_ref()))])
            }
            Self::Rs256(pair) => {
                let (n, e) = (pair.public_key().modulus(), pair.public_key().exponent());
                let (n, e) = (n.big_endian_without_leading_zero(), e.big_endian_without_leading_zero());
                cose(&[(1, int(3)), (3, int(-257)), (-1, raw(n)), (-2, raw(e))])
            }
        }
    }

    #[allow(clippy::disallowed_types, reason = "the library requires it to sign")]
    pub(super) fn sign(&self, message: &[u8]) -> Vec<u8> {
        match self {
            Self::Es256(pair) => pair.sign(&SystemRandom::new(), message).unwrap().as_ref().to_vec(),
            Self::EdDsa(pair) => pair.sign(message).as_ref().to_vec(),
            Self::Rs256(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature).unwrap();
                signature
            }
        }
    }
}

pub(super) fn int(number: i64) -> Value<'static> {
    Value::integer(number)
}

pub(super) fn raw(bytes: &[u8]) -> Value<'_> {
    Value::Bytes(bytes)
}

/// A COSE key with these labels.
pub(super) fn cose(entries: &[(i64, Value<'_>)]) -> Vec<u8> {
    encode(&Value::Map(entries.iter().map(|(label, value)| (int(*label), value.clone())).collect()))
}

/// What is in the authenticator data.
#[derive(Clone)]
pub(super) struct Data {
    pub(super) host: String,
    pub(super) flags: u8,
    pub(super) sign_count: u32,
    pub(super) aaguid: [u8; 16],
    pub(super) credential_id: Vec<u8>,
    pub(super) public_key: Vec<u8>,
    /// What follows the credential: extensions, or bytes that should not be there.
    pub(super) end: Vec<u8>,
}

impl Data {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = digest(&SHA256, self.host.as_bytes()).as_ref().to_vec();
        bytes.push(self.flags);
        bytes.extend_from_slice(&self.sign_count.to_be_bytes());
        if self.flags & ATTESTED_CREDENTIAL != 0 {
            bytes.extend_from_slice(&self.aaguid);
            bytes.extend_from_slice(&u16::try_from(self.credential_id.len()).unwrap().to_be_bytes());
            bytes.extend_from_slice(&self.credential_id);
            bytes.extend_from_slice(&self.public_key);
        }
        bytes.extend_from_slice(&self.end);
        bytes
    }
}

/// The parts of a registration.
#[derive(Clone)]
pub(super) struct Registration {
    pub(super) client_data: Json,
    /// Before the JSON of the client data.
    pub(super) client_data_start: &'static str,
    pub(super) data: Data,
    pub(super) format: &'static str,
    pub(super) statement: Value<'static>,
    /// What follows the attestation object.
    pub(super) object_end: Vec<u8>,
    pub(super) transports: Json,
    /// `id` and `rawId` of the response, if not those of the credential.
    pub(super) ids: Option<[Vec<u8>; 2]>,
}

impl Registration {
    pub(super) fn new(key: &Key) -> Self {
        let challenge = registration_challenge().to_text();
        Self {
            client_data: json!({ "type": "webauthn.create", "challenge": challenge, "origin": ORIGIN, "crossOrigin": false }),
            client_data_start: "",
            data: Data {
                host: HOST.to_owned(),
                flags: USER_PRESENT | USER_VERIFIED | BACKUP_ELIGIBLE | BACKED_UP | ATTESTED_CREDENTIAL,
                sign_count: 3,
                aaguid: [9; 16],
                credential_id: b"credential 1".to_vec(),
                public_key: key.cose(),
                end: Vec::new(),
            },
            format: "none",
            statement: Value::Map(Vec::new()),
            object_end: Vec::new(),
            transports: json!(["internal", "hybrid"]),
            ids: None,
        }
    }

    pub(super) fn attestation_object(&self) -> Vec<u8> {
        let data = self.data.bytes();
        let members = [
            ("fmt", Value::Text(self.format)),
            ("attStmt", self.statement.clone()),
            ("authData", Value::Bytes(&data)),
        ];
        let object = Value::Map(members.map(|(name, value)| (Value::Text(name), value)).to_vec());
        [encode(&object), self.object_end.clone()].concat()
    }

    pub(super) fn json(&self) -> Json {
        let same = || [self.data.credential_id.clone(), self.data.credential_id.clone()];
        let [id, raw_id] = self.ids.clone().unwrap_or_else(same);
        let client_data = format!("{}{}", self.client_data_start, self.client_data);
        json!({
            "id": base64url(&id),
            "rawId": base64url(&raw_id),
            "type": "public-key",
            "response": {
                "clientDataJSON": base64url(client_data.as_bytes()),
                "attestationObject": base64url(&self.attestation_object()),
                "transports": self.transports,
            },
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {},
        })
    }
}

/// The parts of an assertion.
#[derive(Clone)]
pub(super) struct Assertion {
    pub(super) client_data: Json,
    pub(super) data: Data,
    pub(super) user_handle: Option<Vec<u8>>,
}

impl Assertion {
    /// With the credential of [`Registration::new`].
    pub(super) fn new() -> Self {
        let registration = Registration::new(&EDDSA);
        let challenge = assertion_challenge().to_text();
        let flags = USER_PRESENT | USER_VERIFIED | BACKUP_ELIGIBLE | BACKED_UP;
        Self {
            client_data: json!({ "type": "webauthn.get", "challenge": challenge, "origin": ORIGIN, "crossOrigin": false }),
            data: Data { flags, sign_count: 4, ..registration.data },
            user_handle: Some(user_handle().as_bytes().to_vec()),
        }
    }

    pub(super) fn signed(&self, key: &Key) -> Json {
        let client_data = self.client_data.to_string();
        let data = self.data.bytes();
        let hash = digest(&SHA256, client_data.as_bytes());
        let signature = key.sign(&[&data[..], hash.as_ref()].concat());
        json!({
            "id": base64url(&self.data.credential_id),
            "rawId": base64url(&self.data.credential_id),
            "type": "public-key",
            "response": {
                "clientDataJSON": base64url(client_data.as_bytes()),
                "authenticatorData": base64url(&data),
                "signature": base64url(&signature),
                "userHandle": self.user_handle.as_ref().map(|handle| base64url(handle)),
            },
            "clientExtensionResults": {},
        })
    }
}
