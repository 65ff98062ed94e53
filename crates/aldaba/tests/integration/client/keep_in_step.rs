//! `examples/keep-in-step` as a user runs it: after `kill -9` of either side under load, the copy equals the source.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use aldaba_client::api::Api;
use aldaba_client::sign_in::{AuthorizationRequest, SignIn, StaticToken};
use aldaba_client::{Resource, Secret};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{
    Browser, Dev, HttpRequest, IngestClient, Program, RunningProcess, change_line, company, customer,
    free_ports, wait_for,
};

/// The example's binary, in the same folder as this test's: `cargo test --workspace` builds both.
fn program() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_aldaba")).with_file_name("keep-in-step");
    assert!(program.is_file(), "{} is not there: cargo build --package keep-in-step", program.display());
    program
}

/// The service and the application. Each can be killed and restarted at the same address.
struct KeepInStepFixture {
    folder: TempDir,
    dev: Dev,
    app: RunningProcess,
    app_port: u16,
}

impl KeepInStepFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let first = free_ports(4);
        let (listen, app_port) = (format!("127.0.0.1:{first}"), first + 3);
        let dev = service(&folder, &listen, app_port);
        let app = application(&folder, &dev.ready, app_port);
        Self { folder, dev, app, app_port }
    }

    fn app_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.app_port)
    }

    fn kill_application(&mut self) {
        self.app.kill();
    }

    fn start_application(&mut self) {
        self.app = application(&self.folder, &self.dev.ready, self.app_port);
    }

    fn kill_service(&mut self) {
        self.dev.process.kill();
    }

    /// Restarts at the same address.
    fn start_service(&mut self) {
        let listen = self.dev.text("base_url").trim_start_matches("http://").to_owned();
        self.dev = service(&self.folder, &listen, self.app_port);
        assert_eq!(self.dev.text("base_url"), format!("http://{listen}"));
    }

    fn user(&self) -> &Value {
        let users = self.dev.ready["users"].as_array().unwrap();
        users.iter().find(|user| user["tenants"].as_array().unwrap().len() == 1).unwrap()
    }

    fn ingest_client(&self) -> IngestClient {
        let tenant = self.user()["tenants"][0].as_str().unwrap();
        IngestClient::new(self.dev.text("operator_url"), self.dev.text("operator_token"), tenant)
    }

    /// Signs in through the application's own pages.
    fn sign_in(&self) {
        let app = Browser::new(&self.app_url());
        let sent = app.get("/sign-in");
        assert_eq!(sent.status, 303, "{sent:?}");
        let query = self.called_back(sent.location());
        let back = app.get(&format!("/callback?{query}"));
        assert_eq!((back.status, back.location()), (303, "/"), "{back:?}");
        let other_browser = Browser::new(&self.app_url()).get(&format!("/callback?{query}"));
        assert_eq!(other_browser.status, 400, "another browser cannot finish the sign-in");
    }

    /// The callback URL that a browser gets from a sign-in that starts at this URL.
    fn called_back(&self, url: &str) -> String {
        let service = Browser::new(self.dev.text("auth_url"));
        let page = service.follow_redirects(service.get(url));
        let text = |name: &str| self.user()[name].as_str().unwrap();
        let filled = [("username", text("email")), ("password", text("password"))];
        let page = service.follow_redirects(service.submit(&page.form("post"), &filled));
        let (_, query) = page.location().split_once('?').unwrap_or_else(|| panic!("{page:?}"));
        query.to_owned()
    }

    /// Disables the application's webhook, so that later changes are not delivered.
    fn silence_webhook(&self) {
        let ready = &self.dev.ready;
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let [id, secret, back] =
            ["client_id", "client_secret", "redirect_uri"].map(|name| text(&ready["client"][name]));
        let sign_in = SignIn::new(self.dev.text("auth_url"), &id, Secret::new(secret), &back).unwrap();
        let started = sign_in.start(&AuthorizationRequest::accounting());
        let callback = self.called_back(&started.url);
        let silenced = tokio::runtime::Runtime::new().unwrap().block_on(async {
            let token = StaticToken(sign_in.finish(&started.pending, &callback).await?.tokens.access_token);
            let key = Secret::new(text(&ready["subscription"]["primary_key"]));
            let hooks = Api::new(self.dev.text("base_url"), key, token)?.webhooks(Resource::customers());
            let all = hooks.list().await?;
            for hook in &all {
                hooks.disable(hook.id).await?;
            }
            Ok::<_, aldaba_client::Error>(all.len())
        });
        assert_eq!(silenced.unwrap(), 1, "it has one webhook, however often it was started");
    }

    fn copy(&self, company: &str) -> BTreeMap<String, Value> {
        let response = HttpRequest::get(&format!("{}/copy.json", self.app_url())).send();
        assert_eq!(response.status, 200, "{response:?}");
        serde_json::from_value(response.json()[company].clone()).unwrap_or_default()
    }
}

fn service(folder: &TempDir, listen: &str, app_port: u16) -> Dev {
    let data = folder.path().join("service");
    let back = format!("http://localhost:{app_port}/callback");
    Dev::run(Program::new(&["dev", "--json", "--empty", "--listen", listen]).with(&[
        "--data",
        data.to_str().unwrap(),
        "--redirect-uri",
        &back,
        "--set",
        "delivery.schedule=200ms",
    ]))
}

fn application(folder: &TempDir, ready: &Value, port: u16) -> RunningProcess {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let listen = format!("127.0.0.1:{port}");
    let mut command = Command::new(program());
    command
        .env("LISTEN", &listen)
        .env("REDIRECT_URI", format!("http://localhost:{port}/callback"))
        .env("RECEIVER_URL", format!("http://{listen}/hooks"))
        .env("COPY", folder.path().join("copy.db"))
        .env("WEBHOOK_SECRET", "un secreto ñ")
        .env("BASE_URL", text(&ready["base_url"]))
        .env("AUTH_URL", text(&ready["auth_url"]))
        .env("CLIENT_ID", text(&ready["client"]["client_id"]))
        .env("CLIENT_SECRET", text(&ready["client"]["client_secret"]))
        .env("SUBSCRIPTION_KEY", text(&ready["subscription"]["primary_key"]));
    let mut process = RunningProcess::start(command);
    wait_for("the application to listen", || {
        assert!(!process.has_exited(), "the process exited: {}", process.stderr());
        process.stderr().contains("listening on").then_some(())
    });
    process
}

/// The expected copy: every customer with its last name and state.
#[derive(Default)]
struct Source(BTreeMap<String, (String, &'static str)>);

impl Source {
    /// Creates, renames and disables customers.
    fn change(&mut self, ingest: &IngestClient, round: usize) {
        let mut lines = Vec::new();
        for number in 0..20 {
            let (id, name) = (format!("{round}-{number} ñ"), format!("Cliente {round}"));
            lines.push(customer("c", &id, &name));
            self.0.insert(id, (name, "Enabled"));
        }
        if round > 0 {
            for number in 0..10 {
                let (id, name) = (format!("{}-{number} ñ", round - 1), format!("Renombrado {round}"));
                lines.push(customer("c", &id, &name));
                self.0.insert(id, (name, "Enabled"));
            }
            let id = format!("{}-19 ñ", round - 1);
            lines.push(change_line("customers", "c", &id, "disable"));
            self.0.entry(id).and_modify(|(_, state)| *state = "Disabled");
        }
        let count = u64::try_from(lines.len()).unwrap();
        assert_eq!(ingest.send_lines(&lines).counts(), (count, 0));
    }

    /// Waits until the copy equals the source.
    #[track_caller]
    fn wait_until_copied(&self, fixture: &KeepInStepFixture) {
        let expected: BTreeMap<&String, Value> =
            self.0.iter().map(|(id, (name, state))| (id, json!([name, state]))).collect();
        let mut last = BTreeMap::new();
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            wait_for("the copy to equal the source", || {
                last = fixture.copy("c");
                let actual: BTreeMap<&String, Value> =
                    last.iter().map(|(id, one)| (id, json!([one["tradeName"], one["state"]]))).collect();
                (actual == expected).then_some(())
            });
        }));
        assert!(
            found.is_ok(),
            "{} of {} are copied; the application's output: {}",
            last.len(),
            expected.len(),
            fixture.app.stderr()
        );
    }
}

#[test]
fn copy_equals_source_after_kills_of_either_side() {
    let mut fixture = KeepInStepFixture::new();
    let mut source = Source::default();
    fixture.ingest_client().send_lines(&[company("c")]);
    source.change(&fixture.ingest_client(), 0);
    fixture.sign_in();
    source.wait_until_copied(&fixture);

    // Deliveries only, while both run.
    source.change(&fixture.ingest_client(), 1);
    source.wait_until_copied(&fixture);

    // The application is killed during deliveries, and changes continue while it is down.
    source.change(&fixture.ingest_client(), 2);
    fixture.kill_application();
    source.change(&fixture.ingest_client(), 3);
    fixture.start_application();
    source.change(&fixture.ingest_client(), 4);

    // The service is killed during deliveries; the application retries until it is back.
    fixture.kill_service();
    fixture.start_service();
    source.change(&fixture.ingest_client(), 5);
    source.wait_until_copied(&fixture);

    // Both at once.
    source.change(&fixture.ingest_client(), 6);
    fixture.kill_service();
    fixture.kill_application();
    fixture.start_service();
    source.change(&fixture.ingest_client(), 7);
    fixture.start_application();
    source.wait_until_copied(&fixture);

    // The application finds undelivered changes in the feed when it starts.
    fixture.kill_application();
    fixture.silence_webhook();
    source.change(&fixture.ingest_client(), 8);
    fixture.start_application();
    source.wait_until_copied(&fixture);

    let page = HttpRequest::get(&format!("{}/", fixture.app_url())).send();
    assert!(page.text().contains("Panadería Ñandú"), "{page:?}");
    let customers = source.0.len();
    assert!(page.text().contains(&format!("<td>{customers}")), "{}", page.text());
}
