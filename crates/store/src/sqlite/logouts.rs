//! Back-channel logouts in SQLite.

use std::time::Duration;

use async_trait::async_trait;
use domain::{AccountId, ClientId, Guid, Random, Realm, Ticks};
use rusqlite::{Connection, OptionalExtension, params};

use super::audit::append_audit;
use super::directory::change;
use super::rows::parse;
use super::{SqliteStore, exists, store_error};
use crate::audit::Act;
use crate::logouts::{EndedSession, new_logout};
use crate::mails::stored_error;
use crate::{
    AuditContext, EndedSessions, GrantSession, LeasedLogout, Logout, LogoutEnd, LogoutProgress, Logouts,
    Result, Status,
};

/// Parameter 1 is the time.
const IS_DUE: &str = "ended_at IS NULL AND next_at <= ?1 AND leased_until <= ?1";
const LOGOUT: &str = "SELECT id, client_id, user_id, session_id, created_at, expires_at";

/// Deletes a session by the hash of its cookie and queues the logouts of its clients. `successor`: the session that takes its
/// place in the same browser; with the same id, the clients take part in it too.
pub(super) fn end_session(
    writer: &Connection,
    random: &dyn Random,
    hash: &[u8; 32],
    successor: Option<GrantSession>,
    act: &Act,
) -> Result<bool> {
    let ended: Option<EndedSession> = writer
        .prepare_cached("DELETE FROM sessions WHERE hash = ?1 RETURNING id, user_id, realm, expires_at")
        .and_then(|mut end| end.query_row([hash], parse).optional())
        .map_err(store_error)?;
    let Some(ended) = ended else { return Ok(false) };
    match successor.filter(|successor| successor.id == ended.id) {
        Some(GrantSession { id, expires_at }) => {
            let sql = "UPDATE session_clients SET expires_at = ?2 WHERE session_id = ?1";
            change(writer, sql, params![id.as_bytes(), expires_at.0])?;
        }
        None => queue(writer, random, &ended, act)?,
    }
    Ok(true)
}

/// Deletes sessions of an account and queues the logouts of their clients. Returns the realm of each.
pub(super) fn end_sessions(
    writer: &Connection,
    random: &dyn Random,
    account: &AccountId,
    which: EndedSessions,
    act: &Act,
) -> Result<Vec<Realm>> {
    let [one, kept] = <[_; 2]>::from(which.one_and_kept()).map(|id| id.map(|id| *id.as_bytes()));
    let ended: Vec<EndedSession> = writer
        .prepare_cached(
            "DELETE FROM sessions WHERE user_id = ?1 AND (?2 IS NULL OR id = ?2) AND (?3 IS NULL OR id <> ?3)
             RETURNING id, user_id, realm, expires_at",
        )
        .and_then(|mut end| end.query_map(params![account.as_str(), one, kept], parse)?.collect())
        .map_err(store_error)?;
    ended.iter().try_for_each(|ended| queue(writer, random, ended, act))?;
    Ok(ended.iter().map(|ended| ended.realm).collect())
}

/// Queues the logouts of the clients of an ended session.
fn queue(writer: &Connection, random: &dyn Random, ended: &EndedSession, act: &Act) -> Result<()> {
    if ended.is_told(act.at) {
        let clients: Vec<Box<str>> = writer
            .prepare_cached("SELECT client_id FROM session_clients WHERE session_id = ?1 ORDER BY client_id")
            .and_then(|mut all| all.query_map([ended.id.as_bytes()], |row| row.get(0))?.collect())
            .map_err(store_error)?;
        for client in clients {
            queue_one(writer, random, ended.id, &ended.account, &ClientId::new(client), act)?;
        }
    }
    change(writer, "DELETE FROM session_clients WHERE session_id = ?1", [ended.id.as_bytes()]).map(drop)
}

/// Queues the logout of a client, if it is active and wants to be told.
fn queue_one(
    writer: &Connection,
    random: &dyn Random,
    session: Guid,
    user: &AccountId,
    client: &ClientId,
    act: &Act,
) -> Result<()> {
    let is_told = writer
        .prepare_cached(
            "SELECT 1 FROM clients WHERE id = ?1 AND standing = ?2 AND backchannel_logout_uri IS NOT NULL",
        )
        .and_then(|mut find| find.exists(params![client.as_str(), Status::Active.code()]))
        .map_err(store_error)?;
    if !is_told {
        return Ok(());
    }
    let logout = new_logout(random.guid(), session, user, client, act);
    writer
        .prepare_cached(
            "INSERT INTO logouts (id, client_id, user_id, session_id, created_at, attempts, next_at, leased_until,
                 last_error, state, expires_at)
             VALUES (?1, ?2, ?3, ?4, ?5, 0, ?5, 0, '', 0, ?6)",
        )
        .and_then(|mut add| {
            add.execute(params![
                logout.id.as_bytes(),
                logout.client.as_str(),
                logout.user.as_str(),
                logout.session.as_bytes(),
                logout.created_at.0,
                logout.expires_at.0
            ])
        })
        .map_err(exists(format!("a logout \"{}\"", logout.id)))?;
    append_audit(writer, random, act.logout_queued(&logout))
}

/// Notes that a client gets an id_token in a session; where it has ended, the client's logout is queued at once.
pub(super) fn join(
    writer: &Connection,
    random: &dyn Random,
    session: GrantSession,
    (user, client): (&AccountId, &ClientId),
    act: &Act,
) -> Result<()> {
    let expires_at: Option<i64> = writer
        .prepare_cached("SELECT max(expires_at) FROM sessions WHERE user_id = ?1 AND id = ?2")
        .and_then(|mut find| find.query_row(params![user.as_str(), session.id.as_bytes()], |row| row.get(0)))
        .map_err(store_error)?;
    match expires_at {
        Some(expires_at) => change(
            writer,
            "INSERT INTO session_clients (session_id, client_id, expires_at) VALUES (?1, ?2, ?3)
             ON CONFLICT DO NOTHING",
            params![session.id.as_bytes(), client.as_str(), expires_at],
        )
        .map(drop),
        None if session.expires_at > act.at => queue_one(writer, random, session.id, user, client, act),
        None => Ok(()),
    }
}

fn lease(writer: &Connection, now: Ticks, until: Ticks, logouts_max: i64) -> Result<Vec<LeasedLogout>> {
    let find =
        format!("{LOGOUT}, attempts + 1 AS attempts FROM logouts WHERE {IS_DUE} ORDER BY next_at LIMIT ?2");
    let leased: Vec<LeasedLogout> = writer
        .prepare_cached(&find)
        .and_then(|mut find| {
            find.query_map([now.0, logouts_max], |row| {
                let attempts = row.get("attempts")?;
                Ok(LeasedLogout { logout: parse(row)?, attempts, leased_until: until })
            })?
            .collect()
        })
        .map_err(store_error)?;
    for one in &leased {
        change(
            writer,
            "UPDATE logouts SET attempts = attempts + 1, leased_until = ?2 WHERE id = ?1",
            params![one.logout.id.as_bytes(), until.0],
        )?;
    }
    Ok(leased)
}

#[async_trait]
impl Logouts for SqliteStore {
    async fn join_session(
        &self,
        session: GrantSession,
        user: &AccountId,
        client: &ClientId,
        context: &AuditContext,
    ) -> Result<()> {
        let (act, random) = (self.act(context), self.ports().random.clone());
        let (user, client) = (user.clone(), client.clone());
        self.write(move |writer| join(writer, &*random, session, (&user, &client), &act)).await
    }

    async fn due_logouts(
        &self,
        now: Ticks,
        duration: Duration,
        logouts_max: usize,
    ) -> Result<Vec<LeasedLogout>> {
        // Looking for logouts when there are none does not reach the writer.
        let any = format!("SELECT EXISTS (SELECT 1 FROM logouts WHERE {IS_DUE})");
        let is_any: bool = self.read(|reader| {
            reader
                .prepare_cached(&any)
                .and_then(|mut any| any.query_row([now.0], |row| row.get(0)))
                .map_err(store_error)
        })?;
        if !is_any {
            return Ok(Vec::new());
        }
        let (until, logouts_max) = (now + duration, i64::try_from(logouts_max).unwrap_or(i64::MAX));
        self.write(move |writer| lease(writer, now, until, logouts_max)).await
    }

    async fn logout_ended(&self, logout: &Logout, end: &LogoutEnd, at: Ticks) -> Result<bool> {
        let random = self.ports().random.clone();
        let entry = Act::new(at, &AuditContext::default()).logout_ended(logout, end);
        let (id, state, error) = (logout.id, end.state().code(), stored_error(end.error()));
        self.write(move |writer| {
            let ended = change(
                writer,
                "UPDATE logouts SET ended_at = ?2, state = ?3, last_error = ?4, leased_until = 0
                 WHERE id = ?1 AND ended_at IS NULL",
                params![id.as_bytes(), at.0, state, error],
            )?;
            if ended {
                append_audit(writer, &*random, entry)?;
            }
            Ok(ended)
        })
        .await
    }

    async fn logout_failed(&self, leased: &LeasedLogout, error: &str, next_at: Ticks) -> Result<bool> {
        let (id, leased_until, error) = (leased.logout.id, leased.leased_until, stored_error(error));
        self.write(move |writer| {
            change(
                writer,
                "UPDATE logouts SET last_error = ?3, next_at = ?4, leased_until = 0
                 WHERE id = ?1 AND leased_until = ?2 AND ended_at IS NULL",
                params![id.as_bytes(), leased_until.0, error, next_at.0],
            )
        })
        .await
    }

    async fn last_logout(&self, client: &ClientId) -> Result<Option<LogoutProgress>> {
        let sql = format!(
            "{LOGOUT}, attempts, state, last_error, ended_at FROM logouts
             WHERE client_id = ?1 ORDER BY created_at DESC, id DESC LIMIT 1"
        );
        self.read(|reader| {
            reader
                .prepare_cached(&sql)
                .and_then(|mut find| find.query_row([client.as_str()], parse).optional())
                .map_err(store_error)
        })
    }
}
