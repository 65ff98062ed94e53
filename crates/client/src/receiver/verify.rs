//! Verifies the signatures of deliveries.

use std::time::Duration;

use domain::signature::{STANDARD_ID, STANDARD_TIMESTAMP, Signer};
use domain::{Clock as _, Secret};
use http::HeaderMap;

use super::diagnose::{MismatchReason, ReceivedSignature, SignatureMismatch, SignatureScheme, diagnose};
use super::hmac::is_equal;
use crate::ports::SystemClock;

/// The tolerance that Standard Webhooks recommends between the time of a signature and now.
pub const TOLERANCE: Duration = Duration::from_secs(5 * 60);

/// Verifies that one of the signatures of a delivery was made with `secret`, and returns its scheme.
///
/// `body` is the received body, byte by byte, before any parsing. If no signature matches, the [`SignatureMismatch`]
/// says why: log it, and answer 401 without the reason.
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

/// Verifies deliveries with one secret, or with several during a rotation.
///
/// By default, one valid signature of any scheme is enough. The contract's own signature does not cover a timestamp, so
/// an attacker who captured a delivery can replay it: process each event once with an [`Inbox`](super::Inbox), or use
/// [`Verifier::only_standard`].
#[derive(Clone, Debug)]
pub struct Verifier {
    secrets: Vec<Secret>,
    tolerance: Duration,
    schemes: Vec<SignatureScheme>,
}

impl Verifier {
    /// Accepts the signatures of all schemes, made with this secret.
    pub fn new(secret: Secret) -> Self {
        let schemes =
            vec![SignatureScheme::Accounting, SignatureScheme::Invoicing, SignatureScheme::Standard];
        Self { secrets: vec![secret], tolerance: TOLERANCE, schemes }
    }

    /// Accepts another secret, too: the next one before a rotation, the previous one after it, or that of another
    /// webhook with the same URL.
    pub fn with_secret(mut self, secret: Secret) -> Self {
        self.secrets.push(secret);
        self
    }

    /// Accepts only the signature of Standard Webhooks, which covers the timestamp.
    pub fn only_standard(mut self) -> Self {
        self.schemes = vec![SignatureScheme::Standard];
        self
    }

    /// The tolerance between the timestamp of a Standard Webhooks signature and now. The default is [`TOLERANCE`].
    pub fn tolerance(mut self, tolerance: Duration) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Verifies a delivery, and returns the scheme of the signature that matched.
    pub fn verify(&self, headers: &HeaderMap, body: &[u8]) -> Result<SignatureScheme, SignatureMismatch> {
        self.verify_at(headers, body, SystemClock.now().unix_seconds())
    }

    /// Like [`Verifier::verify`] at another time, given in Unix seconds.
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

    /// The fast path: whether the signature matches exactly.
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
        is_in_time
            && signature.split(' ').any(|candidate| is_equal(expected.as_bytes(), candidate.as_bytes()))
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
