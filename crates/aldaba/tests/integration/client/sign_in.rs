//! Sign-in with the client: responses are verified, and modified ones are refused.

use aldaba_client::Error;
use aldaba_client::sign_in::{AuthorizationRequest, CallbackError, IdTokenError, Session};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

use super::{ClientFixture, dev, text};
use crate::harness::{HttpRequest, claims, decode_form, encode_form};

/// The callback URL with one parameter changed.
fn changed(address: &str, name: &str, change: impl Fn(&str) -> String) -> String {
    let (before, query) = address.split_once('?').unwrap();
    let pairs: Vec<(String, String)> = decode_form(query)
        .into_iter()
        .map(|(known, value)| if known == name { (known, change(&value)) } else { (known, value) })
        .collect();
    let pairs: Vec<(&str, &str)> =
        pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    format!("{before}?{}", encode_form(&pairs))
}

#[test]
fn sign_in_returns_valid_tokens() {
    let fixture = ClientFixture::new();
    let signed_in = fixture.signed_in();
    let access = claims(signed_in.tokens.access_token.reveal());
    let identity = signed_in.identity.unwrap();
    assert_eq!(
        (&access["sub"], &access["svc.es.clientid"]),
        (&identity.sub.as_str().into(), &fixture.tenant().into())
    );
    assert_eq!(identity.text("given_name"), access["given_name"].as_str(), "IDInfo was requested");
    let userinfo = HttpRequest::get(&format!("{}/auth/core/connect/userinfo", dev().text("auth_url")))
        .header("authorization", &format!("Bearer {}", signed_in.tokens.access_token.reveal()))
        .send();
    assert_eq!(userinfo.json()["sub"], identity.sub.as_str());
}

/// A client whose callbacks carry an id_token even though the crate sends a PKCE challenge.
fn fixture_with_callback_id_token() -> ClientFixture {
    let url = format!(
        "{}/operator/v1/clients/{}",
        dev().text("operator_url"),
        text(&dev().ready["other_client"]["client_id"])
    );
    let changed = HttpRequest::new(hyper::Method::PATCH, &url)
        .header("authorization", &format!("Bearer {}", dev().text("operator_token")))
        .header("content-type", "application/json")
        .body(json!({"callbackIdToken": "always"}).to_string())
        .send();
    assert_eq!(changed.status, 200, "{changed:?}");
    ClientFixture::of("other_client")
}

#[test]
fn modified_id_token_is_refused_and_the_code_stays_unused() {
    let fixture = fixture_with_callback_id_token();
    let (pending, address) = fixture.called_back(&AuthorizationRequest::accounting());
    let tampered = changed(&address, "id_token", |token| {
        let parts: Vec<&str> = token.split('.').collect();
        let payload = String::from_utf8(URL_SAFE_NO_PAD.decode(parts[1]).unwrap()).unwrap();
        assert!(payload.contains("\"sub\":\""), "{payload}");
        let payload = URL_SAFE_NO_PAD.encode(payload.replace("\"sub\":\"", "\"sub\":\"x"));
        format!("{}.{payload}.{}", parts[0], parts[2])
    });
    let error = fixture.run(fixture.sign_in.finish(&pending, &tampered)).unwrap_err();
    assert!(matches!(error, Error::IdToken(IdTokenError::Signature)), "{error:?}");
    let other_code = changed(&address, "code", |code| format!("{code}x"));
    let error = fixture.run(fixture.sign_in.finish(&pending, &other_code)).unwrap_err();
    assert!(matches!(error, Error::IdToken(IdTokenError::CodeHash)), "{error:?}");
    let other_state = changed(&address, "state", |_| "another".to_owned());
    let error = fixture.run(fixture.sign_in.finish(&pending, &other_state)).unwrap_err();
    assert!(matches!(error, Error::Callback(CallbackError::State)), "{error:?}");
    let signed_in = fixture.run(fixture.sign_in.finish(&pending, &address)).unwrap();
    assert!(signed_in.tokens.refresh_token.is_some());
}

#[test]
fn callback_of_another_sign_in_is_refused_by_its_nonce() {
    let fixture = fixture_with_callback_id_token();
    let (pending, address) = fixture.called_back(&AuthorizationRequest::accounting());
    let (_, others) = fixture.called_back(&AuthorizationRequest::accounting());
    let token = decode_form(others.split_once('?').unwrap().1).remove("id_token").unwrap();
    let mixed = changed(&address, "id_token", |_| token.clone());
    let error = fixture.run(fixture.sign_in.finish(&pending, &mixed)).unwrap_err();
    assert!(matches!(error, Error::IdToken(IdTokenError::Nonce)), "{error:?}");
}

#[test]
fn used_code_is_refused_with_the_providers_error() {
    let fixture = ClientFixture::new();
    let (pending, address) = fixture.called_back(&AuthorizationRequest::accounting());
    fixture.run(fixture.sign_in.finish(&pending, &address)).unwrap();
    let error = fixture.run(fixture.sign_in.finish(&pending, &address)).unwrap_err();
    assert!(matches!(&error, Error::IdentityProvider { error, .. } if error == "invalid_grant"), "{error:?}");
}

#[test]
fn sign_out_revokes_the_grant() {
    let fixture = ClientFixture::new();
    let tokens = fixture.signed_in().tokens;
    let session = Session::in_memory(fixture.sign_in.clone(), tokens.clone());
    fixture.run(session.sign_out()).unwrap();
    let error = fixture.run(fixture.sign_in.refresh(&tokens)).unwrap_err();
    assert!(matches!(&error, Error::IdentityProvider { error, .. } if error == "invalid_grant"), "{error:?}");
    let url = fixture.run(fixture.sign_in.sign_out_url(&tokens, None)).unwrap();
    assert!(url.starts_with(&format!("{}/auth/core/connect/endsession?", dev().text("auth_url"))), "{url}");
}
