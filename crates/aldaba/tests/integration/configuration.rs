//! `aldaba init` and `check`, and the layers of the configuration.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;

use crate::harness::{HttpRequest, Installation, Program, ServeProcess};

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn init(folder: &Path, arguments: &[&str]) -> Program {
    Program::new(&["init", folder.to_str().unwrap()]).with(arguments)
}

#[test]
fn init_writes_files_that_only_their_owner_can_read() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("etc/aldaba");
    let written = init(&place, &["--base-url", "https://api.example.com", "--json"]).run().json();
    assert_eq!(
        written,
        json!({"config": place.join("aldaba.toml"), "files": ["aldaba.toml", "master.key", "operator.token"]})
    );
    // The configuration may contain a database's password.
    for secret in ["aldaba.toml", "master.key", "operator.token"] {
        assert_eq!(mode(&place.join(secret)), 0o600, "{secret}");
    }
    for created in [place.as_path(), place.parent().unwrap()] {
        assert_eq!(mode(created), 0o700, "{created:?}");
    }
    let key = std::fs::read_to_string(place.join("master.key")).unwrap();
    assert!(key.trim().len() == 64 && key.trim().bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert!(std::fs::read_to_string(place.join("operator.token")).unwrap().trim().len() >= 32);
    let config = std::fs::read_to_string(place.join("aldaba.toml")).unwrap();
    assert!(config.contains("base_url = \"https://api.example.com\""), "{config}");
    assert!(!config.contains(key.trim()), "secrets are in separate files");
}

#[test]
fn init_reports_on_standard_error_and_generates_new_secrets_each_time() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let keys = folders.each_ref().map(|folder| {
        let finished = init(folder.path(), &[]).run().code(0);
        assert!(finished.stdout.contains("aldaba.toml, master.key and operator.token"), "{finished:?}");
        assert!(finished.stderr.contains("Keep a copy of master.key"), "{finished:?}");
        std::fs::read_to_string(folder.path().join("master.key")).unwrap()
    });
    assert_ne!(keys[0], keys[1]);
}

#[test]
fn init_overwrites_no_file() {
    for name in ["aldaba.toml", "master.key", "operator.token"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, "mine").unwrap();
        init(folder.path(), &[])
            .run()
            .expect_failure(5, &format!("{} already exists; nothing was written", path.display()));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no other file was written");
    }
    init(Path::new("/"), &["--store", "mysql://x"])
        .run()
        .expect_failure(2, "--store must be sqlite:PATH or postgres://");
}

#[test]
fn check_accepts_what_init_wrote() {
    for base_url in ["http://127.0.0.1:8080", "http://localhost:9", "https://api.example.com"] {
        let folder = tempfile::tempdir().unwrap();
        let store = format!("sqlite:{}", folder.path().join("a.db").display());
        init(folder.path(), &["--base-url", base_url, "--store", &store]).run().code(0);
        let config = folder.path().join("aldaba.toml");
        let check = || Program::new(&["check", "--config", config.to_str().unwrap()]);
        let report = check().with(&["--json"]).run().json();
        assert_eq!((&report["ok"], &report["store"]["schema"]), (&json!(true), &json!(null)));
        assert_eq!(report["config"]["server"]["base_url"], base_url);
        assert_eq!(report["config"]["operator"]["token"], "***");
        assert_eq!(report["config"]["store"]["master_key"], "***");
        let finished = check().run().code(0);
        assert!(finished.stdout.starts_with("the configuration is valid\n"), "{finished:?}");
        assert!(!folder.path().join("a.db").exists(), "check creates no store");
    }
}

#[test]
fn init_refuses_what_check_would_refuse_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, message) in [
        (
            ["--base-url", "http://api.example.com"],
            "--base-url \"http://api.example.com\" must start with https://",
        ),
        (["--base-url", "http://127.0.0.1.example"], "http:// is allowed for loopback addresses only"),
        (["--base-url", "https://api.example.com/v1"], "must be a URL without a path"),
        (["--base-url", "https://api.example.com:x"], "must be a URL without a path"),
        (["--base-url", "api.example.com"], "must be a URL without a path"),
        (["--base-url", ""], "--base-url \"\" must be a URL"),
        (
            ["--auth-url", "http://id.example.com"],
            "--auth-url \"http://id.example.com\" must start with https://",
        ),
        (["--set", "store.url=sqlite:x.db"], "init does not accept --set (store.url=sqlite:x.db)"),
    ] {
        init(folder.path(), &arguments).run().expect_failure(2, message);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    init(Path::new("/proc/foo"), &[]).run().expect_failure(1, "cannot create the folder /proc/foo: ");
}

#[test]
fn loopback_base_url_sets_the_listen_address() {
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
        let report = Program::new(&["check", "--json", "--config", config.to_str().unwrap()]).run().json();
        let listens = |side: &str| report["config"][side]["listen"].clone();
        assert_eq!((listens("server"), listens("operator")), (json!(public), json!(operator)), "{base_url}");
    }
}

#[test]
fn check_reports_the_file_line_and_key_of_each_error() {
    let installation = Installation::new();
    let config = installation.config().display().to_string();
    let valid = std::fs::read_to_string(&config).unwrap();
    let line_of = |text: &str, part: &str| text.lines().position(|line| line.starts_with(part)).unwrap() + 1;
    for (from, to, message) in [
        (
            "drain = \"10s\"",
            "darin = \"10s\"",
            "unknown key \"server.darin\" (did you mean \"server.drain\"?)",
        ),
        (
            "drain = \"10s\"",
            "drain = \"soon\"",
            "server.drain must be a duration greater than zero (a whole number followed by ms, s, m, h or d, such as 90m)",
        ),
        ("drain = \"10s\"", "drain = 10", "server.drain must be a duration in quotes, for example \"5m\""),
        (
            "rate_per_minute = 300",
            "rate_per_minute = -3",
            "gateway.rate_per_minute must be from 0 to 10000000",
        ),
        (
            "listen = \"127.0.0.1:8080\"",
            "listen = \"here\"",
            "server.listen must be an IP address and a port",
        ),
        (
            "allow = []",
            "allow = [\"10.0.0.0\", \"10.0.0.0/33\"]",
            "egress.allow contains \"10.0.0.0/33\", which is neither an IP address nor an address range such as 10.0.0.0/8",
        ),
        ("format = \"auto\"", "format = \"xml\"", "logging.format must be auto, text or json"),
        ("token_file = \"operator.token\"", "token_file = \"gone\"", "operator.token_file: cannot read "),
    ] {
        let wrong = valid.replacen(&format!("\n{from}"), &format!("\n{to}"), 1);
        std::fs::write(&config, &wrong).unwrap();
        let place = format!("{config}:{}: {message}", line_of(&wrong, to));
        for command in ["check", "serve"] {
            installation.program(&[command]).run().expect_failure(3, &place);
        }
    }
    std::fs::write(&config, valid.replace("[server]", "[server")).unwrap();
    installation
        .program(&["check"])
        .run()
        .expect_failure(3, &format!("{config}:{}: ", line_of(&valid, "[server]")));
}

#[test]
fn out_of_range_values_are_reported_with_their_bounds() {
    let installation = Installation::new();
    for (key, from, to, wrong) in [
        ("identity.code_ttl", "1ms", "1h", ["0s", "61m"]),
        ("identity.access_token_ttl", "1ms", "24h", ["0s", "25h"]),
        ("identity.refresh_token_ttl", "1ms", "3650d", ["0s", "3651d"]),
        ("identity.refresh_grace", "0s", "10m", ["601s", "11m"]),
        ("identity.session_ttl", "1ms", "365d", ["0s", "366d"]),
        ("identity.key_period", "2d", "3650d", ["1d", "3651d"]),
        ("retention.audit", "1h", "36500d", ["59m", "36501d"]),
        ("retention.reads", "24h", "36500d", ["23h", "36501d"]),
        ("retention.every", "1s", "1h", ["0s", "61m"]),
    ] {
        let check = |value: &str| installation.program(&["check", "--set", &format!("{key}={value}")]).run();
        for value in wrong {
            check(value).expect_failure(3, &format!("{key} must be from {from} to {to}"));
        }
        for value in ["1h30m", "99999999999999999999d", "5"] {
            check(value).expect_failure(3, "a whole number followed by ms, s, m, h or d, such as 90m");
        }
        check(from).code(0);
        check(to).code(0);
    }
    installation.program(&["check", "--set", "identity.key_period=0s"]).run().code(0);
}

#[test]
fn trusted_proxies_must_not_cover_all_addresses() {
    let installation = Installation::new();
    let check = |value: &str| {
        installation.program(&["check", "--json", "--set", &format!("server.trusted_proxies={value}")]).run()
    };
    for all in ["0.0.0.0/0", "::/0"] {
        let message = format!("contains \"{all}\", which lets every client forge its address");
        check(&format!("10.0.0.0/8,{all}")).expect_failure(3, &message);
    }
    check("10.0.0.0/8,here")
        .expect_failure(3, "contains \"here\", which is neither an IP address nor an address range");
    let report = check("10.0.0.7,fd00::7,10.1.0.0/16").json();
    let expected = json!(["10.0.0.7/32", "fd00::7/128", "10.1.0.0/16"]);
    assert_eq!(report["config"]["server"]["trusted_proxies"], expected);
}

#[test]
fn https_without_tls_needs_a_named_proxy() {
    let installation = Installation::new();
    let check = |settings: &[&str]| {
        let arguments: Vec<&str> = settings.iter().flat_map(|&setting| ["--set", setting]).collect();
        installation.program(&["check"]).with(&arguments).run()
    };
    for key in ["server.base_url", "server.auth_url"] {
        let https = format!("{key}=https://api.example.com");
        let message = format!("server.trusted_proxies: is empty, but {key} is https");
        check(&[&https]).expect_failure(3, &message);
        for named in ["server.trusted_proxies=10.0.0.7", "server.peer_is_client=true"] {
            check(&[&https, named]).code(0);
        }
        installation
            .program(&["serve", "--set", &https])
            .run()
            .expect_failure(3, "or set server.peer_is_client = true");
    }
}

#[test]
fn init_with_https_names_a_proxy_on_this_machine() {
    let folder = tempfile::tempdir().unwrap();
    let finished = init(folder.path(), &["--base-url", "https://api.example.com"]).run().code(0);
    assert!(finished.stderr.contains("expects a proxy on this machine"), "{finished:?}");
    let config = folder.path().join("aldaba.toml");
    let report = Program::new(&["check", "--json", "--config", config.to_str().unwrap()]).run().json();
    assert_eq!(report["config"]["server"]["trusted_proxies"], json!(["127.0.0.1/32", "::1/128"]));
    let plain = tempfile::tempdir().unwrap();
    let finished = init(plain.path(), &["--base-url", "http://localhost:8080"]).run().code(0);
    assert!(!finished.stderr.contains("proxy"), "{finished:?}");
}

#[test]
fn forwarded_header_of_an_unnamed_proxy_is_warned_of_once() {
    let server = ServeProcess::start(Installation::new(), &["server.trusted_proxies=10.0.0.7"]);
    let get = |header: &'static str, value: &str| {
        let url = format!("{}/livez", server.public_url);
        assert_eq!(HttpRequest::get(&url).header(header, value).send().status, 200);
    };
    let warnings = |log: &str| log.matches("server.trusted_proxies does not list its sender").count();
    get("accept", "text/plain");
    assert_eq!(warnings(&server.process.stderr()), 0);
    get("forwarded", "for=203.0.113.7");
    for _ in 0..3 {
        get("x-forwarded-for", "203.0.113.7");
    }
    let finished = server.process.stop();
    assert_eq!(warnings(&finished.stderr), 1, "{}", finished.stderr);
    assert!(finished.stderr.contains("127.0.0.1"), "{}", finished.stderr);
}

#[test]
fn check_reports_all_errors_at_once_with_their_layer() {
    let installation = Installation::new();
    let finished = installation
        .program(&["check", "--set", "store.url=mysql://x"])
        .variable("ALDABA__SERVER__DRAIN", "soon")
        .variable("ALDABA__STORE__CONNECTIONS_MAX", "0")
        .variable("ALDABA__SERVER__CONNECTIONS_MAX", "many")
        .run()
        .code(3);
    for message in [
        "ALDABA__SERVER__DRAIN: server.drain must be a duration",
        "ALDABA__STORE__CONNECTIONS_MAX: store.connections_max must be from 1 to 1000",
        "ALDABA__SERVER__CONNECTIONS_MAX: server.connections_max must be a whole number",
        "the command line: store.url must be sqlite:PATH",
    ] {
        assert!(finished.stderr.contains(message), "{message}: {finished:?}");
    }
    installation
        .program(&["check"])
        .variable("ALDABA__STORE__ULR", "x")
        .run()
        .expect_failure(3, "ALDABA__STORE__ULR: unknown key \"store.ulr\" (did you mean \"store.url\"?)");
    installation.program(&["check", "--set", "nonsense"]).run().expect_failure(2, "--set must be KEY=VALUE");
}

#[test]
fn missing_required_settings_are_reported() {
    let finished = Program::new(&["check"]).run().code(3);
    for message in
        ["server.base_url: is missing", "operator.token: is missing", "store.master_key: is missing"]
    {
        assert!(finished.stderr.contains(message), "{message}: {finished:?}");
    }
    let installation = Installation::new();
    for (setting, message) in [
        ("server.base_url=http://api.example.com", "server.base_url: must start with https://"),
        ("operator.token=short", "operator.token: is too short: 32 characters at least"),
    ] {
        for command in ["check", "serve"] {
            installation.program(&[command, "--set", setting]).run().expect_failure(3, message);
        }
    }
    for command in ["check", "serve"] {
        let program = installation.program(&[command]).variable("ALDABA__STORE__MASTER_KEY", "short");
        program.run().expect_failure(3, "store.master_key: ");
    }
    let missing = installation.path().join("missing.toml").display().to_string();
    Program::new(&["check", "--config", &missing])
        .run()
        .expect_failure(3, &format!("{missing}: cannot read the file"));
}

/// `config::exposure` has the rules and their details.
#[test]
fn dangerous_settings_are_refused_until_accepted() {
    let installation = Installation::new();
    for (setting, accept) in [
        ("operator.listen=0.0.0.0:0", "operator.accept_plain_http"),
        ("egress.loopback=true", "egress.accept_loopback"),
        ("egress.allow=0.0.0.0/0", "egress.accept_wide_ranges"),
    ] {
        for command in ["check", "serve"] {
            let refused = installation.program(&[command, "--set", setting]).run();
            refused.expect_failure(3, &format!("set {accept} = true"));
        }
        let accepted = format!("{accept}=true");
        installation.program(&["check", "--set", setting, "--set", &accepted]).run().code(0);
    }
}

#[test]
fn configuration_in_the_working_directory_is_found() {
    let installation = Installation::new();
    Program::new(&["tenant", "add", "Uno", "--id", "uno"]).inside(installation.path()).run().code(0);
    let listed = installation.program(&["tenant", "list", "--json"]).run().json();
    assert_eq!(listed[0]["id"], "uno");
}

#[test]
fn check_reports_the_schema_version_of_an_existing_store() {
    let installation = Installation::new();
    let migrated = installation.program(&["store", "migrate", "--json"]).run().json();
    let schema = migrated["schema"].as_i64().unwrap();
    assert_eq!(installation.program(&["check", "--json"]).run().json()["store"]["schema"], schema);
    let again = installation.program(&["store", "migrate"]).run().code(0);
    assert_eq!(again.stdout, format!("the store has the newest schema (version {schema})\n"));
}

#[test]
fn help_lists_exit_codes_and_completions_list_commands() {
    let help = Program::new(&["--help"]).run().code(0);
    for line in
        ["0  success", "2  invalid command line", "3  invalid configuration", "6  applied, but some changes"]
    {
        assert!(help.stdout.contains(line), "{line}: {}", help.stdout);
    }
    let script = Program::new(&["completions", "bash"]).run().code(0);
    for command in ["dev", "serve", "init", "check", "tenant", "changes", "completions"] {
        assert!(script.stdout.contains(&format!("aldaba__subcmd__{command}")), "{command}");
    }
    assert_eq!(script.stderr, "");
    for wrong in [&["nonsense"][..], &[], &["tenant"], &["tenant", "add"], &["dev", "--listen", "x"]] {
        let finished = Program::new(wrong).run().code(2);
        assert_eq!(finished.stdout, "", "{wrong:?}");
        assert!(finished.stderr.contains("Usage:") || finished.stderr.contains("error:"), "{finished:?}");
    }
}

#[test]
fn closed_standard_output_does_not_panic() {
    for command in ["completions bash", "changes generate --companies 30"] {
        let aldaba = env!("CARGO_BIN_EXE_aldaba");
        let script = format!("{{ \"$0\" {command}; echo \"code $?\" >&2; }} | head -n 1");
        let finished = std::process::Command::new("sh").args(["-c", &script, aldaba]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&finished.stderr), "code 0\n", "{command}");
    }
}
