//! Outgoing mails in PostgreSQL.

use std::time::Duration;

use async_trait::async_trait;
use deadpool_postgres::GenericClient;
use domain::{Guid, Ticks};

use super::rows::{limit, parse};
use super::{PostgresStore, exists, store_error};
use crate::mails::{MailRow, SealedMail, stored_error};
use crate::{LeasedMail, Mail, MailFailure, Mails, Result};

/// Nodes skip the rows that another one is leasing. `+ 0` rules out the index on `expires_at`.
const LEASE: &str = "WITH due AS MATERIALIZED (
         SELECT id FROM mails
         WHERE sent_at IS NULL AND next_at <= $1 AND leased_until <= $1 AND expires_at + 0 > $1
         ORDER BY next_at LIMIT $3 FOR UPDATE SKIP LOCKED)
     UPDATE mails SET attempts = attempts + 1, leased_until = $2 FROM due WHERE mails.id = due.id
     RETURNING mails.id, kind, recipient, lang, sealed, created_at, expires_at, attempts, next_at";

/// Queues a mail within the caller's transaction.
pub(super) async fn queue_mail(on: &impl GenericClient, mail: &SealedMail) -> Result<()> {
    let add = on
        .prepare_cached(
            "INSERT INTO mails (id, kind, recipient, lang, sealed, created_at, attempts, next_at, leased_until,
                 last_error, expires_at)
             VALUES ($1, $2, $3, $4, $5, $6, 0, $6, 0, '', $7)",
        )
        .await
        .map_err(store_error)?;
    on.execute(
        &add,
        &[
            &mail.id.as_bytes().as_slice(),
            &mail.kind,
            &mail.recipient,
            &mail.lang,
            &mail.sealed,
            &mail.created_at.0,
            &mail.expires_at.0,
        ],
    )
    .await
    .map(|_| ())
    .map_err(exists(format!("a mail \"{}\"", mail.id)))
}

#[async_trait]
impl Mails for PostgresStore {
    async fn queue_mail(&self, mail: &Mail) -> Result<()> {
        let sealed = SealedMail::of(mail, &self.ports().vault, &*self.ports().random)?;
        queue_mail(&*self.client().await?, &sealed).await
    }

    async fn due_mails(&self, now: Ticks, lease: Duration, mails_max: usize) -> Result<Vec<LeasedMail>> {
        let until = now + lease;
        let mut found = self.rows(LEASE, &[&now.0, &until.0, &limit(mails_max)]).await?;
        found.sort_by_key(|row| row.get::<_, i64>(8));
        found.iter().map(|row| parse::<MailRow>(row)?.open(until, &self.ports().vault)).collect()
    }

    async fn mail_sent(&self, id: Guid, at: Ticks) -> Result<bool> {
        let sql = "UPDATE mails SET sent_at = $2, sealed = '', last_error = ''
             WHERE id = $1 AND sent_at IS NULL";
        self.change(sql, &[&id.as_bytes().as_slice(), &at.0]).await
    }

    async fn mail_failed(&self, mail: &LeasedMail, failure: &MailFailure) -> Result<bool> {
        let sql = "UPDATE mails SET last_error = $3, next_at = $4, leased_until = 0
             WHERE id = $1 AND leased_until = $2 AND sent_at IS NULL";
        let id = mail.mail.id;
        let error = stored_error(&failure.error);
        self.change(sql, &[&id.as_bytes().as_slice(), &mail.leased_until.0, &error, &failure.next_at.0]).await
    }

    async fn waiting_mails(&self, now: Ticks) -> Result<u64> {
        let sql = "SELECT count(*) FROM mails WHERE sent_at IS NULL AND expires_at + 0 > $1";
        let count = self.row(sql, &[&now.0]).await?;
        Ok(count.map_or(0, |row| row.get::<_, i64>(0).unsigned_abs()))
    }
}
