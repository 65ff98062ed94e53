//! Verifies the signatures of a delivery (the contract's scheme and Standard Webhooks) with the secrets of the webhook
//! in the store.

use ::store::{Store, Webhook, WebhookQuery};
use aldaba_client::receiver::{Mismatch, Verifier};
use axum::http::HeaderMap;
use domain::signature::{ACCOUNTING_HEADER, INVOICING_HEADER, STANDARD_SIGNATURE};
use domain::webhook::Family;
use domain::{Clock as _, Guid, Secret, TenantId};
use serde_json::Value;

use crate::wiring::SystemClock;

/// The most webhooks of a tenant to try; more than a developer creates by hand.
const WEBHOOKS_MAX: usize = 1000;

#[derive(Debug)]
pub(super) enum SignatureCheck {
    /// All signatures match, in these headers.
    Valid(Vec<&'static str>),
    Missing,
    /// The reason of the mismatch.
    Wrong(String),
}

pub(super) async fn check_signature(store: &dyn Store, headers: &HeaderMap, body: &[u8]) -> SignatureCheck {
    let contract = [ACCOUNTING_HEADER, INVOICING_HEADER].into_iter().find(|name| headers.contains_key(*name));
    let standard = headers.contains_key(STANDARD_SIGNATURE).then_some(STANDARD_SIGNATURE);
    let checked: Vec<&'static str> = contract.into_iter().chain(standard).collect();
    if checked.is_empty() {
        return SignatureCheck::Missing;
    }
    let secrets = match secrets(store, body).await {
        Ok(secrets) => secrets,
        Err(error) => {
            return SignatureCheck::Wrong(format!("cannot read the secret from the store: {error}"));
        }
    };
    let mut secrets = secrets.into_iter();
    let Some(first) = secrets.next() else {
        return SignatureCheck::Wrong("the store has no such webhook".into());
    };
    let verifier = secrets.fold(Verifier::new(first), Verifier::or);
    match verify_each(&verifier, headers, body, &checked) {
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
) -> Result<(), Mismatch> {
    for name in checked {
        let mut single = headers.clone();
        for other in checked.iter().filter(|other| *other != name) {
            single.remove(*other);
        }
        verifier.verify(&single, body)?;
    }
    Ok(())
}

/// The secrets that may have signed a body. An accounting body names its webhook, an invoicing body only the tenant.
async fn secrets(store: &dyn Store, body: &[u8]) -> ::store::Result<Vec<Secret>> {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let webhooks = if let Some(id) = body["WebhookId"].as_str().and_then(Guid::parse) {
        store.find_webhook(id).await?.into_iter().collect()
    } else if let Some(tenant) = body["TenantId"].as_str() {
        let query = WebhookQuery {
            tenant: Some(TenantId::new(tenant)),
            family: Some(Family::Invoicing),
            include_ended: true,
            rows_max: WEBHOOKS_MAX,
            ..WebhookQuery::default()
        };
        store.webhooks(&query).await?
    } else {
        Vec::new()
    };
    let now = SystemClock.now();
    let both = |webhook: Webhook| {
        let old = webhook.previous_secret.filter(|old| old.until > now).map(|old| old.secret);
        std::iter::once(webhook.secret).chain(old)
    };
    Ok(webhooks.into_iter().flat_map(both).collect())
}
