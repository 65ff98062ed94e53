//! Browser sessions, looked up by the keyed hash of the cookie.

use async_trait::async_trait;
use domain::{AccountId, Secret, Ticks};

use crate::{AuditEntry, Result};

/// Purpose of the keyed hash.
pub(crate) const SESSION: &str = "session";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub user: AccountId,
    pub authenticated_at: Ticks,
    /// The authentication methods, space-separated, as in the `amr` claim.
    pub methods: String,
    pub expires_at: Ticks,
}

#[async_trait]
pub trait Sessions: Send + Sync + 'static {
    /// Creates a session under a new id, ends the browser's previous session, and audits the sign-in. It confirms the
    /// access of a user who was restored from a backup.
    async fn begin_session(
        &self,
        id: &Secret,
        session: &Session,
        replaced: Option<&Secret>,
        entry: &AuditEntry,
    ) -> Result<()>;

    /// A session that has not expired.
    async fn find_session(&self, id: &Secret, now: Ticks) -> Result<Option<Session>>;

    /// Ends a session and audits it; false, and no audit entry, if there was none.
    async fn end_session(&self, id: &Secret, entry: &AuditEntry) -> Result<bool>;
}
