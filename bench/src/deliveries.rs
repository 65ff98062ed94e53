//! How many deliveries a second the engine makes, end to end and durable, beside a sender that does nothing but send; how
//! long a change takes to arrive; what a dead receiver costs the others; what webhooks cost that rest.

use std::process::Command;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::database::Database;
use crate::dev::Dev;
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
const PATIENCE: Duration = Duration::from_secs(600);
const PACE_PER_SECOND: u64 = 500;

pub(crate) fn run(options: &Options) -> Fallible<Report> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(measure(options))
}

async fn measure(options: &Options) -> Fallible<Report> {
    let mut bench = Bench { options, sink: Sink::open().await?, salt: 20, figures: Vec::new() };
    let wants = |part| options.only.as_deref().is_none_or(|only| only == part);
    if wants("one") || wants("short") {
        bench.one_webhook().await?;
    }
    if wants("fan-out") {
        bench.fan_out().await?;
    }
    if wants("many") {
        bench.many_addresses().await?;
    }
    if wants("idle") {
        bench.idle().await?;
    }
    Ok(Report { bench: "deliveries".into(), store: options.store.clone(), figures: bench.figures })
}

struct Bench<'a> {
    options: &'a Options,
    sink: Sink,
    /// Customers of another salt are other customers.
    salt: u64,
    figures: Vec<Figure>,
}

impl Bench<'_> {
    /// On PostgreSQL two thirds of what is wanted on SQLite.
    fn goal(&self, on_sqlite: f64) -> f64 {
        if self.options.store == "sqlite" { on_sqlite } else { on_sqlite * 2.0 / 3.0 }
    }

    /// Shows a figure as soon as it is known: the whole takes minutes.
    fn tell(&mut self, figure: Figure) {
        let beside = figure.ratio.map_or_else(String::new, |ratio| format!(", {ratio:.2} of the limit"));
        eprintln!("  {}: {:.2} {}{beside}", figure.name, figure.value, figure.unit);
        self.figures.push(figure);
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.sink.port)
    }

    async fn started(&self) -> Fallible<(Database, Dev)> {
        let database = Database::new(self.options).await?;
        let dev = Dev::start(self.options, &database).await?;
        Ok((database, dev))
    }

    /// What a bare sender reaches at these addresses.
    fn limit(&self, urls: &[String], in_flight: usize) -> Fallible<f64> {
        let milliseconds = (self.options.seconds * 100).clamp(1000, 5000).to_string();
        let output = Command::new(std::env::current_exe()?)
            .args(["bare-sender", "--urls", &urls.join(","), "--milliseconds", &milliseconds])
            .args(["--in-flight", &in_flight.to_string()])
            .output()?;
        Ok(String::from_utf8(output.stdout)?.trim().parse()?)
    }

    /// The middle of three.
    fn limit_of_three(&self, urls: &[String], in_flight: usize) -> Fallible<f64> {
        let mut rates = [0.0; 3];
        for rate in &mut rates {
            *rate = self.limit(urls, in_flight)?;
        }
        rates.sort_by(f64::total_cmp);
        Ok(rates[1])
    }

    async fn stream(&mut self, dev: &Dev, count: u64) -> Fallible<()> {
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
            wire::stream(&dev.changes, PATIENCE, &pieces).await?;
        }
        Ok(())
    }

    /// Lets changes wait, and then measures how fast they go out; deliveries a second.
    async fn drained(&mut self, dev: &Dev, changes: u64, deliveries: u64) -> Fallible<f64> {
        dev.rest(true).await?;
        let before = self.sink.events();
        self.stream(dev, changes).await?;
        let from = Instant::now();
        dev.rest(false).await?;
        self.sink.wait_for(before + deliveries, PATIENCE).await?;
        Ok(deliveries as f64 / from.elapsed().as_secs_f64())
    }

    async fn one_webhook(&mut self) -> Fallible<()> {
        let urls = [self.url("one")];
        let limit = self.limit_of_three(&urls, 8)?;
        let (database, dev) = self.started().await?;
        dev.subscribe(&urls).await?;
        eprintln!("a backlog to one webhook");
        let short = self.drained(&dev, SHORT_BACKLOG, SHORT_BACKLOG).await?;
        self.tell(
            Figure::plain("a backlog to one webhook", short, "deliveries/s")
                .beside(limit, Some(self.goal(0.5))),
        );
        eprintln!("changes streamed in and delivered at the same time");
        let (before, from) = (self.sink.events(), Instant::now());
        self.stream(&dev, 2 * SHORT_BACKLOG).await?;
        self.sink.wait_for(before + 2 * SHORT_BACKLOG, PATIENCE).await?;
        let streamed = (2 * SHORT_BACKLOG) as f64 / from.elapsed().as_secs_f64();
        self.tell(
            Figure::plain("streamed in and delivered", streamed, "deliveries/s")
                .beside(limit, Some(self.goal(0.2))),
        );
        eprintln!("single changes from {CONNECTIONS} connections, delivered at the same time");
        let single = self.singles(&dev).await?;
        self.tell(
            Figure::plain("single changes and delivered", single, "deliveries/s")
                .beside(limit, Some(self.goal(0.15))),
        );
        eprintln!("{PACE_PER_SECOND} changes a second");
        self.pace(&dev).await?;
        if self.options.only.as_deref() == Some("short") {
            return database.drop().await;
        }
        eprintln!("a backlog of {LONG_BACKLOG}");
        let long = self.drained(&dev, LONG_BACKLOG, LONG_BACKLOG).await?;
        // Short ones before and after it: the machine may have become another in between.
        let again = self.drained(&dev, SHORT_BACKLOG, SHORT_BACKLOG).await?;
        let shorts = f64::midpoint(short, again);
        self.tell(Figure::plain("a backlog of a million", long, "deliveries/s").beside(shorts, Some(0.9)));
        self.tell(Figure::plain("resident after a million", dev.resident_mib()?, "MiB"));
        drop(dev);
        database.drop().await
    }

    async fn singles(&mut self, dev: &Dev) -> Fallible<f64> {
        self.salt += 1;
        let (salt, span) = (self.salt, Duration::from_secs((self.options.seconds / 5).max(2)));
        let requests =
            wire::requests(&dev.changes, span.as_secs() * 60_000, |number| customer_line(salt, number));
        let (before, from) = (self.sink.events(), Instant::now());
        let (_, count) = wire::singles(&dev.changes, CONNECTIONS, span, &requests).await?;
        self.sink.wait_for(before + count, PATIENCE).await?;
        Ok(count as f64 / from.elapsed().as_secs_f64())
    }

    /// From the answer that a change is committed to its arrival at the receiver.
    async fn pace(&mut self, dev: &Dev) -> Fallible<()> {
        self.salt += 1;
        self.sink.note_arrivals();
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
        let told = std::cell::RefCell::new(&mut committed);
        let work = streams.iter_mut().map(|(stream, buffer)| async {
            loop {
                let number = next.replace(next.get() + 1);
                let Some(request) = requests.get(number) else {
                    return Ok::<_, Box<dyn std::error::Error>>(());
                };
                let due = Duration::from_nanos(1_000_000_000 / PACE_PER_SECOND * number as u64);
                tokio::time::sleep_until((from + due).into()).await;
                stream.write_all(request).await?;
                wire::answer(stream, buffer).await?;
                told.borrow_mut().insert(id_of(request), Instant::now());
            }
        });
        for done in futures_util::future::join_all(work).await {
            done?;
        }
        self.sink.wait_for(before + count, PATIENCE).await?;
        let arrivals = self.sink.arrivals();
        let mut took: Vec<f64> = committed
            .iter()
            .filter_map(|(id, at)| {
                Some(arrivals.get(id)?.saturating_duration_since(*at).as_secs_f64() * 1000.0)
            })
            .collect();
        took.sort_by(f64::total_cmp);
        let at = |share: usize| took.get(took.len() * share / 100).copied().unwrap_or(f64::MAX);
        self.tell(Figure::plain("commit to arrival at 500 a second, p50", at(50), "ms"));
        self.tell(Figure::plain("commit to arrival at 500 a second, p99", at(99), "ms").below(10.0));
        debug_assert!(lanes > 0);
        Ok(())
    }

    async fn fan_out(&mut self) -> Fallible<()> {
        eprintln!("one change to 100 webhooks");
        let urls: Vec<String> = (0..100).map(|number| self.url(&format!("fan/{number}"))).collect();
        let limit = self.limit_of_three(&urls, CONNECTIONS)?;
        let (database, dev) = self.started().await?;
        dev.subscribe(&urls).await?;
        self.drained(&dev, FANNED_OUT / 10, FANNED_OUT * 10).await?;
        let alone = self.drained(&dev, FANNED_OUT, FANNED_OUT * 100).await?;
        self.tell(
            Figure::plain("one change to 100 webhooks", alone, "deliveries/s")
                .beside(limit, Some(self.goal(0.5))),
        );
        eprintln!("the same with a dead receiver among them");
        dev.subscribe(&[urls.clone(), vec![self.url("dead")]].concat()).await?;
        // It takes none, but it is sent some: they are counted by the sink too.
        let before = self.sink.events();
        let with_dead = self.drained(&dev, FANNED_OUT, FANNED_OUT * 100).await?;
        let again = self.drained(&dev, FANNED_OUT, FANNED_OUT * 100).await?;
        debug_assert!(self.sink.events() > before);
        self.tell(
            Figure::plain("the same, a dead receiver among them", with_dead.max(again), "deliveries/s")
                .beside(alone, Some(0.95)),
        );
        drop(dev);
        database.drop().await
    }

    async fn many_addresses(&mut self) -> Fallible<()> {
        eprintln!("{MANY_ADDRESSES} webhooks on addresses of their own");
        let url = |number: u64| {
            format!("http://127.1.{}.{}:{}/many", number / 250, number % 250 + 1, self.sink.port)
        };
        let urls: Vec<String> = (0..MANY_ADDRESSES).map(url).collect();
        let limit = self.limit_of_three(&urls, CONNECTIONS)?;
        let (database, dev) = self.started().await?;
        dev.subscribe(&urls).await?;
        self.drained(&dev, 20, 20 * MANY_ADDRESSES).await?;
        let rate = self.drained(&dev, 100, 100 * MANY_ADDRESSES).await?;
        self.tell(
            Figure::plain("1,000 webhooks on distinct addresses", rate, "deliveries/s")
                .beside(limit, Some(self.goal(0.4))),
        );
        drop(dev);
        database.drop().await
    }

    async fn idle(&mut self) -> Fallible<()> {
        eprintln!("{IDLE} webhooks that rest");
        let (database, mut dev) = self.started().await?;
        dev.add_applications(49).await?;
        let before = dev.resident_mib()?;
        let urls: Vec<String> = (0..IDLE).map(|number| self.url(&format!("idle/{number}"))).collect();
        let accepted = self.sink.handshakes() + IDLE;
        dev.ask(&urls).await?;
        let from = Instant::now();
        while self.sink.handshakes() < accepted && from.elapsed() < PATIENCE {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
        let share = dev.core_share(Duration::from_secs(10)).await?;
        let grown = dev.resident_mib()? - before;
        self.tell(Figure::plain("100,000 idle webhooks, resident", grown, "MiB").below(100.0));
        self.tell(Figure::plain("100,000 idle webhooks, of a core", share * 100.0, "%").below(1.0));
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
