//! Fresh databases on the server that `ALDABA_TEST_POSTGRES` names.

use std::sync::atomic::{AtomicU32, Ordering};

use tokio_postgres::NoTls;

const SERVER: &str = "ALDABA_TEST_POSTGRES";
static CREATED_COUNT: AtomicU32 = AtomicU32::new(0);

/// A new, empty database, dropped together with this value.
pub(crate) struct Database {
    server: String,
    name: String,
}

impl Database {
    pub(crate) fn create() -> Self {
        let server = std::env::var(SERVER).unwrap_or_default();
        assert!(!server.is_empty(), "run `cargo xtask test`, or set {SERVER}");
        let name = format!(
            "aldaba_program_{}_{}",
            std::process::id(),
            CREATED_COUNT.fetch_add(1, Ordering::Relaxed)
        );
        execute(&server, &format!("CREATE DATABASE {name}"));
        Self { server, name }
    }

    /// The server's URL with this database in its path.
    pub(crate) fn url(&self) -> String {
        let (address, query) = self.server.split_once('?').unwrap_or((&self.server, ""));
        let after_scheme = address.find("://").map_or(0, |at| at + 3);
        let host_ends = address[after_scheme..].find('/').map_or(address.len(), |at| after_scheme + at);
        let query = if query.is_empty() { String::new() } else { format!("?{query}") };
        format!("{}/{}{query}", &address[..host_ends], self.name)
    }

    /// Runs a statement directly in the database.
    pub(crate) fn execute(&self, statement: &str) {
        execute(&self.url(), statement);
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        execute(&self.server, &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
    }
}

fn execute(server: &str, statement: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(server, NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute(statement).await.unwrap();
    });
}
