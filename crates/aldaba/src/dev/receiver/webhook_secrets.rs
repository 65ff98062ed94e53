//! Verifies a delivery with the secrets of the webhook in the store.

use ::store::{Store, WebhookQuery};
use axum::http::HeaderMap;
use domain::webhook::Family;
use domain::{Clock as _, Guid, Secret, TenantId};
use serde_json::Value;

use crate::signature_check::{self, SignatureCheck, secrets_of};
use crate::wiring::SystemClock;

/// The most webhooks of a tenant to try; more than a developer creates by hand.
const WEBHOOKS_MAX: usize = 1000;

pub(super) async fn check_signature(store: &dyn Store, headers: &HeaderMap, body: &[u8]) -> SignatureCheck {
    if signature_check::signature_headers(headers).is_empty() {
        return SignatureCheck::Missing;
    }
    match secrets(store, body).await {
        Ok(secrets) => signature_check::check_signature(headers, body, secrets, SystemClock.now()),
        Err(error) => SignatureCheck::Wrong(format!("cannot read the secret from the store: {error}")),
    }
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
    Ok(webhooks.into_iter().flat_map(|webhook| secrets_of(webhook, now)).collect())
}
