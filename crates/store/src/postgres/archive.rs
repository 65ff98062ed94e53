//! Backup and restore of a PostgreSQL store.

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::Ticks;
use tokio::sync::mpsc;
use tokio_postgres::types::ToSql;

use super::audit::append_audit;
use super::rows::{Args, execute, snapshot};
use super::{PostgresStore, store_error};
use crate::archive::{CHUNK_ROWS, ColumnType, RowChunk, TABLES, Table, occupied_sql};
use crate::plan::{signed, unsigned};
use crate::{Archive, AuditContext, BackupSummary, CellValue, RestoredAccess, Result, Status, StoreError};

fn value(row: &tokio_postgres::Row, column: usize, kind: ColumnType) -> CellValue {
    match kind {
        ColumnType::Int => row.get::<_, Option<i64>>(column).map_or(CellValue::Null, CellValue::Int),
        ColumnType::Text => row.get::<_, Option<String>>(column).map_or(CellValue::Null, CellValue::Text),
        ColumnType::Bytes => row.get::<_, Option<Vec<u8>>>(column).map_or(CellValue::Null, CellValue::Bytes),
    }
}

/// One column of a chunk as an array parameter.
fn array(chunk: &RowChunk, column: usize, kind: ColumnType) -> Box<dyn ToSql + Sync + Send> {
    let cells = chunk.rows.iter().map(|row| row.get(column).cloned().unwrap_or(CellValue::Null));
    match kind {
        ColumnType::Int => Box::new(
            cells
                .map(|cell| if let CellValue::Int(number) = cell { Some(number) } else { None })
                .collect::<Vec<_>>(),
        ),
        ColumnType::Text => Box::new(
            cells
                .map(|cell| if let CellValue::Text(text) = cell { Some(text) } else { None })
                .collect::<Vec<_>>(),
        ),
        ColumnType::Bytes => Box::new(
            cells
                .map(|cell| if let CellValue::Bytes(bytes) = cell { Some(bytes) } else { None })
                .collect::<Vec<_>>(),
        ),
    }
}

fn array_type(kind: ColumnType) -> &'static str {
    match kind {
        ColumnType::Int => "bigint[]",
        ColumnType::Text => "text[]",
        ColumnType::Bytes => "bytea[]",
    }
}

async fn settle_access(on: &Transaction<'_>, access: RestoredAccess, now: Ticks) -> Result<()> {
    on.batch_execute("DELETE FROM sessions; DELETE FROM codes WHERE used_at IS NULL")
        .await
        .map_err(store_error)?;
    if access == RestoredAccess::Confirm {
        let sql = "UPDATE accounts SET standing = $2, revision = revision + 1 WHERE standing = $1";
        let codes: Args<'_> = &[&Status::Active.code(), &Status::Unconfirmed.code()];
        execute(on, sql, codes).await.map_err(store_error)?;
        let revoke = "UPDATE operator_tokens SET revoked_at = $1 WHERE revoked_at IS NULL";
        execute(on, revoke, &[&now.0]).await.map_err(store_error)?;
    }
    Ok(())
}

#[async_trait]
impl Archive for PostgresStore {
    async fn dump(&self, out: mpsc::Sender<RowChunk>) -> Result<()> {
        let mut client = self.long_client().await?;
        let snapshot = snapshot(&mut client).await?;
        // The snapshot holds no locks, and the reader of the channel may be slow.
        snapshot
            .batch_execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            .await
            .map_err(store_error)?;
        for table in &TABLES {
            let sql = format!("SELECT {} FROM {} ORDER BY {}", table.column_list(), table.name, table.key);
            let statement = snapshot.prepare(&sql).await.map_err(store_error)?;
            let portal = snapshot.bind(&statement, &[]).await.map_err(store_error)?;
            loop {
                let rows = snapshot
                    .query_portal(&portal, i32::try_from(CHUNK_ROWS).unwrap_or(i32::MAX))
                    .await
                    .map_err(store_error)?;
                if rows.is_empty() {
                    break;
                }
                let cells = |row: &tokio_postgres::Row| {
                    table.columns().enumerate().map(|(at, (_, kind))| value(row, at, kind)).collect()
                };
                let rows = rows.iter().map(cells).collect();
                out.send(RowChunk { table, rows }).await.map_err(|_| {
                    StoreError::internal("the backup file was closed before all rows were written")
                })?;
            }
        }
        Ok(())
    }

    async fn is_empty(&self) -> Result<bool> {
        let row = self.row(&occupied_sql(), &[]).await?;
        Ok(row.is_some_and(|row| !row.get::<_, bool>(0)))
    }

    async fn load(&self, chunk: RowChunk) -> Result<()> {
        let table = chunk.table;
        let arrays: Vec<String> = table
            .columns()
            .enumerate()
            .map(|(at, (_, kind))| format!("${}::{}", at + 1, array_type(kind)))
            .collect();
        let sql = format!(
            "INSERT INTO {} ({}) SELECT * FROM unnest({})",
            table.name,
            table.column_list(),
            arrays.join(", ")
        );
        let columns: Vec<_> =
            table.columns().enumerate().map(|(at, (_, kind))| array(&chunk, at, kind)).collect();
        let args: Vec<&(dyn ToSql + Sync)> =
            columns.iter().map(|column| &**column as &(dyn ToSql + Sync)).collect();
        self.change(&sql, &args).await?;
        Ok(())
    }

    async fn count_rows(&self, table: &'static Table) -> Result<u64> {
        let client = self.long_client().await?;
        let sql = format!("SELECT count(*) FROM {}", table.name);
        Ok(unsigned(client.query_one(&sql, &[]).await.map_err(store_error)?.get(0)))
    }

    async fn begin_restore(&self) -> Result<()> {
        self.change("INSERT INTO meta (name, value) VALUES ('restoring', '\\x01')", &[]).await.map(drop)
    }

    async fn end_restore(&self) -> Result<()> {
        self.change("DELETE FROM meta WHERE name = 'restoring'", &[]).await.map(drop)
    }

    async fn finish_restore(
        &self,
        heads_advance: u64,
        backup: &BackupSummary,
        access: RestoredAccess,
        context: &AuditContext,
    ) -> Result<()> {
        self.row(
            "SELECT setval(pg_get_serial_sequence('tenants', 'no'),
                 greatest((SELECT coalesce(max(no), 0) FROM tenants),
                     (SELECT coalesce(max(tenant_no), 0) FROM erased_tenants)) + 1, false)",
            &[],
        )
        .await?;
        let mut client = self.long_client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        settle_access(&transaction, access, self.ports().clock.now()).await?;
        let advance = "UPDATE heads SET head = head + $1";
        execute(&transaction, advance, &[&signed(heads_advance)]).await.map_err(store_error)?;
        transaction.batch_execute(&super::migrate::backfill(backup.schema)).await.map_err(store_error)?;
        let entry = self.act(context).restored(&backup.taken_at, backup.rows, access);
        append_audit(&transaction, &*self.ports().random, entry).await?;
        transaction.commit().await.map_err(store_error)
    }

    fn check_vault(&self, sealed_check: &[u8]) -> Result<()> {
        self.ports().vault.check(sealed_check)
    }

    fn schema(&self) -> i64 {
        self.inner.schema
    }
}
