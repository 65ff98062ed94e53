//! The client library's sign-in: the callback, and the id_token of the token response.

use std::sync::LazyLock;

use aldaba_client::sign_in::{AuthorizationRequest, SignIn};
use aldaba_client::{Clock, Secret, Ticks, Transport, TransportError, async_trait};
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair};
use bytes::Bytes;
use domain::secret::base64url;
use http::{Request, Response};
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
