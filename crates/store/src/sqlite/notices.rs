//! Notices to teams in SQLite.

use async_trait::async_trait;
use domain::{AccountId, Guid, NoticeKind, NoticeKinds, NoticeObject, Random, TeamId, Ticks, WebhookId};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use super::audit::append_audit;
use super::directory::change;
use super::mails::queue_mail;
use super::rows::parse;
use super::{SqliteStore, store_error};
use crate::mails::SealedMail;
use crate::notices::{
    ENDING_WITHIN, EndingTeamCredential, FAILING_AFTER, failing_notice_stands_from, mailed,
};
use crate::rows::{Columns, SqliteRow};
use crate::webhooks::WebhookNotice;
use crate::{
    AuditContext, Mail, NOTICES_MAX, Notice, NoticePage, NoticeQuery, NoticeReader, NoticeSettings, Notices,
    Result, Status, UNREAD_NOTICES_MAX, WebhookFailure,
};

const NOTICE: &str = "SELECT id, team_id, kind, object, subject, name, detail, since, at FROM notices";
/// Replaced keys of teams that end between two times and have no notice yet.
const ENDING_KEYS: &str = "SELECT s.team_id, s.id, s.name, k.slot, k.valid_until AS ends_at
     FROM subscription_keys k JOIN subscriptions s ON s.id = k.subscription_id
     WHERE k.valid_until > ?1 AND k.valid_until <= ?2 AND s.team_id IS NOT NULL AND s.cancelled_at IS NULL
         AND NOT EXISTS (SELECT 1 FROM notices n
             WHERE n.team_id = s.team_id AND n.kind = ?4 AND n.subject = s.id AND n.since = k.valid_until)
     ORDER BY k.valid_until LIMIT ?3";
/// Replaced secrets of teams' clients, in the same way.
const ENDING_SECRETS: &str = "SELECT c.team_id, c.id, c.name, 0 AS slot, c.old_secret_until AS ends_at FROM clients c
     WHERE c.old_secret_until > ?1 AND c.old_secret_until <= ?2 AND c.team_id IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM notices n
             WHERE n.team_id = c.team_id AND n.kind = ?4 AND n.subject = c.id AND n.since = c.old_secret_until)
     ORDER BY c.old_secret_until LIMIT ?3";

fn all<T>(
    reader: &Connection,
    sql: &str,
    args: impl Params,
    row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    reader.prepare_cached(sql).and_then(|mut all| all.query_map(args, row)?.collect()).map_err(store_error)
}

/// Adds a notice within the caller's transaction; false if the team has it.
pub(super) fn insert_notice(writer: &Connection, one: &Notice) -> Result<bool> {
    change(
        writer,
        "INSERT INTO notices (id, team_id, kind, object, subject, name, detail, since, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING",
        params![
            one.id.as_bytes(),
            one.team.as_str(),
            one.kind.code(),
            one.object.as_str(),
            one.subject,
            one.name,
            one.detail,
            one.since.0,
            one.at.0
        ],
    )
}

/// Adds the notices of a checkpoint for webhooks of teams.
pub(super) fn insert_webhook_notices(
    writer: &Connection,
    random: &dyn Random,
    notices: &[WebhookNotice],
    now: Ticks,
) -> Result<()> {
    for one in notices {
        change(
            writer,
            "INSERT INTO notices (id, team_id, kind, object, subject, name, detail, since, at)
             SELECT ?1, c.team_id, ?2, ?3, ?4, w.name, ?5, ?6, ?7
             FROM webhooks w JOIN clients c ON c.id = w.client_id
             WHERE w.tenant_no = ?8 AND w.id = ?9 AND c.team_id IS NOT NULL ON CONFLICT DO NOTHING",
            params![
                random.guid().as_bytes(),
                one.kind.code(),
                NoticeObject::Webhook.as_str(),
                one.key.webhook.to_string(),
                one.detail,
                one.since.0,
                now.0,
                one.key.tenant_no,
                one.key.webhook.as_bytes()
            ],
        )?;
    }
    Ok(())
}

/// The notice of a webhook that has failed for long, unless the team has one.
fn failing_notice(reader: &Connection, id: Guid, webhook: WebhookId, now: Ticks) -> Result<Option<Notice>> {
    let sql = "SELECT c.team_id, w.name, (SELECT min(l.first_failed_at) FROM lanes l
                 WHERE l.tenant_no = w.tenant_no AND l.webhook = w.id AND l.attempts > 0) AS since
         FROM webhooks w JOIN clients c ON c.id = w.client_id
         WHERE w.id = ?1 AND c.team_id IS NOT NULL AND w.enabled = 1 AND w.disabled_at IS NULL
             AND w.suspended_at IS NULL AND w.unsubscribed_at IS NULL AND w.deleted_at IS NULL";
    let found = |row: &Row<'_>| {
        let row = SqliteRow::new(row);
        Ok((row.read("team_id")?, row.read("name")?, row.read::<Option<Ticks>>("since")?))
    };
    let failing: Option<(TeamId, String, Option<Ticks>)> = reader
        .prepare_cached(sql)
        .and_then(|mut find| find.query_row([webhook.as_bytes()], found).optional())
        .map_err(store_error)?;
    let Some((team, name, Some(since))) =
        failing.filter(|(_, _, since)| since.is_some_and(|since| since <= now.minus(FAILING_AFTER)))
    else {
        return Ok(None);
    };
    let (kind, subject) = (NoticeKind::WebhookFailing, webhook.to_string());
    let has_one = reader
        .prepare_cached(
            "SELECT 1 FROM notices WHERE team_id = ?1 AND kind = ?2 AND subject = ?3 AND +at >= ?4",
        )
        .and_then(|mut find| {
            find.exists(params![
                team.as_str(),
                kind.code(),
                subject,
                failing_notice_stands_from(since, now).0
            ])
        })
        .map_err(store_error)?;
    let object = NoticeObject::Webhook;
    let notice = Notice { id, team, kind, object, subject, name, detail: String::new(), since, at: now };
    Ok((!has_one).then_some(notice))
}

/// The notices of keys and secrets that are about to end, without ids.
fn ending(reader: &Connection, now: Ticks, rows_max: usize) -> Result<Vec<Notice>> {
    let rows_max = i64::try_from(rows_max).unwrap_or(i64::MAX);
    let mut found = Vec::new();
    for (sql, kind, object) in [
        (ENDING_KEYS, NoticeKind::KeyEnds, NoticeObject::Subscription),
        (ENDING_SECRETS, NoticeKind::ClientSecretEnds, NoticeObject::Client),
    ] {
        let notice = |row: &Row<'_>| {
            Ok(parse::<EndingTeamCredential>(row)?.notice(kind, object, Guid::from_bytes([0; 16]), now))
        };
        let args = params![now.0, (now + ENDING_WITHIN).0, rows_max, kind.code()];
        found.extend(all(reader, sql, args, notice)?);
    }
    Ok(found)
}

fn mark_mailed(writer: &Connection, notices: &[Guid], now: Ticks) -> Result<bool> {
    for id in notices {
        let is_unmailed = writer
            .prepare_cached("SELECT 1 FROM notices WHERE id = ?1 AND mailed_at IS NULL")
            .and_then(|mut find| find.exists([id.as_bytes()]))
            .map_err(store_error)?;
        if !is_unmailed {
            return Ok(false);
        }
    }
    for id in notices {
        let sql = "UPDATE notices SET mailed_at = ?2 WHERE id = ?1";
        change(writer, sql, params![id.as_bytes(), now.0])?;
    }
    Ok(true)
}

#[async_trait]
impl Notices for SqliteStore {
    async fn list_notices(&self, team: &TeamId, query: &NoticeQuery) -> Result<NoticePage> {
        let sql =
            format!("{NOTICE} WHERE team_id = ?1 AND (at, id) < (?2, ?3) ORDER BY at DESC, id DESC LIMIT ?4");
        let (at, id) = query.before();
        let limit = i64::try_from(query.limit()).unwrap_or(i64::MAX);
        let rows = self.read(|reader| all(reader, &sql, params![team.as_str(), at, id, limit], parse))?;
        Ok(query.page(rows))
    }

    async fn unread_notices(&self, team: &TeamId, account: &AccountId) -> Result<usize> {
        let sql = format!(
            "SELECT count(*) FROM (SELECT 1 FROM team_members m
                 JOIN notices n ON n.team_id = m.team_id AND n.at > coalesce(m.notices_read_at, m.created_at)
             WHERE m.team_id = ?1 AND m.account_id = ?2 LIMIT {UNREAD_NOTICES_MAX})"
        );
        let count: i64 = self.read(|reader| {
            reader
                .prepare_cached(&sql)
                .and_then(|mut count| count.query_row([team.as_str(), account.as_str()], |row| row.get(0)))
                .map_err(store_error)
        })?;
        Ok(usize::try_from(count).unwrap_or_default())
    }

    async fn notice_settings(&self, team: &TeamId, account: &AccountId) -> Result<Option<NoticeSettings>> {
        let sql = "SELECT muted_notices, coalesce(notices_read_at, created_at) AS read_at FROM team_members
                   WHERE team_id = ?1 AND account_id = ?2";
        self.read(|reader| {
            reader
                .prepare_cached(sql)
                .and_then(|mut find| find.query_row([team.as_str(), account.as_str()], parse).optional())
                .map_err(store_error)
        })
    }

    async fn mark_notices_read(&self, team: &TeamId, account: &AccountId, up_to: Ticks) -> Result<bool> {
        let (team, account) = (team.clone(), account.clone());
        self.write(move |writer| {
            let sql =
                "UPDATE team_members SET notices_read_at = max(coalesce(notices_read_at, created_at), ?3)
                       WHERE team_id = ?1 AND account_id = ?2";
            change(writer, sql, params![team.as_str(), account.as_str(), up_to.0])
        })
        .await
    }

    async fn set_notice_preferences(
        &self,
        team: &TeamId,
        account: &AccountId,
        wanted: NoticeKinds,
        context: &AuditContext,
    ) -> Result<bool> {
        let (team, account, act) = (team.clone(), account.clone(), self.act(context));
        let random = self.ports().random.clone();
        self.write(move |writer| {
            let find = "SELECT muted_notices FROM team_members WHERE team_id = ?1 AND account_id = ?2";
            let ids = [team.as_str(), account.as_str()];
            let before = writer
                .prepare_cached(find)
                .and_then(|mut find| find.query_row(ids, |row| row.get(0).map(mailed)).optional())
                .map_err(store_error)?;
            let Some(before) = before else { return Ok(false) };
            if before != wanted {
                let sql = "UPDATE team_members SET muted_notices = ?3 WHERE team_id = ?1 AND account_id = ?2";
                change(writer, sql, params![ids[0], ids[1], wanted.others().bits()])?;
                append_audit(
                    writer,
                    &*random,
                    act.notice_preferences_changed(&team, &account, before, wanted),
                )?;
            }
            Ok(true)
        })
        .await
    }

    async fn failing_webhooks(
        &self,
        after: WebhookFailure,
        until: Ticks,
        rows_max: usize,
    ) -> Result<Vec<WebhookFailure>> {
        let sql = "SELECT DISTINCT first_failed_at, webhook FROM lanes
                   WHERE (first_failed_at, webhook) > (?1, ?2) AND first_failed_at <= ?3
                   ORDER BY first_failed_at, webhook LIMIT ?4";
        let rows_max = i64::try_from(rows_max).unwrap_or(i64::MAX);
        let args = params![after.first_failed_at.0, after.webhook.as_bytes(), until.0, rows_max];
        self.read(|reader| all(reader, sql, args, parse))
    }

    async fn add_failing_notice(&self, webhook: WebhookId, now: Ticks) -> Result<bool> {
        let id = self.ports().random.guid();
        // Most failing webhooks have their notice: looking does not reach the writer.
        if self.read(|reader| failing_notice(reader, id, webhook, now))?.is_none() {
            return Ok(false);
        }
        self.write(move |writer| match failing_notice(writer, id, webhook, now)? {
            Some(notice) => insert_notice(writer, &notice),
            None => Ok(false),
        })
        .await
    }

    async fn add_ending_notices(&self, now: Ticks, rows_max: usize) -> Result<usize> {
        let found = self.read(|reader| ending(reader, now, rows_max))?;
        if found.is_empty() {
            return Ok(0);
        }
        let random = self.ports().random.clone();
        self.write(move |writer| {
            let mut added = 0;
            for notice in found {
                added += usize::from(insert_notice(writer, &Notice { id: random.guid(), ..notice })?);
            }
            Ok(added)
        })
        .await
    }

    async fn unmailed_notices(&self, rows_max: usize) -> Result<Vec<Notice>> {
        let sql = format!("{NOTICE} WHERE mailed_at IS NULL ORDER BY at, id LIMIT ?1");
        let rows_max = i64::try_from(rows_max).unwrap_or(i64::MAX);
        self.read(|reader| all(reader, &sql, [rows_max], parse))
    }

    async fn notice_readers(&self, team: &TeamId) -> Result<Vec<NoticeReader>> {
        let sql = "SELECT a.id, a.email, a.given_name, a.lang, m.muted_notices
                   FROM team_members m JOIN accounts a ON a.id = m.account_id
                   WHERE m.team_id = ?1 AND a.standing = ?2 ORDER BY m.created_at, m.account_id";
        self.read(|reader| all(reader, sql, params![team.as_str(), Status::Active.code()], parse))
    }

    async fn queue_notice_mails(
        &self,
        team: &TeamId,
        notices: &[Guid],
        mails: &[Mail],
        now: Ticks,
    ) -> Result<bool> {
        let seal = |mail| SealedMail::of(mail, &self.ports().vault, &*self.ports().random);
        let mails = mails.iter().map(seal).collect::<Result<Vec<_>>>()?;
        let (team, notices) = (team.clone(), notices.to_vec());
        self.write(move |writer| {
            if !mark_mailed(writer, &notices, now)? {
                return Ok(false);
            }
            mails.iter().try_for_each(|mail| queue_mail(writer, mail))?;
            change(
                writer,
                "DELETE FROM notices WHERE team_id = ?1 AND mailed_at IS NOT NULL AND (at, id) <=
                     (SELECT at, id FROM notices WHERE team_id = ?1 ORDER BY at DESC, id DESC LIMIT 1 OFFSET ?2)",
                params![team.as_str(), i64::try_from(NOTICES_MAX).unwrap_or(i64::MAX)],
            )?;
            Ok(true)
        })
        .await
    }
}
