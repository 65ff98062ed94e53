//! `/connect/introspect` (RFC 7662): the state of one of the client's own tokens.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use domain::{Caller, Secret, Ticks};
use serde_json::{Value, json};
use store::AuditContext;

use super::browser::BrowserContext;
use super::client_auth::EndpointError;
use super::form_body;
use super::response::{self, Response};
use crate::Identity;
use crate::claims::AccessTokenClaims;
use crate::grant::GrantDetails;
use crate::jwt;
use crate::oauth_error::OAuthError;
use crate::openapi::{Authentication, OperationDoc, TOKEN_PARAMETERS, client_responses};
use crate::site::Site;

pub(super) const DOC: OperationDoc = OperationDoc {
    id: "introspect",
    summary: "Check whether a token is active",
    description: "Describes the client's own tokens. Every other token is reported as not `active`.",
    authentication: Authentication::Client,
    parameters: TOKEN_PARAMETERS,
    responses: &client_responses("Claims"),
};

pub(super) async fn post(
    State(identity): State<Arc<Site>>,
    browser: BrowserContext,
    headers: HeaderMap,
    body: Body,
) -> Response {
    match identity.introspect(&headers, body, &browser.audit).await {
        Ok(introspection) => {
            response::json(StatusCode::OK, &introspection.unwrap_or_else(|| json!({"active": false})))
        }
        Err(error) => error.response(),
    }
}

impl Identity {
    async fn introspect(
        &self,
        headers: &HeaderMap,
        body: Body,
        context: &AuditContext,
    ) -> Result<Option<Value>, EndpointError> {
        let form = form_body::form(headers, body).await?;
        let client = self.authenticate_client(headers, &form, context).await?;
        let token = form.get("token").ok_or_else(|| OAuthError::invalid_request("token is missing."))?;
        match jwt::verify::<AccessTokenClaims>(&self.keys, token) {
            Some(presented) => self.introspect_access_token(&presented, &client).await,
            None => self.introspect_refresh_token(&Secret::new(token), &client).await,
        }
    }

    async fn introspect_access_token(
        &self,
        presented: &AccessTokenClaims,
        client: &store::Client,
    ) -> Result<Option<Value>, EndpointError> {
        let now = self.clock.now();
        let caller = presented.caller(&self.settings, now);
        // No clock tolerance: the answer is about this provider's own clock.
        let belongs_to_client = |caller: &Caller| caller.client == client.id && caller.expires_at > now;
        let Some(caller) = caller.filter(belongs_to_client) else { return Ok(None) };
        // Read from the store, not from the cache: resource servers rely on this answer.
        if !self.store.is_grant_live(&caller.grant).await? {
            return Ok(None);
        }
        Ok(Some(json!({
            "active": true,
            "token_type": "Bearer",
            "scope": caller.scopes.to_string(),
            "client_id": caller.client.as_str(),
            "sub": caller.user.as_str(),
            "iss": self.settings.issuer,
            "aud": self.audience,
            "exp": presented.exp,
            "iat": presented.iat,
            "svc.es.clientid": caller.tenant.as_str(),
        })))
    }

    async fn introspect_refresh_token(
        &self,
        token: &Secret,
        client: &store::Client,
    ) -> Result<Option<Value>, EndpointError> {
        let now = self.clock.now();
        let found = self.store.find_refresh_token(token).await?;
        let is_active = |found: &store::RefreshToken| {
            found.grant.client == client.id && !found.is_used && found.expires_at > now
        };
        let Some(found) = found.filter(is_active) else { return Ok(None) };
        if !self.store.is_grant_live(&found.grant.id).await? {
            return Ok(None);
        }
        let Some(details) = GrantDetails::from_json(&found.grant.details) else { return Ok(None) };
        let seconds = |at: Ticks| at.unix_seconds();
        Ok(Some(json!({
            "active": true,
            "token_type": "refresh_token",
            "scope": details.scopes().to_string(),
            "client_id": client.id.as_str(),
            "sub": found.grant.user.as_str(),
            "iss": self.settings.issuer,
            "exp": seconds(found.expires_at),
            "iat": seconds(found.grant.created_at),
            "svc.es.clientid": found.grant.tenant.as_str(),
        })))
    }
}
