//! The fixture of a test: an empty store of one kind, a clock that only the test moves, and randomness from a fixed seed.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use domain::{Clock, TenantId, Ticks};
use store::memory::{Contents, MemoryStore};
use store::postgres::PostgresStore;
use store::sqlite::SqliteStore;
use store::{
    Actor, Archive, AuditContext, FIRST_REVISION, MasterKey, Ports, Result, Status, Store, Tenant, Vault,
};
use tempfile::TempDir;
use testkit::{SeededRandom, TestClock};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::migrated;
use super::postgres_database::Database;
use super::test_tenant::TestTenant;

/// Few, so that tests that run in parallel do not exhaust the server's connections.
pub(crate) const CONNECTIONS_MAX: usize = 8;
/// The file of a SQLite store, in its folder.
pub(crate) const FILE: &str = "aldaba.db";
const EVENTUALLY_MAX: Duration = Duration::from_secs(1);
/// A time with all seven decimals, so that a test notices a lost digit.
const START: &str = "2026-11-15T08:30:00.1234567Z";
const SEED: u64 = 0x616c_6461_6261;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreKind {
    Memory,
    Sqlite,
    Postgres,
}

/// Where a store keeps its data.
pub(crate) enum Storage {
    Memory(Contents),
    Sqlite(TempDir),
    Postgres(Database),
}

impl Storage {
    /// Empty storage that no store has opened yet.
    pub(crate) async fn create(kind: StoreKind) -> Self {
        match kind {
            StoreKind::Memory => Self::Memory(Contents::default()),
            StoreKind::Sqlite => Self::Sqlite(tempfile::tempdir().unwrap()),
            StoreKind::Postgres => Self::Postgres(Database::create().await),
        }
    }

    /// The storage of a store that was opened once: without the migrations to run.
    async fn migrated(kind: StoreKind) -> Self {
        let storage = match kind {
            StoreKind::Postgres => return Self::Postgres(migrated::postgres().await),
            StoreKind::Memory | StoreKind::Sqlite => Self::create(kind).await,
        };
        if kind == StoreKind::Sqlite {
            migrated::write_sqlite(&storage.file());
        }
        storage
    }

    pub(crate) fn url(&self) -> String {
        match self {
            Self::Postgres(database) => database.url(),
            _ => unreachable!("only PostgreSQL has a url"),
        }
    }

    /// The path of a SQLite store, whether or not the file exists.
    pub(crate) fn file(&self) -> PathBuf {
        match self {
            Self::Sqlite(folder) => folder.path().join(FILE),
            _ => unreachable!("only SQLite has a file"),
        }
    }

    pub(crate) async fn open(&self, ports: Ports) -> Result<Handle> {
        Ok(match self {
            Self::Memory(contents) => {
                Handle { store: Arc::new(MemoryStore::open(contents.clone(), ports)?), archive: None }
            }
            Self::Sqlite(_) => Handle::durable(SqliteStore::open(&self.file(), ports)?),
            Self::Postgres(database) => {
                Handle::durable(PostgresStore::open(&database.url(), CONNECTIONS_MAX, ports).await?)
            }
        })
    }
}

/// An open store, with its archive if it has one.
#[derive(Clone)]
pub(crate) struct Handle {
    pub(crate) store: Arc<dyn Store>,
    archive: Option<Arc<dyn Archive>>,
}

impl Handle {
    pub(crate) fn durable(store: impl Store + Archive + Clone + 'static) -> Self {
        Self { store: Arc::new(store.clone()), archive: Some(Arc::new(store)) }
    }

    pub(crate) fn archive(&self) -> &dyn Archive {
        self.archive.as_deref().expect("only durable stores have an archive")
    }
}

pub(crate) struct Fixture {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) handle: Handle,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) random: Arc<SeededRandom>,
    pub(crate) kind: StoreKind,
    tenants: AtomicU64,
    storage: Storage,
}

impl Fixture {
    pub(crate) async fn open(kind: StoreKind) -> Self {
        let storage = Storage::migrated(kind).await;
        let (clock, random) = (Arc::new(test_clock()), Arc::new(SeededRandom::new(SEED)));
        let handle = storage.open(ports(&clock, &random, &master_key())).await.unwrap();
        Self { store: handle.store.clone(), handle, clock, random, kind, tenants: AtomicU64::new(0), storage }
    }

    /// A second handle on the same store: another node, or the program started again.
    pub(crate) async fn reopen(&self) -> Handle {
        self.reopen_with(&master_key()).await.unwrap()
    }

    pub(crate) async fn reopen_with(&self, key: &MasterKey) -> Result<Handle> {
        self.storage.open(self.ports(key)).await
    }

    pub(crate) fn ports(&self, key: &MasterKey) -> Ports {
        ports(&self.clock, &self.random, key)
    }

    /// The file of a SQLite store.
    pub(crate) fn file(&self) -> PathBuf {
        self.storage.file()
    }

    /// The url of a PostgreSQL store.
    pub(crate) fn url(&self) -> String {
        self.storage.url()
    }

    pub(crate) fn now(&self) -> Ticks {
        self.clock.now()
    }

    /// Adds a new tenant to the store.
    pub(crate) async fn add_tenant(&self) -> TestTenant {
        let number = self.tenants.fetch_add(1, Ordering::Relaxed) + 1;
        let tenant = new_tenant(&format!("tenant-{number}"), self.now());
        self.store.add_tenant(&tenant, &by()).await.unwrap();
        TestTenant::new(self.store.clone(), tenant.id)
    }
}

/// Runs an action `count` times concurrently, alternating between the stores, and returns every result.
pub(crate) async fn concurrently<T, F>(
    count: usize,
    stores: &[&Arc<dyn Store>],
    action: impl Fn(usize, Arc<dyn Store>) -> F,
) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let start = Arc::new(Barrier::new(count));
    let mut tasks = JoinSet::new();
    for number in 0..count {
        let (start, store) = (start.clone(), stores[number % stores.len()].clone());
        let work = action(number, store.clone());
        tasks.spawn(async move {
            // Connect first, so that no task is ahead of the others.
            store.health().await.unwrap();
            start.wait().await;
            work.await
        });
    }
    tasks.join_all().await
}

/// Polls a condition until it holds; fails after a second.
pub(crate) async fn eventually<F: Future<Output = bool>>(condition: impl Fn() -> F) {
    let waiting = async {
        while !condition().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(EVENTUALLY_MAX, waiting).await.expect("the condition holds within a second");
}

pub(crate) fn new_tenant(id: &str, created_at: Ticks) -> Tenant {
    Tenant {
        id: TenantId::new(id),
        name: format!("Asesoría {id}"),
        short_code: "ES00042".into(),
        status: Status::Active,
        created_at,
        revision: FIRST_REVISION,
        sandbox_of: None,
    }
}

/// Who acts in tests that are not about the audit.
pub(crate) fn by() -> AuditContext {
    AuditContext { actor: Actor::Operator, address: "192.0.2.9".into(), request_id: "request-9".into() }
}

pub(crate) fn master_key() -> MasterKey {
    MasterKey::from_bytes([7; 32])
}

pub(crate) fn other_master_key() -> MasterKey {
    MasterKey::from_bytes([8; 32])
}

/// The clock that every fixture starts with.
pub(crate) fn test_clock() -> TestClock {
    TestClock::at(Ticks::parse_iso(START).unwrap())
}

pub(crate) fn ports(clock: &Arc<TestClock>, random: &Arc<SeededRandom>, key: &MasterKey) -> Ports {
    Ports { clock: clock.clone(), random: random.clone(), vault: Arc::new(Vault::new(key).unwrap()) }
}
