//! `/connect/userinfo`: claims about the user of an access token.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use domain::{Caller, ClientId, Scope};
use serde::Serialize;
use store::TenantMembership;

use super::client_auth::EndpointError;
use super::form_body;
use super::response::{self, Response};
use crate::claims::{ProfileClaims, TenantClaims};
use crate::openapi::{Authentication, OperationDoc, ResponseDoc};
use crate::site::Site;
use crate::{Identity, TokenError};

#[derive(Serialize)]
struct UserInfoResponse<'a> {
    sub: &'a str,
    #[serde(flatten)]
    claims: ProfileClaims<'a>,
    #[serde(flatten)]
    tenant: TenantClaims<'a>,
}

pub(super) const DOC: OperationDoc = OperationDoc {
    id: "userinfo",
    summary: "Read claims about the user",
    description: "Requires the scope `openid`. POST is supported as well.",
    authentication: Authentication::AccessToken,
    parameters: &[],
    responses: &[
        ResponseDoc::Json("200", "Claims"),
        ResponseDoc::Json("401", "OAuthError"),
        ResponseDoc::Json("403", "OAuthError"),
        ResponseDoc::Json("503", "OAuthError"),
    ],
};

pub(super) async fn get(State(identity): State<Arc<Site>>, headers: HeaderMap) -> Response {
    let (client, response) = match bearer_token(&headers) {
        Some(token) => identity.userinfo(token).await,
        None => (None, challenge(StatusCode::UNAUTHORIZED, "Bearer")),
    };
    identity.with_cors(&headers, client.as_ref(), response).await
}

/// Takes the token from the header or from the body, but not from both.
pub(super) async fn post(State(identity): State<Arc<Site>>, headers: HeaderMap, body: Body) -> Response {
    let (client, response) = identity.userinfo_of_form(&headers, body).await;
    identity.with_cors(&headers, client.as_ref(), response).await
}

impl Identity {
    async fn userinfo_of_form(&self, headers: &HeaderMap, body: Body) -> (Option<ClientId>, Response) {
        let in_body = match form_body::form(headers, body).await {
            Ok(form) => form.get("access_token").map(ToOwned::to_owned),
            // A body that is not a form carries no token; the header may.
            Err(form_body::FormError::WrongContentType) => None,
            Err(error) => return (None, EndpointError::from(error).response()),
        };
        match (bearer_token(headers), in_body) {
            (Some(_), Some(_)) => {
                (None, challenge(StatusCode::BAD_REQUEST, "Bearer error=\"invalid_request\""))
            }
            (Some(token), None) => self.userinfo(token).await,
            (None, Some(token)) => self.userinfo(&token).await,
            (None, None) => (None, challenge(StatusCode::UNAUTHORIZED, "Bearer")),
        }
    }

    /// The response, and the client of a valid token.
    async fn userinfo(&self, token: &str) -> (Option<ClientId>, Response) {
        match self.caller(token).await {
            Ok(caller) => (Some(caller.client.clone()), self.userinfo_of(&caller).await),
            Err(TokenError::Invalid | TokenError::Expired | TokenError::Revoked) => {
                (None, challenge(StatusCode::UNAUTHORIZED, "Bearer error=\"invalid_token\""))
            }
            Err(TokenError::Unavailable(error)) => (None, EndpointError::from(error).response()),
        }
    }

    async fn userinfo_of(&self, caller: &Caller) -> Response {
        if !caller.scopes.has(Scope::OpenId) {
            let line = "Bearer error=\"insufficient_scope\", scope=\"openid\"";
            return challenge(StatusCode::FORBIDDEN, line);
        }
        match self.store.find_tenant_membership(&caller.user, &caller.tenant).await {
            Ok(Some(TenantMembership { user, tenant, .. })) => {
                let claims = ProfileClaims::of(&user, caller.scopes);
                let tenant = TenantClaims::of(&tenant);
                response::json(StatusCode::OK, &UserInfoResponse { sub: user.id.as_str(), claims, tenant })
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

/// An error response with a `WWW-Authenticate` challenge and a JSON body that explains it.
fn challenge(status: StatusCode, line: &'static str) -> Response {
    #[derive(Serialize)]
    struct Body<'a> {
        error: &'a str,
        error_description: &'a str,
    }
    let error = line.split('"').nth(1).unwrap_or("invalid_token");
    let error_description = match (status, error) {
        (StatusCode::FORBIDDEN, _) => "The access token lacks the scope openid.",
        (StatusCode::BAD_REQUEST, _) => {
            "The access token is both in the body and in the Authorization header. Send it once."
        }
        _ if line == "Bearer" => "The access token is missing. Send it as Authorization: Bearer <token>.",
        _ => "The access token has expired, was revoked, or was not issued by this provider.",
    };
    let mut response = response::json(status, &Body { error, error_description });
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(line));
    response
}
