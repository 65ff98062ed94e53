//! Webhook management in PostgreSQL. A change first takes the next change number and so a lock: changes and subscriptions take turns.

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::{Ticks, WebhookId};
use tokio_postgres::types::ToSql;

use super::audit::append_audit;
use super::rows::{column, execute, limit, parse, row, tenant_no};
use super::webhook_rows::{HOST, open_sealed};
use super::{PostgresStore, exists, store_error};
use crate::audit::Act;
use crate::plan::{signed, unsigned};
use crate::rows::{LIVE, WEBHOOK};
use crate::webhooks::{
    SealedSecrets, SealedWebhook, apply_change, new_webhook, reset_retry, subscribe_again_change,
    subscribe_again_changes_nothing,
};
use crate::{
    AuditContext, NewWebhook, Ports, Result, StoreError, SubscribeOutcome, Webhook, WebhookChange,
    WebhookChangeOutcome, WebhookOwner, WebhookQuery, Webhooks, shard_of,
};

/// Assigns the number of a webhook change.
pub(super) async fn next_change_number(on: &Transaction<'_>) -> Result<i64> {
    let next = row(
        on,
        "INSERT INTO webhook_moves (no, moved) VALUES (1, 1)
         ON CONFLICT (no) DO UPDATE SET moved = webhook_moves.moved + 1 RETURNING moved",
        &[],
    );
    next.await?
        .map(|row| row.get(0))
        .ok_or_else(|| StoreError::internal("the database returned no webhook change number"))
}

async fn find(on: &Transaction<'_>, ports: &Ports, id: WebhookId) -> Result<Option<(i64, Webhook)>> {
    let sql = format!("{WEBHOOK} WHERE w.id = $1 FOR UPDATE OF w");
    open_sealed(row(on, &sql, &[&id.as_bytes().as_slice()]).await?, ports)
}

async fn find_identical(
    on: &Transaction<'_>,
    ports: &Ports,
    tenant_no: i64,
    webhook: &Webhook,
) -> Result<Option<(i64, Webhook)>> {
    // The ORDER BY names the intended index, because another index also starts with the tenant.
    let sql = format!(
        "{WEBHOOK} WHERE w.tenant_no = $1 AND w.fingerprint = ANY($2) AND {LIVE}
         ORDER BY w.tenant_no, w.fingerprint LIMIT 1 FOR UPDATE OF w"
    );
    let fingerprints = webhook.identical_fingerprints(&ports.vault);
    let fingerprints = column(&fingerprints, <[u8; 32]>::as_slice);
    open_sealed(row(on, &sql, &[&tenant_no, &fingerprints]).await?, ports)
}

async fn insert(
    on: &Transaction<'_>,
    ports: &Ports,
    tenant_no: i64,
    one: &Webhook,
    change_number: i64,
) -> Result<()> {
    let secrets = SealedSecrets::of(one, &ports.vault, &*ports.random)?;
    execute(
        on,
        "INSERT INTO webhooks (tenant_no, id, client_id, user_id, resource, kinds, name, description, url, secret,
             doubt, fingerprint, created_at, enabled, handshake, handshake_at, handshake_accepted, revision, shard,
             moved, replays, original_url, original_fingerprint)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, 0, $21,
             $22)",
        &[
            &tenant_no,
            &one.id.as_bytes().as_slice(),
            &one.owner.client.as_str(),
            &one.user.as_str(),
            &i64::from(one.resource.code()),
            &i64::from(one.kinds.bits()),
            &one.name,
            &one.description,
            &one.url,
            &secrets.secret,
            &one.host_mismatch,
            &secrets.fingerprint.as_slice(),
            &one.created_at.0,
            &i64::from(one.enabled),
            &i64::from(one.handshake.number),
            &one.handshake.at.0,
            &i64::from(one.handshake.accepted),
            &signed(one.revision),
            &i64::from(shard_of(one.id)),
            &change_number,
            &one.original_url,
            &secrets.original_fingerprint.as_slice(),
        ],
    )
    .await
    .map_err(exists(format!("a webhook \"{}\"", one.id)))?;
    Ok(())
}

/// `new_fingerprint`: none if what identifies the webhook has not changed.
async fn update(
    on: &Transaction<'_>,
    tenant_no: i64,
    one: &Webhook,
    secrets: &SealedSecrets,
    new_fingerprint: Option<[u8; 32]>,
    change_number: i64,
) -> Result<()> {
    let retry = one.handshake.retry;
    execute(
        on,
        "UPDATE webhooks SET url = $3, secret = $4, old_secret = $5, old_secret_until = $6, doubt = $7,
             fingerprint = coalesce($8, fingerprint), enabled = $9, handshake = $10, handshake_at = $11, handshake_accepted = $12,
             handshake_attempts = $13, handshake_failed_at = $14, handshake_next_at = $15, disabled_at = $16,
             disabled_why = $17, unsubscribed_at = $18, deleted_at = $19, revision = $20, cursor = $21, moved = $22,
             description = $23, original_url = $24, original_fingerprint = $25, handshake_asked_at = $26,
             handshake_while_disabled = $27
         WHERE tenant_no = $1 AND id = $2",
        &[
            &tenant_no,
            &one.id.as_bytes().as_slice(),
            &one.url,
            &secrets.secret,
            &secrets.previous_secret,
            &one.previous_secret.as_ref().map(|old| old.until.0),
            &one.host_mismatch,
            &new_fingerprint.as_ref().map(<[u8; 32]>::as_slice),
            &i64::from(one.enabled),
            &i64::from(one.handshake.number),
            &one.handshake.at.0,
            &i64::from(one.handshake.accepted),
            &retry.map(|retry| i64::from(retry.attempts)),
            &retry.map(|retry| retry.first_failed_at.0),
            &retry.map(|retry| retry.next_at.0),
            &one.disabled.as_ref().map(|disabled| disabled.at.0),
            &one.disabled.as_ref().map(|disabled| disabled.reason.as_str()),
            &one.unsubscribed_at.map(|at| at.0),
            &one.deleted_at.map(|at| at.0),
            &signed(one.revision),
            &one.cursor.map(signed),
            &change_number,
            &one.description,
            &one.original_url,
            &secrets.original_fingerprint.as_slice(),
            &one.handshake.asked_at.map(|at| at.0),
            &i64::from(one.handshake.while_disabled),
        ],
    )
    .await
    .map_err(store_error)?;
    Ok(())
}

/// Resets the lanes of these webhooks: due immediately, no failures.
pub(super) async fn reset_lanes(
    on: &Transaction<'_>,
    webhooks: &[(i64, WebhookId)],
    now: Ticks,
) -> Result<()> {
    let retry = reset_retry(now);
    let tenants: Vec<i64> = webhooks.iter().map(|(tenant_no, _)| *tenant_no).collect();
    let ids: Vec<&[u8]> = webhooks.iter().map(|(_, id)| id.as_bytes().as_slice()).collect();
    execute(
        on,
        "UPDATE lanes n SET attempts = $3, first_failed_at = $4, next_at = $5
         FROM unnest($1::bigint[], $2::bytea[]) AS k (tenant_no, webhook)
         WHERE n.tenant_no = k.tenant_no AND n.webhook = k.webhook",
        &[&tenants, &ids, &i64::from(retry.attempts), &retry.first_failed_at.0, &retry.next_at.0],
    )
    .await
    .map_err(store_error)?;
    Ok(())
}

async fn drop_lanes(on: &Transaction<'_>, tenant_no: i64, webhook: WebhookId) -> Result<()> {
    for sql in [
        "DELETE FROM lanes WHERE tenant_no = $1 AND webhook = $2",
        "DELETE FROM replays WHERE tenant_no = $1 AND webhook = $2 AND is_done = 0",
    ] {
        execute(on, sql, &[&tenant_no, &webhook.as_bytes().as_slice()]).await.map_err(store_error)?;
    }
    Ok(())
}

/// Changes a locked webhook under the given change number.
async fn change_stored_webhook(
    on: &Transaction<'_>,
    ports: &Ports,
    (tenant_no, mut webhook): (i64, Webhook),
    what: &WebhookChange,
    change_number: i64,
    act: &Act,
) -> Result<WebhookChangeOutcome> {
    let (now, before) = (ports.clock.now(), webhook.clone());
    let head = row(on, "SELECT head FROM heads WHERE tenant_no = $1", &[&tenant_no]).await?;
    let head = head.map_or(0, |row| unsigned(row.get(0)));
    let fingerprint_before = webhook.fingerprint(&ports.vault);
    let Some(effects) = apply_change(&mut webhook, what, now, head) else {
        return Ok(WebhookChangeOutcome::Ended(webhook));
    };
    if effects.unchanged {
        return Ok(WebhookChangeOutcome::Changed(webhook));
    }
    let secrets = SealedSecrets::of(&webhook, &ports.vault, &*ports.random)?;
    let new_fingerprint = Some(secrets.fingerprint).filter(|new| *new != fingerprint_before);
    if new_fingerprint.is_some() {
        let alike = find_identical(on, ports, tenant_no, &webhook).await?;
        if alike.is_some_and(|(_, other)| other.id != webhook.id) {
            return Ok(WebhookChangeOutcome::Duplicate);
        }
    }
    update(on, tenant_no, &webhook, &secrets, new_fingerprint, change_number).await?;
    if effects.drop_lanes {
        drop_lanes(on, tenant_no, webhook.id).await?;
    }
    if effects.reset_lanes {
        reset_lanes(on, &[(tenant_no, webhook.id)], now).await?;
    }
    if before != webhook {
        append_audit(on, &*ports.random, act.webhook_changed(&before, &webhook, what)).await?;
    }
    Ok(WebhookChangeOutcome::Changed(webhook))
}

async fn subscribe(
    on: &Transaction<'_>,
    ports: &Ports,
    webhook: Webhook,
    again: &WebhookChange,
    webhooks_max: usize,
    act: &Act,
) -> Result<SubscribeOutcome> {
    let change_number = next_change_number(on).await?;
    let unknown = || StoreError::UnknownTenant(webhook.owner.tenant.to_string());
    let tenant_no = tenant_no(on, &webhook.owner.tenant).await?.ok_or_else(unknown)?;
    if let Some(existing) = find_identical(on, ports, tenant_no, &webhook).await? {
        let found = existing.1.clone();
        let changed = change_stored_webhook(on, ports, existing, again, change_number, act).await?;
        return Ok(SubscribeOutcome::Existing(changed.webhook_or(found)));
    }
    let own = row(
        on,
        &format!("SELECT count(*) FROM webhooks w WHERE w.tenant_no = $1 AND w.client_id = $2 AND {LIVE}"),
        &[&tenant_no, &webhook.owner.client.as_str()],
    )
    .await?;
    if own.map_or(0, |row| unsigned(row.get(0))) >= webhooks_max as u64 {
        return Ok(SubscribeOutcome::LimitReached);
    }
    insert(on, ports, tenant_no, &webhook, change_number).await?;
    for entry in act.webhook_subscribed(&webhook) {
        append_audit(on, &*ports.random, entry).await?;
    }
    Ok(SubscribeOutcome::Created(webhook))
}

pub(super) type BoundArgs = Vec<Box<dyn ToSql + Sync + Send>>;

/// The conditions of a query that have parameters, and these.
pub(super) fn bound_conditions(query: &WebhookQuery) -> (Vec<String>, BoundArgs) {
    let (mut sql, mut args): (Vec<String>, BoundArgs) = (Vec::new(), Vec::new());
    if let Some(tenant) = &query.tenant {
        args.push(Box::new(tenant.as_str().to_owned()));
        sql.push(format!("w.tenant_no = (SELECT no FROM tenants WHERE id = ${})", args.len()));
    }
    if let Some(client) = &query.client {
        args.push(Box::new(client.as_str().to_owned()));
        sql.push(format!("w.client_id = ${}", args.len()));
    }
    if let Some(team) = &query.team {
        args.push(Box::new(team.as_str().to_owned()));
        sql.push(format!("w.client_id IN (SELECT id FROM clients WHERE team_id = ${})", args.len()));
    }
    if let Some(host) = &query.host {
        args.push(Box::new(host.clone()));
        sql.push(format!("{HOST} = ${}", args.len()));
    }
    if let Some((at, id)) = query.after {
        args.push(Box::new(at.0));
        args.push(Box::new(id.as_bytes().to_vec()));
        sql.push(format!("(w.created_at, w.id) > (${}, ${})", args.len() - 1, args.len()));
    }
    (sql, args)
}

/// The WHERE clause of a query and its arguments. It is composed from constants and numbers; values are bound.
fn conditions(query: &WebhookQuery) -> (String, BoundArgs) {
    let (mut sql, mut args) = bound_conditions(query);
    sql.extend(query.other_conditions(query.include_ended));
    if sql.is_empty() {
        sql.push("true".to_owned());
    }
    args.push(Box::new(limit(query.rows_max)));
    (format!("{} ORDER BY w.created_at, w.id LIMIT ${}", sql.join(" AND "), args.len()), args)
}

impl PostgresStore {
    async fn find_live_identical(&self, body: &NewWebhook) -> Result<Option<Webhook>> {
        let fingerprints = new_webhook(body.clone(), Ticks(0)).identical_fingerprints(&self.ports().vault);
        let sql = format!(
            "{WEBHOOK} WHERE w.tenant_no = (SELECT no FROM tenants WHERE id = $1) AND w.fingerprint = ANY($2)
                 AND {LIVE} ORDER BY w.tenant_no, w.fingerprint LIMIT 1"
        );
        let fingerprints = column(&fingerprints, <[u8; 32]>::as_slice);
        let found = self.row(&sql, &[&body.owner.tenant.as_str(), &fingerprints]).await?;
        Ok(open_sealed(found, self.ports())?.map(|(_, webhook)| webhook))
    }

    /// The only live webhook that was identical before its URL changed.
    async fn find_by_original_url(&self, body: &NewWebhook) -> Result<Option<Webhook>> {
        let fingerprint = new_webhook(body.clone(), Ticks(0)).original_fingerprint(&self.ports().vault);
        let sql = format!(
            "{WEBHOOK} WHERE w.tenant_no = (SELECT no FROM tenants WHERE id = $1) AND w.original_fingerprint = $2
                 AND {LIVE} ORDER BY w.tenant_no, w.original_fingerprint LIMIT 2"
        );
        let mut found = self.rows(&sql, &[&body.owner.tenant.as_str(), &fingerprint.as_slice()]).await?;
        let only = found.pop().filter(|_| found.is_empty());
        Ok(open_sealed(only, self.ports())?.map(|(_, webhook)| webhook))
    }
}

#[async_trait]
impl Webhooks for PostgresStore {
    async fn subscribe(
        &self,
        new: NewWebhook,
        webhooks_max: usize,
        context: &AuditContext,
    ) -> Result<SubscribeOutcome> {
        let (again, now) = (subscribe_again_change(&new), self.ports().clock.now());
        // An identical webhook that needs no change is returned without a lock.
        let existing = self.find_live_identical(&new).await?;
        if let Some(found) = existing.filter(|found| subscribe_again_changes_nothing(found, &again, now)) {
            return Ok(SubscribeOutcome::Existing(found));
        }
        let webhook = new_webhook(new, now);
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let act = self.act(context);
        let done = subscribe(&transaction, self.ports(), webhook, &again, webhooks_max, &act).await?;
        if let SubscribeOutcome::Created(one) | SubscribeOutcome::Existing(one) = &done {
            transaction.commit().await.map_err(store_error)?;
            self.webhook_changed(one.id);
        }
        Ok(done)
    }

    async fn find_subscribed_webhook(&self, body: &NewWebhook) -> Result<Option<Webhook>> {
        match self.find_live_identical(body).await? {
            Some(found) => Ok(Some(found)),
            None => self.find_by_original_url(body).await,
        }
    }

    async fn find_webhook(&self, id: WebhookId) -> Result<Option<Webhook>> {
        let found = self.row(&format!("{WEBHOOK} WHERE w.id = $1"), &[&id.as_bytes().as_slice()]).await?;
        Ok(open_sealed(found, self.ports())?.map(|(_, webhook)| webhook))
    }

    async fn webhooks(&self, query: &WebhookQuery) -> Result<Vec<Webhook>> {
        let (conditions, args) = conditions(query);
        let args: Vec<&(dyn ToSql + Sync)> = args.iter().map(|arg| &**arg as &(dyn ToSql + Sync)).collect();
        let rows = self.rows(&format!("{WEBHOOK} WHERE {conditions}"), &args).await?;
        rows.iter().map(|row| parse::<SealedWebhook>(row)?.open(&self.ports().vault)).collect()
    }

    async fn change_webhook(
        &self,
        id: WebhookId,
        owner: Option<&WebhookOwner>,
        what: WebhookChange,
        context: &AuditContext,
    ) -> Result<WebhookChangeOutcome> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let change_number = next_change_number(&transaction).await?;
        let found = find(&transaction, self.ports(), id).await?;
        let Some(existing) = found.filter(|(_, one)| owner.is_none_or(|owner| one.owner == *owner)) else {
            return Ok(WebhookChangeOutcome::Unknown);
        };
        let before = existing.1.clone();
        let changed = change_stored_webhook(
            &transaction,
            self.ports(),
            existing,
            &what,
            change_number,
            &self.act(context),
        )
        .await?;
        if changed.is_changed_from(&before) {
            transaction.commit().await.map_err(store_error)?;
            self.webhook_changed(id);
        }
        Ok(changed)
    }
}
