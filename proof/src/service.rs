//! An installation with a tenant, an application and a user, and the nodes that serve it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::{Answer, Http};
use crate::load::Target;
use crate::process::{Node, NodeSettings, PAUSE};
use crate::sign_in::{Application, CALLBACK, PASSWORD, Tokens, text};
use crate::{Fallible, Options};

pub(crate) const TENANT: &str = "proof";
pub(crate) const COMPANY: &str = "5b0e2f0e-2f8a-4c4e-9d53-6f2b8c1a7e10";
pub(crate) const EMAIL: &str = "proof@example.com";
pub(crate) const SECRET: &str = "a secret of the proof";
/// The events of the load's changes.
const CHANGES: &[&str] = &["Svc.ACC.Customers.CustomerCreated", "Svc.ACC.Customers.CustomerUpdated"];
const ACTIVE_TIMEOUT: Duration = Duration::from_secs(120);

/// A configured store, what it holds, and how nodes are started on it.
pub(crate) struct Service {
    pub(crate) program: String,
    folder: tempfile::TempDir,
    pub(crate) operator_token: String,
    pub(crate) application: Application,
    /// The subscription key.
    pub(crate) key: String,
    pub(crate) http: Http,
    settings: NodeSettings,
    started: usize,
}

impl Service {
    /// On SQLite where the url is empty.
    pub(crate) fn new(options: &Options, store_url: &str) -> Fallible<Self> {
        let folder = tempfile::tempdir()?;
        let store = if store_url.is_empty() {
            format!("sqlite:{}", folder.path().join("aldaba.db").display())
        } else {
            store_url.to_owned()
        };
        let program = options.program.clone();
        let run = |arguments: &[&str], input: &str| command(&program, folder.path(), arguments, input);
        run(&["init", ".", "--base-url", "http://127.0.0.1:8080", "--store", &store], "")?;
        run(&["tenant", "add", "Proof", "--id", TENANT], "")?;
        run(&["user", "add", EMAIL, "--given-name", "Prueba", "--tenant", TENANT], &format!("{PASSWORD}\n"))?;
        let client: Value = serde_json::from_str(&run(
            &["client", "add", "Proof", "--redirect-uri", CALLBACK, "--json"],
            "",
        )?)?;
        let key: Value = serde_json::from_str(&run(
            &[
                "key",
                "add",
                "Proof",
                "--product",
                "accounting",
                "--product",
                "payroll",
                "--product",
                "invoicing",
                "--json",
            ],
            "",
        )?)?;
        let application =
            Application { id: text(&client["client_id"])?, secret: text(&client["client_secret"])? };
        let operator_token = std::fs::read_to_string(folder.path().join("operator.token"))?.trim().to_owned();
        let settings = NodeSettings::default()
            .set("gateway.rate_per_minute", "0")
            .set("egress.loopback", "true")
            .set("egress.accept_loopback", "true");
        Ok(Self {
            program,
            folder,
            operator_token,
            application,
            key: text(&key["primary_key"])?,
            http: Http::new(Duration::from_secs(20))?,
            settings,
            started: 0,
        })
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What every node is started with: plain receivers on this machine, and no limit of calls.
    pub(crate) fn settings(&self) -> NodeSettings {
        self.settings.clone()
    }

    /// Runs a command of the program beside the nodes, and returns its standard output.
    pub(crate) fn command(&self, arguments: &[&str], input: &str) -> Fallible<String> {
        command(&self.program, self.folder(), arguments, input)
    }

    /// Starts a node and waits until it is ready.
    pub(crate) async fn start(&mut self, settings: &NodeSettings) -> Fallible<Node> {
        let mut node = self.spawn(settings)?;
        node.wait_ready().await?;
        Ok(node)
    }

    /// Starts a node without waiting.
    pub(crate) fn spawn(&mut self, settings: &NodeSettings) -> Fallible<Node> {
        self.started += 1;
        Node::start(&self.program, self.folder.path(), self.started, settings)
    }

    /// Starts nodes again while others use the service.
    pub(crate) fn starter(&self) -> Starter {
        Starter { program: self.program.clone(), folder: self.folder().to_owned(), started: 0 }
    }

    /// Signs the user in and stores the company that all records belong to.
    pub(crate) async fn prepare(&self, target: &Target) -> Fallible<Tokens> {
        let line = company_line("Bodegas Peñalver S.L.");
        self.send_lines(&target.operator_url, &line, "company").await?.expect(200)?;
        self.application.sign_in(&self.http, &target.public_url, EMAIL).await
    }

    /// Sends changes as lines under an Idempotency-Key.
    pub(crate) async fn send_lines(&self, operator_url: &str, lines: &str, key: &str) -> Fallible<Answer> {
        self.send_lines_to(&self.http, TENANT, operator_url, lines, key).await
    }

    /// The same for any tenant, with a client of one's own.
    pub(crate) async fn send_lines_to(
        &self,
        http: &Http,
        tenant: &str,
        operator_url: &str,
        lines: &str,
        key: &str,
    ) -> Fallible<Answer> {
        let url = format!("{operator_url}/operator/v1/tenants/{tenant}/changes");
        let bearer = format!("Bearer {}", self.operator_token);
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/x-ndjson"),
            ("idempotency-key", key),
        ];
        http.post(&url, &headers, lines.to_owned()).await
    }

    /// Subscribes to the customers' changes for each url, and waits until every receiver has accepted.
    pub(crate) async fn subscribe(
        &self,
        public_url: &str,
        token: &str,
        urls: &[String],
    ) -> Fallible<Vec<String>> {
        let mut ids = Vec::with_capacity(urls.len());
        for url in urls {
            ids.push(self.subscribe_one(public_url, token, url, CHANGES).await?);
        }
        let from = Instant::now();
        loop {
            let all = self.call("GET", public_url, token, "customers/webhooks", "").await?.json();
            let active = all.as_array().into_iter().flatten().filter(|one| one["isActive"] == true).count();
            if active >= urls.len() {
                return Ok(ids);
            }
            if from.elapsed() > ACTIVE_TIMEOUT {
                return Err(format!("{active} of {} webhooks became active", urls.len()).into());
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Subscribes without waiting for the handshake, and returns the webhook's id.
    pub(crate) async fn subscribe_one(
        &self,
        public_url: &str,
        token: &str,
        url: &str,
        event_types: &[&str],
    ) -> Fallible<String> {
        let body = json!({
            "thirdPartyApplicationName": "Proof", "url": url, "secret": SECRET, "eventTypes": event_types,
        });
        let answer =
            self.call("POST", public_url, token, "customers/webhooks/subscribe", &body.to_string()).await?;
        let subscribed = answer.json();
        // 3 means that the webhook exists.
        if subscribed["responseState"] != 3 {
            return Err(format!("{}: {}", answer.status, answer.text()).into());
        }
        text(&subscribed["webhookId"])
    }

    /// Registers another application.
    pub(crate) async fn add_application(&self, operator_url: &str) -> Fallible<Application> {
        let body = json!({ "name": "Another", "redirectUris": [CALLBACK] });
        let added = self.administer("POST", operator_url, "clients", &body).await?;
        Ok(Application { id: text(&added["client"]["id"])?, secret: text(&added["clientSecret"])? })
    }

    /// Calls the accounting API.
    pub(crate) async fn call(
        &self,
        method: &str,
        public_url: &str,
        token: &str,
        path: &str,
        body: &str,
    ) -> Fallible<Answer> {
        self.call_by(&self.http, method, public_url, token, path, body).await
    }

    /// The same with a client of one's own.
    pub(crate) async fn call_by(
        &self,
        http: &Http,
        method: &str,
        public_url: &str,
        token: &str,
        path: &str,
        body: &str,
    ) -> Fallible<Answer> {
        let bearer = format!("Bearer {token}");
        let context = json!({ "clientId": COMPANY }).to_string();
        // Webhooks belong to no company.
        let context = if path.contains("/webhooks") { "none" } else { &context };
        let headers = [
            ("authorization", bearer.as_str()),
            ("ocp-apim-subscription-key", self.key.as_str()),
            ("content-type", "application/json"),
            ("context", context),
        ];
        let url = format!("{public_url}/accounting/api/{path}");
        http.send(method, &url, &headers, body.to_owned().into()).await
    }

    /// Calls the operator API.
    pub(crate) async fn administer(
        &self,
        method: &str,
        operator_url: &str,
        path: &str,
        body: &Value,
    ) -> Fallible<Value> {
        let bearer = format!("Bearer {}", self.operator_token);
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        let url = format!("{operator_url}/operator/v1/{path}");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = self.http.send(method, &url, &headers, body.into()).await?;
        if answer.status.is_success() { Ok(answer.json()) } else { Err(answer.text().into()) }
    }
}

/// The line that stores the company under a name. No webhook of the load hears of it.
pub(crate) fn company_line(name: &str) -> String {
    json!({
        "area": "accounting", "resource": "companies", "action": "upsert", "correlationId": COMPANY,
        "data": {"vatName": name, "vatNumber": "B12345674", "chartOfAccountId": 1, "accountLength": 12},
        "user": "maria", "sourceInterface": "ERP", "sourceAction": "Alta",
    })
    .to_string()
}

/// Starts nodes of a service that others use.
#[derive(Debug)]
pub(crate) struct Starter {
    program: String,
    folder: PathBuf,
    started: usize,
}

impl Starter {
    pub(crate) async fn start(&mut self, settings: &NodeSettings) -> Fallible<Node> {
        self.started += 1;
        let mut node = Node::start(&self.program, &self.folder, 10 + self.started, settings)?;
        node.wait_ready().await?;
        Ok(node)
    }
}

fn command(program: &str, folder: &Path, arguments: &[&str], input: &str) -> Fallible<String> {
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{program}: {error}"))?;
    child.stdin.take().ok_or("no input")?.write_all(input.as_bytes())?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{arguments:?} ended with {}: {why}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
