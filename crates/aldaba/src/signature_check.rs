//! Verifies the signatures of a delivery (the contract's scheme and Standard Webhooks) as an integrator's receiver does, for
//! the receivers of `aldaba dev` and of the sandboxes.

use aldaba_client::receiver::{SignatureMismatch, Verifier};
use axum::http::HeaderMap;
use domain::signature::{ACCOUNTING_HEADER, INVOICING_HEADER, STANDARD_SIGNATURE};
use domain::{Secret, Ticks};
use store::Webhook;

#[derive(Debug)]
pub(crate) enum SignatureCheck {
    /// All signatures match, in these headers.
    Valid(Vec<&'static str>),
    Missing,
    /// The reason of the mismatch.
    Wrong(String),
}

/// The headers of a delivery that have signatures.
pub(crate) fn signature_headers(headers: &HeaderMap) -> Vec<&'static str> {
    let contract = [ACCOUNTING_HEADER, INVOICING_HEADER].into_iter().find(|name| headers.contains_key(*name));
    let standard = headers.contains_key(STANDARD_SIGNATURE).then_some(STANDARD_SIGNATURE);
    contract.into_iter().chain(standard).collect()
}

/// Verifies each signature with any of the secrets.
pub(crate) fn check_signature(
    headers: &HeaderMap,
    body: &[u8],
    secrets: impl IntoIterator<Item = Secret>,
    now: Ticks,
) -> SignatureCheck {
    let checked = signature_headers(headers);
    if checked.is_empty() {
        return SignatureCheck::Missing;
    }
    let mut secrets = secrets.into_iter();
    let Some(first) = secrets.next() else {
        return SignatureCheck::Wrong("the store has no such webhook".into());
    };
    let verifier = secrets.fold(Verifier::new(first), Verifier::with_secret);
    match verify_each(&verifier, headers, body, &checked, now) {
        Ok(()) => SignatureCheck::Valid(checked),
        Err(mismatch) => SignatureCheck::Wrong(mismatch.to_string()),
    }
}

/// Verifies each header alone, because the verifier accepts a delivery if one of its signatures matches.
fn verify_each(
    verifier: &Verifier,
    headers: &HeaderMap,
    body: &[u8],
    checked: &[&str],
    now: Ticks,
) -> Result<(), SignatureMismatch> {
    for name in checked {
        let mut single = headers.clone();
        for other in checked.iter().filter(|other| *other != name) {
            single.remove(*other);
        }
        verifier.verify_at(&single, body, now.unix_seconds())?;
    }
    Ok(())
}

/// The secrets that sign for a webhook at this time.
pub(crate) fn secrets_of(webhook: Webhook, now: Ticks) -> impl Iterator<Item = Secret> {
    let old = webhook.previous_secret.filter(|old| old.until > now).map(|old| old.secret);
    std::iter::once(webhook.secret).chain(old)
}
