//! The embedded store: one file, one writer thread that commits whole groups, readers beside it.

mod applications;
mod apply;
mod archive;
mod audit;
mod changes;
mod checkpoint;
mod deliveries;
mod directory;
mod grants;
mod group;
mod history;
mod hook_rows;
mod keys;
mod load;
mod maintenance;
mod migrate;
mod moments;
mod nodes;
mod payroll;
mod places;
mod reader;
mod readers;
mod records;
mod refresh;
mod rows;
mod sessions;
mod shards;
mod subscriptions;
mod turnstile;
mod webhooks;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode};

use tokio::sync::Semaphore;

use crate::{InvalidationCounters, Ports, Result, StoreError};
use moments::KnownMoments;
use reader::Reader;
use readers::Readers;
use shards::Turn;
use turnstile::Turnstile;
use writer::Writer;

/// How long a connection waits for another process that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const STATEMENTS_CACHED: usize = 128;
const WAL_TRIES_MAX: usize = 100;
/// As many of SQLite's own steps as take about half a millisecond. It asks after each round whether to go on, and
/// counts on from a statement's earlier runs, so the first round may be short.
const GLANCE_ROUNDS_MAX: u32 = 20;
const ROUND_STEPS: i32 = 1000;
/// How many searches may look through all of a tenant's companies at once, each on a thread of its own.
const SEARCHES_MAX: usize = 4;

/// A store in one file; cheap to clone.
#[derive(Clone)]
pub struct SqliteStore {
    inner: Arc<Inner>,
}

struct Inner {
    path: PathBuf,
    ports: Ports,
    readers: Arc<Readers>,
    searches: Semaphore,
    moments: KnownMoments,
    writer: Writer,
    invalidation: Arc<InvalidationCounters>,
    turn: Turn,
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SqliteStore({})", self.inner.path.display())
    }
}

impl SqliteStore {
    /// Opens the file, makes it where there is none, brings its schema up to date, and checks that the
    /// master key opens it.
    pub fn open(path: &Path, ports: Ports) -> Result<Self> {
        make_private(path)?;
        let mut connection = connect(path)?;
        switch_to_wal(&connection).map_err(unreachable(path))?;
        let schema = migrate::up(&mut connection)?;
        migrate::check_master_key(&connection, &ports)?;
        if migrate::forget_statistics(&connection)? {
            connection = connect(path)?;
        }
        let turnstile = Turnstile::beside(path);
        let (invalidation, readers) =
            (Arc::new(InvalidationCounters::default()), Arc::new(Readers::new(path.to_owned())));
        let writer = Writer::start(
            connection,
            turnstile,
            ports.clone(),
            schema,
            invalidation.clone(),
            readers.clone(),
        )?;
        let (searches, moments) = (Semaphore::new(SEARCHES_MAX), KnownMoments::default());
        let (path, turn) = (path.to_owned(), Turn::beside(path));
        Ok(Self {
            inner: Arc::new(Inner { path, ports, readers, searches, moments, writer, invalidation, turn }),
        })
    }

    /// The number of the newest migration that is in the file, without changing anything.
    pub fn schema_of(path: &Path) -> Result<Option<i64>> {
        if !path.exists() {
            return Ok(None);
        }
        migrate::version(&connect(path)?).map(Some)
    }

    fn ports(&self) -> &Ports {
        &self.inner.ports
    }

    /// Reads on the caller's own thread: a look-up costs microseconds, a hand-over would cost more.
    fn read<T>(&self, look: impl FnOnce(&Reader) -> Result<T>) -> Result<T> {
        let reader = self.inner.readers.take()?;
        reader.end_view();
        let seen = look(&reader);
        self.put_back(reader);
        seen
    }

    /// Reads several things as they stood at one moment, which is now.
    fn snapshot<T>(&self, look: impl FnOnce(&Reader) -> Result<T>) -> Result<T> {
        self.read(|reader| {
            reader.view(readers::NONE)?;
            let seen = look(reader);
            reader.end_view();
            seen
        })
    }

    /// Reads several things as they stood at one moment: after all that was written through this handle. What others
    /// wrote in the last tenth of a second may not be there yet.
    fn view<T>(&self, look: impl FnOnce(&Reader) -> Result<T>) -> Result<T> {
        let reader = self.inner.readers.take()?;
        let seen = self.view_by(&reader, look);
        self.put_back(reader);
        seen
    }

    fn view_by<T>(&self, reader: &Reader, look: impl FnOnce(&Reader) -> Result<T>) -> Result<T> {
        let seen = reader.view(self.inner.readers.era()).and_then(|()| look(reader));
        if seen.is_err() {
            reader.end_view();
        }
        seen
    }

    /// As `view`, but given up where it takes more than a moment: none. What may have to look at every row
    /// starts here, and where that is long it is done again aside, not on a thread that serves others.
    fn glance<T>(&self, look: impl FnOnce(&Reader) -> Result<T>) -> Result<Option<T>> {
        let mut reader = self.inner.readers.take()?;
        let is_long = Arc::new(AtomicBool::new(false));
        let (told, mut rounds) = (is_long.clone(), 0);
        let give_up = move || {
            rounds += 1;
            told.store(rounds > GLANCE_ROUNDS_MAX, Ordering::Relaxed);
            rounds > GLANCE_ROUNDS_MAX
        };
        reader.progress_handler(ROUND_STEPS, Some(give_up)).map_err(fault)?;
        let seen = self.view_by(&reader, look);
        reader.progress_handler(0, None::<fn() -> bool>).map_err(fault)?;
        self.put_back(reader);
        if is_long.load(Ordering::Relaxed) { Ok(None) } else { seen.map(Some) }
    }

    fn put_back(&self, reader: Reader) {
        if self.inner.readers.put_back(reader) {
            self.inner.writer.mind_views();
        }
    }

    /// Runs `work` in the next group; returns once it is on disk.
    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.inner.writer.run(work).await
    }

    /// As `write`, for what changes somebody's access.
    async fn write_access<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let written = self.write(work).await;
        self.inner.invalidation.access_changed();
        written
    }
}

/// A new file is its owner's alone; SQLite gives its companions the same rights.
fn make_private(path: &Path) -> Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let made = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match made {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(StoreError::Unavailable(format!("{}: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

fn connect(path: &Path) -> Result<Connection> {
    let connection = Connection::open(path).map_err(unreachable(path))?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(fault)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    // Plans do not follow what is bound: else SQLite would plan most statements anew each time they are run.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(fault)?;
    connection
        .execute_batch(
            "PRAGMA synchronous = FULL;
             PRAGMA wal_autocheckpoint = 4000;
             PRAGMA journal_size_limit = 67108864;
             PRAGMA cache_size = -8192;
             PRAGMA temp_store = MEMORY;",
        )
        .map_err(unreachable(path))?;
    Ok(connection)
}

/// A file that is new becomes one with a write-ahead log. That needs the file for itself, and SQLite does
/// not always wait for who else has it; taking a writer's turn does.
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

/// A file that cannot be opened is named.
fn unreachable(path: &Path) -> impl FnOnce(rusqlite::Error) -> StoreError {
    move |error| StoreError::Unavailable(format!("{}: {error}", path.display()))
}

/// Says what a fault of SQLite's means to who called.
fn fault(error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full("the disk that holds the store is full".into()),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            StoreError::Unavailable("another process is writing to the store's file".into())
        }
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen | ErrorCode::ReadOnly) => {
            StoreError::Unavailable(error.to_string())
        }
        _ => StoreError::internal(error),
    }
}

/// A violated uniqueness means that the thing is there already.
fn exists(what: String) -> impl FnOnce(rusqlite::Error) -> StoreError {
    move |error| match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) => StoreError::Exists(what),
        _ => fault(error),
    }
}
