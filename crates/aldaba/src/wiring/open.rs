//! Opens the store that the configuration names.

use std::sync::Arc;

use store::postgres::PostgresStore;
use store::sqlite::SqliteStore;
use store::{Archive, MasterKey, Ports, Result, Store, Vault};

use super::{SystemClock, SystemRandom};
use crate::config::StoreUrl;

/// An open store, as everyone uses it and as a backup sees it.
#[derive(Clone)]
pub(crate) struct Opened {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) archive: Arc<dyn Archive>,
    pub(crate) vault: Arc<Vault>,
}

pub(crate) fn ports(master: &MasterKey) -> Result<Ports> {
    let vault = Arc::new(Vault::new(master)?);
    Ok(Ports { clock: Arc::new(SystemClock), random: Arc::new(SystemRandom), vault })
}

pub(crate) async fn open(url: &StoreUrl, connections_max: usize, ports: Ports) -> Result<Opened> {
    let vault = ports.vault.clone();
    match url {
        StoreUrl::Sqlite(path) => {
            let store = Arc::new(SqliteStore::open(path, ports)?);
            Ok(Opened { store: store.clone(), archive: store, vault })
        }
        StoreUrl::Postgres(url) => {
            let store = Arc::new(PostgresStore::open(url, connections_max, ports).await?);
            Ok(Opened { store: store.clone(), archive: store, vault })
        }
    }
}

/// The schema that is there now; none where nothing is.
pub(crate) async fn schema_of(url: &StoreUrl) -> Result<Option<i64>> {
    match url {
        StoreUrl::Sqlite(path) => SqliteStore::schema_of(path),
        StoreUrl::Postgres(url) => PostgresStore::schema_of(url).await,
    }
}
