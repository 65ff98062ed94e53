//! The audit trail in SQLite.

use async_trait::async_trait;
use domain::{ClientId, GrantId, Random, TenantId, Ticks, UserId};
use rusqlite::{Connection, Row, params};

use super::rows::guid;
use super::{SqliteStore, store_error};
use crate::{Audit, AuditContext, AuditEntry, AuditKind, AuditQuery, AuditRecord, Result};

/// Appends an audit record within the caller's transaction.
pub(super) fn append_audit(writer: &Connection, random: &dyn Random, entry: AuditEntry) -> Result<()> {
    let entry = entry.without_nul();
    writer
        .prepare_cached(
            "INSERT INTO audit (at, id, kind, user_id, tenant_id, client_id, grant_id, address, request_id, note)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )
        .and_then(|mut add| {
            add.execute(params![
                entry.at.0,
                random.guid().as_bytes(),
                entry.kind.as_str(),
                entry.user.as_ref().map(UserId::as_str),
                entry.tenant.as_ref().map(TenantId::as_str),
                entry.client.as_ref().map(ClientId::as_str),
                entry.grant.as_ref().map(GrantId::as_str),
                entry.context.address,
                entry.context.request_id,
                entry.note
            ])
        })
        .map_err(store_error)?;
    Ok(())
}

fn record(row: &Row<'_>) -> rusqlite::Result<AuditRecord> {
    let text = |column| row.get::<_, Option<Box<str>>>(column);
    let kind = AuditKind::from_name(&row.get::<_, Box<str>>(2)?).ok_or_else(|| {
        rusqlite::Error::FromSqlConversionFailure(2, rusqlite::types::Type::Text, "unknown kind".into())
    })?;
    let entry = AuditEntry {
        at: Ticks(row.get(0)?),
        kind,
        user: text(3)?.map(UserId::new),
        tenant: text(4)?.map(TenantId::new),
        client: text(5)?.map(ClientId::new),
        grant: text(6)?.map(GrantId::new),
        context: AuditContext { address: row.get(7)?, request_id: row.get(8)? },
        note: row.get(9)?,
    };
    Ok(AuditRecord { id: guid(row, 1)?, entry })
}

/// The index to use and its condition; the other conditions are checked per row. Without INDEXED BY, SQLite may
/// scan the primary key when it considers a value common. Only constants are composed; values are bound.
fn leading(query: &AuditQuery) -> [&'static str; 2] {
    match query {
        AuditQuery { user: Some(_), .. } => ["INDEXED BY audit_by_user", "user_id = ?3 AND"],
        AuditQuery { tenant: Some(_), .. } => ["INDEXED BY audit_by_tenant", "tenant_id = ?4 AND"],
        AuditQuery { client: Some(_), .. } => ["INDEXED BY audit_by_client", "client_id = ?5 AND"],
        AuditQuery { kind: Some(_), .. } => ["INDEXED BY audit_by_kind", "kind = ?6 AND"],
        _ => ["", ""],
    }
}

#[async_trait]
impl Audit for SqliteStore {
    async fn record(&self, entry: &AuditEntry) -> Result<()> {
        let (random, entry) = (self.ports().random.clone(), entry.clone());
        self.write(move |writer| append_audit(writer, &*random, entry)).await
    }

    async fn audit(&self, query: &AuditQuery) -> Result<Vec<AuditRecord>> {
        let start = query.start();
        let [index, condition] = leading(query);
        let sql = format!(
            "SELECT at, id, kind, user_id, tenant_id, client_id, grant_id, address, request_id, note
             FROM audit {index} WHERE {condition} (at, id) < (?1, ?2)
             AND (?3 IS NULL OR user_id = ?3) AND (?4 IS NULL OR tenant_id = ?4)
             AND (?5 IS NULL OR client_id = ?5) AND (?6 IS NULL OR kind = ?6)
             ORDER BY at DESC, id DESC LIMIT ?7"
        );
        let parameters = params![
            start.at.0,
            start.id.as_bytes(),
            query.user.as_ref().map(UserId::as_str),
            query.tenant.as_ref().map(TenantId::as_str),
            query.client.as_ref().map(ClientId::as_str),
            query.kind.map(AuditKind::as_str),
            i64::try_from(query.rows_max).unwrap_or(i64::MAX)
        ];
        self.read(|reader| {
            reader
                .prepare_cached(&sql)
                .and_then(|mut find| find.query_map(parameters, record)?.collect())
                .map_err(store_error)
        })
    }
}
