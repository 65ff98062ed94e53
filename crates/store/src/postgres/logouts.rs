//! Back-channel logouts in PostgreSQL.

use std::time::Duration;

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::{AccountId, ClientId, Guid, Random, Realm, Ticks};
use tokio_postgres::Row;

use super::audit::append_audit;
use super::rows::{execute, limit, parse, row, rows};
use super::{PostgresStore, exists, store_error};
use crate::audit::Act;
use crate::logouts::{EndedSession, new_logout};
use crate::mails::stored_error;
use crate::rows::Columns;
use crate::{
    AuditContext, EndedSessions, GrantSession, LeasedLogout, Logout, LogoutEnd, LogoutProgress, Logouts,
    Result, Status,
};

/// Nodes skip the rows that another one is leasing.
const LEASE: &str = "WITH due AS MATERIALIZED (
         SELECT id FROM logouts WHERE ended_at IS NULL AND next_at <= $1 AND leased_until <= $1
         ORDER BY next_at LIMIT $3 FOR UPDATE SKIP LOCKED)
     UPDATE logouts SET attempts = attempts + 1, leased_until = $2 FROM due WHERE logouts.id = due.id
     RETURNING logouts.id, client_id, user_id, session_id, created_at, expires_at, attempts, next_at";

/// Deletes a session by the hash of its cookie and queues the logouts of its clients. `successor`: the session that takes its
/// place in the same browser; with the same id, the clients take part in it too.
pub(super) async fn end_session(
    on: &Transaction<'_>,
    random: &dyn Random,
    hash: &[u8; 32],
    successor: Option<GrantSession>,
    act: &Act,
) -> Result<bool> {
    let sql = "DELETE FROM sessions WHERE hash = $1 RETURNING id, user_id, realm, expires_at";
    let Some(ended) = row(on, sql, &[&hash.as_slice()]).await? else { return Ok(false) };
    let ended: EndedSession = parse(&ended)?;
    match successor.filter(|successor| successor.id == ended.id) {
        Some(GrantSession { id, expires_at }) => {
            let sql = "UPDATE session_clients SET expires_at = $2 WHERE session_id = $1";
            execute(on, sql, &[&id.as_bytes().as_slice(), &expires_at.0]).await.map_err(store_error)?;
        }
        None => queue(on, random, &ended, act).await?,
    }
    Ok(true)
}

/// Deletes sessions of an account and queues the logouts of their clients. Returns the realm of each.
pub(super) async fn end_sessions(
    on: &Transaction<'_>,
    random: &dyn Random,
    account: &AccountId,
    which: EndedSessions,
    act: &Act,
) -> Result<Vec<Realm>> {
    let [one, kept] = <[_; 2]>::from(which.one_and_kept()).map(|id| id.map(|id| id.as_bytes().to_vec()));
    let found = rows(
        on,
        "DELETE FROM sessions
         WHERE user_id = $1 AND ($2::bytea IS NULL OR id = $2) AND ($3::bytea IS NULL OR id <> $3)
         RETURNING id, user_id, realm, expires_at",
        &[&account.as_str(), &one, &kept],
    )
    .await?;
    let mut realms = Vec::with_capacity(found.len());
    for row in &found {
        let ended = parse(row)?;
        queue(on, random, &ended, act).await?;
        realms.push(ended.realm);
    }
    Ok(realms)
}

/// Queues the logouts of the clients of an ended session.
async fn queue(on: &Transaction<'_>, random: &dyn Random, ended: &EndedSession, act: &Act) -> Result<()> {
    let id = ended.id.as_bytes().as_slice();
    if ended.is_told(act.at) {
        let sql = "SELECT client_id FROM session_clients WHERE session_id = $1 ORDER BY client_id";
        for row in &rows(on, sql, &[&id]).await? {
            let client = ClientId::new(row.get::<_, Box<str>>(0));
            queue_one(on, random, ended.id, &ended.account, &client, act).await?;
        }
    }
    let sql = "DELETE FROM session_clients WHERE session_id = $1";
    execute(on, sql, &[&id]).await.map(drop).map_err(store_error)
}

/// Queues the logout of a client, if it is active and wants to be told.
async fn queue_one(
    on: &Transaction<'_>,
    random: &dyn Random,
    session: Guid,
    user: &AccountId,
    client: &ClientId,
    act: &Act,
) -> Result<()> {
    let sql = "SELECT 1 FROM clients WHERE id = $1 AND standing = $2 AND backchannel_logout_uri IS NOT NULL";
    if row(on, sql, &[&client.as_str(), &Status::Active.code()]).await?.is_none() {
        return Ok(());
    }
    let logout = new_logout(random.guid(), session, user, client, act);
    execute(
        on,
        "INSERT INTO logouts (id, client_id, user_id, session_id, created_at, attempts, next_at, leased_until,
             last_error, state, expires_at)
         VALUES ($1, $2, $3, $4, $5, 0, $5, 0, '', 0, $6)",
        &[
            &logout.id.as_bytes().as_slice(),
            &logout.client.as_str(),
            &logout.user.as_str(),
            &logout.session.as_bytes().as_slice(),
            &logout.created_at.0,
            &logout.expires_at.0,
        ],
    )
    .await
    .map_err(exists(format!("a logout \"{}\"", logout.id)))?;
    append_audit(on, random, act.logout_queued(&logout)).await
}

/// Notes that a client gets an id_token in a session; where it has ended, the client's logout is queued at once. The lock
/// makes a concurrent end of the session wait, which then finds the client.
pub(super) async fn join(
    on: &Transaction<'_>,
    random: &dyn Random,
    session: GrantSession,
    (user, client): (&AccountId, &ClientId),
    act: &Act,
) -> Result<()> {
    let id = session.id.as_bytes().as_slice();
    let sql = "SELECT expires_at FROM sessions WHERE user_id = $1 AND id = $2 FOR SHARE";
    let mut found = rows(on, sql, &[&user.as_str(), &id]).await?;
    if found.is_empty() {
        // A new sign-in may have replaced the row, under the same id, while this waited: only a new statement sees it.
        found = rows(on, sql, &[&user.as_str(), &id]).await?;
    }
    match found.iter().map(|row| row.get::<_, i64>(0)).max() {
        Some(expires_at) => execute(
            on,
            "INSERT INTO session_clients (session_id, client_id, expires_at) VALUES ($1, $2, $3)
             ON CONFLICT DO NOTHING",
            &[&id, &client.as_str(), &expires_at],
        )
        .await
        .map(drop)
        .map_err(store_error),
        None if session.expires_at > act.at => queue_one(on, random, session.id, user, client, act).await,
        None => Ok(()),
    }
}

#[async_trait]
impl Logouts for PostgresStore {
    async fn join_session(
        &self,
        session: GrantSession,
        user: &AccountId,
        client: &ClientId,
        context: &AuditContext,
    ) -> Result<()> {
        let mut connection = self.client().await?;
        let transaction = connection.transaction().await.map_err(store_error)?;
        let act = self.act(context);
        join(&transaction, &*self.ports().random, session, (user, client), &act).await?;
        transaction.commit().await.map_err(store_error)
    }

    async fn due_logouts(
        &self,
        now: Ticks,
        lease: Duration,
        logouts_max: usize,
    ) -> Result<Vec<LeasedLogout>> {
        let until = now + lease;
        let mut found = self.rows(LEASE, &[&now.0, &until.0, &limit(logouts_max)]).await?;
        found.sort_by_key(|row| row.get::<_, i64>(7));
        let leased = |row: &Row| {
            Ok(LeasedLogout { logout: parse(row)?, attempts: row.read("attempts")?, leased_until: until })
        };
        found.iter().map(leased).collect()
    }

    async fn logout_ended(&self, logout: &Logout, end: &LogoutEnd, at: Ticks) -> Result<bool> {
        let sql = "UPDATE logouts SET ended_at = $2, state = $3, last_error = $4, leased_until = 0
             WHERE id = $1 AND ended_at IS NULL";
        let (state, error) = (end.state().code(), stored_error(end.error()));
        let entry = Act::new(at, &AuditContext::default()).logout_ended(logout, end);
        self.change_audited(sql, &[&logout.id.as_bytes().as_slice(), &at.0, &state, &error], entry).await
    }

    async fn logout_failed(&self, leased: &LeasedLogout, error: &str, next_at: Ticks) -> Result<bool> {
        let sql = "UPDATE logouts SET last_error = $3, next_at = $4, leased_until = 0
             WHERE id = $1 AND leased_until = $2 AND ended_at IS NULL";
        let id = leased.logout.id;
        let error = stored_error(error);
        self.change(sql, &[&id.as_bytes().as_slice(), &leased.leased_until.0, &error, &next_at.0]).await
    }

    async fn last_logout(&self, client: &ClientId) -> Result<Option<LogoutProgress>> {
        let sql =
            "SELECT id, client_id, user_id, session_id, created_at, expires_at, attempts, state, last_error,
                 ended_at FROM logouts
             WHERE client_id = $1 ORDER BY created_at DESC, id DESC LIMIT 1";
        self.row(sql, &[&client.as_str()]).await?.as_ref().map(parse).transpose()
    }
}
