//! The order of the layers, and error messages.

use super::*;

fn sources(environment: &[(&str, &str)], flags: &[(&str, &str)]) -> Sources {
    let owned = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    Sources { file: None, environment: owned(environment), flags: owned(flags) }
}

fn faults(sources: &Sources) -> Vec<String> {
    load(sources).unwrap_err().iter().map(ToString::to_string).collect()
}

fn file(text: &str) -> (tempfile::TempDir, Sources) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("aldaba.toml");
    std::fs::write(&path, text).unwrap();
    (folder, Sources { file: Some(path), ..Sources::default() })
}

#[test]
fn default_file_is_complete_and_valid() {
    let config = load(&Sources::default()).unwrap();
    assert_eq!(config.server.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(config.identity.code_ttl.as_secs(), 300);
    assert_eq!(config.delivery.schedule.len(), 7);
    assert_eq!(config.gateway.rate_per_minute, 300);
    assert_eq!(config.store.url, StoreUrl::Sqlite("aldaba.db".into()));
}

#[test]
fn command_line_overrides_environment_overrides_file() {
    let (_folder, mut layered) =
        file("[server]\nlisten = \"127.0.0.1:1\"\nconnections_max = 5\n[delivery]\nwindow = \"1h\"\n");
    layered.environment = vec![
        ("ALDABA__SERVER__LISTEN".into(), "127.0.0.1:2".into()),
        ("ALDABA__DELIVERY__SCHEDULE".into(), "1s, 2s".into()),
        ("OTHER".into(), "x".into()),
    ];
    layered.flags = vec![("server.listen".into(), "127.0.0.1:3".into())];
    let config = load(&layered).unwrap();
    assert_eq!(config.server.listen.port(), 3);
    assert_eq!(config.server.connections_max, 5);
    assert_eq!(config.delivery.window.as_secs(), 3600);
    assert_eq!(config.delivery.schedule.len(), 2);
}

#[test]
fn section_within_a_section_has_a_key_for_each_realm() {
    let (_folder, mut layered) =
        file("[identity]\ncode_ttl = \"1m\"\n[identity.second_factor]\nusers = \"required\"\n");
    layered.environment = vec![("ALDABA__IDENTITY__SECOND_FACTOR__OPERATORS".into(), "off".into())];
    let policies = load(&layered).unwrap().identity.second_factor.0;
    let names = domain::Realm::ALL.map(|realm| policies.of(realm).as_str());
    assert_eq!(names, ["required", "optional", "off"]);
    layered.environment = vec![("ALDABA__IDENTITY__SECOND_FACTOR__OPERATORS".into(), "always".into())];
    let key = "identity.second_factor.operators must be off, optional or required";
    assert!(faults(&layered)[0].contains(key), "{:?}", faults(&layered));
    let (_folder, unknown) = file("[identity.second_factor]\nuser = \"off\"\n");
    assert!(faults(&unknown)[0].contains("unknown key \"identity.second_factor.user\""));
}

#[test]
fn approval_is_set_by_product() {
    let (_folder, mut layered) = file("[portal.approval]\naccounting = \"automatic\"\n");
    assert_eq!(load(&layered).unwrap().portal.approval.automatic.names(), ["accounting"]);
    layered.environment = vec![("ALDABA__PORTAL__APPROVAL__PAYROLL".into(), "automatic".into())];
    layered.flags = vec![("portal.approval.accounting".into(), "operator".into())];
    assert_eq!(load(&layered).unwrap().portal.approval.automatic.names(), ["payroll"]);
    assert_eq!(load(&Sources::default()).unwrap().portal.approval.automatic.names(), [""; 0]);
    let wrong = sources(&[], &[("portal.approval.invoicing", "everybody")]);
    assert!(faults(&wrong)[0].contains("must be operator or automatic"), "{:?}", faults(&wrong));
    let (_folder, unknown) = file("[portal.approval]\nacounting = \"automatic\"\n");
    assert!(faults(&unknown)[0].contains("did you mean \"portal.approval.accounting\"?"));
}

#[test]
fn unknown_key_is_reported_with_line_and_suggestion() {
    let (folder, wrong) = file("[server]\nlisten = \"127.0.0.1:1\"\nbase_ur = \"https://x.example\"\n");
    let path = folder.path().join("aldaba.toml");
    assert_eq!(
        faults(&wrong),
        [format!("{}:3: unknown key \"server.base_ur\" (did you mean \"server.base_url\"?)", path.display())]
    );
    assert_eq!(
        faults(&sources(&[("ALDABA__STORE__ULR", "x")], &[])),
        ["ALDABA__STORE__ULR: unknown key \"store.ulr\" (did you mean \"store.url\"?)"]
    );
}

#[test]
fn all_errors_are_reported_at_once() {
    let wrong = sources(
        &[
            ("ALDABA__SERVER__LISTEN", "here"),
            ("ALDABA__DELIVERY__WINDOW", "soon"),
            ("ALDABA__EGRESS__ALLOW", "10.0.0"),
        ],
        &[("gateway.rate_per_minute", "-1"), ("store.url", "mysql://x")],
    );
    let faults_found = faults(&wrong);
    assert_eq!(faults_found.len(), 5, "{faults_found:?}");
    assert!(
        faults_found.iter().any(|fault| fault.starts_with("the command line: store.url must be sqlite:PATH"))
    );
    assert!(
        faults(&sources(&[("ALDABA__GATEWAY__RATE_PER_MINUTE", "many")], &[]))[0]
            .contains("must be a whole number")
    );
}

#[test]
fn invalid_toml_and_incomplete_tls_pair_are_reported_with_their_line() {
    let (_folder, broken) = file("[server]\nlisten = 127\n.0.0.1\n");
    assert!(faults(&broken)[0].contains("aldaba.toml:3"), "{:?}", faults(&broken));
    let (_folder, half) = file("[server]\ntls_key = \"key.pem\"\n");
    assert!(faults(&half)[0].contains("server.tls_certificates is missing"), "{:?}", faults(&half));
    let (_folder, outside) = file("listen = \"x\"\n");
    assert!(faults(&outside)[0].contains("outside a section"));
}

#[test]
fn secret_is_read_from_a_file_and_never_printed() {
    let (folder, mut from_file) = file("[operator]\ntoken_file = \"token\"\n");
    std::fs::write(folder.path().join("token"), "hush-hush\n").unwrap();
    let config = load(&from_file).unwrap();
    assert_eq!(config.operator.token.as_ref().unwrap().reveal(), "hush-hush");
    assert!(!format!("{config:?}").contains("hush"));
    assert!(!serde_json::to_string(&config).unwrap().contains("hush"));
    from_file.environment = vec![("ALDABA__OPERATOR__TOKEN_FILE".into(), "/nowhere/token".into())];
    assert!(faults(&from_file)[0].contains("cannot read /nowhere/token"));
}

#[test]
fn paths_are_relative_to_the_folder_of_the_file() {
    let (folder, there) =
        file("[store]\nurl = \"sqlite:data/aldaba.db\"\n[egress]\nca_file = \"/etc/ca.pem\"\n");
    let config = load(&there).unwrap();
    assert_eq!(config.store.url, StoreUrl::Sqlite(folder.path().join("data/aldaba.db")));
    assert_eq!(config.egress.ca_file, Some("/etc/ca.pem".into()));
}

#[test]
fn postgres_password_is_not_printed() {
    let config = load(&sources(&[], &[("store.url", "postgres://me:hush@db.example/aldaba")])).unwrap();
    let shown = serde_json::to_string(&config).unwrap();
    assert!(shown.contains("db.example/aldaba") && !shown.contains("hush"), "{shown}");
}

#[test]
fn durations_are_parsed_and_others_refused() {
    for (text, milliseconds) in
        [("500ms", 500), ("5s", 5000), ("2m", 120_000), ("24h", 86_400_000), ("1d", 86_400_000)]
    {
        assert_eq!(parse_duration(text).unwrap().as_millis(), milliseconds, "{text}");
    }
    for wrong in ["", "5", "s", "-5s", "5 s", "1w", "1h30m", "99999999999999999999s"] {
        assert_eq!(parse_duration(wrong), None, "{wrong}");
    }
}
