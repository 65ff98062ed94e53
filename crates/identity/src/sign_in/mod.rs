//! Password sign-in: throttling, a bounded hashing queue, and the same work and response for known and unknown users.

mod client_failures;
mod known_browser;
mod login_throttle;
mod mail_throttle;
mod password_hasher;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use domain::figures::{Outcome, Series};
use domain::{Clock, Random, Realm, Secret, password};
use store::{Account, FigureBuffer, Status, Store, Vault};

use crate::Settings;
use crate::joined::joined_query;
pub(crate) use client_failures::ClientFailures;
pub(crate) use known_browser::COOKIE_BYTES_MAX as KNOWN_BROWSER_BYTES_MAX;
use known_browser::KnownBrowsers;
pub(crate) use login_throttle::{Admission, LoginThrottle};
pub(crate) use mail_throttle::{MailAdmission, MailThrottle};
pub(crate) use password_hasher::PasswordHasher;

/// When a browser may try again where the hashing queue is full.
pub(crate) const BUSY_SECONDS: u64 = 5;

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

/// An attempt to sign in with a password.
#[derive(Clone, Debug)]
pub(crate) struct PasswordAttempt {
    pub(crate) realm: Realm,
    /// The normalized username.
    pub(crate) account: String,
    pub(crate) password: Secret,
    pub(crate) address: IpAddr,
    /// The cookie of a browser that has signed in before.
    pub(crate) known_browser: Option<Secret>,
}

/// The result of a password attempt.
#[derive(Debug)]
pub(crate) enum PasswordCheck {
    Accepted(Account),
    /// Wrong password or inactive account; the user is for the audit only.
    Rejected(Option<Account>),
    /// Too many failures: the password was not checked.
    Throttled {
        retry_after: Duration,
    },
    /// The hashing queue is full: the password was not checked.
    Busy,
}

/// Checks passwords. Guessing is slow.
pub(crate) struct PasswordSignIn {
    store: Arc<dyn Store>,
    pub(crate) login_throttle: Arc<LoginThrottle>,
    known_browsers: KnownBrowsers,
    pub(crate) password_hasher: PasswordHasher,
    pub(crate) figures: FigureBuffer,
}

impl PasswordSignIn {
    pub(crate) fn new(
        store: &Arc<dyn Store>,
        clock: &Arc<dyn Clock>,
        vault: &Arc<Vault>,
        settings: &Settings,
    ) -> Self {
        Self {
            login_throttle: Arc::new(LoginThrottle::new(
                store.clone(),
                clock.clone(),
                settings.address_failures_max,
            )),
            known_browsers: KnownBrowsers { vault: vault.clone() },
            password_hasher: PasswordHasher::new(settings.hashing_parallel, settings.hashing_queue_max),
            store: store.clone(),
            figures: FigureBuffer::default(),
        }
    }

    /// Makes an attempt. It goes on to its end when the caller is cancelled, because a token that it has taken must be
    /// accounted for.
    pub(crate) async fn attempt(self: &Arc<Self>, attempt: PasswordAttempt) -> store::Result<PasswordCheck> {
        let sign_in = self.clone();
        let task = tokio::spawn(async move { sign_in.run_attempt(attempt).await });
        joined_query(task).await
    }

    async fn run_attempt(&self, attempt: PasswordAttempt) -> store::Result<PasswordCheck> {
        if self.password_hasher.is_full() {
            warn_of_full_queue();
            return Ok(PasswordCheck::Busy);
        }
        let user = self.store.find_account_by_email(attempt.realm, &attempt.account).await?;
        let cookie = attempt.known_browser.as_ref();
        let browser = user.as_ref().and_then(|user| self.known_browsers.recognise(cookie, user));
        let buckets = match browser {
            Some(browser) => LoginThrottle::known_browser_bucket(browser),
            None => self.login_throttle.password_buckets(attempt.realm, &attempt.account, attempt.address),
        };
        if let Admission::Refused { retry_after } = self.login_throttle.admit(&buckets).await? {
            self.count(Outcome::Limited);
            return Ok(PasswordCheck::Throttled { retry_after });
        }
        // Read again: the password may have changed while the attempt waited.
        let user = self.store.find_account_by_email(attempt.realm, &attempt.account).await?;
        let check = self.check(attempt.password, user).await;
        let is_wrong = matches!(check, PasswordCheck::Rejected(_));
        self.login_throttle.end(&buckets, is_wrong).await?;
        self.count(match check {
            PasswordCheck::Accepted(_) => Outcome::Succeeded,
            PasswordCheck::Rejected(_) => Outcome::Refused,
            PasswordCheck::Throttled { .. } => Outcome::Limited,
            PasswordCheck::Busy => Outcome::Failed,
        });
        Ok(check)
    }

    fn count(&self, outcome: Outcome) {
        self.figures.count(Series::SignIns, outcome, None);
    }

    /// Computes one hash whether the user exists or not.
    async fn check(&self, password: Secret, user: Option<Account>) -> PasswordCheck {
        if password.reveal().len() > password::PASSWORD_BYTES_MAX {
            return PasswordCheck::Rejected(user);
        }
        let hash = user.as_ref().map(|user| user.password_hash.clone());
        match (self.password_hasher.matches(password, hash).await, user) {
            (None, _) => {
                warn_of_full_queue();
                PasswordCheck::Busy
            }
            (Some(true), Some(user)) if user.status != Status::Disabled => PasswordCheck::Accepted(user),
            (Some(_), user) => PasswordCheck::Rejected(user),
        }
    }

    /// The id of a browser that has signed in to this account before, with its present password.
    pub(crate) fn recognised_browser(&self, cookie: Option<&Secret>, account: &Account) -> Option<String> {
        self.known_browsers.recognise(cookie, account).map(str::to_owned)
    }

    /// The cookie that makes a browser known to this account.
    pub(crate) fn known_browser_cookie(
        &self,
        cookie: Option<&Secret>,
        user: &Account,
        random: &dyn Random,
    ) -> Secret {
        self.known_browsers.renew(cookie, user, random)
    }
}

fn warn_of_full_queue() {
    tracing::warn!("the queue for password hashes is full; raise identity.hashing_queue_max or add cores");
}

/// The authentication methods of a password sign-in, for `amr`.
pub(crate) const AUTHENTICATION_METHODS: &str = "password";

#[cfg(test)]
mod tests;
