//! A PostgreSQL database for one test: created empty, dropped when the test ends.

use std::sync::atomic::{AtomicU32, Ordering};

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_postgres::{Client, Config, NoTls};

const VARIABLE: &str = "ALDABA_TEST_POSTGRES";
const MISSING: &str = "run `cargo xtask test`, or set ALDABA_TEST_POSTGRES";
/// How many databases may be in use at once, whatever the number of cores: the server's connections are limited.
const DATABASES_MAX: usize = 8;

static DATABASE_PERMITS: Semaphore = Semaphore::const_new(DATABASES_MAX);

pub(crate) struct Database {
    server: String,
    name: String,
    _permit: SemaphorePermit<'static>,
}

impl Database {
    pub(crate) async fn create() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let server = std::env::var(VARIABLE).unwrap_or_else(|_| panic!("{MISSING}"));
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("aldaba_suite_{}_{number}", std::process::id());
        let permit = DATABASE_PERMITS.acquire().await.unwrap();
        // A killed run with the same process id may have left its database behind.
        command(&server, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
        command(&server, &format!("CREATE DATABASE {name}")).await;
        Self { server, name, _permit: permit }
    }

    /// The server's url with its database replaced by this one.
    pub(crate) fn url(&self) -> String {
        let (address, options) = self.server.split_once('?').unwrap_or((&self.server, ""));
        let start = address.find("://").map_or(0, |at| at + 3);
        let end = address[start..].find('/').map_or(address.len(), |at| start + at);
        let options = if options.is_empty() { String::new() } else { format!("?{options}") };
        format!("{}/{}{options}", &address[..end], self.name)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        // On a thread of its own: the test's runtime may be shutting down.
        let dropper = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(command(&server, &format!("DROP DATABASE {name} WITH (FORCE)")));
        });
        let dropped = dropper.join();
        assert!(dropped.is_ok() || std::thread::panicking(), "the database was not dropped");
    }
}

/// A plain connection, separate from the store's own.
pub(crate) async fn connect(url: &str) -> Client {
    let config: Config = url.parse().unwrap();
    let (client, connection) = config.connect(NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn command(server: &str, sql: &str) {
    connect(server).await.batch_execute(sql).await.unwrap();
}
