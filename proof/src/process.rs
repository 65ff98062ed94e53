//! A running `aldaba serve`, which can be killed, stopped and continued.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Fallible;
use crate::http::Http;
use crate::load::Target;

const START_TIMEOUT: Duration = Duration::from_secs(60);
const SHARED_TIMEOUT: Duration = Duration::from_secs(90);
/// Between two looks at something that is about to happen.
pub(crate) const PAUSE: Duration = Duration::from_millis(20);

/// One process of the service.
pub(crate) struct Node {
    child: Child,
    pub(crate) public_url: String,
    pub(crate) operator_url: String,
    log: PathBuf,
}

/// How a node is started.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeSettings {
    /// Ports of the two listeners; free ones are chosen where they are 0.
    pub(crate) ports: (u16, u16),
    /// The address of both; loopback where it is empty.
    pub(crate) host: String,
    /// Configuration keys and values.
    pub(crate) set: Vec<(String, String)>,
    pub(crate) environment: Vec<(String, String)>,
    /// A program with its arguments that starts the node, such as `prlimit`.
    pub(crate) wrapper: Vec<String>,
}

impl NodeSettings {
    /// Replaces an earlier value.
    pub(crate) fn set(mut self, key: &str, value: &str) -> Self {
        self.set.retain(|(other, _)| other != key);
        self.set.push((key.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }
}

impl Node {
    /// Starts a node without waiting until it is ready.
    pub(crate) fn start(
        program: &str,
        folder: &Path,
        number: usize,
        settings: &NodeSettings,
    ) -> Fallible<Self> {
        let port = |port: u16| if port == 0 { free_port() } else { Ok(port) };
        let (public, operator) = (port(settings.ports.0)?, port(settings.ports.1)?);
        let host = if settings.host.is_empty() { "127.0.0.1" } else { &settings.host };
        let (public, operator) = (format!("{host}:{public}"), format!("{host}:{operator}"));
        let log = folder.join(format!("node-{number}.log"));
        let file = File::options().create(true).append(true).open(&log)?;
        let mut words = settings.wrapper.iter().map(String::as_str).chain([program]);
        let mut command = Command::new(words.next().unwrap_or(program));
        command.args(words).args(["serve", "--listen", &public, "--operator-listen", &operator]);
        for (key, value) in &settings.set {
            command.args(["--set", &format!("{key}={value}")]);
        }
        command.envs(settings.environment.iter().cloned());
        let child =
            command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(file).spawn()?;
        let (public_url, operator_url) = (format!("http://{public}"), format!("http://{operator}"));
        Ok(Self { child, public_url, operator_url, log })
    }

    pub(crate) fn target(&self) -> Target {
        Target { public_url: self.public_url.clone(), operator_url: self.operator_url.clone() }
    }

    /// The value of a metric whose line begins with this.
    pub(crate) async fn metric(&self, http: &Http, name: &str) -> Fallible<usize> {
        let metrics = http.get(&format!("{}/metrics", self.operator_url), &[]).await?.text();
        let value = metrics.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        value.ok_or_else(|| format!("/metrics has no {name}").into())
    }

    /// Waits for `/readyz`; returns how long that took.
    pub(crate) async fn wait_ready(&mut self) -> Fallible<Duration> {
        let (http, from) = (Http::new(Duration::from_secs(2))?, Instant::now());
        loop {
            let is_ready = self.is_ready(&http).await;
            // Asked after the answer: another process may have given it.
            if let Some(status) = self.child.try_wait()? {
                return Err(format!("the node ended with {status}: {}", self.log_tail()).into());
            }
            if is_ready {
                return Ok(from.elapsed());
            }
            if from.elapsed() > START_TIMEOUT {
                return Err(format!("the node is not ready: {}", self.log_tail()).into());
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    pub(crate) async fn is_ready(&self, http: &Http) -> bool {
        let ready = http.get(&format!("{}/readyz", self.operator_url), &[]).await;
        ready.is_ok_and(|answer| answer.status == 200)
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// `kill -9`, and waits until the process has ended.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Sends a signal by its name, such as `STOP`.
    pub(crate) fn signal(&self, name: &str) -> Fallible<()> {
        signal(self.child.id(), name)
    }

    /// SIGTERM; waits until the process has ended, and returns how long that took.
    pub(crate) async fn terminate(&mut self) -> Fallible<Duration> {
        let from = Instant::now();
        self.signal("TERM")?;
        while self.child.try_wait()?.is_none() {
            if from.elapsed() > START_TIMEOUT {
                return Err(format!("the node does not end: {}", self.log_tail()).into());
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(from.elapsed())
    }

    /// Whether the process has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_some())
    }

    pub(crate) fn resident_mib(&self) -> Fallible<f64> {
        resident_mib(self.child.id())
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// The last lines of the log, for a message.
    pub(crate) fn log_tail(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(8)..].join("\n")
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // A stopped process cannot be killed by some wrappers before it continues.
        let _ = self.signal("CONT");
        self.kill();
    }
}

/// Lets the load go on for a while.
pub(crate) async fn quiet(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

/// Waits until every node holds some webhooks, and together they hold all.
pub(crate) async fn wait_shared(nodes: &[Node], webhooks: usize) -> Fallible<()> {
    let (http, from) = (Http::new(Duration::from_secs(5))?, Instant::now());
    loop {
        let mut held = Vec::new();
        for node in nodes {
            held.push(node.metric(&http, "aldaba_webhooks_held ").await.unwrap_or(0));
        }
        if held.iter().sum::<usize>() == webhooks && !held.contains(&0) {
            return Ok(());
        }
        if from.elapsed() > SHARED_TIMEOUT {
            return Err(format!("the nodes hold {held:?} webhooks").into());
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The memory of a process.
pub(crate) fn resident_mib(process: u32) -> Fallible<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").trim().parse::<f64>()? / 1024.0)
}

pub(crate) fn signal(process: u32, name: &str) -> Fallible<()> {
    if signal_all(&[process], name)? { Ok(()) } else { Err(format!("kill -{name} {process} failed").into()) }
}

/// The same for several processes at once; false where one of them was gone.
pub(crate) fn signal_all(processes: &[u32], name: &str) -> Fallible<bool> {
    let mut command = Command::new("kill");
    command.arg(format!("-{name}")).args(processes.iter().map(ToString::to_string));
    Ok(command.stderr(Stdio::null()).status()?.success())
}

/// The processes that a process started and that still run.
pub(crate) fn children_of(parent: u32) -> Fallible<Vec<u32>> {
    let mut children = Vec::new();
    for entry in std::fs::read_dir("/proc")?.flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // The name is in parentheses and may contain anything; the state and the parent follow it.
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        if fields.split_whitespace().nth(1).and_then(|text| text.parse().ok()) == Some(parent) {
            children.push(process);
        }
    }
    Ok(children)
}

/// A port that nothing listens on. Outgoing connections take others: these lie below their range.
pub(crate) fn free_port() -> Fallible<u16> {
    use std::sync::atomic::{AtomicU16, Ordering};
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 20_000 + u16::try_from(std::process::id() % 100)? * 100;
    for _ in 0..1000 {
        let port = first + NEXT.fetch_add(1, Ordering::Relaxed) % 1000;
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    Err("no free port".into())
}
