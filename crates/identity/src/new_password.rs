//! New passwords: the rules, and the hash from the bounded queue. Every page that sets a password calls this.

use domain::Secret;
use domain::password_rules::{self, PasswordOwner, PasswordRefusal};

use crate::Identity;

/// Why a password was not hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NewPasswordError {
    Refused(PasswordRefusal),
    RepetitionDiffers,
    /// The hashing queue is full.
    Busy,
}

impl Identity {
    /// The hash of a new password that was typed twice, if it keeps the rules.
    pub(crate) async fn new_password(
        &self,
        password: Secret,
        repeated: &str,
        owner: &PasswordOwner<'_>,
    ) -> Result<String, NewPasswordError> {
        password_rules::check(&password, owner).map_err(NewPasswordError::Refused)?;
        if password.reveal() != repeated {
            return Err(NewPasswordError::RepetitionDiffers);
        }
        let hash = self.password_sign_in.password_hasher.hash(password, self.random.clone()).await;
        hash.ok_or(NewPasswordError::Busy)
    }
}
