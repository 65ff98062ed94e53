//! Webhook management in SQLite.

use async_trait::async_trait;
use domain::{Ticks, WebhookId};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use super::audit::append_audit;
use super::directory::change as write_rows;
use super::rows::{parse, tenant_no};
use super::webhook_rows::HOST;
use super::{SqliteStore, exists, store_error};
use crate::audit::Act;
use crate::plan::{signed, unsigned};
use crate::rows::{LIVE, WEBHOOK};
use crate::webhooks::{
    SealedSecrets, SealedWebhook, apply_change, new_webhook, reset_retry, subscribe_again_change,
};
use crate::{
    AuditContext, NewWebhook, Ports, Result, StoreError, SubscribeOutcome, Webhook, WebhookChange,
    WebhookChangeOutcome, WebhookOwner, WebhookQuery, Webhooks, shard_of,
};

fn find(connection: &Connection, ports: &Ports, id: WebhookId) -> Result<Option<(i64, Webhook)>> {
    let found = connection
        .prepare_cached(&format!("{WEBHOOK} WHERE w.id = ?1"))
        .and_then(|mut find| find.query_row([id.as_bytes()], parse).optional())
        .map_err(store_error)?;
    open_sealed(found, ports)
}

fn find_identical(
    connection: &Connection,
    ports: &Ports,
    tenant_no: i64,
    webhook: &Webhook,
) -> Result<Option<(i64, Webhook)>> {
    let [canonical, with_port, as_written] = webhook.identical_fingerprints(&ports.vault);
    let found = connection
        .prepare_cached(&format!(
            "{WEBHOOK} WHERE w.tenant_no = ?1 AND w.fingerprint IN (?2, ?3, ?4) AND {LIVE} LIMIT 1"
        ))
        .and_then(|mut find| {
            find.query_row(params![tenant_no, canonical, with_port, as_written], parse).optional()
        })
        .map_err(store_error)?;
    open_sealed(found, ports)
}

/// The only live webhook that was identical before its URL changed.
fn find_by_original_url(
    connection: &Connection,
    ports: &Ports,
    tenant_no: i64,
    webhook: &Webhook,
) -> Result<Option<Webhook>> {
    let fingerprint = webhook.original_fingerprint(&ports.vault);
    let mut found: Vec<SealedWebhook> = connection
        .prepare_cached(&format!(
            "{WEBHOOK} WHERE w.tenant_no = ?1 AND w.original_fingerprint = ?2 AND {LIVE} LIMIT 2"
        ))
        .and_then(|mut find| find.query_map(params![tenant_no, fingerprint], parse)?.collect())
        .map_err(store_error)?;
    let only = found.pop().filter(|_| found.is_empty());
    Ok(open_sealed(only, ports)?.map(|(_, webhook)| webhook))
}

fn open_sealed(found: Option<SealedWebhook>, ports: &Ports) -> Result<Option<(i64, Webhook)>> {
    found.map(|one| Ok((one.tenant_no, one.open(&ports.vault)?))).transpose()
}

/// Assigns the number of a webhook change.
pub(super) fn next_change_number(writer: &Connection) -> Result<i64> {
    writer
        .prepare_cached(
            "INSERT INTO webhook_moves (no, moved) VALUES (1, 1)
             ON CONFLICT (no) DO UPDATE SET moved = moved + 1 RETURNING moved",
        )
        .and_then(|mut next| next.query_row([], |row| row.get(0)))
        .map_err(store_error)
}

fn insert(writer: &Connection, ports: &Ports, tenant_no: i64, one: &Webhook) -> Result<()> {
    let secrets = SealedSecrets::of(one, &ports.vault, &*ports.random)?;
    let change_number = next_change_number(writer)?;
    writer
        .prepare_cached(
            "INSERT INTO webhooks (tenant_no, id, client_id, user_id, resource, kinds, name, description, url,
                 secret, doubt, fingerprint, created_at, enabled, handshake, handshake_at, handshake_accepted,
                 revision, shard, moved, replays, original_url, original_fingerprint)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, 0,
                 ?21, ?22)",
        )
        .and_then(|mut insert| {
            insert.execute(params![
                tenant_no,
                one.id.as_bytes(),
                one.owner.client.as_str(),
                one.user.as_str(),
                one.resource.code(),
                one.kinds.bits(),
                one.name,
                one.description,
                one.url,
                secrets.secret,
                one.host_mismatch,
                secrets.fingerprint,
                one.created_at.0,
                one.enabled,
                one.handshake.number,
                one.handshake.at.0,
                one.handshake.accepted,
                signed(one.revision),
                shard_of(one.id),
                change_number,
                one.original_url,
                secrets.original_fingerprint
            ])
        })
        .map_err(exists(format!("a webhook \"{}\"", one.id)))?;
    Ok(())
}

/// `new_fingerprint`: none if what identifies the webhook has not changed.
fn update(
    writer: &Connection,
    tenant_no: i64,
    one: &Webhook,
    secrets: &SealedSecrets,
    new_fingerprint: Option<[u8; 32]>,
) -> Result<()> {
    let change_number = next_change_number(writer)?;
    let retry = one.handshake.retry;
    write_rows(
        writer,
        "UPDATE webhooks SET url = ?3, secret = ?4, old_secret = ?5, old_secret_until = ?6, doubt = ?7,
             fingerprint = coalesce(?8, fingerprint), enabled = ?9, handshake = ?10, handshake_at = ?11, handshake_accepted = ?12,
             handshake_attempts = ?13, handshake_failed_at = ?14, handshake_next_at = ?15, disabled_at = ?16,
             disabled_why = ?17, unsubscribed_at = ?18, deleted_at = ?19, revision = ?20, cursor = ?21, moved = ?22,
             description = ?23, original_url = ?24, original_fingerprint = ?25, handshake_asked_at = ?26,
             handshake_while_disabled = ?27
         WHERE tenant_no = ?1 AND id = ?2",
        params![
            tenant_no,
            one.id.as_bytes(),
            one.url,
            secrets.secret,
            secrets.previous_secret,
            one.previous_secret.as_ref().map(|old| old.until.0),
            one.host_mismatch,
            new_fingerprint,
            one.enabled,
            one.handshake.number,
            one.handshake.at.0,
            one.handshake.accepted,
            retry.map(|retry| retry.attempts),
            retry.map(|retry| retry.first_failed_at.0),
            retry.map(|retry| retry.next_at.0),
            one.disabled.as_ref().map(|disabled| disabled.at.0),
            one.disabled.as_ref().map(|disabled| &disabled.reason),
            one.unsubscribed_at.map(|at| at.0),
            one.deleted_at.map(|at| at.0),
            signed(one.revision),
            one.cursor.map(signed),
            change_number,
            one.description,
            one.original_url,
            secrets.original_fingerprint,
            one.handshake.asked_at.map(|at| at.0),
            one.handshake.while_disabled
        ],
    )?;
    Ok(())
}

/// Resets the lanes of a webhook: due immediately, no failures.
pub(super) fn reset_lanes(writer: &Connection, tenant_no: i64, webhook: WebhookId, now: Ticks) -> Result<()> {
    let retry = reset_retry(now);
    write_rows(
        writer,
        "UPDATE lanes SET attempts = ?3, first_failed_at = ?4, next_at = ?5 WHERE tenant_no = ?1 AND webhook = ?2",
        params![tenant_no, webhook.as_bytes(), retry.attempts, retry.first_failed_at.0, retry.next_at.0],
    )?;
    Ok(())
}

fn drop_lanes(writer: &Connection, tenant_no: i64, webhook: WebhookId) -> Result<()> {
    for sql in [
        "DELETE FROM lanes WHERE tenant_no = ?1 AND webhook = ?2",
        "DELETE FROM replays WHERE tenant_no = ?1 AND webhook = ?2 AND is_done = 0",
    ] {
        write_rows(writer, sql, params![tenant_no, webhook.as_bytes()])?;
    }
    Ok(())
}

fn change_stored_webhook(
    writer: &Connection,
    ports: &Ports,
    (tenant_no, mut webhook): (i64, Webhook),
    what: &WebhookChange,
    act: &Act,
) -> Result<WebhookChangeOutcome> {
    let (now, before) = (ports.clock.now(), webhook.clone());
    let head: i64 = writer
        .prepare_cached("SELECT head FROM heads WHERE tenant_no = ?1")
        .and_then(|mut head| head.query_row([tenant_no], |row| row.get(0)))
        .map_err(store_error)?;
    let fingerprint_before = webhook.fingerprint(&ports.vault);
    let Some(effects) = apply_change(&mut webhook, what, now, unsigned(head)) else {
        return Ok(WebhookChangeOutcome::Ended(webhook));
    };
    if effects.unchanged {
        return Ok(WebhookChangeOutcome::Changed(webhook));
    }
    let secrets = SealedSecrets::of(&webhook, &ports.vault, &*ports.random)?;
    let new_fingerprint = Some(secrets.fingerprint).filter(|new| *new != fingerprint_before);
    if new_fingerprint.is_some() {
        let alike = find_identical(writer, ports, tenant_no, &webhook)?;
        if alike.is_some_and(|(_, other)| other.id != webhook.id) {
            return Ok(WebhookChangeOutcome::Duplicate);
        }
    }
    update(writer, tenant_no, &webhook, &secrets, new_fingerprint)?;
    if effects.drop_lanes {
        drop_lanes(writer, tenant_no, webhook.id)?;
    }
    if effects.reset_lanes {
        reset_lanes(writer, tenant_no, webhook.id, now)?;
    }
    if before != webhook {
        append_audit(writer, &*ports.random, act.webhook_changed(&before, &webhook, what))?;
    }
    Ok(WebhookChangeOutcome::Changed(webhook))
}

fn subscribe(
    writer: &Connection,
    ports: &Ports,
    new: NewWebhook,
    webhooks_max: usize,
    act: &Act,
) -> Result<SubscribeOutcome> {
    let again = subscribe_again_change(&new);
    let webhook = new_webhook(new, ports.clock.now());
    let unknown = || StoreError::UnknownTenant(webhook.owner.tenant.to_string());
    let tenant_no = tenant_no(writer, &webhook.owner.tenant)?.ok_or_else(unknown)?;
    if let Some(existing) = find_identical(writer, ports, tenant_no, &webhook)? {
        let found = existing.1.clone();
        let changed = change_stored_webhook(writer, ports, existing, &again, act)?;
        return Ok(SubscribeOutcome::Existing(changed.webhook_or(found)));
    }
    let own: i64 = writer
        .prepare_cached(&format!(
            "SELECT count(*) FROM webhooks w WHERE w.tenant_no = ?1 AND w.client_id = ?2 AND {LIVE}"
        ))
        .and_then(|mut count| {
            count.query_row(params![tenant_no, webhook.owner.client.as_str()], |row| row.get(0))
        })
        .map_err(store_error)?;
    if unsigned(own) >= webhooks_max as u64 {
        return Ok(SubscribeOutcome::LimitReached);
    }
    insert(writer, ports, tenant_no, &webhook)?;
    for entry in act.webhook_subscribed(&webhook) {
        append_audit(writer, &*ports.random, entry)?;
    }
    Ok(SubscribeOutcome::Created(webhook))
}

/// The conditions of a query that have parameters, and these.
pub(super) fn bound_conditions(query: &WebhookQuery) -> (Vec<String>, Vec<Value>) {
    let (mut sql, mut args): (Vec<String>, Vec<Value>) = (Vec::new(), Vec::new());
    if let Some(tenant) = &query.tenant {
        args.push(Value::Text(tenant.as_str().to_owned()));
        sql.push(format!("w.tenant_no = (SELECT no FROM tenants WHERE id = ?{})", args.len()));
    }
    if let Some(client) = &query.client {
        args.push(Value::Text(client.as_str().to_owned()));
        sql.push(format!("w.client_id = ?{}", args.len()));
    }
    if let Some(team) = &query.team {
        args.push(Value::Text(team.as_str().to_owned()));
        sql.push(format!("w.client_id IN (SELECT id FROM clients WHERE team_id = ?{})", args.len()));
    }
    if let Some(host) = &query.host {
        args.push(Value::Text(host.clone()));
        sql.push(format!("{HOST} = ?{}", args.len()));
    }
    if let Some((at, id)) = query.after {
        args.extend([Value::Integer(at.0), Value::Blob(id.as_bytes().to_vec())]);
        sql.push(format!("(w.created_at, w.id) > (?{}, ?{})", args.len() - 1, args.len()));
    }
    (sql, args)
}

/// The WHERE clause of a query and its arguments. It is composed from constants, parameter numbers and resource
/// codes; values are bound.
fn conditions(query: &WebhookQuery) -> (String, Vec<Value>) {
    let (mut sql, mut args) = bound_conditions(query);
    sql.extend(query.other_conditions(query.include_ended));
    if sql.is_empty() {
        sql.push("true".to_owned());
    }
    args.push(Value::Integer(i64::try_from(query.rows_max).unwrap_or(i64::MAX)));
    (format!("{} ORDER BY w.created_at, w.id LIMIT ?{}", sql.join(" AND "), args.len()), args)
}

#[async_trait]
impl Webhooks for SqliteStore {
    async fn subscribe(
        &self,
        new: NewWebhook,
        webhooks_max: usize,
        context: &AuditContext,
    ) -> Result<SubscribeOutcome> {
        let (ports, act) = (self.ports().clone(), self.act(context));
        let done = self.write(move |writer| subscribe(writer, &ports, new, webhooks_max, &act)).await;
        if let Ok(SubscribeOutcome::Created(one) | SubscribeOutcome::Existing(one)) = &done {
            self.inner.invalidation.commit_signal().signal_webhook(one.id);
        }
        done
    }

    async fn find_subscribed_webhook(&self, body: &NewWebhook) -> Result<Option<Webhook>> {
        let webhook = new_webhook(body.clone(), Ticks(0));
        self.read_fresh_snapshot(|reader| {
            let Some(tenant_no) = tenant_no(reader, &body.owner.tenant)? else {
                return Ok(None);
            };
            match find_identical(reader, self.ports(), tenant_no, &webhook)? {
                Some((_, found)) => Ok(Some(found)),
                None => find_by_original_url(reader, self.ports(), tenant_no, &webhook),
            }
        })
    }

    async fn find_webhook(&self, id: WebhookId) -> Result<Option<Webhook>> {
        self.read(|reader| Ok(find(reader, self.ports(), id)?.map(|(_, webhook)| webhook)))
    }

    async fn webhooks(&self, query: &WebhookQuery) -> Result<Vec<Webhook>> {
        let (conditions, args) = conditions(query);
        let found: Vec<SealedWebhook> = self.read(|reader| {
            reader
                .prepare_cached(&format!("{WEBHOOK} WHERE {conditions}"))
                .and_then(|mut all| all.query_map(params_from_iter(&args), parse)?.collect())
                .map_err(store_error)
        })?;
        found.into_iter().map(|one| one.open(&self.ports().vault)).collect()
    }

    async fn change_webhook(
        &self,
        id: WebhookId,
        owner: Option<&WebhookOwner>,
        what: WebhookChange,
        context: &AuditContext,
    ) -> Result<WebhookChangeOutcome> {
        let (ports, owner, act) = (self.ports().clone(), owner.cloned(), self.act(context));
        let changed = self
            .write(move |writer| {
                let found = find(writer, &ports, id)?;
                let Some(existing) = found.filter(|(_, one)| owner.is_none_or(|owner| one.owner == owner))
                else {
                    return Ok(WebhookChangeOutcome::Unknown);
                };
                change_stored_webhook(writer, &ports, existing, &what, &act)
            })
            .await;
        self.inner.invalidation.commit_signal().signal_webhook(id);
        changed
    }
}
