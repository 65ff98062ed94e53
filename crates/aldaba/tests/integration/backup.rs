//! `aldaba store backup` and `restore`, between SQLite and PostgreSQL.

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

/// The log's head after these lines are applied.
fn head(installation: &Installation, lines: &str) -> u64 {
    let apply = installation.program(&["changes", "apply", "-", "--tenant", "uno", "--json"]);
    let answer = apply.input(lines).run().json();
    assert_eq!(answer["rejected"], 0, "{answer}");
    answer["lastSequenceVersion"].as_str().unwrap().parse().unwrap()
}

/// A store with a tenant, a user, a client, a subscription and records.
fn populated_store() -> (Installation, u64) {
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

/// Everything that the list commands print, without members that a restore may reorder.
fn listed(installation: &Installation) -> Vec<Value> {
    ["tenant", "user", "client", "key"]
        .map(|what| installation.program(&[what, "list", "--json"]).run().json())
        .to_vec()
}

#[test]
fn backup_restores_from_sqlite_to_postgres_and_back() {
    let (installation, written) = populated_store();
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first.backup"), folder.path().join("second.backup"));
    let report = backup(&installation, &first);
    assert_eq!(report["file"], first.to_str().unwrap());
    assert!(report["backup"]["rows"].as_u64().unwrap() > written, "{report}");
    assert_eq!(std::fs::metadata(&first).unwrap().permissions().mode() & 0o777, 0o600);

    let database = Database::create();
    let on_postgres = Installation::with_store(&database.url());
    on_postgres.copy_master_key_from(&installation);
    let restored = restore(&on_postgres, &first).with(&["--json"]).run().json();
    assert_eq!(restored["backup"], report["backup"]);
    assert_eq!(listed(&on_postgres), listed(&installation));
    assert_eq!(head(&on_postgres, ""), written + ADVANCE);
    assert_eq!(head(&on_postgres, &lines()), written + ADVANCE, "all records are restored unchanged");

    backup(&on_postgres, &second);
    let back = Installation::new();
    back.copy_master_key_from(&installation);
    let finished = restore(&back, &second).run().code(0);
    assert!(
        finished.stdout.ends_with("rows; the sequence numbers of every tenant continue 1,000,000 higher\n"),
        "{finished:?}"
    );
    assert_eq!(listed(&back), listed(&installation));
    assert_eq!(head(&back, &lines()), written + 2 * ADVANCE);
}

#[test]
fn restore_requires_an_empty_store() {
    let (installation, written) = populated_store();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.backup");
    backup(&installation, &file);
    restore(&installation, &file).run().expect_failure(5, "the store is not empty; restore into a new one");
    assert_eq!(head(&installation, &lines()), written, "the target store is unchanged");
    let other = Installation::new();
    other.copy_master_key_from(&installation);
    other.add_tenant("another");
    restore(&other, &file).run().expect_failure(5, "the store is not empty");
}

#[test]
fn wrong_master_key_is_refused() {
    let (installation, written) = populated_store();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.backup");
    backup(&installation, &file);
    let other_installation = Installation::new();
    restore(&other_installation, &file).run().expect_failure(4, "the master key does not open this store");
    let key = std::fs::read_to_string(other_installation.path().join("master.key")).unwrap();
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
fn damaged_backup_is_refused_before_anything_is_written() {
    let (installation, _) = populated_store();
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
fn backup_reports_on_standard_error() {
    let (installation, _) = populated_store();
    let file = installation.path().join("a.backup");
    let finished = installation.program(&["store", "backup", file.to_str().unwrap()]).run().code(0);
    assert!(finished.stdout.ends_with(&format!("rows in {}\n", file.display())), "{finished:?}");
    assert!(finished.stderr.contains("does not contain the master key"), "{finished:?}");
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
fn unreachable_store_exits_with_4() {
    let installation = Installation::with_store("postgres://nobody@127.0.0.1:1/nothing");
    installation.program(&["tenant", "list"]).run().expect_failure(4, "the store cannot be reached");
    installation.program(&["check"]).run().expect_failure(4, "the store cannot be reached");
    Installation::with_store("sqlite:/nowhere/aldaba.db")
        .program(&["tenant", "list"])
        .run()
        .expect_failure(4, "/nowhere/aldaba.db");
}
