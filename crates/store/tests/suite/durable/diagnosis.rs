//! What the doctor reads of each store.

use store::postgres::PostgresStore;
use store::sqlite::SqliteStore;

use crate::suite::postgres_database::{Database, connect};

#[tokio::test]
async fn postgres_tells_its_settings() {
    let database = Database::create().await;
    let found = PostgresStore::diagnose(&database.url()).await.unwrap();
    assert!(found.version >= 150_000, "{found:?}");
    assert!(
        found.connections_max > found.connections_reserved && found.connections_used > Some(0),
        "{found:?}"
    );
    assert!(["on", "off", "local", "remote_write", "remote_apply"].contains(&&*found.synchronous_commit));
    assert!(["minimal", "replica", "logical"].contains(&&*found.wal_level), "{found:?}");
    assert!(*found.now.iso() > *"2026", "{found:?}");
}

/// As on an engine with the same protocol that lacks the views.
#[tokio::test]
async fn postgres_without_its_statistics_tells_the_rest() {
    let database = Database::create().await;
    let client = connect(&database.url()).await;
    client
        .batch_execute(
            "CREATE VIEW public.pg_stat_archiver AS SELECT 1 AS other;
             CREATE VIEW public.pg_stat_activity AS SELECT 1 AS other;
             DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database()); END $$",
        )
        .await
        .unwrap();
    let found = PostgresStore::diagnose(&database.url()).await.unwrap();
    assert_eq!((found.connections_used, found.is_archiving_failing), (None, false));
    assert!(found.version >= 150_000 && found.connections_max > 0, "{found:?}");
}

#[tokio::test]
async fn postgres_that_is_not_there_is_an_error() {
    assert!(PostgresStore::diagnose("postgres://nobody@127.0.0.1:1/none").await.is_err());
}

#[test]
fn sqlite_tells_its_settings_and_its_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("aldaba.db");
    assert_eq!(SqliteStore::diagnose(&path).unwrap(), None, "there is none yet");
    let other = rusqlite::Connection::open(&path).unwrap();
    other
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE a (b TEXT); CREATE INDEX c ON a (b)")
        .unwrap();
    let rows = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) \
                INSERT INTO a SELECT printf('%0100d', i) FROM n";
    other.execute_batch(rows).unwrap();
    let found = SqliteStore::diagnose(&path).unwrap().unwrap();
    assert_eq!((found.journal_mode.as_str(), found.synchronous), ("wal", 2), "as the service opens it");
    assert!(found.bytes > 100_000, "{found:?}");
    assert_eq!(found.integrity, Some(Ok(())));
    other.execute_batch("PRAGMA journal_mode = DELETE").unwrap();
    drop(other);
    let found = SqliteStore::diagnose(&path).unwrap().unwrap();
    assert_eq!(found.journal_mode, "delete");
    // All pages but the first, which has the schema.
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[4096 * 3..].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    let found = SqliteStore::diagnose(&path).unwrap().unwrap();
    assert!(matches!(found.integrity, Some(Err(_))), "{found:?}");
}
