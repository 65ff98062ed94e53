//! Small look-ups and conversions that several tables share.

use deadpool_postgres::{Object, Transaction};
use domain::{Guid, Resource, TenantId};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{IsolationLevel, Row};

use super::{PostgresStore, fault};
use crate::plan::TENANT;
use crate::{Result, StoreError};

pub(super) type Args<'a> = &'a [&'a (dyn ToSql + Sync)];

impl PostgresStore {
    pub(super) async fn rows(&self, sql: &str, args: Args<'_>) -> Result<Vec<Row>> {
        let client = self.client().await?;
        let statement = client.prepare_cached(sql).await.map_err(fault)?;
        found(client.query(&statement, args).await)
    }

    pub(super) async fn row(&self, sql: &str, args: Args<'_>) -> Result<Option<Row>> {
        let client = self.client().await?;
        let statement = client.prepare_cached(sql).await.map_err(fault)?;
        found(client.query_opt(&statement, args).await)
    }

    /// Changes rows; false where there are none.
    pub(super) async fn change(&self, sql: &str, args: Args<'_>) -> Result<bool> {
        let client = self.client().await?;
        let statement = client.prepare_cached(sql).await.map_err(fault)?;
        client.execute(&statement, args).await.map(|rows| rows > 0).map_err(fault)
    }

    /// As `change`, for what changes somebody's access.
    pub(super) async fn change_access(&self, sql: &str, args: Args<'_>) -> Result<bool> {
        let changed = self.change(sql, args).await;
        self.access_changed();
        changed
    }

    /// Inserts a row that must be new.
    pub(super) async fn insert(&self, what: String, sql: &str, args: Args<'_>) -> Result<()> {
        let client = self.client().await?;
        let statement = client.prepare_cached(sql).await.map_err(fault)?;
        client.execute(&statement, args).await.map(|_| ()).map_err(super::exists(what))
    }
}

/// Runs a statement that is prepared once for each connection; tells how many rows it changed.
pub(super) async fn execute(
    on: &Transaction<'_>,
    sql: &str,
    args: Args<'_>,
) -> std::result::Result<u64, tokio_postgres::Error> {
    let statement = on.prepare_cached(sql).await?;
    on.execute(&statement, args).await
}

/// Looks one row up, or changes it, with a statement that is prepared once for each connection.
pub(super) async fn row(on: &Transaction<'_>, sql: &str, args: Args<'_>) -> Result<Option<Row>> {
    let statement = on.prepare_cached(sql).await.map_err(fault)?;
    found(on.query_opt(&statement, args).await)
}

/// Looks rows up with a statement that is prepared once for each connection.
pub(super) async fn rows(on: &Transaction<'_>, sql: &str, args: Args<'_>) -> Result<Vec<Row>> {
    let statement = on.prepare_cached(sql).await.map_err(fault)?;
    found(on.query(&statement, args).await)
}

/// Several reads of one moment.
pub(super) async fn snapshot(client: &mut Object) -> Result<Transaction<'_>> {
    let reading = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
    reading.start().await.map_err(fault)
}

/// What a look-up found. No text of PostgreSQL's holds a NUL, so nothing is found under one that does.
pub(super) fn found<T: Default>(answer: std::result::Result<T, tokio_postgres::Error>) -> Result<T> {
    match answer {
        Err(error) if error.code() == Some(&SqlState::CHARACTER_NOT_IN_REPERTOIRE) => Ok(T::default()),
        answer => answer.map_err(fault),
    }
}

pub(super) async fn tenant_no(on: &Transaction<'_>, tenant: &TenantId) -> Result<Option<i64>> {
    let row = on.query_opt("SELECT no FROM tenants WHERE id = $1", &[&tenant.as_str()]).await;
    Ok(found(row)?.map(|row| row.get(0)))
}

/// The number of a company that is there.
pub(super) async fn company_no(on: &Transaction<'_>, tenant_no: i64, company: &str) -> Result<Option<i64>> {
    let row = on
        .query_opt(
            "SELECT ordinal FROM records
             WHERE tenant_no = $1 AND correlation_id = $4 AND company_no + 0 = $2 AND resource + 0 = $3",
            &[&tenant_no, &TENANT, &code(Resource::companies()), &company],
        )
        .await;
    Ok(found(row)?.map(|row| row.get(0)))
}

/// One column of rows that are written as arrays.
pub(super) fn column<'a, R, T>(rows: &'a [R], of: impl Fn(&'a R) -> T) -> Vec<T> {
    rows.iter().map(of).collect()
}

pub(super) fn code(resource: Resource) -> i64 {
    i64::from(resource.code())
}

pub(super) fn guid(row: &Row, column: usize) -> Result<Guid> {
    bytes(row, column).map(Guid::from_bytes)
}

/// A column that holds exactly `N` bytes.
pub(super) fn bytes<const N: usize>(row: &Row, column: usize) -> Result<[u8; N]> {
    row.get::<_, &[u8]>(column).try_into().map_err(|_| StoreError::internal("bytes of a wrong length"))
}

/// Limits come as counts of rows.
pub(super) fn limit(rows_max: usize) -> i64 {
    i64::try_from(rows_max).unwrap_or(i64::MAX)
}

pub(super) fn small(number: i64) -> i16 {
    i16::try_from(number).unwrap_or(0)
}
