//! `/operator/v1/tokens`: named tokens of this API.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use domain::Ticks;
use serde::{Deserialize, Serialize};
use store::{NamedToken, TokenState};
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use utoipa_axum::routes;

use super::document::{AlreadyExists, BadBody, BadQuery, NotFound};
use super::input::{JsonBody, PathParams, QueryParams, RequestOrigin};
use super::paging::{ListParams, next_text};
use super::role::Role;
use super::schema_types::{ChosenId, parse_span, span_pattern};
use super::{AppState, HandlerResult, Routes, SharedState, created, no_store};
use crate::admin;
use crate::error::AdminError;

/// A named token of this API.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Token {
    #[schema(examples("0b5e0a51-6a5c-4d0e-9d0f-6f6f4c6f7a11"))]
    id: String,
    /// The audit names it as the actor `token:<name>`.
    #[schema(examples("nightly-load"))]
    name: String,
    role: Role,
    state: TokenStateName,
    #[schema(format = DateTime)]
    created_at: String,
    /// Who added it, as the audit names them.
    #[schema(examples("cli:maria"))]
    created_by: String,
    /// Null: it does not expire.
    #[schema(format = DateTime, required = true)]
    expires_at: Option<String>,
    /// Accurate to a minute; null: it was not used yet.
    #[schema(format = DateTime, required = true)]
    last_used_at: Option<String>,
    #[schema(format = DateTime, required = true)]
    revoked_at: Option<String>,
}

/// Whether the token is accepted.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = TokenState)]
enum TokenStateName {
    Live,
    Expired,
    Revoked,
}

impl Token {
    fn new(state: &AppState, token: NamedToken) -> Self {
        Self {
            state: match state.admin.token_state(&token) {
                TokenState::Live => TokenStateName::Live,
                TokenState::Expired => TokenStateName::Expired,
                TokenState::Revoked => TokenStateName::Revoked,
            },
            id: token.id.to_string(),
            name: token.name,
            role: token.role.into(),
            created_at: token.created_at.iso(),
            created_by: token.created_by,
            expires_at: token.expires_at.map(Ticks::iso),
            last_used_at: token.last_used_at.map(Ticks::iso),
            revoked_at: token.revoked_at.map(Ticks::iso),
        }
    }
}

/// Tokens, oldest first; also those that have expired or are revoked.
#[derive(Serialize, ToSchema)]
struct TokenPage {
    tokens: Vec<Token>,
    /// Send it as `after` to get the next page; null on the last page.
    #[schema(required = true)]
    next: Option<String>,
}

/// A new token.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewToken {
    /// Unique among the tokens that are not revoked.
    name: ChosenId,
    role: Role,
    /// Without it, the token does not expire.
    expires_in: Option<Lifetime>,
}

/// How long a token is valid: digits and a unit.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
struct Lifetime(Duration);

impl TryFrom<String> for Lifetime {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let lifetime = parse_span(&text).filter(|lifetime| !lifetime.is_zero() && !text.starts_with('0'));
        lifetime.map(Self).ok_or_else(|| {
            format!("{text:?} is not a duration as in 90d: up to 9999999s, 99999m, 9999h or 999d, without leading zeros")
        })
    }
}

impl PartialSchema for Lifetime {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::new(Type::String))
            .description(Some("How long the token is valid: digits and a unit (s, m, h, d)."))
            .pattern(Some(span_pattern("[1-9]")))
            .examples(["90d"])
            .build()
            .into()
    }
}

impl ToSchema for Lifetime {}

/// A new token with its secret, which is returned only once.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CreatedToken {
    token: Token,
    /// Send it as `Authorization: Bearer <secret>`.
    #[schema(examples("aldaba_op_hV3t1mZ2o9w0yXq8s7r6u5v4t3s2r1q0pOnMlKjIhGf"))]
    secret: String,
}

pub(super) fn routes() -> Routes {
    vec![routes!(list, add), routes!(show, revoke)]
}

/// List tokens
#[utoipa::path(
    get,
    path = "/operator/v1/tokens",
    operation_id = "listTokens",
    tag = "Tokens",
    params(ListParams),
    responses((status = 200, description = "A page of tokens", body = TokenPage), BadQuery)
)]
async fn list(State(state): SharedState, QueryParams(params): QueryParams<ListParams>) -> HandlerResult {
    let page = state.admin.store.list_operator_tokens(&params.into()).await.map_err(AdminError::from)?;
    let next = next_text(page.next.as_ref());
    let tokens = page.rows.into_iter().map(|token| Token::new(&state, token)).collect();
    Ok(Json(TokenPage { tokens, next }).into_response())
}

/// Add a token
///
/// The response holds its secret, which cannot be read again.
#[utoipa::path(
    post,
    path = "/operator/v1/tokens",
    operation_id = "addToken",
    tag = "Tokens",
    request_body = NewToken,
    responses(
        (status = 201, description = "The new token", body = CreatedToken,
            headers(
                ("Location" = String, description = "The token's path"),
                ("Cache-Control" = String, description = "no-store")
            )),
        BadBody,
        AlreadyExists
    )
)]
async fn add(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    JsonBody(new): JsonBody<NewToken>,
) -> HandlerResult {
    let lifetime = new.expires_in.map(|lifetime| lifetime.0);
    let new = admin::NewToken { name: new.name.0, role: new.role.into(), lifetime };
    let (token, secret) = state.admin.acting(authority).add_token(new).await?;
    let body = CreatedToken { token: Token::new(&state, token), secret: secret.reveal().to_owned() };
    Ok(no_store(created(&["tokens", &body.token.id], &body)))
}

/// Show a token
#[utoipa::path(
    get,
    path = "/operator/v1/tokens/{token}",
    operation_id = "getToken",
    tag = "Tokens",
    params(("token" = String, Path, description = "The token's id")),
    responses((status = 200, description = "The token", body = Token), NotFound)
)]
async fn show(State(state): SharedState, PathParams(id): PathParams<String>) -> HandlerResult {
    let token = state.admin.token(&id).await?;
    Ok(Json(Token::new(&state, token)).into_response())
}

/// Revoke a token
///
/// Every node refuses it from the next request on, permanently. Idempotent.
#[utoipa::path(
    delete,
    path = "/operator/v1/tokens/{token}",
    operation_id = "revokeToken",
    tag = "Tokens",
    params(("token" = String, Path, description = "The token's id")),
    responses((status = 200, description = "The revoked token", body = Token), NotFound)
)]
async fn revoke(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(id): PathParams<String>,
) -> HandlerResult {
    let token = state.admin.acting(authority).revoke_token(&id).await?;
    Ok(Json(Token::new(&state, token)).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifetime_is_a_positive_duration() {
        for (text, seconds) in [("1s", 1), ("90d", 7_776_000), ("9999h", 35_996_400)] {
            assert_eq!(Lifetime::try_from(text.to_owned()).map(|read| read.0.as_secs()), Ok(seconds));
        }
        for text in ["", "0s", "00d", "01d", "1000d", "-1d", "1w", "never"] {
            assert!(Lifetime::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
