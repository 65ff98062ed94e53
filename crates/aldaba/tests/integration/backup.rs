//! `aldaba store backup` and `restore`, between SQLite and PostgreSQL.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use domain::{OperatorRole, Realm};
use serde_json::Value;

use crate::harness::{CALLBACK, Database, Installation, Program};

const ADVANCE: u64 = 1_000_000;

fn lines() -> String {
    Program::new(&["changes", "generate", "--seed", "7", "--companies", "1"]).run().code(0).stdout
}

fn backup(installation: &Installation, file: &Path) -> Value {
    installation.program(&["store", "backup", file.to_str().unwrap(), "--json"]).run().json()
}

fn restore(installation: &Installation, file: &Path) -> Program {
    installation.program(&["store", "restore", file.to_str().unwrap(), "--access", "keep"])
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
    let refused =
        installation.program(&["--set", &format!("store.master_key={}", key.trim()), "tenant", "list"]).run();
    assert!(!refused.stderr.contains(key.trim()), "{refused:?}");
    refused.expect_failure(2, "store.master_key cannot be given on the command line");
    let other_key = other_installation.path().join("master.key");
    let set = format!("store.master_key_file={}", other_key.display());
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
        .program(&["store", "restore", "/nowhere/a.backup", "--access", "keep"])
        .run()
        .expect_failure(1, "/nowhere/a.backup");
}

#[test]
fn restore_asks_what_becomes_of_access() {
    let (installation, _) = populated_store();
    let folder = tempfile::tempdir().unwrap();
    let (file, audit) = (folder.path().join("a.backup"), folder.path().join("audit.ndjson"));
    backup(&installation, &file);
    let target = Installation::new();
    target.copy_master_key_from(&installation);
    let restore = |arguments: &[&str]| {
        let file = file.to_str().unwrap();
        target.program(&["store", "restore", file]).with(arguments).run()
    };
    for choice in ["--access confirm", "--access keep", "--audit FILE"] {
        restore(&[]).expect_failure(2, choice);
    }
    restore(&["--access", "maybe"]).expect_failure(2, "[possible values: keep, confirm]");
    std::fs::write(&audit, "nonsense\n").unwrap();
    let audit = audit.to_str().unwrap();
    let message = "line 1 is not an entry as `aldaba audit --json` prints it";
    restore(&["--access", "confirm", "--audit", audit]).expect_failure(1, message);
    let users = listed(&installation)[1].clone();
    let user = users[0]["id"].as_str().unwrap();
    let disabled = format!(
        r#"{{"at":"2999-01-01T00:00:00Z","kind":"client_secret_rotated","client":"panel"}}
{{"at":"2999-01-01T00:00:00Z","kind":"user_changed","user":"{user}","changes":[{{"member":"status","to":"disabled"}}]}}"#
    );
    std::fs::write(audit, disabled).unwrap();
    let finished = restore(&["--access", "confirm", "--audit", audit, "--json"]);
    let report = finished.json();
    assert_eq!((&report["access"], &report["repeatedEnds"]), (&"confirm".into(), &1.into()), "{report}");
    assert_eq!(report["notRepeated"], serde_json::json!(["the secret of client panel was replaced"]));
    assert_eq!(listed(&target)[1][0]["standing"], "disabled", "{:?}", listed(&target)[1]);
}

#[test]
fn restore_repeats_what_teams_and_operators_lost() {
    let installation = Installation::new();
    let folder = tempfile::tempdir().unwrap();
    let (file, audit) = (folder.path().join("a.backup"), folder.path().join("audit.ndjson"));
    let run = |arguments: &[&str]| installation.program(arguments).run().code(0);
    for id in ["diego", "elisa", "fidel"] {
        installation.add_developer(id);
    }
    for id in ["ines", "olga"] {
        installation.add_account(id, Realm::Operators, Some(OperatorRole::Admin));
    }
    for team in ["panel", "otro"] {
        run(&["team", "add", "Panel", "--id", team]);
        run(&["team", "join", team, "diego@developers.example", "--owner"]);
        run(&["team", "join", team, "elisa@developers.example", "--owner"]);
    }
    let client = ["client", "add", "Panel", "--id", "erp", "--redirect-uri", CALLBACK, "--team", "panel"];
    run(&client);
    backup(&installation, &file);
    run(&["team", "disable", "panel"]);
    run(&["team", "leave", "panel", "elisa@developers.example"]);
    run(&["team", "join", "otro", "elisa@developers.example"]);
    run(&["client", "set", "erp", "--team", "otro", "--sandbox", "true"]);
    run(&["operator", "disable", "ines@operators.example"]);
    // These cannot be repeated: who came after the backup is not in it.
    run(&["team", "join", "panel", "fidel@developers.example", "--owner"]);
    run(&["team", "leave", "panel", "diego@developers.example"]);
    installation.add_account("pia", Realm::Operators, Some(OperatorRole::Admin));
    run(&["operator", "role", "olga@operators.example", "viewer"]);
    std::fs::write(&audit, run(&["audit", "--json"]).stdout).unwrap();

    let database = Database::create();
    for target in [Installation::new(), Installation::with_store(&database.url())] {
        target.copy_master_key_from(&installation);
        let report =
            restore(&target, &file).with(&["--audit", audit.to_str().unwrap(), "--json"]).run().json();
        let members = |team: &str| {
            let shown = target.program(&["team", "show", team, "--json"]).run().json();
            let role = |one: &Value| format!("{} {}", one["email"], one["role"]).replace('"', "");
            let roles: Vec<String> = shown["members"].as_array().unwrap().iter().map(role).collect();
            (shown["standing"].as_str().unwrap().to_owned(), roles)
        };
        let (diego, elisa) = ("diego@developers.example owner", "elisa@developers.example member");
        assert_eq!(members("panel"), ("disabled".to_owned(), vec![diego.to_owned()]), "{report}");
        assert_eq!(members("otro"), ("active".to_owned(), vec![diego.to_owned(), elisa.to_owned()]));
        let client = target.program(&["client", "show", "erp", "--json"]).run().json();
        assert_eq!((&client["team"], &client["sandbox"]), (&"otro".into(), &true.into()));
        assert_eq!(report["repeatedEnds"], 6, "{report}");
        let listed: Vec<&str> =
            report["notRepeated"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
        let expected = [
            "developer diego@developers.example was removed from team panel, but is its only owner in the backup",
            "operator olga@operators.example became viewer, but is the only admin of the backup who can sign in",
        ];
        assert_eq!(listed.len(), expected.len(), "{listed:?}");
        for (line, start) in listed.iter().zip(expected) {
            assert!(line.starts_with(start), "{line}");
        }
    }
}

/// A key pair of the age format, for tests only.
const RECIPIENT: &str = "age1xmwwc06ly3ee5rytxm9mflaz2u56jjj36s0mypdrwsvlul66mv4q47ryef";
const IDENTITY: &str = "AGE-SECRET-KEY-1EGTZVFFV20835NWYV6270LXYVK2VKNX2MMDKWYKLMGR48UAWX40Q2P2LM0";
const OTHER_IDENTITY: &str = "AGE-SECRET-KEY-1QURSWPC8QURSWPC8QURSWPC8QURSWPC8QURSWPC8QURSWPC8QURSKMP32K";

#[test]
fn encrypted_backup_is_restored_with_its_identity_only() {
    let (installation, _) = populated_store();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (file, identity, other) = (at("a.age"), at("identity.txt"), at("other.txt"));
    std::fs::write(&identity, format!("# created by age-keygen\n{IDENTITY}\n")).unwrap();
    std::fs::write(&other, OTHER_IDENTITY).unwrap();
    let backup =
        |recipient: &str| installation.program(&["store", "backup", &file, "--recipient", recipient]);
    backup("age1nonsense").run().expect_failure(2, "a recipient is an age public key");
    let report = backup(RECIPIENT).with(&["--json"]).run().json();
    assert_eq!(report["encrypted"], true, "{report}");
    let bytes = std::fs::read(&file).unwrap();
    assert!(bytes.starts_with(b"age-encryption.org/v1\n-> X25519 "));
    let contains = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(!contains("maria@example.com") && !contains("aldaba_backup"), "nothing is readable");

    let target = Installation::new();
    target.copy_master_key_from(&installation);
    let restore = |arguments: &[&str]| restore(&target, Path::new(&file)).with(arguments).run();
    restore(&[])
        .expect_failure(2, "is encrypted; name the file with its age secret key with --identity FILE");
    restore(&["--identity", &other]).expect_failure(1, "is encrypted for another recipient");
    restore(&["--identity", &file]).expect_failure(1, &file);
    restore(&["--identity", &identity]).code(0);
    assert_eq!(listed(&target), listed(&installation));

    let cut = Installation::new();
    cut.copy_master_key_from(&installation);
    std::fs::write(&file, &bytes[..bytes.len() - 1]).unwrap();
    let arguments = ["store", "restore", file.as_str(), "--access", "keep", "--identity", identity.as_str()];
    cut.program(&arguments).run().expect_failure(1, "the encrypted file was cut off or changed");
}

#[test]
fn backup_follows_no_link_and_leaves_no_partial_file() {
    let (installation, _) = populated_store();
    let folder = tempfile::tempdir().unwrap();
    let (file, victim) = (folder.path().join("a.backup"), folder.path().join("victim"));
    std::fs::write(&victim, "mine").unwrap();
    for link in ["a.backup.partial", "a.backup"] {
        std::os::unix::fs::symlink(&victim, folder.path().join(link)).unwrap();
    }
    let backup = installation.program(&["store", "backup", file.to_str().unwrap()]);
    backup.run().expect_failure(5, "already exists");
    let forced = installation.program(&["store", "backup", file.to_str().unwrap(), "--force"]);
    forced.run().code(0);
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine");
    let written = std::fs::symlink_metadata(&file).unwrap();
    assert!(written.is_file() && written.permissions().mode() & 0o777 == 0o600, "{written:?}");
    // A dangling link is in the way, too.
    let dangling = folder.path().join("b.backup");
    std::os::unix::fs::symlink(folder.path().join("nowhere"), &dangling).unwrap();
    let onto = installation.program(&["store", "backup", dangling.to_str().unwrap()]);
    onto.run().expect_failure(5, "already exists");
    let mut names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.backup", "a.backup.partial", "b.backup", "victim"]);
}

#[test]
fn restored_store_is_private() {
    let (installation, _) = populated_store();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.backup");
    backup(&installation, &file);
    let target = Installation::new();
    target.copy_master_key_from(&installation);
    restore(&target, &file).run().code(0);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&target.path().join("aldaba.db")), 0o600);
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
