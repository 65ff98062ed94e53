//! Two nodes over one PostgreSQL server, under load, while the server restarts, crashes, stands still, has no connection left,
//! has no room left or takes no writes. No node is restarted.

use std::time::{Duration, Instant};

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, NoTls};

use crate::database::execute;
use crate::load::{Load, LoadSettings};
use crate::postgres::Cluster;
use crate::process::{Node, wait_shared};
use crate::service::Service;
use crate::trial::{Bounds, Trial};
use crate::{Fallible, Options, Part};

const NODES: usize = 2;
/// After the fault: a lease of 7.5 s that nobody could renew, and 3 s until the store works again. The rest is for a busy
/// machine.
const SILENCE_MORE: Duration = Duration::from_secs(12);
const CALL_MORE: Duration = Duration::from_secs(10);
/// The store works again within 3 s of its server; a client's call may just have begun to wait 5 s for a connection.
const BACK_MAX: Duration = Duration::from_secs(10);
/// How long all connections may take to be taken.
const CROWDED_TIMEOUT: Duration = Duration::from_secs(30);
/// Room for the server, its log and a few minutes of load.
const DISK_MIB: u32 = 160;

pub(crate) async fn run(options: &Options) -> Fallible<Vec<Part>> {
    let mut parts = Vec::new();
    let names = ["restart", "crash", "pause", "connections", "read-only", "disk"];
    let mut fixture: Option<Fixture> = None;
    for name in names.into_iter().filter(|name| options.has_part(name)) {
        // The short form has one server for all parts.
        let disk_mib = (name == "disk" || options.is_bounded).then_some(DISK_MIB);
        let mut current = match fixture.take().filter(|current| current.disk_mib == disk_mib) {
            Some(current) => current,
            None => Fixture::start(options, disk_mib).await?,
        };
        parts.push(current.part(options, name).await?);
        fixture = Some(current);
    }
    Ok(parts)
}

struct Fixture {
    trial: Trial,
    nodes: Vec<Node>,
    /// The size of the server's disk, if it is a small one.
    disk_mib: Option<u32>,
    /// How long the load goes on before and after a fault.
    calm: Duration,
    cluster: Cluster,
}

impl Fixture {
    async fn start(options: &Options, disk_mib: Option<u32>) -> Fallible<Self> {
        let cluster = Cluster::start(options, disk_mib).await?;
        let mut service = Service::new(options, &cluster.url())?;
        let settings = service.settings().set("delivery.share_after", "2s");
        let mut nodes = Vec::new();
        for _ in 0..NODES {
            nodes.push(service.start(&settings).await?);
        }
        let targets = nodes.iter().map(Node::target).collect();
        let trial = Trial::new(service, targets, options.count(50, 10), LoadSettings::default()).await?;
        wait_shared(&nodes, trial.webhooks).await?;
        let calm = options.span(secs(2), Duration::from_millis(500));
        Ok(Self { trial, nodes, disk_mib, calm, cluster })
    }

    async fn part(&mut self, options: &Options, name: &str) -> Fallible<Part> {
        match name {
            "restart" => self.restart(options).await,
            "crash" => self.crash(options).await,
            "pause" => self.pause(options).await,
            "connections" => self.connections(options).await,
            "read-only" => self.read_only(options).await,
            _ => self.disk(options).await,
        }
    }

    async fn restart(&mut self, options: &Options) -> Fallible<Part> {
        let rounds = options.count(5, 1);
        let tried = format!(
            "Two nodes and {} webhooks. The server stops (`pg_ctl stop -m fast`) and starts again under load, {rounds} times.",
            self.trial.webhooks
        );
        self.fault("the server restarts", tried, rounds, async |cluster, _| {
            cluster.stop_server("fast")?;
            cluster.start_server().await
        })
        .await
    }

    async fn crash(&mut self, options: &Options) -> Fallible<Part> {
        let (rounds, down) = (options.count(6, 2), options.span(secs(5), secs(1)));
        let tried = format!(
            "The server ends without a checkpoint, in turn by an immediate shutdown and by `kill -9` of the postmaster, stays \
             down for {} s and recovers from its log; {rounds} times.",
            down.as_secs()
        );
        self.fault("the server crashes", tried, rounds, async |cluster, round| {
            if round % 2 == 0 {
                cluster.stop_server("immediate")?;
            } else {
                cluster.kill()?;
            }
            tokio::time::sleep(down).await;
            cluster.start_server().await
        })
        .await
    }

    async fn pause(&mut self, options: &Options) -> Fallible<Part> {
        let span = options.span(secs(60), secs(8));
        let tried = format!(
            "SIGSTOP of all processes of the server for {} s under load, then SIGCONT. Its sockets stay open and take requests, \
             which it answers when it goes on.",
            span.as_secs()
        );
        self.fault("the server stands still", tried, 1, async |cluster, _| {
            cluster.freeze()?;
            tokio::time::sleep(span).await;
            cluster.thaw()
        })
        .await
    }

    async fn connections(&mut self, options: &Options) -> Fallible<Part> {
        let span = options.span(secs(20), secs(3));
        let tried = format!(
            "Others take every connection that the server has, those of the nodes too (their sessions are terminated), and give \
             all back after {} s.",
            span.as_secs()
        );
        let mut taken = 0;
        let part = self
            .fault("no connection is left", tried, 1, async |cluster, _| {
                let crowd = take_connections(cluster).await?;
                taken = crowd.len();
                tokio::time::sleep(span).await;
                Ok(())
            })
            .await;
        let mut part = part?;
        part.tell("connections that others held", taken);
        Ok(part)
    }

    async fn read_only(&mut self, options: &Options) -> Fallible<Part> {
        let span = options.span(secs(20), secs(3));
        let tried = format!(
            "`default_transaction_read_only` is on for {} s: the server answers reads and refuses every write.",
            span.as_secs()
        );
        self.fault("the server takes no writes", tried, 1, async |cluster, _| {
            let admin = cluster.admin_url();
            execute(&admin, "ALTER SYSTEM SET default_transaction_read_only = on").await?;
            execute(&admin, "SELECT pg_reload_conf()").await?;
            tokio::time::sleep(span).await;
            execute(&admin, "ALTER SYSTEM RESET default_transaction_read_only").await?;
            execute(&admin, "SELECT pg_reload_conf()").await
        })
        .await
    }

    async fn disk(&mut self, options: &Options) -> Fallible<Part> {
        let span = options.span(secs(20), secs(4));
        let tried = format!(
            "All data of the server, its log included, lie on a disk of {DISK_MIB} MiB (tmpfs). Something else takes all free room \
             for {} s. If the server has ended by then, it is started again, as an operator would.",
            span.as_secs()
        );
        let mut has_ended = false;
        let part = self
            .fault("the server's disk is full", tried, 1, async |cluster, _| {
                cluster.fill_disk()?;
                tokio::time::sleep(span).await;
                cluster.free_disk()?;
                has_ended = !cluster.is_running()?;
                if has_ended { cluster.start_server().await } else { Ok(()) }
            })
            .await;
        let mut part = part?;
        part.tell("the server ended by itself", if has_ended { "yes" } else { "no" });
        Ok(part)
    }

    /// Lets a fault happen under load some times. `fault` gets the round, and returns when the fault is over.
    async fn fault(
        &mut self,
        name: &str,
        tried: String,
        rounds: usize,
        mut fault: impl AsyncFnMut(&Cluster, usize) -> Fallible<()>,
    ) -> Fallible<Part> {
        let mut part = Part::new(name, tried);
        let Self { trial, nodes, calm, cluster, .. } = self;
        let (mut outage, mut back, mut ready) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
        let outcome = trial
            .run_measured(&mut part, async |_: &Load| {
                for round in 0..rounds {
                    tokio::time::sleep(*calm).await;
                    let from = Instant::now();
                    fault(cluster, round)
                        .await
                        .map_err(|error| format!("{error}\n{}", cluster.log_tail()))?;
                    outage = outage.max(from.elapsed());
                    let over = Instant::now();
                    back = back.max(trial.until_changes().await?);
                    for node in nodes.iter_mut() {
                        node.wait_ready().await?;
                    }
                    ready = ready.max(over.elapsed());
                    tokio::time::sleep(*calm).await;
                }
                Ok(Bounds { silence: outage + SILENCE_MORE, call: outage + CALL_MORE })
            })
            .await?;
        part.holds_that(
            "the nodes noticed",
            outcome.repeated > 0 || outage < secs(2),
            format!("{} attempts failed", outcome.repeated),
        );
        part.tell("longest fault", format!("{:.1} s", outage.as_secs_f64()));
        part.within("from its end until every node has stored a change", back, BACK_MAX);
        part.within("from its end until every node says that it is ready", ready, BACK_MAX);
        part.none("nodes that ended", nodes.iter_mut().map(|node| usize::from(node.has_ended())).sum());
        Ok(part)
    }
}

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Takes all connections of the server as a superuser, until none is left and the service has none.
async fn take_connections(cluster: &Cluster) -> Fallible<Vec<Client>> {
    const END_OTHERS: &str =
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'aldaba'";
    let (url, from, mut taken) = (cluster.admin_url(), Instant::now(), Vec::<Client>::new());
    while from.elapsed() < CROWDED_TIMEOUT {
        match tokio_postgres::connect(&url, NoTls).await {
            Ok((client, connection)) => {
                tokio::spawn(connection);
                taken.push(client);
            }
            Err(error) if error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS) => {
                let first = taken.first().ok_or("the server has no connection at all")?;
                if first.query(END_OTHERS, &[]).await?.is_empty() {
                    return Ok(taken);
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err("the connections of the nodes could not be taken".into())
}
