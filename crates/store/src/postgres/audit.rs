//! The audit trail in PostgreSQL.

use async_trait::async_trait;
use deadpool_postgres::GenericClient;
use domain::{ClientId, GrantId, Random, TenantId, Ticks, UserId};
use tokio_postgres::Row;

use super::rows::{guid, limit};
use super::{PostgresStore, store_error};
use crate::{Audit, AuditContext, AuditEntry, AuditKind, AuditQuery, AuditRecord, Result, StoreError};

/// Appends an audit record within the caller's transaction.
pub(super) async fn append_audit(
    on: &impl GenericClient,
    random: &dyn Random,
    entry: AuditEntry,
) -> Result<()> {
    let (id, entry) = (random.guid(), entry.without_nul());
    let add = on
        .prepare_cached(
            "INSERT INTO audit (at, id, kind, user_id, tenant_id, client_id, grant_id, address, request_id, note)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        )
        .await
        .map_err(store_error)?;
    on.execute(
        &add,
        &[
            &entry.at.0,
            &id.as_bytes().as_slice(),
            &entry.kind.as_str(),
            &entry.user.as_ref().map(UserId::as_str),
            &entry.tenant.as_ref().map(TenantId::as_str),
            &entry.client.as_ref().map(ClientId::as_str),
            &entry.grant.as_ref().map(GrantId::as_str),
            &entry.context.address,
            &entry.context.request_id,
            &entry.note,
        ],
    )
    .await
    .map_err(store_error)?;
    Ok(())
}

fn record(row: &Row) -> Result<AuditRecord> {
    let text = |column| row.get::<_, Option<Box<str>>>(column);
    let entry = AuditEntry {
        at: Ticks(row.get(0)),
        kind: AuditKind::from_name(row.get(2))
            .ok_or_else(|| StoreError::internal("an audit record has an unknown kind"))?,
        user: text(3).map(UserId::new),
        tenant: text(4).map(TenantId::new),
        client: text(5).map(ClientId::new),
        grant: text(6).map(GrantId::new),
        context: AuditContext { address: row.get(7), request_id: row.get(8) },
        note: row.get(9),
    };
    Ok(AuditRecord { id: guid(row, 1)?, entry })
}

/// The column whose index the query uses, and its parameter; the other conditions are checked per row.
fn leading(query: &AuditQuery) -> Option<[&'static str; 2]> {
    match query {
        AuditQuery { user: Some(_), .. } => Some(["user_id", "$3"]),
        AuditQuery { tenant: Some(_), .. } => Some(["tenant_id", "$4"]),
        AuditQuery { client: Some(_), .. } => Some(["client_id", "$5"]),
        AuditQuery { kind: Some(_), .. } => Some(["kind", "$6"]),
        _ => None,
    }
}

/// The index range and its order. With `column = parameter` PostgreSQL may scan the primary key when it
/// considers the value common, and scan far when the value is rare. Only constants are composed; values are
/// bound.
fn range(query: &AuditQuery) -> [String; 2] {
    match leading(query) {
        None => ["(at, id) < ($1, $2)".into(), "at DESC, id DESC".into()],
        Some([column, argument]) => [
            format!("{column} >= {argument} AND ({column}, at, id) < ({argument}, $1, $2)"),
            format!("{column} DESC, at DESC, id DESC"),
        ],
    }
}

#[async_trait]
impl Audit for PostgresStore {
    async fn record(&self, entry: &AuditEntry) -> Result<()> {
        append_audit(&*self.client().await?, &*self.ports().random, entry.clone()).await
    }

    async fn audit(&self, query: &AuditQuery) -> Result<Vec<AuditRecord>> {
        let start = query.start();
        let [range, order] = range(query);
        let sql = format!(
            "SELECT at, id, kind, user_id, tenant_id, client_id, grant_id, address, request_id, note FROM audit
             WHERE {range} AND ($3::text IS NULL OR user_id = $3) AND ($4::text IS NULL OR tenant_id = $4)
             AND ($5::text IS NULL OR client_id = $5) AND ($6::text IS NULL OR kind = $6)
             ORDER BY {order} LIMIT $7"
        );
        let rows = self
            .rows(
                &sql,
                &[
                    &start.at.0,
                    &start.id.as_bytes().as_slice(),
                    &query.user.as_ref().map(UserId::as_str),
                    &query.tenant.as_ref().map(TenantId::as_str),
                    &query.client.as_ref().map(ClientId::as_str),
                    &query.kind.map(AuditKind::as_str),
                    &limit(query.rows_max),
                ],
            )
            .await?;
        rows.iter().map(record).collect()
    }
}
