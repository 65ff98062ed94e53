//! Password sign-in: a bounded hashing queue, throttling, and the same work and response for known and unknown
//! users.

mod login_throttle;
mod password_hasher;

use domain::Secret;
use store::{Status, User};

pub(crate) use login_throttle::{AddressThrottled, LoginThrottle};
pub(crate) use password_hasher::PasswordHasher;

/// No username is longer.
const USERNAME_BYTES_MAX: usize = 254;

/// The username without surrounding white space, truncated to the maximum length.
pub(crate) fn trimmed_username(username: &str) -> &str {
    let name = username.trim();
    name.get(..name.floor_char_boundary(USERNAME_BYTES_MAX)).unwrap_or_default()
}

/// The username in the form in which accounts are stored.
pub(crate) fn normalized_username(username: &str) -> String {
    trimmed_username(username).replace('\0', "\u{fffd}").to_lowercase()
}

/// The result of a password check.
#[derive(Debug)]
pub(crate) enum PasswordCheck {
    Accepted(User),
    /// Wrong password or inactive account; the user is for the audit only.
    Rejected(Option<User>),
    /// The hashing queue is full.
    Busy,
}

/// Checks a password. Computes one hash whether the user exists or not.
pub(crate) async fn check_password(
    store: &dyn store::Store,
    password_hasher: &PasswordHasher,
    account: &str,
    password: Secret,
) -> store::Result<PasswordCheck> {
    let user = store.find_user_by_email(account).await?;
    let Some(is_correct) =
        password_hasher.matches(password, user.as_ref().map(|user| user.password_hash.clone())).await
    else {
        return Ok(PasswordCheck::Busy);
    };
    Ok(match user {
        Some(user) if is_correct && user.status == Status::Active => PasswordCheck::Accepted(user),
        other => PasswordCheck::Rejected(other),
    })
}

/// The authentication methods of a password sign-in, for `amr`.
pub(crate) const AUTHENTICATION_METHODS: &str = "password";

#[cfg(test)]
mod tests;
