//! `/connect/introspect` (RFC 7662): what a client's own token is worth right now.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use domain::{Caller, Secret, Ticks};
use serde_json::{Value, json};
use store::AuditContext;

use super::answer::{self, Answer};
use super::body;
use super::client_auth::Refused;
use super::visit::Visit;
use crate::Identity;
use crate::grant::Details;
use crate::jwt;
use crate::oauth_error::OAuthError;
use crate::tokens::Presented;

pub(super) async fn post(
    State(identity): State<Arc<Identity>>,
    visit: Visit,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    match identity.introspect(&headers, body, &visit.context).await {
        Ok(told) => answer::json(StatusCode::OK, &told.unwrap_or_else(|| json!({"active": false}))),
        Err(refused) => refused.answer(),
    }
}

impl Identity {
    async fn introspect(
        &self,
        headers: &HeaderMap,
        body: Body,
        context: &AuditContext,
    ) -> Result<Option<Value>, Refused> {
        let form = body::form(headers, body).await?;
        let client = self.authenticate_client(headers, &form, context).await?;
        let token = form.get("token").ok_or_else(|| OAuthError::invalid_request("token is missing"))?;
        match jwt::verify::<Presented>(&self.keys, token) {
            Some(presented) => self.tell_access(&presented, &client).await,
            None => self.tell_refresh(&Secret::new(token), &client).await,
        }
    }

    async fn tell_access(
        &self,
        presented: &Presented,
        client: &store::Client,
    ) -> Result<Option<Value>, Refused> {
        let now = self.clock.now();
        let caller = presented.caller(&self.settings, now);
        // No tolerance here: who asks compares no clocks.
        let is_theirs = |caller: &Caller| caller.client == client.id && caller.expires_at > now;
        let Some(caller) = caller.filter(is_theirs) else { return Ok(None) };
        // Asked of the store itself: this is the answer that others rely on.
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

    async fn tell_refresh(&self, token: &Secret, client: &store::Client) -> Result<Option<Value>, Refused> {
        let now = self.clock.now();
        let found = self.store.find_refresh_token(token).await?;
        let is_good = |found: &store::RefreshToken| {
            found.grant.client == client.id && !found.is_used && found.expires_at > now
        };
        let Some(found) = found.filter(is_good) else { return Ok(None) };
        if !self.store.is_grant_live(&found.grant.id).await? {
            return Ok(None);
        }
        let Some(details) = Details::read(&found.grant.details) else { return Ok(None) };
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
