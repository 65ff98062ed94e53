//! Outgoing mails in SQLite.

use std::time::Duration;

use async_trait::async_trait;
use domain::{Guid, Ticks};
use rusqlite::{Connection, params};

use super::directory::change;
use super::rows::parse;
use super::{SqliteStore, exists, store_error};
use crate::mails::{MailRow, SealedMail, stored_error};
use crate::{LeasedMail, Mail, MailFailure, Mails, Result};

/// Parameter 1 is the time. `+` rules out the index on `expires_at`.
const IS_DUE: &str = "sent_at IS NULL AND next_at <= ?1 AND leased_until <= ?1 AND +expires_at > ?1";

/// Queues a mail within the caller's transaction.
pub(super) fn queue_mail(writer: &Connection, mail: &SealedMail) -> Result<()> {
    writer
        .prepare_cached(
            "INSERT INTO mails (id, kind, recipient, lang, sealed, created_at, attempts, next_at, leased_until,
                 last_error, expires_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?6, 0, '', ?7)",
        )
        .and_then(|mut add| {
            add.execute(params![
                mail.id.as_bytes(),
                mail.kind,
                mail.recipient,
                mail.lang,
                mail.sealed,
                mail.created_at.0,
                mail.expires_at.0
            ])
        })
        .map(|_| ())
        .map_err(exists(format!("a mail \"{}\"", mail.id)))
}

fn lease(writer: &Connection, now: Ticks, until: Ticks, mails_max: i64) -> Result<Vec<MailRow>> {
    let find = format!(
        "SELECT id, kind, recipient, lang, sealed, created_at, expires_at, attempts + 1 AS attempts FROM mails
         WHERE {IS_DUE} ORDER BY next_at LIMIT ?2"
    );
    let rows: Vec<MailRow> = writer
        .prepare_cached(&find)
        .and_then(|mut find| find.query_map([now.0, mails_max], parse)?.collect())
        .map_err(store_error)?;
    for row in &rows {
        change(
            writer,
            "UPDATE mails SET attempts = attempts + 1, leased_until = ?2 WHERE id = ?1",
            params![row.mail.id.as_bytes(), until.0],
        )?;
    }
    Ok(rows)
}

#[async_trait]
impl Mails for SqliteStore {
    async fn queue_mail(&self, mail: &Mail) -> Result<()> {
        let sealed = SealedMail::of(mail, &self.ports().vault, &*self.ports().random)?;
        self.write(move |writer| queue_mail(writer, &sealed)).await
    }

    async fn due_mails(&self, now: Ticks, duration: Duration, mails_max: usize) -> Result<Vec<LeasedMail>> {
        // Looking for mails when there are none does not reach the writer.
        let any = format!("SELECT EXISTS (SELECT 1 FROM mails WHERE {IS_DUE})");
        let is_any: bool = self.read(|reader| {
            reader
                .prepare_cached(&any)
                .and_then(|mut any| any.query_row([now.0], |row| row.get(0)))
                .map_err(store_error)
        })?;
        if !is_any {
            return Ok(Vec::new());
        }
        let (until, mails_max) = (now + duration, i64::try_from(mails_max).unwrap_or(i64::MAX));
        let rows = self.write(move |writer| lease(writer, now, until, mails_max)).await?;
        rows.into_iter().map(|row| row.open(until, &self.ports().vault)).collect()
    }

    async fn mail_sent(&self, id: Guid, at: Ticks) -> Result<bool> {
        self.write(move |writer| {
            change(
                writer,
                "UPDATE mails SET sent_at = ?2, sealed = x'', last_error = ''
                 WHERE id = ?1 AND sent_at IS NULL",
                params![id.as_bytes(), at.0],
            )
        })
        .await
    }

    async fn mail_failed(&self, mail: &LeasedMail, failure: &MailFailure) -> Result<bool> {
        let (id, leased_until) = (mail.mail.id, mail.leased_until);
        let (error, next_at) = (stored_error(&failure.error), failure.next_at);
        self.write(move |writer| {
            change(
                writer,
                "UPDATE mails SET last_error = ?3, next_at = ?4, leased_until = 0
                 WHERE id = ?1 AND leased_until = ?2 AND sent_at IS NULL",
                params![id.as_bytes(), leased_until.0, error, next_at.0],
            )
        })
        .await
    }

    async fn waiting_mails(&self, now: Ticks) -> Result<u64> {
        let sql = "SELECT count(*) FROM mails WHERE sent_at IS NULL AND +expires_at > ?1";
        let count: i64 = self.read(|reader| {
            reader
                .prepare_cached(sql)
                .and_then(|mut count| count.query_row([now.0], |row| row.get(0)))
                .map_err(store_error)
        })?;
        Ok(count.unsigned_abs())
    }
}
