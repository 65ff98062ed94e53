//! Stores that are new but for their migrations: made once by each run of the tests and copied for each test, because the
//! migrations take longer than most tests.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use store::postgres::PostgresStore;
use store::sqlite::SqliteStore;
use testkit::SeededRandom;

use super::fixture::{CONNECTIONS_MAX, FILE, master_key, ports, test_clock};
use super::postgres_database::Database;

/// Not the seed of the tests: what they draw must not be in their store already.
const SEED: u64 = 0x6d69_6772;

fn template_ports() -> store::Ports {
    ports(&Arc::new(test_clock()), &Arc::new(SeededRandom::new(SEED)), &master_key())
}

/// Writes the file of a store that has its migrations.
pub(crate) fn write_sqlite(file: &Path) {
    static TEMPLATE: OnceLock<Vec<u8>> = OnceLock::new();
    let template = TEMPLATE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE);
        in_own_runtime({
            let file = file.clone();
            async move { drop(SqliteStore::open(&file, template_ports()).unwrap()) }
        });
        let connection = rusqlite::Connection::open(&file).unwrap();
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        std::fs::read(&file).unwrap()
    });
    std::fs::write(file, template).unwrap();
}

/// A database that has its migrations.
pub(crate) async fn postgres() -> Database {
    static TEMPLATE: OnceLock<String> = OnceLock::new();
    let template = TEMPLATE.get_or_init(|| {
        let (name, url) = in_own_runtime(Database::create_template());
        // The runtime ends the store's connections: a database in use cannot be copied.
        in_own_runtime(async move {
            drop(PostgresStore::open(&url, CONNECTIONS_MAX, template_ports()).await.unwrap());
        });
        name
    });
    Database::copy_of(template).await
}

/// Runs to the end on a thread with a runtime of its own, which ends with it.
fn in_own_runtime<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(work)
    });
    thread.join().unwrap()
}
