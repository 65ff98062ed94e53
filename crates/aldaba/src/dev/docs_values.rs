//! What the pages of the API documents fill in: keys of the store, and an access token of the first user.

use std::sync::Arc;

use domain::Secret;
use serde_json::Value;
use tokio::sync::Mutex;

use super::credentials::{CALLBACK_URI, Client, Credentials, User};
use super::headless_browser::{HeadlessBrowser, SignInUser};
use super::ready_line::authorize_path;
use crate::documents::Prefill;
use crate::exit::Failure;

pub(super) fn prefill(credentials: &Credentials) -> Prefill {
    let Client { client_id, client_secret, .. } = credentials.client.clone();
    let signed_in = Arc::new(SignedIn {
        client: credentials.client.clone(),
        user: credentials.users.first().cloned(),
        token: Mutex::default(),
    });
    Prefill {
        subscription_key: Secret::new(credentials.subscription.primary_key.clone()),
        operator_token: Secret::new(credentials.operator_token.clone()),
        client_id,
        client_secret: Secret::new(client_secret),
        access_token: Arc::new(move |origin| {
            let signed_in = signed_in.clone();
            Box::pin(async move { signed_in.token(&origin).await })
        }),
    }
}

/// A user who signs in when a page asks for a token, and again when the token is not active any more.
struct SignedIn {
    client: Client,
    user: Option<User>,
    token: Mutex<Option<Secret>>,
}

impl SignedIn {
    async fn token(&self, origin: &str) -> Option<Secret> {
        let mut known = self.token.lock().await;
        if let Some(token) = &*known
            && self.is_active(origin, token).await.unwrap_or_default()
        {
            return known.clone();
        }
        match self.sign_in(origin).await {
            Ok(token) => {
                *known = token.map(Secret::new);
                known.clone()
            }
            Err(failure) => {
                tracing::warn!(error = ?failure, "no token for the page of the APIs; its Authorize button signs in");
                None
            }
        }
    }

    async fn is_active(&self, origin: &str, token: &Secret) -> Result<bool, Failure> {
        let Client { client_id, client_secret, .. } = &self.client;
        let fields = [("token", token.reveal()), ("client_id", client_id), ("client_secret", client_secret)];
        let response = HeadlessBrowser::new(origin)?.post("/auth/core/connect/introspect", &fields).await?;
        let facts: Value = serde_json::from_slice(response.body()).unwrap_or_default();
        Ok(facts["active"] == true)
    }

    async fn sign_in(&self, origin: &str) -> Result<Option<String>, Failure> {
        let Some(User { email, password, .. }) = &self.user else { return Ok(None) };
        let mut browser = HeadlessBrowser::new(origin)?;
        let user = SignInUser { email, password, tenant: None };
        let authorize = authorize_path(&self.client.client_id, None);
        let code = browser.sign_in(&authorize, CALLBACK_URI, &user).await?;
        let response = browser.exchange(&self.client, &code).await?;
        let tokens: Value = serde_json::from_slice(response.body()).unwrap_or_default();
        Ok(tokens["access_token"].as_str().map(Into::into))
    }
}
