//! A fake transport, clock and identity provider.

use std::sync::{Arc, Mutex, PoisonError};

use aldaba_client::{Clock, Ticks, Transport, TransportError, async_trait};
use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::{Request, Response};
use serde_json::{Value, json};

pub(crate) const AUTH_URL: &str = "https://auth.example";
pub(crate) const ISSUER: &str = "https://auth.example/auth/core";
pub(crate) const NOW: i64 = 1_800_000_000;

type TransportResult = Result<Response<Bytes>, TransportError>;
type Responder = Box<dyn FnMut(&Request<Bytes>) -> TransportResult + Send>;

/// Responds with the test's closure, and records the requests.
#[derive(Clone)]
pub(crate) struct FakeTransport {
    responder: Arc<Mutex<Responder>>,
    requests: Arc<Mutex<Vec<Request<Bytes>>>>,
}

impl FakeTransport {
    pub(crate) fn new(responder: impl FnMut(&Request<Bytes>) -> TransportResult + Send + 'static) -> Self {
        Self { responder: Arc::new(Mutex::new(Box::new(responder))), requests: Arc::default() }
    }

    pub(crate) fn requests(&self) -> Vec<Request<Bytes>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The number of requests to a path.
    pub(crate) fn count(&self, path: &str) -> usize {
        self.requests().iter().filter(|request| request.uri().path() == path).count()
    }
}

#[async_trait]
impl Transport for FakeTransport {
    async fn send(&self, request: Request<Bytes>) -> TransportResult {
        // Let other tasks run between request and response.
        tokio::task::yield_now().await;
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        (self.responder.lock().unwrap_or_else(PoisonError::into_inner))(&request)
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the type of a response that may fail")]
pub(crate) fn response(status: u16, headers: &[(&str, &str)], body: &Value) -> TransportResult {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    Ok(response.body(Bytes::from(body.to_string())).unwrap())
}

pub(crate) fn ok(body: &Value) -> TransportResult {
    response(200, &[], body)
}

/// A clock that only moves when the test advances it.
#[derive(Clone, Debug)]
pub(crate) struct FakeClock(pub(crate) Arc<Mutex<i64>>);

impl FakeClock {
    pub(crate) fn at(seconds: i64) -> Self {
        Self(Arc::new(Mutex::new(seconds)))
    }

    pub(crate) fn advance(&self, seconds: i64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += seconds;
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Ticks {
        Ticks::from_unix_seconds(*self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A signing key of the identity provider.
pub(crate) struct IssuerKey {
    pair: RsaKeyPair,
    kid: String,
}

impl IssuerKey {
    pub(crate) fn new(kid: &str) -> Self {
        Self { pair: RsaKeyPair::generate(KeySize::Rsa2048).unwrap(), kid: kid.to_owned() }
    }

    pub(crate) fn jwk(&self) -> Value {
        let public = self.pair.public_key();
        assert!(!public.as_der().unwrap().as_ref().is_empty());
        let number = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let n = number(public.modulus().big_endian_without_leading_zero());
        let e = number(public.exponent().big_endian_without_leading_zero());
        json!({"kty": "RSA", "use": "sig", "alg": "RS256", "kid": self.kid, "n": n, "e": e})
    }

    pub(crate) fn token(&self, claims: &Value) -> String {
        self.token_as(&json!({"alg": "RS256", "typ": "JWT", "kid": self.kid}), claims)
    }

    #[allow(clippy::disallowed_types, reason = "the signature needs no determinism")]
    pub(crate) fn token_as(&self, header: &Value, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(header), part(claims));
        let mut signature = vec![0; self.pair.public_modulus_len()];
        let random = aws_lc_rs::rand::SystemRandom::new();
        self.pair.sign(&RSA_PKCS1_SHA256, &random, signed.as_bytes(), &mut signature).unwrap();
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

/// The metadata of the identity provider.
pub(crate) fn metadata() -> Value {
    json!({
        "issuer": ISSUER, "jwks_uri": format!("{ISSUER}/.well-known/jwks"),
        "revocation_endpoint": format!("{ISSUER}/connect/revocation"),
        "end_session_endpoint": format!("{ISSUER}/connect/endsession"),
    })
}

/// The parameters of a query or a form.
pub(crate) fn pairs(text: &str) -> std::collections::BTreeMap<String, String> {
    form_urlencoded::parse(text.as_bytes()).into_owned().collect()
}
