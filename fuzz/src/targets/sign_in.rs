//! The client library's sign-in: the callback, the id_token of the token response, and the provider's documents.

use std::net::IpAddr;
use std::sync::{Arc, LazyLock};

use aldaba_client::sign_in::{AuthorizationRequest, SignIn};
use aldaba_client::{Clock, Secret, Ticks, Transport, TransportError, async_trait};
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair};
use bytes::Bytes;
use domain::secret::base64url;
use http::{Request, Response, Uri};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::{refused, text};

const AUTH_URL: &str = "https://auth.example";
const ISSUER: &str = "https://auth.example/auth/core";
const CLIENT: &str = "app";
const NOW: i64 = 1_800_000_000;
/// The client's allowance for clocks.
const LEEWAY: i64 = 60;
const HEADER: &str = r#"{"alg":"RS256","kid":"k"}"#;

static KEY: LazyLock<Option<RsaKeyPair>> = LazyLock::new(|| RsaKeyPair::generate(KeySize::Rsa2048).ok());

struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> Ticks {
        Ticks::from_unix_seconds(NOW)
    }
}

/// The identity provider, which answers the exchange of any code with this id_token.
struct Provider {
    key: Value,
    id_token: String,
}

#[async_trait]
impl Transport for Provider {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        let body = match request.uri().path() {
            "/auth/core/.well-known/openid-configuration" => json!({
                "issuer": ISSUER, "jwks_uri": format!("{ISSUER}/.well-known/jwks"),
                "revocation_endpoint": format!("{ISSUER}/connect/revocation"),
                "end_session_endpoint": format!("{ISSUER}/connect/endsession"),
            }),
            "/auth/core/.well-known/jwks" => json!({ "keys": [self.key] }),
            _ => json!({"access_token": "a", "token_type": "Bearer", "id_token": self.id_token}),
        };
        Ok(Response::new(Bytes::from(body.to_string())))
    }
}

/// Three parts with a line each: the callback, the header of the id_token (or an empty line) and its claims. `$` in the first and the
/// last stands for the right state and nonce. The id_token is signed by the right key whatever it says; a sign-in is finished only with a
/// callback of this browser and claims for this client, this time and this sign-in.
pub(crate) fn client_sign_in(data: &[u8]) -> u64 {
    let (Some(key), Ok(runtime)) =
        (&*KEY, tokio::runtime::Builder::new_current_thread().enable_time().build())
    else {
        return 0;
    };
    let text = text(data);
    let mut parts = text.splitn(3, '\n');
    let mut part = || parts.next().unwrap_or_default();
    let (callback, header, claims) = (part(), part(), part());
    let header = if header.is_empty() { HEADER } else { header };
    let builder = || SignIn::builder(AUTH_URL, CLIENT, Secret::new("hush"), "https://app.example/callback");
    let Ok(plain) = builder().build() else { return 1 };
    let pending = plain.start(&AuthorizationRequest::accounting()).pending;
    let nonce =
        serde_json::to_value(&pending).ok().and_then(|pending| Some(pending["nonce"].as_str()?.to_owned()));
    let nonce = nonce.unwrap_or_default();
    let (callback, claims) = (callback.replace('$', pending.state()), claims.replace('$', &nonce));
    let provider = Provider { key: public(key), id_token: signed(key, header, &claims) };
    let Ok(sign_in) = builder().transport(provider).clock(FixedClock).build() else { return 2 };
    match runtime.block_on(sign_in.finish(&pending, &callback)) {
        Ok(_) => {
            check_callback(&callback, pending.state());
            assert_eq!(json_of(header)["alg"], "RS256", "{header}");
            check_claims(&json_of(&claims), &nonce);
            3
        }
        Err(error) => refused(error.to_string().replace(&nonce, "").replace(pending.state(), "")),
    }
}

/// The identity provider with documents of the input's.
struct Documents {
    configuration: String,
    keys: String,
    tokens: String,
    asked: Arc<Mutex<Vec<Uri>>>,
}

#[async_trait]
impl Transport for Documents {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        self.asked.lock().push(request.uri().clone());
        let body = match request.uri().path() {
            "/auth/core/.well-known/openid-configuration" => &self.configuration,
            "/auth/core/connect/token" => &self.tokens,
            _ => &self.keys,
        };
        Ok(Response::new(Bytes::from(body.clone())))
    }
}

/// A line each for the discovery document, the key set and the token response, as the provider sends them. In the second, `$` stands for
/// the right key, and in the third for an id_token that it signed. A sign-in is finished only with this issuer's document, the right key
/// and that id_token; every request is encrypted or stays on this machine.
pub(crate) fn client_provider(data: &[u8]) -> u64 {
    let (Some(key), Ok(runtime)) =
        (&*KEY, tokio::runtime::Builder::new_current_thread().enable_time().build())
    else {
        return 0;
    };
    let text = text(data);
    let mut parts = text.splitn(3, '\n');
    let mut part = || parts.next().unwrap_or_default();
    let (configuration, keys, tokens) = (part(), part(), part());
    let builder = || SignIn::builder(AUTH_URL, CLIENT, Secret::new("hush"), "https://app.example/callback");
    let Ok(plain) = builder().build() else { return 1 };
    let pending = plain.start(&AuthorizationRequest::accounting()).pending;
    let nonce = serde_json::to_value(&pending).unwrap_or_default()["nonce"].clone();
    let claims =
        json!({"iss": ISSUER, "aud": CLIENT, "sub": "maria", "iat": NOW, "exp": NOW + 300, "nonce": nonce});
    let (public_key, id_token) = (public(key), signed(key, HEADER, &claims.to_string()));
    let keys = keys.replace('$', &public_key.to_string());
    let tokens = tokens.replace('$', &id_token);
    let asked = Arc::new(Mutex::new(Vec::new()));
    let documents = Documents {
        configuration: configuration.to_owned(),
        keys: keys.clone(),
        tokens: tokens.clone(),
        asked: asked.clone(),
    };
    let Ok(sign_in) = builder().transport(documents).clock(FixedClock).build() else { return 2 };
    let callback = format!("code=c&state={}&iss=https%3A%2F%2Fauth.example%2Fauth%2Fcore", pending.state());
    let finished = runtime.block_on(async {
        let finished = sign_in.finish(&pending, &callback).await?;
        let sign_out = sign_in.sign_out_url(&finished.tokens, None).await?;
        sign_in.revoke(&finished.tokens).await?;
        Ok::<_, aldaba_client::Error>(sign_out)
    });
    asked.lock().iter().for_each(check_encrypted);
    match finished {
        Ok(sign_out) => {
            assert_eq!(json_of(configuration)["issuer"], ISSUER, "{configuration}");
            check_keys(&json_of(&keys), &public_key);
            assert_eq!(json_of(&tokens)["id_token"], id_token.as_str(), "{tokens}");
            assert!(sign_out.contains("client_id=app"), "{sign_out}");
            let Ok(sign_out) = sign_out.parse::<Uri>() else { panic!("{sign_out} is no address") };
            check_encrypted(&sign_out);
            3
        }
        Err(error) => {
            let message = error.to_string();
            assert!(!message.contains("hush"), "{message}");
            refused(message.replace(&id_token, ""))
        }
    }
}

fn check_encrypted(uri: &Uri) {
    let host = uri.host().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    let is_here = host == "localhost" || address.is_ok_and(|address| address.is_loopback());
    assert!(uri.scheme_str() == Some("https") || (uri.scheme_str() == Some("http") && is_here), "{uri}");
}

/// The set has the key, with or without leading zeros.
fn check_keys(set: &Value, key: &Value) {
    let modulus = |key: &Value| key["n"].as_str().unwrap_or_default().trim_start_matches('A').to_owned();
    let keys = set["keys"].as_array().cloned().unwrap_or_default();
    assert!(keys.iter().any(|one| one["kid"] == "k" && modulus(one) == modulus(key)), "{set}");
}

/// A browser's callback has one state and one issuer, and they are right.
fn check_callback(callback: &str, state: &str) {
    let query = callback.split_once('?').map_or(callback, |(_, query)| query);
    let query = query.split('#').next().unwrap_or_default();
    for (name, expected) in [("state", state), ("iss", ISSUER)] {
        let found = form_urlencoded::parse(query.as_bytes()).filter(|(known, _)| known == name);
        assert_eq!(found.map(|(_, value)| value.into_owned()).collect::<Vec<_>>(), [expected], "{name}");
    }
}

fn check_claims(claims: &Value, nonce: &str) {
    let audiences = claims["aud"].as_array().cloned().unwrap_or_else(|| vec![claims["aud"].clone()]);
    assert!(audiences.iter().any(|audience| audience == CLIENT), "{claims}");
    assert!(audiences.len() == 1 || claims["azp"] == CLIENT, "{claims}");
    assert!(claims["iss"] == ISSUER && claims["nonce"] == nonce, "{claims}");
    assert!(claims["exp"].as_i64().is_some_and(|exp| exp > NOW - LEEWAY), "{claims}");
    assert!(claims["iat"].as_i64().is_some_and(|iat| iat <= NOW + LEEWAY), "{claims}");
    assert!(claims["sub"].as_str().is_some_and(|sub| !sub.is_empty()), "{claims}");
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

fn public(key: &RsaKeyPair) -> Value {
    let number = |bytes: &[u8]| base64url(bytes);
    let n = number(key.public_key().modulus().big_endian_without_leading_zero());
    let e = number(key.public_key().exponent().big_endian_without_leading_zero());
    json!({"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "k", "n": n, "e": e})
}

#[allow(clippy::disallowed_types, reason = "a signature of this kind uses no randomness")]
fn signed(key: &RsaKeyPair, header: &str, claims: &str) -> String {
    let signed = format!("{}.{}", base64url(header.as_bytes()), base64url(claims.as_bytes()));
    let mut signature = vec![0; key.public_modulus_len()];
    let _ =
        key.sign(&RSA_PKCS1_SHA256, &aws_lc_rs::rand::SystemRandom::new(), signed.as_bytes(), &mut signature);
    format!("{signed}.{}", base64url(&signature))
}
