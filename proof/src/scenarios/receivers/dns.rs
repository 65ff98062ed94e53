//! Names that misbehave: the service runs in a network in which every address leads to one listener, and asks a name server
//! of the proof. Nothing allows private addresses.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::attempts::{self, AttemptFindings};
use super::bench::{ATTEMPT_MAX, Bench, RECOVERY_MAX, tell_load};
use super::latency::{self, latencies};
use super::name_cases::{CASES_ZONE, Case, PUBLIC_V4, PUBLIC_V6, Works, cases, good_answer, is_public};
use super::name_server::NameServer;
use super::own_network;
use super::raw::{OK_AND_CLOSE, serve_requests};
use crate::load::LoadSettings;
use crate::receivers::Receivers;
use crate::{Fallible, Options, Part};

const HTTPS: u16 = 443;
/// Webhooks whose names are always good, and webhooks whose receivers have an address instead of a name.
const GOOD_NAMES: usize = 5;
const LOAD: LoadSettings = LoadSettings {
    writers: 4,
    records_per_writer: 5,
    changes_per_second: 5,
    reads_per_second: 5,
    refreshes_per_second: 0,
};
/// What attempts say while no name server answers.
const NO_NAME_SERVER: &[&str] = &["timed out resolving the name", "its name servers do not answer"];
/// What nobody may subscribe to.
const REFUSED_URLS: &[&str] = &[
    "https://127.0.0.1/0",
    "https://127.1/0",
    "https://2130706433/0",
    "https://0x7f.1/0",
    "https://localhost/0",
    "https://a.localhost/0",
    "https://0.0.0.0/0",
    "https://10.0.0.5/0",
    "https://172.16.0.5/0",
    "https://192.168.0.5/0",
    "https://100.64.0.5/0",
    "https://169.254.169.254/0",
    "https://168.63.129.16/0",
    "https://[::1]/0",
    "https://[::]/0",
    "https://[::ffff:127.0.0.1]/0",
    "https://[::ffff:169.254.169.254]/0",
    "https://[64:ff9b::7f00:1]/0",
    "https://[2002:7f00:1::]/0",
    "https://[fd00::1]/0",
    "https://[fe80::1]/0",
];

pub(super) async fn run(options: &Options) -> Fallible<Vec<Part>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("resolv.conf");
    std::fs::write(&file, "nameserver 127.0.0.1\n")?;
    own_network::prepare(&file)?;
    let names = NameServer::open().await?;
    let bench = Bench::start(options, false, LOAD).await?;
    let world = World::open(&bench).await?;
    let mut parts = vec![refused_subscriptions(&bench, &names, &world).await?];
    let field = Field::subscribe(bench, names, world).await?;
    parts.push(field.bad_names(options).await?);
    parts.push(field.silence(options).await?);
    Ok(parts)
}

/// The listener at every address of the network.
struct World {
    /// Connections to addresses that are not those of the good receivers.
    strays: Arc<Mutex<Vec<IpAddr>>>,
}

impl World {
    async fn open(bench: &Bench) -> Fallible<Self> {
        let names = [format!("*.{CASES_ZONE}"), PUBLIC_V4.to_string(), PUBLIC_V6.to_string()];
        let acceptor = bench.authority.acceptor(&names, None)?;
        let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, HTTPS)).await?;
        let strays = Arc::new(Mutex::new(Vec::new()));
        tokio::spawn(accept(listener, acceptor, bench.receivers.clone(), strays.clone()));
        let world = Self { strays };
        world.try_out().await?;
        Ok(world)
    }

    /// Shows that the listener notices who comes to a private address.
    async fn try_out(&self) -> Fallible<()> {
        let private = ["10.0.0.5", "127.0.0.1", "169.254.169.254", "::1", "fd00::1", "::ffff:127.0.0.1"];
        for address in private {
            drop(TcpStream::connect((address.parse::<IpAddr>()?, HTTPS)).await?);
        }
        let from = Instant::now();
        while self.strays.lock().len() < private.len() {
            if from.elapsed() > Duration::from_secs(5) {
                return Err(format!("only {:?} were noticed", self.strays.lock()).into());
            }
            tokio::time::sleep(crate::process::PAUSE).await;
        }
        self.strays.lock().clear();
        Ok(())
    }

    fn tell_strays(&self, part: &mut Part) {
        let strays = self.strays.lock();
        if !strays.is_empty() {
            eprintln!("    connections to {strays:?}");
        }
        part.none("connections to an address that is not public", strays.len());
    }
}

async fn accept(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    receivers: Receivers,
    strays: Arc<Mutex<Vec<IpAddr>>>,
) {
    while let Ok((stream, _)) = listener.accept().await {
        let Ok(address) = stream.local_addr().map(|local: SocketAddr| local.ip().to_canonical()) else {
            continue;
        };
        if !is_public(address) {
            strays.lock().push(address);
            continue;
        }
        let (acceptor, receivers) = (acceptor.clone(), receivers.clone());
        tokio::spawn(async move {
            // Every delivery needs a connection, and so the name, again.
            let stream = acceptor.accept(stream).await?;
            serve_requests(stream, &receivers, OK_AND_CLOSE, std::future::pending()).await
        });
    }
}

/// Subscriptions that are not accepted: nothing is ever sent to their receivers.
async fn refused_subscriptions(bench: &Bench, names: &NameServer, world: &World) -> Fallible<Part> {
    let mut urls: Vec<String> = REFUSED_URLS.iter().map(|url| (*url).to_owned()).collect();
    for case in cases().into_iter().filter(Case::is_refused_at_subscription) {
        names.set(&case.host(), case.answer.clone());
        urls.push(format!("https://{}/0", case.host()));
    }
    let tried = format!(
        "{} subscriptions whose receiver is a private address, in every spelling, or a name that leads to one or to nothing. Every \
         address of the network leads to a listener that counts connections.",
        urls.len()
    );
    let mut part = Part::new("subscriptions to private addresses", tried);
    let mut accepted = Vec::new();
    for url in &urls {
        let events = ["Svc.ACC.Customers.CustomerCreated"];
        let (public_url, token) = (&bench.target.public_url, &bench.tokens.access);
        if bench.service.subscribe_one(public_url, token, url, &events).await.is_ok() {
            accepted.push(url);
        }
    }
    if !accepted.is_empty() {
        eprintln!("    accepted: {accepted:?}");
    }
    part.none("subscriptions that were accepted", accepted.len());
    world.tell_strays(&mut part);
    Ok(part)
}

/// The webhooks: those of the cases first, then those with good names, then those with addresses.
struct Field {
    bench: Bench,
    names: NameServer,
    world: World,
    cases: Vec<Case>,
    ids: Vec<String>,
}

impl Field {
    async fn subscribe(bench: Bench, names: NameServer, world: World) -> Fallible<Self> {
        let cases = cases();
        let mut hosts: Vec<String> = cases.iter().map(Case::host).collect();
        hosts.extend((0..GOOD_NAMES).map(|number| format!("good-{number}.{CASES_ZONE}")));
        for host in &hosts {
            names.set(host, good_answer());
        }
        hosts.extend([PUBLIC_V4.to_string(), format!("[{PUBLIC_V6}]")]);
        let urls: Vec<String> =
            hosts.iter().enumerate().map(|(webhook, host)| format!("https://{host}/{webhook}")).collect();
        let ids = bench.subscribe(&urls).await?;
        Ok(Self { bench, names, world, cases, ids })
    }

    async fn bad_names(&self, options: &Options) -> Fallible<Part> {
        let span = options.span(Duration::from_secs(40), Duration::from_secs(7));
        let (bench, cases) = (&self.bench, self.cases.len());
        let tried = format!(
            "{cases} webhooks whose receivers' names are answered badly for {} s (errors, silence, nonsense, loops, private addresses in \
             every form, a public and a private address in turn) after they were good at the handshake, beside {} whose names or \
             addresses are good. Every delivery asks for the name again. Then all names are good.",
            span.as_secs(),
            self.ids.len() - cases,
        );
        let mut part = Part::new("names that misbehave", tried);
        let quiet_span = options.span(Duration::from_secs(15), Duration::from_secs(3));
        let quiet = bench.quietly(quiet_span, self.ids.len()).await?;
        let is_good = |webhook| webhook >= cases;
        let quiet = latencies(&quiet.ledger.acknowledged(), &bench.receivers.arrivals(), is_good);
        let began = Instant::now();
        for case in &self.cases {
            self.names.set(&case.host(), case.answer.clone());
        }
        let load = bench.under_load(async || wait(span).await).await?;
        self.tell_attempts(&mut part).await?;
        self.tell_arrivals(&mut part);
        let misbehaved = began.elapsed();
        for case in &self.cases {
            self.names.set(&case.host(), good_answer());
        }
        let findings = bench.settle(&load, self.ids.len()).await;
        let arrivals = bench.receivers.arrivals();
        tell_load(&mut part, &load, arrivals.len());
        self.world.tell_strays(&mut part);
        let during = latencies(&load.ledger.acknowledged(), &arrivals, is_good);
        latency::tell(&mut part, &quiet, &during);
        latency::explain(&load.ledger.acknowledged(), &arrivals, is_good, &quiet);
        findings.tell(&mut part, misbehaved + RECOVERY_MAX);
        Ok(part)
    }

    async fn tell_attempts(&self, part: &mut Part) -> Fallible<()> {
        let (bench, mut all, mut refused) = (&self.bench, AttemptFindings::default(), 0);
        let mut without_attempts = 0;
        for (case, id) in self.cases.iter().zip(&self.ids) {
            if case.works == Works::Always {
                continue;
            }
            let seen = attempts::wait_for(&bench.service, &bench.target.operator_url, id, 1).await?;
            let findings = attempts::judge(&seen, case.reasons, ATTEMPT_MAX);
            if findings.badly_explained > 0 || seen.is_empty() {
                eprintln!("    {}: {:?}", case.label, attempts::reasons(&seen));
            }
            without_attempts += usize::from(seen.is_empty());
            refused += if case.is_private() { seen.len() } else { 0 };
            all.add(&findings);
        }
        part.tell("failed attempts in the history", all.attempts);
        part.tell("of these refused because the address is not public", refused);
        part.none("bad names without a failed attempt", without_attempts);
        part.none("failed attempts without the reason in words", all.badly_explained);
        part.within("longest attempt", all.longest, ATTEMPT_MAX);
        part.none("attempts that took longer", all.too_long);
        Ok(())
    }

    /// What came while the names were bad.
    fn tell_arrivals(&self, part: &mut Part) {
        let arrivals = self.bench.receivers.arrivals();
        let has_arrival = |webhook| arrivals.iter().any(|arrival| arrival.webhook == webhook);
        let numbered = || self.cases.iter().enumerate();
        let of = |works| numbered().filter(move |(_, case)| case.works == works).map(|(webhook, _)| webhook);
        let idle: Vec<_> =
            of(Works::Always).chain(of(Works::Sometimes)).filter(|webhook| !has_arrival(*webhook)).collect();
        for webhook in &idle {
            eprintln!("    {} got nothing", self.cases[*webhook].label);
        }
        part.none("unusual but valid names whose webhooks got nothing", idle.len());
        let reached: Vec<_> = of(Works::Never).filter(|webhook| has_arrival(*webhook)).collect();
        for webhook in &reached {
            let of_webhook = arrivals.iter().filter(|arrival| arrival.webhook == *webhook).count();
            eprintln!("    {} got {of_webhook} requests", self.cases[*webhook].label);
        }
        part.none("bad names whose webhooks got something", reached.len());
    }

    /// No name is answered for a while; receivers with an address need none.
    async fn silence(&self, options: &Options) -> Fallible<Part> {
        let span = options.span(Duration::from_secs(20), Duration::from_secs(7));
        let (bench, all) = (&self.bench, self.ids.len());
        let by_address = all - 2;
        let tried = format!(
            "The name server answers nothing for {} s; two of {all} webhooks have an address instead of a name.",
            span.as_secs()
        );
        let mut part = Part::new("silent name server", tried);
        let is_good = |webhook| webhook >= by_address;
        let quiet_span = options.span(Duration::from_secs(15), Duration::from_secs(3));
        let quiet = bench.quietly(quiet_span, all).await?;
        let quiet = latencies(&quiet.ledger.acknowledged(), &bench.receivers.arrivals(), is_good);
        let began = Instant::now();
        self.names.set_silent(true);
        let load = bench.under_load(async || wait(span).await).await?;
        let mut findings = AttemptFindings::default();
        for id in &self.ids[self.cases.len()..by_address] {
            let seen = attempts::wait_for(&bench.service, &bench.target.operator_url, id, 1).await?;
            findings.add(&attempts::judge(&seen, NO_NAME_SERVER, ATTEMPT_MAX));
        }
        let silent = began.elapsed();
        self.names.set_silent(false);
        part.tell("failed attempts of good names in the history", findings.attempts);
        part.holds_that("each of them has failed attempts", findings.attempts >= GOOD_NAMES, "yes");
        part.none("failed attempts without the reason in words", findings.badly_explained);
        part.within("longest attempt", findings.longest, ATTEMPT_MAX);
        let found = bench.settle(&load, all).await;
        let arrivals = bench.receivers.arrivals();
        tell_load(&mut part, &load, arrivals.len());
        let during = latencies(&load.ledger.acknowledged(), &arrivals, is_good);
        latency::tell(&mut part, &quiet, &during);
        latency::explain(&load.ledger.acknowledged(), &arrivals, is_good, &quiet);
        found.tell(&mut part, silent + RECOVERY_MAX);
        self.world.tell_strays(&mut part);
        Ok(part)
    }
}

async fn wait(span: Duration) -> Fallible<()> {
    tokio::time::sleep(span).await;
    Ok(())
}
