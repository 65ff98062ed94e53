//! `aldaba dev`: the ready line, flags and shutdown.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::{Browser, Dev, HttpRequest, Program, is_guid, wait_for};

const DEFAULT_CALLBACK: &str = "http://localhost:8765/callback";

#[track_caller]
fn members(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

fn texts(values: &Value) -> Vec<&str> {
    values.as_array().unwrap().iter().map(|value| value.as_str().unwrap()).collect()
}

/// The temporary folders that dev created below this folder.
fn dev_folders(below: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(below).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("aldaba-dev-")).collect()
}

#[test]
fn ready_line_has_exactly_the_documented_members() {
    let dev = Dev::start(&[]);
    let ready = &dev.ready;
    assert_eq!(
        members(ready),
        [
            "auth_url",
            "base_url",
            "client",
            "console_url",
            "developer",
            "operator",
            "operator_token",
            "operator_url",
            "other_client",
            "payroll_subscription",
            "portal_url",
            "receiver_url",
            "subscription",
            "tenants",
            "users"
        ]
    );
    for keys in [&ready["subscription"], &ready["payroll_subscription"]] {
        assert_eq!(members(keys), ["primary_key", "secondary_key"]);
    }
    for client in [&ready["client"], &ready["other_client"]] {
        assert_eq!(members(client), ["client_id", "client_secret", "redirect_uri"]);
        assert_eq!(client["redirect_uri"], DEFAULT_CALLBACK);
    }
    for person in [&ready["developer"], &ready["operator"]] {
        assert_eq!(members(person), ["email", "password"]);
    }
    for user in ready["users"].as_array().unwrap() {
        assert_eq!(members(user), ["email", "password", "tenants"]);
    }
    for tenant in ready["tenants"].as_array().unwrap() {
        assert_eq!(members(tenant), ["companies", "id", "name"]);
        assert!(is_guid(tenant["id"].as_str().unwrap()));
    }
    let finished = dev.stop();
    assert_eq!(finished.stdout.matches('\n').count(), 1, "exactly one line");
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
}

#[test]
fn ready_line_has_the_users_tenants_and_keys_of_the_walkthrough() {
    let dev = Dev::start(&[]);
    let ready = &dev.ready;
    let tenants: BTreeSet<&str> = dev.tenants().into_iter().collect();
    let memberships: Vec<Vec<&str>> =
        ready["users"].as_array().unwrap().iter().map(|user| texts(&user["tenants"])).collect();
    assert!(memberships.iter().any(|tenants| tenants.len() == 1));
    assert!(memberships.iter().any(|tenants| tenants.len() == 2));
    assert!(
        memberships.iter().flatten().all(|tenant| tenants.contains(tenant)),
        "all tenants of the users are listed"
    );
    for tenant in ready["tenants"].as_array().unwrap() {
        let companies = texts(&tenant["companies"]);
        assert!(!companies.is_empty());
        assert_eq!(companies.iter().collect::<BTreeSet<_>>().len(), companies.len());
    }
    let secrets = [
        &ready["subscription"]["primary_key"],
        &ready["subscription"]["secondary_key"],
        &ready["payroll_subscription"]["primary_key"],
        &ready["payroll_subscription"]["secondary_key"],
        &ready["client"]["client_secret"],
        &ready["other_client"]["client_secret"],
        &ready["client"]["client_id"],
        &ready["other_client"]["client_id"],
        &ready["operator_token"],
    ];
    let different: BTreeSet<&str> = secrets.iter().map(|secret| secret.as_str().unwrap()).collect();
    assert_eq!(different.len(), secrets.len());
}

#[test]
fn every_url_in_the_ready_line_responds() {
    let dev = Dev::start(&["--empty"]);
    for side in ["base_url", "auth_url", "operator_url"] {
        assert!(dev.text(side).starts_with("http://127.0.0.1:"), "{}", dev.text(side));
        assert_eq!(HttpRequest::get(&format!("{}/livez", dev.text(side))).send().status, 200);
    }
    let named = |url: &str| url.replace("127.0.0.1", "localhost");
    assert_eq!(dev.text("console_url"), format!("{}/console/", named(dev.text("operator_url"))));
    assert_eq!(dev.text("portal_url"), format!("{}/portal/", named(dev.text("base_url"))));
    let echo =
        HttpRequest::get(&format!("{}?echo=8b7e4f2a-0000-4000-8000-000000000001", dev.text("receiver_url")))
            .send();
    assert_eq!((echo.status, echo.text()), (200, "8b7e4f2a-0000-4000-8000-000000000001"));
    let delivery = HttpRequest::post(dev.text("receiver_url")).body("{}").send();
    assert_eq!((delivery.status, delivery.text()), (200, ""));
}

#[test]
fn empty_creates_tenants_users_clients_and_keys_but_no_records() {
    let dev = Dev::start(&["--empty"]);
    assert_eq!(dev.tenants().len(), 3);
    for (tenant, at) in dev.ready["tenants"].as_array().unwrap().iter().zip(0..) {
        assert_eq!(texts(&tenant["companies"]), [""; 0]);
        assert_eq!(dev.ingest_client(at).head(), 0, "the log is empty");
    }
    assert!(!dev.ready["users"].as_array().unwrap().is_empty());
    assert_ne!(dev.ready["client"], dev.ready["other_client"]);
}

#[test]
fn first_redirect_uri_is_registered_for_both_clients() {
    let arguments =
        ["--redirect-uri", "https://app.example/cb", "--redirect-uri", "http://localhost:9/cb", "--empty"];
    let dev = Dev::start(&arguments);
    for client in ["client", "other_client"] {
        assert_eq!(dev.ready[client]["redirect_uri"], "https://app.example/cb");
    }
}

#[test]
fn invalid_redirect_uri_is_refused() {
    let wrong = "http://127.0.0.1:1/cb";
    Dev::program(&["--redirect-uri", wrong])
        .run()
        .expect_failure(2, &format!("--redirect-uri {wrong} must use https"));
}

#[test]
fn dev_listens_on_loopback_only() {
    Program::new(&["dev", "--listen", "0.0.0.0:0"])
        .run()
        .expect_failure(2, "must listen on a loopback address");
    Dev::program(&["--set", "operator.listen=0.0.0.0:0"])
        .run()
        .expect_failure(2, "dev must listen on a loopback address");
    Dev::program(&["--store", "mysql://x"])
        .run()
        .expect_failure(2, "--store must be sqlite:PATH or postgres://");
}

#[test]
fn settings_apply_and_dev_flags_take_precedence() {
    let occupied = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let busy = occupied.local_addr().unwrap().to_string();
    let folder = tempfile::tempdir().unwrap();
    let program = Dev::program(&["--empty", "--data", folder.path().to_str().unwrap()])
        .with(&["--set", "server.base_url=https://api.example.com"])
        .variable("ALDABA__SERVER__LISTEN", busy.as_str())
        .variable("ALDABA__STORE__URL", "sqlite:/nowhere/aldaba.db")
        .variable("ALDABA__SERVER__AUTH_URL", "https://id.example.com");
    let dev = Dev::run(program);
    assert_eq!(dev.text("base_url"), "https://api.example.com");
    assert_eq!(dev.text("auth_url"), "https://id.example.com");
    assert!(folder.path().join("aldaba.db").exists());
}

#[test]
fn address_in_use_is_reported() {
    let occupied = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let busy = occupied.local_addr().unwrap().to_string();
    let folder = tempfile::tempdir().unwrap();
    let dev = Program::new(&[
        "dev",
        "--empty",
        "--listen",
        "127.0.0.1:0",
        "--set",
        &format!("server.listen={busy}"),
    ]);
    let finished = dev.variable("TMPDIR", folder.path().to_str().unwrap()).run();
    assert!(finished.stderr.contains("dev uses three consecutive ports"), "{finished:?}");
    finished.expect_failure(1, &format!("cannot listen on {busy}: "));
    assert_eq!(dev_folders(folder.path()), [""; 0].map(PathBuf::from));
}

#[test]
fn temporary_data_is_deleted_on_stop() {
    let folder = tempfile::tempdir().unwrap();
    let dev = Dev::run(Dev::program(&["--empty"]).variable("TMPDIR", folder.path().to_str().unwrap()));
    assert_eq!(dev_folders(folder.path()).len(), 1);
    let finished = dev.stop();
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
    assert_eq!(dev_folders(folder.path()), [""; 0].map(PathBuf::from));
}

#[test]
fn temporary_data_is_deleted_when_stopped_during_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut starting = Dev::program(&[]).variable("TMPDIR", folder.path().to_str().unwrap()).start();
    wait_for("the temporary folder", || (!dev_folders(folder.path()).is_empty()).then_some(()));
    starting.terminate();
    assert_eq!(starting.wait_for_exit().code, Some(0));
    assert_eq!(dev_folders(folder.path()), [""; 0].map(PathBuf::from));
}

#[test]
fn without_json_dev_prints_a_page_for_people() {
    let process = Program::new(&["dev", "--empty", "--listen", "127.0.0.1:0"]).start();
    let page =
        wait_for("the page", || Some(process.stdout()).filter(|said| said.contains("Stop with Ctrl-C.")));
    for part in [
        "Aldaba is ready.",
        "operator token",
        "Panel de ventas",
        "Otra aplicación",
        "inaki@example.com  password aldaba-dev-2026  Asesoría Peñalver, Gestoría Ibáñez & Núñez\n",
        "/operator/v1/tenants/",
    ] {
        assert!(page.contains(part), "{part:?} is not in {page}");
    }
    let exported = |name: &str| {
        let line = page.lines().find_map(|line| line.trim().strip_prefix(&format!("export {name}=")));
        line.unwrap_or_else(|| panic!("{name} is not in {page}"))
    };
    for name in ["KEY", "SECRET", "TOKEN", "TENANT"] {
        assert!(!exported(name).is_empty());
    }
    assert_eq!(exported("COMPANY"), "", "there is none");
    assert!(page.contains(&format!("{}/docs/\n", exported("BASE"))), "{page}");
    assert_eq!(HttpRequest::get(&format!("{}/livez", exported("OPERATOR"))).send().status, 200);
    let link = page.lines().map(str::trim).find(|line| line.ends_with("/sign-in")).unwrap();
    let begun = HttpRequest::get(link).send();
    let link = begun.header("location");
    assert!(link.starts_with(exported("AUTH")) && link.contains(exported("CLIENT")), "{link}");
    let signing_in = HttpRequest::get(link).send();
    assert!(
        signing_in.status == 302 && signing_in.header("location").contains("/login"),
        "the link opens the sign-in page: {signing_in:?}"
    );
    assert_eq!(process.stop().code, Some(0));
}

#[test]
fn developer_and_operator_sign_in_with_the_printed_accounts() {
    let dev = Dev::start(&["--empty"]);
    for (person, url) in [("developer", "portal_url"), ("operator", "console_url")] {
        let (origin, base) = {
            let (scheme, rest) = dev.text(url).split_once("://").unwrap();
            let (host, path) = rest.split_once('/').unwrap();
            (format!("{scheme}://{host}"), format!("/{}", path.trim_end_matches('/')))
        };
        let browser = Browser::new(&origin);
        let page = browser.follow_redirects(browser.get(&format!("{base}/")));
        let text = |member: &str| dev.ready[person][member].as_str().unwrap();
        let filled = [("username", text("email")), ("password", text("password"))];
        let page = browser.follow_redirects(browser.submit(&page.form("post"), &filled));
        assert!(page.text().contains(text("email")), "{}", page.text());
    }
}

#[test]
fn first_client_belongs_to_the_developers_team() {
    let dev = Dev::start(&["--empty"]);
    let get = |path: &str| {
        let url = format!("{}/operator/v1/{path}", dev.text("operator_url"));
        HttpRequest::get(&url)
            .header("authorization", &format!("Bearer {}", dev.text("operator_token")))
            .send()
            .json()
    };
    let teams = get("teams");
    let team = &teams["teams"][0];
    assert_eq!((team["name"].as_str(), teams["teams"].as_array().unwrap().len()), (Some("Panel"), 1));
    let client = |member: &str| get(&format!("clients/{}", dev.ready[member]["client_id"].as_str().unwrap()));
    assert_eq!(client("client")["team"], team["id"]);
    assert!(client("other_client")["team"].is_null());
    let subscriptions = get("subscriptions");
    let owners: Vec<&Value> =
        subscriptions["subscriptions"].as_array().unwrap().iter().map(|one| &one["team"]).collect();
    assert_eq!(owners.len(), 3);
    assert_eq!(
        owners.iter().filter(|owner| **owner == &team["id"]).count(),
        1,
        "the printed ones belong to no team"
    );
}
