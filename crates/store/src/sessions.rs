//! Sessions: a browser in which somebody has signed in. Found by the keyed hash of the cookie.

use async_trait::async_trait;
use domain::{Secret, Ticks, UserId};

use crate::{AuditEntry, Result};

/// Purpose of the fingerprint.
pub(crate) const SESSION: &str = "session";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub user: UserId,
    pub authenticated_at: Ticks,
    /// How the user proved who it is, space-separated, as `amr` lists it.
    pub methods: String,
    pub expires_at: Ticks,
}

#[async_trait]
pub trait Sessions: Send + Sync + 'static {
    /// Begins a session under a new id, ends the one that the browser had, and records the sign-in.
    async fn begin_session(
        &self,
        id: &Secret,
        session: &Session,
        replaced: Option<&Secret>,
        entry: &AuditEntry,
    ) -> Result<()>;

    /// A session that has not expired.
    async fn find_session(&self, id: &Secret, now: Ticks) -> Result<Option<Session>>;

    /// Ends a session and records it; false where there was none (and then records nothing).
    async fn end_session(&self, id: &Secret, entry: &AuditEntry) -> Result<bool>;
}
