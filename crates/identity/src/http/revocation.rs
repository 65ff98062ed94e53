//! `/connect/revocation` (RFC 7009): a client gives back a token, and with it the whole grant.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use domain::{GrantId, Secret};
use store::AuditContext;

use super::browser::BrowserContext;
use super::client_auth::EndpointError;
use super::form_body;
use super::response::{self, Response};
use crate::Identity;
use crate::claims::AccessTokenClaims;
use crate::jwt;
use crate::oauth_error::OAuthError;

pub(super) async fn post(
    State(identity): State<Arc<Identity>>,
    browser: BrowserContext,
    headers: HeaderMap,
    body: Body,
) -> Response {
    match identity.revoke_token(&headers, body, &browser.audit).await {
        Ok(()) => response::json(StatusCode::OK, &serde_json::json!({})),
        Err(error) => error.response(),
    }
}

impl Identity {
    /// A token that is not known, or another client's, is none of this client's business: nothing happens.
    async fn revoke_token(
        &self,
        headers: &HeaderMap,
        body: Body,
        context: &AuditContext,
    ) -> Result<(), EndpointError> {
        let form = form_body::form(headers, body).await?;
        let client = self.authenticate_client(headers, &form, context).await?;
        let token = form.get("token").ok_or_else(|| OAuthError::invalid_request("token is missing"))?;
        let grant = if let Some((owner, grant)) = self.grant_of_access_token(token) {
            (owner == client.id.as_str()).then_some(grant)
        } else {
            let found = self.store.find_refresh_token(&Secret::new(token)).await?;
            found.filter(|found| found.grant.client == client.id).map(|found| found.grant.id)
        };
        if let Some(grant) = grant {
            self.revoke(&grant, context, "given back by the application").await?;
        }
        Ok(())
    }

    /// The client and the grant of an access token of ours that has not expired.
    fn grant_of_access_token(&self, token: &str) -> Option<(String, GrantId)> {
        let presented: AccessTokenClaims = jwt::verify(&self.keys, token)?;
        let caller = presented.caller(&self.settings, self.clock.now())?;
        Some((caller.client.to_string(), caller.grant))
    }
}
