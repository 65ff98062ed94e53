//! `/connect/token`: a code or a refresh token in, tokens out.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use domain::secret::base64url;
use domain::{GrantId, Scope, Scopes, Secret, Ticks};
use serde::Serialize;
use store::{
    AuditContext, AuthorizationCode, Client, CodeExchange, CodeOutcome, Grant, NewGrant, Pkce,
    RefreshOutcome, RefreshRotation, TenantMembership,
};

use super::answer::{self, Answer};
use super::body;
use super::client_auth::{Refused, proves};
use super::visit::Visit;
use crate::Identity;
use crate::grant::{Binding, Details};
use crate::jwt;
use crate::oauth_error::OAuthError;
use crate::params::Params;
use crate::tokens::{self, IdClaims, PersonClaims, Subject};

/// What a refresh token's successor is derived from: the token itself, under the store's key.
const SUCCESSOR: &str = "refresh token's successor";

#[derive(Serialize)]
struct Tokens {
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
    visit: Visit,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    // Boxed, so that the layers above pass on a pointer.
    match Box::pin(identity.tokens(&headers, body, &visit.context)).await {
        Ok(tokens) => answer::json(StatusCode::OK, &tokens),
        Err(refused) => refused.answer(),
    }
}

/// Everything that tokens are made of, once it is decided that they are given.
struct Giving<'a> {
    client: &'a Client,
    seat: &'a TenantMembership,
    grant: &'a GrantId,
    details: &'a Details,
    scopes: Scopes,
    nonce: Option<&'a str>,
    refresh: Option<Secret>,
    tells_scope: bool,
    now: Ticks,
}

impl Identity {
    async fn tokens(
        &self,
        headers: &HeaderMap,
        body: Body,
        context: &AuditContext,
    ) -> Result<Tokens, Refused> {
        let form = body::form(headers, body).await?;
        let client = self.authenticate_client(headers, &form, context).await?;
        match form.get("grant_type") {
            Some("authorization_code") => self.exchange(&client, &form, context).await,
            Some("refresh_token") => self.refresh(&client, &form, context).await,
            Some(_) => Err(OAuthError::new(
                "unsupported_grant_type",
                "grant_type must be authorization_code or refresh_token",
            )
            .into()),
            None => Err(OAuthError::invalid_request("grant_type is missing").into()),
        }
    }

    async fn exchange(
        &self,
        client: &Client,
        form: &Params,
        context: &AuditContext,
    ) -> Result<Tokens, Refused> {
        let now = self.clock.now();
        let code = required(form, "code")?;
        let taking = CodeExchange {
            code: Secret::new(code),
            client: client.id.clone(),
            now,
            context: context.clone(),
        };
        let proof = Proof {
            redirect_uri: form.get("redirect_uri").map(Into::into),
            verifier: form.get("code_verifier").map(Into::into),
            is_required: client.pkce == Pkce::Required,
        };
        let refresh = Secret::new(self.random.token());
        let made = self.grant_maker(client, refresh.clone(), now);
        let judged = proof.clone();
        let judge = Box::new(move |code: &AuthorizationCode| {
            let binding = Binding::read(&code.details)?;
            judged.fault(&binding).is_none().then(|| made(code, &binding))
        });
        let (code, grant) = match self.store.take_code(&taking, judge).await? {
            CodeOutcome::Redeemed { code, grant: Some(grant) } => (code, grant),
            CodeOutcome::Reused { revoked } => {
                if let Some(grant) = &revoked {
                    self.liveness.revoked(grant);
                }
                return Err(invalid_grant(
                    "the code was used before (a refused try uses it up too); what it gave is revoked",
                ));
            }
            CodeOutcome::Redeemed { code, grant: None } => {
                let fault = Binding::read(&code.details).and_then(|binding| proof.fault(&binding));
                return Err(invalid_grant(fault.unwrap_or("the code is not known")));
            }
            CodeOutcome::Expired => return Err(invalid_grant("the code has expired")),
            CodeOutcome::Unknown => return Err(invalid_grant("the code is not known")),
        };
        let binding = Binding::read(&code.details).ok_or_else(|| invalid_grant("the code is not known"))?;
        let Some(seat) = self.open_seat(&grant).await? else {
            self.revoke(&grant.id, context, "the user or the tenant may not sign in any more").await?;
            return Err(invalid_grant("the user or the tenant may not sign in any more"));
        };
        let scopes = binding.details.scopes();
        self.give(Giving {
            client,
            seat: &seat,
            grant: &grant.id,
            details: &binding.details,
            scopes,
            nonce: binding.nonce.as_deref(),
            refresh: scopes.has(Scope::OfflineAccess).then_some(refresh),
            tells_scope: binding.tells_scope,
            now,
        })
    }

    /// Makes the grant of a code that has passed.
    fn grant_maker(
        &self,
        client: &Client,
        refresh: Secret,
        now: Ticks,
    ) -> impl FnOnce(&AuthorizationCode, &Binding) -> NewGrant + Send + use<> {
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
                    details: binding.details.write(),
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
    async fn open_seat(&self, grant: &Grant) -> store::Result<Option<TenantMembership>> {
        let seat = self.store.find_tenant_membership(&grant.user, &grant.tenant).await?;
        Ok(seat.filter(TenantMembership::is_active))
    }

    async fn refresh(
        &self,
        client: &Client,
        form: &Params,
        context: &AuditContext,
    ) -> Result<Tokens, Refused> {
        let presented = Secret::new(required(form, "refresh_token")?);
        let unknown = || invalid_grant("the refresh token is not known, has expired, or was revoked");
        // Read first, so that a request that must be refused does not use the token up.
        let found = self.store.find_refresh_token(&presented).await?;
        let found = found.filter(|found| found.grant.client == client.id).ok_or_else(unknown)?;
        let details = Details::read(&found.grant.details).ok_or_else(unknown)?;
        let scopes = narrowed(form.get("scope"), details.scopes())?;
        let Some(seat) = self.open_seat(&found.grant).await? else {
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
            RefreshOutcome::Rotated { grant, .. } | RefreshOutcome::Retried { grant, .. } => grant,
            RefreshOutcome::Reused { revoked } => {
                self.liveness.revoked(&revoked);
                return Err(invalid_grant(
                    "the refresh token was used before; all that came of it is revoked",
                ));
            }
            RefreshOutcome::Expired | RefreshOutcome::Revoked | RefreshOutcome::Unknown => {
                return Err(unknown());
            }
        };
        self.give(Giving {
            client,
            seat: &seat,
            grant: &grant.id,
            details: &details,
            scopes,
            nonce: None,
            refresh: Some(successor),
            tells_scope: false,
            now,
        })
    }

    /// Signs the tokens.
    fn give(&self, giving: Giving<'_>) -> Result<Tokens, Refused> {
        let Giving { client, seat, details, scopes, now, .. } = giving;
        let subject = Subject {
            client,
            seat,
            grant: giving.grant,
            scopes,
            authenticated_at: details.authenticated_at(),
            methods: &details.methods,
            now,
        };
        let mut unique = [0; 12];
        self.random.fill(&mut unique);
        let claims = tokens::access(&subject, &self.settings, &self.audience, &base64url(&unique));
        let access_token = jwt::sign(&self.keys, &claims)?;
        let mut id_token = None;
        if scopes.has(Scope::OpenId) {
            let mut claims = IdClaims::new(&self.settings, &client.id, &seat.user.id, now);
            claims.authenticated(subject.authenticated_at, subject.methods);
            claims.nonce = giving.nonce;
            claims.at_hash = Some(jwt::half_hash(&access_token));
            claims.person = Some(PersonClaims::of(&seat.user, scopes));
            id_token = Some(jwt::sign(&self.keys, &claims)?);
        }
        Ok(Tokens {
            access_token,
            token_type: "Bearer",
            expires_in: self.settings.access_token_ttl.as_secs(),
            id_token,
            refresh_token: giving.refresh.map(|token| token.reveal().to_owned()),
            scope: giving.tells_scope.then(|| scopes.to_string()),
        })
    }
}

/// What a client brings along with a code.
#[derive(Clone)]
struct Proof {
    redirect_uri: Option<String>,
    verifier: Option<String>,
    /// Whether the client must use PKCE by now, whatever it had to when it asked.
    is_required: bool,
}

impl Proof {
    /// What does not belong to the request that the code was given for.
    fn fault(&self, binding: &Binding) -> Option<&'static str> {
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
        match (&binding.challenge, &self.verifier) {
            (None, None) if self.is_required => Some("this client must use PKCE, and its request did not"),
            (None, None) => None,
            (Some(_), None) => Some("code_verifier is missing"),
            (Some(challenge), Some(verifier)) if proves(verifier, challenge) => None,
            (Some(_), Some(_)) => Some("code_verifier does not match the code_challenge"),
            // Somebody took the challenge out of the request.
            (None, Some(_)) => Some("code_verifier came, but the request had no code_challenge"),
        }
    }
}

fn required<'a>(form: &'a Params, name: &str) -> Result<&'a str, OAuthError> {
    form.get(name).ok_or_else(|| OAuthError::invalid_request(format!("{name} is missing")))
}

fn invalid_grant(description: &str) -> Refused {
    OAuthError::new("invalid_grant", description).into()
}

/// The scopes of this refresh: those of the grant, or fewer.
fn narrowed(asked: Option<&str>, granted: Scopes) -> Result<Scopes, OAuthError> {
    let Some(list) = asked else { return Ok(granted) };
    let asked = Scopes::parse(list);
    if asked.has_unknown || asked.scopes.is_empty() || !granted.has_all(asked.scopes) {
        return Err(OAuthError::new("invalid_scope", "scope asks for more than was granted"));
    }
    Ok(asked.scopes)
}
