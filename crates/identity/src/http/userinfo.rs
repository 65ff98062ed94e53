//! `/connect/userinfo`: who the bearer of an access token stands for.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use domain::Scope;
use serde::Serialize;

use super::client_auth::EndpointError;
use super::form_body;
use super::response::{self, Response};
use crate::claims::ProfileClaims;
use crate::{Identity, TokenError};

#[derive(Serialize)]
struct UserInfoResponse<'a> {
    sub: &'a str,
    #[serde(flatten)]
    claims: ProfileClaims<'a>,
}

pub(super) async fn get(State(identity): State<Arc<Identity>>, headers: HeaderMap) -> Response {
    match bearer_token(&headers) {
        Some(token) => identity.userinfo(token).await,
        None => challenge(StatusCode::UNAUTHORIZED, "Bearer"),
    }
}

/// The token in the header or in the body, not in both.
pub(super) async fn post(State(identity): State<Arc<Identity>>, headers: HeaderMap, body: Body) -> Response {
    let in_body = match form_body::form(&headers, body).await {
        Ok(form) => form.get("access_token").map(ToOwned::to_owned),
        // A body that is no form is no place for a token; the header still is.
        Err(form_body::FormError::WrongContentType) => None,
        Err(not) => return EndpointError::from(not).response(),
    };
    match (bearer_token(&headers), in_body) {
        (Some(_), Some(_)) => challenge(StatusCode::BAD_REQUEST, "Bearer error=\"invalid_request\""),
        (Some(token), None) => identity.userinfo(token).await,
        (None, Some(token)) => identity.userinfo(&token).await,
        (None, None) => challenge(StatusCode::UNAUTHORIZED, "Bearer"),
    }
}

impl Identity {
    async fn userinfo(&self, token: &str) -> Response {
        let caller = match self.caller(token).await {
            Ok(caller) => caller,
            Err(TokenError::Invalid) => {
                return challenge(StatusCode::UNAUTHORIZED, "Bearer error=\"invalid_token\"");
            }
            Err(TokenError::Store(error)) => return EndpointError::from(error).response(),
        };
        if !caller.scopes.has(Scope::OpenId) {
            let line = "Bearer error=\"insufficient_scope\", scope=\"openid\"";
            return challenge(StatusCode::FORBIDDEN, line);
        }
        match self.store.find_user(&caller.user).await {
            Ok(Some(user)) => {
                let claims = ProfileClaims::of(&user, caller.scopes);
                response::json(StatusCode::OK, &UserInfoResponse { sub: user.id.as_str(), claims })
            }
            Ok(None) => challenge(StatusCode::UNAUTHORIZED, "Bearer error=\"invalid_token\""),
            Err(error) => EndpointError::from(error).response(),
        }
    }
}

fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The challenge, and the same in words for who reads the body.
fn challenge(status: StatusCode, line: &'static str) -> Response {
    #[derive(Serialize)]
    struct Body<'a> {
        error: &'a str,
        error_description: &'a str,
    }
    let error = line.split('"').nth(1).unwrap_or("invalid_token");
    let error_description = match (status, error) {
        (StatusCode::FORBIDDEN, _) => "the access token lacks the scope openid",
        (StatusCode::BAD_REQUEST, _) => "the access token came twice: in the body and in Authorization",
        _ if line == "Bearer" => "send the access token as Authorization: Bearer <token>",
        _ => "the access token is not good: it has expired, was revoked, or is none of this provider",
    };
    let mut response = response::json(status, &Body { error, error_description });
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(line));
    response
}
