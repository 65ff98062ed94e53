//! The session of a signed-in user: provides valid access tokens and renews them once for all concurrent callers.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use domain::Secret;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};

use super::provider::SignIn;
use super::tokens::{MemoryTokens, TokenStore, Tokens};
use crate::Error;

/// Tokens that expire within this time are renewed.
const RENEWAL_MARGIN_SECONDS: i64 = 60;

/// Provides access tokens for API calls.
#[async_trait]
pub trait TokenSource: Send + Sync + 'static {
    /// A valid access token.
    async fn access_token(&self) -> Result<Secret, Error>;

    /// A new access token, after the service refused this one.
    async fn replace_token(&self, refused: &Secret) -> Result<Secret, Error>;
}

/// A fixed access token that cannot be renewed; for scripts and tests.
#[derive(Clone, Debug)]
pub struct StaticToken(pub Secret);

#[async_trait]
impl TokenSource for StaticToken {
    async fn access_token(&self) -> Result<Secret, Error> {
        Ok(self.0.clone())
    }

    async fn replace_token(&self, _: &Secret) -> Result<Secret, Error> {
        Err(Error::SignInRequired { reason: "the access token was refused and cannot be renewed".into() })
    }
}

/// The tokens of one signed-in user. Cheap to clone; all clones share renewals.
///
/// - If the token has expired, it is renewed once, however many callers need it.
/// - A caller that is cancelled does not cancel the renewal: it runs in a task of its own.
/// - New tokens are stored before any caller gets them.
/// - If the response to a renewal is lost, the renewal is retried: within 30 seconds the service returns the same new
///   tokens.
/// - Several processes may share a store: each first checks whether another one has renewed the tokens.
///
/// ```no_run
/// # use aldaba_client::{Error, sign_in::{Session, SignIn, CompletedSignIn}};
/// # async fn example(sign_in: SignIn, signed_in: CompletedSignIn) -> Result<(), Error> {
/// let session = Session::in_memory(sign_in, signed_in.tokens);
/// let token = session.access_token().await?; // renewed if needed
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Session {
    inner: Arc<Inner>,
}

struct Inner {
    sign_in: SignIn,
    store: Arc<dyn TokenStore>,
    renewal: Mutex<Option<Renewal>>,
}

type Renewal = Shared<BoxFuture<'static, Result<Tokens, Error>>>;

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("sign_in", &self.inner.sign_in).finish_non_exhaustive()
    }
}

impl Session {
    /// A session whose tokens are in the store, or will be.
    pub fn new(sign_in: SignIn, store: impl TokenStore) -> Self {
        Self { inner: Arc::new(Inner { sign_in, store: Arc::new(store), renewal: Mutex::new(None) }) }
    }

    /// A session that keeps the tokens in memory.
    pub fn in_memory(sign_in: SignIn, tokens: Tokens) -> Self {
        Self::new(sign_in, MemoryTokens::new(tokens))
    }

    /// Stores the tokens of a completed sign-in.
    pub async fn save_tokens(&self, tokens: &Tokens) -> Result<(), Error> {
        self.inner.store.save(tokens).await.map_err(|error| Error::TokenStore(error.to_string()))
    }

    /// A valid access token; renews it if needed.
    pub async fn access_token(&self) -> Result<Secret, Error> {
        let tokens = self.inner.load().await?;
        if tokens.is_valid_for(RENEWAL_MARGIN_SECONDS, self.inner.sign_in.clock().now()) {
            return Ok(tokens.access_token);
        }
        Ok(self.renew(tokens.access_token).await?.access_token)
    }

    /// Renews the tokens, unless the stored access token already differs from `old_access_token`.
    pub async fn renew(&self, old_access_token: Secret) -> Result<Tokens, Error> {
        let renewal = {
            let mut current = self.inner.renewal.lock().unwrap_or_else(PoisonError::into_inner);
            match &*current {
                Some(renewal) if renewal.peek().is_none() => renewal.clone(),
                _ => {
                    let inner = self.inner.clone();
                    let task = tokio::spawn(async move { inner.renew_tokens(&old_access_token).await });
                    let renewal = async move {
                        task.await.unwrap_or_else(|error| Err(Error::TokenStore(error.to_string())))
                    };
                    let renewal = renewal.boxed().shared();
                    *current = Some(renewal.clone());
                    renewal
                }
            }
        };
        renewal.await
    }

    /// Deletes the stored tokens and revokes them. They are deleted even if the revocation fails.
    pub async fn sign_out(&self) -> Result<(), Error> {
        let tokens = self.inner.load().await;
        self.inner.store.clear().await.map_err(|error| Error::TokenStore(error.to_string()))?;
        match tokens {
            Ok(tokens) => self.inner.sign_in.revoke(&tokens).await,
            Err(Error::SignInRequired { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl Inner {
    async fn load(&self) -> Result<Tokens, Error> {
        let tokens = self.store.load().await.map_err(|error| Error::TokenStore(error.to_string()))?;
        tokens.ok_or_else(|| Error::SignInRequired { reason: "no user is signed in".into() })
    }

    async fn renew_tokens(&self, old_access_token: &Secret) -> Result<Tokens, Error> {
        let tokens = self.load().await?;
        let is_good =
            |tokens: &Tokens| tokens.is_valid_for(RENEWAL_MARGIN_SECONDS, self.sign_in.clock().now());
        if tokens.access_token != *old_access_token && is_good(&tokens) {
            return Ok(tokens);
        }
        match self.sign_in.refresh(&tokens).await {
            Ok(new) => {
                self.store.save(&new).await.map_err(|error| Error::TokenStore(error.to_string()))?;
                Ok(new)
            }
            Err(Error::IdentityProvider { error, description }) if error == "invalid_grant" => {
                // Another process may have renewed the tokens, longer ago than the service's grace period.
                let now = self.load().await?;
                if now.refresh_token != tokens.refresh_token && is_good(&now) {
                    return Ok(now);
                }
                Err(Error::SignInRequired { reason: format!("the sign-in has ended ({description})") })
            }
            Err(error) => Err(error),
        }
    }
}

#[async_trait]
impl TokenSource for Session {
    async fn access_token(&self) -> Result<Secret, Error> {
        Self::access_token(self).await
    }

    async fn replace_token(&self, refused: &Secret) -> Result<Secret, Error> {
        Ok(self.renew(refused.clone()).await?.access_token)
    }
}
