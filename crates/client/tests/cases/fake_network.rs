//! A network, a clock and an identity provider that exist only in a test.

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

type Answer = Result<Response<Bytes>, TransportError>;
type Answers = Box<dyn FnMut(&Request<Bytes>) -> Answer + Send>;

/// Answers as the test says, and notes what was asked.
#[derive(Clone)]
pub(crate) struct Net {
    answers: Arc<Mutex<Answers>>,
    asked: Arc<Mutex<Vec<Request<Bytes>>>>,
}

impl Net {
    pub(crate) fn new(answers: impl FnMut(&Request<Bytes>) -> Answer + Send + 'static) -> Self {
        Self { answers: Arc::new(Mutex::new(Box::new(answers))), asked: Arc::default() }
    }

    pub(crate) fn asked(&self) -> Vec<Request<Bytes>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How often a path was asked for.
    pub(crate) fn count(&self, path: &str) -> usize {
        self.asked().iter().filter(|request| request.uri().path() == path).count()
    }
}

#[async_trait]
impl Transport for Net {
    async fn send(&self, request: Request<Bytes>) -> Answer {
        // Others get their turn between a question and its answer.
        tokio::task::yield_now().await;
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        (self.answers.lock().unwrap_or_else(PoisonError::into_inner))(&request)
    }
}

#[expect(clippy::unnecessary_wraps, reason = "as the network answers, which may fail")]
pub(crate) fn answer(status: u16, headers: &[(&str, &str)], body: &Value) -> Answer {
    let mut answer = Response::builder().status(status);
    for (name, value) in headers {
        answer = answer.header(*name, *value);
    }
    Ok(answer.body(Bytes::from(body.to_string())).unwrap())
}

pub(crate) fn good(body: &Value) -> Answer {
    answer(200, &[], body)
}

/// Stands still until a test moves it.
#[derive(Clone, Debug)]
pub(crate) struct Still(pub(crate) Arc<Mutex<i64>>);

impl Still {
    pub(crate) fn at(seconds: i64) -> Self {
        Self(Arc::new(Mutex::new(seconds)))
    }

    pub(crate) fn pass(&self, seconds: i64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += seconds;
    }
}

impl Clock for Still {
    fn now(&self) -> Ticks {
        Ticks::from_unix_seconds(*self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A key of an identity provider.
pub(crate) struct Signer {
    pair: RsaKeyPair,
    kid: String,
}

impl Signer {
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

    #[allow(clippy::disallowed_types, reason = "a test signs with whatever chance the machine has")]
    pub(crate) fn token_as(&self, header: &Value, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(header), part(claims));
        let mut signature = vec![0; self.pair.public_modulus_len()];
        let random = aws_lc_rs::rand::SystemRandom::new();
        self.pair.sign(&RSA_PKCS1_SHA256, &random, signed.as_bytes(), &mut signature).unwrap();
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

/// What an identity provider publishes of itself.
pub(crate) fn published() -> Value {
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
