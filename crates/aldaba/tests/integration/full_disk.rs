//! A full disk: writes are refused with a reason, reads continue, and writes work again once there is space.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::harness::{
    HttpRequest, HttpResponse, IngestClient, Installation, ServeProcess, bank, ndjson, wait_for,
};

/// A small tmpfs, unmounted when this is dropped.
struct SmallDisk(TempDir);

impl SmallDisk {
    fn mount() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=8m,mode=700", "aldaba-test"]).arg(folder.path());
        let mounted = mount.output().expect("this test mounts a small disk and needs the program `mount`");
        let stderr = String::from_utf8_lossy(&mounted.stderr).into_owned();
        assert!(mounted.status.success(), "this test mounts a small tmpfs and has to run as root: {stderr}");
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file until the disk is full. Deleting the file frees the space.
    fn fill(&self) -> PathBuf {
        let path = self.path().join("ballast");
        let mut file = std::fs::File::create(&path).unwrap();
        while file.write_all(&[7; 4096]).is_ok() {}
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).output();
    }
}

/// A line of some kilobytes, so that the disk fills up quickly.
fn large(id: usize) -> String {
    ndjson(&[bank(&format!("large-{id}"), &"x".repeat(4000))])
}

/// Sends lines until one is refused; returns the acknowledged ids and the refusal.
fn send_until_refused(ingest: &IngestClient) -> (Vec<String>, HttpResponse) {
    let mut acknowledged = Vec::new();
    let refusal = wait_for("the disk to be full", || {
        let line = large(acknowledged.len());
        let response = ingest.request().body(line.clone()).send();
        if response.status == 200 {
            acknowledged.push(line);
            return None;
        }
        Some(response)
    });
    (acknowledged, refusal)
}

#[test]
fn full_disk_loses_nothing_and_reads_continue() {
    let disk = SmallDisk::mount();
    let store = format!("sqlite:{}", disk.path().join("aldaba.db").display());
    let server = ServeProcess::start(Installation::with_store(&store), &[]);
    let ingest = server.ingest_for_new_tenant();
    let before = ndjson(&[bank("1", "a"), bank("2", "b")]);
    let first = ingest.send_with_idempotency_key("before", before.clone());
    let ballast = disk.fill();

    let (acknowledged, refusal) = send_until_refused(&ingest);
    let message = refusal.problem(503);
    assert!(
        message.starts_with("Nothing can be written now: the disk that holds the store is full."),
        "{message}"
    );
    assert_eq!((refusal.problem_code().as_str(), refusal.header("retry-after")), ("store_full", "5"));

    for side in [&server.public_url, &server.operator_url] {
        assert_eq!(HttpRequest::get(&format!("{side}/livez")).send().status, 200);
        let ready = HttpRequest::get(&format!("{side}/readyz")).send();
        assert_eq!((ready.status, &ready.json()["status"]), (200, &"ready".into()), "reads continue");
    }
    assert_eq!(
        ingest.send_with_idempotency_key("before", before.clone()),
        first,
        "a repeated line is found unchanged"
    );
    let listed = server.installation.program(&["tenant", "list", "--json"]).run().json();
    assert_eq!(listed[0]["id"], ingest.tenant.as_str());
    assert_eq!(
        ingest.request().body(large(9999)).send().problem_code(),
        "store_full",
        "writes are still refused"
    );

    std::fs::remove_file(ballast).unwrap();
    let head = 2 + acknowledged.len() as u64;
    assert_eq!(
        ingest.send(before + &acknowledged.concat()).head(),
        head,
        "everything acknowledged is stored"
    );
    assert_eq!(ingest.send(large(9999)).head(), head + 1, "nothing refused is stored, and writes work again");
    server.assert_healthy();

    let server = ServeProcess::start(server.stop(), &[]);
    assert_eq!(server.ingest_client(&ingest.tenant).head(), head + 1);
    drop(server);
}

#[test]
fn refusal_of_a_long_body_says_how_much_was_committed() {
    let disk = SmallDisk::mount();
    let store = format!("sqlite:{}", disk.path().join("aldaba.db").display());
    let server = ServeProcess::start(Installation::with_store(&store), &[]);
    let ingest = server.ingest_for_new_tenant();
    let lines: Vec<String> = (0..5000).map(large).collect();
    let refusal = ingest.request().body(lines.concat()).send();
    let message = refusal.problem(503);
    let head = ingest.head();
    assert!(head > 0);
    let stays =
        format!("{head} accepted and 0 rejected before stay as they are (lastSequenceVersion {head}).");
    assert!(message.ends_with(&stays), "{message} {head}");
    drop(server);
}
