//! The access token of the load's readers, which they renew when it is no longer accepted, as applications do.

use tokio::sync::Mutex;

use crate::Fallible;
use crate::service::Service;
use crate::sign_in::Tokens;

#[derive(Debug)]
pub(crate) struct Access {
    tokens: Mutex<Tokens>,
}

impl Access {
    pub(crate) fn new(tokens: Tokens) -> Self {
        Self { tokens: Mutex::new(tokens) }
    }

    pub(crate) async fn token(&self) -> String {
        self.tokens.lock().await.access.clone()
    }

    /// Gets a new token, unless another reader has done so since this one was refused.
    pub(crate) async fn renew(&self, service: &Service, public_url: &str, refused: &str) -> Fallible<()> {
        let mut tokens = self.tokens.lock().await;
        if tokens.access == refused {
            *tokens = service.application.refresh(&service.http, public_url, &tokens.refresh).await?;
        }
        Ok(())
    }
}
