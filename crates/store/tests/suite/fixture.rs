//! The stage of a story: a store of one kind, opened on nothing, with a clock that only the story turns
//! and chance that comes from a seed.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use domain::{Clock, Random, TenantId, Ticks};
use store::memory::{Contents, MemoryStore};
use store::postgres::PostgresStore;
use store::sqlite::SqliteStore;
use store::{Archive, MasterKey, Ports, Result, Status, Store, Tenant, Vault};
use tempfile::TempDir;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::database::Database;
use super::desk::Desk;

/// Few, so that stories that run side by side do not take all that the server has.
const CONNECTIONS_MAX: usize = 8;
/// The file of a SQLite store, in its folder.
const FILE: &str = "aldaba.db";
const SOON: Duration = Duration::from_secs(1);
const SEED: u64 = 0x616c_6461_6261;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Memory,
    Sqlite,
    Postgres,
}

/// Where a store keeps what it is given.
pub(crate) enum Ground {
    Memory(Contents),
    Sqlite(TempDir),
    Postgres(Database),
}

impl Ground {
    /// A place where no store has been yet.
    pub(crate) async fn fresh(kind: Kind) -> Self {
        match kind {
            Kind::Memory => Self::Memory(Contents::default()),
            Kind::Sqlite => Self::Sqlite(tempfile::tempdir().unwrap()),
            Kind::Postgres => Self::Postgres(Database::create().await),
        }
    }

    pub(crate) fn url(&self) -> String {
        match self {
            Self::Postgres(database) => database.url(),
            _ => unreachable!("only PostgreSQL has a url"),
        }
    }

    /// The file of a SQLite store, there or not.
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

/// A handle on the store, with its archive where it has one.
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

pub(crate) struct Stage {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) handle: Handle,
    pub(crate) clock: Arc<FakeClock>,
    pub(crate) random: Arc<SeededRandom>,
    pub(crate) kind: Kind,
    tenants: AtomicU64,
    ground: Ground,
}

impl Stage {
    pub(crate) async fn set(kind: Kind) -> Self {
        let ground = Ground::fresh(kind).await;
        let (clock, random) = (Arc::new(FakeClock::default()), Arc::new(SeededRandom::new(SEED)));
        let handle = ground.open(ports(&clock, &random, &the_key())).await.unwrap();
        Self { store: handle.store.clone(), handle, clock, random, kind, tenants: AtomicU64::new(0), ground }
    }

    /// A second handle on the same store: another node, or the program started again.
    pub(crate) async fn reopen(&self) -> Handle {
        self.reopen_with(&the_key()).await.unwrap()
    }

    pub(crate) async fn reopen_with(&self, key: &MasterKey) -> Result<Handle> {
        self.ground.open(self.ports(key)).await
    }

    pub(crate) fn ports(&self, key: &MasterKey) -> Ports {
        ports(&self.clock, &self.random, key)
    }

    /// The file of a SQLite store.
    pub(crate) fn file(&self) -> PathBuf {
        self.ground.file()
    }

    /// The url of a PostgreSQL store.
    pub(crate) fn url(&self) -> String {
        self.ground.url()
    }

    pub(crate) fn now(&self) -> Ticks {
        self.clock.now()
    }

    /// A fresh tenant, and who writes and reads for it.
    pub(crate) async fn desk(&self) -> Desk {
        let number = self.tenants.fetch_add(1, Ordering::Relaxed) + 1;
        let tenant = tenant(&format!("tenant-{number}"), self.now());
        self.store.add_tenant(&tenant).await.unwrap();
        Desk::new(self.store.clone(), tenant.id)
    }
}

/// Does the same thing many times at the same moment, in turn at each of the handles.
pub(crate) async fn at_once<T, F>(
    count: usize,
    stores: &[&Arc<dyn Store>],
    act: impl Fn(usize, Arc<dyn Store>) -> F,
) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let start = Arc::new(Barrier::new(count));
    let mut actors = JoinSet::new();
    for number in 0..count {
        let (start, store) = (start.clone(), stores[number % stores.len()].clone());
        let acting = act(number, store.clone());
        actors.spawn(async move {
            // Nobody is ahead because of a connection that the others still have to make.
            store.health().await.unwrap();
            start.wait().await;
            acting.await
        });
    }
    actors.join_all().await
}

/// Waits until it is so, with whatever reads that takes.
pub(crate) async fn soon<F: Future<Output = bool>>(is_so: impl Fn() -> F) {
    let waiting = async {
        while !is_so().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(SOON, waiting).await.expect("so within a second");
}

pub(crate) fn tenant(id: &str, created_at: Ticks) -> Tenant {
    Tenant {
        id: TenantId::new(id),
        name: format!("Asesoría {id}"),
        short_code: "ES00042".into(),
        status: Status::Active,
        created_at,
    }
}

pub(crate) fn the_key() -> MasterKey {
    MasterKey::from_bytes([7; 32])
}

pub(crate) fn another_key() -> MasterKey {
    MasterKey::from_bytes([8; 32])
}

pub(crate) fn ports(clock: &Arc<FakeClock>, random: &Arc<SeededRandom>, key: &MasterKey) -> Ports {
    Ports { clock: clock.clone(), random: random.clone(), vault: Arc::new(Vault::new(key).unwrap()) }
}

/// Stands still until it is turned.
pub(crate) struct FakeClock(AtomicI64);

impl Default for FakeClock {
    fn default() -> Self {
        let start = Ticks::parse_iso("2026-11-15T08:30:00.1234567Z").unwrap();
        Self(AtomicI64::new(start.0))
    }
}

impl FakeClock {
    pub(crate) fn set(&self, moment: Ticks) {
        self.0.store(moment.0, Ordering::SeqCst);
    }

    pub(crate) fn forward(&self, span: Duration) -> Ticks {
        self.set(self.now() + span);
        self.now()
    }

    pub(crate) fn back(&self, span: Duration) -> Ticks {
        self.set(self.now().minus(span));
        self.now()
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Ticks {
        Ticks(self.0.load(Ordering::SeqCst))
    }
}

/// Chance that is the same in every run: splitmix64.
pub(crate) struct SeededRandom {
    state: AtomicU64,
    fails_next: AtomicBool,
}

impl SeededRandom {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: AtomicU64::new(seed), fails_next: AtomicBool::new(false) }
    }

    /// Whoever asks next finds no chance left, and breaks down.
    pub(crate) fn fail_next(&self) {
        self.fails_next.store(true, Ordering::SeqCst);
    }

    pub(crate) fn number(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut mixed = self.state.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&self, bound: u64) -> u64 {
        self.number() % bound
    }
}

impl Random for SeededRandom {
    fn fill(&self, bytes: &mut [u8]) {
        assert!(!self.fails_next.swap(false, Ordering::SeqCst), "no chance is left");
        for chunk in bytes.chunks_mut(8) {
            let number = self.number().to_le_bytes();
            chunk.copy_from_slice(&number[..chunk.len()]);
        }
    }
}
