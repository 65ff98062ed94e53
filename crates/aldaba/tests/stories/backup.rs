//! `aldaba store backup` and `restore`, from one kind of store into another and back.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;

use crate::harness::{Database, Program, Site};

const ADVANCE: u64 = 1_000_000;

fn lines() -> String {
    Program::new(&["changes", "generate", "--seed", "7", "--companies", "1"]).run().code(0).stdout
}

fn backup(site: &Site, file: &Path) -> Value {
    site.program(&["store", "backup", file.to_str().unwrap(), "--json"]).run().json()
}

fn restore(site: &Site, file: &Path) -> Program {
    site.program(&["store", "restore", file.to_str().unwrap()])
}

/// The head after applying these lines.
fn head(site: &Site, lines: &str) -> u64 {
    let apply = site.program(&["changes", "apply", "-", "--tenant", "uno", "--json"]);
    let answer = apply.input(lines).run().json();
    assert_eq!(answer["rejected"], 0, "{answer}");
    answer["lastSequenceVersion"].as_str().unwrap().parse().unwrap()
}

/// A store with a tenant, a user, an application, a key and records.
fn furnished() -> (Site, u64) {
    let site = Site::new();
    site.add_tenant("uno");
    let user = ["user", "add", "maria@example.com", "--given-name", "María", "--tenant", "uno", "--json"];
    site.program(&user).input("correct horse battery\n").run().json();
    site.program(&["client", "add", "Panel", "--redirect-uri", "https://app.example/cb"]).run().code(0);
    site.program(&["key", "add", "Todo"]).run().code(0);
    let head = head(&site, &lines());
    (site, head)
}

/// Everything that is listed, without what a restore may reorder.
fn listed(site: &Site) -> Vec<Value> {
    ["tenant", "user", "client", "key"]
        .map(|what| site.program(&[what, "list", "--json"]).run().json())
        .to_vec()
}

#[test]
fn from_sqlite_to_postgres_and_back() {
    let (site, written) = furnished();
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first.backup"), folder.path().join("second.backup"));
    let told = backup(&site, &first);
    assert_eq!(told["file"], first.to_str().unwrap());
    assert!(told["backup"]["rows"].as_u64().unwrap() > written, "{told}");
    assert_eq!(std::fs::metadata(&first).unwrap().permissions().mode() & 0o777, 0o600);

    let database = Database::create();
    let on_postgres = Site::over(&database.url());
    on_postgres.share_master_key(&site);
    let restored = restore(&on_postgres, &first).with(&["--json"]).run().json();
    assert_eq!(restored["backup"], told["backup"]);
    assert_eq!(listed(&on_postgres), listed(&site));
    assert_eq!(head(&on_postgres, ""), written + ADVANCE);
    assert_eq!(head(&on_postgres, &lines()), written + ADVANCE, "every record is there as it was");

    backup(&on_postgres, &second);
    let back = Site::new();
    back.share_master_key(&site);
    let done = restore(&back, &second).run().code(0);
    assert!(
        done.stdout.ends_with("rows restored; every tenant's numbers go on 1,000,000 further\n"),
        "{done:?}"
    );
    assert_eq!(listed(&back), listed(&site));
    assert_eq!(head(&back, &lines()), written + 2 * ADVANCE);
}

#[test]
fn a_restore_needs_an_empty_store() {
    let (site, written) = furnished();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.backup");
    backup(&site, &file);
    restore(&site, &file).run().refused(5, "the store is not empty; restore into a new one");
    assert_eq!(head(&site, &lines()), written, "nothing happened to it");
    let other = Site::new();
    other.share_master_key(&site);
    other.add_tenant("another");
    restore(&other, &file).run().refused(5, "the store is not empty");
}

#[test]
fn another_master_key_opens_nothing() {
    let (site, written) = furnished();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.backup");
    backup(&site, &file);
    let stranger = Site::new();
    restore(&stranger, &file).run().refused(4, "the master key does not open this store");
    let key = std::fs::read_to_string(stranger.path().join("master.key")).unwrap();
    let set = format!("store.master_key={}", key.trim());
    for command in [&["tenant", "list"][..], &["store", "migrate"], &["store", "backup", "/nowhere"]] {
        site.program(&["--set", &set])
            .with(command)
            .run()
            .refused(4, "the master key does not open this store");
    }
    let serve = ["serve", "--listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0", "--set", &set];
    site.program(&serve).run().refused(4, "the master key does not open this store");
    assert_eq!(head(&site, ""), written);
}

#[test]
fn a_damaged_backup_is_refused_before_anything_is_written() {
    let (site, _) = furnished();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.backup");
    backup(&site, &file);
    let whole = std::fs::read(&file).unwrap();
    let target = Site::new();
    target.share_master_key(&site);
    let mut flipped = whole.clone();
    let middle = whole.len() / 2;
    flipped[middle] = if flipped[middle] == b'1' { b'2' } else { b'1' };
    for damaged in [&whole[..whole.len() / 2], &whole[..whole.len() - 10], &flipped, b"", b"nonsense"] {
        std::fs::write(&file, damaged).unwrap();
        restore(&target, &file).run().refused(1, "this is not a complete Aldaba backup");
    }
    std::fs::write(&file, &whole).unwrap();
    restore(&target, &file).run().code(0);
    assert_eq!(listed(&target), listed(&site));
}

#[test]
fn a_backup_is_talked_about_on_standard_error() {
    let (site, _) = furnished();
    let file = site.path().join("a.backup");
    let done = site.program(&["store", "backup", file.to_str().unwrap()]).run().code(0);
    assert!(done.stdout.ends_with(&format!("rows in {}, verified\n", file.display())), "{done:?}");
    assert!(done.stderr.contains("the master key is not in it"), "{done:?}");
    assert!(file.exists());
    let beside: Vec<_> =
        std::fs::read_dir(site.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!beside.iter().any(|name| name.to_str().unwrap().ends_with(".partial")), "{beside:?}");
    site.program(&["store", "backup", "/nowhere/a.backup"]).run().refused(1, "/nowhere/a.backup");
    site.program(&["store", "restore", "/nowhere/a.backup"]).run().refused(1, "/nowhere/a.backup");
}

#[test]
fn a_store_that_cannot_be_reached_ends_with_4() {
    let site = Site::over("postgres://nobody@127.0.0.1:1/nothing");
    site.program(&["tenant", "list"]).run().refused(4, "the store cannot be reached");
    site.program(&["check"]).run().refused(4, "the store cannot be reached");
    Site::over("sqlite:/nowhere/aldaba.db")
        .program(&["tenant", "list"])
        .run()
        .refused(4, "/nowhere/aldaba.db");
}
