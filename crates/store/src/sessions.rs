//! Browser sessions, looked up by the keyed hash of the cookie.

use async_trait::async_trait;
use domain::{AccountId, Guid, Realm, Secret, Ticks};

use crate::{AuditContext, AuditEntry, Result, Vault};

/// An account's list of sessions has no more rows.
pub const SESSIONS_LISTED_MAX: usize = 100;

/// The keyed hash of a cookie. The purpose depends on the realm: a cookie of one realm finds nothing in another.
pub(crate) fn session_hash(vault: &Vault, realm: Realm, cookie: &Secret) -> [u8; 32] {
    let purpose = match realm {
        Realm::Users => "session",
        Realm::Developers => "developer session",
        Realm::Operators => "operator session",
    };
    vault.fingerprint(purpose, cookie)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Names the session where its owner sees it; it opens nothing.
    pub id: Guid,
    pub realm: Realm,
    pub account: AccountId,
    pub authenticated_at: Ticks,
    /// The authentication methods, space-separated, as in the `amr` claim.
    pub methods: String,
    pub expires_at: Ticks,
    /// Where the sign-in came from.
    pub address: String,
    /// The browser, as it names itself.
    pub user_agent: String,
}

/// What a sign-in rests on. Its session begins only while that holds: the password may have been changed, or the passkey
/// removed, since it was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignInProof {
    /// The hash that the password matched.
    Password(String),
    /// The id of the passkey's factor.
    Passkey(Guid),
}

#[async_trait]
pub trait Sessions: Send + Sync + 'static {
    /// Creates a session under a new cookie, ends the browser's previous session, and audits the sign-in. The clients of a
    /// previous session with the same id take part in the new one; those of another one are told that it has ended. It confirms the
    /// access of a user who was restored from a backup. `ProofVoid` where the proof does not hold any more, or the account is disabled. `SecondFactorNeeded` where the methods lack `2fa` and the account has
    /// a second factor, which may have been added since the password was verified.
    async fn begin_session(
        &self,
        cookie: &Secret,
        session: &Session,
        replaced: Option<&Secret>,
        proof: Option<&SignInProof>,
        entry: &AuditEntry,
    ) -> Result<()>;

    /// A session that has not expired.
    async fn find_session(&self, realm: Realm, cookie: &Secret, now: Ticks) -> Result<Option<Session>>;

    /// Ends a session, queues the logouts of its clients, and audits it; false, and no audit entry, if there was none.
    async fn end_session(&self, realm: Realm, cookie: &Secret, entry: &AuditEntry) -> Result<bool>;

    /// The account's sessions that have not expired: the latest first.
    async fn list_sessions(&self, account: &AccountId, now: Ticks) -> Result<Vec<Session>>;

    /// Ends sessions of an account, queues the logouts of their clients, and audits it, if there were any.
    async fn end_sessions(
        &self,
        account: &AccountId,
        which: EndedSessions,
        context: &AuditContext,
    ) -> Result<u64>;
}

/// Which sessions of an account end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedSessions {
    All,
    One(Guid),
    /// All but this one.
    AllExcept(Guid),
}

impl EndedSessions {
    #[cfg(feature = "memory")]
    pub(crate) fn includes(self, id: Guid) -> bool {
        match self {
            Self::All => true,
            Self::One(one) => id == one,
            Self::AllExcept(kept) => id != kept,
        }
    }

    /// The only session that ends, and the only one that does not.
    pub(crate) fn one_and_kept(self) -> (Option<Guid>, Option<Guid>) {
        match self {
            Self::All => (None, None),
            Self::One(one) => (Some(one), None),
            Self::AllExcept(kept) => (None, Some(kept)),
        }
    }
}
