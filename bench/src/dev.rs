//! The program in its development mode, which allows receivers on this machine, with an application that subscribes.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::database::Database;
use crate::rows::company_line;
use crate::sign_in::{Application, CALLBACK};
use crate::wire::Target;
use crate::{Fallible, Options, wire};

const SUBSCRIBERS: usize = 32;

pub(crate) struct DevServer {
    child: Child,
    _folder: tempfile::TempDir,
    public: SocketAddr,
    operator: SocketAddr,
    token: String,
    key: String,
    client: String,
    user: (String, String),
    /// One per application.
    access_tokens: Vec<String>,
    pub(crate) changes: Target,
}

impl DevServer {
    pub(crate) async fn start(options: &Options, database: &Database) -> Fallible<Self> {
        let folder = tempfile::tempdir()?;
        let mut command = Command::new(&options.program);
        command.args(["dev", "--json", "--empty", "--listen", "127.0.0.1:0", "--data"]).arg(folder.path());
        command.args(["--set", "operator.listen=127.0.0.1:0", "--set", "delivery.webhooks_max=200000"]);
        if database.is_postgres() {
            command.args(["--store", &database.url]);
        }
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        let ready: Value = serde_json::from_str(&line)?;
        let text =
            |value: &Value| value.as_str().map(ToOwned::to_owned).ok_or_else(|| format!("not ready: {line}"));
        let address =
            |url: &Value| -> Fallible<SocketAddr> { Ok(text(url)?.trim_start_matches("http://").parse()?) };
        let (public, operator) = (address(&ready["base_url"])?, address(&ready["operator_url"])?);
        let users = ready["users"].as_array().ok_or("no users")?;
        let user = users.iter().find(|user| user["tenants"].as_array().is_some_and(|all| all.len() == 1));
        let user = user.ok_or("no user with one tenant")?;
        let (tenant, token) = (text(&user["tenants"][0])?, text(&ready["operator_token"])?);
        let application = Application {
            client: text(&ready["client"]["client_id"])?,
            secret: text(&ready["client"]["client_secret"])?,
            email: text(&user["email"])?,
            password: text(&user["password"])?,
        };
        let client = application.client.clone();
        let user = (application.email.clone(), application.password.clone());
        let access_tokens = vec![application.sign_in(public).await?.access_token().await?];
        let changes = Target {
            address: operator.to_string(),
            path: format!("/operator/v1/tenants/{tenant}/changes"),
            token: token.clone(),
        };
        let key = text(&ready["subscription"]["primary_key"])?;
        let dev = Self {
            child,
            _folder: folder,
            public,
            operator,
            token,
            key,
            client,
            user,
            access_tokens,
            changes,
        };
        wire::stream(&dev.changes, Duration::from_secs(1), &[(company_line() + "\n").into_bytes()]).await?;
        Ok(dev)
    }

    /// Subscribes to new customers for each of these urls, and waits until every handshake is accepted.
    pub(crate) async fn subscribe(&self, urls: &[String]) -> Fallible<()> {
        self.send_subscriptions(urls).await?;
        let from = Instant::now();
        let mut stream = TcpStream::connect(self.public).await?;
        loop {
            let active = self.call(&mut stream, 0, "GET", "", "").await?.matches("\"isActive\":true").count();
            if active >= urls.len() {
                return Ok(());
            }
            if from.elapsed() > Duration::from_secs(300) {
                return Err(format!("{active} of {} webhooks became active", urls.len()).into());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Adds this many applications that subscribe in turn: a real application has some hundred webhooks, not a hundred thousand.
    pub(crate) async fn add_applications(&mut self, count: usize) -> Fallible<()> {
        for number in 0..count {
            let body = json!({ "name": format!("Bench {number}"), "redirectUris": [CALLBACK] });
            let response = self.administer("POST", "clients", &body).await?;
            let text = |value: &Value| value.as_str().map(ToOwned::to_owned).ok_or("no client");
            let (email, password) = self.user.clone();
            let (client, secret) = (text(&response["client"]["id"])?, text(&response["clientSecret"])?);
            let signed_in = Application { client, secret, email, password }.sign_in(self.public).await?;
            self.access_tokens.push(signed_in.access_token().await?);
        }
        Ok(())
    }

    /// Subscribes without waiting for the handshakes.
    pub(crate) async fn send_subscriptions(&self, urls: &[String]) -> Fallible<()> {
        let next = std::cell::Cell::new(0);
        let work = (0..SUBSCRIBERS.min(urls.len())).map(|_| async {
            let mut stream = TcpStream::connect(self.public).await?;
            loop {
                let number = next.replace(next.get() + 1);
                let Some(url) = urls.get(number) else { return Ok::<_, Box<dyn std::error::Error>>(()) };
                let body = json!({
                    "thirdPartyApplicationName": url, "url": url, "secret": "a secret of the bench",
                    "eventTypes": ["Svc.ACC.Customers.CustomerCreated"],
                });
                let response = self.call(&mut stream, number, "POST", "subscribe", &body.to_string()).await?;
                if !response.contains("\"responseState\":3") {
                    return Err(response.into());
                }
            }
        });
        for done in futures_util::future::join_all(work).await {
            done?;
        }
        Ok(())
    }

    async fn call(
        &self,
        stream: &mut TcpStream,
        number: usize,
        method: &str,
        operation: &str,
        body: &str,
    ) -> Fallible<String> {
        let path = format!("/accounting/api/customers/webhooks/{operation}");
        let request = format!(
            "{method} {} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\nocp-apim-subscription-key: {}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            path.trim_end_matches('/'),
            self.public,
            self.access_tokens[number % self.access_tokens.len()],
            self.key,
            body.len()
        );
        stream.write_all(request.as_bytes()).await?;
        let mut buffer = vec![0; 256 * 1024];
        Ok(String::from_utf8(wire::response(stream, &mut buffer).await?.to_vec())?)
    }

    /// Pauses or resumes the application's webhooks; events wait while they are paused.
    pub(crate) async fn set_paused(&self, is_paused: bool) -> Fallible<()> {
        let body = json!({ "standing": if is_paused { "disabled" } else { "active" } });
        self.administer("PATCH", &format!("clients/{}", self.client), &body).await?;
        if is_paused {
            // Deliveries in flight have ended by then.
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        Ok(())
    }

    /// Calls the operator API.
    async fn administer(&self, method: &str, what: &str, body: &Value) -> Fallible<Value> {
        let body = body.to_string();
        let mut stream = TcpStream::connect(self.operator).await?;
        let request = format!(
            "{method} /operator/v1/{what} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.operator,
            self.token,
            body.len()
        );
        stream.write_all(request.as_bytes()).await?;
        let mut buffer = vec![0; 64 * 1024];
        let response = wire::response(&mut stream, &mut buffer).await?;
        if !response.starts_with(b"HTTP/1.1 20") {
            return Err(String::from_utf8_lossy(response).into());
        }
        let from = wire::find(response, b"\r\n\r\n").map_or(response.len(), |at| at + 4);
        Ok(serde_json::from_slice(&response[from..])?)
    }

    pub(crate) fn resident_mib(&self) -> Fallible<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
    }

    /// The share of one core that the program uses during `span`.
    pub(crate) async fn core_share(&self, span: Duration) -> Fallible<f64> {
        let ticks = || -> Fallible<f64> {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
            let fields = stat.rsplit_once(')').ok_or("no stat")?.1;
            let fields: Vec<&str> = fields.split_whitespace().collect();
            let at =
                |place: usize| fields.get(place).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
            Ok(at(11) + at(12))
        };
        let before = ticks()?;
        tokio::time::sleep(span).await;
        // Linux counts 100 ticks per second.
        Ok((ticks()? - before) / 100.0 / span.as_secs_f64())
    }
}

impl Drop for DevServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
