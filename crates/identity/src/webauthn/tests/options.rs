//! The options in their JSON form, and challenges.

use serde_json::{Value as Json, json};

use super::super::{
    Account, AssertionChallenge, Credential, CredentialId, RegistrationChallenge, UserHandle,
    creation_options, request_options,
};
use super::{assertion_challenge, registration_challenge, relying_party, user_handle};
use testkit::SeededRandom;

fn credential(id: &[u8], transports: &[&str]) -> Credential {
    Credential {
        id: CredentialId::new(id).unwrap(),
        public_key: Vec::new(),
        sign_count: 0,
        aaguid: [0; 16],
        is_backup_eligible: false,
        is_backed_up: false,
        transports: transports.iter().map(|one| (*one).to_owned()).collect(),
    }
}

#[test]
fn creation_asks_for_a_discoverable_credential_with_user_verification() {
    let (handle, challenge) = (user_handle(), registration_challenge());
    let account = Account { handle: &handle, name: "ana@example.com", display_name: "Ana \"</script>" };
    let registered = [credential(&[0xfb, 0xff], &["usb"]), credential(&[1], &[])];
    let options = creation_options(&relying_party(), &challenge, account, &registered);
    let options: Json = serde_json::from_str(&options).unwrap();
    assert_eq!(
        options,
        json!({
            "rp": { "id": "id.example", "name": "Aldaba" },
            "user": { "id": handle.to_text(), "name": "ana@example.com", "displayName": "Ana \"</script>" },
            "challenge": challenge.to_text(),
            "pubKeyCredParams": [
                { "type": "public-key", "alg": -8 },
                { "type": "public-key", "alg": -7 },
                { "type": "public-key", "alg": -257 },
            ],
            "timeout": 300_000,
            "excludeCredentials": [
                { "type": "public-key", "id": "-_8", "transports": ["usb"] },
                { "type": "public-key", "id": "AQ" },
            ],
            "authenticatorSelection": {
                "residentKey": "required",
                "requireResidentKey": true,
                "userVerification": "required",
            },
            "attestation": "none",
        })
    );
}

#[test]
fn a_request_without_credentials_lets_the_person_choose() {
    let challenge = assertion_challenge();
    let options = |allowed: &[Credential]| -> Json {
        serde_json::from_str(&request_options(&relying_party(), &challenge, allowed)).unwrap()
    };
    let expected = json!({
        "challenge": challenge.to_text(),
        "timeout": 300_000,
        "rpId": "id.example",
        "allowCredentials": [],
        "userVerification": "required",
    });
    assert_eq!(options(&[]), expected);
    let allowed = options(&[credential(&[1], &["internal"])]);
    assert_eq!(
        allowed["allowCredentials"],
        json!([{ "type": "public-key", "id": "AQ", "transports": ["internal"] }])
    );
}

#[test]
fn challenges_are_random_and_survive_as_text() {
    let random = SeededRandom::new(3);
    let (one, two) = (RegistrationChallenge::new(&random), RegistrationChallenge::new(&random));
    assert_ne!(one, two);
    assert_eq!(one.to_text().len(), 43);
    assert_eq!(RegistrationChallenge::from_text(&one.to_text()), Some(one.clone()));
    let assertion = AssertionChallenge::new(&random);
    assert_eq!(AssertionChallenge::from_text(&assertion.to_text()), Some(assertion));
    for text in ["", "AAAA", "no base64", &"A".repeat(44)] {
        assert_eq!(RegistrationChallenge::from_text(text), None, "{text}");
    }
    assert!(!format!("{one:?}").contains(&one.to_text()));
}

#[test]
fn ids_and_handles_are_bounded() {
    assert!(CredentialId::new(&[1; 1023]).is_some() && UserHandle::new(&[1; 64]).is_some());
    assert_eq!((CredentialId::new(&[]), CredentialId::new(&[1; 1024])), (None, None));
    assert_eq!((UserHandle::new(&[]), UserHandle::new(&[1; 65])), (None, None));
}
