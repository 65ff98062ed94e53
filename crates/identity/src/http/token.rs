//! `/connect/token`: exchanges an authorization code or a refresh token for tokens.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use domain::secret::base64url;
use domain::{GrantId, Scope, Scopes, Secret, Ticks};
use serde::Serialize;
use store::{
    Actor, AuditContext, AuthorizationCode, Client, CodeExchange, CodeOutcome, Grant, NewGrant, Pkce,
    RefreshOutcome, RefreshRotation, TenantMembership,
};

use super::browser::BrowserContext;
use super::client_auth::EndpointError;
use super::form_body::{self, FormError};
use super::response::{self, Response};
use super::token_rules::{CodeProof, RefreshScopes, refresh_scopes};
use crate::Identity;
use crate::claims::{self, IdClaims, ProfileClaims, TenantClaims, TokenSubject};
use crate::grant::{CodeBinding, GrantDetails};
use crate::jwt;
use crate::oauth_error::OAuthError;
use crate::openapi::{
    Authentication, CLIENT_ID, CLIENT_SECRET, OperationDoc, client_responses, optional, required,
};
use crate::params::Params;
use crate::site::Site;

/// The vault's purpose for deriving a refresh token's successor. The successor follows from the presented token,
/// so that a retry gets the same one and only the holder of the old token can obtain it.
const SUCCESSOR: &str = "refresh token's successor";

const UNKNOWN_CODE: &str = "The authorization code is unknown or was issued to another client.";
const EXPIRED_CODE: &str = "The authorization code has expired. Start a new authorization request.";
const REUSED_CODE: &str = "The authorization code was used before. The tokens that were issued for it are revoked; \
                           start a new authorization request.";
const CONSUMED_CODE: &str = "The authorization code was used before, in a request that was refused. No tokens were \
                             issued for it; start a new authorization request.";
const UNKNOWN_REFRESH_TOKEN: &str =
    "The refresh token is unknown, has expired, or was revoked. Start a new authorization request.";
const REUSED_REFRESH_TOKEN: &str = "The refresh token was used before. All tokens of its grant are revoked; \
                                    start a new authorization request.";
const RESOURCE_SERVER: &str = "This client is a resource server: it checks tokens at the introspection endpoint and is \
                               issued none.";
const INACTIVE_MEMBERSHIP: &str = "The user, the tenant or the membership is no longer active.";

pub(super) const DOC: OperationDoc = OperationDoc {
    id: "token",
    summary: "Exchange a code or refresh tokens",
    description: "A code is valid for five minutes and can be used once. A refresh token can be used once as well: the \
                  response contains its successor.",
    authentication: Authentication::Client,
    parameters: &[
        required("grant_type", "`authorization_code` or `refresh_token`."),
        optional("code", "The code from the callback."),
        optional("redirect_uri", "The redirect URI of the authorization request."),
        optional("code_verifier", "PKCE: the code verifier, if the authorization request had a challenge."),
        optional("refresh_token", "The refresh token."),
        optional("scope", "With a refresh token: a subset of the granted scopes."),
        CLIENT_ID,
        CLIENT_SECRET,
    ],
    responses: &client_responses("Tokens"),
};

#[derive(Serialize)]
pub(crate) struct TokenResponse {
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
    State(identity): State<Arc<Site>>,
    browser: BrowserContext,
    headers: HeaderMap,
    body: Body,
) -> Response {
    // Boxed: the future is large, and the layers above move it.
    let form = form_body::form(&headers, body).await;
    let client = form_body::client_id(&form);
    let issued = Box::pin(identity.issue_token_response(&headers, form, &browser.audit)).await;
    let response = match issued {
        Ok(token_response) => response::json(StatusCode::OK, &token_response),
        Err(error) => error.response(),
    };
    identity.with_cors(&headers, client.as_ref(), response).await
}

/// The input for issuing tokens, once the request has been accepted.
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
        form: Result<Params, FormError>,
        context: &AuditContext,
    ) -> Result<TokenResponse, EndpointError> {
        let form = form?;
        let client = self.authenticate_client(headers, &form, context).await?;
        if !client.kind.signs_users_in() {
            return Err(OAuthError::new("unauthorized_client", RESOURCE_SERVER).into());
        }
        let context = &context.by(Actor::Client(client.id.clone()));
        match form.get("grant_type") {
            Some("authorization_code") => self.exchange_code(&client, &form, context).await,
            Some("refresh_token") => self.refresh(&client, &form, context).await,
            Some(_) => Err(OAuthError::new(
                "unsupported_grant_type",
                "grant_type must be authorization_code or refresh_token.",
            )
            .into()),
            None => Err(OAuthError::invalid_request("grant_type is missing.").into()),
        }
    }

    pub(crate) async fn exchange_code(
        &self,
        client: &Client,
        form: &Params,
        context: &AuditContext,
    ) -> Result<TokenResponse, EndpointError> {
        let now = self.clock.now();
        let code = required_param(form, "code")?;
        let exchange = CodeExchange {
            code: Secret::new(code),
            client: client.id.clone(),
            now,
            context: context.clone(),
        };
        let proof = CodeProof {
            redirect_uri: form.get("redirect_uri").map(Into::into),
            code_verifier: form.get("code_verifier").map(Into::into),
            is_required: client.pkce_rule() == Pkce::Required,
            products: client.products,
        };
        let refresh = Secret::new(self.random.token());
        let new_grant = self.grant_factory(client, refresh.clone(), now);
        let checked_proof = proof.clone();
        let decide = Box::new(move |code: &AuthorizationCode| {
            let binding = CodeBinding::from_json(&code.details)?;
            checked_proof.mismatch(&binding).is_none().then(|| new_grant(code, &binding))
        });
        let outcome = self.store.take_code(&exchange, decide).await?;
        let (binding, grant) = self.redeemed(outcome, &proof)?;
        let Some(membership) = self.active_membership(&grant, client).await? else {
            self.revoke(&grant.id, context, "the user, the tenant or the membership is no longer active")
                .await?;
            return Err(invalid_grant(INACTIVE_MEMBERSHIP));
        };
        let granted = binding.details.scopes();
        let scopes = granted.allowed_for(client.products);
        self.issue_tokens(TokenGrant {
            client,
            membership: &membership,
            grant_id: &grant.id,
            details: &binding.details,
            scopes,
            nonce: binding.nonce.as_deref(),
            refresh: scopes.has(Scope::OfflineAccess).then_some(refresh),
            reports_scope: binding.reports_scope || scopes != granted,
            now,
        })
    }

    /// The binding and the grant of a redeemed code, or why it was refused.
    fn redeemed(
        &self,
        outcome: CodeOutcome,
        proof: &CodeProof,
    ) -> Result<(CodeBinding, Grant), EndpointError> {
        let (code, grant) = match outcome {
            CodeOutcome::Redeemed { code, grant } => (code, grant),
            CodeOutcome::Reused { revoked: Some(grant) } => {
                self.grant_status.mark_revoked(&grant);
                return Err(invalid_grant(REUSED_CODE));
            }
            CodeOutcome::Reused { revoked: None } => return Err(invalid_grant(CONSUMED_CODE)),
            CodeOutcome::Expired => return Err(invalid_grant(EXPIRED_CODE)),
            CodeOutcome::Unknown => return Err(invalid_grant(UNKNOWN_CODE)),
        };
        let binding = CodeBinding::from_json(&code.details).ok_or_else(|| invalid_grant(UNKNOWN_CODE))?;
        match grant {
            Some(grant) => Ok((binding, grant)),
            None => Err(invalid_grant(proof.mismatch(&binding).unwrap_or(UNKNOWN_CODE))),
        }
    }

    /// A function that creates the grant for an accepted code, inside the store's transaction.
    fn grant_factory(
        &self,
        client: &Client,
        refresh: Secret,
        now: Ticks,
    ) -> impl FnOnce(&AuthorizationCode, &CodeBinding) -> NewGrant + Send + use<> {
        let (id, client) = (GrantId::from(self.random.guid()), client.id.clone());
        let (access_until, refresh_until) =
            (now + self.settings.access_token_ttl, now + self.settings.refresh_token_ttl);
        move |code, binding| {
            let is_offline = binding.details.scopes().has(Scope::OfflineAccess);
            NewGrant {
                grant: Grant {
                    id,
                    client,
                    user: code.user.clone(),
                    tenant: code.tenant.clone(),
                    details: binding.details.to_json(),
                    created_at: now,
                    last_used_at: now,
                    expires_at: if is_offline { access_until.max(refresh_until) } else { access_until },
                    revoked_at: None,
                },
                scopes: binding.details.scopes(),
                refresh: is_offline.then_some((refresh, refresh_until)),
                session: binding.session(),
            }
        }
    }

    /// The membership of the grant, if it exists, its user and tenant are active, and the tenant is open to the client.
    async fn active_membership(
        &self,
        grant: &Grant,
        client: &Client,
    ) -> store::Result<Option<TenantMembership>> {
        let membership = self.store.find_tenant_membership(&grant.user, &grant.tenant).await?;
        Ok(membership.filter(|one| one.is_active() && self.is_open_to(client, &one.tenant)))
    }

    async fn refresh(
        &self,
        client: &Client,
        form: &Params,
        context: &AuditContext,
    ) -> Result<TokenResponse, EndpointError> {
        let presented = Secret::new(required_param(form, "refresh_token")?);
        let unknown = || invalid_grant(UNKNOWN_REFRESH_TOKEN);
        // Read before rotating, so that a refused request does not consume the token.
        let found = self.store.find_refresh_token(&presented).await?;
        let found = found.filter(|found| found.grant.client == client.id).ok_or_else(unknown)?;
        let details = GrantDetails::from_json(&found.grant.details).ok_or_else(unknown)?;
        let RefreshScopes { scopes, reports_scope } =
            refresh_scopes(form.get("scope"), details.scopes(), client)?;
        let Some(membership) = self.active_membership(&found.grant, client).await? else {
            return Err(invalid_grant(INACTIVE_MEMBERSHIP));
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
            RefreshOutcome::Rotated { grant, .. } | RefreshOutcome::Retried { grant, .. } => grant,
            RefreshOutcome::Reused { revoked } => {
                self.grant_status.mark_revoked(&revoked);
                return Err(invalid_grant(REUSED_REFRESH_TOKEN));
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
            reports_scope,
            now,
        })
    }

    /// Signs the access token and, with the scope `openid`, the id_token.
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
            claims.set_authentication(subject.authenticated_at, subject.methods);
            claims.sid = details.sid.as_deref();
            claims.nonce = grant.nonce;
            claims.at_hash = Some(jwt::left_half_hash(&access_token));
            let profile_scopes = scopes.with_profile_of_accounting();
            claims.profile = Some(ProfileClaims::of(&membership.user, profile_scopes));
            claims.tenant = Some(TenantClaims::of(&membership.tenant));
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

fn required_param<'a>(form: &'a Params, name: &str) -> Result<&'a str, OAuthError> {
    form.get(name).ok_or_else(|| OAuthError::invalid_request(format!("{name} is missing.")))
}

fn invalid_grant(description: &str) -> EndpointError {
    OAuthError::new("invalid_grant", description).into()
}
