//! `/connect/introspect` (RFC 7662): the state of one of the client's own tokens, or of any client's access token for a
//! resource server.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use domain::{Caller, ClientKind, Secret, Ticks};
use serde_json::{Value, json};
use store::{AuditContext, Tenant};

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
    description: "Describes the client's own tokens, and to a client of the kind `resource_server` the access tokens of \
                  every client, for tenants that it may be used with. Every other token is reported as not `active`. \
                  Public clients cannot use it.",
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
        let client = self.authenticate_confidential_client(headers, &form, context).await?;
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
        let is_shown = |caller: &Caller| {
            let is_own = caller.client == client.id || client.kind == ClientKind::ResourceServer;
            is_own && caller.expires_at > now
        };
        let Some(caller) = caller.filter(is_shown) else { return Ok(None) };
        // Read from the store, not from the cache: resource servers rely on this answer.
        if !self.store.is_grant_live(&caller.grant).await? {
            return Ok(None);
        }
        let tenant = self.store.find_tenant(&caller.tenant).await?;
        // A sandbox is its team's alone, for resource servers too.
        let is_open =
            |tenant: &Tenant| caller.client == client.id || client.may_enter(tenant.sandbox_of.as_ref());
        let Some(tenant) = tenant.filter(is_open) else { return Ok(None) };
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
            "nbf": presented.nbf,
            "jti": presented.jti,
            "tenant_id": tenant.id.as_str(),
            "tenant_name": tenant.name,
            "svc.es.clientid": tenant.id.as_str(),
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
