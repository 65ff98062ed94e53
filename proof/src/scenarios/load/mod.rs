//! Load and overload of one node: a long steady load, five times the maximum without and with a limit, ten thousand connections, a
//! hundred thousand webhooks, and a tenant that floods beside one that does not.

mod flood;
mod scale;
mod steady;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::checker::check;
use crate::cores::Cores;
use crate::load::Target;
use crate::process::{Node, PAUSE};
use crate::receivers::Receivers;
use crate::service::{EMAIL, Service, TENANT};
use crate::traffic::{Kind, Tally, Traffic};
use crate::{Fallible, Options, Part};

/// How long the maximum is measured before each other part, and before all of them.
const MAXIMUM: Duration = Duration::from_secs(15);
const WARM_UP: Duration = Duration::from_secs(30);
const WEBHOOKS: usize = 2;
const WORKERS: usize = 32;
const SIGN_INS: usize = 64;
const CALL_TIMEOUT: Duration = Duration::from_secs(10);
const IN_FLIGHT_MAX: usize = 2000;
/// Of a webhook that has something to get, under any load.
const SILENCE_MAX: Duration = Duration::from_secs(10);
/// Latencies of less than this are not compared: a tick of the machine's scheduler is longer.
const FLOOR: Duration = Duration::from_millis(10);

/// What `serve` has by default.
const RATE_PER_MINUTE: &str = "300";

const PARTS: [&str; 6] = ["steady", "overload", "connections", "webhooks", "flood", "limit"];

pub(crate) async fn run(options: &Options) -> Fallible<Vec<Part>> {
    let mut parts = Vec::new();
    if !PARTS.iter().any(|part| options.has_part(part)) {
        return Ok(parts);
    }
    let cores = Cores::split()?;
    let bed = Bed::start(options, &cores, "0").await?;
    // A store and caches that are in use.
    bed.maximum(options.span(WARM_UP, Duration::from_secs(1))).await?;
    if options.has_part("steady") {
        parts.push(bed.steady(options).await?);
    }
    let maximum = async || bed.maximum(options.span(MAXIMUM, Duration::from_secs(2))).await;
    if options.has_part("overload") {
        parts.push(bed.overload(options, &maximum().await?).await?);
    }
    if options.has_part("connections") {
        parts.push(bed.connections(options, &maximum().await?).await?);
    }
    if options.has_part("webhooks") {
        parts.push(bed.many_webhooks(options, &maximum().await?).await?);
    }
    if options.has_part("flood") {
        parts.push(bed.flood(options, &maximum().await?).await?);
    }
    if options.has_part("limit") {
        let max = maximum().await?;
        drop(bed);
        parts.push(Bed::start(options, &cores, RATE_PER_MINUTE).await?.limit(options, &max).await?);
    }
    Ok(parts)
}

/// One node on SQLite with its traffic.
struct Bed {
    cores: Cores,
    service: Arc<Service>,
    node: Node,
    target: Target,
    receivers: Receivers,
    traffic: Arc<Traffic>,
}

/// The most mixed traffic that the node manages on its cores, and the latency of little traffic.
struct Maximum {
    rate: f64,
    /// The calls with which it was measured.
    calls: Tally,
    quiet: Tally,
}

impl Bed {
    async fn start(options: &Options, cores: &Cores, rate_per_minute: &str) -> Fallible<Self> {
        let mut service = Service::new(options, "")?;
        // One address stands for many clients here.
        let mut settings = service
            .settings()
            .set("gateway.rate_per_minute", rate_per_minute)
            .set("delivery.webhooks_max", "200000")
            .set("server.connections_max", "13000")
            .set("server.connections_per_address_max", "0")
            .set("server.idle_timeout", "5m");
        settings.wrapper = cores.node_wrapper();
        let node = service.start(&settings).await?;
        let (target, receivers) = (node.target(), Receivers::open().await?);
        let mut tokens = vec![service.prepare(&target).await?];
        for _ in 1..SIGN_INS {
            tokens.push(service.application.sign_in(&service.http, &target.public_url, EMAIL).await?);
        }
        service.subscribe(&target.public_url, &tokens[0].access, &receivers.urls(WEBHOOKS)).await?;
        let service = Arc::new(service);
        let traffic = Traffic::new(&service, TENANT, &target, &tokens, CALL_TIMEOUT)?;
        Ok(Self { cores: cores.clone(), service, node, target, receivers, traffic })
    }

    /// What the node sustains: the time until everything is delivered counts as well.
    async fn maximum(&self, span: Duration) -> Fallible<Maximum> {
        let from = Instant::now();
        let calls = self.traffic.closed(WORKERS, span).await?;
        self.until_delivered().await;
        let rate = calls.done() as f64 / from.elapsed().as_secs_f64();
        let quiet = self.traffic.offered(rate * 0.05, span, IN_FLIGHT_MAX).await?;
        eprintln!("at most {rate:.0} calls a second; p99 of 5 % of it {:?}", quiet.p99());
        Ok(Maximum { rate, calls, quiet })
    }

    async fn tell_deliveries(&self, part: &mut Part) {
        self.until_delivered().await;
        let acknowledged = self.traffic.ledger.acknowledged();
        check(&acknowledged, &self.receivers.arrivals(), WEBHOOKS).tell(part, SILENCE_MAX);
    }

    /// Waits until everything that was acknowledged so far has arrived.
    async fn until_delivered(&self) {
        let (acknowledged, from) = (self.traffic.ledger.acknowledged().len(), Instant::now());
        while self.receivers.count() < acknowledged * WEBHOOKS && from.elapsed() < Duration::from_secs(120) {
            tokio::time::sleep(PAUSE).await;
        }
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
        tell_overload(&mut part, &seen, max.rate);
        part.within("until a second of light load has its usual p99 again", back, Duration::from_secs(5));
        self.tell_deliveries(&mut part).await;
        Ok(part)
    }

    async fn limit(&self, options: &Options, max: &Maximum) -> Fallible<Part> {
        let span = options.span(Duration::from_secs(30), Duration::from_secs(4));
        let tried = format!(
            "Five times the maximum for {} s, on a node that allows {RATE_PER_MINUTE} reads a minute to a subscription, as `serve` does by default.",
            span.as_secs()
        );
        let mut part = Part::new("overload by a client above its limit", tried);
        let seen = self.traffic.offered(max.rate * 5.0, span, IN_FLIGHT_MAX).await?;
        tell_failures(&seen);
        part.tell("calls", outcomes(&seen));
        part.none("calls that failed", seen.failed.len());
        part.at_least("refusals of all answers", seen.refused_share(), 0.7, "");
        part.at_least("answers a second beside the maximum", seen.answer_rate() / max.rate, 0.8, "×");
        part.within("p99 of a refusal", seen.refusals_p99(), Duration::from_secs(1));
        let back = self.until_changes_are_quick().await?;
        part.within("until changes are answered within 0.1 s again", back, Duration::from_secs(5));
        self.tell_deliveries(&mut part).await;
        Ok(part)
    }

    /// How long it takes until ten changes in a row are each answered quickly. Reads are still above their limit.
    async fn until_changes_are_quick(&self) -> Fallible<Duration> {
        let (from, mut quick) = (Instant::now(), 0);
        while quick < 10 && from.elapsed() < Duration::from_secs(60) {
            let took = self.traffic.one_change().await;
            let is_quick = took.is_some_and(|took| took < Duration::from_millis(100));
            quick = if is_quick { quick + 1 } else { 0 };
        }
        Ok(from.elapsed())
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
}

/// What must hold of five times the maximum.
fn tell_overload(part: &mut Part, seen: &Tally, rate_max: f64) {
    tell_failures(seen);
    part.tell("calls", outcomes(seen));
    part.none("calls that failed or were refused", seen.failed.len() + seen.refused());
    part.at_least("calls done beside the maximum", seen.rate() / rate_max, 0.8, "×");
    part.tell("p99 of the calls that were begun", format!("{:.0} ms", ms(seen.p99())));
    // As long as all calls that are under way take at the maximum: nobody waits twice as long as others.
    let fair = IN_FLIGHT_MAX as f64 / rate_max;
    part.at_most(
        "that p99 beside the time that all calls under way take at the maximum",
        seen.p99().as_secs_f64() / fair,
        2.0,
        "×",
    );
}

fn tell_failures(seen: &Tally) {
    if let Some(first) = seen.failed.first() {
        eprintln!("    {} failed, the first with {first}", seen.failed.len());
    }
}

fn tell_kinds(part: &mut Part, seen: &Tally) {
    let [reads, changes, refreshes] =
        [Kind::Read, Kind::Change, Kind::Refresh].map(|kind| ms(seen.p99_of(kind)));
    let text = format!("{reads:.1} ms, {changes:.1} ms and {refreshes:.1} ms");
    part.tell("p99 of reads, changes and refreshes", text);
}

fn outcomes(seen: &Tally) -> String {
    let (done, refused, failed) = (seen.done(), seen.refused(), seen.failed.len());
    format!("{done} done, {refused} refused, {failed} failed, {} not begun", seen.not_begun)
}

fn ms(span: Duration) -> f64 {
    span.as_secs_f64() * 1000.0
}

/// The p99 beside that of less load; what is below the floor counts as the floor.
fn ratio(seen: &Tally, quiet: &Tally) -> f64 {
    seen.p99().max(FLOOR).as_secs_f64() / quiet.p99().max(FLOOR).as_secs_f64()
}

#[cfg(test)]
mod tests {
    //! Each bound of the overload is broken once.

    use super::*;

    fn holds(tell: impl FnOnce(&mut Part)) -> bool {
        let mut part = Part::new("load", "");
        tell(&mut part);
        part.holds()
    }

    #[test]
    fn lost_throughput_and_unfair_waits_are_found() {
        let overload = |done: usize, slowest: u64| {
            let mut all = vec![500; done];
            let slow = all.len() / 50;
            all[..slow].fill(slowest);
            let seen = Tally::of_milliseconds(all);
            holds(|part| tell_overload(part, &seen, 1000.0))
        };
        assert!(overload(800, 500));
        assert!(!overload(790, 500), "calls done are fewer");
        assert!(overload(800, 4000) && !overload(800, 4100), "2,000 calls take 2 s at this maximum");
    }
}
