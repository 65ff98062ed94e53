//! Whether a delivery is the service's: the question that a receiver asks before anything else.

use std::time::Duration;

use domain::signature::{STANDARD_ID, STANDARD_TIMESTAMP, Signer};
use domain::{Clock as _, Secret};
use http::HeaderMap;

use super::diagnose::{MismatchReason, ReceivedSignature, SignatureMismatch, SignatureScheme, diagnose};
use super::hmac::is_equal;
use crate::ports::SystemClock;

/// How far the time of a signature may lie from now, as Standard Webhooks recommends.
pub const TOLERANCE: Duration = Duration::from_secs(5 * 60);

/// Whether `body` was signed with `secret`, by any of the signatures that came with it.
///
/// `body` is the bytes as they came, before anything parsed them. Tells which signature was right; where none is, the
/// [`SignatureMismatch`] says why. Answer 401 then, and keep the reason to yourself.
///
/// ```
/// use aldaba_client::Secret;
/// use aldaba_client::receiver::{SignatureScheme, verify};
/// use http::HeaderMap;
///
/// let mut headers = HeaderMap::new();
/// headers.insert(
///     "svc-webhook-signature",
///     "sha256=5BDCC146BF60754E6A042426089575C75A003F089D2739839DEC58B964EC3843".parse()?,
/// );
/// let secret = Secret::new("Jefe");
/// assert_eq!(verify(&headers, b"what do ya want for nothing?", &secret), Ok(SignatureScheme::Accounting));
/// assert!(verify(&headers, b"what do ya want for something?", &secret).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn verify(
    headers: &HeaderMap,
    body: &[u8],
    secret: &Secret,
) -> Result<SignatureScheme, SignatureMismatch> {
    Verifier::new(secret.clone()).verify(headers, body)
}

/// Verifies deliveries with one secret, or with several while one is being replaced.
///
/// By default any right signature is enough. A captured delivery can then be sent again by who captured it, for the
/// contract's own signature does not cover the time: let an [`Inbox`](super::Inbox) pass each event once, or accept
/// nothing but [`Verifier::only_standard`].
#[derive(Clone, Debug)]
pub struct Verifier {
    secrets: Vec<Secret>,
    tolerance: Duration,
    schemes: Vec<SignatureScheme>,
}

impl Verifier {
    pub fn new(secret: Secret) -> Self {
        let schemes =
            vec![SignatureScheme::Accounting, SignatureScheme::Invoicing, SignatureScheme::Standard];
        Self { secrets: vec![secret], tolerance: TOLERANCE, schemes }
    }

    /// Another secret that counts, too: the next one before it is given to the service, the last one while the
    /// service still signs with both, or that of another webhook with the same address.
    pub fn with_secret(mut self, secret: Secret) -> Self {
        self.secrets.push(secret);
        self
    }

    /// Accepts the signature of Standard Webhooks alone, which covers the time.
    pub fn only_standard(mut self) -> Self {
        self.schemes = vec![SignatureScheme::Standard];
        self
    }

    /// How far the time of a Standard Webhooks signature may lie from now.
    pub fn tolerance(mut self, tolerance: Duration) -> Self {
        self.tolerance = tolerance;
        self
    }

    pub fn verify(&self, headers: &HeaderMap, body: &[u8]) -> Result<SignatureScheme, SignatureMismatch> {
        self.verify_at(headers, body, SystemClock.now().unix_seconds())
    }

    /// The same at another time, given as seconds since 1970.
    pub fn verify_at(
        &self,
        headers: &HeaderMap,
        body: &[u8],
        now_seconds: i64,
    ) -> Result<SignatureScheme, SignatureMismatch> {
        let received_signatures: Vec<ReceivedSignature<'_>> =
            self.schemes.iter().map(|scheme| received(*scheme, headers, body)).collect();
        let present = || received_signatures.iter().filter(|received| received.signature.is_some());
        let matching = present()
            .find(|received| self.secrets.iter().any(|secret| self.matches(received, secret, now_seconds)));
        if let Some(matching) = matching {
            return Ok(matching.scheme);
        }
        let mut best: Option<SignatureMismatch> = None;
        for received in present() {
            for secret in &self.secrets {
                let Err(mismatch) = diagnose(received, secret, now_seconds, self.tolerance) else {
                    return Ok(received.scheme);
                };
                // Any other reason is more specific than a wrong secret.
                if best.as_ref().is_none_or(|known| known.has(&MismatchReason::WrongSecret)) {
                    best = Some(mismatch);
                }
            }
        }
        Err(best.unwrap_or_else(|| {
            let scheme = self.schemes.first().copied().unwrap_or(SignatureScheme::Standard);
            SignatureMismatch { scheme, reasons: vec![MismatchReason::MissingHeader(scheme.header())] }
        }))
    }

    /// The short way, for what is as it should be.
    fn matches(&self, received: &ReceivedSignature<'_>, secret: &Secret, now: i64) -> bool {
        let Some(signature) = received.signature else { return false };
        let signer = Signer::new(secret, None);
        if received.scheme != SignatureScheme::Standard {
            return is_equal(signer.contract_signature(received.body).as_bytes(), signature.as_bytes());
        }
        let (Some(id), Some(timestamp)) = (received.id, received.timestamp) else { return false };
        let is_in_time = timestamp
            .parse::<i64>()
            .is_ok_and(|signed_at| now.abs_diff(signed_at) <= self.tolerance.as_secs());
        let expected = signer.standard_signature(id, timestamp, received.body);
        is_in_time && signature.split(' ').any(|one| is_equal(expected.as_bytes(), one.as_bytes()))
    }
}

fn received<'a>(scheme: SignatureScheme, headers: &'a HeaderMap, body: &'a [u8]) -> ReceivedSignature<'a> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    let of_standard = |name: &str| text(name).filter(|_| scheme == SignatureScheme::Standard);
    ReceivedSignature {
        scheme,
        signature: text(scheme.header()),
        id: of_standard(STANDARD_ID),
        timestamp: of_standard(STANDARD_TIMESTAMP),
        body,
    }
}
