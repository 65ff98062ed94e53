//! Checking who somebody is: a bounded queue in front of the hash, growing delays, and the same work and
//! the same answer whether there is such a user or not.

mod login_throttle;
mod password_hasher;

use domain::Secret;
use store::{Status, User};

pub(crate) use login_throttle::{AddressThrottled, LoginThrottle};
pub(crate) use password_hasher::PasswordHasher;

/// Texts that are longer are nobody's name.
const USERNAME_BYTES_MAX: usize = 254;

/// A typed name, cut where it is longer than any name.
pub(crate) fn trimmed_username(username: &str) -> &str {
    let name = username.trim();
    name.get(..name.floor_char_boundary(USERNAME_BYTES_MAX)).unwrap_or_default()
}

/// The account that a typed name means.
pub(crate) fn normalized_username(username: &str) -> String {
    trimmed_username(username).replace('\0', "\u{fffd}").to_lowercase()
}

/// What came of a try.
#[derive(Debug)]
pub(crate) enum PasswordCheck {
    Accepted(User),
    /// Whatever was wrong; the account is told to the audit alone.
    Rejected(Option<User>),
    /// Too many are waiting for the hash.
    Busy,
}

/// One try. There is one hash computation, whatever is found.
pub(crate) async fn check_password(
    store: &dyn store::Store,
    password_hasher: &PasswordHasher,
    account: &str,
    password: Secret,
) -> store::Result<PasswordCheck> {
    let user = store.find_user_by_email(account).await?;
    let Some(is_right) =
        password_hasher.matches(password, user.as_ref().map(|user| user.password_hash.clone())).await
    else {
        return Ok(PasswordCheck::Busy);
    };
    Ok(match user {
        Some(user) if is_right && user.status == Status::Active => PasswordCheck::Accepted(user),
        other => PasswordCheck::Rejected(other),
    })
}

/// How the user proved who it is, as `amr` lists it. A second factor will add "2fa".
pub(crate) const AUTHENTICATION_METHODS: &str = "password";

#[cfg(test)]
mod tests;
