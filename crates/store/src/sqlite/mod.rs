//! The embedded store: one file, one writer thread with group commits, and a pool of readers.

mod accounts;
mod apply;
mod archive;
mod audit;
mod authorizations;
mod batch_queue;
mod calls;
mod changes;
mod checkpoint;
mod clients;
mod collection_numbers;
mod deliveries;
mod delivery_lock;
mod diagnosis;
mod directory;
mod directory_search;
mod figures;
mod grants;
mod group;
mod group_limit;
mod history;
mod inventory;
mod invitations;
mod keys;
mod last_update_index;
mod load;
mod logouts;
mod lookups;
mod mails;
mod maintenance;
mod migrate;
mod nodes;
mod notices;
mod operator_tokens;
mod operators;
mod password_resets;
mod payroll;
mod reader;
mod reader_pool;
mod reads;
mod records;
mod refresh;
mod requests;
mod rows;
mod sandboxes;
mod search;
mod second_factors;
mod sessions;
mod sign_in_buckets;
mod subscriptions;
mod team_webhooks;
mod teams;
mod ticket_keys;
mod wal_checkpointer;
mod webhook_rows;
mod webhook_search;
mod webhooks;
mod write_lock;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use domain::WebhookId;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode};

use tokio::sync::Semaphore;

use crate::audit::Act;
use crate::operations::counted;
use crate::{AuditContext, InvalidationCounters, OperationClass, Operations, Ports, Result, StoreError};
use delivery_lock::DeliveryLock;
use last_update_index::LastUpdateIndexes;
use reader::Reader;
use reader_pool::ReaderPool;
use wal_checkpointer::{CHECKPOINT_PAGES_MIN, WalCheckpointer};
use write_lock::WriteLock;
use writer::Writer;

/// How long a connection waits for another process's write.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const STATEMENTS_CACHED: usize = 128;
const WAL_TRIES_MAX: usize = 100;
/// About half a millisecond of SQLite's virtual machine steps. SQLite calls the progress handler after each
/// round and keeps counting across runs of a statement, so the first round may be short.
const BUDGET_ROUNDS_MAX: u32 = 20;
const ROUND_STEPS: i32 = 1000;
/// How many full searches of a tenant's payroll companies may run at once, each on a blocking thread.
const SEARCHES_MAX: usize = 4;

/// A store in one file; cheap to clone.
#[derive(Clone)]
pub struct SqliteStore {
    inner: Arc<Inner>,
}

struct Inner {
    path: PathBuf,
    ports: Ports,
    reader_pool: Arc<ReaderPool>,
    searches: Semaphore,
    last_update_index: LastUpdateIndexes,
    writer: Writer,
    invalidation: Arc<InvalidationCounters>,
    delivery_lock: DeliveryLock,
    operations: Operations,
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SqliteStore({})", self.inner.path.display())
    }
}

impl SqliteStore {
    /// Opens or creates the file, migrates its schema, and checks the master key.
    pub fn open(path: &Path, ports: Ports) -> Result<Self> {
        create_private_file(path)?;
        let mut connection = connect(path)?;
        switch_to_wal(&connection).map_err(cannot_open(path))?;
        let schema = migrate::up(&mut connection)?;
        migrate::check_master_key(&connection, &ports)?;
        if migrate::forget_statistics(&connection)? {
            connection = connect(path)?;
        }
        let checkpointer = WalCheckpointer::start(connect(path)?, &mut connection)?;
        let write_lock = WriteLock::next_to(path);
        let (invalidation, reader_pool) =
            (Arc::new(InvalidationCounters::default()), Arc::new(ReaderPool::new(path.to_owned())));
        let writer = Writer::start(
            connection,
            checkpointer,
            write_lock,
            ports.clone(),
            schema,
            invalidation.clone(),
            reader_pool.clone(),
        )?;
        let (searches, last_update_index) = (Semaphore::new(SEARCHES_MAX), LastUpdateIndexes::default());
        let (path, delivery_lock) = (path.to_owned(), DeliveryLock::next_to(path));
        Ok(Self {
            inner: Arc::new(Inner {
                path,
                ports,
                reader_pool,
                searches,
                last_update_index,
                writer,
                invalidation,
                delivery_lock,
                operations: Operations::default(),
            }),
        })
    }

    /// The newest migration in the file; changes nothing.
    pub fn schema_of(path: &Path) -> Result<Option<i64>> {
        if !path.exists() {
            return Ok(None);
        }
        migrate::version(&connect(path)?).map(Some)
    }

    fn ports(&self) -> &Ports {
        &self.inner.ports
    }

    /// An audited action, now.
    fn act(&self, context: &AuditContext) -> Act {
        Act::new(self.ports().clock.now(), context)
    }

    /// Reads on the caller's thread: a lookup costs microseconds, less than handing it to another thread.
    fn read<T>(&self, query: impl FnOnce(&Reader) -> Result<T>) -> Result<T> {
        let _timer = self.inner.operations.time(OperationClass::Query);
        let reader = self.inner.reader_pool.take()?;
        reader.end_snapshot();
        let result = query(&reader);
        self.put_back(reader);
        result
    }

    /// Reads from a new snapshot.
    fn read_fresh_snapshot<T>(&self, query: impl FnOnce(&Reader) -> Result<T>) -> Result<T> {
        self.read(|reader| {
            reader.begin_snapshot(reader_pool::NEVER_REUSED)?;
            let result = query(reader);
            reader.end_snapshot();
            result
        })
    }

    /// Reads from a snapshot that contains everything written through this handle. It may lack what other
    /// processes wrote in the last 100 ms.
    fn read_snapshot<T>(&self, query: impl FnOnce(&Reader) -> Result<T>) -> Result<T> {
        let _timer = self.inner.operations.time(OperationClass::Query);
        let reader = self.inner.reader_pool.take()?;
        let result = self.read_snapshot_on(&reader, query);
        self.put_back(reader);
        result
    }

    fn read_snapshot_on<T>(&self, reader: &Reader, query: impl FnOnce(&Reader) -> Result<T>) -> Result<T> {
        let result = reader.begin_snapshot(self.inner.reader_pool.generation()).and_then(|()| query(reader));
        if result.is_err() {
            reader.end_snapshot();
        }
        result
    }

    /// Like `read_snapshot`, but returns none if the query exceeds its budget. A query that may read every row
    /// starts here; if it is long, the caller repeats it on a blocking thread, so that it does not delay other
    /// requests.
    fn read_with_budget<T>(&self, query: impl FnOnce(&Reader) -> Result<T>) -> Result<Option<T>> {
        let _timer = self.inner.operations.time(OperationClass::Query);
        let mut reader = self.inner.reader_pool.take()?;
        let is_long = Arc::new(AtomicBool::new(false));
        let (exceeded, mut rounds) = (is_long.clone(), 0);
        let give_up = move || {
            rounds += 1;
            exceeded.store(rounds > BUDGET_ROUNDS_MAX, Ordering::Relaxed);
            rounds > BUDGET_ROUNDS_MAX
        };
        reader.progress_handler(ROUND_STEPS, Some(give_up)).map_err(store_error)?;
        let result = self.read_snapshot_on(&reader, query);
        reader.progress_handler(0, None::<fn() -> bool>).map_err(store_error)?;
        self.put_back(reader);
        if is_long.load(Ordering::Relaxed) { Ok(None) } else { result.map(Some) }
    }

    fn put_back(&self, reader: Reader) {
        if self.inner.reader_pool.put_back(reader) {
            self.inner.writer.watch_snapshots();
        }
    }

    /// Runs `work` in the next group commit; returns once it is on disk.
    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let _timer = self.inner.operations.time(OperationClass::Transaction);
        self.inner.writer.run(work).await
    }

    /// Like `write`, and invalidates cached access.
    async fn write_access<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let written = self.write(work).await;
        self.inner.invalidation.access_changed();
        written
    }

    /// Like `write_access`; `work` also returns the webhooks that the change concerns, or None if access is unchanged.
    async fn write_access_for<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<(T, Option<Vec<WebhookId>>)> + Send + 'static,
    ) -> Result<T> {
        let invalidation = &self.inner.invalidation;
        // Also after an error: the commit may have succeeded.
        let (result, webhooks) = self.write(work).await.inspect_err(|_| invalidation.access_changed())?;
        if let Some(webhooks) = webhooks {
            invalidation.access_changed_for(&webhooks);
        }
        Ok(result)
    }
}

/// Creates a file that only its owner can access; SQLite gives its companion files the same permissions.
fn create_private_file(path: &Path) -> Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let created = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match created {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(StoreError::Unavailable(format!("{}: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

fn connect(path: &Path) -> Result<Connection> {
    let connection = Connection::open(path).map_err(cannot_open(path))?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(store_error)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    // Without this option SQLite would plan most statements again whenever other values are bound.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(store_error)?;
    connection
        .execute_batch(&format!(
            "PRAGMA synchronous = FULL;
             -- For migrations; the writer has a `WalCheckpointer`.
             PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES_MIN};
             PRAGMA journal_size_limit = 67108864;
             PRAGMA cache_size = -8192;
             PRAGMA temp_store = MEMORY;",
        ))
        .map_err(cannot_open(path))?;
    Ok(connection)
}

/// Switches a new file to a write-ahead log. That needs exclusive access, and SQLite does not always wait for
/// other connections; beginning a write transaction does.
fn switch_to_wal(connection: &Connection) -> rusqlite::Result<()> {
    let switch = || connection.pragma_update(None, "journal_mode", "WAL");
    for _ in 1..WAL_TRIES_MAX {
        match switch() {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                connection.execute_batch("BEGIN IMMEDIATE; COMMIT")?;
            }
            switched => return switched,
        }
    }
    switch()
}

/// Adds the path to an error.
fn cannot_open(path: &Path) -> impl FnOnce(rusqlite::Error) -> StoreError {
    move |error| StoreError::Unavailable(format!("{}: {error}", path.display()))
}

/// Maps a SQLite error to a store error.
fn store_error(error: rusqlite::Error) -> StoreError {
    counted(match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full("the disk that holds the store is full".into()),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            StoreError::Unavailable("another process is writing to the store's file; try again".into())
        }
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen | ErrorCode::ReadOnly) => {
            StoreError::Unavailable(error.to_string())
        }
        _ => StoreError::internal(error),
    })
}

/// Maps a constraint violation to `Exists`.
fn exists(what: String) -> impl FnOnce(rusqlite::Error) -> StoreError {
    move |error| match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) => StoreError::Exists(what),
        _ => store_error(error),
    }
}
