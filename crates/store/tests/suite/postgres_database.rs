//! A PostgreSQL database for one story: made fresh, dropped when the story ends, well or not.

use std::sync::atomic::{AtomicU32, Ordering};

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_postgres::{Client, Config, NoTls};

const VARIABLE: &str = "ALDABA_TEST_POSTGRES";
const MISSING: &str = "run `cargo xtask test`, or set ALDABA_TEST_POSTGRES";
/// How many databases may be in use at once, whatever the number of cores: connections are finite.
const SEATS: usize = 8;

static SEATED: Semaphore = Semaphore::const_new(SEATS);

pub(crate) struct Database {
    server: String,
    name: String,
    _seat: SemaphorePermit<'static>,
}

impl Database {
    pub(crate) async fn create() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let server = std::env::var(VARIABLE).unwrap_or_else(|_| panic!("{MISSING}"));
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("aldaba_suite_{}_{number}", std::process::id());
        let seat = SEATED.acquire().await.unwrap();
        // A killed run that had our process id may have left its own behind.
        command(&server, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
        command(&server, &format!("CREATE DATABASE {name}")).await;
        Self { server, name, _seat: seat }
    }

    /// The server's url with this database in the place of the one that it names.
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
        // A thread of its own: the story's runtime may be on its way out.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(command(&server, &format!("DROP DATABASE {name} WITH (FORCE)")));
        });
        let dropped = dropping.join();
        assert!(dropped.is_ok() || std::thread::panicking(), "the database was not dropped");
    }
}

/// A bare connection, beside the store's own.
pub(crate) async fn connect(url: &str) -> Client {
    let config: Config = url.parse().unwrap();
    let (client, connection) = config.connect(NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn command(server: &str, sql: &str) {
    connect(server).await.batch_execute(sql).await.unwrap();
}
