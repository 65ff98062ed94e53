//! Backup and restore of a PostgreSQL store.

use async_trait::async_trait;
use tokio::sync::mpsc;
use tokio_postgres::types::ToSql;

use super::rows::snapshot;
use super::{PostgresStore, fault};
use crate::archive::{CHUNK_ROWS, Chunk, Kind, TABLES, Table, occupied_sql};
use crate::plan::{signed, unsigned};
use crate::{Archive, Result, StoreError, Value};

fn value(row: &tokio_postgres::Row, column: usize, kind: Kind) -> Value {
    match kind {
        Kind::Int => row.get::<_, Option<i64>>(column).map_or(Value::Null, Value::Int),
        Kind::Text => row.get::<_, Option<String>>(column).map_or(Value::Null, Value::Text),
        Kind::Bytes => row.get::<_, Option<Vec<u8>>>(column).map_or(Value::Null, Value::Bytes),
    }
}

/// One column of a chunk as an array.
fn array(chunk: &Chunk, column: usize, kind: Kind) -> Box<dyn ToSql + Sync + Send> {
    let cells = chunk.rows.iter().map(|row| row.get(column).cloned().unwrap_or(Value::Null));
    match kind {
        Kind::Int => Box::new(
            cells
                .map(|cell| if let Value::Int(number) = cell { Some(number) } else { None })
                .collect::<Vec<_>>(),
        ),
        Kind::Text => Box::new(
            cells
                .map(|cell| if let Value::Text(text) = cell { Some(text) } else { None })
                .collect::<Vec<_>>(),
        ),
        Kind::Bytes => Box::new(
            cells
                .map(|cell| if let Value::Bytes(bytes) = cell { Some(bytes) } else { None })
                .collect::<Vec<_>>(),
        ),
    }
}

fn array_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Int => "bigint[]",
        Kind::Text => "text[]",
        Kind::Bytes => "bytea[]",
    }
}

#[async_trait]
impl Archive for PostgresStore {
    async fn dump(&self, out: mpsc::Sender<Chunk>) -> Result<()> {
        let mut client = self.client().await?;
        let snapshot = snapshot(&mut client).await?;
        // Locks nothing, and waits for whoever writes it all down.
        snapshot.batch_execute("SET LOCAL idle_in_transaction_session_timeout = 0").await.map_err(fault)?;
        for table in &TABLES {
            let sql = format!("SELECT {} FROM {} ORDER BY {}", table.column_list(), table.name, table.key);
            let statement = snapshot.prepare(&sql).await.map_err(fault)?;
            let portal = snapshot.bind(&statement, &[]).await.map_err(fault)?;
            loop {
                let rows = snapshot
                    .query_portal(&portal, i32::try_from(CHUNK_ROWS).unwrap_or(i32::MAX))
                    .await
                    .map_err(fault)?;
                if rows.is_empty() {
                    break;
                }
                let cells = |row: &tokio_postgres::Row| {
                    table.columns().enumerate().map(|(at, (_, kind))| value(row, at, kind)).collect()
                };
                let rows = rows.iter().map(cells).collect();
                out.send(Chunk { table, rows })
                    .await
                    .map_err(|_| StoreError::internal("the backup's file was closed"))?;
            }
        }
        Ok(())
    }

    async fn is_empty(&self) -> Result<bool> {
        let row = self.row(&occupied_sql(), &[]).await?;
        Ok(row.is_some_and(|row| !row.get::<_, bool>(0)))
    }

    async fn load(&self, chunk: Chunk) -> Result<()> {
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
        let row = self.row(&format!("SELECT count(*) FROM {}", table.name), &[]).await?;
        Ok(row.map_or(0, |row| unsigned(row.get(0))))
    }

    async fn settle(&self, heads_advance: u64) -> Result<()> {
        self.change("UPDATE heads SET head = head + $1", &[&signed(heads_advance)]).await?;
        self.row(
            "SELECT setval(pg_get_serial_sequence('tenants', 'no'),
                 greatest((SELECT coalesce(max(no), 0) FROM tenants),
                     (SELECT coalesce(max(tenant_no), 0) FROM erased_tenants)) + 1, false)",
            &[],
        )
        .await?;
        Ok(())
    }

    fn opens(&self, sealed_check: &[u8]) -> Result<()> {
        self.ports().vault.check(sealed_check)
    }

    fn schema(&self) -> i64 {
        self.inner.schema
    }
}
