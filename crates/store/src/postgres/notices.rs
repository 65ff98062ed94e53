//! Notices to teams in PostgreSQL.

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::{AccountId, Guid, NoticeKind, NoticeKinds, NoticeObject, Random, TeamId, Ticks, WebhookId};

use super::audit::append_audit;
use super::mails::queue_mail;
use super::rows::{column, execute, limit, parse, parse_all, row, rows};
use super::teams::lock_team;
use super::{PostgresStore, store_error};
use crate::mails::SealedMail;
use crate::notices::{
    ENDING_WITHIN, EndingTeamCredential, FAILING_AFTER, failing_notice_stands_from, mailed,
};
use crate::rows::Columns;
use crate::webhooks::WebhookNotice;
use crate::{
    AuditContext, Mail, NOTICES_MAX, Notice, NoticePage, NoticeQuery, NoticeReader, NoticeSettings, Notices,
    Result, Status, UNREAD_NOTICES_MAX, WebhookFailure,
};

const NOTICE: &str = "SELECT id, team_id, kind, object, subject, name, detail, since, at FROM notices";
/// Replaced keys of teams that end between two times and have no notice yet.
const ENDING_KEYS: &str = "SELECT s.team_id, s.id, s.name, k.slot, k.valid_until AS ends_at
     FROM subscription_keys k JOIN subscriptions s ON s.id = k.subscription_id
     WHERE k.valid_until > $1 AND k.valid_until <= $2 AND s.team_id IS NOT NULL AND s.cancelled_at IS NULL
         AND NOT EXISTS (SELECT 1 FROM notices n
             WHERE n.team_id = s.team_id AND n.kind = $4 AND n.subject = s.id AND n.since = k.valid_until)
     ORDER BY k.valid_until LIMIT $3";
/// Replaced secrets of teams' clients, in the same way.
const ENDING_SECRETS: &str = "SELECT c.team_id, c.id, c.name, 0::bigint AS slot, c.old_secret_until AS ends_at FROM clients c
     WHERE c.old_secret_until > $1 AND c.old_secret_until <= $2 AND c.team_id IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM notices n
             WHERE n.team_id = c.team_id AND n.kind = $4 AND n.subject = c.id AND n.since = c.old_secret_until)
     ORDER BY c.old_secret_until LIMIT $3";

/// Adds a notice within the caller's transaction; false if the team has it.
pub(super) async fn insert_notice(on: &Transaction<'_>, one: &Notice) -> Result<bool> {
    let added = execute(
        on,
        "INSERT INTO notices (id, team_id, kind, object, subject, name, detail, since, at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING",
        &[
            &one.id.as_bytes().as_slice(),
            &one.team.as_str(),
            &one.kind.code(),
            &one.object.as_str(),
            &one.subject,
            &one.name,
            &one.detail,
            &one.since.0,
            &one.at.0,
        ],
    )
    .await
    .map_err(store_error)?;
    Ok(added > 0)
}

/// Adds the notices of a checkpoint for webhooks of teams.
pub(super) async fn insert_webhook_notices(
    on: &Transaction<'_>,
    random: &dyn Random,
    notices: &[WebhookNotice],
    now: Ticks,
) -> Result<()> {
    if notices.is_empty() {
        return Ok(());
    }
    let ids: Vec<Guid> = notices.iter().map(|_| random.guid()).collect();
    execute(
        on,
        "INSERT INTO notices (id, team_id, kind, object, subject, name, detail, since, at)
         SELECT k.id, c.team_id, k.kind, $8, k.subject, w.name, k.detail, k.since, $9
         FROM unnest($1::bytea[], $2::bigint[], $3::bytea[], $4::bigint[], $5::text[], $6::text[], $7::bigint[])
             AS k (id, tenant_no, webhook, kind, subject, detail, since)
         JOIN webhooks w ON w.tenant_no = k.tenant_no AND w.id = k.webhook
         JOIN clients c ON c.id = w.client_id
         WHERE c.team_id IS NOT NULL ON CONFLICT DO NOTHING",
        &[
            &column(&ids, |id| id.as_bytes().as_slice()),
            &column(notices, |one| one.key.tenant_no),
            &column(notices, |one| one.key.webhook.as_bytes().as_slice()),
            &column(notices, |one| one.kind.code()),
            &column(notices, |one| one.key.webhook.to_string()),
            &column(notices, |one| one.detail.as_str()),
            &column(notices, |one| one.since.0),
            &NoticeObject::Webhook.as_str(),
            &now.0,
        ],
    )
    .await
    .map_err(store_error)?;
    Ok(())
}

/// The notice of a webhook that has failed for long, unless the team has one. Locks the team, so that nodes take turns.
async fn failing_notice(
    on: &Transaction<'_>,
    id: Guid,
    webhook: WebhookId,
    now: Ticks,
) -> Result<Option<Notice>> {
    let owner = "SELECT c.team_id FROM webhooks w JOIN clients c ON c.id = w.client_id
         WHERE w.id = $1 AND c.team_id IS NOT NULL AND w.enabled = 1 AND w.disabled_at IS NULL
             AND w.suspended_at IS NULL AND w.unsubscribed_at IS NULL AND w.deleted_at IS NULL";
    let webhook_id = webhook.as_bytes().as_slice();
    let Some(owner) = row(on, owner, &[&webhook_id]).await? else { return Ok(None) };
    let team = owner.read("team_id")?;
    lock_team(on, &team).await?;
    let failing = "SELECT w.name, (SELECT min(l.first_failed_at) FROM lanes l
             WHERE l.tenant_no = w.tenant_no AND l.webhook = w.id AND l.attempts > 0) AS since
         FROM webhooks w WHERE w.id = $1";
    let Some(failing) = row(on, failing, &[&webhook_id]).await? else { return Ok(None) };
    let Some(since) = failing.read::<Option<Ticks>>("since")? else { return Ok(None) };
    if since > now.minus(FAILING_AFTER) {
        return Ok(None);
    }
    let (kind, subject) = (NoticeKind::WebhookFailing, webhook.to_string());
    let has_one =
        "SELECT 1 FROM notices WHERE team_id = $1 AND kind = $2 AND subject = $3 AND at + 0 >= $4 LIMIT 1";
    let from = failing_notice_stands_from(since, now).0;
    let has_one = row(on, has_one, &[&team.as_str(), &kind.code(), &subject, &from]).await?.is_some();
    let (name, object) = (failing.read("name")?, NoticeObject::Webhook);
    let notice = Notice { id, team, kind, object, subject, name, detail: String::new(), since, at: now };
    Ok((!has_one).then_some(notice))
}

#[async_trait]
impl Notices for PostgresStore {
    async fn list_notices(&self, team: &TeamId, query: &NoticeQuery) -> Result<NoticePage> {
        let sql =
            format!("{NOTICE} WHERE team_id = $1 AND (at, id) < ($2, $3) ORDER BY at DESC, id DESC LIMIT $4");
        let (at, id) = query.before();
        let found = self.rows(&sql, &[&team.as_str(), &at, &id.as_slice(), &limit(query.limit())]).await?;
        Ok(query.page(found.iter().map(parse).collect::<Result<_>>()?))
    }

    async fn unread_notices(&self, team: &TeamId, account: &AccountId) -> Result<usize> {
        let sql = format!(
            "SELECT count(*) FROM (SELECT 1 FROM team_members m
                 JOIN notices n ON n.team_id = m.team_id AND n.at > coalesce(m.notices_read_at, m.created_at)
             WHERE m.team_id = $1 AND m.account_id = $2 LIMIT {UNREAD_NOTICES_MAX}) unread"
        );
        let count = self.row(&sql, &[&team.as_str(), &account.as_str()]).await?;
        Ok(count.map_or(0, |row| usize::try_from(row.get::<_, i64>(0)).unwrap_or_default()))
    }

    async fn notice_settings(&self, team: &TeamId, account: &AccountId) -> Result<Option<NoticeSettings>> {
        let sql = "SELECT muted_notices, coalesce(notices_read_at, created_at) AS read_at FROM team_members
                   WHERE team_id = $1 AND account_id = $2";
        self.row(sql, &[&team.as_str(), &account.as_str()]).await?.as_ref().map(parse).transpose()
    }

    async fn mark_notices_read(&self, team: &TeamId, account: &AccountId, up_to: Ticks) -> Result<bool> {
        let sql =
            "UPDATE team_members SET notices_read_at = greatest(coalesce(notices_read_at, created_at), $3)
                   WHERE team_id = $1 AND account_id = $2";
        self.change(sql, &[&team.as_str(), &account.as_str(), &up_to.0]).await
    }

    async fn set_notice_preferences(
        &self,
        team: &TeamId,
        account: &AccountId,
        wanted: NoticeKinds,
        context: &AuditContext,
    ) -> Result<bool> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let find = "SELECT muted_notices FROM team_members WHERE team_id = $1 AND account_id = $2 FOR UPDATE";
        let Some(found) = row(&transaction, find, &[&team.as_str(), &account.as_str()]).await? else {
            return Ok(false);
        };
        let before = mailed(found.get(0));
        if before != wanted {
            let sql = "UPDATE team_members SET muted_notices = $3 WHERE team_id = $1 AND account_id = $2";
            let muted = wanted.others().bits();
            execute(&transaction, sql, &[&team.as_str(), &account.as_str(), &muted])
                .await
                .map_err(store_error)?;
            let entry = self.act(context).notice_preferences_changed(team, account, before, wanted);
            append_audit(&transaction, &*self.ports().random, entry).await?;
            transaction.commit().await.map_err(store_error)?;
        }
        Ok(true)
    }

    async fn failing_webhooks(
        &self,
        after: WebhookFailure,
        until: Ticks,
        rows_max: usize,
    ) -> Result<Vec<WebhookFailure>> {
        let sql = "SELECT DISTINCT first_failed_at, webhook FROM lanes
                   WHERE (first_failed_at, webhook) > ($1, $2) AND first_failed_at <= $3
                   ORDER BY first_failed_at, webhook LIMIT $4";
        let webhook = after.webhook.as_bytes().as_slice();
        let found = self.rows(sql, &[&after.first_failed_at.0, &webhook, &until.0, &limit(rows_max)]).await?;
        parse_all(&found)
    }

    async fn add_failing_notice(&self, webhook: WebhookId, now: Ticks) -> Result<bool> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let id = self.ports().random.guid();
        let Some(notice) = failing_notice(&transaction, id, webhook, now).await? else { return Ok(false) };
        let is_added = insert_notice(&transaction, &notice).await?;
        transaction.commit().await.map_err(store_error)?;
        Ok(is_added)
    }

    async fn add_ending_notices(&self, now: Ticks, rows_max: usize) -> Result<usize> {
        let mut found = Vec::new();
        for (sql, kind, object) in [
            (ENDING_KEYS, NoticeKind::KeyEnds, NoticeObject::Subscription),
            (ENDING_SECRETS, NoticeKind::ClientSecretEnds, NoticeObject::Client),
        ] {
            let until = now + ENDING_WITHIN;
            let ending = self.rows(sql, &[&now.0, &until.0, &limit(rows_max), &kind.code()]).await?;
            let random = &self.ports().random;
            let ending: Vec<EndingTeamCredential> = parse_all(&ending)?;
            found.extend(ending.into_iter().map(|one| one.notice(kind, object, random.guid(), now)));
        }
        if found.is_empty() {
            return Ok(0);
        }
        // In one order, so that two nodes that add the same notices wait for each other instead of deadlocking.
        found.sort_by(|a, b| {
            (&a.team, a.kind, &a.subject, a.since).cmp(&(&b.team, b.kind, &b.subject, b.since))
        });
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let mut added = 0;
        for notice in &found {
            added += usize::from(insert_notice(&transaction, notice).await?);
        }
        transaction.commit().await.map_err(store_error)?;
        Ok(added)
    }

    async fn unmailed_notices(&self, rows_max: usize) -> Result<Vec<Notice>> {
        let sql = format!("{NOTICE} WHERE mailed_at IS NULL ORDER BY at, id LIMIT $1");
        self.rows(&sql, &[&limit(rows_max)]).await?.iter().map(parse).collect()
    }

    async fn notice_readers(&self, team: &TeamId) -> Result<Vec<NoticeReader>> {
        let sql = "SELECT a.id, a.email, a.given_name, a.lang, m.muted_notices
                   FROM team_members m JOIN accounts a ON a.id = m.account_id
                   WHERE m.team_id = $1 AND a.standing = $2 ORDER BY m.created_at, m.account_id";
        let found = self.rows(sql, &[&team.as_str(), &Status::Active.code()]).await?;
        parse_all(&found)
    }

    async fn queue_notice_mails(
        &self,
        team: &TeamId,
        notices: &[Guid],
        mails: &[Mail],
        now: Ticks,
    ) -> Result<bool> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        lock_team(&transaction, team).await?;
        let ids = column(notices, |id| id.as_bytes().as_slice());
        let find = "SELECT id FROM notices WHERE id = ANY($1) AND mailed_at IS NULL";
        if rows(&transaction, find, &[&ids]).await?.len() != notices.len() {
            return Ok(false);
        }
        let mark = "UPDATE notices SET mailed_at = $2 WHERE id = ANY($1)";
        execute(&transaction, mark, &[&ids, &now.0]).await.map_err(store_error)?;
        for mail in mails {
            let sealed = SealedMail::of(mail, &self.ports().vault, &*self.ports().random)?;
            queue_mail(&transaction, &sealed).await?;
        }
        execute(
            &transaction,
            "DELETE FROM notices WHERE team_id = $1 AND mailed_at IS NOT NULL AND (at, id) <=
                 (SELECT at, id FROM notices WHERE team_id = $1 ORDER BY at DESC, id DESC LIMIT 1 OFFSET $2)",
            &[&team.as_str(), &limit(NOTICES_MAX)],
        )
        .await
        .map_err(store_error)?;
        transaction.commit().await.map_err(store_error)?;
        Ok(true)
    }
}
