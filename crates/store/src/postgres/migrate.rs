//! Migrates the database's schema forward; refuses a schema that is newer than this program.

use deadpool_postgres::Object;

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
/// The advisory lock that serializes nodes that start at the same time. The value is arbitrary.
const LOCK: i64 = 0x616c_6461_6261;

/// What turns the data of older schemas into that of this one, for a restore from a backup of schema `from`.
pub(super) fn backfill(from: i64) -> String {
    [(AUTHORIZATIONS, 8), (CONTRACT, 12)].map(|(sql, number)| backfill_of(sql, number, from)).concat()
}

fn known() -> i64 {
    MIGRATIONS.last().map_or(0, |(name, _)| migration_number(name))
}

pub(super) async fn version(client: &tokio_postgres::Client) -> Result<Option<i64>> {
    let exists = client
        .query_one("SELECT to_regclass('schema_migrations') IS NOT NULL", &[])
        .await
        .map_err(store_error)?
        .get::<_, bool>(0);
    if !exists {
        return Ok(None);
    }
    let row =
        client.query_one("SELECT max(number) FROM schema_migrations", &[]).await.map_err(store_error)?;
    Ok(row.get(0))
}

pub(super) async fn up(client: &mut Object) -> Result<i64> {
    if let Some(at) = version(client).await?
        && at >= known()
    {
        return not_newer(at);
    }
    let transaction = client.transaction().await.map_err(store_error)?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await.map_err(store_error)?;
    transaction
        .batch_execute(
            "CREATE TABLE IF NOT EXISTS schema_migrations
                 (number BIGINT NOT NULL PRIMARY KEY, name TEXT COLLATE \"C\" NOT NULL)",
        )
        .await
        .map_err(store_error)?;
    // Read again under the lock, because another node may have migrated meanwhile.
    let row = transaction.query_one("SELECT coalesce(max(number), 0) FROM schema_migrations", &[]).await;
    let done: i64 = row.map_err(store_error)?.get(0);
    for (name, sql) in MIGRATIONS {
        let number = migration_number(name);
        if number <= done {
            continue;
        }
        tracing::info!(migration = name, "migrating the store's schema");
        transaction.batch_execute(sql).await.map_err(store_error)?;
        transaction
            .execute("INSERT INTO schema_migrations (number, name) VALUES ($1, $2)", &[&number, &name])
            .await
            .map_err(store_error)?;
    }
    transaction.commit().await.map_err(store_error)?;
    not_newer(done.max(known()))
}

fn not_newer(found: i64) -> Result<i64> {
    let known = known();
    if found > known {
        return Err(StoreError::NewerSchema { found, known });
    }
    Ok(found)
}

/// A new store is bound to the master key that first opens it.
pub(super) async fn check_master_key(client: &Object, ports: &Ports) -> Result<()> {
    let sealed = ports.vault.sealed_check(&*ports.random)?;
    client
        .execute("INSERT INTO meta (name, value) VALUES ('vault', $1) ON CONFLICT DO NOTHING", &[&sealed])
        .await
        .map_err(store_error)?;
    let row =
        client.query_one("SELECT value FROM meta WHERE name = 'vault'", &[]).await.map_err(store_error)?;
    ports.vault.check(row.get(0))?;
    let restoring =
        client.query_opt("SELECT 1 FROM meta WHERE name = 'restoring'", &[]).await.map_err(store_error)?;
    if restoring.is_some() { Err(StoreError::UnfinishedRestore) } else { Ok(()) }
}
