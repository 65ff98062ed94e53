//! Whether a delivery is signed by this store: with the secret of the webhook that it says it is of, by the contract's
//! scheme and by that of Standard Webhooks.

use ::store::{Store, Webhook, WebhookQuery};
use aldaba_client::receiver::{SignatureMismatch, Verifier};
use axum::http::HeaderMap;
use domain::signature::{ACCOUNTING_HEADER, INVOICING_HEADER, STANDARD_SIGNATURE};
use domain::webhook::Family;
use domain::{Clock as _, Guid, Secret, TenantId};
use serde_json::Value;

use crate::wiring::SystemClock;

/// More webhooks of one tenant than anybody makes by hand.
const WEBHOOKS_MAX: usize = 1000;

#[derive(Debug)]
pub(super) enum Signature {
    /// With the headers that were checked.
    Valid(Vec<&'static str>),
    Missing,
    /// And why.
    Wrong(String),
}

pub(super) async fn check(store: &dyn Store, headers: &HeaderMap, body: &[u8]) -> Signature {
    let contract = [ACCOUNTING_HEADER, INVOICING_HEADER].into_iter().find(|name| headers.contains_key(*name));
    let standard = headers.contains_key(STANDARD_SIGNATURE).then_some(STANDARD_SIGNATURE);
    let checked: Vec<&'static str> = contract.into_iter().chain(standard).collect();
    if checked.is_empty() {
        return Signature::Missing;
    }
    let secrets = match secrets(store, body).await {
        Ok(secrets) => secrets,
        Err(error) => return Signature::Wrong(format!("the store cannot be asked for the secret: {error}")),
    };
    let mut secrets = secrets.into_iter();
    let Some(first) = secrets.next() else {
        return Signature::Wrong("this store has no such webhook".into());
    };
    let verifier = secrets.fold(Verifier::new(first), Verifier::with_secret);
    match each_is_right(&verifier, headers, body, &checked) {
        Ok(()) => Signature::Valid(checked),
        Err(mismatch) => Signature::Wrong(mismatch.to_string()),
    }
}

/// A right signature excuses no wrong one beside it.
fn each_is_right(
    verifier: &Verifier,
    headers: &HeaderMap,
    body: &[u8],
    checked: &[&str],
) -> Result<(), SignatureMismatch> {
    for name in checked {
        let mut alone = headers.clone();
        for other in checked.iter().filter(|other| *other != name) {
            alone.remove(*other);
        }
        verifier.verify(&alone, body)?;
    }
    Ok(())
}

/// The secrets that a body may be signed with. The accounting family's names its webhook, invoicing's only the tenant.
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
