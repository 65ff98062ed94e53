//! The portal's own sign-ins: the user of a team's sandbox authorizes one of the team's clients, and the code comes to the
//! portal's redirect address. The portal exchanges it in process, without the client's secret. A browser walks through it
//! page by page, or the portal runs it in one go.

use domain::secret::base64url;
use domain::{AccountId, ClientId, Realm, Secret, TeamId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Actor, AuditContext, Client, Sandbox, Session, Status, StoreError};

use crate::Identity;
use crate::authorization_request;
use crate::flow::step::{self, FlowState, SecondFactorState, Step};
use crate::http::EndpointError;
use crate::jwt;
use crate::params::{Params, query};
use crate::sign_in::AUTHENTICATION_METHODS;

/// The scopes of a request that names none: all that the client's products open.
const SCOPES: &str = "openid profile email offline_access SVC.ES.NEWPOL.ACC.API SVC.ES.NEWPOL.COR.API \
                      SVC.ES.NEWPOL.IMP.API SVC.ES.EquipoContex SVC.ES.Webhooks";

/// A sign-in that the portal has begun. It goes with the browser, encrypted or in the portal's session: who has it and the
/// code can exchange the code.
#[derive(Clone, Serialize, Deserialize)]
pub struct SandboxSignIn {
    pub team: String,
    pub client: String,
    /// Where the browser goes: a real authorization request with PKCE.
    pub authorize_url: String,
    pub redirect_uri: String,
    pub state: String,
    pub nonce: String,
    /// The verifier of the PKCE challenge.
    pub code_verifier: String,
}

impl SandboxSignIn {
    /// The fields of the token request for a code, without a client secret. A client that ignores PKCE sends no verifier.
    pub fn token_request(&self, client: &Client, code: &str) -> Vec<(String, String)> {
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", self.redirect_uri.as_str()),
            ("code_verifier", self.code_verifier.as_str()),
        ];
        let is_sent = |name: &str| client.pkce_rule() != store::Pkce::Ignore || name != "code_verifier";
        let sent = fields.into_iter().filter(|(name, _)| is_sent(name));
        sent.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }
}

impl std::fmt::Debug for SandboxSignIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SandboxSignIn({}, {})", self.team, self.client)
    }
}

/// What the authorization request says about pages (`prompt`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SandboxPrompt {
    /// The user signs in, also if another one is signed in already.
    #[default]
    Login,
    /// And consents, also if the client needs no consent or has it.
    Consent,
    /// No page at all.
    Silent,
}

impl SandboxPrompt {
    pub const ALL: [Self; 3] = [Self::Login, Self::Consent, Self::Silent];

    /// The value of the parameter.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Login => "login",
            Self::Consent => "login consent",
            Self::Silent => "none",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|prompt| prompt.as_str() == name)
    }
}

/// What came of a sign-in, step by step.
#[derive(Clone, Debug)]
pub struct SandboxTokens {
    pub authorize_url: String,
    /// The parameters that the redirect address got: code (used up by now), state, iss.
    pub callback: Vec<(String, String)>,
    /// The fields of the token request, without a client secret.
    pub token_request: Vec<(String, String)>,
    /// The JSON of the token response.
    pub token_response: Value,
    pub access_token: Secret,
    pub refresh_token: Option<Secret>,
    /// The claims of the access token.
    pub access_claims: Value,
    /// The claims of the id_token, if there is one.
    pub id_claims: Option<Value>,
}

/// Why a sign-in of a sandbox did not succeed.
#[derive(Debug)]
pub enum SandboxSignInError {
    /// The developer does not belong to the team, or the team has no such client or no sandbox.
    NotFound(&'static str),
    /// Sandboxes are closed, or this one or its user is disabled or not complete.
    Closed(&'static str),
    /// An OAuth error: its code, and a description for developers.
    Refused {
        code: String,
        description: String,
    },
    Store(StoreError),
    Internal,
}

impl From<StoreError> for SandboxSignInError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

type Result<T> = std::result::Result<T, SandboxSignInError>;

fn refused(code: &str, description: &str) -> SandboxSignInError {
    SandboxSignInError::Refused { code: code.to_owned(), description: description.to_owned() }
}

fn from_endpoint(error: EndpointError) -> SandboxSignInError {
    match error {
        EndpointError::OAuth(error) => refused(error.code, &error.description),
        EndpointError::Store(error) => SandboxSignInError::Store(error),
        _ => SandboxSignInError::Internal,
    }
}

impl Identity {
    /// Begins a sign-in for the user of the team's sandbox: the portal redirects the browser to `authorize_url` and gets it
    /// back at its redirect address. `scopes`: all that the client may have by default.
    pub async fn begin_sandbox_sign_in(
        &self,
        developer: &AccountId,
        team: &TeamId,
        client: &ClientId,
        scopes: Option<&str>,
        prompt: SandboxPrompt,
    ) -> Result<SandboxSignIn> {
        let (sandbox, client) = self.sandbox_and_client(developer, team, client).await?;
        let default = domain::Scopes::parse(SCOPES).scopes.allowed_for(client.products).to_string();
        let [state, nonce, code_verifier] = [(); 3].map(|()| self.random.token());
        let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, code_verifier.as_bytes());
        let redirect_uri = self.settings.sandbox_redirect_uri();
        let params = [
            ("client_id", client.id.as_str()),
            ("response_type", "code"),
            ("redirect_uri", redirect_uri.as_str()),
            ("scope", scopes.unwrap_or(&default)),
            ("state", state.as_str()),
            ("nonce", nonce.as_str()),
            ("code_challenge", &base64url(hash.as_ref())),
            ("code_challenge_method", "S256"),
            ("login_hint", sandbox.email.as_str()),
            ("prompt", prompt.as_str()),
        ];
        let authorize_url = format!("{}/connect/authorize?{}", self.settings.issuer, query(params));
        Ok(SandboxSignIn {
            team: team.to_string(),
            client: client.id.to_string(),
            authorize_url,
            redirect_uri,
            state,
            nonce,
            code_verifier,
        })
    }

    /// Ends a sign-in with what the redirect address got: exchanges the code in process.
    pub async fn finish_sandbox_sign_in(
        &self,
        developer: &AccountId,
        sign_in: &SandboxSignIn,
        callback_query: &str,
        context: &AuditContext,
    ) -> Result<SandboxTokens> {
        let (team, client) = (TeamId::new(&*sign_in.team), ClientId::new(&*sign_in.client));
        let (_, client) = self.sandbox_and_client(developer, &team, &client).await?;
        let params = Params::parse(callback_query.as_bytes());
        if let Some(error) = params.get("error") {
            return Err(refused(error, params.get("error_description").unwrap_or_default()));
        }
        if params.get("state") != Some(&sign_in.state) {
            return Err(refused(
                "invalid_state",
                "The state differs from the one of the authorization request.",
            ));
        }
        if params.get("iss") != Some(&self.settings.issuer) {
            return Err(refused("invalid_iss", "The response is of another issuer."));
        }
        let code = params.get("code").ok_or_else(|| refused("invalid_request", "The code is missing."))?;
        let sent = sign_in.token_request(&client, code);
        let pairs = sent.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let form = Params::parse(query(pairs).as_bytes());
        let context = context.by(Actor::Developer(developer.clone()));
        let response = self.exchange_code(&client, &form, &context).await.map_err(from_endpoint)?;
        let token_response = serde_json::to_value(&response).unwrap_or_default();
        let claims = |token: &str| jwt::verify::<Value>(&self.keys, token).unwrap_or_default();
        let text = |name: &str| token_response[name].as_str().map(str::to_owned);
        let access_token = text("access_token").unwrap_or_default();
        Ok(SandboxTokens {
            authorize_url: sign_in.authorize_url.clone(),
            callback: params.into_pairs(),
            token_request: sent,
            access_claims: claims(&access_token),
            id_claims: text("id_token").map(|token| claims(&token)),
            refresh_token: text("refresh_token").map(Secret::new),
            access_token: Secret::new(access_token),
            token_response,
        })
    }

    /// A token for the sandbox in one go: the same steps without a browser. The developer consents for the sandbox's user.
    pub async fn sandbox_token(
        &self,
        developer: &AccountId,
        team: &TeamId,
        client: &ClientId,
        scopes: Option<&str>,
        context: &AuditContext,
    ) -> Result<SandboxTokens> {
        let sign_in =
            self.begin_sandbox_sign_in(developer, team, client, scopes, SandboxPrompt::Login).await?;
        let (sandbox, client) = self.sandbox_and_client(developer, team, client).await?;
        let asked = sign_in.authorize_url.split_once('?').map_or("", |(_, asked)| asked);
        let params = Params::parse(asked.as_bytes());
        let portal = self.sandbox_redirect_uri();
        let target = authorization_request::response_target(&params, &client, portal.as_deref())
            .map_err(|_| SandboxSignInError::NotFound("client"))?;
        let request = authorization_request::parse(&params, target, &client, None)
            .map_err(|error| refused(error.code, &error.description))?;
        let now = self.clock.now();
        let session = Session {
            id: self.random.guid(),
            realm: Realm::Users,
            account: sandbox.user.clone(),
            authenticated_at: now,
            methods: AUTHENTICATION_METHODS.into(),
            expires_at: now + self.settings.code_ttl,
            address: context.address.clone(),
            user_agent: String::new(),
        };
        let memberships = self.enterable_memberships(&sandbox.user, &client, &request).await?;
        // The developer's own sign-in had the second factor that the portal asks for.
        let second_factor = SecondFactorState { policy: domain::SecondFactorPolicy::Off, is_enrolled: false };
        let next = step::next_step(&FlowState {
            request: &request,
            client: &client,
            started_at: now,
            session: Some(&session),
            second_factor,
            memberships: &memberships,
            grants: &[],
            chosen_tenant: Some(&sandbox.tenant),
            now,
        });
        let membership = match next {
            Step::Issue(membership) => membership,
            Step::Refuse(error) => return Err(refused(error.code, &error.description)),
            _ => return Err(SandboxSignInError::Closed("the user of the sandbox cannot sign in; reset it")),
        };
        let by = context.by(Actor::Developer(developer.clone()));
        let code = self.store_new_code(&request, &client, &membership, (&session, None), &by).await?;
        let callback =
            query([("code", code.reveal()), ("state", &sign_in.state), ("iss", &self.settings.issuer)]);
        self.finish_sandbox_sign_in(developer, &sign_in, &callback, context).await
    }

    /// The sandbox of the team and the client, if the developer belongs to the team and all are its own and usable.
    async fn sandbox_and_client(
        &self,
        developer: &AccountId,
        team: &TeamId,
        client: &ClientId,
    ) -> Result<(Sandbox, Client)> {
        if self.store.find_team_member(team, developer).await?.is_none() {
            return Err(SandboxSignInError::NotFound("team"));
        }
        if !self.settings.is_sandbox_open {
            return Err(SandboxSignInError::Closed("the operator has switched sandboxes off"));
        }
        let client = self.store.find_client(client).await?;
        let client = client.filter(|client| client.team.as_ref() == Some(team));
        let client = client.ok_or(SandboxSignInError::NotFound("client"))?;
        if client.status != Status::Active {
            return Err(SandboxSignInError::Closed("the client is disabled"));
        }
        if !client.kind.signs_users_in() {
            return Err(SandboxSignInError::Closed("the client is a resource server, which signs nobody in"));
        }
        let sandbox = self.store.find_sandbox(team).await?.ok_or(SandboxSignInError::NotFound("sandbox"))?;
        if !sandbox.is_ready() {
            return Err(SandboxSignInError::Closed("the sandbox is disabled or not complete"));
        }
        Ok((sandbox, client))
    }
}

#[cfg(test)]
mod tests;
