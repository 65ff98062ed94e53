//! The rules of section 7.1, one by one.

use serde_json::{Value as Json, json};

use super::super::cbor::{CborError, Value, encoder::encode};
use super::super::{Credential, Field, RESPONSE_BYTES_MAX, RegistrationResponse, WebauthnError};
use super::authenticator::{
    ATTESTED_CREDENTIAL, BACKED_UP, BACKUP_ELIGIBLE, ES256, EXTENSIONS, Registration, USER_PRESENT,
    USER_VERIFIED, keys, raw,
};
use super::{assertion_challenge, registration_challenge, relying_party};

fn verify_json(json: &str) -> Result<Credential, WebauthnError> {
    RegistrationResponse::parse(json)?.verify(&relying_party(), &registration_challenge())
}

/// The result for a good registration after a change.
fn changed(change: impl FnOnce(&mut Registration)) -> Result<Credential, WebauthnError> {
    let mut registration = Registration::new(&ES256);
    change(&mut registration);
    verify_json(&registration.json().to_string())
}

/// The result for a good response after a change of its JSON.
fn changed_json(change: impl FnOnce(&mut Json)) -> Result<Credential, WebauthnError> {
    let mut json = Registration::new(&ES256).json();
    change(&mut json);
    verify_json(&json.to_string())
}

#[test]
fn a_credential_of_each_algorithm_is_registered() {
    for key in keys() {
        let credential = verify_json(&Registration::new(key).json().to_string()).unwrap();
        assert_eq!(credential.id.as_bytes(), b"credential 1");
        assert_eq!(credential.public_key, key.cose());
        assert_eq!((credential.sign_count, credential.aaguid), (3, [9; 16]));
        assert!(credential.is_backup_eligible && credential.is_backed_up);
        assert_eq!(credential.transports, ["internal", "hybrid"]);
    }
}

#[test]
fn the_type_is_that_of_a_creation() {
    let result = changed(|one| one.client_data["type"] = json!("webauthn.get"));
    assert_eq!(result, Err(WebauthnError::Ceremony));
}

#[test]
fn the_challenge_is_the_given_one() {
    for other in [assertion_challenge().to_text(), String::new(), "A".repeat(43), "no base64".to_owned()] {
        let result = changed(|one| one.client_data["challenge"] = json!(other));
        assert_eq!(result, Err(WebauthnError::Challenge), "{other}");
    }
    let padded = format!("{}=", registration_challenge().to_text());
    changed(|one| one.client_data["challenge"] = json!(padded)).unwrap();
}

#[test]
fn the_origin_is_exactly_one_of_the_allowed() {
    let others = [
        "https://id.example:8443",
        "http://id.example",
        "https://id.example/",
        "https://id.example.evil.example",
        "https://sub.id.example",
        "https://ID.example",
        "null",
        "",
    ];
    for origin in others {
        let result = changed(|one| one.client_data["origin"] = json!(origin));
        assert_eq!(result, Err(WebauthnError::Origin), "{origin}");
    }
    let response = RegistrationResponse::parse(&Registration::new(&ES256).json().to_string()).unwrap();
    let mut relying_party = relying_party();
    relying_party.origins.insert(0, "https://other.example".to_owned());
    response.verify(&relying_party, &registration_challenge()).unwrap();
}

#[test]
fn a_ceremony_in_a_frame_of_another_origin_is_refused() {
    let result = changed(|one| one.client_data["crossOrigin"] = json!(true));
    assert_eq!(result, Err(WebauthnError::CrossOrigin));
    let result = changed(|one| one.client_data["topOrigin"] = json!("https://evil.example"));
    assert_eq!(result, Err(WebauthnError::CrossOrigin));
    changed(|one| drop(one.client_data.as_object_mut().unwrap().remove("crossOrigin"))).unwrap();
}

#[test]
fn client_data_is_json_with_or_without_more_members() {
    changed(|one| one.client_data["added"] = json!({ "later": [1, 2] })).unwrap();
    changed(|one| one.client_data_start = "\u{feff}").unwrap();
    let result = changed(|one| one.client_data_start = "{");
    assert!(matches!(result, Err(WebauthnError::ClientDataJson { .. })), "{result:?}");
    for member in ["type", "challenge", "origin"] {
        let result = changed(|one| drop(one.client_data.as_object_mut().unwrap().remove(member)));
        assert!(matches!(result, Err(WebauthnError::ClientDataJson { .. })), "{member} {result:?}");
    }
    let result = changed(|one| one.client_data["added"] = json!("x".repeat(5000)));
    assert_eq!(result, Err(WebauthnError::Length(Field::ClientData)));
}

#[test]
fn the_relying_party_is_this_one() {
    let result = changed(|one| "other.example".clone_into(&mut one.data.host));
    assert_eq!(result, Err(WebauthnError::RelyingPartyId));
}

#[test]
fn the_user_is_present_and_verified() {
    let result = changed(|one| one.data.flags &= !USER_PRESENT);
    assert_eq!(result, Err(WebauthnError::UserNotPresent));
    let result = changed(|one| one.data.flags &= !USER_VERIFIED);
    assert_eq!(result, Err(WebauthnError::UserNotVerified));
}

#[test]
fn only_what_can_be_backed_up_is_backed_up() {
    let result = changed(|one| one.data.flags &= !BACKUP_ELIGIBLE);
    assert_eq!(result, Err(WebauthnError::BackupState));
    let credential = changed(|one| one.data.flags &= !BACKED_UP).unwrap();
    assert!(credential.is_backup_eligible && !credential.is_backed_up);
    let credential = changed(|one| one.data.flags &= !(BACKUP_ELIGIBLE | BACKED_UP)).unwrap();
    assert!(!credential.is_backup_eligible && !credential.is_backed_up);
}

#[test]
fn reserved_flags_are_ignored() {
    changed(|one| one.data.flags |= 0x22).unwrap();
}

#[test]
fn a_credential_is_attested() {
    let result = changed(|one| one.data.flags &= !ATTESTED_CREDENTIAL);
    assert_eq!(result, Err(WebauthnError::NoCredential));
}

#[test]
fn credential_ids_have_1_to_1023_bytes() {
    let credential = changed(|one| one.data.credential_id = vec![1; 1023]).unwrap();
    assert_eq!(credential.id.as_bytes().len(), 1023);
    // Too long in the authenticator data; the response has a shorter one.
    for length in [0, 1024] {
        let result = changed(|one| {
            one.data.credential_id = vec![1; length];
            one.ids = Some([vec![1; 1000], vec![1; 1000]]);
        });
        assert_eq!(result, Err(WebauthnError::Length(Field::CredentialId)), "{length}");
    }
    for length in [0, 1024] {
        let result = changed(|one| one.ids = Some([vec![1; length], vec![1; length]]));
        assert_eq!(result, Err(WebauthnError::Length(Field::CredentialId)), "{length}");
    }
}

#[test]
fn all_three_credential_ids_are_equal() {
    let result = changed(|one| one.ids = Some([b"one".to_vec(), b"two".to_vec()]));
    assert_eq!(result, Err(WebauthnError::IdsDiffer));
    let result = changed(|one| one.ids = Some([b"one".to_vec(), b"one".to_vec()]));
    assert_eq!(result, Err(WebauthnError::AttestedId));
}

#[test]
fn extensions_are_a_map_and_are_ignored() {
    let map = encode(&Value::Map(vec![(Value::Text("credProtect"), Value::Unsigned(2))]));
    let with = |flags: u8, end: &[u8]| {
        changed(|one| {
            one.data.flags |= flags;
            one.data.end = end.to_vec();
        })
    };
    with(EXTENSIONS, &map).unwrap();
    with(EXTENSIONS, &[0xa0]).unwrap();
    assert_eq!(with(EXTENSIONS, &[0x80]), Err(WebauthnError::Structure(Field::Extensions)));
    let cbor = |error| Err(WebauthnError::Cbor(Field::Extensions, error));
    assert_eq!(with(EXTENSIONS, &[]), cbor(CborError::Truncated));
    assert_eq!(with(EXTENSIONS, &[0xbf, 0xff]), cbor(CborError::Unsupported));
    let trailing = Err(WebauthnError::Cbor(Field::AuthenticatorData, CborError::TrailingBytes));
    assert_eq!(with(EXTENSIONS, &[&map[..], &[0]].concat()), trailing);
    assert_eq!(with(0, &map), trailing);
    let long = encode(&Value::Map(vec![(Value::Text("x"), raw(&[0; 4096]))]));
    assert_eq!(with(EXTENSIONS, &long), Err(WebauthnError::Length(Field::AuthenticatorData)));
}

#[test]
fn the_key_is_valid_and_its_algorithm_was_offered() {
    let es384 = super::authenticator::cose(&[(1, Value::integer(2)), (3, Value::integer(-35))]);
    assert_eq!(changed(|one| one.data.public_key = es384), Err(WebauthnError::Algorithm));
    let result = changed(|one| one.data.public_key.truncate(40));
    assert_eq!(result, Err(WebauthnError::Cbor(Field::PublicKey, CborError::Truncated)));
    let long = encode(&Value::Map(vec![(Value::integer(3), raw(&[0; 1024]))]));
    assert_eq!(changed(|one| one.data.public_key = long), Err(WebauthnError::Length(Field::PublicKey)));
}

#[test]
fn other_attestations_are_accepted_and_not_trusted() {
    let credential = changed(|one| {
        one.format = "packed";
        one.statement = Value::Map(vec![(Value::Text("sig"), raw(b"not a signature"))]);
    });
    assert_eq!(credential, changed(|_| {}));
    changed(|one| one.format = "not registered anywhere").unwrap();
    let result = changed(|one| one.statement = Value::Map(vec![(Value::Text("sig"), raw(b"1"))]));
    assert_eq!(result, Err(WebauthnError::NoneAttestation));
}

#[test]
fn the_attestation_object_is_one_whole_map() {
    let cbor = |error| Err(WebauthnError::Cbor(Field::AttestationObject, error));
    assert_eq!(changed(|one| one.object_end = vec![0]), cbor(CborError::TrailingBytes));
    let result = changed(|one| one.statement = Value::Unsigned(1));
    assert_eq!(result, Err(WebauthnError::Structure(Field::AttestationObject)));
    let objects: [(&str, WebauthnError); 3] = [
        ("gA", WebauthnError::Structure(Field::AttestationObject)),
        ("oA", WebauthnError::Structure(Field::AttestationObject)),
        ("oWE", WebauthnError::Cbor(Field::AttestationObject, CborError::Truncated)),
    ];
    for (object, error) in objects {
        let result = changed_json(|json| json["response"]["attestationObject"] = json!(object));
        assert_eq!(result, Err(error), "{object}");
    }
}

#[test]
fn every_truncation_of_the_attestation_object_is_refused() {
    let whole = Registration::new(&ES256).attestation_object();
    for length in 1..whole.len() {
        let text = domain::secret::base64url(&whole[..length]);
        let result = changed_json(|json| json["response"]["attestationObject"] = json!(text));
        assert!(result.is_err(), "{length}");
    }
}

#[test]
fn the_response_is_the_json_of_a_public_key_credential() {
    let result = changed_json(|json| json["type"] = json!("password"));
    assert_eq!(result, Err(WebauthnError::CredentialType));
    for member in ["id", "rawId", "type", "response"] {
        let result = changed_json(|json| drop(json.as_object_mut().unwrap().remove(member)));
        assert!(matches!(result, Err(WebauthnError::Response { .. })), "{member}");
    }
    for member in ["clientDataJSON", "attestationObject"] {
        let result = changed_json(|json| drop(json["response"].as_object_mut().unwrap().remove(member)));
        assert!(matches!(result, Err(WebauthnError::Response { .. })), "{member}");
        let result = changed_json(|json| json["response"][member] = json!("a+b/"));
        assert!(matches!(result, Err(WebauthnError::Base64(_))), "{member}");
        let result = changed_json(|json| json["response"][member] = json!(""));
        assert!(matches!(result, Err(WebauthnError::Length(_))), "{member}");
    }
    for json in ["", "[]", "null", "{", &"[".repeat(20_000)] {
        assert!(matches!(verify_json(json), Err(WebauthnError::Response { .. })), "{json}");
    }
    let long = " ".repeat(RESPONSE_BYTES_MAX + 1);
    assert_eq!(verify_json(&long), Err(WebauthnError::ResponseTooLong(RESPONSE_BYTES_MAX + 1)));
}

#[test]
fn transports_are_hints() {
    let transports = |value: Json| changed(|one| one.transports = value).unwrap().transports;
    assert_eq!(transports(Json::Null), [""; 0]);
    assert_eq!(
        transports(json!(["usb", "usb", "", "Loud", "new-way", "x".repeat(33), "<b>"])),
        ["usb", "new-way"]
    );
    let many: Vec<_> = (0..50).map(|number| format!("way-{number}")).collect();
    assert_eq!(transports(json!(many)).len(), 8);
    changed_json(|json| drop(json["response"].as_object_mut().unwrap().remove("transports"))).unwrap();
}

#[test]
fn messages_do_not_quote_the_input() {
    let result = changed_json(|json| json["type"] = json!({ "secret": "quoted" }));
    assert!(!result.unwrap_err().to_string().contains("quoted"));
    let result = changed(|one| one.client_data["crossOrigin"] = json!("quoted"));
    assert!(!result.unwrap_err().to_string().contains("quoted"));
}
