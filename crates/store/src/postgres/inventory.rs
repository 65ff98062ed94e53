//! What PostgreSQL tells about itself, and the credentials that end soon.

use std::time::Duration;

use async_trait::async_trait;
use domain::Ticks;
use tokio_postgres::Row;

use super::rows::limit;
use super::{PostgresStore, store_error};
use crate::inventory::{REPLICAS_MAX, soonest};
use crate::rows::Columns;
use crate::{CredentialKind, EndingCredential, Inventory, OperationClass, Replica, Result, StoreState};

/// In the order of their kinds: ids, names, ends.
const ENDING: [(CredentialKind, &str); 3] = [
    (
        CredentialKind::OperatorToken,
        "SELECT id, name, expires_at AS ends_at FROM operator_tokens
         WHERE revoked_at IS NULL AND expires_at > $1 AND expires_at <= $2 ORDER BY expires_at LIMIT $3",
    ),
    (
        CredentialKind::ClientSecret,
        "SELECT id, name, old_secret_until AS ends_at FROM clients
         WHERE old_secret_until > $1 AND old_secret_until <= $2 ORDER BY old_secret_until LIMIT $3",
    ),
    (
        CredentialKind::SubscriptionKey,
        "SELECT s.id, s.name, k.valid_until AS ends_at FROM subscription_keys k JOIN subscriptions s ON s.id = k.subscription_id
         WHERE k.valid_until > $1 AND k.valid_until <= $2 AND s.cancelled_at IS NULL ORDER BY k.valid_until LIMIT $3",
    ),
];

/// A standby; None where the role may not see its details.
fn replica(row: &Row) -> Option<Replica> {
    let count =
        |column: usize| row.get::<_, Option<i64>>(column).map(|value: i64| u64::try_from(value).unwrap_or(0));
    Some(Replica {
        name: row.get::<_, Option<String>>(0)?,
        state: row.get::<_, Option<String>>(1)?,
        lag_bytes: count(2),
        lag: count(3).map(Duration::from_millis),
    })
}

/// The answer to a query that the database may refuse; None: it refused it.
pub(super) fn unless_refused<T>(answer: std::result::Result<T, tokio_postgres::Error>) -> Result<Option<T>> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.as_db_error().is_some() => Ok(None),
        Err(error) => Err(store_error(error)),
    }
}

impl PostgresStore {
    /// The rows of a query that the database may refuse: to a role without privileges, or because it is another engine
    /// with the same protocol. A refusal is no failure of the store and is not counted as one.
    async fn optional_rows(&self, sql: &str) -> Result<Option<Vec<Row>>> {
        let client = self.lend(OperationClass::Query).await?;
        unless_refused(client.query(sql, &[]).await)
    }

    async fn number(&self, sql: &str) -> Result<Option<u64>> {
        let rows = self.optional_rows(sql).await?;
        let value = rows.as_ref().and_then(|rows| rows.first()?.get::<_, Option<i64>>(0));
        Ok(value.and_then(|value| u64::try_from(value).ok()))
    }
}

#[async_trait]
impl Inventory for PostgresStore {
    async fn store_state(&self) -> Result<StoreState> {
        let version = self.optional_rows("SELECT current_setting('server_version')").await?;
        let replicas = format!(
            "SELECT application_name, state, pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::bigint,
                 (extract(epoch FROM replay_lag) * 1000)::bigint
             FROM pg_stat_replication ORDER BY application_name LIMIT {REPLICAS_MAX}"
        );
        let replicas = self.optional_rows(&replicas).await?;
        Ok(StoreState {
            kind: "postgresql",
            version: version.as_ref().and_then(|rows| rows.first()?.get(0)),
            size_bytes: self.number("SELECT pg_database_size(current_database())").await?,
            wal_bytes: None,
            commits: self
                .number("SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()")
                .await?,
            replicas: replicas.and_then(|rows| rows.iter().map(replica).collect()),
        })
    }

    async fn ending_credentials(
        &self,
        after: Ticks,
        until: Ticks,
        rows_max: usize,
    ) -> Result<Vec<EndingCredential>> {
        let mut found = Vec::new();
        for (kind, sql) in ENDING {
            let rows = self.rows(sql, &[&after.0, &until.0, &limit(rows_max)]).await?;
            for row in &rows {
                let (id, name, ends_at) = (row.read("id")?, row.read("name")?, row.read("ends_at")?);
                found.push(EndingCredential { kind, id, name, ends_at });
            }
        }
        Ok(soonest(found, rows_max))
    }
}
