//! `/operator/v1/subscriptions/{subscription}/keys`: key rotation.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use domain::ErrorCode;
use serde::{Deserialize, Serialize};
use store::KeySlot;
use utoipa::ToSchema;
use utoipa_axum::routes;
use web::ErrorResponse;

use super::schemas::Slot;
use crate::http::document::{BadBody, Cancelled, NotFound, NotRevealable};
use crate::http::error_response::error_with_code;
use crate::http::input::{OptionalJsonBody, PathParams, RequestOrigin};
use crate::http::schema_types::Overlap;
use crate::http::{HandlerResult, Routes, SharedState, no_store};

/// How to replace the key.
#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = KeyAsk)]
struct ReplaceKeyRequest {
    overlap: Option<Overlap>,
}

/// A new key.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = KeyMade)]
struct CreatedKey {
    slot: Slot,
    #[schema(min_length = 32, max_length = 32, examples("3b1f8c5e9d2a4f60b7c8d9e0f1a2b3c4"))]
    key: String,
    /// The end of the old key's validity.
    #[schema(format = DateTime)]
    old_valid_until: String,
}

/// A key in plain text.
#[derive(Serialize, ToSchema)]
struct RevealedKey {
    slot: Slot,
    #[schema(examples("3b1f8c5e9d2a4f60b7c8d9e0f1a2b3c4"))]
    key: String,
}

pub(super) fn routes() -> Routes {
    vec![routes!(replace_key), routes!(reveal_key)]
}

/// The slot that a path names.
fn slot_named(name: &str) -> Result<(Slot, KeySlot), ErrorResponse> {
    match name {
        "primary" => Ok((Slot::Primary, KeySlot::Primary)),
        "secondary" => Ok((Slot::Secondary, KeySlot::Secondary)),
        other => {
            let message = format!("There is no key {other:?}; a subscription has primary and secondary.");
            Err(error_with_code(ErrorCode::NotFound, message))
        }
    }
}

/// Reveal a key
///
/// The current key of the slot; the audit says who has seen it. A key from a version that stored only hashes cannot
/// be revealed (409, `not_revealable`): replace it.
#[utoipa::path(
    post,
    path = "/operator/v1/subscriptions/{subscription}/keys/{slot}/reveal",
    operation_id = "revealSubscriptionKey",
    tag = "Subscriptions",
    params(
        ("subscription" = String, Path, description = "The subscription's id"),
        ("slot" = inline(Slot), Path, description = "Which of the two keys")
    ),
    responses(
        (status = 200, description = "The key", body = RevealedKey,
            headers(("Cache-Control" = String, description = "no-store"))),
        NotFound,
        NotRevealable
    )
)]
async fn reveal_key(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams((id, slot)): PathParams<(String, String)>,
) -> HandlerResult {
    let (slot, stored_slot) = slot_named(&slot)?;
    let key = state.admin.acting(authority).reveal_key(&id, stored_slot).await?;
    Ok(no_store(Json(RevealedKey { slot, key: key.reveal().to_owned() }).into_response()))
}

/// Replace a key
///
/// The response holds the new key. The old one stays valid for the overlap.
#[utoipa::path(
    post,
    path = "/operator/v1/subscriptions/{subscription}/keys/{slot}",
    operation_id = "replaceSubscriptionKey",
    tag = "Subscriptions",
    params(
        ("subscription" = String, Path, description = "The subscription's id"),
        ("slot" = inline(Slot), Path, description = "Which of the two keys")
    ),
    request_body = Option<ReplaceKeyRequest>,
    responses(
        (status = 200, description = "The new key", body = CreatedKey,
            headers(("Cache-Control" = String, description = "no-store"))),
        BadBody,
        NotFound,
        Cancelled
    )
)]
async fn replace_key(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams((id, slot)): PathParams<(String, String)>,
    OptionalJsonBody(request): OptionalJsonBody<ReplaceKeyRequest>,
) -> HandlerResult {
    let (slot, stored_slot) = slot_named(&slot)?;
    let rotated = state
        .admin
        .acting(authority)
        .rotate_key(&id, stored_slot, request.overlap.unwrap_or_default().0)
        .await?;
    let (key, old_valid_until) = (rotated.secret.reveal().to_owned(), rotated.previous_valid_until.iso());
    Ok(no_store(Json(CreatedKey { slot, key, old_valid_until }).into_response()))
}
