//! Signing in with the client: what comes back is checked, and what was touched on the way is refused.

use aldaba_client::Error;
use aldaba_client::sign_in::{AuthorizationRequest, CallbackError, IdTokenError, Session};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{Stage, dev};
use crate::harness::{Call, claims, decoded, encoded};

/// The callback with one of its parameters changed.
fn changed(address: &str, name: &str, change: impl Fn(&str) -> String) -> String {
    let (before, query) = address.split_once('?').unwrap();
    let pairs: Vec<(String, String)> = decoded(query)
        .into_iter()
        .map(|(known, value)| if known == name { (known, change(&value)) } else { (known, value) })
        .collect();
    let pairs: Vec<(&str, &str)> =
        pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    format!("{before}?{}", encoded(&pairs))
}

#[test]
fn a_user_signs_in_and_the_tokens_are_good() {
    let stage = Stage::new();
    let signed_in = stage.signed_in();
    let access = claims(signed_in.tokens.access_token.reveal());
    let identity = signed_in.identity.unwrap();
    assert_eq!(
        (&access["sub"], &access["svc.es.clientid"]),
        (&identity.sub.as_str().into(), &stage.tenant().into())
    );
    assert_eq!(identity.text("given_name"), access["given_name"].as_str(), "IDInfo was asked for");
    let userinfo = Call::get(&format!("{}/auth/core/connect/userinfo", dev().text("auth_url")))
        .header("authorization", &format!("Bearer {}", signed_in.tokens.access_token.reveal()))
        .send();
    assert_eq!(userinfo.json()["sub"], identity.sub.as_str());
}

#[test]
fn an_id_token_that_was_touched_is_refused_and_the_code_is_not_spent() {
    let stage = Stage::new();
    let (pending, address) = stage.called_back(&AuthorizationRequest::accounting());
    let tampered = changed(&address, "id_token", |token| {
        let parts: Vec<&str> = token.split('.').collect();
        let payload = String::from_utf8(URL_SAFE_NO_PAD.decode(parts[1]).unwrap()).unwrap();
        assert!(payload.contains("\"sub\":\""), "{payload}");
        let payload = URL_SAFE_NO_PAD.encode(payload.replace("\"sub\":\"", "\"sub\":\"x"));
        format!("{}.{payload}.{}", parts[0], parts[2])
    });
    let told = stage.run(stage.sign_in.finish(&pending, &tampered)).unwrap_err();
    assert!(matches!(told, Error::IdToken(IdTokenError::Signature)), "{told:?}");
    let other_code = changed(&address, "code", |code| format!("{code}x"));
    let told = stage.run(stage.sign_in.finish(&pending, &other_code)).unwrap_err();
    assert!(matches!(told, Error::IdToken(IdTokenError::CodeHash)), "{told:?}");
    let other_state = changed(&address, "state", |_| "another".to_owned());
    let told = stage.run(stage.sign_in.finish(&pending, &other_state)).unwrap_err();
    assert!(matches!(told, Error::Callback(CallbackError::State)), "{told:?}");
    let signed_in = stage.run(stage.sign_in.finish(&pending, &address)).unwrap();
    assert!(signed_in.tokens.refresh_token.is_some());
}

#[test]
fn a_callback_of_another_sign_in_is_refused_by_its_nonce() {
    let stage = Stage::new();
    let (pending, address) = stage.called_back(&AuthorizationRequest::accounting());
    let (_, others) = stage.called_back(&AuthorizationRequest::accounting());
    let token = decoded(others.split_once('?').unwrap().1).remove("id_token").unwrap();
    let mixed = changed(&address, "id_token", |_| token.clone());
    let told = stage.run(stage.sign_in.finish(&pending, &mixed)).unwrap_err();
    assert!(matches!(told, Error::IdToken(IdTokenError::Nonce)), "{told:?}");
}

#[test]
fn a_code_that_was_used_is_refused_in_the_providers_words() {
    let stage = Stage::new();
    let (pending, address) = stage.called_back(&AuthorizationRequest::accounting());
    stage.run(stage.sign_in.finish(&pending, &address)).unwrap();
    let told = stage.run(stage.sign_in.finish(&pending, &address)).unwrap_err();
    assert!(matches!(&told, Error::IdentityProvider { error, .. } if error == "invalid_grant"), "{told:?}");
}

#[test]
fn signing_out_ends_the_grant_at_the_service() {
    let stage = Stage::new();
    let tokens = stage.signed_in().tokens;
    let session = Session::in_memory(stage.sign_in.clone(), tokens.clone());
    stage.run(session.sign_out()).unwrap();
    let told = stage.run(stage.sign_in.refresh(&tokens)).unwrap_err();
    assert!(matches!(&told, Error::IdentityProvider { error, .. } if error == "invalid_grant"), "{told:?}");
    let url = stage.run(stage.sign_in.sign_out_url(&tokens, None)).unwrap();
    assert!(url.starts_with(&format!("{}/auth/core/connect/endsession?", dev().text("auth_url"))), "{url}");
}
