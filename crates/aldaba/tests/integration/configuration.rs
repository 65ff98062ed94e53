//! `init` and `check`, and how the layers of the configuration are told apart.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;

use crate::harness::{Installation, Program};

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn init(folder: &Path, arguments: &[&str]) -> Program {
    Program::new(&["init", folder.to_str().unwrap()]).with(arguments)
}

#[test]
fn init_writes_a_configuration_and_secrets_that_nobody_else_reads() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("etc/aldaba");
    let written = init(&place, &["--base-url", "https://api.example.com", "--json"]).run().json();
    assert_eq!(
        written,
        json!({"config": place.join("aldaba.toml"), "files": ["aldaba.toml", "master.key", "operator.token"]})
    );
    for secret in ["master.key", "operator.token"] {
        assert_eq!(mode(&place.join(secret)), 0o600, "{secret}");
    }
    let key = std::fs::read_to_string(place.join("master.key")).unwrap();
    assert!(key.trim().len() == 64 && key.trim().bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert!(std::fs::read_to_string(place.join("operator.token")).unwrap().trim().len() >= 32);
    let config = std::fs::read_to_string(place.join("aldaba.toml")).unwrap();
    assert!(config.contains("base_url = \"https://api.example.com\""), "{config}");
    assert!(!config.contains(key.trim()), "secrets stand in files of their own");
}

#[test]
fn init_talks_on_standard_error_and_writes_other_secrets_each_time() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let keys = folders.each_ref().map(|folder| {
        let done = init(folder.path(), &[]).run().code(0);
        assert!(done.stdout.contains("aldaba.toml, master.key and operator.token"), "{done:?}");
        assert!(done.stderr.contains("Keep master.key"), "{done:?}");
        std::fs::read_to_string(folder.path().join("master.key")).unwrap()
    });
    assert_ne!(keys[0], keys[1]);
}

#[test]
fn init_overwrites_nothing() {
    for there in ["aldaba.toml", "master.key", "operator.token"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(there);
        std::fs::write(&path, "mine").unwrap();
        init(folder.path(), &[])
            .run()
            .expect_failure(5, &format!("{} is there already; nothing was written", path.display()));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing beside it");
    }
    init(Path::new("/"), &["--store", "mysql://x"])
        .run()
        .expect_failure(2, "--store takes sqlite:PATH or postgres://");
}

#[test]
fn check_passes_what_init_wrote() {
    for base_url in ["http://127.0.0.1:8080", "http://localhost:9", "https://api.example.com"] {
        let folder = tempfile::tempdir().unwrap();
        let store = format!("sqlite:{}", folder.path().join("a.db").display());
        init(folder.path(), &["--base-url", base_url, "--store", &store]).run().code(0);
        let config = folder.path().join("aldaba.toml");
        let check = || Program::new(&["check", "--config", config.to_str().unwrap()]);
        let told = check().with(&["--json"]).run().json();
        assert_eq!((&told["ok"], &told["store"]["schema"]), (&json!(true), &json!(null)));
        assert_eq!(told["config"]["server"]["base_url"], base_url);
        assert_eq!(told["config"]["operator"]["token"], "***");
        assert_eq!(told["config"]["store"]["master_key"], "***");
        let done = check().run().code(0);
        assert!(done.stdout.starts_with("the configuration is fine\n"), "{done:?}");
        assert!(!folder.path().join("a.db").exists(), "a check makes nothing");
    }
}

#[test]
fn init_refuses_what_check_would_refuse_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, told) in [
        (["--base-url", "http://api.example.com"], "--base-url \"http://api.example.com\" must be https"),
        (["--base-url", "http://127.0.0.1.example"], "plain http is for this machine only"),
        (["--base-url", "https://api.example.com/v1"], "must be an address without a path"),
        (["--base-url", "https://api.example.com:x"], "must be an address without a path"),
        (["--base-url", "api.example.com"], "must be an address without a path"),
        (["--base-url", ""], "--base-url \"\" must be an address"),
        (["--auth-url", "http://id.example.com"], "--auth-url \"http://id.example.com\" must be https"),
        (["--set", "store.url=sqlite:x.db"], "init takes no --set (store.url=sqlite:x.db)"),
    ] {
        init(folder.path(), &arguments).run().expect_failure(2, told);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    init(Path::new("/proc/foo"), &[]).run().expect_failure(1, "/proc/foo cannot be made: ");
}

#[test]
fn an_address_of_this_machine_is_listened_on_itself() {
    for (base_url, public, operator) in [
        ("http://127.0.0.1:18280", "127.0.0.1:18280", "127.0.0.1:8081"),
        ("http://localhost:18280/", "127.0.0.1:18280", "127.0.0.1:8081"),
        ("http://[::1]:18280", "[::1]:18280", "127.0.0.1:8081"),
        ("http://localhost:8081", "127.0.0.1:8081", "127.0.0.1:8082"),
        ("http://localhost", "127.0.0.1:8080", "127.0.0.1:8081"),
        ("https://localhost:8443", "127.0.0.1:8080", "127.0.0.1:8081"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        init(folder.path(), &["--base-url", base_url]).run().code(0);
        let config = folder.path().join("aldaba.toml");
        let told = Program::new(&["check", "--json", "--config", config.to_str().unwrap()]).run().json();
        let listens = |side: &str| told["config"][side]["listen"].clone();
        assert_eq!((listens("server"), listens("operator")), (json!(public), json!(operator)), "{base_url}");
    }
}

#[test]
fn check_says_what_is_wrong_and_where() {
    let installation = Installation::new();
    let config = installation.config().display().to_string();
    let good = std::fs::read_to_string(&config).unwrap();
    let line_of = |text: &str, part: &str| text.lines().position(|line| line.starts_with(part)).unwrap() + 1;
    for (from, to, told) in [
        (
            "drain = \"10s\"",
            "darin = \"10s\"",
            "there is no key \"server.darin\" (did you mean \"server.drain\"?)",
        ),
        (
            "drain = \"10s\"",
            "drain = \"soon\"",
            "server.drain must be a duration above zero: one number and one unit, as in 90m",
        ),
        ("drain = \"10s\"", "drain = 10", "server.drain must be a duration in quotes, as in \"5m\""),
        (
            "rate_per_minute = 300",
            "rate_per_minute = -3",
            "gateway.rate_per_minute must be from 0 to 10000000",
        ),
        ("listen = \"127.0.0.1:8080\"", "listen = \"here\"", "server.listen must be an address and a port"),
        (
            "allow = []",
            "allow = [\"10.0.0.0\", \"10.0.0.0/33\"]",
            "egress.allow has \"10.0.0.0/33\", which is neither an address nor an address range as in 10.0.0.0/8",
        ),
        ("format = \"auto\"", "format = \"xml\"", "logging.format must be auto, text or json"),
        (
            "token_file = \"operator.token\"",
            "token_file = \"gone\"",
            "operator.token_file names gone, which cannot be read",
        ),
    ] {
        let wrong = good.replacen(&format!("\n{from}"), &format!("\n{to}"), 1);
        std::fs::write(&config, &wrong).unwrap();
        let place = format!("{config}:{}: {told}", line_of(&wrong, to));
        for command in ["check", "serve"] {
            installation.program(&[command]).run().expect_failure(3, &place);
        }
    }
    std::fs::write(&config, good.replace("[server]", "[server")).unwrap();
    installation
        .program(&["check"])
        .run()
        .expect_failure(3, &format!("{config}:{}: ", line_of(&good, "[server]")));
}

#[test]
fn bounds_are_named_when_they_are_crossed() {
    let installation = Installation::new();
    for (key, from, to, wrong) in [
        ("identity.code_ttl", "1ms", "1h", ["0s", "61m"]),
        ("identity.access_token_ttl", "1ms", "24h", ["0s", "25h"]),
        ("identity.refresh_token_ttl", "1ms", "3650d", ["0s", "3651d"]),
        ("identity.refresh_grace", "0s", "10m", ["601s", "11m"]),
        ("identity.session_ttl", "1ms", "365d", ["0s", "366d"]),
        ("identity.key_period", "2d", "3650d", ["1d", "3651d"]),
        ("retention.audit", "1h", "36500d", ["59m", "36501d"]),
        ("retention.every", "1s", "1h", ["0s", "61m"]),
    ] {
        let check = |value: &str| installation.program(&["check", "--set", &format!("{key}={value}")]).run();
        for value in wrong {
            check(value).expect_failure(3, &format!("{key} must be from {from} to {to}"));
        }
        for value in ["1h30m", "99999999999999999999d", "5"] {
            check(value).expect_failure(3, "one number and one unit, as in 90m");
        }
        check(from).code(0);
        check(to).code(0);
    }
    installation.program(&["check", "--set", "identity.key_period=0s"]).run().code(0);
}

#[test]
fn proxies_are_named_one_by_one() {
    let installation = Installation::new();
    let check = |value: &str| {
        installation.program(&["check", "--json", "--set", &format!("server.trusted_proxies={value}")]).run()
    };
    for all in ["0.0.0.0/0", "::/0"] {
        let told = format!("has \"{all}\", which would let anybody choose its address");
        check(&format!("10.0.0.0/8,{all}")).expect_failure(3, &told);
    }
    check("10.0.0.0/8,here")
        .expect_failure(3, "has \"here\", which is neither an address nor an address range");
    let told = check("10.0.0.7,fd00::7,10.1.0.0/16").json();
    let expected = json!(["10.0.0.7/32", "fd00::7/128", "10.1.0.0/16"]);
    assert_eq!(told["config"]["server"]["trusted_proxies"], expected);
}

#[test]
fn check_tells_everything_at_once_and_names_each_layer() {
    let installation = Installation::new();
    let done = installation
        .program(&["check", "--set", "store.url=mysql://x"])
        .variable("ALDABA__SERVER__DRAIN", "soon")
        .variable("ALDABA__STORE__CONNECTIONS_MAX", "0")
        .variable("ALDABA__SERVER__CONNECTIONS_MAX", "many")
        .run()
        .code(3);
    for told in [
        "ALDABA__SERVER__DRAIN: server.drain must be a duration",
        "ALDABA__STORE__CONNECTIONS_MAX: store.connections_max must be from 1 to 1000",
        "ALDABA__SERVER__CONNECTIONS_MAX: server.connections_max must be a whole number",
        "the command line: store.url must be sqlite:PATH",
    ] {
        assert!(done.stderr.contains(told), "{told}: {done:?}");
    }
    installation
        .program(&["check"])
        .variable("ALDABA__STORE__ULR", "x")
        .run()
        .expect_failure(3, "ALDABA__STORE__ULR: there is no key \"store.ulr\" (did you mean \"store.url\"?)");
    installation.program(&["check", "--set", "nonsense"]).run().expect_failure(2, "--set takes KEY=VALUE");
}

#[test]
fn what_production_needs_and_is_not_there_is_named() {
    let done = Program::new(&["check"]).run().code(3);
    for told in ["server.base_url: is missing", "operator.token: is missing", "store.master_key: is missing"]
    {
        assert!(done.stderr.contains(told), "{told}: {done:?}");
    }
    let installation = Installation::new();
    for (setting, told) in [
        (
            "server.base_url=http://api.example.com",
            "server.base_url: must be https; plain http is for this machine only",
        ),
        ("operator.token=short", "operator.token: is too short: 32 characters at least"),
        ("store.master_key=short", "store.master_key: "),
    ] {
        for command in ["check", "serve"] {
            installation.program(&[command, "--set", setting]).run().expect_failure(3, told);
        }
    }
    let missing = installation.path().join("missing.toml").display().to_string();
    Program::new(&["check", "--config", &missing])
        .run()
        .expect_failure(3, &format!("{missing}: cannot be read"));
}

#[test]
fn the_configuration_beside_is_found() {
    let installation = Installation::new();
    Program::new(&["tenant", "add", "Uno", "--id", "uno"]).inside(installation.path()).run().code(0);
    let listed = installation.program(&["tenant", "list", "--json"]).run().json();
    assert_eq!(listed[0]["id"], "uno");
}

#[test]
fn the_store_that_is_there_is_told_by_its_schema() {
    let installation = Installation::new();
    let migrated = installation.program(&["store", "migrate", "--json"]).run().json();
    let schema = migrated["schema"].as_i64().unwrap();
    assert_eq!(installation.program(&["check", "--json"]).run().json()["store"]["schema"], schema);
    let again = installation.program(&["store", "migrate"]).run().code(0);
    assert_eq!(again.stdout, format!("the store's schema is up to date ({schema})\n"));
}

#[test]
fn help_lists_the_exit_codes_and_completions_the_commands() {
    let help = Program::new(&["--help"]).run().code(0);
    for line in [
        "0  done",
        "2  the command line is wrong",
        "3  the configuration is wrong",
        "6  done, but some changes",
    ] {
        assert!(help.stdout.contains(line), "{line}: {}", help.stdout);
    }
    let script = Program::new(&["completions", "bash"]).run().code(0);
    for command in ["dev", "serve", "init", "check", "tenant", "changes", "completions"] {
        assert!(script.stdout.contains(&format!("aldaba__subcmd__{command}")), "{command}");
    }
    assert_eq!(script.stderr, "");
    for wrong in [&["nonsense"][..], &[], &["tenant"], &["tenant", "add"], &["dev", "--listen", "x"]] {
        let done = Program::new(wrong).run().code(2);
        assert_eq!(done.stdout, "", "{wrong:?}");
        assert!(done.stderr.contains("Usage:") || done.stderr.contains("error:"), "{done:?}");
    }
}

#[test]
fn a_reader_who_has_had_enough_is_no_reason_to_panic() {
    for command in ["completions bash", "changes generate --companies 30"] {
        let aldaba = env!("CARGO_BIN_EXE_aldaba");
        let script = format!("{{ \"$0\" {command}; echo \"code $?\" >&2; }} | head -n 1");
        let done = std::process::Command::new("sh").args(["-c", &script, aldaba]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&done.stderr), "code 0\n", "{command}");
    }
}
