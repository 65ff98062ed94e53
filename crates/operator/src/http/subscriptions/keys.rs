//! `/operator/v1/subscriptions/{subscription}/keys`: a new key in the place of an old one.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use serde::{Deserialize, Serialize};
use store::KeySlot;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::shapes::Slot;
use crate::http::document::{BadBody, Missing, Over};
use crate::http::input::{BodyOrNone, Named};
use crate::http::refusal::coded;
use crate::http::words::Overlap;
use crate::http::{Answered, Desk, Routes, unkept};

/// How a key is replaced.
#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct KeyAsk {
    overlap: Option<Overlap>,
}

/// A new key, which is shown this once.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct KeyMade {
    slot: Slot,
    #[schema(min_length = 32, max_length = 32, examples("3b1f8c5e9d2a4f60b7c8d9e0f1a2b3c4"))]
    key: String,
    /// Until when the old key stays valid.
    #[schema(format = DateTime)]
    old_valid_until: String,
}

pub(super) fn routes() -> Routes {
    vec![routes!(replace_key)]
}

/// Replace a key
///
/// The new key is shown in this answer and never again. The old one stays valid for the overlap.
#[utoipa::path(
    post,
    path = "/operator/v1/subscriptions/{subscription}/keys/{slot}",
    operation_id = "replaceSubscriptionKey",
    tag = "Subscriptions",
    params(
        ("subscription" = String, Path, description = "The subscription's id"),
        ("slot" = inline(Slot), Path, description = "Which of the two keys")
    ),
    request_body = Option<KeyAsk>,
    responses(
        (status = 200, description = "The new key", body = KeyMade,
            headers(("Cache-Control" = String, description = "no-store"))),
        BadBody,
        Missing,
        Over
    )
)]
async fn replace_key(
    State(desk): Desk,
    Named((id, slot)): Named<(String, String)>,
    BodyOrNone(ask): BodyOrNone<KeyAsk>,
) -> Answered {
    let (slot, kept) = match slot.as_str() {
        "primary" => (Slot::Primary, KeySlot::Primary),
        "secondary" => (Slot::Secondary, KeySlot::Secondary),
        other => {
            let message = format!("There is no key {other:?}; a subscription has primary and secondary.");
            return Err(coded(404, "not_found", message));
        }
    };
    let new = desk.admin.rotate_key(&id, kept, ask.overlap.unwrap_or_default().0).await?;
    let (key, old_valid_until) = (new.secret.reveal().to_owned(), new.previous_valid_until.iso());
    Ok(unkept(Json(KeyMade { slot, key, old_valid_until }).into_response()))
}
