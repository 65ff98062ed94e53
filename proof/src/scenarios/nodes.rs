//! Three nodes over one PostgreSQL database behind HAProxy, under load to 100 webhooks, while nodes crash, stand still,
//! restart, have wrong clocks, lose the database or reach it over a bad network.

use std::fmt::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::database::Database;
use crate::http::Http;
use crate::load::{LoadSettings, Target};
use crate::process::{Node, NodeSettings, PAUSE, free_port};
use crate::proxy::{Network, Proxy};
use crate::service::Service;
use crate::trial::{Bounds, Trial};
use crate::{Fallible, Options, Part};

const NODES: usize = 3;
/// A lease lasts for the time-out of 5 s and 2.5 s more; then another node takes it. The rest is for a busy machine.
const SILENCE_MAX: Duration = Duration::from_secs(12);
const CALL_MAX: Duration = Duration::from_secs(12);
/// Longer than a lease.
const STOPPED: Duration = Duration::from_secs(20);
/// How wrong the clocks are.
const SKEW_SECONDS: i64 = 300;
const SHARED_TIMEOUT: Duration = Duration::from_secs(90);

pub(crate) async fn run(options: &Options) -> Fallible<Vec<Part>> {
    let mut parts = Vec::new();
    let mut fleet = Fleet::start(options, [0; NODES]).await?;
    // The others take too long for the short form.
    let is_wanted =
        |name: &str| options.has_part(name) && (!options.is_bounded || matches!(name, "kill" | "restart"));
    for (name, part) in [
        ("kill", Fault::Kill),
        ("stop", Fault::Stop),
        ("restart", Fault::Restart),
        ("cut", Fault::Cut),
        ("network", Fault::Network),
    ] {
        if is_wanted(name) {
            parts.push(fleet.part(options, part).await?);
        }
    }
    fleet.end().await?;
    if is_wanted("clocks") {
        let mut fleet = Fleet::start(options, [SKEW_SECONDS, -SKEW_SECONDS, 0]).await?;
        parts.push(fleet.clocks(options).await?);
        fleet.end().await?;
    }
    Ok(parts)
}

#[derive(Clone, Copy, Debug)]
enum Fault {
    Kill,
    Stop,
    Restart,
    Cut,
    Network,
}

/// The nodes, each with its own way to the database, and what stands before them.
struct Fleet {
    trial: Trial,
    /// A second handle to start nodes again.
    starter: Starter,
    nodes: Vec<Node>,
    proxies: Vec<Proxy>,
    settings: Vec<NodeSettings>,
    balancer: Balancer,
    database: Database,
}

/// Starts nodes of a service that others use.
struct Starter {
    program: String,
    folder: std::path::PathBuf,
    started: usize,
}

impl Starter {
    async fn start(&mut self, settings: &NodeSettings) -> Fallible<Node> {
        self.started += 1;
        let mut node = Node::start(&self.program, &self.folder, 10 + self.started, settings)?;
        node.wait_ready().await?;
        Ok(node)
    }
}

impl Fleet {
    /// With clocks that are wrong by so many seconds.
    async fn start(options: &Options, clocks: [i64; NODES]) -> Fallible<Self> {
        let database = Database::create(options, "nodes").await?;
        let mut service = Service::new(options, &database.url)?;
        let (mut nodes, mut proxies, mut all_settings) = (Vec::new(), Vec::new(), Vec::new());
        for wrong_by in clocks {
            let proxy = Proxy::to(&database.address()).await?;
            let mut settings = service
                .settings()
                .set("delivery.share_after", "2s")
                .environment("ALDABA__STORE__URL", &database.through(proxy.address));
            settings.ports = (free_port()?, free_port()?);
            if wrong_by != 0 {
                settings = settings
                    .environment("LD_PRELOAD", &fake_clock()?)
                    .environment("FAKETIME", &format!("{wrong_by:+}s"))
                    .environment("FAKETIME_DONT_FAKE_MONOTONIC", "1");
            }
            nodes.push(service.start(&settings).await?);
            proxies.push(proxy);
            all_settings.push(settings);
        }
        let balancer = Balancer::start(service.folder(), &nodes).await?;
        let starter =
            Starter { program: service.program.clone(), folder: service.folder().to_owned(), started: 0 };
        let webhooks = options.count(100, 20);
        let trial =
            Trial::new(service, vec![balancer.target.clone()], webhooks, LoadSettings::default()).await?;
        let fleet = Self { trial, starter, nodes, proxies, settings: all_settings, balancer, database };
        fleet.wait_shared().await?;
        Ok(fleet)
    }

    /// Waits until every node holds some webhooks, and together they hold all.
    async fn wait_shared(&self) -> Fallible<()> {
        let http = Http::new(Duration::from_secs(5))?;
        let from = Instant::now();
        loop {
            let mut held = Vec::new();
            for node in &self.nodes {
                let metrics = http.get(&format!("{}/metrics", node.operator_url), &[]).await?.text();
                let line = metrics.lines().find_map(|line| line.strip_prefix("aldaba_webhooks_held "));
                held.push(line.and_then(|text| text.trim().parse::<usize>().ok()).unwrap_or(0));
            }
            if held.iter().sum::<usize>() == self.trial.webhooks && !held.contains(&0) {
                return Ok(());
            }
            if from.elapsed() > SHARED_TIMEOUT {
                return Err(format!("the nodes hold {held:?} webhooks").into());
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn part(&mut self, options: &Options, fault: Fault) -> Fallible<Part> {
        match fault {
            Fault::Kill => self.kill(options).await,
            Fault::Stop => self.stop(options).await,
            Fault::Restart => self.restart(options).await,
            Fault::Cut => self.cut(options).await,
            Fault::Network => self.network(options).await,
        }
    }

    async fn kill(&mut self, options: &Options) -> Fallible<Part> {
        let rounds = options.count(10, 1);
        let tried = format!(
            "Three nodes behind HAProxy, {} webhooks. `kill -9` of one node under load, and a new start ten seconds later, {rounds} times in turn.",
            self.trial.webhooks
        );
        let mut part = Part::new("a node is killed", tried);
        let Self { trial, nodes, starter, settings, .. } = self;
        let bounds = Bounds { silence: SILENCE_MAX, call: CALL_MAX };
        trial
            .run(&mut part, bounds, async || {
                quiet(2).await;
                for round in 0..rounds {
                    let place = round % NODES;
                    nodes[place].kill();
                    quiet(10).await;
                    nodes[place] = starter.start(&settings[place]).await?;
                    quiet(3).await;
                }
                Ok(())
            })
            .await?;
        Ok(part)
    }

    async fn stop(&mut self, options: &Options) -> Fallible<Part> {
        let rounds = options.count(5, 1);
        let tried = format!(
            "SIGSTOP of one node for {} s under load, longer than a lease, then SIGCONT; {rounds} times in turn. The node wakes up with leases that others hold.",
            STOPPED.as_secs()
        );
        let mut part = Part::new("a node stands still", tried);
        let Self { trial, nodes, .. } = self;
        let bounds = Bounds { silence: SILENCE_MAX, call: STOPPED };
        trial
            .run(&mut part, bounds, async || {
                quiet(2).await;
                for round in 0..rounds {
                    let node = &nodes[round % NODES];
                    node.signal("STOP")?;
                    tokio::time::sleep(STOPPED).await;
                    node.signal("CONT")?;
                    quiet(5).await;
                }
                Ok(())
            })
            .await?;
        Ok(part)
    }

    async fn restart(&mut self, options: &Options) -> Fallible<Part> {
        let rounds = options.count(5, 1);
        let tried =
            format!("Every node in turn gets SIGTERM and starts again when it has ended; {rounds} times.");
        let mut part = Part::new("rolling restart", tried);
        let Self { trial, nodes, starter, settings, .. } = self;
        let bounds = Bounds { silence: Duration::from_secs(5), call: Duration::from_secs(5) };
        let mut longest = Duration::ZERO;
        trial
            .run(&mut part, bounds, async || {
                quiet(2).await;
                for round in 0..rounds * NODES {
                    let place = round % NODES;
                    longest = longest.max(nodes[place].terminate().await?);
                    nodes[place] = starter.start(&settings[place]).await?;
                    // HAProxy looks every half second.
                    quiet(3).await;
                }
                Ok(())
            })
            .await?;
        part.within("longest orderly end of a node", longest, Duration::from_secs(15));
        Ok(part)
    }

    /// A node that loses the database must stop delivering before another node may, and say 503 with the reason.
    async fn cut(&mut self, options: &Options) -> Fallible<Part> {
        let rounds = options.count(3, 1);
        let tried = format!(
            "All packets between one node and PostgreSQL are dropped for 30 s under load, {rounds} times in turn; the other nodes go on."
        );
        let mut part = Part::new("a node loses the database", tried);
        let Self { trial, nodes, proxies, .. } = self;
        let bounds = Bounds { silence: SILENCE_MAX, call: Duration::from_secs(40) };
        let (http, mut unready, mut reasons) = (Http::new(Duration::from_secs(3))?, 0, Vec::new());
        trial
            .run(&mut part, bounds, async || {
                quiet(2).await;
                for round in 0..rounds {
                    let (node, proxy) = (&nodes[round % NODES], &proxies[round % NODES]);
                    proxy.set(Network::Silent);
                    tokio::time::sleep(Duration::from_secs(15)).await;
                    let ready = http.get(&format!("{}/readyz", node.operator_url), &[]).await?;
                    if ready.status == 503 {
                        unready += 1;
                        reasons.push(ready.text());
                    }
                    tokio::time::sleep(Duration::from_secs(15)).await;
                    proxy.set(Network::Good);
                    quiet(10).await;
                }
                Ok(())
            })
            .await?;
        let reason = reasons.first().cloned().unwrap_or_default().replace(['\n', '\r'], " ");
        let said = format!(
            "{unready} of {rounds} times, 15 s after the cut: {}",
            reason.chars().take(160).collect::<String>()
        );
        part.holds_that("the node's /readyz answers 503 with a reason", unready == rounds, said);
        Ok(part)
    }

    async fn network(&mut self, options: &Options) -> Fallible<Part> {
        let span = options.span(Duration::from_secs(60), Duration::from_secs(8));
        let tried = format!(
            "For {} s every piece between all nodes and PostgreSQL takes 20 ms longer, and two in a hundred 220 ms, as long as a lost packet takes until it is sent again (by a proxy: the kernel here has no netem).",
            span.as_secs()
        );
        let mut part = Part::new("slow and lossy network to the database", tried);
        let Self { trial, proxies, .. } = self;
        let bounds = Bounds { silence: SILENCE_MAX, call: CALL_MAX };
        trial
            .run(&mut part, bounds, async || {
                for proxy in proxies.iter() {
                    proxy.set(Network::Bad { delay: Duration::from_millis(20), lost_percent: 2 });
                }
                tokio::time::sleep(span).await;
                for proxy in proxies.iter() {
                    proxy.set(Network::Good);
                }
                quiet(2).await;
                Ok(())
            })
            .await?;
        Ok(part)
    }

    async fn clocks(&mut self, options: &Options) -> Fallible<Part> {
        let rounds = options.count(3, 1);
        let tried = format!(
            "One node's clock is {SKEW_SECONDS} s ahead, another's {SKEW_SECONDS} s behind (libfaketime). `kill -9` of one node under load and a new start ten seconds later, {rounds} times in turn."
        );
        let mut part = Part::new("clocks five minutes apart", tried);
        let Self { trial, nodes, starter, settings, .. } = self;
        let bounds = Bounds { silence: SILENCE_MAX, call: CALL_MAX };
        trial
            .run(&mut part, bounds, async || {
                quiet(2).await;
                for round in 0..rounds {
                    let place = round % NODES;
                    nodes[place].kill();
                    quiet(10).await;
                    nodes[place] = starter.start(&settings[place]).await?;
                    quiet(3).await;
                }
                Ok(())
            })
            .await?;
        Ok(part)
    }

    async fn end(self) -> Fallible<()> {
        drop((self.nodes, self.balancer, self.proxies));
        self.database.drop().await
    }
}

/// The library that gives a process another clock. Debian's `faketime` command would stand between us and the process.
fn fake_clock() -> Fallible<String> {
    let folders = std::fs::read_dir("/usr/lib")?.flatten().map(|entry| entry.path());
    let mut files =
        folders.map(|folder| folder.join("faketime/libfaketime.so.1")).filter(|file| file.exists());
    let file = files.next().ok_or("the package faketime is not installed")?;
    Ok(file.display().to_string())
}

async fn quiet(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

/// HAProxy before the public and the operator's listeners of all nodes.
struct Balancer {
    child: Child,
    target: Target,
}

impl Balancer {
    async fn start(folder: &std::path::Path, nodes: &[Node]) -> Fallible<Self> {
        let (public, operator) = (free_port()?, free_port()?);
        let mut text = String::from(
            "global\n  maxconn 4000\ndefaults\n  mode http\n  timeout connect 2s\n  timeout client 60s\n  timeout server 60s\n  \
             retries 3\n  option redispatch\n  retry-on conn-failure empty-response\n  option httpchk GET /readyz\n",
        );
        for (name, port, is_public) in [("public", public, true), ("operator", operator, false)] {
            let _ = writeln!(text, "listen {name}\n  bind 127.0.0.1:{port}");
            for (number, node) in nodes.iter().enumerate() {
                let check = node.operator_url.rsplit(':').next().unwrap_or_default();
                let url = if is_public { &node.public_url } else { &node.operator_url };
                let address = url.trim_start_matches("http://");
                let _ = writeln!(
                    text,
                    "  server n{number} {address} check port {check} inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions"
                );
            }
        }
        let file = folder.join("haproxy.cfg");
        std::fs::write(&file, text)?;
        let child = Command::new("/usr/sbin/haproxy")
            .args(["-db", "-f"])
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("haproxy: {error}"))?;
        let url = |port| format!("http://127.0.0.1:{port}");
        let balancer =
            Self { child, target: Target { public_url: url(public), operator_url: url(operator) } };
        let (http, from) = (Http::new(Duration::from_secs(2))?, Instant::now());
        while !http
            .get(&format!("{}/livez", balancer.target.public_url), &[])
            .await
            .is_ok_and(|ok| ok.status == 200)
        {
            if from.elapsed() > Duration::from_secs(20) {
                return Err("HAProxy does not answer".into());
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(balancer)
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
