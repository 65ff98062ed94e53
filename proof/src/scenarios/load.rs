//! Load and overload of one node: a long steady load, five times the maximum, ten thousand connections, a hundred thousand
//! webhooks, and a tenant that floods beside one that does not.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::checker::check;
use crate::http::Http;
use crate::load::{Target, change_line};
use crate::process::{Node, PAUSE, resident_mib};
use crate::receivers::Receivers;
use crate::service::{EMAIL, Service, TENANT};
use crate::traffic::{Kind, Tally, Traffic};
use crate::{Fallible, Options, Part};

const WEBHOOKS: usize = 2;
const WORKERS: usize = 32;
const SIGN_INS: usize = 64;
const CALL_TIMEOUT: Duration = Duration::from_secs(10);
const IN_FLIGHT_MAX: usize = 2000;
/// Latencies of less than this are not compared: a tick of the machine's scheduler is longer.
const FLOOR: Duration = Duration::from_millis(10);

const PARTS: [&str; 5] = ["steady", "overload", "connections", "webhooks", "flood"];

pub(crate) async fn run(options: &Options) -> Fallible<Vec<Part>> {
    let mut parts = Vec::new();
    if !PARTS.iter().any(|part| options.has_part(part)) {
        return Ok(parts);
    }
    let bed = Bed::start(options).await?;
    let max = bed.maximum(options).await?;
    if options.has_part("steady") {
        parts.push(bed.steady(options, &max).await?);
    }
    if options.has_part("overload") {
        parts.push(bed.overload(options, &max).await?);
    }
    if options.has_part("connections") {
        parts.push(bed.connections(options, &max).await?);
    }
    if options.has_part("webhooks") {
        parts.push(bed.many_webhooks(options, &max).await?);
    }
    if options.has_part("flood") {
        parts.push(bed.flood(options, &max).await?);
    }
    Ok(parts)
}

/// One node on SQLite with its traffic.
struct Bed {
    service: Arc<Service>,
    node: Node,
    target: Target,
    receivers: Receivers,
    traffic: Arc<Traffic>,
}

/// The most mixed traffic that the node and its load generator manage on this machine, and the latency of little traffic.
struct Maximum {
    rate: f64,
    quiet: Tally,
}

impl Bed {
    async fn start(options: &Options) -> Fallible<Self> {
        let mut service = Service::new(options, "")?;
        // One address stands for many clients here.
        let settings = service
            .settings()
            .set("delivery.webhooks_max", "200000")
            .set("server.connections_max", "13000")
            .set("server.connections_per_address_max", "0")
            .set("server.idle_timeout", "5m");
        let node = service.start(&settings).await?;
        let (target, receivers) = (node.target(), Receivers::open().await?);
        let mut tokens = vec![service.prepare(&target).await?];
        for _ in 1..SIGN_INS {
            tokens.push(service.application.sign_in(&service.http, &target.public_url, EMAIL).await?);
        }
        service.subscribe(&target.public_url, &tokens[0].access, &receivers.urls(WEBHOOKS)).await?;
        let service = Arc::new(service);
        let traffic = Traffic::new(&service, TENANT, &target, &tokens, CALL_TIMEOUT)?;
        Ok(Self { service, node, target, receivers, traffic })
    }

    async fn maximum(&self, options: &Options) -> Fallible<Maximum> {
        let span = options.span(Duration::from_secs(15), Duration::from_secs(2));
        self.traffic.closed(WORKERS, span / 3).await?;
        let rate = self.traffic.closed(WORKERS, span).await?.rate();
        let quiet = self.traffic.offered(rate * 0.05, span, IN_FLIGHT_MAX).await?;
        eprintln!("at most {rate:.0} calls a second; p99 of 5 % of it {:?}", quiet.p99());
        Ok(Maximum { rate, quiet })
    }

    async fn steady(&self, options: &Options, max: &Maximum) -> Fallible<Part> {
        let span = options.span(Duration::from_secs(20 * 60), Duration::from_secs(8));
        let tried = format!(
            "One node on SQLite. Of sixteen calls thirteen are reads, two changes (each to {WEBHOOKS} webhooks) and one a refresh. {WORKERS} clients without pauses get {:.0} calls a second; then 70 % of that for {} minutes at a rate that does not wait for answers.",
            max.rate,
            span.as_secs() / 60
        );
        let mut part = Part::new("steady load", tried);
        let watch = MemoryWatch::start(&self.node);
        let seen = self.traffic.offered(max.rate * 0.7, span, IN_FLIGHT_MAX).await?;
        let (second, last) = watch.stop().await?;
        part.tell("calls", seen.done());
        tell_failures(&seen);
        part.none("calls that failed or were refused", seen.not_done());
        part.tell("p50 and p99", format!("{:.1} ms and {:.1} ms", ms(seen.p50()), ms(seen.p99())));
        let [reads, changes, refreshes] =
            [Kind::Read, Kind::Change, Kind::Refresh].map(|kind| ms(seen.p99_of(kind)));
        part.tell(
            "p99 of reads, changes and refreshes",
            format!("{reads:.1} ms, {changes:.1} ms and {refreshes:.1} ms"),
        );
        part.at_most("p99 beside the p99 of 5 % of the load", ratio(&seen, &max.quiet), 2.0, "×");
        part.tell("memory in the second quarter", format!("{second:.1} MiB"));
        part.at_most("memory in the last quarter beside the second", last / second.max(1.0), 1.05, "×");
        self.tell_deliveries(&mut part).await;
        Ok(part)
    }

    /// Waits until everything that was acknowledged so far has arrived.
    async fn tell_deliveries(&self, part: &mut Part) {
        let acknowledged = self.traffic.ledger.acknowledged();
        let from = Instant::now();
        while self.receivers.count() < acknowledged.len() * WEBHOOKS
            && from.elapsed() < Duration::from_secs(120)
        {
            tokio::time::sleep(PAUSE).await;
        }
        let findings = check(&acknowledged, u64::MAX, &self.receivers.arrivals(), WEBHOOKS);
        part.none("acknowledged changes that a webhook did not get", findings.lost);
    }

    async fn overload(&self, options: &Options, max: &Maximum) -> Fallible<Part> {
        let span = options.span(Duration::from_secs(30), Duration::from_secs(4));
        let tried = format!(
            "Five times the maximum ({:.0} calls a second) for {} s at a rate that does not wait for answers, at most {IN_FLIGHT_MAX} calls under way; each call may take {} s.",
            max.rate * 5.0,
            span.as_secs(),
            CALL_TIMEOUT.as_secs()
        );
        let mut part = Part::new("overload", tried);
        let seen = self.traffic.offered(max.rate * 5.0, span, IN_FLIGHT_MAX).await?;
        let back = self.back_to_normal(max).await?;
        tell_failures(&seen);
        part.tell(
            "calls",
            format!(
                "{} done, {} refused, {} failed, {} not begun",
                seen.done(),
                seen.refused(),
                seen.failed.len(),
                seen.not_begun
            ),
        );
        part.at_least("calls done beside the maximum", seen.rate() / max.rate, 0.8, "×");
        part.within("p99 of a refusal", seen.refusals_p99(), Duration::from_secs(1));
        part.within("until a second of light load has its usual p99 again", back, Duration::from_secs(5));
        self.tell_deliveries(&mut part).await;
        Ok(part)
    }

    /// How long it takes until light load is answered as before.
    async fn back_to_normal(&self, max: &Maximum) -> Fallible<Duration> {
        let from = Instant::now();
        loop {
            let seen = self.traffic.offered(max.rate * 0.05, Duration::from_secs(1), IN_FLIGHT_MAX).await?;
            let is_normal = seen.not_done() == 0 && ratio(&seen, &max.quiet) <= 2.0;
            if is_normal || from.elapsed() > Duration::from_secs(60) {
                return Ok(from.elapsed());
            }
        }
    }

    async fn connections(&self, options: &Options, max: &Maximum) -> Fallible<Part> {
        let count = options.count(10_000, 1_000);
        let span = options.span(Duration::from_secs(20), Duration::from_secs(2));
        let mut part = Part::new(
            "many connections",
            format!(
                "{count} connections that have made a call each stay open, beside 20 % of the maximum for {} s.",
                span.as_secs()
            ),
        );
        let address = self.target.public_url.trim_start_matches("http://").to_owned();
        let (before, mut open) = (self.node.resident_mib()?, Vec::with_capacity(count));
        for _ in 0..count {
            let mut stream = TcpStream::connect(&address).await?;
            stream.write_all(b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n").await?;
            open.push(stream);
        }
        let seen = self.traffic.offered(max.rate * 0.2, span, IN_FLIGHT_MAX).await?;
        let mut answered = 0;
        for stream in &mut open {
            answered += usize::from(is_answered(stream).await);
        }
        tell_failures(&seen);
        part.none("connections without an answer", count - answered);
        part.none("calls that failed or were refused", seen.not_done());
        part.at_most("p99 beside the p99 of 5 % of the load", ratio(&seen, &max.quiet), 2.0, "×");
        part.at_most(
            "memory for a connection",
            (self.node.resident_mib()? - before) * 1024.0 / count as f64,
            64.0,
            "KiB",
        );
        Ok(part)
    }

    async fn many_webhooks(&self, options: &Options, max: &Maximum) -> Fallible<Part> {
        let count = options.count(100_000, 500);
        let span = options.span(Duration::from_secs(20), Duration::from_secs(2));
        let mut part = Part::new(
            "many webhooks",
            format!(
                "{count} webhooks of the same tenant, all accepted and idle, beside 20 % of the maximum for {} s.",
                span.as_secs()
            ),
        );
        let before = self.node.resident_mib()?;
        let from = Instant::now();
        self.subscribe_idle(count).await?;
        part.tell("until all were subscribed and accepted", format!("{:.0} s", from.elapsed().as_secs_f64()));
        let seen = self.traffic.offered(max.rate * 0.2, span, IN_FLIGHT_MAX).await?;
        tell_failures(&seen);
        part.none("calls that failed or were refused", seen.not_done());
        part.at_most("p99 beside the p99 of 5 % of the load", ratio(&seen, &max.quiet), 2.0, "×");
        part.tell("memory", format!("{:.0} MiB more", self.node.resident_mib()? - before));
        self.tell_deliveries(&mut part).await;
        Ok(part)
    }

    /// Webhooks for events that do not happen; each application has a bounded number, so that several share them.
    async fn subscribe_idle(&self, count: usize) -> Fallible<()> {
        let each = 2_000;
        for from in (0..count).step_by(each) {
            let application = self.service.add_application(&self.target.operator_url).await?;
            let tokens = application.sign_in(&self.service.http, &self.target.public_url, EMAIL).await?;
            let (service, target, receivers) = (&self.service, &self.target, &self.receivers);
            let subscribed = (from..(from + each).min(count)).map(|number| {
                let (token, url) =
                    (tokens.access.clone(), format!("{}?n={number}", receivers.url(WEBHOOKS + 1)));
                async move {
                    service
                        .subscribe_one(
                            &target.public_url,
                            &token,
                            &url,
                            &["Svc.ACC.Customers.CustomerDisabled"],
                        )
                        .await
                }
            });
            let mut running = futures_util::stream::iter(subscribed).buffer_unordered(32);
            while let Some(done) = running.next().await {
                done?;
            }
        }
        let started = Instant::now();
        while self.receivers.handshakes() < count && started.elapsed() < Duration::from_secs(300) {
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    /// Another tenant sends changes without a pause while this one goes on as usual.
    async fn flood(&self, options: &Options, max: &Maximum) -> Fallible<Part> {
        let span = options.span(Duration::from_secs(30), Duration::from_secs(3));
        let mut part = Part::new(
            "a tenant that floods",
            format!(
                "Another tenant sends changes of 100 lines over 16 connections without a pause for {} s, beside 5 % of the maximum of this tenant.",
                span.as_secs()
            ),
        );
        let quiet = self.traffic.offered(max.rate * 0.05, span, IN_FLIGHT_MAX).await?;
        self.service.command(&["tenant", "add", "Flood", "--id", "flood"], "")?;
        let company = change_company();
        let http = Http::new(CALL_TIMEOUT)?;
        self.service
            .send_lines_to(&http, "flood", &self.target.operator_url, &company, "flood")
            .await?
            .expect(200)?;
        let until = Instant::now() + span;
        let floods: Vec<_> = (0..16)
            .map(|lane| tokio::spawn(flood(self.service.clone(), self.target.clone(), lane, until)))
            .collect();
        let seen = self.traffic.offered(max.rate * 0.05, span, IN_FLIGHT_MAX).await?;
        let mut flooded = 0;
        for flood in floods {
            flooded += flood.await??;
        }
        tell_failures(&seen);
        part.tell("changes of the flood", format!("{:.0} a second", flooded as f64 / span.as_secs_f64()));
        part.none("calls of the other tenant that failed or were refused", seen.not_done());
        part.tell(
            "p99 without and with the flood",
            format!("{:.1} ms and {:.1} ms", ms(quiet.p99()), ms(seen.p99())),
        );
        part.at_most(
            "p99 of the other tenant beside its p99 without the flood",
            ratio(&seen, &quiet),
            1.5,
            "×",
        );
        Ok(part)
    }
}

fn change_company() -> String {
    json!({
        "area": "accounting", "resource": "companies", "action": "upsert", "correlationId": crate::service::COMPANY,
        "data": {"vatName": "Flood S.L.", "vatNumber": "B12345674", "chartOfAccountId": 1, "accountLength": 12},
    })
    .to_string()
}

async fn flood(service: Arc<Service>, target: Target, lane: u64, until: Instant) -> Fallible<usize> {
    let (http, run, mut sent) = (Http::new(CALL_TIMEOUT)?, crate::load::new_run(), 0);
    while Instant::now() < until {
        let first = (lane << 40) + sent as u64;
        let lines: Vec<String> = (first..first + 100)
            .map(|number| change_line(&format!("f{lane}-{}", number % 500), number))
            .collect();
        let key = format!("{run}-{first}");
        let answer =
            service.send_lines_to(&http, "flood", &target.operator_url, &lines.join("\n"), &key).await?;
        match answer.status.as_u16() {
            200 => sent += 100,
            429 | 503 => tokio::time::sleep(PAUSE).await,
            _ => return Err(answer.text().into()),
        }
    }
    Ok(sent)
}

async fn is_answered(stream: &mut TcpStream) -> bool {
    let mut start = [0; 12];
    let read = tokio::time::timeout(Duration::from_secs(5), stream.read_exact(&mut start)).await;
    matches!(read, Ok(Ok(_))) && &start == b"HTTP/1.1 200"
}

fn tell_failures(seen: &Tally) {
    if let Some(first) = seen.failed.first() {
        eprintln!("    {} failed, the first with {first}", seen.failed.len());
    }
}

fn ms(span: Duration) -> f64 {
    span.as_secs_f64() * 1000.0
}

/// The p99 beside that of less load; what is below the floor counts as the floor.
fn ratio(seen: &Tally, quiet: &Tally) -> f64 {
    seen.p99().max(FLOOR).as_secs_f64() / quiet.p99().max(FLOOR).as_secs_f64()
}

/// Reads the memory of a node every second.
struct MemoryWatch {
    stop: tokio::sync::oneshot::Sender<()>,
    task: tokio::task::JoinHandle<Vec<f64>>,
}

impl MemoryWatch {
    fn start(node: &Node) -> Self {
        let (stop, mut stopped) = tokio::sync::oneshot::channel();
        let process = node.id();
        let task = tokio::spawn(async move {
            let mut seen = Vec::new();
            let mut ticks = tokio::time::interval(Duration::from_secs(1));
            loop {
                tokio::select! {
                    _ = ticks.tick() => seen.extend(resident_mib(process)),
                    _ = &mut stopped => return seen,
                }
            }
        });
        Self { stop, task }
    }

    /// The means of the second and of the last quarter.
    async fn stop(self) -> Fallible<(f64, f64)> {
        let _ = self.stop.send(());
        let seen = self.task.await?;
        let quarter = (seen.len() / 4).max(1);
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len().max(1) as f64;
        let second = seen.get(quarter..2 * quarter).unwrap_or(&seen);
        let last = seen.get(seen.len().saturating_sub(quarter)..).unwrap_or(&seen);
        Ok((mean(second), mean(last)))
    }
}
