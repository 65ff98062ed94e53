//! `aldaba store backup` and `restore`, from one kind of store into another and back.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;

use crate::harness::{Database, Installation, Program};

const ADVANCE: u64 = 1_000_000;

fn lines() -> String {
    Program::new(&["changes", "generate", "--seed", "7", "--companies", "1"]).run().code(0).stdout
}

fn backup(installation: &Installation, file: &Path) -> Value {
    installation.program(&["store", "backup", file.to_str().unwrap(), "--json"]).run().json()
}

fn restore(installation: &Installation, file: &Path) -> Program {
    installation.program(&["store", "restore", file.to_str().unwrap()])
}

/// The head after applying these lines.
fn head(installation: &Installation, lines: &str) -> u64 {
    let apply = installation.program(&["changes", "apply", "-", "--tenant", "uno", "--json"]);
    let answer = apply.input(lines).run().json();
    assert_eq!(answer["rejected"], 0, "{answer}");
    answer["lastSequenceVersion"].as_str().unwrap().parse().unwrap()
}

/// A store with a tenant, a user, an application, a key and records.
fn furnished() -> (Installation, u64) {
    let installation = Installation::new();
    installation.add_tenant("uno");
    let user = ["user", "add", "maria@example.com", "--given-name", "María", "--tenant", "uno", "--json"];
    installation.program(&user).input("correct horse battery\n").run().json();
    installation
        .program(&["client", "add", "Panel", "--redirect-uri", "https://app.example/cb"])
        .run()
        .code(0);
    installation.program(&["key", "add", "Todo"]).run().code(0);
    let head = head(&installation, &lines());
    (installation, head)
}

/// Everything that is listed, without what a restore may reorder.
fn listed(installation: &Installation) -> Vec<Value> {
    ["tenant", "user", "client", "key"]
        .map(|what| installation.program(&[what, "list", "--json"]).run().json())
        .to_vec()
}

#[test]
fn from_sqlite_to_postgres_and_back() {
    let (installation, written) = furnished();
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first.backup"), folder.path().join("second.backup"));
    let told = backup(&installation, &first);
    assert_eq!(told["file"], first.to_str().unwrap());
    assert!(told["backup"]["rows"].as_u64().unwrap() > written, "{told}");
    assert_eq!(std::fs::metadata(&first).unwrap().permissions().mode() & 0o777, 0o600);

    let database = Database::create();
    let on_postgres = Installation::with_store(&database.url());
    on_postgres.copy_master_key_from(&installation);
    let restored = restore(&on_postgres, &first).with(&["--json"]).run().json();
    assert_eq!(restored["backup"], told["backup"]);
    assert_eq!(listed(&on_postgres), listed(&installation));
    assert_eq!(head(&on_postgres, ""), written + ADVANCE);
    assert_eq!(head(&on_postgres, &lines()), written + ADVANCE, "every record is there as it was");

    backup(&on_postgres, &second);
    let back = Installation::new();
    back.copy_master_key_from(&installation);
    let done = restore(&back, &second).run().code(0);
    assert!(
        done.stdout.ends_with("rows restored; every tenant's numbers go on 1,000,000 further\n"),
        "{done:?}"
    );
    assert_eq!(listed(&back), listed(&installation));
    assert_eq!(head(&back, &lines()), written + 2 * ADVANCE);
}

#[test]
fn a_restore_needs_an_empty_store() {
    let (installation, written) = furnished();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.backup");
    backup(&installation, &file);
    restore(&installation, &file).run().expect_failure(5, "the store is not empty; restore into a new one");
    assert_eq!(head(&installation, &lines()), written, "nothing happened to it");
    let other = Installation::new();
    other.copy_master_key_from(&installation);
    other.add_tenant("another");
    restore(&other, &file).run().expect_failure(5, "the store is not empty");
}

#[test]
fn another_master_key_opens_nothing() {
    let (installation, written) = furnished();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.backup");
    backup(&installation, &file);
    let stranger = Installation::new();
    restore(&stranger, &file).run().expect_failure(4, "the master key does not open this store");
    let key = std::fs::read_to_string(stranger.path().join("master.key")).unwrap();
    let set = format!("store.master_key={}", key.trim());
    for command in [&["tenant", "list"][..], &["store", "migrate"], &["store", "backup", "/nowhere"]] {
        installation
            .program(&["--set", &set])
            .with(command)
            .run()
            .expect_failure(4, "the master key does not open this store");
    }
    let server = ["serve", "--listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0", "--set", &set];
    installation.program(&server).run().expect_failure(4, "the master key does not open this store");
    assert_eq!(head(&installation, ""), written);
}

#[test]
fn a_damaged_backup_is_refused_before_anything_is_written() {
    let (installation, _) = furnished();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.backup");
    backup(&installation, &file);
    let whole = std::fs::read(&file).unwrap();
    let target = Installation::new();
    target.copy_master_key_from(&installation);
    let mut flipped = whole.clone();
    let middle = whole.len() / 2;
    flipped[middle] = if flipped[middle] == b'1' { b'2' } else { b'1' };
    for damaged in [&whole[..whole.len() / 2], &whole[..whole.len() - 10], &flipped, b"", b"nonsense"] {
        std::fs::write(&file, damaged).unwrap();
        restore(&target, &file).run().expect_failure(1, "this is not a complete Aldaba backup");
    }
    std::fs::write(&file, &whole).unwrap();
    restore(&target, &file).run().code(0);
    assert_eq!(listed(&target), listed(&installation));
}

#[test]
fn a_backup_is_talked_about_on_standard_error() {
    let (installation, _) = furnished();
    let file = installation.path().join("a.backup");
    let done = installation.program(&["store", "backup", file.to_str().unwrap()]).run().code(0);
    assert!(done.stdout.ends_with(&format!("rows in {}, verified\n", file.display())), "{done:?}");
    assert!(done.stderr.contains("the master key is not in it"), "{done:?}");
    assert!(file.exists());
    let beside: Vec<_> =
        std::fs::read_dir(installation.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!beside.iter().any(|name| name.to_str().unwrap().ends_with(".partial")), "{beside:?}");
    installation
        .program(&["store", "backup", "/nowhere/a.backup"])
        .run()
        .expect_failure(1, "/nowhere/a.backup");
    installation
        .program(&["store", "restore", "/nowhere/a.backup"])
        .run()
        .expect_failure(1, "/nowhere/a.backup");
}

#[test]
fn a_store_that_cannot_be_reached_ends_with_4() {
    let installation = Installation::with_store("postgres://nobody@127.0.0.1:1/nothing");
    installation.program(&["tenant", "list"]).run().expect_failure(4, "the store cannot be reached");
    installation.program(&["check"]).run().expect_failure(4, "the store cannot be reached");
    Installation::with_store("sqlite:/nowhere/aldaba.db")
        .program(&["tenant", "list"])
        .run()
        .expect_failure(4, "/nowhere/aldaba.db");
}
