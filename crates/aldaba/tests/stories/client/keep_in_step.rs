//! `examples/keep-in-step` as its user runs it: `kill -9` of either side under load, and in the end the copy is the source.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use aldaba_client::api::Api;
use aldaba_client::sign_in::{AuthorizationRequest, SignIn, StaticToken};
use aldaba_client::{Resource, Secret};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Browser, Call, Dev, Door, Program, Running, act, company, customer, until};

/// The application's program lies beside ours: `cargo test --workspace` builds both.
fn program() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_aldaba")).with_file_name("keep-in-step");
    assert!(program.is_file(), "{} is not there: cargo build --package keep-in-step", program.display());
    program
}

/// The first of four ports that nobody has, below those that the system hands out, so that they are free again after
/// a fall, too.
fn quiet_ports() -> u16 {
    let first = 20_000 + u16::try_from(std::process::id() % 10_000).unwrap();
    let is_free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    let mut found = (first..32_000).step_by(4).chain((10_000..20_000).step_by(4));
    found.find(|port| (*port..port + 4).all(is_free)).unwrap()
}

/// The service and the application, each of which can fall and be started again where it was.
struct Stage {
    folder: TempDir,
    dev: Dev,
    app: Running,
    app_port: u16,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let first = quiet_ports();
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
        self.dev.running.kill();
    }

    /// At the address where it was before.
    fn start_service(&mut self) {
        let listen = self.dev.text("base_url").trim_start_matches("http://").to_owned();
        self.dev = service(&self.folder, &listen, self.app_port);
        assert_eq!(self.dev.text("base_url"), format!("http://{listen}"));
    }

    fn user(&self) -> &Value {
        let users = self.dev.ready["users"].as_array().unwrap();
        users.iter().find(|user| user["tenants"].as_array().unwrap().len() == 1).unwrap()
    }

    fn door(&self) -> Door {
        let tenant = self.user()["tenants"][0].as_str().unwrap();
        Door::new(self.dev.text("operator_url"), self.dev.text("operator_token"), tenant)
    }

    /// Goes through the application's own pages.
    fn sign_in(&self) {
        let app = Browser::new(&self.app_url());
        let sent = app.get("/sign-in");
        assert_eq!(sent.status, 303, "{sent:?}");
        let query = self.called_back(sent.location());
        let back = app.get(&format!("/callback?{query}"));
        assert_eq!((back.status, back.location()), (303, "/"), "{back:?}");
        let stranger = Browser::new(&self.app_url()).get(&format!("/callback?{query}"));
        assert_eq!(stranger.status, 400, "another browser cannot finish it");
    }

    /// What the user's browser brings back from a sign-in that begins at this address.
    fn called_back(&self, url: &str) -> String {
        let service = Browser::new(self.dev.text("auth_url"));
        let page = service.settle(service.get(url));
        let text = |name: &str| self.user()[name].as_str().unwrap();
        let filled = [("username", text("email")), ("password", text("password"))];
        let page = service.settle(service.submit(&page.form("post"), &filled));
        let (_, query) = page.location().split_once('?').unwrap_or_else(|| panic!("{page:?}"));
        query.to_owned()
    }

    /// Disables the application's webhook, as its owner may: what happens from then on is never delivered.
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
        assert_eq!(silenced.unwrap(), 1, "however often it was started, it has one webhook");
    }

    fn copy(&self, company: &str) -> BTreeMap<String, Value> {
        let reply = Call::get(&format!("{}/copy.json", self.app_url())).send();
        assert_eq!(reply.status, 200, "{reply:?}");
        serde_json::from_value(reply.json()[company].clone()).unwrap_or_default()
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

fn application(folder: &TempDir, ready: &Value, port: u16) -> Running {
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
    let mut running = Running::start(command);
    until("the application to listen", || {
        assert!(!running.has_ended(), "it ended: {}", running.stderr());
        running.stderr().contains("listening on").then_some(())
    });
    running
}

/// What the copy must be: every customer, with its last name and state.
#[derive(Default)]
struct Source(BTreeMap<String, (String, &'static str)>);

impl Source {
    /// Some more changes: new customers, old ones renamed, one disabled.
    fn change(&mut self, door: &Door, round: usize) {
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
            lines.push(act("customers", "c", &id, "disable"));
            self.0.entry(id).and_modify(|(_, state)| *state = "Disabled");
        }
        let count = u64::try_from(lines.len()).unwrap();
        assert_eq!(door.send_lines(&lines).counts(), (count, 0));
    }

    /// Waits until the copy is the same.
    #[track_caller]
    fn is_copied(&self, stage: &Stage) {
        let expected: BTreeMap<&String, Value> =
            self.0.iter().map(|(id, (name, state))| (id, json!([name, state]))).collect();
        let mut last = BTreeMap::new();
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            until("the copy to be the source", || {
                last = stage.copy("c");
                let told: BTreeMap<&String, Value> =
                    last.iter().map(|(id, one)| (id, json!([one["tradeName"], one["state"]]))).collect();
                (told == expected).then_some(())
            });
        }));
        assert!(
            found.is_ok(),
            "{} of {} are there; it says: {}",
            last.len(),
            expected.len(),
            stage.app.stderr()
        );
    }
}

#[test]
fn the_copy_is_the_source_whoever_is_killed() {
    let mut stage = Stage::new();
    let mut source = Source::default();
    stage.door().send_lines(&[company("c")]);
    source.change(&stage.door(), 0);
    stage.sign_in();
    source.is_copied(&stage);

    // Deliveries alone, while both are well.
    source.change(&stage.door(), 1);
    source.is_copied(&stage);

    // The application falls in the middle of what is delivered to it, and more happens while it is away.
    source.change(&stage.door(), 2);
    stage.kill_application();
    source.change(&stage.door(), 3);
    stage.start_application();
    source.change(&stage.door(), 4);

    // The service falls with deliveries under way; the application asks until it is back.
    stage.kill_service();
    stage.start_service();
    source.change(&stage.door(), 5);
    source.is_copied(&stage);

    // Both at once.
    source.change(&stage.door(), 6);
    stage.kill_service();
    stage.kill_application();
    stage.start_service();
    source.change(&stage.door(), 7);
    stage.start_application();
    source.is_copied(&stage);

    // What was never delivered is in the feed: the application finds it there when it starts.
    stage.kill_application();
    stage.silence_webhook();
    source.change(&stage.door(), 8);
    stage.start_application();
    source.is_copied(&stage);

    let page = Call::get(&format!("{}/", stage.app_url())).send();
    assert!(page.text().contains("Panadería Ñandú"), "{page:?}");
    let customers = source.0.len();
    assert!(page.text().contains(&format!("<td>{customers}")), "{}", page.text());
}
