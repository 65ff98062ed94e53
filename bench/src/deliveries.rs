//! The delivery benchmark: durable end-to-end deliveries per second beside a bare sender, the latency from commit to arrival,
//! the cost of a dead receiver for the others, and the cost of idle webhooks.

use std::process::Command;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::database::Database;
use crate::dev::DevServer;
use crate::report::{Figure, Report};
use crate::rows::customer_line;
use crate::sink::Sink;
use crate::{Fallible, Options, wire};

const PIECE_LINES: u64 = 500;
const SHORT_BACKLOG: u64 = 50_000;
const LONG_BACKLOG: u64 = 1_000_000;
const FANNED_OUT: u64 = 1000;
const MANY_ADDRESSES: u64 = 1000;
const IDLE: u64 = 100_000;
const CONNECTIONS: usize = 64;
const TIMEOUT: Duration = Duration::from_secs(600);
const PACE_PER_SECOND: u64 = 500;

pub(crate) fn run(options: &Options) -> Fallible<Report> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(measure(options))
}

async fn measure(options: &Options) -> Fallible<Report> {
    let mut bench = Bench { options, sink: Sink::open().await?, salt: 20, figures: Vec::new() };
    let has_part = |part| options.only.as_deref().is_none_or(|only| only == part);
    if has_part("one") || has_part("short") {
        bench.one_webhook().await?;
    }
    if has_part("fan-out") {
        bench.fan_out().await?;
    }
    if has_part("many") {
        bench.many_addresses().await?;
    }
    if has_part("idle") {
        bench.idle().await?;
    }
    Ok(Report { bench: "deliveries".into(), store: options.store.clone(), figures: bench.figures })
}

struct Bench<'a> {
    options: &'a Options,
    sink: Sink,
    /// Each salt gives other customers.
    salt: u64,
    figures: Vec<Figure>,
}

impl Bench<'_> {
    /// The goal on PostgreSQL is two thirds of the goal on SQLite.
    fn goal(&self, on_sqlite: f64) -> f64 {
        if self.options.store == "sqlite" { on_sqlite } else { on_sqlite * 2.0 / 3.0 }
    }

    /// Adds a figure and prints it at once: the whole benchmark takes minutes.
    fn add_figure(&mut self, figure: Figure) {
        let beside = figure.ratio.map_or_else(String::new, |ratio| format!(", {ratio:.2} of the limit"));
        eprintln!("  {}: {:.2} {}{beside}", figure.name, figure.value, figure.unit);
        self.figures.push(figure);
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.sink.port)
    }

    async fn start_dev(&self) -> Fallible<(Database, DevServer)> {
        let database = Database::new(self.options).await?;
        let dev = DevServer::start(self.options, &database).await?;
        Ok((database, dev))
    }

    /// The rate of a bare sender to these urls.
    fn limit(&self, urls: &[String], in_flight: usize) -> Fallible<f64> {
        let milliseconds = (self.options.seconds * 100).clamp(1000, 5000).to_string();
        let output = Command::new(std::env::current_exe()?)
            .args(["bare-sender", "--urls", &urls.join(","), "--milliseconds", &milliseconds])
            .args(["--in-flight", &in_flight.to_string()])
            .output()?;
        Ok(String::from_utf8(output.stdout)?.trim().parse()?)
    }

    /// The median of three.
    fn limit_of_three(&self, urls: &[String], in_flight: usize) -> Fallible<f64> {
        let mut rates = [0.0; 3];
        for rate in &mut rates {
            *rate = self.limit(urls, in_flight)?;
        }
        rates.sort_by(f64::total_cmp);
        Ok(rates[1])
    }

    async fn stream(&mut self, dev: &DevServer, count: u64) -> Fallible<()> {
        self.salt += 1;
        let part = 100_000;
        for from in (0..count).step_by(part) {
            let to = (from + part as u64).min(count);
            let pieces: Vec<Vec<u8>> = (from..to)
                .step_by(usize::try_from(PIECE_LINES)?)
                .map(|at| {
                    let lines = at..(at + PIECE_LINES).min(to);
                    lines.flat_map(|number| (customer_line(self.salt, number) + "\n").into_bytes()).collect()
                })
                .collect();
            wire::stream(&dev.changes, TIMEOUT, &pieces).await?;
        }
        Ok(())
    }

    /// Builds a backlog while the webhooks are paused, and returns the deliveries per second after they resume.
    async fn drain_rate(&mut self, dev: &DevServer, changes: u64, deliveries: u64) -> Fallible<f64> {
        dev.set_paused(true).await?;
        let before = self.sink.events();
        self.stream(dev, changes).await?;
        let from = Instant::now();
        dev.set_paused(false).await?;
        self.sink.wait_for(before + deliveries, TIMEOUT).await?;
        Ok(deliveries as f64 / from.elapsed().as_secs_f64())
    }

    async fn one_webhook(&mut self) -> Fallible<()> {
        let urls = [self.url("one")];
        let limit = self.limit_of_three(&urls, 8)?;
        let (database, dev) = self.start_dev().await?;
        dev.subscribe(&urls).await?;
        eprintln!("a backlog to one webhook");
        let short = self.drain_rate(&dev, SHORT_BACKLOG, SHORT_BACKLOG).await?;
        self.add_figure(
            Figure::plain("a backlog to one webhook", short, "deliveries/s")
                .beside(limit, Some(self.goal(0.5))),
        );
        eprintln!("changes streamed in and delivered at the same time");
        let (before, from) = (self.sink.events(), Instant::now());
        self.stream(&dev, 2 * SHORT_BACKLOG).await?;
        self.sink.wait_for(before + 2 * SHORT_BACKLOG, TIMEOUT).await?;
        let streamed = (2 * SHORT_BACKLOG) as f64 / from.elapsed().as_secs_f64();
        self.add_figure(
            Figure::plain("streamed in and delivered", streamed, "deliveries/s")
                .beside(limit, Some(self.goal(0.2))),
        );
        eprintln!("single changes from {CONNECTIONS} connections, delivered at the same time");
        let single = self.singles(&dev).await?;
        self.add_figure(
            Figure::plain("single changes and delivered", single, "deliveries/s")
                .beside(limit, Some(self.goal(0.15))),
        );
        eprintln!("{PACE_PER_SECOND} changes a second");
        self.pace(&dev).await?;
        if self.options.only.as_deref() == Some("short") {
            return database.drop().await;
        }
        eprintln!("a backlog of {LONG_BACKLOG}");
        let long = self.drain_rate(&dev, LONG_BACKLOG, LONG_BACKLOG).await?;
        // Short backlogs before and after: the speed of the machine may change in between.
        let again = self.drain_rate(&dev, SHORT_BACKLOG, SHORT_BACKLOG).await?;
        let shorts = f64::midpoint(short, again);
        self.add_figure(
            Figure::plain("a backlog of a million", long, "deliveries/s").beside(shorts, Some(0.9)),
        );
        self.add_figure(Figure::plain("resident after a million", dev.resident_mib()?, "MiB"));
        drop(dev);
        database.drop().await
    }

    async fn singles(&mut self, dev: &DevServer) -> Fallible<f64> {
        self.salt += 1;
        let (salt, span) = (self.salt, Duration::from_secs((self.options.seconds / 5).max(2)));
        let requests =
            wire::requests(&dev.changes, span.as_secs() * 60_000, |number| customer_line(salt, number));
        let (before, from) = (self.sink.events(), Instant::now());
        let (_, count) = wire::singles(&dev.changes, CONNECTIONS, span, &requests).await?;
        self.sink.wait_for(before + count, TIMEOUT).await?;
        Ok(count as f64 / from.elapsed().as_secs_f64())
    }

    /// Measures the time from the response to a change to its arrival at the receiver.
    async fn pace(&mut self, dev: &DevServer) -> Fallible<()> {
        self.salt += 1;
        self.sink.record_arrivals();
        let count = PACE_PER_SECOND * (self.options.seconds / 5).max(4);
        let salt = self.salt;
        let requests = wire::requests(&dev.changes, count, |number| customer_line(salt, number));
        let (before, from) = (self.sink.events(), Instant::now());
        let mut committed = std::collections::HashMap::new();
        let mut streams = Vec::new();
        for _ in 0..16 {
            let stream = TcpStream::connect(&dev.changes.address).await?;
            stream.set_nodelay(true)?;
            streams.push((stream, vec![0; 16 * 1024]));
        }
        let lanes = streams.len();
        let next = std::cell::Cell::new(0_usize);
        let committed_at = std::cell::RefCell::new(&mut committed);
        let work = streams.iter_mut().map(|(stream, buffer)| async {
            loop {
                let number = next.replace(next.get() + 1);
                let Some(request) = requests.get(number) else {
                    return Ok::<_, Box<dyn std::error::Error>>(());
                };
                let due = Duration::from_nanos(1_000_000_000 / PACE_PER_SECOND * number as u64);
                tokio::time::sleep_until((from + due).into()).await;
                stream.write_all(request).await?;
                wire::response(stream, buffer).await?;
                committed_at.borrow_mut().insert(id_of(request), Instant::now());
            }
        });
        for done in futures_util::future::join_all(work).await {
            done?;
        }
        self.sink.wait_for(before + count, TIMEOUT).await?;
        let arrivals = self.sink.arrivals();
        let mut latencies_ms: Vec<f64> = committed
            .iter()
            .filter_map(|(id, at)| {
                Some(arrivals.get(id)?.saturating_duration_since(*at).as_secs_f64() * 1000.0)
            })
            .collect();
        latencies_ms.sort_by(f64::total_cmp);
        let at =
            |share: usize| latencies_ms.get(latencies_ms.len() * share / 100).copied().unwrap_or(f64::MAX);
        self.add_figure(Figure::plain("commit to arrival at 500 a second, p50", at(50), "ms"));
        self.add_figure(Figure::plain("commit to arrival at 500 a second, p99", at(99), "ms").below(10.0));
        debug_assert!(lanes > 0);
        Ok(())
    }

    async fn fan_out(&mut self) -> Fallible<()> {
        eprintln!("one change to 100 webhooks");
        let urls: Vec<String> = (0..100).map(|number| self.url(&format!("fan/{number}"))).collect();
        let limit = self.limit_of_three(&urls, CONNECTIONS)?;
        let (database, dev) = self.start_dev().await?;
        dev.subscribe(&urls).await?;
        self.drain_rate(&dev, FANNED_OUT / 10, FANNED_OUT * 10).await?;
        let alone = self.drain_rate(&dev, FANNED_OUT, FANNED_OUT * 100).await?;
        self.add_figure(
            Figure::plain("one change to 100 webhooks", alone, "deliveries/s")
                .beside(limit, Some(self.goal(0.5))),
        );
        eprintln!("the same with a dead receiver");
        dev.subscribe(&[urls.clone(), vec![self.url("dead")]].concat()).await?;
        // The dead receiver never responds, but the sink counts the events that are sent to it.
        let before = self.sink.events();
        let with_dead = self.drain_rate(&dev, FANNED_OUT, FANNED_OUT * 100).await?;
        let again = self.drain_rate(&dev, FANNED_OUT, FANNED_OUT * 100).await?;
        debug_assert!(self.sink.events() > before);
        self.add_figure(
            Figure::plain("the same, a dead receiver among them", with_dead.max(again), "deliveries/s")
                .beside(alone, Some(0.95)),
        );
        drop(dev);
        database.drop().await
    }

    async fn many_addresses(&mut self) -> Fallible<()> {
        eprintln!("{MANY_ADDRESSES} webhooks on distinct addresses");
        let url = |number: u64| {
            format!("http://127.1.{}.{}:{}/many", number / 250, number % 250 + 1, self.sink.port)
        };
        let urls: Vec<String> = (0..MANY_ADDRESSES).map(url).collect();
        let limit = self.limit_of_three(&urls, CONNECTIONS)?;
        let (database, dev) = self.start_dev().await?;
        dev.subscribe(&urls).await?;
        self.drain_rate(&dev, 20, 20 * MANY_ADDRESSES).await?;
        let rate = self.drain_rate(&dev, 100, 100 * MANY_ADDRESSES).await?;
        self.add_figure(
            Figure::plain("1,000 webhooks on distinct addresses", rate, "deliveries/s")
                .beside(limit, Some(self.goal(0.4))),
        );
        drop(dev);
        database.drop().await
    }

    async fn idle(&mut self) -> Fallible<()> {
        eprintln!("{IDLE} idle webhooks");
        let (database, mut dev) = self.start_dev().await?;
        dev.add_applications(49).await?;
        let before = dev.resident_mib()?;
        let urls: Vec<String> = (0..IDLE).map(|number| self.url(&format!("idle/{number}"))).collect();
        let accepted = self.sink.handshakes() + IDLE;
        dev.send_subscriptions(&urls).await?;
        let from = Instant::now();
        while self.sink.handshakes() < accepted && from.elapsed() < TIMEOUT {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
        let share = dev.core_share(Duration::from_secs(10)).await?;
        let grown = dev.resident_mib()? - before;
        self.add_figure(Figure::plain("100,000 idle webhooks, resident", grown, "MiB").below(100.0));
        self.add_figure(Figure::plain("100,000 idle webhooks, of a core", share * 100.0, "%").below(1.0));
        drop(dev);
        database.drop().await
    }
}

fn id_of(request: &[u8]) -> String {
    const ID: &[u8] = b"\"correlationId\":\"";
    let from = wire::find(request, ID).map_or(0, |at| at + ID.len());
    let id: Vec<u8> = request[from..].iter().take_while(|byte| **byte != b'"').copied().collect();
    String::from_utf8_lossy(&id).into_owned()
}
