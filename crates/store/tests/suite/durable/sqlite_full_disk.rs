//! SQLite on a full disk: writes are refused, reads continue, and no acknowledged write is lost.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use domain::{Secret, TenantId};
use store::sqlite::SqliteStore;
use store::{AuthorizationCode, GrantDecision, Result, Store, StoreError};
use tempfile::TempDir;
use testkit::SeededRandom;
use tokio::sync::oneshot;

use crate::suite::codes::{code, exchange, membership_id, our_client};
use crate::suite::fixture::{by, master_key, new_tenant, ports, test_clock};
use crate::suite::test_tenant::{TestTenant, company, journal};

const KIB: usize = 1024;

/// A small file system for one test.
struct Disk(TempDir);

impl Disk {
    fn mount(size_kib: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size_kib}k"), "tmpfs"]).arg(folder.path());
        let mounted = mount.output().is_ok_and(|output| output.status.success());
        assert!(mounted, "this test mounts a tmpfs: run it as root, in a container with CAP_SYS_ADMIN");
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Fills the disk completely.
    fn fill(&self) {
        let mut size = 1024 * KIB;
        while size > 0 {
            let name = format!("ballast-{size}-{}", fs::read_dir(self.path()).unwrap().count());
            if fs::write(self.path().join(name), vec![0; size]).is_err() {
                size /= 2;
            }
        }
    }

    fn make_room(&self) {
        for file in fs::read_dir(self.path()).unwrap() {
            let file = file.unwrap();
            if file.file_name().to_string_lossy().starts_with("ballast") {
                fs::remove_file(file.path()).unwrap();
            }
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily, because a store may still be open.
        let _ = Command::new("umount").arg("--lazy").arg(self.path()).status();
    }
}

struct DiskFixture {
    store: Arc<dyn Store>,
    tenant: TestTenant,
    file: std::path::PathBuf,
    ports: store::Ports,
}

impl DiskFixture {
    async fn open(disk: &Disk) -> Self {
        let file = disk.path().join("aldaba.db");
        let ports = ports(&Arc::new(test_clock()), &Arc::new(SeededRandom::new(1)), &master_key());
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&file, ports.clone()).unwrap());
        store.add_tenant(&new_tenant("t", ports.clock.now()), &by()).await.unwrap();
        let tenant = TestTenant::new(store.clone(), TenantId::new("t"));
        tenant.accept([company("c1")]).await;
        Self { store, tenant, file, ports }
    }

    fn new_code(&self) -> AuthorizationCode {
        code(self.ports.clock.now())
    }

    async fn store_code(&self, name: &str) -> Result<()> {
        let now = self.ports.clock.now();
        self.store.store_code(&Secret::new(name), &self.new_code(), &membership_id(), now, &by()).await
    }

    /// Whether a code is stored; this redeems it.
    async fn has_code(&self, name: &str) -> bool {
        let taken = self
            .store
            .take_code(
                &exchange(&Secret::new(name), &our_client(), self.ports.clock.now()),
                Box::new(|_| None),
            )
            .await;
        taken.unwrap() != store::CodeOutcome::Unknown
    }

    /// Closes the store and opens the same file again.
    async fn reopen(self) -> TestTenant {
        self.store.close().await;
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&self.file, self.ports.clone()).unwrap());
        self.tenant.via(&store)
    }
}

fn is_full<T: std::fmt::Debug>(answer: Result<T>) -> bool {
    match answer {
        Ok(_) => false,
        Err(StoreError::Full(_)) => true,
        Err(other) => panic!("{other:?}"),
    }
}

fn bulky(id: &str, bytes: usize) -> domain::change::Change {
    journal("c1", id, &format!(r#"{{"text":"{}"}}"#, "x".repeat(bytes)))
}

#[tokio::test(flavor = "multi_thread")]
async fn full_disk_refuses_writes_and_loses_nothing() {
    let disk = Disk::mount(16 * KIB);
    let fixture = DiskFixture::open(&disk).await;
    let tenant = &fixture.tenant;
    let (mut stored, mut lost) = (Vec::new(), Vec::new());
    for round in 0..2 {
        disk.fill();
        for number in 0.. {
            let id = format!("j{round}-{number}");
            if is_full(tenant.try_send([bulky(&id, 20 * KIB)]).await) {
                lost.push(id);
                break;
            }
            stored.push(id);
        }
        // Other writes are refused in the same way once the last bytes are used.
        while !is_full(fixture.store_code(&fixture.ports.random.token()).await) {}
        assert!(is_full(tenant.try_send([bulky("lost too", 20 * KIB)]).await));
        assert_eq!(tenant.head().await, stored.len() as u64 + 1);
        assert_eq!(tenant.page(&bulky("any", 1), 0, 5).await.total, stored.len() as u64);
        for id in &stored {
            assert!(tenant.has(&bulky(id, 1)).await);
        }
        fixture.store.health().await.unwrap();

        disk.make_room();
        let id = format!("after {round}");
        tenant.accept([bulky(&id, 20 * KIB)]).await;
        stored.push(id);
        fixture.store_code(&format!("code {round}")).await.unwrap();
        assert!(fixture.has_code(&format!("code {round}")).await);
    }
    let reopened = fixture.reopen().await;
    assert_eq!(reopened.ids(&bulky("any", 1)).await, stored);
    for id in lost.iter().map(String::as_str).chain(["lost too"]) {
        assert!(!reopened.has(&bulky(id, 1)).await);
    }
    reopened.accept([bulky("the end", KIB)]).await;
}

/// When one request of a group finds the disk full, SQLite rolls back the whole group, and every request fails.
#[tokio::test(flavor = "multi_thread")]
async fn requests_in_one_group_fail_together_on_a_full_disk() {
    let disk = Disk::mount(16 * KIB);
    let fixture = Arc::new(DiskFixture::open(&disk).await);
    fixture.store_code("blocked").await.unwrap();
    disk.fill();

    // Blocks the writer until all other requests are queued, so that they are written as one group.
    let (release, released) = oneshot::channel::<()>();
    let (started, has_started) = oneshot::channel::<()>();
    let decision: GrantDecision = Box::new(move |_| {
        started.send(()).unwrap();
        released.blocking_recv().unwrap();
        None
    });
    let (store, now) = (fixture.store.clone(), fixture.ports.clock.now());
    let blocked = tokio::spawn(async move {
        store.take_code(&exchange(&Secret::new("blocked"), &our_client(), now), decision).await
    });
    has_started.await.unwrap();

    let store_code_of = |name: &'static str, details: usize| {
        let (store, code) =
            (fixture.store.clone(), AuthorizationCode { details: "x".repeat(details), ..fixture.new_code() });
        tokio::spawn(async move {
            store.store_code(&Secret::new(name), &code, &membership_id(), now, &by()).await
        })
    };
    let mut codes = Vec::new();
    // The third is larger than SQLite's cache: SQLite writes it before the commit.
    for (name, details) in [("a", 10), ("b", 10), ("c", 12 * KIB * KIB), ("d", 10), ("e", 10)] {
        codes.push((name, store_code_of(name, details)));
        queue_reaches(&fixture, codes.len()).await;
    }
    let (tenant, changes) = (fixture.tenant.clone(), ["j1", "j2"].map(|id| journal("c1", id, "{}")));
    let changing = tokio::spawn(async move { tenant.try_send(changes).await });
    queue_reaches(&fixture, 6).await;
    release.send(()).unwrap();

    let _ = blocked.await.unwrap();
    for (name, answer) in &mut codes {
        assert!(is_full(answer.await.unwrap()), "{name}");
    }
    assert!(is_full(changing.await.unwrap()));
    disk.make_room();
    for (name, _) in codes {
        assert!(!fixture.has_code(name).await, "{name} was refused");
    }
    assert_eq!(fixture.tenant.log_lines().await, ["1 companies c1 Created"]);
    assert_eq!(fixture.tenant.ids(&journal("c1", "any", "{}")).await, [""; 0]);
    assert_eq!(fixture.tenant.accept([journal("c1", "j3", "{}")]).await.last_sequence, 2);
}

async fn queue_reaches(fixture: &DiskFixture, count: usize) {
    while fixture.store.health().await.unwrap().queued < count {
        tokio::task::yield_now().await;
    }
}
