//! Two nodes over three PostgreSQL servers that Patroni manages, under load, while the leader is killed, gives its place to
//! another, is cut off or lives on beside its successor. The nodes reach the leader through HAProxy, or find it themselves among
//! all members. No node is restarted during a fault.

mod patroni;

use std::time::{Duration, Instant};

use crate::load::{Load, LoadSettings};
use crate::process::{Node, NodeSettings, free_port, quiet, wait_shared};
use crate::service::{Service, Starter};
use crate::trial::{Bounds, Trial};
use crate::{Fallible, Options, Part};
use patroni::{Patroni, Place};

const NODES: usize = 2;
/// From the loss of the leader: Patroni notices after 20 s and takes a few more; a node follows a new leader within 5 s.
const BACK_MAX: Duration = Duration::from_secs(30);
/// Patroni's smallest time-to-live of a leader. The short form has less, and Patroni warns of it.
const TTL_SECONDS: u32 = 20;
const TTL_SECONDS_BOUNDED: u32 = 8;
/// A lease that nobody could renew, and a busy machine.
const SILENCE_MORE: Duration = Duration::from_secs(12);
const CALL_MORE: Duration = Duration::from_secs(10);
/// How long two leaders live beside each other: longer than the deadline of a statement, 15 s.
const TWO_LEADERS: Duration = Duration::from_secs(20);

/// What a part needs, and what happens in it.
const PARTS: &[(&str, Place, Way, Fault)] = &[
    ("kill", Place::Loopback, Way::Proxy, Fault::Kill),
    ("switchover", Place::Loopback, Way::Proxy, Fault::Switchover),
    ("hosts-kill", Place::Loopback, Way::Members, Fault::Kill),
    ("hosts-switchover", Place::Loopback, Way::Members, Fault::Switchover),
    ("hosts-two-leaders", Place::Loopback, Way::Members, Fault::TwoLeaders),
    ("partition", Place::Namespaces, Way::Proxy, Fault::Partition),
    ("hosts-partition", Place::Namespaces, Way::Members, Fault::Partition),
];

/// How the nodes reach the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Proxy,
    Members,
}

#[derive(Clone, Copy, Debug)]
enum Fault {
    Kill,
    Switchover,
    Partition,
    TwoLeaders,
}

pub(crate) async fn run(options: &Options) -> Fallible<Vec<Part>> {
    let mut parts = Vec::new();
    let mut fixture: Option<Fixture> = None;
    // The short form is one failover.
    let count = options.count(PARTS.len(), 1);
    for (_, place, way, fault) in PARTS.iter().take(count).filter(|(name, ..)| options.has_part(name)) {
        let mut current = match fixture.take().filter(|current| current.place == *place) {
            Some(current) => current,
            None => Fixture::start(options, *place, *way).await?,
        };
        if current.way != *way {
            current.change_way(*way).await?;
        }
        parts.push(current.part(options, *fault).await?);
        fixture = Some(current);
    }
    Ok(parts)
}

struct Fixture {
    trial: Trial,
    nodes: Vec<Node>,
    settings: Vec<NodeSettings>,
    starter: Starter,
    place: Place,
    way: Way,
    patroni: Patroni,
}

impl Fixture {
    async fn start(options: &Options, place: Place, way: Way) -> Fallible<Self> {
        let ttl = if options.is_bounded { TTL_SECONDS_BOUNDED } else { TTL_SECONDS };
        let patroni = Patroni::start(options, place, ttl).await?;
        let mut service = Service::new(options, &url(&patroni, way))?;
        let (mut nodes, mut all_settings) = (Vec::new(), Vec::new());
        for _ in 0..NODES {
            let mut settings = service.settings().set("delivery.share_after", "2s");
            // The same when a node starts again on another way.
            settings.ports = (free_port()?, free_port()?);
            nodes.push(service.start(&settings).await?);
            all_settings.push(settings);
        }
        let starter = service.starter();
        let targets = nodes.iter().map(Node::target).collect();
        let trial = Trial::new(service, targets, options.count(50, 10), LoadSettings::default()).await?;
        wait_shared(&nodes, trial.webhooks).await?;
        Ok(Self { trial, nodes, settings: all_settings, starter, place, way, patroni })
    }

    /// Starts the nodes again with another url of the store.
    async fn change_way(&mut self, way: Way) -> Fallible<()> {
        let url = url(&self.patroni, way);
        for (node, settings) in self.nodes.iter_mut().zip(&self.settings) {
            node.terminate().await?;
            *node = self.starter.start(&settings.clone().environment("ALDABA__STORE__URL", &url)).await?;
        }
        self.way = way;
        wait_shared(&self.nodes, self.trial.webhooks).await
    }

    async fn part(&mut self, options: &Options, fault: Fault) -> Fallible<Part> {
        let rounds = match fault {
            Fault::Kill => options.count(2, 1),
            Fault::Switchover => 3,
            Fault::Partition | Fault::TwoLeaders => 1,
        };
        let (name, what) = fault.words();
        let (way, reached) = self.way.words();
        let times = if rounds == 1 { "once".to_owned() } else { format!("{rounds} times") };
        let tried = format!("{reached} {what} Tried {times}.");
        let mut part = Part::new(&format!("{name} {way}"), tried);
        let Self { trial, patroni, .. } = self;
        let mut back = Duration::ZERO;
        trial
            .run_measured(&mut part, async |_: &Load| {
                let mut without = BACK_MAX;
                for _ in 0..rounds {
                    quiet(1).await;
                    let leader = patroni.wait_settled().await?;
                    let from = Instant::now();
                    let began = fault.begin(patroni, leader).await?;
                    trial.until_changes().await?;
                    back = back.max(began.elapsed());
                    without = without.max(BACK_MAX + (began - from));
                    // The short form ends here.
                    if !options.is_bounded {
                        fault.mend(patroni, leader)?;
                        patroni.wait_settled().await?;
                    }
                }
                quiet(1).await;
                Ok(Bounds { silence: without + SILENCE_MORE, call: without + CALL_MORE })
            })
            .await?;
        part.within(fault.counted_from(), back, BACK_MAX);
        part.none("nodes that ended", self.nodes.iter_mut().map(|node| usize::from(node.has_ended())).sum());
        Ok(part)
    }
}

impl Fault {
    /// A name, and what happens.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Kill => (
                "the leader is killed",
                "`kill -9` of the leader's Patroni and of all processes of its PostgreSQL under load. It starts again when another \
                 is the leader.",
            ),
            Self::Switchover => {
                ("the leader gives its place to another", "`/switchover` of Patroni's interface under load.")
            }
            Self::Partition => (
                "the leader is cut off",
                "The members are in network namespaces. The link of the leader's goes down: every packet between it and etcd, the \
                 other members, HAProxy and the nodes is dropped. It goes up again when another is the leader.",
            ),
            Self::TwoLeaders => (
                "the leader lives on beside its successor",
                "SIGSTOP of the leader's Patroni alone, without a watchdog: another member becomes the leader, while the old one still \
                 takes connections and writes. 20 s later Patroni goes on, and demotes it.",
            ),
        }
    }

    fn counted_from(self) -> &'static str {
        match self {
            Self::Kill | Self::Partition => "from the fault until every node has stored a change",
            Self::Switchover => "from the request until every node has stored a change",
            Self::TwoLeaders => "from the end of the fault until every node has stored a change",
        }
    }

    /// Lets the fault begin; returns when the time without a service began.
    async fn begin(self, patroni: &mut Patroni, leader: usize) -> Fallible<Instant> {
        let from = Instant::now();
        match self {
            Self::Kill => patroni.kill_member(leader)?,
            Self::Switchover => patroni.switch_over(leader).await?,
            Self::Partition => patroni.cut(leader)?,
            Self::TwoLeaders => {
                patroni.signal_patroni(leader, "STOP")?;
                patroni.wait_other_leader(leader).await?;
                tokio::time::sleep(TWO_LEADERS).await;
                patroni.signal_patroni(leader, "CONT")?;
                return Ok(Instant::now());
            }
        }
        Ok(from)
    }

    /// Brings the former leader back.
    fn mend(self, patroni: &mut Patroni, leader: usize) -> Fallible<()> {
        match self {
            Self::Kill => patroni.start_member(leader),
            Self::Partition => patroni.mend(leader),
            Self::Switchover | Self::TwoLeaders => Ok(()),
        }
    }
}

impl Way {
    /// What a part's name ends with, and how the nodes reach the leader.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Proxy => ("(HAProxy)", "The nodes reach the leader through HAProxy, which asks Patroni."),
            Self::Members => (
                "(several hosts)",
                "The nodes' url names all three servers (`?target_session_attrs=read-write`), and there is no HAProxy.",
            ),
        }
    }
}

fn url(patroni: &Patroni, way: Way) -> String {
    match way {
        Way::Proxy => patroni.url_of_proxy(),
        Way::Members => patroni.url_of_members(),
    }
}
