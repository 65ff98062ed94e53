//! A PostgreSQL database for one test: created empty or as a copy, dropped when the test ends.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_postgres::{Client, Config, NoTls};

const VARIABLE: &str = "ALDABA_TEST_POSTGRES";
const MISSING: &str = "run `cargo xtask test`, or set ALDABA_TEST_POSTGRES";
/// PostgreSQL's own template.
const EMPTY: &str = "template1";
/// How the names of our templates begin; the process id follows.
const TEMPLATE: &str = "aldaba_suite_template_";
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
        Self::copy_of(EMPTY).await
    }

    pub(crate) async fn copy_of(template: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let server = server();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("aldaba_suite_{}_{number}", std::process::id());
        let permit = DATABASE_PERMITS.acquire().await.unwrap();
        create(&server, &name, template).await;
        Self { server, name, _permit: permit }
    }

    /// The name and the url of an empty database for copies. A run cannot drop its own at the end: the next run does.
    pub(crate) async fn create_template() -> (String, String) {
        let server = server();
        let client = connect(&server).await;
        let query = format!("SELECT datname FROM pg_database WHERE datname LIKE '{TEMPLATE}%'");
        for row in client.query(&query, &[]).await.unwrap() {
            let name: String = row.get(0);
            let process = name.trim_start_matches(TEMPLATE);
            if !Path::new("/proc").join(process).exists() {
                command(&server, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
            }
        }
        let name = format!("{TEMPLATE}{}", std::process::id());
        create(&server, &name, EMPTY).await;
        let url = url(&server, &name);
        (name, url)
    }

    /// The server's url with its database replaced by this one.
    pub(crate) fn url(&self) -> String {
        url(&self.server, &self.name)
    }
}

fn server() -> String {
    std::env::var(VARIABLE).unwrap_or_else(|_| panic!("{MISSING}"))
}

async fn create(server: &str, name: &str, template: &str) {
    // A killed run with the same process id may have left its database behind.
    command(server, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
    command(server, &format!("CREATE DATABASE {name} TEMPLATE {template}")).await;
}

fn url(server: &str, name: &str) -> String {
    let (address, options) = server.split_once('?').unwrap_or((server, ""));
    let start = address.find("://").map_or(0, |at| at + 3);
    let end = address[start..].find('/').map_or(address.len(), |at| start + at);
    let options = if options.is_empty() { String::new() } else { format!("?{options}") };
    format!("{}/{name}{options}", &address[..end])
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
