//! Three nodes over one PostgreSQL database behind HAProxy, under load to 100 webhooks, while nodes crash, stand still,
//! restart, have wrong clocks, lose the database, their packets or their network, and while the access of an application ends.

mod access;
mod networks;

use std::time::Duration;

use crate::balancer::Balancer;
use crate::database::Database;
use crate::http::Http;
use crate::load::LoadSettings;
use crate::process::{Node, NodeSettings, free_port, quiet, wait_shared};
use crate::proxy::{Network, Proxy};
use crate::receivers::Receivers;
use crate::service::{Service, Starter};
use crate::trial::{Bounds, Trial};
use crate::{Fallible, Options, Part};
use networks::Networks;

const NODES: usize = 3;
/// A lease lasts for the time-out of 5 s and 2.5 s more; then another node takes it. The rest is for a busy machine.
const SILENCE_MAX: Duration = Duration::from_secs(12);
const CALL_MAX: Duration = Duration::from_secs(12);
/// How long a lease lasts after its last renewal.
const LEASE: Duration = Duration::from_millis(7500);
const DELIVERIES: &str = "aldaba_deliveries_total ";
/// Longer than a lease.
const STOPPED: Duration = Duration::from_secs(20);
/// How wrong the clocks are.
const SKEW_SECONDS: i64 = 300;

pub(crate) async fn run(options: &Options) -> Fallible<Vec<Part>> {
    let mut parts = Vec::new();
    // The others take too long for the short form.
    let is_wanted = |name: &str| {
        options.has_part(name) && (!options.is_bounded || matches!(name, "kill" | "restart" | "access"))
    };
    let faults: Vec<Fault> =
        FAULTS.iter().filter(|(name, _)| is_wanted(name)).map(|(_, fault)| *fault).collect();
    if !faults.is_empty() {
        let mut fleet = Fleet::start(options, [0; NODES], Place::Loopback).await?;
        for fault in faults {
            parts.push(fleet.part(options, fault).await?);
        }
        fleet.end().await?;
    }
    if is_wanted("clocks") {
        let mut fleet = Fleet::start(options, [SKEW_SECONDS, -SKEW_SECONDS, 0], Place::Loopback).await?;
        parts.push(fleet.clocks(options).await?);
        fleet.end().await?;
    }
    if is_wanted("loss") || is_wanted("isolation") {
        let mut fleet = Fleet::start(options, [0; NODES], Place::Networks).await?;
        if is_wanted("loss") {
            parts.push(fleet.loss(options).await?);
        }
        if is_wanted("isolation") {
            parts.push(fleet.isolation(options).await?);
        }
        fleet.end().await?;
    }
    Ok(parts)
}

const FAULTS: [(&str, Fault); 6] = [
    ("kill", Fault::Kill),
    ("stop", Fault::Stop),
    ("restart", Fault::Restart),
    ("cut", Fault::Cut),
    ("network", Fault::Network),
    // Last: its application and its webhooks stay.
    ("access", Fault::Access),
];

#[derive(Clone, Copy, Debug)]
enum Fault {
    Kill,
    Stop,
    Restart,
    Cut,
    Network,
    Access,
}

/// Where the nodes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Loopback,
    /// Each on a network of its own.
    Networks,
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
    networks: Option<Networks>,
}

impl Fleet {
    /// With clocks that are wrong by so many seconds.
    async fn start(options: &Options, clocks: [i64; NODES], place: Place) -> Fallible<Self> {
        let database = Database::create(options, "nodes").await?;
        let mut service = Service::new(options, &database.url)?;
        let receivers = Receivers::open().await?;
        let networks = match place {
            Place::Loopback => None,
            Place::Networks => Some(Networks::create(&receivers).await?),
        };
        let (mut nodes, mut proxies, mut all_settings) = (Vec::new(), Vec::new(), Vec::new());
        for (number, wrong_by) in clocks.into_iter().enumerate() {
            let outside = networks.as_ref().map_or_else(|| "127.0.0.1".to_owned(), Networks::outside);
            let proxy = Proxy::between(&format!("{outside}:0"), &database.address()).await?;
            let mut url = database.through(proxy.address);
            if networks.is_some() {
                // The service wants TLS to a server that is not on its own machine.
                url.push_str(if url.contains('?') { "&sslmode=disable" } else { "?sslmode=disable" });
            }
            let mut settings =
                service.settings().set("delivery.share_after", "2s").environment("ALDABA__STORE__URL", &url);
            settings.ports = (free_port()?, free_port()?);
            if let Some(networks) = &networks {
                settings = networks.apply_to(settings, number);
            }
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
        let starter = service.starter();
        let webhooks = options.count(100, 20);
        let targets = vec![balancer.target.clone()];
        let trial =
            Trial::with_receivers(service, receivers, targets, webhooks, LoadSettings::default()).await?;
        let fleet =
            Self { trial, starter, nodes, proxies, settings: all_settings, balancer, database, networks };
        wait_shared(&fleet.nodes, fleet.trial.webhooks).await?;
        Ok(fleet)
    }

    async fn part(&mut self, options: &Options, fault: Fault) -> Fallible<Part> {
        match fault {
            Fault::Kill => self.kill(options).await,
            Fault::Stop => self.stop(options).await,
            Fault::Restart => self.restart(options).await,
            Fault::Cut => self.cut(options).await,
            Fault::Network => self.network(options).await,
            Fault::Access => self.access(options).await,
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
            "All packets between one node and PostgreSQL are dropped for 30 s under load, {rounds} times in turn; the other nodes go on. {} s after the cut, when another node may take its leases, the node's own count of deliveries must stand still.",
            LEASE.as_secs_f32()
        );
        let mut part = Part::new("a node loses the database", tried);
        let Self { trial, nodes, proxies, .. } = self;
        let bounds = Bounds { silence: SILENCE_MAX, call: Duration::from_secs(40) };
        let http = Http::new(Duration::from_secs(12))?;
        let (mut reasons, mut refusals, mut deliveries, mut late) = (Vec::new(), Vec::new(), 0, 0);
        trial
            .run(&mut part, bounds, async || {
                let token = trial.sign_in().await?.swap_remove(0).access;
                quiet(2).await;
                for round in 0..rounds {
                    let (node, proxy) = (&nodes[round % NODES], &proxies[round % NODES]);
                    proxy.set(Network::Silent);
                    tokio::time::sleep(LEASE).await;
                    let before = node.metric(&http, DELIVERIES).await?;
                    tokio::time::sleep(LEASE).await;
                    let ready = http.get(&format!("{}/readyz", node.operator_url), &[]).await?;
                    reasons.extend((ready.status == 503).then(|| ready.text()));
                    // Another page each time: none that the node may have in memory.
                    let path = format!("customers?pageSize={}", 11 + round);
                    let read =
                        trial.service.call_by(&http, "GET", &node.public_url, &token, &path, "").await?;
                    let code = read.json()["code"].as_str().unwrap_or_default().to_owned();
                    refusals.extend((read.status == 503 && !code.is_empty()).then_some(code));
                    tokio::time::sleep(Duration::from_secs(12)).await;
                    deliveries += before;
                    late += node.metric(&http, DELIVERIES).await? - before;
                    proxy.set(Network::Good);
                    quiet(10).await;
                }
                Ok(())
            })
            .await?;
        part.tell("deliveries of the cut nodes before their leases ended", deliveries);
        part.none("deliveries of a cut node after its lease could be taken", late);
        let said = |texts: &[String]| {
            let first = texts.first().cloned().unwrap_or_default().replace(['\n', '\r'], " ");
            let first: String = first.chars().take(160).collect();
            format!("{} of {rounds} times, 15 s after the cut: {first}", texts.len())
        };
        let has_reason = reasons.len() == rounds && reasons.iter().all(|text| text.contains("store"));
        part.holds_that("the node's /readyz answers 503 with a reason", has_reason, said(&reasons));
        let is_refused = refusals.len() == rounds;
        part.holds_that("a read at the node is answered with 503 and a code", is_refused, said(&refusals));
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
