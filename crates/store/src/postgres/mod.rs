//! The store for many nodes: PostgreSQL 15 or newer, a connection pool, batches written as arrays. Nodes keep
//! no state; the tenant's head row orders concurrent writes.

mod accounts;
mod activity;
mod apply;
mod archive;
mod audit;
mod authorizations;
mod batch_queue;
mod calls;
mod changes;
mod checkpoint;
mod clients;
mod connect;
mod deliveries;
mod diagnosis;
mod directory;
mod directory_search;
mod figures;
mod grants;
mod history;
mod inventory;
mod invitations;
mod keys;
mod load;
mod logouts;
mod lookups;
mod mails;
mod maintenance;
mod migrate;
mod nodes;
mod notices;
mod notify;
mod operator_tokens;
mod operators;
mod password_resets;
mod payroll;
mod reads;
mod records;
mod refresh;
mod requests;
mod rows;
mod sandboxes;
mod search;
mod second_factors;
mod sessions;
mod shards;
mod sign_in_buckets;
mod subscriptions;
mod team_webhooks;
mod teams;
mod ticket_keys;
mod tls;
mod webhook_rows;
mod webhook_search;
mod webhooks;

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime, TimeoutType,
};
use domain::Ticks;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::WrongType;

use crate::audit::Act;
use crate::operations::{OperationTimer, counted};
use crate::{AuditContext, InvalidationCounters, OperationClass, Operations, Ports, Result, StoreError};
use activity::Connections;
use batch_queue::BatchQueue;
use connect::Connector;
use notify::Notifier;
#[cfg(feature = "fuzzing")]
pub(crate) use tls::fuzzing;

/// How long a request waits for a free connection before it fails as unavailable.
const CONNECTION_WAIT: Duration = Duration::from_secs(5);
/// A connection on which a statement has had no answer for this long is closed.
const STATEMENT_DEADLINE: Duration = Duration::from_secs(15);
/// The same for migrations, backups and restores.
const LONG_STATEMENT_DEADLINE: Duration = Duration::from_secs(60 * 60);
/// Connections for these; they are opened only when needed.
const LONG_CONNECTIONS_MAX: usize = 2;
/// Forces index plans. A plan made while a table is empty would scan the whole table, and would stay cached
/// while the table grows. Where two indexes match, `+ 0` rules out the wrong one; the log has one index per
/// access path (see `0006_ways_into_the_log`). Small tables that are scanned anyway look so expensive under
/// these settings that the JIT compiler would spend 100 ms on them, so it is off.
const FORCE_INDEX_PLANS: &str = "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_material = off; \
                        SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off";
/// A node that stalls or is cut off within a transaction releases its locks after this time. No transaction
/// here waits between statements.
const IDLE_TRANSACTION_TIMEOUT: &str = "SET idle_in_transaction_session_timeout = '2s'";
/// The server ends a statement that nobody waits for any more: at the deadline, and soon after its client is gone.
const SERVER_DEADLINES: &str = "SET statement_timeout = '15s'; SET client_connection_check_interval = '2s'";
/// The message of a statement that did not run because another one of its transaction had failed.
const ABORTED: &str = "another statement of the transaction failed";
const SERVER_VERSION_MIN: i32 = 150_000;

/// A store in a PostgreSQL database; cheap to clone.
#[derive(Clone)]
pub struct PostgresStore {
    inner: Arc<Inner>,
}

struct Inner {
    pool: StorePool,
    /// For statements that may take long.
    long_pool: StorePool,
    ports: Ports,
    batch_queue: BatchQueue,
    schema: i64,
    invalidation: InvalidationCounters,
    notify: Notifier,
    operations: Operations,
}

/// A connection from the pool; what it is used for is measured until it is dropped.
struct Lent<'a> {
    connection: Object,
    _timer: OperationTimer<'a>,
}

impl std::ops::Deref for Lent<'_> {
    type Target = Object;

    fn deref(&self) -> &Object {
        &self.connection
    }
}

impl std::ops::DerefMut for Lent<'_> {
    fn deref_mut(&mut self) -> &mut Object {
        &mut self.connection
    }
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PostgresStore")
    }
}

impl PostgresStore {
    /// Connects, migrates the schema, and checks the master key.
    pub async fn open(url: &str, connections_max: usize, ports: Ports) -> Result<Self> {
        let connector = Connector::new(url, Arc::default(), STATEMENT_DEADLINE)?;
        let pool = StorePool::new(&connector, connections_max, SERVER_DEADLINES)?;
        let long_pool =
            StorePool::new(&connector.with_deadline(LONG_STATEMENT_DEADLINE), LONG_CONNECTIONS_MAX, "")?;
        let mut client = long_pool.connection().await?;
        check_server(&client).await?;
        let schema = migrate::up(&mut client).await?;
        migrate::check_master_key(&client, &ports).await?;
        // Closed, not kept: long statements are rare.
        drop(Object::take(client));
        let notify = Notifier::new(ports.random.guid(), connector);
        Ok(Self {
            inner: Arc::new(Inner {
                pool,
                long_pool,
                ports,
                batch_queue: BatchQueue::default(),
                schema,
                invalidation: InvalidationCounters::default(),
                notify,
                operations: Operations::default(),
            }),
        })
    }

    /// The newest migration in the database; changes nothing.
    pub async fn schema_of(url: &str) -> Result<Option<i64>> {
        let connector = Connector::new(url, Arc::default(), STATEMENT_DEADLINE)?;
        migrate::version(&*StorePool::new(&connector, 1, SERVER_DEADLINES)?.connection().await?).await
    }

    /// The time by the database's clock.
    pub async fn clock_of(url: &str) -> Result<Ticks> {
        let connector = Connector::new(url, Arc::default(), STATEMENT_DEADLINE)?;
        let pool = StorePool::new(&connector, 1, SERVER_DEADLINES)?;
        let client = pool.connection().await?;
        let row = client.query_one(&format!("SELECT {}", nodes::NOW), &[]).await.map_err(store_error)?;
        Ok(Ticks(row.get(0)))
    }

    fn ports(&self) -> &Ports {
        &self.inner.ports
    }

    /// An audited action, now.
    fn act(&self, context: &AuditContext) -> Act {
        Act::new(self.ports().clock.now(), context)
    }

    /// A connection for a transaction.
    async fn client(&self) -> Result<Lent<'_>> {
        self.lend(OperationClass::Transaction).await
    }

    async fn lend(&self, class: OperationClass) -> Result<Lent<'_>> {
        let timer = self.inner.operations.time(class);
        Ok(Lent { connection: self.inner.pool.connection().await?, _timer: timer })
    }

    /// A connection for statements that may take long.
    async fn long_client(&self) -> Result<Object> {
        self.inner.long_pool.connection().await
    }
}

/// A pool of connections, and what is known about them.
struct StorePool {
    pool: Pool,
    connections: Arc<Connections>,
}

impl StorePool {
    /// `deadlines`: of the server, for each connection.
    fn new(connector: &Connector, connections_max: usize, deadlines: &str) -> Result<Self> {
        let setup = format!("{FORCE_INDEX_PLANS}; {IDLE_TRANSACTION_TIMEOUT}; {deadlines}");
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_connect(tokio_postgres::Config::new(), connector.clone(), recycling);
        let pool = Pool::builder(manager)
            .max_size(connections_max)
            .wait_timeout(Some(CONNECTION_WAIT))
            .create_timeout(Some(connector.timeout()))
            .post_create(Hook::async_fn(move |client, _| {
                let setup = setup.clone();
                Box::pin(async move { client.batch_execute(&setup).await.map_err(HookError::Backend) })
            }))
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(StoreError::internal)?;
        Ok(Self { pool, connections: connector.connections().clone() })
    }

    async fn connection(&self) -> Result<Object> {
        self.pool.get().await.map_err(|error| pool_error(error, &self.connections))
    }

    fn close(&self) {
        self.pool.close();
    }
}

/// An error of the pool, with its cause.
fn pool_error(error: PoolError, connections: &Connections) -> StoreError {
    let why = match error {
        PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => {
            return store_error(error);
        }
        PoolError::Timeout(TimeoutType::Wait) => {
            let why = connections.recent_failure().map_or_else(
                || "raise store.connections_max or reduce the load".to_owned(),
                |cause| format!("the last connection failed {cause}"),
            );
            let wait = CONNECTION_WAIT.as_secs();
            format!("all PostgreSQL connections of this process have been in use for {wait} s; {why}")
        }
        PoolError::Timeout(TimeoutType::Create) => "connecting to PostgreSQL took too long".to_owned(),
        PoolError::Closed => "the store is closed".to_owned(),
        other => chain(&other),
    };
    counted(StoreError::Unavailable(why))
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
        return counted(if wrong_type.is_some() {
            StoreError::internal(error)
        } else {
            let why = chain(&error);
            let advice = tls::advice(&why);
            StoreError::Unavailable(why + advice)
        });
    };
    counted(match db.code() {
        &SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT | &SqlState::READ_ONLY_SQL_TRANSACTION => {
            StoreError::Unavailable(db.message().to_owned())
        }
        // The statement that failed is counted.
        &SqlState::IN_FAILED_SQL_TRANSACTION => return StoreError::internal(ABORTED),
        &SqlState::DISK_FULL => StoreError::Full(db.message().to_owned()),
        code if ["08", "57", "53", "3D"].iter().any(|class| code.code().starts_with(class)) => {
            StoreError::Unavailable(db.message().to_owned())
        }
        _ => StoreError::internal(format!("{}: {}", db.code().code(), db.message())),
    })
}

/// The error of statements that were pipelined in one transaction. The statements after the one that failed only report that
/// the transaction is aborted, and may be polled before it.
fn first_failure(results: impl IntoIterator<Item = Result<()>>) -> Result<()> {
    let mut failures: Vec<StoreError> = results.into_iter().filter_map(Result::err).collect();
    let is_aborted = |failure: &StoreError| matches!(failure, StoreError::Internal(why) if why == ABORTED);
    failures.sort_by_key(is_aborted);
    failures.into_iter().next().map_or(Ok(()), Err)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_of_a_pipeline_is_its_cause() {
        let (aborted, full) = (StoreError::internal(ABORTED), StoreError::Full("no room".into()));
        let results = [Ok(()), Err(aborted.clone()), Err(full.clone()), Err(aborted.clone())];
        assert_eq!(first_failure(results), Err(full));
        assert_eq!(first_failure([Err(aborted.clone()), Ok(())]), Err(aborted));
        assert_eq!(first_failure([Ok(()), Ok(())]), Ok(()));
    }

    #[test]
    fn pool_errors_say_their_cause() {
        for (error, cause) in [
            (PoolError::Timeout(TimeoutType::Wait), "raise store.connections_max"),
            (PoolError::Timeout(TimeoutType::Create), "connecting to PostgreSQL took too long"),
            (PoolError::Closed, "the store is closed"),
            (PoolError::PostCreateHook(HookError::message("SET failed")), "SET failed"),
        ] {
            let StoreError::Unavailable(message) = pool_error(error, &Connections::default()) else {
                panic!("{cause}")
            };
            assert!(message.contains(cause), "{message}");
        }
    }
}
