//! `/connect/token`: a code or a refresh token in, tokens out.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use domain::secret::base64url;
use domain::{GrantId, Scope, Scopes, Secret, Ticks};
use serde::Serialize;
use store::{
    AuditContext, Client, Code, CodeExchange, CodeOutcome, Grant, NewGrant, Pkce, RefreshOutcome,
    RefreshRotation, TenantMembership,
};

use super::browser::BrowserContext;
use super::client_auth::{EndpointError, matches_challenge};
use super::form_body;
use super::response::{self, Response};
use crate::Identity;
use crate::claims::{self, IdClaims, ProfileClaims, TokenSubject};
use crate::grant::{CodeBinding, GrantDetails};
use crate::jwt;
use crate::oauth_error::OAuthError;
use crate::params::Params;

/// What a refresh token's successor is derived from: the token itself, under the store's key.
const SUCCESSOR: &str = "refresh token's successor";

#[derive(Serialize)]
struct TokenResponse {
    access_token: String,
    token_type: &'static str,
    expires_in: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
}

pub(super) async fn post(
    State(identity): State<Arc<Identity>>,
    browser: BrowserContext,
    headers: HeaderMap,
    body: Body,
) -> Response {
    // Boxed, so that the layers above pass on a pointer.
    match Box::pin(identity.issue_token_response(&headers, body, &browser.audit)).await {
        Ok(token_response) => response::json(StatusCode::OK, &token_response),
        Err(error) => error.response(),
    }
}

/// Everything that tokens are made of, once it is decided that they are given.
struct TokenGrant<'a> {
    client: &'a Client,
    membership: &'a TenantMembership,
    grant_id: &'a GrantId,
    details: &'a GrantDetails,
    scopes: Scopes,
    nonce: Option<&'a str>,
    refresh: Option<Secret>,
    reports_scope: bool,
    now: Ticks,
}

impl Identity {
    async fn issue_token_response(
        &self,
        headers: &HeaderMap,
        body: Body,
        context: &AuditContext,
    ) -> Result<TokenResponse, EndpointError> {
        let form = form_body::form(headers, body).await?;
        let client = self.authenticate_client(headers, &form, context).await?;
        match form.get("grant_type") {
            Some("authorization_code") => self.exchange_code(&client, &form, context).await,
            Some("refresh_token") => self.refresh(&client, &form, context).await,
            Some(_) => Err(OAuthError::new(
                "unsupported_grant_type",
                "grant_type must be authorization_code or refresh_token",
            )
            .into()),
            None => Err(OAuthError::invalid_request("grant_type is missing").into()),
        }
    }

    async fn exchange_code(
        &self,
        client: &Client,
        form: &Params,
        context: &AuditContext,
    ) -> Result<TokenResponse, EndpointError> {
        let now = self.clock.now();
        let code = required(form, "code")?;
        let exchange = CodeExchange {
            code: Secret::new(code),
            client: client.id.clone(),
            now,
            context: context.clone(),
        };
        let proof = CodeProof {
            redirect_uri: form.get("redirect_uri").map(Into::into),
            code_verifier: form.get("code_verifier").map(Into::into),
            is_required: client.pkce == Pkce::Required,
        };
        let refresh = Secret::new(self.random.token());
        let new_grant = self.grant_factory(client, refresh.clone(), now);
        let checked_proof = proof.clone();
        let decide = Box::new(move |code: &Code| {
            let binding = CodeBinding::from_json(&code.details)?;
            checked_proof.mismatch(&binding).is_none().then(|| new_grant(code, &binding))
        });
        let (code, grant) = match self.store.take_code(&exchange, decide).await? {
            CodeOutcome::Fresh { code, grant: Some(grant) } => (code, grant),
            CodeOutcome::Reused { revoked } => {
                if let Some(grant) = &revoked {
                    self.grant_status.mark_revoked(grant);
                }
                return Err(invalid_grant(
                    "the code was used before (a refused try uses it up too); what it gave is revoked",
                ));
            }
            CodeOutcome::Fresh { code, grant: None } => {
                let mismatch =
                    CodeBinding::from_json(&code.details).and_then(|binding| proof.mismatch(&binding));
                return Err(invalid_grant(mismatch.unwrap_or("the code is not known")));
            }
            CodeOutcome::Expired => return Err(invalid_grant("the code has expired")),
            CodeOutcome::Unknown => return Err(invalid_grant("the code is not known")),
        };
        let binding =
            CodeBinding::from_json(&code.details).ok_or_else(|| invalid_grant("the code is not known"))?;
        let Some(membership) = self.active_membership(&grant).await? else {
            self.revoke(&grant.id, context, "the user or the tenant may not sign in any more").await?;
            return Err(invalid_grant("the user or the tenant may not sign in any more"));
        };
        let scopes = binding.details.scopes();
        self.issue_tokens(TokenGrant {
            client,
            membership: &membership,
            grant_id: &grant.id,
            details: &binding.details,
            scopes,
            nonce: binding.nonce.as_deref(),
            refresh: scopes.has(Scope::OfflineAccess).then_some(refresh),
            reports_scope: binding.reports_scope,
            now,
        })
    }

    /// Makes the grant of a code that has passed.
    fn grant_factory(
        &self,
        client: &Client,
        refresh: Secret,
        now: Ticks,
    ) -> impl FnOnce(&Code, &CodeBinding) -> NewGrant + Send + use<> {
        let (id, client) = (GrantId::from(self.random.guid()), client.id.clone());
        let (access_until, refresh_until) =
            (now + self.settings.access_token_ttl, now + self.settings.refresh_token_ttl);
        move |code, binding| {
            let lasts = binding.details.scopes().has(Scope::OfflineAccess);
            NewGrant {
                grant: Grant {
                    id,
                    client,
                    user: code.user.clone(),
                    tenant: code.tenant.clone(),
                    details: binding.details.to_json(),
                    created_at: now,
                    last_used_at: now,
                    expires_at: if lasts { access_until.max(refresh_until) } else { access_until },
                    revoked_at: None,
                },
                refresh: lasts.then_some((refresh, refresh_until)),
            }
        }
    }

    /// The grant's seat, where its user and its tenant are there, active, and belong together.
    async fn active_membership(&self, grant: &Grant) -> store::Result<Option<TenantMembership>> {
        let membership = self.store.find_tenant_membership(&grant.user, &grant.tenant).await?;
        Ok(membership.filter(TenantMembership::is_open))
    }

    async fn refresh(
        &self,
        client: &Client,
        form: &Params,
        context: &AuditContext,
    ) -> Result<TokenResponse, EndpointError> {
        let presented = Secret::new(required(form, "refresh_token")?);
        let unknown = || invalid_grant("the refresh token is not known, has expired, or was revoked");
        // Read first, so that a request that must be refused does not use the token up.
        let found = self.store.find_refresh_token(&presented).await?;
        let found = found.filter(|found| found.grant.client == client.id).ok_or_else(unknown)?;
        let details = GrantDetails::from_json(&found.grant.details).ok_or_else(unknown)?;
        let scopes = narrowed_scopes(form.get("scope"), details.scopes())?;
        let Some(membership) = self.active_membership(&found.grant).await? else {
            return Err(invalid_grant("the user or the tenant may not sign in any more"));
        };
        let now = self.clock.now();
        let successor = Secret::new(base64url(&self.vault.fingerprint(SUCCESSOR, &presented)));
        let rotation = RefreshRotation {
            presented,
            client: client.id.clone(),
            successor: successor.clone(),
            successor_expires_at: self
                .settings
                .refresh_sliding
                .then(|| now + self.settings.refresh_token_ttl),
            tokens_until: now + self.settings.access_token_ttl,
            grace: self.settings.refresh_grace,
            now,
            context: context.clone(),
        };
        let grant = match self.store.rotate_refresh(&rotation).await? {
            RefreshOutcome::Fresh { grant, .. } | RefreshOutcome::Retried { grant, .. } => grant,
            RefreshOutcome::Reused { revoked } => {
                self.grant_status.mark_revoked(&revoked);
                return Err(invalid_grant(
                    "the refresh token was used before; all that came of it is revoked",
                ));
            }
            RefreshOutcome::Expired | RefreshOutcome::Revoked | RefreshOutcome::Unknown => {
                return Err(unknown());
            }
        };
        self.issue_tokens(TokenGrant {
            client,
            membership: &membership,
            grant_id: &grant.id,
            details: &details,
            scopes,
            nonce: None,
            refresh: Some(successor),
            reports_scope: false,
            now,
        })
    }

    /// Signs the tokens.
    fn issue_tokens(&self, grant: TokenGrant<'_>) -> Result<TokenResponse, EndpointError> {
        let TokenGrant { client, membership, details, scopes, now, .. } = grant;
        let subject = TokenSubject {
            client,
            membership,
            grant: grant.grant_id,
            scopes,
            authenticated_at: details.authenticated_at(),
            methods: &details.methods,
            now,
        };
        let mut unique = [0; 12];
        self.random.fill(&mut unique);
        let claims = claims::access_claims(&subject, &self.settings, &self.audience, &base64url(&unique));
        let access_token = jwt::sign(&self.keys, &claims)?;
        let mut id_token = None;
        if scopes.has(Scope::OpenId) {
            let mut claims = IdClaims::new(&self.settings, &client.id, &membership.user.id, now);
            claims.authenticated(subject.authenticated_at, subject.methods);
            claims.nonce = grant.nonce;
            claims.at_hash = Some(jwt::left_half_hash(&access_token));
            claims.profile = Some(ProfileClaims::of(&membership.user, scopes));
            id_token = Some(jwt::sign(&self.keys, &claims)?);
        }
        Ok(TokenResponse {
            access_token,
            token_type: "Bearer",
            expires_in: self.settings.access_token_ttl.as_secs(),
            id_token,
            refresh_token: grant.refresh.map(|token| token.reveal().to_owned()),
            scope: grant.reports_scope.then(|| scopes.to_string()),
        })
    }
}

/// What a client brings along with a code.
#[derive(Clone)]
struct CodeProof {
    redirect_uri: Option<String>,
    code_verifier: Option<String>,
    /// Whether the client must use PKCE by now, whatever it had to when it asked.
    is_required: bool,
}

impl CodeProof {
    /// What does not belong to the request that the code was given for.
    fn mismatch(&self, binding: &CodeBinding) -> Option<&'static str> {
        match self.redirect_uri.as_deref() {
            None => return Some("redirect_uri is missing"),
            Some(uri) if uri != binding.redirect_uri => {
                return Some("redirect_uri is not the one of the authorization request");
            }
            Some(_) => {}
        }
        if binding.ignores_pkce && !self.is_required {
            return None;
        }
        match (&binding.challenge, &self.code_verifier) {
            (None, None) if self.is_required => Some("this client must use PKCE, and its request did not"),
            (None, None) => None,
            (Some(_), None) => Some("code_verifier is missing"),
            (Some(challenge), Some(code_verifier)) if matches_challenge(code_verifier, challenge) => None,
            (Some(_), Some(_)) => Some("code_verifier does not match the code_challenge"),
            // Somebody took the challenge out of the request.
            (None, Some(_)) => Some("code_verifier came, but the request had no code_challenge"),
        }
    }
}

fn required<'a>(form: &'a Params, name: &str) -> Result<&'a str, OAuthError> {
    form.get(name).ok_or_else(|| OAuthError::invalid_request(format!("{name} is missing")))
}

fn invalid_grant(description: &str) -> EndpointError {
    OAuthError::new("invalid_grant", description).into()
}

/// The scopes of this refresh: those of the grant, or fewer.
fn narrowed_scopes(asked: Option<&str>, granted: Scopes) -> Result<Scopes, OAuthError> {
    let Some(list) = asked else { return Ok(granted) };
    let asked = Scopes::parse(list);
    if asked.has_unknown || asked.scopes.is_empty() || !granted.has_all(asked.scopes) {
        return Err(OAuthError::new("invalid_scope", "scope asks for more than was granted"));
    }
    Ok(asked.scopes)
}
