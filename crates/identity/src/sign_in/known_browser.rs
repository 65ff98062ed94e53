//! Recognises browsers that have signed in to an account before. Their cookie has a random id and, for each account, a
//! keyed hash of that id, the account and its password hash: it proves nothing about other accounts and ends with the
//! password.

use std::sync::Arc;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use domain::secret::base64url;
use domain::{Random, Secret};
use store::{Account, Vault};

const PURPOSE: &str = "known browser";
const SEPARATOR: char = '.';
/// Accounts that one browser is recognised for; the oldest is dropped.
const ACCOUNTS_MAX: usize = 8;
/// A longer cookie is ignored.
pub(crate) const COOKIE_BYTES_MAX: usize = 43 + ACCOUNTS_MAX * 44;

pub(crate) struct KnownBrowsers {
    pub(crate) vault: Arc<Vault>,
}

impl KnownBrowsers {
    /// The browser's id if it has signed in to this account, with the password that the account has now.
    pub(crate) fn recognise<'a>(&self, cookie: Option<&'a Secret>, user: &Account) -> Option<&'a str> {
        let (id, mut marks) = parts(cookie?)?;
        let own = self.mark(id, user);
        marks.any(|mark| verify_slices_are_equal(mark.as_bytes(), own.as_bytes()).is_ok()).then_some(id)
    }

    /// The cookie after a sign-in to this account.
    pub(crate) fn renew(&self, cookie: Option<&Secret>, user: &Account, random: &dyn Random) -> Secret {
        let (id, marks) = match cookie.and_then(parts) {
            Some((id, marks)) => (id.to_owned(), marks.map(str::to_owned).collect()),
            None => (random.token(), Vec::new()),
        };
        let own = self.mark(&id, user);
        let others = marks.into_iter().filter(|mark| *mark != own).take(ACCOUNTS_MAX - 1);
        let text = [id, own.clone()].into_iter().chain(others).collect::<Vec<_>>();
        Secret::new(text.join(&SEPARATOR.to_string()))
    }

    fn mark(&self, id: &str, user: &Account) -> String {
        let bound = Secret::new(format!("{id}\0{}\0{}", user.id.as_str(), user.password_hash));
        base64url(&self.vault.fingerprint(PURPOSE, &bound))
    }
}

/// The id and the marks of a cookie.
fn parts(cookie: &Secret) -> Option<(&str, impl Iterator<Item = &str>)> {
    let (id, marks) = cookie.reveal().split_once(SEPARATOR)?;
    Some((id, marks.split(SEPARATOR).take(ACCOUNTS_MAX)))
}
