//! The test vectors of the W3C. Most were made without user verification, which is refused here; their keys and signatures
//! are verified all the same.

use aws_lc_rs::digest::{SHA256, digest};
use domain::secret::base64url;
use serde_json::json;

use super::super::attestation_object;
use super::super::authenticator_data::AuthenticatorData;
use super::super::cose::PublicKey;
use super::super::{
    AssertionChallenge, AssertionResponse, ExpectedUser, RegistrationChallenge, RegistrationResponse,
    RelyingParty, WebauthnError,
};
use super::user_handle;

struct Vector {
    name: &'static str,
    registration_challenge: Vec<u8>,
    registration_client_data: Vec<u8>,
    attestation_object: Vec<u8>,
    assertion_challenge: Vec<u8>,
    assertion_client_data: Vec<u8>,
    authenticator_data: Vec<u8>,
    signature: Vec<u8>,
}

fn vectors() -> Vec<Vector> {
    let lines = include_str!("w3c_vectors.txt").lines().filter(|line| !line.starts_with('#'));
    let hex = |text: &str| -> Vec<u8> {
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
    };
    lines
        .map(|line| {
            let mut columns = line.split(' ');
            let name = columns.next().unwrap();
            let mut next = || hex(columns.next().unwrap());
            Vector {
                name,
                registration_challenge: next(),
                registration_client_data: next(),
                attestation_object: next(),
                assertion_challenge: next(),
                assertion_client_data: next(),
                authenticator_data: next(),
                signature: next(),
            }
        })
        .collect()
}

impl Vector {
    fn new_data(&self) -> AuthenticatorData<'_> {
        AuthenticatorData::parse(attestation_object::authenticator_data(&self.attestation_object).unwrap())
            .unwrap()
    }

    fn id(&self) -> String {
        self.new_data().credential.unwrap().id.to_text()
    }

    fn registration(&self) -> String {
        let json = json!({ "id": self.id(), "rawId": self.id(), "type": "public-key", "response": {
            "clientDataJSON": base64url(&self.registration_client_data),
            "attestationObject": base64url(&self.attestation_object),
        }});
        json.to_string()
    }

    fn assertion(&self) -> String {
        let json = json!({ "id": self.id(), "rawId": self.id(), "type": "public-key", "response": {
            "clientDataJSON": base64url(&self.assertion_client_data),
            "authenticatorData": base64url(&self.authenticator_data),
            "signature": base64url(&self.signature),
            "userHandle": user_handle().to_text(),
        }});
        json.to_string()
    }
}

#[test]
fn ceremonies_have_their_results() {
    let relying_party = RelyingParty::at("https://example.org", "W3C").unwrap();
    let mut accepted = Vec::new();
    for vector in vectors() {
        let challenge = RegistrationChallenge::from_text(&base64url(&vector.registration_challenge)).unwrap();
        let response = RegistrationResponse::parse(&vector.registration()).unwrap();
        let credential = response.verify(&relying_party, &challenge);
        let expected = match vector.name {
            "packed-es256" | "tpm-es256" | "packed-rs256" => None,
            "none-es256-crossOrigin" | "none-es256-topOrigin" => Some(WebauthnError::CrossOrigin),
            _ => Some(WebauthnError::UserNotVerified),
        };
        assert_eq!(credential.as_ref().err(), expected.as_ref(), "{}", vector.name);
        let Ok(credential) = credential else { continue };
        let challenge = AssertionChallenge::from_text(&base64url(&vector.assertion_challenge)).unwrap();
        let response = AssertionResponse::parse(&vector.assertion()).unwrap();
        let handle = user_handle();
        let user = ExpectedUser::Discovered(&handle);
        match response.verify(&relying_party, &challenge, &credential, user) {
            Ok(assertion) => {
                assert!(!assertion.is_count_stale);
                accepted.push(vector.name);
            }
            Err(error) => assert_eq!((vector.name, error), ("packed-rs256", WebauthnError::UserNotVerified)),
        }
    }
    assert_eq!(accepted, ["packed-es256", "tpm-es256"]);
}

#[test]
fn signatures_verify() {
    let vectors = vectors();
    assert_eq!(vectors.len(), 10);
    for vector in vectors {
        let data = vector.new_data();
        let key = PublicKey::parse(data.credential.unwrap().public_key);
        if vector.name == "packed-es384" {
            assert_eq!(key.unwrap_err(), WebauthnError::Algorithm);
            continue;
        }
        let hash = digest(&SHA256, &vector.assertion_client_data);
        let signed = [&vector.authenticator_data[..], hash.as_ref()].concat();
        assert!(key.unwrap().verifies(&signed, &vector.signature), "{}", vector.name);
    }
}
