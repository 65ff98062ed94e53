//! The audit trail in SQLite.

use async_trait::async_trait;
use domain::{AccountId, ClientId, GrantId, Random, TenantId};
use rusqlite::{Connection, params};

use super::rows::parse;
use super::{SqliteStore, store_error};
use crate::audit::{AuditIndex, changes_to_json};
use crate::plan::signed;
use crate::rows::{Columns, SqliteRow};
use crate::{Audit, AuditCursor, AuditEntry, AuditKind, AuditQuery, AuditRecord, AuditRecords, Result};

const COLUMNS: &str = "at, id, kind, user_id, tenant_id, client_id, grant_id, address, request_id, note,
    actor_kind, actor_id, object, changes, count";

/// Appends an audit record within the caller's transaction.
pub(super) fn append_audit(writer: &Connection, random: &dyn Random, entry: AuditEntry) -> Result<()> {
    insert(writer, AuditRecord { id: random.guid(), entry }, "")
}

/// Adds the record to the one with the same time and id.
const ADD_TO_COUNT: &str = "ON CONFLICT (at, id) DO UPDATE SET count = count + excluded.count,
    client_id = excluded.client_id, address = excluded.address, request_id = excluded.request_id";

/// `conflict`: what to do where the record exists.
fn insert(writer: &Connection, record: AuditRecord, conflict: &str) -> Result<()> {
    let (id, entry) = (record.id, record.entry.without_nul());
    writer
        .prepare_cached(&format!(
            "INSERT INTO audit ({COLUMNS})
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) {conflict}"
        ))
        .and_then(|mut add| {
            add.execute(params![
                entry.at.0,
                id.as_bytes(),
                entry.kind.as_str(),
                entry.user.as_ref().map(AccountId::as_str),
                entry.tenant.as_ref().map(TenantId::as_str),
                entry.client.as_ref().map(ClientId::as_str),
                entry.grant.as_ref().map(GrantId::as_str),
                entry.context.address,
                entry.context.request_id,
                entry.note,
                entry.context.actor.kind(),
                entry.context.actor.id(),
                entry.object,
                changes_to_json(&entry.changes),
                signed(entry.count)
            ])
        })
        .map_err(store_error)?;
    Ok(())
}

/// The index to use and its condition. Without INDEXED BY, SQLite may scan the primary key when it considers a value
/// common. Only constants are composed; values are bound.
fn indexed(index: AuditIndex) -> [&'static str; 2] {
    match index {
        AuditIndex::Time => ["", ""],
        AuditIndex::Request => ["INDEXED BY audit_by_request", "request_id = ?11 AND"],
        AuditIndex::Object => ["INDEXED BY audit_by_object", "object = ?12 AND"],
        AuditIndex::GrantedToClient => {
            ["INDEXED BY audit_granted_by_client", "kind = 'granted' AND client_id = ?5 AND"]
        }
        AuditIndex::User => ["INDEXED BY audit_by_user", "user_id = ?3 AND"],
        AuditIndex::Actor => ["INDEXED BY audit_by_actor_id", "actor_id = ?10 AND"],
        AuditIndex::Tenant => ["INDEXED BY audit_by_tenant", "tenant_id = ?4 AND"],
        AuditIndex::Client => ["INDEXED BY audit_by_client", "client_id = ?5 AND"],
        AuditIndex::Kind => ["INDEXED BY audit_by_kind", "kind = ?6 AND"],
        AuditIndex::ActorKind => ["INDEXED BY audit_by_actor", "actor_kind = ?9 AND"],
    }
}

/// Reads records one by one until the page is full or has looked at enough of them.
fn read_page(reader: &Connection, query: &AuditQuery) -> rusqlite::Result<AuditRecords> {
    let start = query.start();
    let [index, condition] = indexed(query.index());
    let sql = format!(
        "SELECT {COLUMNS}, (?3 IS NULL OR user_id = ?3) AND (?4 IS NULL OR tenant_id = ?4)
             AND (?5 IS NULL OR client_id = ?5) AND (?6 IS NULL OR kind = ?6)
             AND (?9 IS NULL OR actor_kind = ?9) AND (?10 IS NULL OR actor_id = ?10)
             AND (?11 IS NULL OR request_id = ?11) AND (?12 IS NULL OR object = ?12) AS is_wanted
         FROM audit {index} WHERE {condition} (at, id) < (?1, ?2) AND at >= ?8
         ORDER BY at DESC, id DESC LIMIT ?7"
    );
    let mut find = reader.prepare_cached(&sql)?;
    let mut rows = find.query(params![
        start.at.0,
        start.id.as_bytes(),
        query.user.as_ref().map(AccountId::as_str),
        query.tenant.as_ref().map(TenantId::as_str),
        query.client.as_ref().map(ClientId::as_str),
        query.kind.map(AuditKind::as_str),
        i64::try_from(query.looks_max()).unwrap_or(i64::MAX),
        query.end().0,
        query.actor.as_ref().map(|actor| actor.kind),
        query.actor.as_ref().and_then(|actor| actor.id.as_deref()),
        query.request_id,
        query.object
    ])?;
    let (mut found, mut looked_at, mut last) = (Vec::new(), 0, None);
    while found.len() < query.rows_max
        && let Some(row) = rows.next()?
    {
        let columns = SqliteRow::new(row);
        (looked_at, last) =
            (looked_at + 1, Some(AuditCursor { at: columns.read("at")?, id: columns.read("id")? }));
        // Null: a condition on what the record does not have.
        if columns.read::<Option<bool>>("is_wanted")?.unwrap_or(false) {
            found.push(parse(row)?);
        }
    }
    Ok(query.page(found, last.filter(|_| looked_at == query.looks_max())))
}

#[async_trait]
impl Audit for SqliteStore {
    async fn record(&self, entry: &AuditEntry) -> Result<()> {
        let (random, entry) = (self.ports().random.clone(), entry.clone());
        self.write(move |writer| append_audit(writer, &*random, entry)).await
    }

    async fn count(&self, entry: &AuditEntry) -> Result<()> {
        let record = entry.clone().counted(&self.ports().vault);
        self.write(move |writer| insert(writer, record, ADD_TO_COUNT)).await
    }

    async fn audit_page(&self, query: &AuditQuery) -> Result<AuditRecords> {
        self.read(|reader| read_page(reader, query).map_err(store_error))
    }
}
