//! Opens the configured store.

use std::sync::Arc;

use domain::Ticks;
use store::postgres::PostgresStore;
use store::sqlite::SqliteStore;
use store::{Archive, MasterKey, Ports, Result, Store, Vault};

use super::BasePorts;
use crate::config::StoreUrl;

/// An open store behind its two ports: for the service and for backups.
#[derive(Clone)]
pub(crate) struct OpenStore {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) archive: Arc<dyn Archive>,
    pub(crate) vault: Arc<Vault>,
}

pub(crate) fn ports(base: &BasePorts, master: &MasterKey) -> Result<Ports> {
    let vault = Arc::new(Vault::new(master)?);
    Ok(Ports { clock: base.clock.clone(), random: base.random.clone(), vault })
}

pub(crate) async fn open(url: &StoreUrl, connections_max: usize, ports: Ports) -> Result<OpenStore> {
    let vault = ports.vault.clone();
    match url {
        StoreUrl::Sqlite(path) => {
            let store = Arc::new(SqliteStore::open(path, ports)?);
            Ok(OpenStore { store: store.clone(), archive: store, vault })
        }
        StoreUrl::Postgres(url) => {
            let store = Arc::new(PostgresStore::open(url, connections_max, ports).await?);
            Ok(OpenStore { store: store.clone(), archive: store, vault })
        }
    }
}

/// The time by the store's own clock, where it has one.
pub(crate) async fn clock_of(url: &StoreUrl) -> Result<Option<Ticks>> {
    match url {
        StoreUrl::Sqlite(_) => Ok(None),
        StoreUrl::Postgres(url) => PostgresStore::clock_of(url).await.map(Some),
    }
}

/// The schema version of the store; `None` where there is no store yet.
pub(crate) async fn schema_of(url: &StoreUrl) -> Result<Option<i64>> {
    match url {
        StoreUrl::Sqlite(path) => SqliteStore::schema_of(path),
        StoreUrl::Postgres(url) => PostgresStore::schema_of(url).await,
    }
}
