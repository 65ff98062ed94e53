//! The store for many nodes: PostgreSQL 15 or newer, a connection pool, batches written as arrays. Nodes keep
//! no state; the tenant's head row orders concurrent writes.

mod apply;
mod archive;
mod audit;
mod batch_queue;
mod changes;
mod checkpoint;
mod clients;
mod deliveries;
mod directory;
mod grants;
mod history;
mod keys;
mod load;
mod maintenance;
mod migrate;
mod nodes;
mod notify;
mod payroll;
mod records;
mod refresh;
mod rows;
mod sessions;
mod shards;
mod sign_in_buckets;
mod subscriptions;
mod ticket_keys;
mod tls;
mod webhook_rows;
mod webhooks;

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime,
};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::WrongType;

use crate::{InvalidationCounters, Ports, Result, StoreError};
use batch_queue::BatchQueue;
use notify::Notifier;

/// How long a request waits for a free connection before it fails as unavailable.
const CONNECTION_WAIT: Duration = Duration::from_secs(5);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Forces index plans. A plan made while a table is empty would scan the whole table, and would stay cached
/// while the table grows. Where two indexes match, `+ 0` rules out the wrong one; the log has one index per
/// access path (see `0006_ways_into_the_log`). Small tables that are scanned anyway look so expensive under
/// these settings that the JIT compiler would spend 100 ms on them, so it is off.
const FORCE_INDEX_PLANS: &str = "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_material = off; \
                        SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off";
/// A node that stalls or is cut off within a transaction releases its locks after this time. No transaction
/// here waits between statements.
const IDLE_TRANSACTION_TIMEOUT: &str = "SET idle_in_transaction_session_timeout = '5s'";
const SERVER_VERSION_MIN: i32 = 150_000;

/// A store in a PostgreSQL database; cheap to clone.
#[derive(Clone)]
pub struct PostgresStore {
    inner: Arc<Inner>,
}

struct Inner {
    pool: Pool,
    ports: Ports,
    batch_queue: BatchQueue,
    schema: i64,
    invalidation: InvalidationCounters,
    notify: Notifier,
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PostgresStore")
    }
}

impl PostgresStore {
    /// Connects, migrates the schema, and checks the master key.
    pub async fn open(url: &str, connections_max: usize, ports: Ports) -> Result<Self> {
        let pool = pool(url, connections_max)?;
        let mut client = connection(&pool).await?;
        check_server(&client).await?;
        let schema = migrate::up(&mut client).await?;
        migrate::check_master_key(&client, &ports).await?;
        drop(client);
        let notify = Notifier::new(ports.random.guid(), url);
        Ok(Self {
            inner: Arc::new(Inner {
                pool,
                ports,
                batch_queue: BatchQueue::default(),
                schema,
                invalidation: InvalidationCounters::default(),
                notify,
            }),
        })
    }

    /// The newest migration in the database; changes nothing.
    pub async fn schema_of(url: &str) -> Result<Option<i64>> {
        let pool = pool(url, 1)?;
        migrate::version(&*connection(&pool).await?).await
    }

    fn ports(&self) -> &Ports {
        &self.inner.ports
    }

    async fn client(&self) -> Result<Object> {
        connection(&self.inner.pool).await
    }
}

fn pool(url: &str, connections_max: usize) -> Result<Pool> {
    let config = config_of(url)?;
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = match tls::connector(&config)? {
        Some(connector) => Manager::from_config(config, connector, recycling),
        None => Manager::from_config(config, tokio_postgres::NoTls, recycling),
    };
    Pool::builder(manager)
        .max_size(connections_max)
        .wait_timeout(Some(CONNECTION_WAIT))
        .create_timeout(Some(CONNECT_TIMEOUT))
        .post_create(Hook::async_fn(|client, _| {
            Box::pin(async move {
                client
                    .batch_execute(&format!("{FORCE_INDEX_PLANS}; {IDLE_TRANSACTION_TIMEOUT}"))
                    .await
                    .map_err(HookError::Backend)
            })
        }))
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(StoreError::internal)
}

fn config_of(url: &str) -> Result<tokio_postgres::Config> {
    let mut config: tokio_postgres::Config = url
        .parse()
        .map_err(|error| StoreError::Unavailable(format!("the store's URL is invalid: {error}")))?;
    config.connect_timeout(CONNECT_TIMEOUT).application_name("aldaba");
    Ok(config)
}

async fn connection(pool: &Pool) -> Result<Object> {
    pool.get().await.map_err(|error| match error {
        PoolError::Backend(error) => store_error(error),
        PoolError::Timeout(_) => StoreError::Unavailable(
            "no PostgreSQL connection became free within 5 s; allow more connections or reduce the load"
                .into(),
        ),
        other => StoreError::Unavailable(other.to_string()),
    })
}

async fn check_server(client: &Object) -> Result<()> {
    let version: String = client.query_one("SHOW server_version_num", &[]).await.map_err(store_error)?.get(0);
    if version.parse().unwrap_or(0) < SERVER_VERSION_MIN {
        return Err(StoreError::Unavailable(format!(
            "the server has PostgreSQL version number {version}; PostgreSQL 15 or newer is required"
        )));
    }
    Ok(())
}

/// Maps a PostgreSQL error to a store error.
fn store_error(error: tokio_postgres::Error) -> StoreError {
    let Some(db) = error.as_db_error() else {
        let wrong_type = error.source().and_then(|source| source.downcast_ref::<WrongType>());
        return if wrong_type.is_some() {
            StoreError::internal(error)
        } else {
            StoreError::Unavailable(chain(&error))
        };
    };
    match db.code() {
        &SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => StoreError::Unavailable(db.message().to_owned()),
        &SqlState::DISK_FULL => StoreError::Full(db.message().to_owned()),
        code if ["08", "57", "53", "3D"].iter().any(|class| code.code().starts_with(class)) => {
            StoreError::Unavailable(db.message().to_owned())
        }
        _ => StoreError::internal(format!("{}: {}", db.code().code(), db.message())),
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

/// Maps a unique violation to `Exists`.
fn exists(what: String) -> impl FnOnce(tokio_postgres::Error) -> StoreError {
    move |error| match error.code() {
        Some(&SqlState::UNIQUE_VIOLATION) => StoreError::Exists(what),
        _ => store_error(error),
    }
}
