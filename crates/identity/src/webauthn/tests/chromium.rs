//! What Chromium sends through `passkey.js` with its virtual authenticator, recorded: for each algorithm a registration and
//! then an assertion, with the challenge of 32 bytes 7, at `http://localhost:47123`, for the account [`user_handle`].

use super::super::cose::{Algorithm, PublicKey};
use super::super::{
    AssertionChallenge, AssertionResponse, ExpectedUser, RegistrationChallenge, RegistrationResponse,
    RelyingParty,
};
use super::user_handle;

#[test]
fn recorded_ceremonies_are_accepted() {
    let relying_party = RelyingParty::at("http://localhost:47123/auth/core", "Aldaba").unwrap();
    let challenge = domain::secret::base64url(&[7; 32]);
    let lines: Vec<_> = include_str!("chromium_responses.txt").lines().collect();
    let mut algorithms = Vec::new();
    for pair in lines.chunks(2) {
        let registration = RegistrationChallenge::from_text(&challenge).unwrap();
        let response = RegistrationResponse::parse(pair[0]).unwrap();
        let credential = response.verify(&relying_party, &registration).unwrap();
        assert!(credential.is_backup_eligible && credential.is_backed_up);
        assert_eq!((credential.sign_count, &*credential.transports), (1, &["internal".to_owned()][..]));
        algorithms.push(PublicKey::parse(&credential.public_key).unwrap().algorithm());

        let assertion = AssertionChallenge::from_text(&challenge).unwrap();
        let (response, handle) = (AssertionResponse::parse(pair[1]).unwrap(), user_handle());
        let user = ExpectedUser::Discovered(&handle);
        let verified = response.verify(&relying_party, &assertion, &credential, user).unwrap();
        assert_eq!((verified.sign_count, verified.is_backed_up, verified.is_count_stale), (2, true, false));
    }
    assert_eq!(algorithms, Algorithm::OFFERED);
}
