//! Authorizations in process: a user authorizes a client without pages, and the code is exchanged without the client's secret.
//! The portal does this for the user of a sandbox, `aldaba dev token` for the users of a development store. All checks but the
//! password's, the second factor's and the consent are those of every sign-in.

use domain::secret::base64url;
use domain::{AccountId, Realm, Scope, Scopes, Secret, TenantId};
use serde_json::Value;
use store::{AuditContext, Client, Pkce, Session, StoreError};

use crate::Identity;
use crate::authorization_request;
use crate::flow::step::{self, FlowState, SecondFactorState, Step};
use crate::http::{EndpointError, TokenResponse};
use crate::params::{Params, query};
use crate::sign_in::AUTHENTICATION_METHODS;

/// Who authorizes what.
#[derive(Clone, Copy, Debug)]
pub struct DirectAuthorization<'a> {
    pub client: &'a Client,
    pub user: &'a AccountId,
    pub tenant: &'a TenantId,
}

/// The parameters of the authorization request.
#[derive(Clone, Copy, Debug)]
pub struct DirectRequest<'a> {
    /// One that is registered for the client.
    pub redirect_uri: &'a str,
    /// All that the client's products open, where it is `None`.
    pub scope: Option<&'a str>,
}

/// The JSON of the token response.
#[derive(Clone)]
pub struct DirectTokens(pub Value);

impl std::fmt::Debug for DirectTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DirectTokens(***)")
    }
}

/// Why there is no code or no token.
#[derive(Debug)]
pub enum DirectAuthorizationError {
    /// An OAuth error: its code, and a description for developers.
    Refused {
        code: String,
        description: String,
    },
    /// The redirect URI is not registered for the client.
    NoRedirectUri,
    /// The user is not an active member of the tenant, or the client may not enter it.
    NotAMember,
    Store(StoreError),
    Internal,
}

impl From<StoreError> for DirectAuthorizationError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<EndpointError> for DirectAuthorizationError {
    fn from(error: EndpointError) -> Self {
        match error {
            EndpointError::OAuth(error) => refused(error.code, &error.description),
            EndpointError::Store(error) => Self::Store(error),
            _ => Self::Internal,
        }
    }
}

fn refused(code: &str, description: &str) -> DirectAuthorizationError {
    DirectAuthorizationError::Refused { code: code.to_owned(), description: description.to_owned() }
}

type Result<T> = std::result::Result<T, DirectAuthorizationError>;

impl Identity {
    /// A code for the client to exchange itself, without a PKCE challenge.
    pub async fn direct_code(
        &self,
        authorization: &DirectAuthorization<'_>,
        request: &DirectRequest<'_>,
        context: &AuditContext,
    ) -> Result<Secret> {
        let asked = asked(authorization.client, request, None);
        self.authorize_directly(authorization, &Params::parse(asked.as_bytes()), context).await
    }

    /// The tokens, through a code that is exchanged at once.
    pub async fn direct_tokens(
        &self,
        authorization: &DirectAuthorization<'_>,
        request: &DirectRequest<'_>,
        context: &AuditContext,
    ) -> Result<DirectTokens> {
        let client = authorization.client;
        let verifier = (client.pkce != Pkce::Ignore).then(|| self.random.token());
        let asked = asked(client, request, verifier.as_deref());
        let code = self.authorize_directly(authorization, &Params::parse(asked.as_bytes()), context).await?;
        let mut sent = vec![("code", code.reveal()), ("redirect_uri", request.redirect_uri)];
        sent.extend(verifier.as_deref().map(|verifier| ("code_verifier", verifier)));
        let form = Params::parse(query(sent).as_bytes());
        let response = self.exchange_directly(client, &form, context).await?;
        serde_json::to_value(&response).map(DirectTokens).map_err(|_| DirectAuthorizationError::Internal)
    }

    /// Issues a code for an authorization request as if the user had signed in and consented just now.
    pub(crate) async fn authorize_directly(
        &self,
        authorization: &DirectAuthorization<'_>,
        params: &Params,
        context: &AuditContext,
    ) -> Result<Secret> {
        let DirectAuthorization { client, user, tenant } = *authorization;
        let portal = self.sandbox_redirect_uri();
        let target = authorization_request::response_target(params, client, portal.as_deref())
            .map_err(|_| DirectAuthorizationError::NoRedirectUri)?;
        let request = authorization_request::parse(params, target, client, None)
            .map_err(|error| refused(error.code, &error.description))?;
        let now = self.clock.now();
        let session = Session {
            id: self.random.guid(),
            realm: Realm::Users,
            account: user.clone(),
            authenticated_at: now,
            methods: AUTHENTICATION_METHODS.into(),
            expires_at: now + self.settings.code_ttl,
            address: context.address.clone(),
            user_agent: String::new(),
        };
        let memberships = self.enterable_memberships(user, client, &request).await?;
        // Whoever asks has proved who they are elsewhere: at the portal, or by reading the store.
        let second_factor = SecondFactorState { policy: domain::SecondFactorPolicy::Off, is_enrolled: false };
        let next = step::next_step(&FlowState {
            request: &request,
            client,
            started_at: now,
            session: Some(&session),
            second_factor,
            memberships: &memberships,
            grants: &[],
            chosen_tenant: Some(tenant),
            now,
        });
        let membership = match next {
            Step::Issue(membership) if membership.tenant.id == *tenant => membership,
            Step::Refuse(error) => return Err(refused(error.code, &error.description)),
            _ => return Err(DirectAuthorizationError::NotAMember),
        };
        Ok(self.store_new_code(&request, client, &membership, (&session, None), context).await?)
    }

    /// Exchanges a code for a client that need not authenticate: its secret is not known here.
    pub(crate) async fn exchange_directly(
        &self,
        client: &Client,
        form: &Params,
        context: &AuditContext,
    ) -> Result<TokenResponse> {
        Ok(self.exchange_code(client, form, context).await?)
    }
}

/// The query of the authorization request.
fn asked(client: &Client, request: &DirectRequest<'_>, verifier: Option<&str>) -> String {
    let all = Scope::ALL.into_iter().fold(Scopes::default(), Scopes::with);
    let all = all.allowed_for(client.products).to_string();
    let challenge = verifier.map(|verifier| {
        base64url(aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, verifier.as_bytes()).as_ref())
    });
    let mut params = vec![
        ("client_id", client.id.as_str()),
        ("response_type", "code"),
        ("redirect_uri", request.redirect_uri),
        ("scope", request.scope.unwrap_or(&all)),
    ];
    if let Some(challenge) = &challenge {
        params.extend([("code_challenge", challenge.as_str()), ("code_challenge_method", "S256")]);
    }
    query(params)
}
