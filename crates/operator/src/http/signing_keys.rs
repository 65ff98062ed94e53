//! `/operator/v1/signing-keys`: the keys that sign tokens.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use domain::Ticks;
use domain::signing_key::{KeyState, SigningKeyInfo};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::document::{BadBody, NextKeyExists};
use super::input::{OptionalJsonBody, RequestOrigin};
use super::{HandlerResult, Routes, SharedState};

/// A key that signs tokens, without its private part.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SigningKey {
    /// As `/auth/core/.well-known/openid-configuration/jwks` and the header of tokens name it.
    #[schema(examples("mWkO1iNqq0zZtPq4yN2wZbS9o1n6hV3t1mZ2o9w0yXq"))]
    kid: String,
    state: SigningKeyState,
    #[schema(format = DateTime)]
    created_at: String,
    /// It is published earlier.
    #[schema(format = DateTime)]
    signs_from: String,
    /// When another key takes over; null: nobody knows yet.
    #[schema(format = DateTime, required = true)]
    signs_until: Option<String>,
    /// When no token that it signed is valid any more.
    #[schema(format = DateTime, required = true)]
    ends_at: Option<String>,
    /// When it was withdrawn before its time.
    #[schema(format = DateTime, required = true)]
    retired_at: Option<String>,
}

/// What the key is used for.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum SigningKeyState {
    /// Published, so that clients know it before it signs.
    Next,
    Signing,
    /// Replaced; tokens that it signed may still be valid.
    Verifying,
    /// No token that it signed is valid.
    Past,
}

impl From<SigningKeyInfo> for SigningKey {
    fn from(key: SigningKeyInfo) -> Self {
        Self {
            kid: key.kid,
            state: match key.state {
                KeyState::Next => SigningKeyState::Next,
                KeyState::Signing => SigningKeyState::Signing,
                KeyState::Verifying => SigningKeyState::Verifying,
                KeyState::Past => SigningKeyState::Past,
            },
            created_at: key.created_at.iso(),
            signs_from: key.signs_from.iso(),
            signs_until: key.signs_until.map(Ticks::iso),
            ends_at: key.ends_at.map(Ticks::iso),
            retired_at: key.retired_at.map(Ticks::iso),
        }
    }
}

/// The signing keys, oldest first.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SigningKeyList {
    signing_keys: Vec<SigningKey>,
}

/// How to rotate.
#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Rotation {
    /// For a key that others may know: the new key signs now, and within 5 seconds all tokens of older keys are refused.
    /// Without it, the new key signs in 24 hours, and existing tokens remain valid.
    #[serde(default)]
    #[schema(required = false)]
    at_once: bool,
}

pub(super) fn routes() -> Routes {
    vec![routes!(list), routes!(rotate)]
}

/// List the signing keys
#[utoipa::path(
    get,
    path = "/operator/v1/signing-keys",
    operation_id = "listSigningKeys",
    tag = "Service",
    responses((status = 200, description = "The keys, oldest first", body = SigningKeyList))
)]
async fn list(State(state): SharedState) -> HandlerResult {
    let signing_keys = state.service()?.signing_keys().into_iter().map(SigningKey::from).collect();
    Ok(Json(SigningKeyList { signing_keys }).into_response())
}

/// Rotate the signing keys
///
/// Adds the next key. There is one at a time: while there is one, only `atOnce` adds another.
#[utoipa::path(
    post,
    path = "/operator/v1/signing-keys/rotate",
    operation_id = "rotateSigningKeys",
    tag = "Service",
    request_body = Option<Rotation>,
    responses((status = 200, description = "The new key", body = SigningKey), BadBody, NextKeyExists)
)]
async fn rotate(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    OptionalJsonBody(rotation): OptionalJsonBody<Rotation>,
) -> HandlerResult {
    let key = state.service()?.acting(authority).rotate_signing_keys(rotation.at_once).await?;
    Ok(Json(SigningKey::from(key)).into_response())
}
