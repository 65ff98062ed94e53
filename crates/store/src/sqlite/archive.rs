//! Backup and restore of a SQLite store.

use async_trait::async_trait;
use domain::Ticks;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql, params_from_iter};
use tokio::sync::mpsc;

use super::audit::append_audit;
use super::collection_numbers::CollectionNumbers;
use super::{SqliteStore, store_error};
use crate::archive::{CHUNK_ROWS, RowChunk, TABLES, Table, occupied_sql};
use crate::plan::{signed, unsigned};
use crate::{Archive, AuditContext, BackupSummary, CellValue, RestoredAccess, Result, Status, StoreError};

const RECORDS: &str = "records";

impl ToSql for CellValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

fn value(cell: ValueRef<'_>) -> Result<CellValue> {
    Ok(match cell {
        ValueRef::Null => CellValue::Null,
        ValueRef::Integer(number) => CellValue::Int(number),
        ValueRef::Text(text) => {
            CellValue::Text(String::from_utf8(text.to_vec()).map_err(StoreError::internal)?)
        }
        ValueRef::Blob(bytes) => CellValue::Bytes(bytes.to_vec()),
        ValueRef::Real(_) => return Err(StoreError::internal("a column holds a floating-point number")),
    })
}

impl SqliteStore {
    fn dump_table(reader: &Connection, table: &'static Table, out: &mpsc::Sender<RowChunk>) -> Result<()> {
        let width = table.columns().count();
        let sql = if table.name == RECORDS {
            // Ordered without sorting: one collection after the other.
            format!(
                "SELECT {} FROM places p CROSS JOIN records r ON r.row BETWEEN p.no << 32 AND (p.no << 32) + 4294967295
                 ORDER BY p.tenant_no, p.company_no, p.resource, r.row",
                table.columns().map(|(name, _)| format!("r.{name}")).collect::<Vec<_>>().join(", ")
            )
        } else {
            format!("SELECT {} FROM {} ORDER BY {}", table.column_list(), table.name, table.key)
        };
        let mut statement = reader.prepare(&sql).map_err(store_error)?;
        let mut rows = statement.query([]).map_err(store_error)?;
        let mut chunk = Vec::with_capacity(CHUNK_ROWS);
        while let Some(row) = rows.next().map_err(store_error)? {
            let cells = (0..width).map(|column| value(row.get_ref(column).map_err(store_error)?));
            chunk.push(cells.collect::<Result<_>>()?);
            if chunk.len() == CHUNK_ROWS {
                send(out, RowChunk { table, rows: std::mem::take(&mut chunk) })?;
            }
        }
        if chunk.is_empty() { Ok(()) } else { send(out, RowChunk { table, rows: chunk }) }
    }
}

/// Records get row numbers as they are loaded, since backups do not contain them.
fn load_records(writer: &Connection, chunk: &RowChunk) -> Result<()> {
    let columns = chunk.table.columns().count();
    let marks = vec!["?"; columns].join(", ");
    let sql = format!("INSERT INTO records (row, {}) VALUES (?, {marks})", chunk.table.column_list());
    let mut insert = writer.prepare_cached(&sql).map_err(store_error)?;
    let mut collection_numbers = CollectionNumbers::new(writer);
    for cells in &chunk.rows {
        let [
            CellValue::Int(tenant_no),
            CellValue::Int(company_no),
            CellValue::Int(resource),
            CellValue::Int(ordinal),
            ..,
        ] = cells[..]
        else {
            return Err(StoreError::internal("a record row lacks its tenant, company, resource or ordinal"));
        };
        let resource = i16::try_from(resource).map_err(StoreError::internal)?;
        let row = collection_numbers
            .row((tenant_no, company_no, resource), unsigned(ordinal))
            .map_err(store_error)?;
        insert
            .execute(params_from_iter([&CellValue::Int(row)].into_iter().chain(cells)))
            .map_err(store_error)?;
    }
    Ok(())
}

fn send(out: &mpsc::Sender<RowChunk>, chunk: RowChunk) -> Result<()> {
    out.blocking_send(chunk)
        .map_err(|_| StoreError::internal("the backup file was closed before all rows were written"))
}

fn settle_access(writer: &Connection, access: RestoredAccess, now: Ticks) -> Result<()> {
    writer
        .execute_batch("DELETE FROM sessions; DELETE FROM codes WHERE used_at IS NULL")
        .map_err(store_error)?;
    if access == RestoredAccess::Confirm {
        let sql = "UPDATE accounts SET standing = ?2, revision = revision + 1 WHERE standing = ?1";
        let codes = [Status::Active.code(), Status::Unconfirmed.code()];
        writer.execute(sql, codes).map_err(store_error)?;
        let revoke = "UPDATE operator_tokens SET revoked_at = ?1 WHERE revoked_at IS NULL";
        writer.execute(revoke, [now.0]).map_err(store_error)?;
    }
    Ok(())
}

#[async_trait]
impl Archive for SqliteStore {
    async fn dump(&self, out: mpsc::Sender<RowChunk>) -> Result<()> {
        let store = self.clone();
        let dumping = tokio::task::spawn_blocking(move || {
            store.read_fresh_snapshot(|reader| {
                TABLES.iter().try_for_each(|table| Self::dump_table(reader, table, &out))
            })
        });
        dumping.await.map_err(StoreError::internal)?
    }

    async fn is_empty(&self) -> Result<bool> {
        self.read(|reader| {
            reader
                .query_row(&occupied_sql(), [], |row| row.get::<_, bool>(0))
                .map(|occupied| !occupied)
                .map_err(store_error)
        })
    }

    async fn load(&self, chunk: RowChunk) -> Result<()> {
        self.write(move |writer| {
            let table = chunk.table;
            if table.name == RECORDS {
                return load_records(writer, &chunk);
            }
            let marks = vec!["?"; table.columns().count()].join(", ");
            let sql = format!("INSERT INTO {} ({}) VALUES ({marks})", table.name, table.column_list());
            let mut insert = writer.prepare_cached(&sql).map_err(store_error)?;
            for row in &chunk.rows {
                insert.execute(params_from_iter(row)).map_err(store_error)?;
            }
            Ok(())
        })
        .await
    }

    async fn count_rows(&self, table: &'static Table) -> Result<u64> {
        self.read(|reader| {
            reader
                .query_row(&format!("SELECT count(*) FROM {}", table.name), [], |row| row.get(0))
                .map(unsigned)
                .map_err(store_error)
        })
    }

    async fn begin_restore(&self) -> Result<()> {
        self.write(|writer| {
            let sql = "INSERT INTO meta (name, value) VALUES ('restoring', x'01')";
            writer.execute(sql, []).map(drop).map_err(store_error)
        })
        .await
    }

    async fn end_restore(&self) -> Result<()> {
        self.write(|writer| {
            let sql = "DELETE FROM meta WHERE name = 'restoring'";
            writer.execute(sql, []).map(drop).map_err(store_error)
        })
        .await
    }

    async fn finish_restore(
        &self,
        heads_advance: u64,
        backup: &BackupSummary,
        access: RestoredAccess,
        context: &AuditContext,
    ) -> Result<()> {
        let random = self.ports().random.clone();
        let entry = self.act(context).restored(&backup.taken_at, backup.rows, access);
        let (from_schema, now) = (backup.schema, self.ports().clock.now());
        self.write(move |writer| {
            settle_access(writer, access, now)?;
            writer
                .execute("UPDATE heads SET head = head + ?1", [signed(heads_advance)])
                .map_err(store_error)?;
            // The numbers of erased tenants must not be reused either.
            writer
                .execute_batch(
                    "DELETE FROM sqlite_sequence WHERE name = 'tenants';
                     INSERT INTO sqlite_sequence (name, seq) SELECT 'tenants',
                         max(coalesce((SELECT max(no) FROM tenants), 0),
                             coalesce((SELECT max(tenant_no) FROM erased_tenants), 0));",
                )
                .map_err(store_error)?;
            writer.execute_batch(&super::migrate::backfill(from_schema)).map_err(store_error)?;
            append_audit(writer, &*random, entry)
        })
        .await
    }

    fn check_vault(&self, sealed_check: &[u8]) -> Result<()> {
        self.ports().vault.check(sealed_check)
    }

    fn schema(&self) -> i64 {
        self.inner.writer.schema
    }
}
