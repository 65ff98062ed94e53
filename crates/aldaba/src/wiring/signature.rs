//! The diagnosis of signatures for the portal: the code of `aldaba verify`.

use std::time::Duration;

use ::portal::{SignatureClaim, SignatureDiagnosis, SignatureReason};
use aldaba_client::receiver::{ReceivedSignature, SignatureScheme, diagnose as diagnose_received};
use domain::Secret;

/// How old a signature of Standard Webhooks may be.
const TOLERANCE: Duration = Duration::from_secs(5 * 60);

pub(super) fn diagnose(claim: &SignatureClaim<'_>) -> SignatureDiagnosis {
    let SignatureClaim { signature, body, secret, standard, now_seconds } = *claim;
    let received = match standard {
        Some((id, timestamp)) => ReceivedSignature::standard(id, timestamp, signature, body),
        None => ReceivedSignature::accounting(signature, body),
    };
    let result = diagnose_received(&received, &Secret::new(secret), now_seconds, TOLERANCE);
    let reasons = result.err().map(|mismatch| mismatch.reasons).unwrap_or_default();
    let reason = |reason: &aldaba_client::receiver::MismatchReason| SignatureReason {
        code: reason.code(),
        message: reason.to_string(),
    };
    SignatureDiagnosis {
        is_standard: received.scheme == SignatureScheme::Standard,
        reasons: reasons.iter().map(reason).collect(),
    }
}
