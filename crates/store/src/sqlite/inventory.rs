//! The state of a file, and the credentials in it that end soon.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use domain::Ticks;
use rusqlite::{Row, params};

use super::{SqliteStore, store_error};
use crate::inventory::soonest;
use crate::rows::{Columns, SqliteRow};
use crate::{CredentialKind, EndingCredential, Inventory, Maintenance as _, Result, StoreState};

/// In the order of their kinds: ids, names, ends.
const ENDING: [(CredentialKind, &str); 3] = [
    (
        CredentialKind::OperatorToken,
        "SELECT id, name, expires_at AS ends_at FROM operator_tokens
         WHERE revoked_at IS NULL AND expires_at > ?1 AND expires_at <= ?2 ORDER BY expires_at LIMIT ?3",
    ),
    (
        CredentialKind::ClientSecret,
        "SELECT id, name, old_secret_until AS ends_at FROM clients
         WHERE old_secret_until > ?1 AND old_secret_until <= ?2 ORDER BY old_secret_until LIMIT ?3",
    ),
    (
        CredentialKind::SubscriptionKey,
        "SELECT s.id, s.name, k.valid_until AS ends_at FROM subscription_keys k JOIN subscriptions s ON s.id = k.subscription_id
         WHERE k.valid_until > ?1 AND k.valid_until <= ?2 AND s.cancelled_at IS NULL ORDER BY k.valid_until LIMIT ?3",
    ),
];

fn size_of(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().map(|file| file.len())
}

#[async_trait]
impl Inventory for SqliteStore {
    async fn store_state(&self) -> Result<StoreState> {
        let path = &self.inner.path;
        let mut wal = path.clone().into_os_string();
        wal.push("-wal");
        Ok(StoreState {
            kind: "sqlite",
            version: Some(rusqlite::version().to_owned()),
            size_bytes: size_of(path),
            wal_bytes: size_of(&PathBuf::from(wal)),
            commits: Some(self.change_commits()),
            replicas: Some(Vec::new()),
        })
    }

    async fn ending_credentials(
        &self,
        after: Ticks,
        until: Ticks,
        rows_max: usize,
    ) -> Result<Vec<EndingCredential>> {
        let limit = i64::try_from(rows_max).unwrap_or(i64::MAX);
        let found = self.read(|reader| {
            let mut found = Vec::new();
            for (kind, sql) in ENDING {
                let row = |row: &Row<'_>| {
                    let row = SqliteRow::new(row);
                    Ok(EndingCredential {
                        kind,
                        id: row.read("id")?,
                        name: row.read("name")?,
                        ends_at: row.read("ends_at")?,
                    })
                };
                let all: Vec<EndingCredential> = reader
                    .prepare_cached(sql)
                    .and_then(|mut all| all.query_map(params![after.0, until.0, limit], row)?.collect())
                    .map_err(store_error)?;
                found.extend(all);
            }
            Ok(found)
        })?;
        Ok(soonest(found, rows_max))
    }
}
