//! The rules of section 7.2, one by one.

use serde_json::{Value as Json, json};

use super::super::cbor::CborError;
use super::super::{
    Assertion, AssertionResponse, Credential, ExpectedUser, Field, RESPONSE_BYTES_MAX, RegistrationResponse,
    UserHandle, WebauthnError,
};
use super::authenticator::{
    self, BACKED_UP, BACKUP_ELIGIBLE, ES256, EXTENSIONS, Key, Registration, USER_PRESENT, USER_VERIFIED, keys,
};
use super::{assertion_challenge, registration_challenge, relying_party, user_handle};

fn registered(key: &Key) -> Credential {
    let response = RegistrationResponse::parse(&Registration::new(key).json().to_string()).unwrap();
    response.verify(&relying_party(), &registration_challenge()).unwrap()
}

fn verify_json(json: &Json, credential: &Credential) -> Result<Assertion, WebauthnError> {
    let response = AssertionResponse::parse(&json.to_string())?;
    let handle = user_handle();
    response.verify(&relying_party(), &assertion_challenge(), credential, ExpectedUser::Discovered(&handle))
}

/// The result for a good assertion after a change; it is signed after the change.
fn changed(change: impl FnOnce(&mut authenticator::Assertion)) -> Result<Assertion, WebauthnError> {
    let mut assertion = authenticator::Assertion::new();
    change(&mut assertion);
    verify_json(&assertion.signed(&ES256), &registered(&ES256))
}

/// The result for a good response after a change of its JSON.
fn changed_json(change: impl FnOnce(&mut Json)) -> Result<Assertion, WebauthnError> {
    let mut json = authenticator::Assertion::new().signed(&ES256);
    change(&mut json);
    verify_json(&json, &registered(&ES256))
}

#[test]
fn a_credential_of_each_algorithm_signs_in() {
    for key in keys() {
        let result = verify_json(&authenticator::Assertion::new().signed(key), &registered(key));
        assert_eq!(result, Ok(Assertion { sign_count: 4, is_backed_up: true, is_count_stale: false }));
    }
}

#[test]
fn the_signature_is_of_the_registered_key() {
    for key in keys() {
        for other in keys() {
            let result = verify_json(&authenticator::Assertion::new().signed(other), &registered(key));
            assert_eq!(result.is_ok(), std::ptr::eq(key, other), "{result:?}");
        }
    }
    let response =
        AssertionResponse::parse(&authenticator::Assertion::new().signed(&ES256).to_string()).unwrap();
    assert_eq!((response.credential_id, response.user_handle), (registered(&ES256).id, Some(user_handle())));
}

#[test]
fn the_signature_covers_authenticator_data_and_client_data() {
    let good = authenticator::Assertion::new().signed(&ES256);
    // A newer counter, and a harmless member, under the old signature.
    let mut newer = authenticator::Assertion::new();
    newer.data.sign_count += 1;
    newer.client_data["added"] = json!(1);
    let newer = newer.signed(&ES256);
    for member in ["authenticatorData", "clientDataJSON", "signature"] {
        let mut forged = good.clone();
        forged["response"][member] = newer["response"][member].clone();
        assert_eq!(verify_json(&forged, &registered(&ES256)), Err(WebauthnError::Signature), "{member}");
    }
    assert!(verify_json(&newer, &registered(&ES256)).is_ok());
}

#[test]
fn type_challenge_and_origin_are_checked() {
    let result = changed(|one| one.client_data["type"] = json!("webauthn.create"));
    assert_eq!(result, Err(WebauthnError::Ceremony));
    let result = changed(|one| one.client_data["challenge"] = json!(registration_challenge().to_text()));
    assert_eq!(result, Err(WebauthnError::Challenge));
    let result = changed(|one| one.client_data["origin"] = json!("https://evil.example"));
    assert_eq!(result, Err(WebauthnError::Origin));
    let result = changed(|one| one.client_data["crossOrigin"] = json!(true));
    assert_eq!(result, Err(WebauthnError::CrossOrigin));
    let result = changed(|one| one.client_data["topOrigin"] = json!("https://evil.example"));
    assert_eq!(result, Err(WebauthnError::CrossOrigin));
}

#[test]
fn relying_party_and_flags_are_checked() {
    let result = changed(|one| "other.example".clone_into(&mut one.data.host));
    assert_eq!(result, Err(WebauthnError::RelyingPartyId));
    let result = changed(|one| one.data.flags &= !USER_PRESENT);
    assert_eq!(result, Err(WebauthnError::UserNotPresent));
    let result = changed(|one| one.data.flags &= !USER_VERIFIED);
    assert_eq!(result, Err(WebauthnError::UserNotVerified));
    let result = changed(|one| one.data.flags &= !BACKUP_ELIGIBLE);
    assert_eq!(result, Err(WebauthnError::BackupState));
}

#[test]
fn backup_eligibility_never_changes_and_the_backup_state_may() {
    let result = changed(|one| one.data.flags &= !(BACKUP_ELIGIBLE | BACKED_UP));
    assert_eq!(result, Err(WebauthnError::BackupEligibility));
    assert!(!changed(|one| one.data.flags &= !BACKED_UP).unwrap().is_backed_up);
}

#[test]
fn extensions_are_ignored_and_trailing_bytes_are_not() {
    changed(|one| {
        one.data.flags |= EXTENSIONS;
        one.data.end = vec![0xa0];
    })
    .unwrap();
    let result = changed(|one| one.data.end = vec![0xa0]);
    assert_eq!(result, Err(WebauthnError::Cbor(Field::AuthenticatorData, CborError::TrailingBytes)));
}

#[test]
fn a_count_that_does_not_grow_is_reported() {
    let cases = [(0, 0, false), (0, 1, false), (3, 4, false), (3, 3, true), (4, 3, true), (1, 0, true)];
    for (stored, received, is_stale) in cases {
        let mut assertion = authenticator::Assertion::new();
        assertion.data.sign_count = received;
        let credential = Credential { sign_count: stored, ..registered(&ES256) };
        let result = verify_json(&assertion.signed(&ES256), &credential).unwrap();
        assert_eq!((result.sign_count, result.is_count_stale), (received, is_stale), "{stored} {received}");
    }
}

#[test]
fn the_credential_is_the_one_that_the_response_names() {
    let result = changed(|one| one.data.credential_id = b"credential 2".to_vec());
    assert_eq!(result, Err(WebauthnError::CredentialId));
    let result = changed_json(|json| json["rawId"] = json!("AAAA"));
    assert_eq!(result, Err(WebauthnError::IdsDiffer));
}

#[test]
fn the_user_handle_is_that_of_the_account() {
    let verify = |handle: Option<&[u8]>, user: ExpectedUser<'_>| {
        let mut assertion = authenticator::Assertion::new();
        assertion.user_handle = handle.map(<[u8]>::to_vec);
        let response = AssertionResponse::parse(&assertion.signed(&ES256).to_string())?;
        response.verify(&relying_party(), &assertion_challenge(), &registered(&ES256), user).map(|_| ())
    };
    let (own, other) = (user_handle(), UserHandle::new(b"account of Luis").unwrap());
    for user in [ExpectedUser::Known(&own), ExpectedUser::Discovered(&own)] {
        assert_eq!(verify(Some(own.as_bytes()), user), Ok(()));
        assert_eq!(verify(Some(other.as_bytes()), user), Err(WebauthnError::UserHandle));
        assert_eq!(verify(Some(&[1; 65]), user), Err(WebauthnError::Length(Field::UserHandle)));
        assert_eq!(verify(Some(&[]), user), Err(WebauthnError::Length(Field::UserHandle)));
    }
    assert_eq!(verify(None, ExpectedUser::Known(&own)), Ok(()));
    assert_eq!(verify(None, ExpectedUser::Discovered(&own)), Err(WebauthnError::NoUserHandle));
}

#[test]
fn the_response_is_the_json_of_a_public_key_credential() {
    let result = changed_json(|json| json["type"] = json!("password"));
    assert_eq!(result, Err(WebauthnError::CredentialType));
    for member in ["clientDataJSON", "authenticatorData", "signature"] {
        let result = changed_json(|json| drop(json["response"].as_object_mut().unwrap().remove(member)));
        assert!(matches!(result, Err(WebauthnError::Response { .. })), "{member}");
        let result = changed_json(|json| json["response"][member] = json!("a+b/"));
        assert!(matches!(result, Err(WebauthnError::Base64(_))), "{member}");
        let result = changed_json(|json| json["response"][member] = json!("A".repeat(8000)));
        assert!(matches!(result, Err(WebauthnError::Length(_))), "{member}");
    }
    let long = AssertionResponse::parse(&" ".repeat(RESPONSE_BYTES_MAX + 1));
    assert_eq!(long, Err(WebauthnError::ResponseTooLong(RESPONSE_BYTES_MAX + 1)));
}

#[test]
fn authenticator_data_that_ends_early_is_refused() {
    for length in 1..37 {
        let text = domain::secret::base64url(&vec![0; length]);
        let result = changed_json(|json| json["response"]["authenticatorData"] = json!(text));
        assert_eq!(result, Err(WebauthnError::Cbor(Field::AuthenticatorData, CborError::Truncated)));
    }
}

#[test]
fn a_stored_key_that_cannot_be_read_refuses() {
    let credential = Credential { public_key: vec![0xa0], ..registered(&ES256) };
    let result = verify_json(&authenticator::Assertion::new().signed(&ES256), &credential);
    assert_eq!(result, Err(WebauthnError::Structure(Field::PublicKey)));
}
