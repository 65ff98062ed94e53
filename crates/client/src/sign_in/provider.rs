//! The OpenID Connect client: starts and finishes sign-ins, and renews and revokes tokens.

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

/// The lifetime of an access token if the response has no `expires_in`.
const EXPIRES_IN_SECONDS: i64 = 3600;

/// An OpenID Connect client of the identity provider. Cheap to clone.
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
/// // Redirect the browser to started.url, and store started.pending in its session.
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

/// Builds a [`SignIn`]; see [`SignIn::builder`].
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
    /// Sends requests with this transport instead of [`HttpTransport`](crate::HttpTransport).
    pub fn transport(mut self, transport: impl Transport) -> Self {
        self.http.transport = Some(Arc::new(transport));
        self
    }

    /// Uses this clock for the expiry of tokens; for tests.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Uses this source of randomness for state, nonce and PKCE; for deterministic tests.
    pub fn random(mut self, random: impl Random) -> Self {
        self.http.random = Arc::new(random);
        self
    }

    /// How often and how long requests are retried.
    pub fn retry_policy(mut self, retry_policy: RetryPolicy) -> Self {
        self.http.retry_policy = retry_policy;
        self
    }

    /// Checks the settings and builds the [`SignIn`].
    pub fn build(self) -> Result<SignIn, Error> {
        let issuer = format!("{}/auth/core", check_url("the URL of the identity provider", &self.auth_url)?);
        let discovery = Discovery::new(issuer, self.http.build()?, self.clock);
        let Self { client_id, client_secret, redirect_uri, .. } = self;
        Ok(SignIn { inner: Arc::new(Inner { client_id, client_secret, redirect_uri, discovery }) })
    }
}

/// A completed sign-in.
#[derive(Clone, Debug)]
pub struct CompletedSignIn {
    /// The tokens of the user.
    pub tokens: Tokens,
    /// The user; `None` if the scope `openid` was not requested.
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
    /// `auth_url` is the URL of the identity provider without a path.
    pub fn new(
        auth_url: &str,
        client_id: &str,
        client_secret: Secret,
        redirect_uri: &str,
    ) -> Result<Self, Error> {
        Self::builder(auth_url, client_id, client_secret, redirect_uri).build()
    }

    /// Like [`SignIn::new`], with a transport, clock, randomness or retry policy of your own.
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

    /// Starts a sign-in, with a random state, nonce and PKCE verifier.
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
        let requested: Vec<(&str, String)> = request.pairs().collect();
        let requested = requested.iter().map(|(name, value)| (*name, value.as_str()));
        let query = encode_query(fixed.into_iter().chain(requested));
        StartedSignIn { url: format!("{}/connect/authorize?{query}", inner.discovery.issuer), pending }
    }

    /// Finishes a sign-in: checks the callback against the pending sign-in, exchanges the code, and verifies the
    /// id_token.
    ///
    /// `callback` is the URL of the callback, its query, or the body of a `form_post`. Delete `pending` afterwards,
    /// whatever the result.
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

    /// Renews tokens with the refresh token. A refresh token can be used once, so applications with concurrent callers
    /// use a [`Session`](super::Session) instead.
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

    /// Revokes the tokens and the grant behind them.
    pub async fn revoke(&self, tokens: &Tokens) -> Result<(), Error> {
        let provider = self.inner.discovery.provider().await?;
        let token = tokens.refresh_token.as_ref().unwrap_or(&tokens.access_token);
        self.post_form(&provider.metadata.revocation_endpoint, &[("token", token.reveal())]).await?;
        Ok(())
    }

    /// The URL to redirect the browser to, to end the user's session at the identity provider. `return_to` is a
    /// registered post-logout redirect URI.
    pub async fn sign_out_url(&self, tokens: &Tokens, return_to: Option<&str>) -> Result<String, Error> {
        let provider = self.inner.discovery.provider().await?;
        let mut pairs = vec![("client_id", self.inner.client_id.as_str())];
        pairs.extend(tokens.id_token.as_deref().map(|token| ("id_token_hint", token)));
        pairs.extend(return_to.map(|uri| ("post_logout_redirect_uri", uri)));
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
        let lifetime_seconds = response.expires_in.unwrap_or(EXPIRES_IN_SECONDS);
        Tokens {
            access_token: Secret::new(response.access_token),
            expires_at: self.clock().now().unix_seconds().saturating_add(lifetime_seconds),
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

    /// Posts a form with the client credentials. If there is no response, it retries: a refresh token used twice in
    /// quick succession returns the same tokens. An authorization code is not retried, because its second use revokes
    /// the tokens of the first.
    async fn post_form(&self, url: &str, fields: &[(&str, &str)]) -> Result<Response<Bytes>, Error> {
        let inner = &self.inner;
        let credentials =
            [("client_id", inner.client_id.as_str()), ("client_secret", inner.client_secret.reveal())];
        let body = encode_query(credentials.into_iter().chain(fields.iter().copied()));
        let request = Request::post(url)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Bytes::from(body))
            .map_err(|error| Error::invalid_input("the URL of the identity provider", error.to_string()))?;
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
