//! The webhooks of a team's clients in SQLite.

use async_trait::async_trait;
use domain::{TeamId, Ticks, WebhookId};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use super::history::behind;
use super::rows::parse;
use super::{SqliteStore, store_error};
use crate::rows::{Columns, SqliteRow, WEBHOOK};
use crate::webhooks::{SealedWebhook, page_of};
use crate::{
    LISTED_BEHIND_MAX, ListedWebhook, ListedWebhooks, Ports, Result, TeamWebhookQuery, TeamWebhooks,
};

/// The team's clients, or the one that the query names.
fn clients(reader: &Connection, query: &TeamWebhookQuery) -> Result<Vec<String>> {
    let by_id = if query.client.is_some() { "id = ?2" } else { "?2 IS NULL" };
    reader
        .prepare_cached(&format!("SELECT id FROM clients WHERE team_id = ?1 AND {by_id}"))
        .and_then(|mut all| {
            let client = query.client.as_ref().map(domain::ClientId::as_str);
            all.query_map(params![TeamId::as_str(&query.team), client], |row| row.get(0))?.collect()
        })
        .map_err(store_error)
}

/// The first positions of each client's webhooks, by the index `webhooks_by_client`, or by `webhooks_by_owner`.
fn positions(reader: &Connection, query: &TeamWebhookQuery) -> Result<Vec<(Ticks, WebhookId)>> {
    let (at, id) = query.after_or_start();
    let mut args = vec![
        Value::Null,
        Value::Integer(at),
        Value::Blob(id.as_bytes().to_vec()),
        Value::Integer(i64::try_from(query.rows_max() + 1).unwrap_or(i64::MAX)),
    ];
    let mut conditions = vec![
        "w.client_id = ?1".to_owned(),
        "(w.created_at, w.id) > (?2, ?3)".to_owned(),
        "EXISTS (SELECT 1 FROM tenants t WHERE t.no = w.tenant_no)".to_owned(),
    ];
    conditions.extend(query.constant_conditions());
    if let Some(tenant) = &query.tenant {
        args.push(Value::Text(tenant.as_str().to_owned()));
        conditions.push(format!("w.tenant_no = (SELECT no FROM tenants WHERE id = ?{})", args.len()));
    }
    if let Some(text) = query.lower_url() {
        args.push(Value::Text(text));
        conditions.push(format!("instr(lower(w.url), ?{}) > 0", args.len()));
    }
    let sql = format!(
        "SELECT w.created_at, w.id FROM webhooks w WHERE {} ORDER BY w.created_at, w.id LIMIT ?4",
        conditions.join(" AND ")
    );
    let mut found = Vec::new();
    for client in clients(reader, query)? {
        args[0] = Value::Text(client);
        let of_client: Vec<(Ticks, WebhookId)> = reader
            .prepare_cached(&sql)
            .and_then(|mut all| {
                let position = |row: &rusqlite::Row<'_>| {
                    let row = SqliteRow::new(row);
                    Ok((row.read("created_at")?, row.read("id")?))
                };
                all.query_map(params_from_iter(&args), position)?.collect()
            })
            .map_err(store_error)?;
        found.extend(of_client);
    }
    Ok(found)
}

/// The webhook with the state of its lanes and its undelivered events, which are counted up to `behind_max`.
pub(super) fn listed(
    reader: &Connection,
    ports: &Ports,
    id: WebhookId,
    behind_max: u16,
) -> Result<Option<ListedWebhook>> {
    let found: Option<SealedWebhook> = reader
        .prepare_cached(&format!("{WEBHOOK} WHERE w.id = ?1"))
        .and_then(|mut find| find.query_row([id.as_bytes()], parse).optional())
        .map_err(store_error)?;
    let Some(found) = found else { return Ok(None) };
    let lanes: (Option<i64>, Option<i64>) = reader
        .prepare_cached(
            "SELECT min(CASE WHEN attempts > 0 THEN first_failed_at END), min(next_at)
             FROM lanes WHERE tenant_no = ?1 AND webhook = ?2",
        )
        .and_then(|mut all| {
            let key = params![found.tenant_no, id.as_bytes()];
            all.query_row(key, |row| Ok((row.get(0)?, row.get(1)?)))
        })
        .map_err(store_error)?;
    let behind = if behind_max == 0 { 0 } else { behind(reader, &found, behind_max)? };
    let lanes = (lanes.0.map(Ticks), lanes.1.map(Ticks));
    Ok(Some(ListedWebhook::new(found.open(&ports.vault)?, lanes, behind)))
}

#[async_trait]
impl TeamWebhooks for SqliteStore {
    async fn team_webhooks(&self, query: &TeamWebhookQuery) -> Result<ListedWebhooks> {
        self.read_fresh_snapshot(|reader| {
            let (page, next) = page_of(positions(reader, query)?, query);
            let rows: Result<Vec<Option<ListedWebhook>>> =
                page.into_iter().map(|id| listed(reader, self.ports(), id, LISTED_BEHIND_MAX)).collect();
            Ok(ListedWebhooks { rows: rows?.into_iter().flatten().collect(), next })
        })
    }
}
