//! The check of the bearer token in front of the operator's API: who calls, and in which role.

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use domain::{ErrorCode, OperatorRole, Secret, Ticks};
use store::{Actor, NamedToken, TokenState};
use web::{ErrorResponse, drain_in_background};

use super::error_response::{error_with_code, store_error_response};
use super::{AppState, SharedState};
use crate::admin::{TOKEN_PREFIX, roles_from};

/// How much of a refused body is still read, so that its sender sees the response.
const REFUSED_DRAIN_BYTES_MAX: usize = 64 * 1024 * 1024;

const INVALID_TOKEN: &str = "Bearer error=\"invalid_token\"";
/// The length of `Random::token`, which follows the prefix of a named token.
const TOKEN_CHARS: usize = 43;

/// Who sent the request, by its token.
#[derive(Clone, Debug)]
pub(super) struct Bearer {
    pub(super) actor: Actor,
    pub(super) role: OperatorRole,
}

pub(super) async fn require_token(State(state): SharedState, mut request: Request, next: Next) -> Response {
    let admitted = match authenticate(&state, request.headers()).await {
        Ok(bearer) => check_method(request.method(), bearer.role).map(|()| bearer),
        Err(refused) => Err(refused),
    };
    match admitted {
        Ok(bearer) => {
            request.extensions_mut().insert(bearer);
            next.run(request).await
        }
        Err(refused) => {
            drain_in_background(request.into_body(), REFUSED_DRAIN_BYTES_MAX);
            refused.into_response()
        }
    }
}

async fn authenticate(state: &AppState, headers: &HeaderMap) -> Result<Bearer, ErrorResponse> {
    let Some(header) = headers.get(AUTHORIZATION) else {
        let message = "The operator's token is missing; send it as Authorization: Bearer <token>.";
        return Err(unauthorized("Bearer", message));
    };
    let Some(token) = bearer_token(header) else { return Err(wrong_token()) };
    if state.token.is(token) {
        return Ok(Bearer { actor: Actor::Operator, role: OperatorRole::Admin });
    }
    if !is_named_token(token) {
        return Err(wrong_token());
    }
    // Read for every request, so that a revocation takes effect at once on every node.
    let found = state.admin.store.find_operator_token_by_secret(&Secret::new(token)).await;
    let named = found.map_err(|error| store_error_response(&error))?.ok_or_else(wrong_token)?;
    let now = state.admin.clock.now();
    check_state(&named, now)?;
    record_use(state, &named, now).await;
    Ok(Bearer { actor: Actor::Token(named.name), role: named.role })
}

/// Whether the text has the form of a named token: only then it is looked for.
fn is_named_token(token: &str) -> bool {
    token.len() == TOKEN_PREFIX.len() + TOKEN_CHARS && token.starts_with(TOKEN_PREFIX)
}

fn wrong_token() -> ErrorResponse {
    unauthorized(INVALID_TOKEN, "The operator's token is wrong.")
}

fn check_state(token: &NamedToken, now: Ticks) -> Result<(), ErrorResponse> {
    let name = &token.name;
    let message = match token.state(now) {
        TokenState::Live => return Ok(()),
        TokenState::Expired => {
            let at = token.expires_at.map(Ticks::iso).unwrap_or_default();
            format!("The token \"{name}\" has expired ({at}); revoke it and add a new one.")
        }
        TokenState::Revoked => format!("The token \"{name}\" is revoked; use another one."),
    };
    Err(unauthorized(INVALID_TOKEN, &message))
}

/// The request goes on without it: a store that cannot write still serves reads.
async fn record_use(state: &AppState, token: &NamedToken, now: Ticks) {
    if !token.is_use_to_record(now) {
        return;
    }
    if let Err(error) = state.admin.store.record_operator_token_use(&token.id, now).await {
        tracing::warn!(%error, token = token.name, "the last use of a token was not recorded");
    }
}

/// The token of `Bearer <token>`.
fn bearer_token(header: &HeaderValue) -> Option<&str> {
    let (scheme, token) = header.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn unauthorized(challenge: &'static str, message: &str) -> ErrorResponse {
    let code = if challenge == INVALID_TOKEN { ErrorCode::InvalidToken } else { ErrorCode::MissingToken };
    ErrorResponse::new(code, message).header(WWW_AUTHENTICATE, HeaderValue::from_static(challenge))
}

/// A viewer gets no further than this with anything but reads; what a request may do beyond that is decided by
/// `admin::permissions`.
fn check_method(method: &Method, role: OperatorRole) -> Result<(), ErrorResponse> {
    let is_read = [Method::GET, Method::HEAD, Method::OPTIONS].contains(method);
    if is_read || role > OperatorRole::Viewer {
        return Ok(());
    }
    let (needed, role) = (roles_from(OperatorRole::Support), role.as_str());
    let message = format!("A change needs the role {needed}; you have the role {role}, which only reads.");
    Err(error_with_code(ErrorCode::InsufficientRole, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn viewer_only_reads() {
        let methods = [Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
        for method in methods {
            let problem = check_method(&method, OperatorRole::Viewer).unwrap_err().problem;
            assert_eq!((problem.status, &*problem.errors[0].code), (403, "insufficient_role"));
            assert!(problem.message.contains("support or admin"), "{problem:?}");
            assert!(check_method(&method, OperatorRole::Support).is_ok());
        }
        assert!(check_method(&Method::GET, OperatorRole::Viewer).is_ok());
        assert!(check_method(&Method::HEAD, OperatorRole::Viewer).is_ok());
    }

    #[test]
    fn only_what_looks_like_a_named_token_is_looked_for() {
        let token = format!("{TOKEN_PREFIX}{}", "a".repeat(TOKEN_CHARS));
        assert!(is_named_token(&token));
        for wrong in ["", "a", TOKEN_PREFIX, &token[1..], &format!("{token}a"), &token.to_uppercase()] {
            assert!(!is_named_token(wrong), "{wrong}");
        }
    }

    #[test]
    fn only_the_bearer_scheme_carries_a_token() {
        let read = |text: &'static str| {
            let header = HeaderValue::from_static(text);
            bearer_token(&header).map(str::to_owned)
        };
        assert_eq!(read("bearer  abc ").as_deref(), Some("abc"));
        for wrong in ["Basic abc", "Bearer", "abc", ""] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
