//! New passwords: the rules, and the hash.

use domain::password_rules::{self, PasswordOwner};
use domain::{Secret, password};
use tokio::sync::Semaphore;
use ui::{Lang, password_refusal_text};

use super::{Admin, AdminError, Result};

/// Passwords are hashed one at a time, however many are set at once.
static HASHING: Semaphore = Semaphore::const_new(1);

impl Admin {
    /// The hash of a new password, if it keeps the rules. The error says which rule it breaks.
    pub(crate) async fn new_password_hash(&self, plain: Secret, name: &str, email: &str) -> Result<String> {
        password_rules::check(&plain, &PasswordOwner { name, email }).map_err(|refusal| {
            let message = password_refusal_text(Lang::En, refusal);
            AdminError::Invalid(format!("{}: {}", message.title, message.text.trim_end_matches('.')))
        })?;
        self.password_hash(plain).await
    }

    /// The hash of a password that nobody chose.
    pub(super) async fn password_hash(&self, plain: Secret) -> Result<String> {
        // Each hash takes 19 MiB.
        let _place = HASHING.acquire().await.map_err(|error| AdminError::Invalid(error.to_string()))?;
        let random = self.random.clone();
        let hashing = tokio::task::spawn_blocking(move || password::hash(&plain, &*random)).await;
        hashing
            .map_err(|error| AdminError::Invalid(error.to_string()))?
            .map_err(|why| AdminError::Invalid(why.into()))
    }
}
