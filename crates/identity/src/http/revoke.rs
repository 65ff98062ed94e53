//! `/connect/revocation` (RFC 7009): a client gives back a token, and with it the whole grant.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use domain::{GrantId, Secret};
use store::AuditContext;

use super::answer::{self, Answer};
use super::body;
use super::client_auth::Refused;
use super::visit::Visit;
use crate::Identity;
use crate::jwt;
use crate::oauth_error::OAuthError;
use crate::tokens::Presented;

pub(super) async fn post(
    State(identity): State<Arc<Identity>>,
    visit: Visit,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    match identity.give_back(&headers, body, &visit.context).await {
        Ok(()) => answer::json(StatusCode::OK, &serde_json::json!({})),
        Err(refused) => refused.answer(),
    }
}

impl Identity {
    /// A token that is not known, or another client's, is none of this client's business: nothing happens.
    async fn give_back(
        &self,
        headers: &HeaderMap,
        body: Body,
        context: &AuditContext,
    ) -> Result<(), Refused> {
        let form = body::form(headers, body).await?;
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
        let presented: Presented = jwt::verify(&self.keys, token)?;
        let caller = presented.caller(&self.settings, self.clock.now())?;
        Some((caller.client.to_string(), caller.grant))
    }
}
