//! The doctor, the configuration and the backups: in the console, in the operator's API and on the command line.

use std::sync::Arc;
use std::time::Duration;

use domain::OperatorRole;
use hyper::Method;
use serde_json::{Value, json};
use testserver::{Request, Response, TestClock, TestServer};

use super::fixture::{Operator, path};
use crate::harness::{Installation, Page, wait_for};

/// An operator whose role a test chooses, and another one who stays admin.
struct Fixture {
    server: TestServer,
    clock: Arc<TestClock>,
    operator: Operator,
    /// Of the operator's session: also for roles whose pages show no forms.
    token: String,
}

impl Fixture {
    fn new(settings: &[(&str, &str)]) -> Self {
        let clock = Arc::new(TestClock::default());
        let builder = TestServer::builder().clock(clock.clone());
        let server = settings.iter().fold(builder, |builder, (key, value)| builder.set(key, value)).start();
        Operator::sign_in(&server, OperatorRole::Admin);
        let operator = Operator::sign_in(&server, OperatorRole::Viewer);
        let mut fixture = Self { server, clock, operator, token: String::new() };
        fixture.act_as(OperatorRole::Admin);
        let form = fixture.operator.get("backups").form("post");
        fixture.token.clone_from(&form.fields.iter().find(|(name, _)| name == "token").unwrap().1);
        fixture
    }

    fn act_as(&self, role: OperatorRole) {
        let url = format!("{}/operator/v1/operators/{}", self.server.operator_url(), self.operator.id);
        let body = json!({"role": role.as_str()});
        let change = Request::new(Method::PATCH, &url).bearer(self.server.operator_token()).json(&body);
        change.send().expect_status(200);
    }

    fn post(&self, fields: &[(&str, &str)]) -> Page {
        let fields = [&[("token", self.token.as_str())], fields].concat();
        self.operator.browser.post(&path("backups"), &fields)
    }

    /// Makes a backup and waits until it is complete; returns its name.
    #[track_caller]
    fn make_backup(&self) -> String {
        let started = self.post(&[("do", "start")]);
        assert!(started.location().ends_with("backups?done=backup_started"), "{started:?}");
        let run = wait_for("the backup is complete", || {
            let run = self.operator.json("backups")["run"].clone();
            (run["phase"] == "done").then_some(run)
        });
        run["name"].as_str().unwrap().to_owned()
    }

    fn names(&self) -> Vec<String> {
        let list = self.operator.json("backups");
        let names =
            list["backups"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned());
        names.collect()
    }

    /// The newest audit entries of this kind.
    fn audit(&self, kind: &str) -> Vec<Value> {
        let found = self.server.operator_get(&format!("/operator/v1/audit?kind={kind}")).expect_status(200);
        found.json()["records"].as_array().unwrap().clone()
    }
}

#[test]
fn doctor_says_the_same_everywhere_and_examines_seldom() {
    let server = TestServer::start();
    let operator = Operator::sign_in(&server, OperatorRole::Viewer);
    let first = operator.json("doctor");
    let code = |finding: &Value| finding["code"].as_str().unwrap().to_owned();
    let codes: Vec<String> = first["findings"].as_array().unwrap().iter().map(code).collect();
    for expected in ["clock_alone", "address_local", "sqlite_durable", "sqlite_intact", "certificate_none"] {
        assert!(codes.contains(&expected.to_owned()), "{expected}: {first}");
    }
    assert!(codes.iter().any(|code| code.starts_with("disk_")), "{first}");
    assert!(codes.iter().any(|code| code.starts_with("descriptors_")), "{first}");
    let again = operator.json("doctor");
    assert_eq!(again["examinedAt"], first["examinedAt"], "the result counts for some seconds");
    let api = server.operator_get("/operator/v1/doctor").expect_status(200).json();
    assert_eq!(api["findings"].as_array().unwrap().iter().map(code).collect::<Vec<_>>(), codes);
    assert!(operator.get_in("es", "doctor").contains("Qué hacer:"));
    assert!(operator.get_in("en", "doctor").contains("What to do:"));
    assert!(operator.get("doctor?format=csv").text().starts_with("check,verdict,code,message,remedy\r\n"));
}

#[test]
fn doctor_finds_a_proxy_that_is_not_named() {
    let server = TestServer::start();
    let operator = Operator::sign_in(&server, OperatorRole::Viewer);
    let forwarded = Request::get(&format!("{}/livez", server.operator_url()));
    forwarded.header("x-forwarded-for", "203.0.113.7").send().expect_status(200);
    let found = operator.json("doctor");
    let seen = |finding: &&Value| finding["code"] == "proxy_seen";
    let seen = found["findings"].as_array().unwrap().iter().find(seen).unwrap_or_else(|| panic!("{found}"));
    assert!(seen["message"].as_str().unwrap().contains("operator.trusted_proxies"), "{seen}");
}

#[test]
fn doctor_command_ends_with_its_own_code_when_a_check_fails() {
    let installation = Installation::new();
    // Nobody answers there.
    let nowhere = "http://127.0.0.1:1";
    let urls = ["server.base_url", "server.auth_url", "operator.url"].map(|key| format!("{key}={nowhere}"));
    let doctor = || urls.iter().fold(installation.program(&["doctor"]), |run, url| run.with(&["--set", url]));
    let fine = doctor().with(&["--json"]).run().code(0);
    let report: Value = serde_json::from_str(&fine.stdout).unwrap();
    assert_ne!(report["verdict"], "failure", "{report}");
    let has = |report: &Value, code: &str| {
        report["findings"].as_array().unwrap().iter().any(|finding| finding["code"] == code)
    };
    assert!(has(&report, "configuration_valid") && has(&report, "store_missing"), "{report}");
    let mail =
        ["--set", "mail.server=127.0.0.1:1", "--set", "mail.from=a@example.com", "--set", "mail.tls=none"];
    let failing = doctor().with(&["--json"]).with(&mail).run().code(10);
    let report: Value = serde_json::from_str(&failing.stdout).unwrap();
    assert_eq!(report["verdict"], "failure");
    assert!(has(&report, "mail_unreachable"), "{report}");
    let text = doctor().with(&mail).run().code(10).stdout;
    assert!(text.contains("FAILURE") && text.contains("→ Check mail.server"), "{text}");
}

#[test]
fn configuration_shows_every_key_but_no_secret() {
    let server = TestServer::builder()
        .set("mail.username", "me")
        .set("mail.password", "hush-hush")
        .set("delivery.timeout", "7s")
        .start();
    let operator = Operator::sign_in(&server, OperatorRole::Viewer);
    let keys = operator.json("configuration")["keys"].clone();
    let find = |name: &str| keys.as_array().unwrap().iter().find(|key| key["key"] == name).unwrap().clone();
    let timeout = find("delivery.timeout");
    assert_eq!((&timeout["value"], &timeout["default"]), (&json!("7s"), &json!("5s")));
    assert_eq!(timeout["source"], json!({"layer": "commandLine", "name": null}));
    let password = find("mail.password");
    assert_eq!((&password["value"], &password["isSet"]), (&Value::Null, &json!(true)));
    assert_eq!(find("server.base_url")["value"], json!(server.base_url()), "the one in use");
    let changed = operator.json("configuration?changed=true")["keys"].as_array().unwrap().len();
    assert!(changed > 3 && changed < keys.as_array().unwrap().len());
    let found = operator.json("configuration?q=PAUSES+between")["keys"].clone();
    assert_eq!(found[0]["key"], "delivery.schedule", "{found}");
    let api = server.operator_get("/operator/v1/configuration?changed=true&q=timeout").expect_status(200);
    assert_eq!(api.json()["keys"].as_array().unwrap().len(), 1, "{}", api.text());
    let (es, en) = (operator.get_in("es", "configuration"), operator.get_in("en", "configuration"));
    assert!(es.contains("Puesto, no se muestra") && es.contains("lang=\"en\""));
    let csv = operator.get("configuration?format=csv").text().to_owned();
    let whole_api = server.operator_get("/operator/v1/configuration").text();
    for text in [es, en, csv, keys.to_string(), whole_api] {
        assert!(!text.contains("hush-hush"), "{text}");
    }
}

#[test]
fn check_command_lists_the_sources() {
    let installation = Installation::new();
    let report = installation.program(&["check", "--json"]).run().json();
    let keys = report["keys"].as_array().unwrap();
    let base_url = keys.iter().find(|key| key["key"] == "server.base_url").unwrap();
    assert_eq!(base_url["source"]["layer"], "file");
    assert!(base_url["source"]["name"].as_str().unwrap().contains("aldaba.toml:"), "{base_url}");
    assert!(!report.to_string().contains(&installation.token()));
}

#[test]
fn backup_is_made_listed_downloaded_and_audited() {
    let fixture = Fixture::new(&[]);
    assert!(fixture.operator.get_in("es", "backups").contains("Todavía no hay ninguna copia"));
    let name = fixture.make_backup();
    assert_eq!(name, "aldaba-20260101T000000Z.ndjson");
    assert_eq!(fixture.names(), std::slice::from_ref(&name));
    let downloaded = fixture.post(&[("do", "download"), ("backup", &name)]);
    assert_eq!((downloaded.status, downloaded.header("cache-control")), (200, "no-store"));
    assert_eq!(downloaded.header("content-disposition"), format!("attachment; filename=\"{name}\""));
    assert_eq!(downloaded.header("content-length"), downloaded.body.len().to_string());
    let text = downloaded.text().to_owned();
    assert!(text.starts_with("{\"aldaba_backup\":1,") && text.trim_end().lines().count() > 10, "{text}");
    assert!(text.contains("backup_started"), "the backup contains its own entry");
    for kind in ["backup_started", "backup_completed", "backup_downloaded"] {
        let [entry] = &fixture.audit(kind)[..] else { panic!("{:?}", fixture.audit(kind)) };
        assert_eq!(entry["object"], format!("backup:{name}"), "{entry}");
        assert_eq!(entry["actor"], format!("operator:{}", fixture.operator.id), "{entry}");
    }
    assert!(fixture.operator.get("backups?format=csv").text().contains(&name));
    assert!(fixture.operator.get_in("en", "backups").contains("The last one that this node made"));
}

#[test]
fn names_that_are_no_backups_are_not_found() {
    let fixture = Fixture::new(&[]);
    fixture.make_backup();
    for name in [
        "",
        "../aldaba.db",
        "aldaba.db",
        "aldaba-20260101T000000Z.ndjson/..",
        "aldaba-20250101T000000Z.ndjson",
    ] {
        assert_eq!(fixture.post(&[("do", "download"), ("backup", name)]).status, 404, "{name}");
    }
    let api = |name: &str| {
        let url = format!("{}/operator/v1/backups/{name}/download", fixture.server.operator_url());
        Request::post(&url).bearer(fixture.server.operator_token()).send().status
    };
    assert_eq!((api("..%2Faldaba.db"), api("aldaba.db")), (404, 404));
    assert_eq!(fixture.audit("backup_downloaded"), [Value::Null; 0]);
}

#[test]
fn only_admins_who_have_just_proved_it_make_and_download_backups() {
    let fixture = Fixture::new(&[]);
    let name = fixture.make_backup();
    let attempts = [vec![("do", "start")], vec![("do", "download"), ("backup", name.as_str())]];
    for role in [OperatorRole::Viewer, OperatorRole::Support] {
        fixture.act_as(role);
        let page = fixture.operator.get_in("en", "backups");
        assert!(page.contains(&name) && !page.contains("value=\"download\""), "{role:?} sees the list");
        for attempt in &attempts {
            assert_eq!(fixture.post(attempt).status, 403, "{role:?} {attempt:?}");
        }
    }
    fixture.act_as(OperatorRole::Admin);
    fixture.clock.advance(Duration::from_secs(11 * 60));
    for attempt in &attempts {
        let led = fixture.post(attempt);
        assert!(led.location().contains("/console/login"), "{attempt:?}: {led:?}");
    }
    assert_eq!((fixture.names().len(), fixture.audit("backup_downloaded").len()), (1, 0));
}

#[test]
fn newest_backups_are_kept() {
    let fixture = Fixture::new(&[("backup.keep", "2")]);
    let first = fixture.make_backup();
    let second = fixture.make_backup();
    assert_eq!(second, "aldaba-20260101T000000Z-2.ndjson", "of the same second");
    fixture.clock.advance(Duration::from_secs(60));
    let third = fixture.make_backup();
    assert_eq!(fixture.names(), [third, second]);
    assert_eq!(fixture.post(&[("do", "download"), ("backup", &first)]).status, 404);
}

#[test]
fn backups_are_encrypted_for_the_configured_recipients() {
    let recipient = "age1xmwwc06ly3ee5rytxm9mflaz2u56jjj36s0mypdrwsvlul66mv4q47ryef";
    let fixture = Fixture::new(&[("backup.recipients", recipient)]);
    let name = fixture.make_backup();
    assert!(name.ends_with(".ndjson.age"), "{name}");
    let downloaded = fixture.post(&[("do", "download"), ("backup", &name)]);
    assert!(downloaded.body.starts_with(b"age-encryption.org/v1\n"));
}

#[test]
fn backups_over_the_api() {
    let fixture = Fixture::new(&[]);
    let url = format!("{}/operator/v1/backups", fixture.server.operator_url());
    let send = |request: Request, token: &str| -> Response { request.bearer(token).send() };
    let admin = fixture.server.operator_token();
    let viewer = fixture.server.operator_post("tokens", &json!({"name": "v", "role": "viewer"}));
    let viewer = viewer["secret"].as_str().unwrap();
    send(Request::post(&url), viewer).expect_status(403);
    let started = send(Request::post(&url), admin).expect_status(202).json();
    assert_eq!((&started["phase"], &started["startedBy"]), (&json!("writing"), &json!("operator")));
    let list = wait_for("the backup is complete", || {
        let list = send(Request::get(&url), viewer).expect_status(200).json();
        (list["run"]["phase"] == "done").then_some(list)
    });
    let backup = &list["backups"][0];
    assert_eq!(backup["name"], started["name"], "{list}");
    let one = format!("{url}/{}/download", backup["name"].as_str().unwrap());
    send(Request::post(&one), viewer).expect_status(403);
    let content = send(Request::post(&one), admin).expect_status(200);
    assert_eq!(content.body.len() as u64, backup["bytes"].as_u64().unwrap());
}

#[test]
fn store_backup_without_a_file_writes_to_the_directory() {
    let installation = Installation::new();
    installation.add_tenant("uno");
    let made = || installation.program(&["store", "backup", "--json", "--set", "backup.keep=1"]).run().json();
    let (first, second) = (made(), made());
    let exists = |report: &Value| std::path::Path::new(report["file"].as_str().unwrap()).exists();
    assert!(!exists(&first) && exists(&second), "{first} {second}");
    assert!(second["file"].as_str().unwrap().contains("/backups/aldaba-"), "{second}");
}
