//! The check of the bearer token in front of the operator's API: who calls, and in which role.

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use domain::OperatorRole;
use store::Actor;
use web::{ErrorResponse, drain_in_background};

use super::error_response::error_with_code;
use super::{AppState, SharedState};
use crate::admin::roles_from;

/// How much of a refused body is still read, so that its sender sees the response.
const REFUSED_DRAIN_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Who sent the request, by its token.
#[derive(Clone, Debug)]
pub(super) struct Bearer {
    pub(super) actor: Actor,
    pub(super) role: OperatorRole,
}

pub(super) async fn require_token(State(state): SharedState, mut request: Request, next: Next) -> Response {
    let admitted = match authenticate(&state, &request) {
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

fn authenticate(state: &AppState, request: &Request) -> Result<Bearer, ErrorResponse> {
    let Some(header) = request.headers().get(AUTHORIZATION) else {
        let message = "The operator's token is missing; send it as Authorization: Bearer <token>.";
        return Err(unauthorized("Bearer", message));
    };
    if bearer_token(header).is_some_and(|token| state.token.is(token)) {
        return Ok(Bearer { actor: Actor::Operator, role: OperatorRole::Admin });
    }
    Err(unauthorized("Bearer error=\"invalid_token\"", "The operator's token is wrong."))
}

/// The token of `Bearer <token>`.
fn bearer_token(header: &HeaderValue) -> Option<&str> {
    let (scheme, token) = header.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn unauthorized(challenge: &'static str, message: &str) -> ErrorResponse {
    ErrorResponse::new(StatusCode::UNAUTHORIZED, message)
        .header(WWW_AUTHENTICATE, HeaderValue::from_static(challenge))
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
    Err(error_with_code(403, "insufficient_role", message))
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
