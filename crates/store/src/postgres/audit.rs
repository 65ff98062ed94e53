//! The audit trail in PostgreSQL.

use async_trait::async_trait;
use deadpool_postgres::{GenericClient, Transaction};
use domain::{AccountId, ClientId, GrantId, Random, TenantId};
use tokio_postgres::Row;

use super::rows::{limit, parse, rows, snapshot};
use super::{PostgresStore, store_error};
use crate::audit::{AuditIndex, changes_to_json};
use crate::plan::signed;
use crate::rows::Columns;
use crate::{Audit, AuditCursor, AuditEntry, AuditKind, AuditQuery, AuditRecord, AuditRecords, Result};

const COLUMNS: &str = "at, id, kind, user_id, tenant_id, client_id, grant_id, address, request_id, note,
    actor_kind, actor_id, object, changes, count";

/// Appends an audit record within the caller's transaction.
pub(super) async fn append_audit(
    on: &impl GenericClient,
    random: &dyn Random,
    entry: AuditEntry,
) -> Result<()> {
    insert(on, AuditRecord { id: random.guid(), entry }, "").await
}

/// Adds the record to the one with the same time and id.
const ADD_TO_COUNT: &str = "ON CONFLICT (at, id) DO UPDATE SET count = audit.count + excluded.count,
    client_id = excluded.client_id, address = excluded.address, request_id = excluded.request_id";

/// `conflict`: what to do where the record exists.
async fn insert(on: &impl GenericClient, record: AuditRecord, conflict: &str) -> Result<()> {
    let (id, entry) = (record.id, record.entry.without_nul());
    let add = on
        .prepare_cached(&format!(
            "INSERT INTO audit ({COLUMNS})
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) {conflict}"
        ))
        .await
        .map_err(store_error)?;
    on.execute(
        &add,
        &[
            &entry.at.0,
            &id.as_bytes().as_slice(),
            &entry.kind.as_str(),
            &entry.user.as_ref().map(AccountId::as_str),
            &entry.tenant.as_ref().map(TenantId::as_str),
            &entry.client.as_ref().map(ClientId::as_str),
            &entry.grant.as_ref().map(GrantId::as_str),
            &entry.context.address,
            &entry.context.request_id,
            &entry.note,
            &entry.context.actor.kind(),
            &entry.context.actor.id(),
            &entry.object,
            &changes_to_json(&entry.changes),
            &signed(entry.count),
        ],
    )
    .await
    .map_err(store_error)?;
    Ok(())
}

/// The first column of an index with its parameter, and the condition that the index has besides.
fn indexed(index: AuditIndex) -> (Option<[&'static str; 2]>, &'static str) {
    match index {
        AuditIndex::Time => (None, ""),
        AuditIndex::Request => (Some(["request_id", "$11"]), ""),
        AuditIndex::Object => (Some(["object", "$12"]), ""),
        // As the index `audit_granted_by_client` has it, and no other.
        AuditIndex::GrantedToClient => (Some(["(client_id || '')", "$5"]), "kind = 'granted' AND "),
        AuditIndex::User => (Some(["user_id", "$3"]), ""),
        AuditIndex::Actor => (Some(["actor_id", "$10"]), "actor_id IS NOT NULL AND "),
        AuditIndex::Tenant => (Some(["tenant_id", "$4"]), ""),
        AuditIndex::Client => (Some(["client_id", "$5"]), ""),
        AuditIndex::Kind => (Some(["kind", "$6"]), ""),
        AuditIndex::ActorKind => (Some(["actor_kind", "$9"]), ""),
    }
}

/// The index range and its order. With `column = parameter` PostgreSQL may scan the primary key when it
/// considers the value common, and scan far when the value is rare. It would not stop at the earliest time, which is
/// therefore checked on each record. Only constants are composed; values are bound.
fn range(index: AuditIndex) -> [String; 2] {
    match indexed(index) {
        (None, _) => ["(at, id) < ($1, $2)".into(), "at DESC, id DESC".into()],
        (Some([column, argument]), condition) => [
            format!("{condition}{column} >= {argument} AND ({column}, at, id) < ({argument}, $1, $2)"),
            format!("{column} DESC, at DESC, id DESC"),
        ],
    }
}

const CONDITIONS: &str =
    "at >= $8 AND ($3::text IS NULL OR user_id = $3) AND ($4::text IS NULL OR tenant_id = $4)
    AND ($5::text IS NULL OR client_id = $5) AND ($6::text IS NULL OR kind = $6)
    AND ($9::text IS NULL OR actor_kind = $9) AND ($10::text IS NULL OR actor_id = $10)
    AND ($11::text IS NULL OR request_id = $11) AND ($12::text IS NULL OR object = $12)";

/// The rows of a statement that has the conditions of the query.
async fn select(on: &Transaction<'_>, sql: &str, query: &AuditQuery, rows_max: usize) -> Result<Vec<Row>> {
    let start = query.start();
    rows(
        on,
        sql,
        &[
            &start.at.0,
            &start.id.as_bytes().as_slice(),
            &query.user.as_ref().map(AccountId::as_str),
            &query.tenant.as_ref().map(TenantId::as_str),
            &query.client.as_ref().map(ClientId::as_str),
            &query.kind.map(AuditKind::as_str),
            &limit(rows_max),
            &query.end().0,
            &query.actor.as_ref().map(|actor| actor.kind),
            &query.actor.as_ref().and_then(|actor| actor.id.as_deref()),
            &query.request_id,
            &query.object,
        ],
    )
    .await
}

/// Whether a text of the query has a NUL, which no record has.
fn has_nul(query: &AuditQuery) -> bool {
    let texts = [
        query.user.as_ref().map(AccountId::as_str),
        query.tenant.as_ref().map(TenantId::as_str),
        query.client.as_ref().map(ClientId::as_str),
        query.actor.as_ref().and_then(|actor| actor.id.as_deref()),
        query.request_id.as_deref(),
        query.object.as_deref(),
    ];
    texts.into_iter().flatten().any(|text| text.contains('\0'))
}

#[async_trait]
impl Audit for PostgresStore {
    async fn record(&self, entry: &AuditEntry) -> Result<()> {
        append_audit(&*self.client().await?, &*self.ports().random, entry.clone()).await
    }

    async fn count(&self, entry: &AuditEntry) -> Result<()> {
        let record = entry.clone().counted(&self.ports().vault);
        insert(&*self.client().await?, record, ADD_TO_COUNT).await
    }

    async fn audit_page(&self, query: &AuditQuery) -> Result<AuditRecords> {
        if has_nul(query) {
            return Ok(AuditRecords::default());
        }
        let mut client = self.client().await?;
        let on = snapshot(&mut client).await?;
        let [range, order] = range(query.index());
        // In the order of the inner statement; the database reads no more of its rows than the page needs.
        let looked_at = format!(
            "FROM (SELECT * FROM audit WHERE {range} ORDER BY {order} LIMIT {}) looked_at",
            query.looks_max()
        );
        let found = format!("SELECT {COLUMNS} {looked_at} WHERE {CONDITIONS} LIMIT $7");
        let found = select(&on, &found, query, query.rows_max).await?;
        let records: Vec<AuditRecord> = found.iter().map(parse).collect::<Result<_>>()?;
        let mut last_looked_at = None;
        if records.len() < query.rows_max {
            let last =
                format!("SELECT at, id, {CONDITIONS} {looked_at} OFFSET {} LIMIT $7", query.looks_max() - 1);
            if let Some(row) = select(&on, &last, query, 1).await?.first() {
                last_looked_at = Some(AuditCursor { at: row.read("at")?, id: row.read("id")? });
            }
        }
        on.commit().await.map_err(store_error)?;
        Ok(query.page(records, last_looked_at))
    }
}
