//! Brings a file's schema up to date, forward only; refuses one that a newer program has made.

use rusqlite::{Connection, OptionalExtension};

use super::fault;
use crate::{Ports, Result, StoreError};

/// In order; the name of each says its number.
const MIGRATIONS: [(&str, &str); 7] = [
    ("0001_spine", include_str!("migrations/0001_spine.sql")),
    ("0002_sign_in", include_str!("migrations/0002_sign_in.sql")),
    ("0003_gateway", include_str!("migrations/0003_gateway.sql")),
    ("0004_places", include_str!("migrations/0004_places.sql")),
    ("0005_webhooks", include_str!("migrations/0005_webhooks.sql")),
    ("0006_ways_into_the_log", include_str!("migrations/0006_ways_into_the_log.sql")),
    ("0007_revisions", include_str!("migrations/0007_revisions.sql")),
];

pub(super) fn known() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

pub(super) fn version(connection: &Connection) -> Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(fault)
}

pub(super) fn up(connection: &mut Connection) -> Result<i64> {
    if version(connection)? < known() {
        let transaction =
            connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).map_err(fault)?;
        // Read again under the lock: another process may have been faster.
        for (number, (name, sql)) in (1_i64..).zip(MIGRATIONS) {
            if number > version(&transaction)? {
                tracing::info!(migration = name, "bringing the store's schema up to date");
                transaction.execute_batch(sql).map_err(fault)?;
                transaction.pragma_update(None, "user_version", number).map_err(fault)?;
            }
        }
        transaction.commit().map_err(fault)?;
    }
    match version(connection)? {
        found if found > known() => Err(StoreError::NewerSchema { found, known: known() }),
        found => Ok(found),
    }
}

/// Statements are written for their indexes, and are planned for tables of any size. What SQLite once counted in a table
/// that was small then would have it walk through the whole of it ever after: a file is not to hold such counts. Tells
/// whether it did; connections that were open then still know them.
pub(super) fn forget_statistics(connection: &Connection) -> Result<bool> {
    let find =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'sqlite\\_stat_' ESCAPE '\\'";
    let found: Vec<String> = connection
        .prepare(find)
        .and_then(|mut find| find.query_map([], |row| row.get(0))?.collect())
        .map_err(fault)?;
    found
        .iter()
        .try_for_each(|table| connection.execute_batch(&format!("DROP TABLE IF EXISTS {table}")))
        .map_err(fault)?;
    Ok(!found.is_empty())
}

/// A new store takes the master key that it is opened with; after that, no other opens it.
pub(super) fn check_master_key(connection: &Connection, ports: &Ports) -> Result<()> {
    let find = || -> Result<Option<Vec<u8>>> {
        connection
            .query_row("SELECT value FROM meta WHERE name = 'vault'", [], |row| row.get(0))
            .optional()
            .map_err(fault)
    };
    if find()?.is_none() {
        let sealed = ports.vault.sealed_check(&*ports.random)?;
        connection
            .execute("INSERT OR IGNORE INTO meta (name, value) VALUES ('vault', ?1)", [sealed])
            .map_err(fault)?;
    }
    let kept = find()?.ok_or_else(|| StoreError::internal("the vault's check is missing"))?;
    ports.vault.check(&kept)
}
