//! SQLite on a disk without room: writes say so, reads go on, and nothing that was answered is lost.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use domain::{Secret, TenantId};
use store::sqlite::SqliteStore;
use store::{AuthorizationCode, GrantDecision, Result, Store, StoreError};
use tempfile::TempDir;
use tokio::sync::oneshot;

use crate::suite::codes::{chosen, code, ours, taking};
use crate::suite::desk::{Desk, company, journal};
use crate::suite::stage::{FakeClock, SeededRandom, ports, tenant, the_key};

const KIB: usize = 1024;

/// A small disk of our own.
struct Disk(TempDir);

impl Disk {
    fn mount(size_kib: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size_kib}k"), "tmpfs"]).arg(folder.path());
        let mounted = mount.output().is_ok_and(|output| output.status.success());
        assert!(
            mounted,
            "this test needs the right to mount a tmpfs: run it as root, in a container with SYS_ADMIN"
        );
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Leaves no room for anything.
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
        // A store that is still open would keep it busy.
        let _ = Command::new("umount").arg("--lazy").arg(self.path()).status();
    }
}

struct Scene {
    store: Arc<dyn Store>,
    desk: Desk,
    file: std::path::PathBuf,
    given: store::Ports,
}

impl Scene {
    async fn on(disk: &Disk) -> Self {
        let file = disk.path().join("aldaba.db");
        let given = ports(&Arc::new(FakeClock::default()), &Arc::new(SeededRandom::new(1)), &the_key());
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&file, given.clone()).unwrap());
        store.add_tenant(&tenant("t", given.clock.now())).await.unwrap();
        let desk = Desk::new(store.clone(), TenantId::new("t"));
        desk.accept([company("c1")]).await;
        Self { store, desk, file, given }
    }

    fn a_code(&self) -> AuthorizationCode {
        code(self.given.clock.now())
    }

    async fn store_code(&self, name: &str) -> Result<()> {
        let now = self.given.clock.now();
        self.store.store_code(&Secret::new(name), &self.a_code(), &chosen(), now).await
    }

    /// Whether a code is kept; looking spends it.
    async fn has_code(&self, name: &str) -> bool {
        let taken = self
            .store
            .take_code(&taking(&Secret::new(name), &ours(), self.given.clock.now()), Box::new(|_| None))
            .await;
        taken.unwrap() != store::CodeOutcome::Unknown
    }

    /// The same file, opened by the next program.
    async fn again(self) -> Desk {
        self.store.close().await;
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&self.file, self.given.clone()).unwrap());
        self.desk.at(&store)
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
async fn a_full_disk_refuses_writes_and_loses_nothing() {
    let disk = Disk::mount(16 * KIB);
    let scene = Scene::on(&disk).await;
    let desk = &scene.desk;
    let (mut kept, mut lost) = (Vec::new(), Vec::new());
    for round in 0..2 {
        disk.fill();
        for number in 0.. {
            let id = format!("j{round}-{number}");
            if is_full(desk.try_send([bulky(&id, 20 * KIB)]).await) {
                lost.push(id);
                break;
            }
            kept.push(id);
        }
        // Whatever else is to be written is refused in the same words once the last bytes are used up.
        while !is_full(scene.store_code(&scene.given.random.token()).await) {}
        assert!(is_full(desk.try_send([bulky("lost too", 20 * KIB)]).await));
        assert_eq!(desk.head().await, kept.len() as u64 + 1);
        assert_eq!(desk.page(&bulky("any", 1), 0, 5).await.total, kept.len() as u64);
        for id in &kept {
            assert!(desk.has(&bulky(id, 1)).await);
        }
        scene.store.health().await.unwrap();

        disk.make_room();
        let id = format!("after {round}");
        desk.accept([bulky(&id, 20 * KIB)]).await;
        kept.push(id);
        scene.store_code(&format!("code {round}")).await.unwrap();
        assert!(scene.has_code(&format!("code {round}")).await);
    }
    let again = scene.again().await;
    assert_eq!(again.ids(&bulky("any", 1)).await, kept);
    for id in lost.iter().map(String::as_str).chain(["lost too"]) {
        assert!(!again.has(&bulky(id, 1)).await);
    }
    again.accept([bulky("the end", KIB)]).await;
}

/// One request that finds no room midway: SQLite drops all that was written beside it, and says so to all.
#[tokio::test(flavor = "multi_thread")]
async fn requests_that_are_written_together_share_the_fate_of_the_disk() {
    let disk = Disk::mount(16 * KIB);
    let scene = Arc::new(Scene::on(&disk).await);
    scene.store_code("gate").await.unwrap();
    disk.fill();

    // Holds the writer until all the others wait in line, so that they are written as one group.
    let (open, gate) = oneshot::channel::<()>();
    let (entered, waiting) = oneshot::channel::<()>();
    let judge: GrantDecision = Box::new(move |_| {
        entered.send(()).unwrap();
        gate.blocking_recv().unwrap();
        None
    });
    let (store, now) = (scene.store.clone(), scene.given.clock.now());
    let holding =
        tokio::spawn(
            async move { store.take_code(&taking(&Secret::new("gate"), &ours(), now), judge).await },
        );
    waiting.await.unwrap();

    let keep = |name: &'static str, details: usize| {
        let (store, kept) =
            (scene.store.clone(), AuthorizationCode { details: "x".repeat(details), ..scene.a_code() });
        tokio::spawn(async move { store.store_code(&Secret::new(name), &kept, &chosen(), now).await })
    };
    let mut codes = Vec::new();
    // The third alone is more than SQLite's cache holds: it has to be written before the commit.
    for (name, details) in [("a", 10), ("b", 10), ("c", 12 * KIB * KIB), ("d", 10), ("e", 10)] {
        codes.push((name, keep(name, details)));
        queue_reaches(&scene, codes.len()).await;
    }
    let (desk, changes) = (scene.desk.clone(), ["j1", "j2"].map(|id| journal("c1", id, "{}")));
    let changing = tokio::spawn(async move { desk.try_send(changes).await });
    queue_reaches(&scene, 6).await;
    open.send(()).unwrap();

    let _ = holding.await.unwrap();
    for (name, answer) in &mut codes {
        assert!(is_full(answer.await.unwrap()), "{name}");
    }
    assert!(is_full(changing.await.unwrap()));
    disk.make_room();
    for (name, _) in codes {
        assert!(!scene.has_code(name).await, "{name} was refused");
    }
    assert_eq!(scene.desk.told().await, ["1 companies c1 Created"]);
    assert_eq!(scene.desk.ids(&journal("c1", "any", "{}")).await, [""; 0]);
    assert_eq!(scene.desk.accept([journal("c1", "j3", "{}")]).await.last_sequence, 2);
}

async fn queue_reaches(scene: &Scene, count: usize) {
    while scene.store.health().await.unwrap().queued < count {
        tokio::task::yield_now().await;
    }
}
