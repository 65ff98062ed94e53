//! `/connect/revocation` (RFC 7009): a client revokes one of its tokens, and with it the whole grant.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use domain::{GrantId, Secret};
use store::{Actor, AuditContext};

use super::browser::BrowserContext;
use super::client_auth::EndpointError;
use super::form_body::{self, FormError};
use super::response::{self, Response};
use crate::Identity;
use crate::claims::AccessTokenClaims;
use crate::jwt;
use crate::oauth_error::OAuthError;
use crate::openapi::{Authentication, OperationDoc, TOKEN_PARAMETERS, client_responses};
use crate::params::Params;
use crate::site::Site;

pub(super) const DOC: OperationDoc = OperationDoc {
    id: "revoke",
    summary: "Revoke a token",
    description: "Revokes the whole grant of the token. A token of another client is not revoked; the response is the \
                  same.",
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
    let form = form_body::form(&headers, body).await;
    let client = form_body::client_id(&form);
    let response = match identity.revoke_token(&headers, form, &browser.audit).await {
        Ok(()) => response::json(StatusCode::OK, &serde_json::json!({})),
        Err(error) => error.response(),
    };
    identity.with_cors(&headers, client.as_ref(), response).await
}

impl Identity {
    /// Does nothing for a token that is unknown or belongs to another client (RFC 7009, 2.2).
    async fn revoke_token(
        &self,
        headers: &HeaderMap,
        form: Result<Params, FormError>,
        context: &AuditContext,
    ) -> Result<(), EndpointError> {
        let form = form?;
        let client = self.authenticate_client(headers, &form, context).await?;
        let context = &context.by(Actor::Client(client.id.clone()));
        let token = form.get("token").ok_or_else(|| OAuthError::invalid_request("token is missing."))?;
        let grant = if let Some((owner, grant)) = self.grant_of_access_token(token) {
            (owner == client.id.as_str()).then_some(grant)
        } else {
            let found = self.store.find_refresh_token(&Secret::new(token)).await?;
            found.filter(|found| found.grant.client == client.id).map(|found| found.grant.id)
        };
        if let Some(grant) = grant {
            self.revoke(&grant, context, "revoked by the client").await?;
        }
        Ok(())
    }

    /// The client and the grant of an access token that this provider issued and that has not expired.
    fn grant_of_access_token(&self, token: &str) -> Option<(String, GrantId)> {
        let presented: AccessTokenClaims = jwt::verify(&self.keys, token)?;
        let caller = presented.caller(&self.settings, self.clock.now())?;
        Some((caller.client.to_string(), caller.grant))
    }
}
