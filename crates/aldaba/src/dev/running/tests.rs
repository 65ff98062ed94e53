//! Records of dev servers in a folder: who is found, and whose records are not trusted.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::*;

fn record(pid: u32, port: u16, started_at: i64) -> DevRecord {
    let url = format!("http://127.0.0.1:{port}");
    let keys = json!({"primary_key": "p", "secondary_key": "s"});
    let client = json!({"client_id": "c", "client_secret": "s", "redirect_uri": "http://localhost:1/"});
    serde_json::from_value(json!({
        "pid": pid, "started_at": started_at,
        "sources": {"file": null, "environment": [], "flags": [["store.url", "sqlite:/x"]]},
        "base_url": url, "auth_url": url, "operator_url": "http://127.0.0.1:2", "operator_token": "t",
        "console_url": "http://localhost:2/console/", "subscription": keys, "payroll_subscription": keys,
        "client": client, "other_client": client, "users": [], "tenants": [],
        "receiver_url": "http://127.0.0.1:3/", "portal_url": format!("http://localhost:{port}/portal/"),
        "developer": null, "operator": null,
    }))
    .unwrap()
}

fn private_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    folder
}

fn pids(folder: &Path) -> Vec<u32> {
    running_in(folder).iter().map(|record| record.pid).collect()
}

#[test]
fn newest_running_server_is_found_first_and_a_dead_one_is_forgotten() {
    let folder = private_folder();
    let old = register_in(folder.path(), &record(7, 8080, 1)).unwrap();
    let new = register_in(folder.path(), &record(8, 8090, 2)).unwrap();
    assert_eq!(pids(folder.path()), [8, 7]);
    drop(new);
    assert_eq!(pids(folder.path()), [7]);
    // As after a crash: the file is there, its lock is not.
    let path = old.path.clone();
    let copy = folder.path().join("dev-9-x.json");
    std::fs::copy(&path, &copy).unwrap();
    std::fs::write(folder.path().join("other.txt"), "x").unwrap();
    assert_eq!(pids(folder.path()), [7]);
    assert!(path.exists() && !copy.exists(), "only the record without a process is deleted");
}

#[test]
fn folder_that_others_can_write_to_is_not_trusted() {
    let folder = private_folder();
    let _registered = register_in(folder.path(), &record(7, 8080, 1)).unwrap();
    for mode in [0o770, 0o707, 0o755] {
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(pids(folder.path()), [0; 0], "{mode:o}");
        assert!(register_in(folder.path(), &record(8, 8081, 1)).is_none(), "{mode:o}");
    }
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let link = tempfile::tempdir().unwrap();
    let link = link.path().join("aldaba");
    std::os::unix::fs::symlink(folder.path(), &link).unwrap();
    assert_eq!(pids(&link), [0; 0], "a link leads elsewhere");
}

#[test]
fn server_is_chosen_by_process_or_url() {
    let choose = |wanted: Option<&str>| {
        let records = vec![record(8, 8090, 2), record(7, 8080, 1)];
        let selector = DevSelector { wanted: wanted.map(str::to_owned), is_configured: false };
        selector.choose(records, |_| true).map(|found| found.map(|record| record.pid))
    };
    assert_eq!(choose(None).unwrap(), Some(8));
    for wanted in ["7", "http://127.0.0.1:8080", "http://localhost:8080/", "http://localhost:8080/portal/"] {
        assert_eq!(choose(Some(wanted)).unwrap(), Some(7), "{wanted}");
    }
    let refused = choose(Some("9")).unwrap_err().message();
    assert!(refused.contains("running are http://127.0.0.1:8090 (process 8), "), "{refused}");
}

#[test]
fn configuration_excludes_dev() {
    let configured = DevSelector { wanted: None, is_configured: true };
    assert!(configured.find().unwrap().is_none());
    let both = DevSelector { wanted: Some("7".to_owned()), is_configured: true };
    assert!(matches!(both.find(), Err(Failure::Usage(_))));
}

#[test]
fn commands_get_the_configuration_of_the_server_and_its_key() {
    let sources = record(7, 8080, 1).sources();
    assert_eq!(sources.flags[0], ("store.url".to_owned(), "sqlite:/x".to_owned()));
    let (key, value) = sources.flags.last().unwrap();
    assert_eq!((key.as_str(), value.len()), ("store.master_key", 64));
}
