//! Back-channel logouts: which clients take part in a session, and the queue of the clients that have yet to be told that it
//! has ended. The transaction that ends a session queues its logouts. A node leases a logout before it sends it, so that no
//! other node sends it too.

use std::time::Duration;

use async_trait::async_trait;
use domain::{AccountId, ClientId, Guid, Realm, Ticks};

use crate::audit::Act;
use crate::{AuditContext, Result};

/// No attempt is made later than this after the end of the session.
pub const LOGOUT_LIFE: Duration = Duration::from_hours(24);

/// A session in which a client gets an id_token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantSession {
    pub id: Guid,
    pub expires_at: Ticks,
}

/// A client that is told that a session of a user has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logout {
    pub id: Guid,
    pub client: ClientId,
    pub user: AccountId,
    /// The id of the ended session.
    pub session: Guid,
    /// When the session ended.
    pub created_at: Ticks,
    /// No attempt is made from here on.
    pub expires_at: Ticks,
}

/// A logout that this caller alone may send until `leased_until`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeasedLogout {
    pub logout: Logout,
    /// How many attempts have started, with this one.
    pub attempts: u32,
    pub leased_until: Ticks,
}

/// How a logout ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogoutEnd {
    /// The client has accepted it.
    Delivered,
    /// No further attempt is made; why.
    Failed(String),
}

/// Where a logout stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogoutState {
    Waiting,
    Delivered,
    Failed,
}

impl LogoutState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
        }
    }

    pub(crate) fn from_code(code: i64) -> Self {
        match code {
            0 => Self::Waiting,
            1 => Self::Delivered,
            _ => Self::Failed,
        }
    }

    pub(crate) fn code(self) -> i64 {
        match self {
            Self::Waiting => 0,
            Self::Delivered => 1,
            Self::Failed => 2,
        }
    }
}

/// What became of a logout so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogoutProgress {
    pub logout: Logout,
    pub state: LogoutState,
    pub attempts: u32,
    /// Why the last attempt failed; empty if none has.
    pub error: String,
    /// When it was delivered or given up.
    pub ended_at: Option<Ticks>,
}

/// The service itself sends logouts; the causing mutation queues them. Their end is audited in the service's name.
#[async_trait]
pub trait Logouts: Send + Sync + 'static {
    /// Notes that a client gets an id_token in a session of the user. Where the session has ended meanwhile, the client's
    /// logout is queued at once.
    async fn join_session(
        &self,
        session: GrantSession,
        user: &AccountId,
        client: &ClientId,
        context: &AuditContext,
    ) -> Result<()>;

    /// Leases up to `logouts_max` logouts that are due, those that have waited longest first, also those whose time is over:
    /// the caller ends them. One whose lease has ended without a result, because its node failed, is due again.
    async fn due_logouts(&self, now: Ticks, lease: Duration, logouts_max: usize)
    -> Result<Vec<LeasedLogout>>;

    /// Ends a logout and audits it, also if the lease has ended meanwhile. False if it ended before, or is unknown.
    async fn logout_ended(&self, logout: &Logout, end: &LogoutEnd, at: Ticks) -> Result<bool>;

    /// Ends the lease of a logout that is tried again at `next_at`. False if the lease is another one by now, or the logout
    /// has ended.
    async fn logout_failed(&self, leased: &LeasedLogout, error: &str, next_at: Ticks) -> Result<bool>;

    /// The newest logout of a client.
    async fn last_logout(&self, client: &ClientId) -> Result<Option<LogoutProgress>>;
}

/// A session that is deleted.
#[derive(Clone, Debug)]
pub(crate) struct EndedSession {
    pub(crate) id: Guid,
    pub(crate) account: AccountId,
    pub(crate) realm: Realm,
    pub(crate) expires_at: Ticks,
}

impl EndedSession {
    /// Whether its clients are told: only users sign in to clients, and nobody ended a session that expired by itself.
    pub(crate) fn is_told(&self, now: Ticks) -> bool {
        self.realm == Realm::Users && self.expires_at > now
    }
}

/// The logout of one client.
pub(crate) fn new_logout(id: Guid, session: Guid, user: &AccountId, client: &ClientId, act: &Act) -> Logout {
    Logout {
        id,
        client: client.clone(),
        user: user.clone(),
        session,
        created_at: act.at,
        expires_at: act.at + LOGOUT_LIFE,
    }
}

impl LogoutEnd {
    pub(crate) fn state(&self) -> LogoutState {
        match self {
            Self::Delivered => LogoutState::Delivered,
            Self::Failed(_) => LogoutState::Failed,
        }
    }

    pub(crate) fn error(&self) -> &str {
        match self {
            Self::Delivered => "",
            Self::Failed(why) => why,
        }
    }
}
