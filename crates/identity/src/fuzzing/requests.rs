//! Checks of what clients and browsers send: authorization requests, credentials, PKCE, forms and cookies.

use axum::http::header::{AUTHORIZATION, COOKIE, HeaderMap, HeaderValue};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::fuzzing::signature;
use domain::subscription::Products;
use domain::{ClientId, ClientKind, Guid, redirect_uri};
use store::{CallbackIdToken, Client, Consent, FIRST_REVISION, Pkce, Status};

use super::NOW;
use crate::authorization_request::{self, AuthorizationRequest};
use crate::http::fuzzing::{EndpointError, client_credentials, cookie, matches_challenge};
use crate::oauth_error::OAuthError;
use crate::params::{Params, query};

const CALLBACK: &str = "https://app.example/callback";
/// The longest value of an authorization request.
const VALUE_BYTES_MAX: usize = 4096;
const COOKIE_BYTES_MAX: usize = 128;

/// Three clients: one with PKCE as it likes, a browser application that must use it, and a native application.
fn clients() -> [Client; 3] {
    let client = |kind, uris: &[&str], pkce| Client {
        id: ClientId::new("app"),
        guid: Guid::from_bytes([1; 16]),
        name: "App".into(),
        redirect_uris: uris.iter().map(|uri| (*uri).to_owned()).collect(),
        post_logout_uris: Vec::new(),
        pkce,
        consent: Consent::None,
        kind,
        backchannel_logout_uri: None,
        callback_id_token: CallbackIdToken::Auto,
        products: Products::all(),
        team: None,
        is_sandbox: false,
        status: Status::Active,
        created_at: NOW,
        revision: FIRST_REVISION,
    };
    let native = ["http://127.0.0.1/callback", "com.example.app:/callback", redirect_uri::OUT_OF_BAND];
    [
        client(ClientKind::Web, &[CALLBACK, "http://localhost:8765/callback"], Pkce::IfSent),
        client(ClientKind::Browser, &[CALLBACK], Pkce::Required),
        client(ClientKind::Native, &native, Pkce::Required),
    ]
}

/// Any bytes as the query of an authorization request. The response goes to a registered address or nowhere; a request that is accepted
/// obeys the client's rule for PKCE, is within the limits and survives a ticket; an error has a code of the specifications and a
/// description of the characters that RFC 6749 allows.
pub fn authorization_request(data: &[u8]) -> u64 {
    let params = Params::parse(data);
    let mut outcome = 0_u64;
    for client in clients() {
        let target = match authorization_request::response_target(&params, &client, None) {
            Ok(target) => target,
            Err(error) => {
                outcome = outcome.rotate_left(5) ^ error as u64;
                continue;
            }
        };
        let uri = &target.redirect_uri;
        assert!(client.redirect_uris.iter().any(|known| redirect_uri::matches(known, uri)), "{uri}");
        assert!(target.state.as_ref().is_none_or(|state| state.len() <= VALUE_BYTES_MAX));
        let of_request = match authorization_request::parse(&params, target, &client, None) {
            Ok(request) => {
                check_request(&request, &client);
                signature(&format!("{:?} {}", request.prompt, request.has_unknown_scope))
                    ^ u64::from(request.challenge.is_some()) << 1
                    ^ u64::from(request.max_age_seconds.is_some()) << 2
                    ^ u64::from(request.tenant.is_some()) << 3
            }
            Err(error) => {
                check_error(&error);
                signature(&error.description)
            }
        };
        outcome = outcome.rotate_left(5) ^ of_request;
    }
    outcome
}

fn check_request(request: &AuthorizationRequest, client: &Client) {
    let is_challenge = |text: &String| text.len() == 43 && text.is_ascii();
    assert!(request.challenge.as_ref().is_none_or(is_challenge), "{request:?}");
    assert!(client.pkce != Pkce::Required || request.challenge.is_some(), "{request:?}");
    assert!(!request.scopes().is_empty(), "{request:?}");
    let texts = [&request.nonce, &request.login_hint, &request.ui_locales, &request.target.state];
    assert!(texts.into_iter().flatten().all(|text| text.len() <= VALUE_BYTES_MAX && !text.contains('\0')));
    assert!(!request.prompt.none || !request.prompt.login, "{request:?}");
    let text = serde_json::to_string(request).unwrap_or_default();
    assert_eq!(serde_json::from_str::<AuthorizationRequest>(&text).ok().as_ref(), Some(request), "{text}");
}

/// RFC 6749, 4.1.2.1: the characters of an `error_description`.
fn check_error(error: &OAuthError) {
    let is_allowed = |byte: u8| matches!(byte, 0x20..=0x21 | 0x23..=0x5b | 0x5d..=0x7e);
    assert!(error.description.bytes().all(is_allowed), "{error:?}");
    assert!(
        !error.code.is_empty() && error.code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    );
}

/// The first line is an `Authorization` header, the rest a form. The credentials come from one place; those of a header are the ones that
/// were encoded, and a refusal tells Basic only to a client that used the header.
pub fn client_authentication(data: &[u8]) -> u64 {
    let (header, body) = data.split_at(data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len()));
    let form = Params::parse(body.strip_prefix(b"\n").unwrap_or(body));
    if let Err(error) = form.check(VALUE_BYTES_MAX) {
        check_error(&error);
        return signature(&error.description);
    }
    check_written_again(&form);
    let mut headers = HeaderMap::new();
    if let (false, Ok(value)) = (header.is_empty(), HeaderValue::from_bytes(header)) {
        headers.insert(AUTHORIZATION, value);
    }
    match client_credentials(&headers, &form) {
        Ok((id, secret, used_basic)) => {
            assert_eq!(used_basic, headers.contains_key(AUTHORIZATION));
            assert!(!used_basic || form.get("client_secret").is_none());
            assert!(form.get("client_id").is_none_or(|given| given == id), "{id}");
            let secret = secret.unwrap_or_default();
            let encoded = STANDARD.encode(format!("{}:{}", form_encoded(&id), form_encoded(&secret)));
            let again = HeaderMap::from_iter([(AUTHORIZATION, basic(&encoded))]);
            let Ok((same_id, same_secret, true)) = client_credentials(&again, &Params::default()) else {
                panic!("{id:?} {secret:?} cannot be sent as Basic")
            };
            assert_eq!((same_id, same_secret.unwrap_or_default()), (id, secret));
            1 + u64::from(used_basic)
        }
        Err(EndpointError::OAuth(error)) => {
            check_error(&error);
            signature(&error.description)
        }
        Err(EndpointError::InvalidClient { used_basic, reason }) => {
            assert_eq!(used_basic, headers.contains_key(AUTHORIZATION));
            signature(reason)
        }
        Err(other) => panic!("{other:?}"),
    }
}

fn basic(encoded: &str) -> HeaderValue {
    HeaderValue::from_str(&format!("basic {encoded}")).unwrap_or_else(|_| HeaderValue::from_static("Basic"))
}

fn form_encoded(text: &str) -> String {
    query([("x", text)]).trim_start_matches("x=").to_owned()
}

/// A form has the same parameters after it is written again.
fn check_written_again(form: &Params) {
    let again = Params::parse(form.to_query().as_bytes());
    assert_eq!(again.into_pairs(), form.clone().into_pairs());
}

/// A verifier, and on the next line a challenge: they match only if the challenge is the hash of a verifier of 43 to 128 of the characters
/// that RFC 7636 allows. A `$` stands for the right challenge.
pub fn pkce(data: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(data);
    let (verifier, challenge) = text.split_once('\n').unwrap_or((&text, "$"));
    let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, verifier.as_bytes());
    let right = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(hash);
    let challenge = if challenge == "$" { right.as_str() } else { challenge };
    let is_unreserved = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
    let is_verifier = (43..=128).contains(&verifier.chars().count()) && verifier.chars().all(is_unreserved);
    let matches = matches_challenge(verifier, challenge);
    assert_eq!(matches, is_verifier && challenge == right, "{verifier:?} {challenge:?}");
    u64::from(matches) << 8 | u64::from(is_verifier) << 9 | (verifier.len() / 16).min(20) as u64
}

/// The lines of `Cookie`: a value is the only one of its name, is not empty and not too long.
pub fn cookies(data: &[u8]) -> u64 {
    const NAME: &str = "__Host-session";
    let mut headers = HeaderMap::new();
    for line in data.split(|byte| *byte == b'\n') {
        if let Ok(value) = HeaderValue::from_bytes(line) {
            headers.append(COOKIE, value);
        }
    }
    let mut values = Vec::new();
    for line in headers.get_all(COOKIE) {
        let Ok(line) = line.to_str() else { continue };
        for pair in line.split(';') {
            let mut parts = pair.trim().splitn(2, '=');
            if let (Some(NAME), Some(value)) = (parts.next(), parts.next()) {
                values.push(value);
            }
        }
    }
    let first = values.first().copied();
    let expected = first.filter(|value| !value.is_empty() && value.len() <= COOKIE_BYTES_MAX);
    let expected = expected.filter(|value| values.iter().all(|other| other == value));
    assert_eq!(cookie(&headers, NAME, COOKIE_BYTES_MAX), expected);
    values.len().min(7) as u64 | u64::from(expected.is_some()) << 3
}
