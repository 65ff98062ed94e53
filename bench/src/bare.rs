//! The limits for the ingest benchmark: loops that write the same rows to the same store and do nothing else, and a handler
//! that parses the same line and responds from memory.

use std::path::Path;
use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::{get, post};
use bytes::Bytes;
use domain::Resource;
use domain::change::Change;
use rusqlite::params;

use crate::rows::{COMPANY, CustomerRow, customer_row};
use crate::{Fallible, page_query};

const SQLITE_SCHEMA: [&str; 4] = [
    include_str!("../../crates/store/src/sqlite/migrations/0001_spine.sql"),
    include_str!("../../crates/store/src/sqlite/migrations/0002_sign_in.sql"),
    include_str!("../../crates/store/src/sqlite/migrations/0003_gateway.sql"),
    include_str!("../../crates/store/src/sqlite/migrations/0004_places.sql"),
];
const POSTGRES_SCHEMA: &str = include_str!("../../crates/store/src/postgres/migrations/0001_spine.sql");

/// Rows per second, with `group` rows per commit.
pub(crate) fn sqlite(group: u64, span: Duration) -> Fallible<f64> {
    let folder = tempfile::tempdir()?;
    let connection = rusqlite::Connection::open(folder.path().join("bare.db"))?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000;
         PRAGMA cache_size = -8192;",
    )?;
    for migration in SQLITE_SCHEMA {
        connection.execute_batch(migration)?;
    }
    connection.execute("INSERT INTO heads (tenant_no, head, floor, version) VALUES (1, 0, 0, 0)", [])?;
    let code = Resource::customers().code();
    let mut written = 0;
    let mut busy = Duration::ZERO;
    while busy < span {
        let rows: Vec<CustomerRow> = (written..written + group).map(customer_row).collect();
        let from = Instant::now();
        connection.execute_batch("BEGIN IMMEDIATE")?;
        let mut record = connection
            .prepare_cached("INSERT INTO records VALUES (1 << 32 | ?2, 1, 1, ?1, ?2, ?3, 1, ?4, ?5, ?6)")?;
        for row in &rows {
            record.execute(params![code, row.ordinal, row.id, row.version, row.sequence, row.body])?;
        }
        let mut log = connection.prepare_cached(
            "INSERT INTO log VALUES (1, ?1, ?2, 1, 1, ?3, ?4, ?5, ?6, ?7, ?8, 'maria', 'ERP', 'Alta', NULL, 1)",
        )?;
        for row in &rows {
            log.execute(params![
                row.sequence,
                code,
                row.record_key,
                row.version,
                row.conversation,
                row.process,
                COMPANY,
                row.id
            ])?;
        }
        connection
            .prepare_cached("UPDATE heads SET head = ?1 WHERE tenant_no = 1")?
            .execute([rows.last().map_or(0, |row| row.sequence)])?;
        connection.execute_batch("COMMIT")?;
        busy += from.elapsed();
        written += group;
    }
    Ok(written as f64 / busy.as_secs_f64())
}

/// The same on PostgreSQL, as arrays.
pub(crate) async fn postgres(url: &str, group: u64, span: Duration) -> Fallible<f64> {
    let (mut client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await?;
    let connection_task = tokio::spawn(connection);
    client
        .batch_execute("DROP SCHEMA IF EXISTS bare CASCADE; CREATE SCHEMA bare; SET search_path = bare")
        .await?;
    client.batch_execute(POSTGRES_SCHEMA).await?;
    client.execute("INSERT INTO heads (tenant_no, head, floor, version) VALUES (1, 0, 0, 0)", &[]).await?;
    let code = i64::from(Resource::customers().code());
    let record = client
        .prepare(
            "INSERT INTO records SELECT 1, 1, $1, o, i, 1, v, s, b
             FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::text[]) AS k (o, i, v, s, b)",
        )
        .await?;
    let log = client
        .prepare(
            "INSERT INTO log SELECT 1, s, $1, 1, 1, r, v, c, p, $2, i, 'maria', 'ERP', 'Alta', NULL, 1
             FROM unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::bytea[], $7::bytea[], $8::text[])
                 AS k (s, r, v, c, p, i)",
        )
        .await?;
    let mut written = 0;
    let mut busy = Duration::ZERO;
    while busy < span {
        let rows: Vec<CustomerRow> = (written..written + group).map(customer_row).collect();
        let from = Instant::now();
        let transaction = client.transaction().await?;
        let ordinals: Vec<i64> = rows.iter().map(|row| row.ordinal).collect();
        let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
        let versions: Vec<i64> = rows.iter().map(|row| row.version).collect();
        let sequences: Vec<i64> = rows.iter().map(|row| row.sequence).collect();
        let bodies: Vec<&str> = rows.iter().map(|row| row.body.as_str()).collect();
        transaction.execute(&record, &[&code, &ordinals, &ids, &versions, &sequences, &bodies]).await?;
        let keys: Vec<i64> = rows.iter().map(|row| row.record_key).collect();
        let conversations: Vec<&[u8]> = rows.iter().map(|row| row.conversation.as_slice()).collect();
        let processes: Vec<&[u8]> = rows.iter().map(|row| row.process.as_slice()).collect();
        transaction
            .execute(&log, &[&code, &COMPANY, &sequences, &keys, &versions, &conversations, &processes, &ids])
            .await?;
        transaction.execute("UPDATE heads SET head = head + 1 WHERE tenant_no = 1", &[]).await?;
        transaction.commit().await?;
        busy += from.elapsed();
        written += group;
    }
    client.batch_execute("DROP SCHEMA bare CASCADE").await?;
    drop(client);
    connection_task.await??;
    Ok(written as f64 / busy.as_secs_f64())
}

/// A bare axum server: parses the line as the ingest API does and responds from memory. Prints its address and serves until
/// its standard input ends. At `/fixed` it returns the bytes of a file.
pub(crate) fn handler(body: Option<&str>, database: Option<&str>) -> Fallible<()> {
    let fixed = match body {
        Some(file) => Bytes::from(std::fs::read(file)?),
        None => Bytes::from(vec![b'x'; FIXED_BYTES]),
    };
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?);
        let router = Router::new().route("/", post(parse)).route("/fixed", get(|| async move { fixed }));
        let router = match database {
            Some(file) => router.merge(page_query::routes(Path::new(file))?),
            None => router,
        };
        let serving = tokio::spawn(async move { axum::serve(listener, router).await });
        tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink())).await??;
        serving.abort();
        Ok(())
    })
}

/// The length of a discovery document.
const FIXED_BYTES: usize = 1800;

async fn parse(body: Bytes) -> String {
    match Change::parse(&body, || domain::Guid::from_bytes([0; 16])) {
        Ok(parsed) => format!(r#"{{"accepted":1,"id":"{}"}}"#, parsed.change.correlation_id),
        Err(fault) => fault.message,
    }
}
