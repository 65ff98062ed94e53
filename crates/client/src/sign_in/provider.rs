//! The application's side of the identity provider: begins sign-ins, finishes them, renews and gives back tokens.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use domain::{Clock, Random, Secret};
use http::header::CONTENT_TYPE;
use http::{Request, Response};
use serde::Deserialize;

use super::authorize::{AuthorizationRequest, PendingSignIn, StartedSignIn, challenge};
use super::callback::CallbackParameters;
use super::discovery::Discovery;
use super::id_token::{self, ExpectedClaims, IdTokenError, Identity};
use super::tokens::Tokens;
use crate::Error;
use crate::http_client::{
    HttpClientBuilder, RetryPolicy, RetrySafety, call_name, error_from_response, parse_body,
};
use crate::ports::SystemClock;
use crate::transport::Transport;
use crate::url::{check_url, encode_query};

/// What the identity provider assumes where it says nothing.
const EXPIRES_IN_SECONDS: i64 = 3600;

/// An application at the identity provider. Cheap to clone.
///
/// ```
/// use aldaba_client::Secret;
/// use aldaba_client::sign_in::{AuthorizationRequest, SignIn};
///
/// let sign_in = SignIn::new(
///     "https://auth.example.com",
///     "my-application",
///     Secret::new("its secret"),
///     "https://panel.example/callback",
/// )?;
/// let started = sign_in.start(&AuthorizationRequest::accounting());
/// assert!(started.url.starts_with("https://auth.example.com/auth/core/connect/authorize?client_id=my-application"));
/// // Send the browser to started.url, and keep started.pending in its session.
/// # Ok::<(), aldaba_client::Error>(())
/// ```
#[derive(Clone)]
pub struct SignIn {
    inner: Arc<Inner>,
}

struct Inner {
    client_id: String,
    client_secret: Secret,
    redirect_uri: String,
    discovery: Discovery,
}

impl fmt::Debug for SignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &self.inner;
        let mut debug = f.debug_struct("SignIn");
        debug
            .field("issuer", &inner.discovery.issuer)
            .field("client_id", &inner.client_id)
            .finish_non_exhaustive()
    }
}

/// What a [`SignIn`] is made from.
#[must_use]
pub struct SignInBuilder {
    auth_url: String,
    client_id: String,
    client_secret: Secret,
    redirect_uri: String,
    clock: Arc<dyn Clock>,
    http: HttpClientBuilder,
}

impl fmt::Debug for SignInBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignInBuilder").field("auth_url", &self.auth_url).finish_non_exhaustive()
    }
}

impl SignInBuilder {
    pub fn transport(mut self, transport: impl Transport) -> Self {
        self.http.transport = Some(Arc::new(transport));
        self
    }

    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    pub fn random(mut self, random: impl Random) -> Self {
        self.http.random = Arc::new(random);
        self
    }

    pub fn retry_policy(mut self, retry_policy: RetryPolicy) -> Self {
        self.http.retry_policy = retry_policy;
        self
    }

    pub fn build(self) -> Result<SignIn, Error> {
        let issuer =
            format!("{}/auth/core", check_url("the address of the identity provider", &self.auth_url)?);
        let discovery = Discovery::new(issuer, self.http.build()?, self.clock);
        let Self { client_id, client_secret, redirect_uri, .. } = self;
        Ok(SignIn { inner: Arc::new(Inner { client_id, client_secret, redirect_uri, discovery }) })
    }
}

/// A sign-in that has been finished.
#[derive(Clone, Debug)]
pub struct CompletedSignIn {
    pub tokens: Tokens,
    /// Who signed in; None where `openid` was not asked for.
    pub identity: Option<Identity>,
}

#[derive(Deserialize)]
struct TokenResponse {
    access_token: String,
    #[serde(default)]
    expires_in: Option<i64>,
    #[serde(default)]
    refresh_token: Option<String>,
    #[serde(default)]
    id_token: Option<String>,
}

#[derive(Deserialize)]
struct OAuthError {
    error: String,
    #[serde(default)]
    error_description: String,
}

impl SignIn {
    /// `auth_url`: the address of the identity provider, without a path.
    pub fn new(
        auth_url: &str,
        client_id: &str,
        client_secret: Secret,
        redirect_uri: &str,
    ) -> Result<Self, Error> {
        Self::builder(auth_url, client_id, client_secret, redirect_uri).build()
    }

    /// With a transport, a clock or randomness of one's own.
    pub fn builder(
        auth_url: &str,
        client_id: &str,
        client_secret: Secret,
        redirect_uri: &str,
    ) -> SignInBuilder {
        SignInBuilder {
            auth_url: auth_url.to_owned(),
            client_id: client_id.to_owned(),
            client_secret,
            redirect_uri: redirect_uri.to_owned(),
            clock: Arc::new(SystemClock),
            http: HttpClientBuilder::default(),
        }
    }

    pub(super) fn clock(&self) -> &dyn Clock {
        &*self.inner.discovery.clock
    }

    /// Begins a sign-in: with a state, a nonce and a PKCE verifier that nobody can guess.
    pub fn start(&self, request: &AuthorizationRequest) -> StartedSignIn {
        let inner = &self.inner;
        let random = &inner.discovery.http.random;
        let pending = PendingSignIn {
            state: random.guid().to_string(),
            nonce: random.guid().to_string(),
            verifier: random.token(),
            expects_id_token: request.expects_id_token(),
        };
        let challenge = challenge(&pending.verifier);
        let fixed = [
            ("client_id", inner.client_id.as_str()),
            ("response_type", "code"),
            ("redirect_uri", &inner.redirect_uri),
            ("state", &pending.state),
            ("nonce", &pending.nonce),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ];
        let asked: Vec<(&str, String)> = request.pairs().collect();
        let asked = asked.iter().map(|(name, value)| (*name, value.as_str()));
        let query = encode_query(fixed.into_iter().chain(asked));
        StartedSignIn { url: format!("{}/connect/authorize?{query}", inner.discovery.issuer), pending }
    }

    /// Finishes a sign-in: checks what the browser brought back against what was begun, and exchanges the code.
    ///
    /// `callback` is the address that the browser came to, its query, or the body of a `form_post`. Whatever the
    /// outcome, `pending` has served its purpose: forget it.
    pub async fn finish(&self, pending: &PendingSignIn, callback: &str) -> Result<CompletedSignIn, Error> {
        let inner = &self.inner;
        let parameters = CallbackParameters::parse(callback, pending, &inner.discovery.issuer)?;
        let of_callback = match &parameters.id_token {
            Some(token) => {
                let expected =
                    ExpectedClaims { code: Some(&parameters.code), ..self.expected(Some(&pending.nonce)) };
                Some(self.identity(token, &expected).await?)
            }
            None => None,
        };
        let response = self
            .token_request(&[
                ("grant_type", "authorization_code"),
                ("code", &parameters.code),
                ("redirect_uri", &inner.redirect_uri),
                ("code_verifier", &pending.verifier),
            ])
            .await?;
        let identity = match &response.id_token {
            Some(token) => {
                let sub = of_callback.as_ref().map(|identity| identity.sub.as_str());
                let access_token = Some(response.access_token.as_str());
                let expected = ExpectedClaims { access_token, sub, ..self.expected(Some(&pending.nonce)) };
                Some(self.identity(token, &expected).await?)
            }
            None if pending.expects_id_token => return Err(IdTokenError::Missing.into()),
            None => of_callback,
        };
        let sub = identity.as_ref().map(|identity| identity.sub.clone());
        Ok(CompletedSignIn { tokens: self.tokens(response, None, sub), identity })
    }

    /// New tokens for old. Who has many callers lets a [`Session`](super::Session) do this: a refresh token counts
    /// once.
    pub async fn refresh(&self, tokens: &Tokens) -> Result<Tokens, Error> {
        let Some(refresh_token) = &tokens.refresh_token else {
            let reason = "the access token has expired and there is no refresh token (scope offline_access)";
            return Err(Error::SignInRequired { reason: reason.into() });
        };
        let fields = [("grant_type", "refresh_token"), ("refresh_token", refresh_token.reveal())];
        let response = self.token_request(&fields).await?;
        if let Some(token) = &response.id_token {
            let access_token = Some(response.access_token.as_str());
            let expected = ExpectedClaims { access_token, sub: tokens.sub.as_deref(), ..self.expected(None) };
            self.identity(token, &expected).await?;
        }
        Ok(self.tokens(response, Some(tokens), tokens.sub.clone()))
    }

    /// Gives tokens back: what was granted with them ends, at once.
    pub async fn revoke(&self, tokens: &Tokens) -> Result<(), Error> {
        let provider = self.inner.discovery.provider().await?;
        let token = tokens.refresh_token.as_ref().unwrap_or(&tokens.access_token);
        self.post_form(&provider.metadata.revocation_endpoint, &[("token", token.reveal())]).await?;
        Ok(())
    }

    /// Where to send the browser so that the user's session at the identity provider ends, too. `back` is an address
    /// that is registered for that.
    pub async fn sign_out_url(&self, tokens: &Tokens, back: Option<&str>) -> Result<String, Error> {
        let provider = self.inner.discovery.provider().await?;
        let mut pairs = vec![("client_id", self.inner.client_id.as_str())];
        pairs.extend(tokens.id_token.as_deref().map(|token| ("id_token_hint", token)));
        pairs.extend(back.map(|back| ("post_logout_redirect_uri", back)));
        Ok(format!("{}?{}", provider.metadata.end_session_endpoint, encode_query(pairs)))
    }

    fn expected<'a>(&'a self, nonce: Option<&'a str>) -> ExpectedClaims<'a> {
        ExpectedClaims {
            issuer: &self.inner.discovery.issuer,
            client_id: &self.inner.client_id,
            now_seconds: self.clock().now().unix_seconds(),
            nonce,
            code: None,
            access_token: None,
            sub: None,
        }
    }

    async fn identity(&self, token: &str, expected: &ExpectedClaims<'_>) -> Result<Identity, Error> {
        let provider = self.inner.discovery.provider_with_key(&id_token::key_of(token)?).await?;
        Ok(id_token::verify(token, &provider.keys, expected)?)
    }

    fn tokens(&self, response: TokenResponse, previous: Option<&Tokens>, sub: Option<String>) -> Tokens {
        let lives_seconds = response.expires_in.unwrap_or(EXPIRES_IN_SECONDS);
        Tokens {
            access_token: Secret::new(response.access_token),
            expires_at: self.clock().now().unix_seconds().saturating_add(lives_seconds),
            refresh_token: response
                .refresh_token
                .map(Secret::new)
                .or_else(|| previous.and_then(|previous| previous.refresh_token.clone())),
            id_token: response.id_token.or_else(|| previous.and_then(|previous| previous.id_token.clone())),
            sub,
        }
    }

    async fn token_request(&self, fields: &[(&str, &str)]) -> Result<TokenResponse, Error> {
        let url = format!("{}/connect/token", self.inner.discovery.issuer);
        let response = self.post_form(&url, fields).await?;
        parse_body(&format!("POST {url}"), &response)
    }

    /// A form with the application's credentials. Where no answer came it is sent again: a refresh token whose answer
    /// was lost gives the same tokens to who asks again soon. A code does not: its second use would end the first's.
    async fn post_form(&self, url: &str, fields: &[(&str, &str)]) -> Result<Response<Bytes>, Error> {
        let inner = &self.inner;
        let credentials =
            [("client_id", inner.client_id.as_str()), ("client_secret", inner.client_secret.reveal())];
        let body = encode_query(credentials.into_iter().chain(fields.iter().copied()));
        let request = Request::post(url)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Bytes::from(body))
            .map_err(|error| {
                Error::invalid_input("the address of the identity provider", error.to_string())
            })?;
        let is_code = fields.iter().any(|(name, _)| *name == "code");
        let retry_safety = if is_code { RetrySafety::NotIdempotent } else { RetrySafety::Idempotent };
        let response = inner.discovery.http.send(&request, retry_safety).await?;
        if response.status().is_success() {
            return Ok(response);
        }
        match serde_json::from_slice::<OAuthError>(response.body()) {
            Ok(OAuthError { error, error_description }) => {
                Err(Error::IdentityProvider { error, description: error_description })
            }
            Err(_) => Err(error_from_response(&call_name(&request), &response)),
        }
    }
}
