//! Migrates the file's schema forward; refuses a schema that is newer than this program.

use rusqlite::{Connection, OptionalExtension};

use super::store_error;
use crate::archive::backfill_of;
use crate::migration::migration_number;
use crate::{Ports, Result, StoreError};

const AUTHORIZATIONS: &str = include_str!("migrations/0008_authorizations.sql");
const CONTRACT: &str = include_str!("migrations/0012_contract.sql");

/// In order; each name starts with its number.
const MIGRATIONS: &[(&str, &str)] = &[
    ("0001_spine", include_str!("migrations/0001_spine.sql")),
    ("0002_sign_in", include_str!("migrations/0002_sign_in.sql")),
    ("0003_gateway", include_str!("migrations/0003_gateway.sql")),
    ("0004_places", include_str!("migrations/0004_places.sql")),
    ("0005_webhooks", include_str!("migrations/0005_webhooks.sql")),
    ("0006_ways_into_the_log", include_str!("migrations/0006_ways_into_the_log.sql")),
    ("0007_revisions", include_str!("migrations/0007_revisions.sql")),
    ("0008_authorizations", AUTHORIZATIONS),
    ("0009_client_products", include_str!("migrations/0009_client_products.sql")),
    ("0010_sign_in_buckets", include_str!("migrations/0010_sign_in_buckets.sql")),
    ("0011_audit", include_str!("migrations/0011_audit.sql")),
    ("0012_contract", CONTRACT),
    ("0013_nodes", include_str!("migrations/0013_nodes.sql")),
    ("0014_mail", include_str!("migrations/0014_mail.sql")),
    ("0015_accounts", include_str!("migrations/0015_accounts.sql")),
    ("0016_invitations", include_str!("migrations/0016_invitations.sql")),
    ("0017_second_factors", include_str!("migrations/0017_second_factors.sql")),
    ("0018_operator_tokens", include_str!("migrations/0018_operator_tokens.sql")),
    ("0019_teams", include_str!("migrations/0019_teams.sql")),
    ("0020_figures", include_str!("migrations/0020_figures.sql")),
    ("0021_team_keys", include_str!("migrations/0021_team_keys.sql")),
    ("0022_notices", include_str!("migrations/0022_notices.sql")),
    ("0023_sandbox", include_str!("migrations/0023_sandbox.sql")),
    ("0024_page_indexes", include_str!("migrations/0024_page_indexes.sql")),
    ("0025_read_log", include_str!("migrations/0025_read_log.sql")),
    ("0026_node_details", include_str!("migrations/0026_node_details.sql")),
    ("0027_console_lists", include_str!("migrations/0027_console_lists.sql")),
    ("0028_application_lists", include_str!("migrations/0028_application_lists.sql")),
    ("0029_webhook_hosts", include_str!("migrations/0029_webhook_hosts.sql")),
    ("0030_bounded_reads", include_str!("migrations/0030_bounded_reads.sql")),
    ("0031_client_kinds", include_str!("migrations/0031_client_kinds.sql")),
    ("0032_profiles_and_origins", include_str!("migrations/0032_profiles_and_origins.sql")),
    ("0033_backchannel_logout", include_str!("migrations/0033_backchannel_logout.sql")),
];

/// What turns the data of older schemas into that of this one, for a restore from a backup of schema `from`.
pub(super) fn backfill(from: i64) -> String {
    [(AUTHORIZATIONS, 8), (CONTRACT, 12)].map(|(sql, number)| backfill_of(sql, number, from)).concat()
}

pub(super) fn known() -> i64 {
    MIGRATIONS.last().map_or(0, |(name, _)| migration_number(name))
}

pub(super) fn version(connection: &Connection) -> Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(store_error)
}

pub(super) fn up(connection: &mut Connection) -> Result<i64> {
    if version(connection)? < known() {
        let transaction = connection
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
            .map_err(store_error)?;
        // Read again under the lock, because another process may have migrated meanwhile.
        for (name, sql) in MIGRATIONS {
            let number = migration_number(name);
            if number > version(&transaction)? {
                tracing::info!(migration = name, "migrating the store's schema");
                transaction.execute_batch(sql).map_err(store_error)?;
                transaction.pragma_update(None, "user_version", number).map_err(store_error)?;
            }
        }
        transaction.commit().map_err(store_error)?;
    }
    match version(connection)? {
        found if found > known() => Err(StoreError::NewerSchema { found, known: known() }),
        found => Ok(found),
    }
}

/// Drops the planner's statistics. The statements are written for their indexes; statistics from a time when a
/// table was small would make SQLite scan it forever. Returns whether there were any: connections opened before
/// still use them.
pub(super) fn forget_statistics(connection: &Connection) -> Result<bool> {
    let find =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'sqlite\\_stat_' ESCAPE '\\'";
    let found: Vec<String> = connection
        .prepare(find)
        .and_then(|mut find| find.query_map([], |row| row.get(0))?.collect())
        .map_err(store_error)?;
    found
        .iter()
        .try_for_each(|table| connection.execute_batch(&format!("DROP TABLE IF EXISTS {table}")))
        .map_err(store_error)?;
    Ok(!found.is_empty())
}

/// A new store is bound to the master key that first opens it.
pub(super) fn check_master_key(connection: &Connection, ports: &Ports) -> Result<()> {
    let find = || -> Result<Option<Vec<u8>>> {
        connection
            .query_row("SELECT value FROM meta WHERE name = 'vault'", [], |row| row.get(0))
            .optional()
            .map_err(store_error)
    };
    if find()?.is_none() {
        let sealed = ports.vault.sealed_check(&*ports.random)?;
        connection
            .execute("INSERT OR IGNORE INTO meta (name, value) VALUES ('vault', ?1)", [sealed])
            .map_err(store_error)?;
    }
    let stored_check =
        find()?.ok_or_else(|| StoreError::internal("the vault check is missing from the store"))?;
    ports.vault.check(&stored_check)?;
    let is_restoring = connection
        .query_row("SELECT 1 FROM meta WHERE name = 'restoring'", [], |_| Ok(()))
        .optional()
        .map_err(store_error)?;
    is_restoring.map_or(Ok(()), |()| Err(StoreError::UnfinishedRestore))
}
