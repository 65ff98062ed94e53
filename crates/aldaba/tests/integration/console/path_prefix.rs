//! The console behind a proxy that serves it below a path, whether the proxy removes the path or passes it on; and the
//! addresses that proxies forward.

use domain::{AccountId, OperatorRole, Realm, Secret, password};
use serde_json::json;
use store::{Account, AuditContext, FIRST_REVISION, Status};
use testserver::{SeededRandom, TestServer};

use super::fixture::{Operator, PASSWORD};
use crate::harness::{Browser, Form, Page};

const PREFIX: &str = "/aldaba";
const EMAIL: &str = "olga@operators.example";

/// A browser on the other side of the proxy.
struct Proxied {
    browser: Browser,
    removes_prefix: bool,
}

impl Proxied {
    /// The path that the proxy asks the service for.
    fn inner<'a>(&self, path: &'a str) -> &'a str {
        let rest = path.strip_prefix(PREFIX).unwrap_or_else(|| panic!("{path} leads out of the prefix"));
        if self.removes_prefix { rest } else { path }
    }

    #[track_caller]
    fn get(&self, path: &str) -> Page {
        self.browser.get(self.inner(path))
    }

    #[track_caller]
    fn submit(&self, form: &Form, filled: &[(&str, &str)]) -> Page {
        let action = self.inner(&form.action).to_owned();
        self.browser.submit(&Form { action, ..form.clone() }, filled)
    }

    /// Follows redirects, which must stay below the prefix.
    #[track_caller]
    fn follow(&self, mut page: Page) -> Page {
        while (300..400).contains(&page.status) {
            page = self.get(page.location());
        }
        page
    }
}

fn server() -> TestServer {
    let server = TestServer::builder().set("operator.url", "http://ops.example.com/aldaba").start();
    let account = Account {
        id: AccountId::new("olga"),
        realm: Realm::Operators,
        email: EMAIL.into(),
        given_name: "Olga".into(),
        family_name: String::new(),
        lang: "en".into(),
        password_hash: password::hash(&Secret::new(PASSWORD), &SeededRandom::new(3)).unwrap(),
        status: Status::Active,
        role: Some(OperatorRole::Admin),
        created_at: domain::Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap(),
        updated_at: domain::Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap(),
        revision: FIRST_REVISION,
    };
    let store = server.store().clone();
    server.block_on(async { store.add_account(&account, &[], &AuditContext::default()).await }).unwrap();
    server
}

/// Every address of this host in a page.
fn links(page: &str) -> Vec<String> {
    let attributes = ["href=\"", "src=\"", "action=\"", "data-live=\""];
    let values = attributes.iter().flat_map(|start| page.split(start).skip(1));
    let values = values.filter_map(|rest| rest.split('"').next()).filter(|value| value.starts_with('/'));
    values.map(|value| value.replace("&amp;", "&")).collect()
}

#[test]
fn console_works_below_a_prefix() {
    let server = server();
    for removes_prefix in [false, true] {
        let proxied = Proxied { browser: Browser::new(server.operator_url()), removes_prefix };
        assert_eq!(proxied.get("/aldaba/").location(), "/aldaba/console/");
        let login = proxied.follow(proxied.get("/aldaba/console/doctor"));
        assert_eq!(login.status, 200, "{login:?}");
        let done = proxied.submit(&login.form("post"), &[("username", EMAIL), ("password", PASSWORD)]);
        let doctor = proxied.follow(done);
        assert!(doctor.text().contains("<h1>Diagnóstico</h1>"), "back where it began: {}", doctor.text());
        let mut assets = 0;
        for page in ["", "doctor", "configuration?changed=true", "backups", "account"] {
            let shown = proxied.get(&format!("/aldaba/console/{page}"));
            assert_eq!(shown.status, 200, "{page}");
            for link in links(shown.text()) {
                assert!(link.starts_with("/aldaba/console"), "{page} links to {link}");
                if link.contains("/look/") {
                    assert_eq!(proxied.get(&link).status, 200, "{link}");
                    assets += 1;
                }
            }
        }
        assert!(assets > 0);
        let backups = proxied.get("/aldaba/console/backups");
        let started = proxied.submit(&backups.form("post"), &[("do", "start")]);
        assert_eq!(started.location(), "/aldaba/console/backups?done=backup_started");
        crate::harness::wait_for("the backup is complete", || {
            let list = proxied.get("/aldaba/console/backups?format=json").text().to_owned();
            let list: serde_json::Value = serde_json::from_str(&list).unwrap();
            (list["run"]["phase"] == "done").then_some(())
        });
        let switched = proxied.get("/aldaba/console/configuration?lang=es&q=listen");
        let switch = links(switched.text()).into_iter().find(|link| link.contains("lang=en")).unwrap();
        assert!(switch.starts_with("/aldaba/console/configuration?"), "{switch}");
    }
}

#[test]
fn api_and_probes_work_below_a_prefix() {
    let server = server();
    for path in ["/livez", "/readyz", "/metrics", "/operator/v1/openapi.json"] {
        assert_eq!(server.operator_get(path).status, 200, "{path}");
        assert_eq!(server.operator_get(&format!("{PREFIX}{path}")).status, 200, "{path}");
    }
    assert_eq!(server.operator_get("/aldabas/livez").status, 404);
    let settings = server.operator_get(&format!("{PREFIX}/operator/docs/settings.json")).json();
    assert_eq!(
        (&settings["document"], &settings["root"]),
        (&json!("../../operator/v1/openapi.json"), &json!("../../"))
    );
    let url = format!("{}{PREFIX}/operator/v1/tenants", server.operator_url());
    let made = testserver::Request::post(&url)
        .bearer(server.operator_token())
        .json(&json!({"name": "A", "id": "a"}));
    let made = made.send().expect_status(201);
    assert_eq!(made.headers["location"], "/aldaba/operator/v1/tenants/a");
}

/// The address of a sign-in, in the audit.
fn signed_in_from(server: &TestServer) -> String {
    Operator::sign_in(server, OperatorRole::Viewer);
    let browser = Browser::new(server.operator_url()).with_header("x-forwarded-for", "203.0.113.7");
    let form = browser.get("/console/login").form("post");
    browser.submit(&form, &[("username", "console-viewer@operators.example"), ("password", PASSWORD)]);
    let entries = server.operator_get("/operator/v1/audit?kind=operator_signed_in").json();
    entries["records"][0]["address"].as_str().unwrap().to_owned()
}

#[test]
fn audit_has_the_addresses_that_trusted_proxies_forward() {
    assert_eq!(signed_in_from(&TestServer::start()), "127.0.0.1");
    let trusting = TestServer::builder().set("operator.trusted_proxies", "127.0.0.0/8").start();
    assert_eq!(signed_in_from(&trusting), "203.0.113.7");
}
