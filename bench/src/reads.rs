//! The read benchmark: reads per second on one core, beside a bare handler that returns the same bytes from memory on the same
//! core: a hot page, random pages over a million customers, and single accounts. Also the cost of deep pages and of filtered
//! pages relative to plain ones.

use std::io::Write as _;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::database::Database;
use crate::load::{Load, load, mixed};
use crate::program::{BareHandler, PreparedStore, Program};
use crate::report::{Figure, Report};
use crate::rows::{COMPANY, account_id, account_line, company_line, customer_line, payroll_line};
use crate::sign_in::Application;
use crate::{Fallible, Options, wire};

/// The program has this core; the load generator has the other.
const CORE: &str = "0";
const CONNECTIONS: usize = 64;
const CUSTOMERS: u64 = 1_000_000;
const ACCOUNTS: u64 = 10_000;
const PAYROLL_COMPANIES: u64 = 100_000;
const PIECE_LINES: u64 = 500;
const LOAD_TIMEOUT: Duration = Duration::from_mins(10);
/// Each figure is the median of this many rounds, to reduce noise.
const ROUNDS: usize = 3;
/// Rounds of the program and the bare handler in turn.
const PAIRED_ROUNDS: u64 = 15;

const HOT_GOAL: f64 = 0.6;
const RANDOM_GOAL: f64 = 0.3;
const ACCOUNT_GOAL: f64 = 0.5;
/// What the log of calls leaves of the rate without it.
const LOG_GOAL: f64 = 0.9;
const DEEP_GOAL: f64 = 1.3;
const FILTER_GOAL: f64 = 3.0;
const RESIDENT_MIB: f64 = 150.0;

pub(crate) fn run(options: &Options) -> Fallible<Report> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(measure(options))
}

/// A program filled with records, and the request head with a token that may read them.
struct ReadBench {
    program: Program,
    head: String,
    span: Duration,
}

async fn measure(options: &Options) -> Fallible<Report> {
    let database = Database::new(options).await?;
    let bench = fill_store(options, &database).await?;
    let hot_path = "/accounting/api/customers?pageSize=25";
    if let Some(figures) = bench.chosen_part(options, hot_path).await? {
        drop(bench);
        database.drop().await?;
        return Ok(report(options, figures));
    }
    eprintln!("hot page");
    let hot = bench.beside(hot_path, |_, path| write!(path, "{hot_path}")).await?;
    eprintln!("random pages");
    let random = bench.beside(hot_path, |number, path| page(path, mixed(number) % 40_000 + 1)).await?;
    let query_alone = bench.query_alone().await?;
    eprintln!("one account");
    let account_path = format!("/accounting/api/accounts/{}", account_id(7));
    let account = bench.beside(&account_path, |_, path| write!(path, "{account_path}")).await?;
    eprintln!("random accounts");
    let random_account = |number: u64, path: &mut Vec<u8>| {
        write!(path, "/accounting/api/accounts/{}", account_id(mixed(number) % ACCOUNTS))
    };
    let accounts = bench.beside(&account_path, random_account).await?;
    let logs = bench.call_log(hot_path).await?;
    eprintln!("first pages and deep pages, in turn");
    let first = |number: u64, path: &mut Vec<u8>| page(path, mixed(number) % 10_000 + 1);
    let deep = |number: u64, path: &mut Vec<u8>| page(path, mixed(number) % 10_000 + 30_001);
    let (first, deep) = bench.compare(1, first, deep).await?;
    eprintln!("payroll companies, plain and filtered");
    let plain = |number: u64, path: &mut Vec<u8>| {
        let (page, size) = (mixed(number) % 3000 + 1, mixed(number + 1) % 11 + 20);
        write!(path, "/payroll/api/companies?pageNumber={page}&pageSize={size}")
    };
    let filtered = |number: u64, path: &mut Vec<u8>| {
        let fraction = mixed(number) % 10_000_000;
        write!(path, "/payroll/api/companies?filter=lastUpdate%20gt%202026-06-01T00:00:00.{fraction:07}Z")
    };
    let (busy_plain, busy_filtered) = bench.compare(CONNECTIONS, plain, filtered).await?;
    let (plain, filtered) = bench.compare(1, plain, filtered).await?;
    let resident = bench.program.resident_mib()?;
    let on_sqlite = !database.is_postgres();
    drop(bench);
    database.drop().await?;
    let measurements = Measurements {
        beside: [
            ("hot page", hot),
            ("random pages", random),
            ("one account", account),
            ("random accounts", accounts),
        ],
        query_alone,
        logs,
        depth: (first, deep),
        payroll: (plain, filtered),
        busy_payroll: (busy_plain, busy_filtered),
        resident,
    };
    Ok(report(options, measurements.figures(on_sqlite)))
}

fn report(options: &Options, figures: Vec<Figure>) -> Report {
    Report { bench: "reads".into(), store: options.store.clone(), figures }
}

/// The results; each pair is the program and the bare handler, or the plain and the compared requests.
struct Measurements {
    beside: [(&'static str, (Load, Load)); 4],
    query_alone: Option<Load>,
    /// The hot page with the log of calls, and without it.
    logs: (Load, Load),
    depth: (Load, Load),
    payroll: (Load, Load),
    busy_payroll: (Load, Load),
    resident: f64,
}

impl Measurements {
    fn figures(&self, on_sqlite: bool) -> Vec<Figure> {
        let goal = |goal: f64| on_sqlite.then_some(goal);
        let goals = [goal(HOT_GOAL), goal(RANDOM_GOAL), goal(ACCOUNT_GOAL), None];
        let mut figures = Vec::new();
        for ((name, (program, bare)), goal) in self.beside.iter().zip(goals) {
            figures.push(Figure::plain(name, program.rate, "requests/s").beside(bare.rate, goal));
            figures.push(Figure::plain(&format!("{name}, p50"), program.p50_ms, "ms"));
            figures.push(Figure::plain(&format!("{name}, p99"), program.p99_ms, "ms"));
        }
        if let Some(query_alone) = &self.query_alone {
            let name = "random pages, the query alone behind a bare handler";
            let [_, (_, (_, bare)), ..] = &self.beside;
            figures.push(Figure::plain(name, query_alone.rate, "requests/s").beside(bare.rate, None));
        }
        let (logged, unlogged) = &self.logs;
        let log = Figure::plain("hot page, beside one without the log of calls", logged.rate, "requests/s");
        figures.push(log.beside(unlogged.rate, goal(LOG_GOAL)));
        let ((first, deep), (plain, filtered)) = (&self.depth, &self.payroll);
        let (busy_plain, busy_filtered) = &self.busy_payroll;
        figures.extend([
            Figure::plain("one of pages 1 to 10,000, p50", first.p50_ms, "ms"),
            Figure::plain("one of pages 30,001 to 40,000, p50", deep.p50_ms, "ms"),
            cost("a deep page, in first ones", first, deep, goal(DEEP_GOAL)),
            Figure::plain("a payroll page, p50", plain.p50_ms, "ms"),
            Figure::plain("payroll, lastUpdate gt, 1 %, p50", filtered.p50_ms, "ms"),
            cost("a filtered page, in plain ones", plain, filtered, goal(FILTER_GOAL)),
            Figure::plain("payroll pages, 64 connections", busy_plain.rate, "requests/s"),
            Figure::plain("payroll, lastUpdate gt, 64 connections", busy_filtered.rate, "requests/s"),
            Figure::plain("resident, a million records", self.resident, "MiB").below(RESIDENT_MIB),
        ]);
        figures
    }
}

fn page(path: &mut Vec<u8>, number: u64) -> std::io::Result<()> {
    write!(path, "/accounting/api/customers?pageSize=25&pageNumber={number}")
}

/// The round with the median ratio of the first rate to the second.
fn median_ratio(mut rounds: Vec<(Load, Load)>) -> (Load, Load) {
    let ratio = |round: &(Load, Load)| round.0.rate / round.1.rate;
    rounds.sort_by(|first, second| ratio(first).total_cmp(&ratio(second)));
    rounds.swap_remove(rounds.len() / 2)
}

/// The ratio of the second latency to the first.
fn cost(name: &str, first: &Load, second: &Load, goal: Option<f64>) -> Figure {
    let figure = Figure::plain(name, second.p50_ms / first.p50_ms, "times");
    match goal {
        Some(goal) => figure.below(goal),
        None => figure,
    }
}

async fn fill_store(options: &Options, database: &Database) -> Fallible<ReadBench> {
    let store = PreparedStore::new(&options.program, &database.url)?;
    let application = Application::register(&store)?;
    let key = store.command(&["key", "add", "Bench", "--json"], "")?;
    let key: serde_json::Value = serde_json::from_str(&key)?;
    let key = key["primary_key"].as_str().ok_or("no key")?.to_owned();
    let program = store.start_on(CORE)?;
    let user = application.sign_in(program.public).await?;
    let token = user.access_token().await?;
    eprintln!("loading {} records", CUSTOMERS + ACCOUNTS + PAYROLL_COMPANIES);
    let company = (company_line() + "\n").into_bytes();
    wire::stream(&program.target, LOAD_TIMEOUT, &[company]).await?;
    load_records(&program, CUSTOMERS, |number| customer_line(1, number)).await?;
    load_records(&program, ACCOUNTS, account_line).await?;
    load_records(&program, PAYROLL_COMPANIES, payroll_line).await?;
    let head = format!(
        " HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\nocp-apim-subscription-key: {key}\r\ncontext: {{\"clientId\":\"{COMPANY}\"}}\r\n\r\n",
        program.public
    );
    let figures = 16.0;
    let span = Duration::from_secs_f64((options.seconds as f64 / figures / PAIRED_ROUNDS as f64).max(0.5));
    Ok(ReadBench { program, head, span })
}

/// Loads this many records in parts, so that not all requests are in memory at once.
async fn load_records(program: &Program, count: u64, line: impl Fn(u64) -> String) -> Fallible<()> {
    let part = 100_000;
    for from in (0..count).step_by(part) {
        let to = (from + part as u64).min(count);
        let pieces: Vec<Vec<u8>> = (from..to)
            .step_by(usize::try_from(PIECE_LINES)?)
            .map(|at| {
                let lines = at..(at + PIECE_LINES).min(to);
                lines.flat_map(|number| (line(number) + "\n").into_bytes()).collect()
            })
            .collect();
        wire::stream(&program.target, LOAD_TIMEOUT, &pieces).await?;
    }
    Ok(())
}

impl ReadBench {
    /// The one part that the options name, if they do.
    async fn chosen_part(&self, options: &Options, hot_path: &str) -> Fallible<Option<Vec<Figure>>> {
        Ok(match options.only.as_deref() {
            Some("random") => Some(self.random_pages(hot_path).await?),
            Some("log") => Some(self.log_alone(hot_path).await?),
            _ => None,
        })
    }

    fn request(&self, path: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>, bytes: &mut Vec<u8>) {
        bytes.extend(b"GET ");
        // Writing to a Vec cannot fail.
        let _ = path(bytes);
        bytes.extend(self.head.as_bytes());
    }

    async fn load(
        &self,
        address: SocketAddr,
        connections: usize,
        path: &impl Fn(u64, &mut Vec<u8>) -> std::io::Result<()>,
        from: u64,
    ) -> Fallible<Load> {
        let request = |number: u64, bytes: &mut Vec<u8>| self.request(|to| path(from + number, to), bytes);
        load(address, connections, self.span, request).await
    }

    /// Sends requests to the program and, in turn, requests of the same length to a bare handler that returns the program's
    /// response body for `sample`. Returns the round with the median ratio, because the speed of the machine changes from
    /// second to second.
    async fn beside(
        &self,
        sample: &str,
        path: impl Fn(u64, &mut Vec<u8>) -> std::io::Result<()>,
    ) -> Fallible<(Load, Load)> {
        let body = self.body(sample).await?;
        let bare = BareHandler::returning(CORE, &body)?;
        let fixed: SocketAddr = bare.target.address.parse()?;
        let same = |_, to: &mut Vec<u8>| write!(to, "/fixed?{sample}");
        let mut rounds = Vec::new();
        for round in 0..PAIRED_ROUNDS {
            let program = self.load(self.program.public, CONNECTIONS, &path, round << 32).await?;
            rounds.push((program, self.load(fixed, CONNECTIONS, &same, 0).await?));
        }
        Ok(median_ratio(rounds))
    }

    /// The hot page from the program and, in turn, from a second process on the same core and store that does not log calls.
    async fn call_log(&self, path: &str) -> Fallible<(Load, Load)> {
        eprintln!("hot page, with and without the log of calls");
        let second = self.program.start_second(CORE, &[("ALDABA__GATEWAY__CALL_LOG", "false")])?;
        let same = |_, to: &mut Vec<u8>| write!(to, "{path}");
        let mut rounds = Vec::new();
        for _ in 0..PAIRED_ROUNDS {
            let logged = self.load(self.program.public, CONNECTIONS, &same, 0).await?;
            rounds.push((logged, self.load(second.public, CONNECTIONS, &same, 0).await?));
        }
        Ok(median_ratio(rounds))
    }

    /// Only the log of calls (`--only log`).
    async fn log_alone(&self, path: &str) -> Fallible<Vec<Figure>> {
        let (logged, unlogged) = self.call_log(path).await?;
        let figure =
            Figure::plain("hot page, beside one without the log of calls", logged.rate, "requests/s");
        Ok(vec![figure.beside(unlogged.rate, Some(LOG_GOAL))])
    }

    /// Only the random pages (`--only random`).
    async fn random_pages(&self, sample: &str) -> Fallible<Vec<Figure>> {
        eprintln!("random pages");
        let random = |number: u64, path: &mut Vec<u8>| page(path, mixed(number) % 40_000 + 1);
        let (program, bare) = self.beside(sample, random).await?;
        let mut figures = vec![
            Figure::plain("random pages", program.rate, "requests/s").beside(bare.rate, Some(RANDOM_GOAL)),
        ];
        if let Some(query_alone) = self.query_alone().await? {
            figures.push(
                Figure::plain("the query alone", query_alone.rate, "requests/s").beside(bare.rate, None),
            );
        }
        Ok(figures)
    }

    /// Random pages from a bare handler that reads the program's own SQLite file; none on PostgreSQL.
    async fn query_alone(&self) -> Fallible<Option<Load>> {
        let Some(file) = self.program.database() else { return Ok(None) };
        let bare = BareHandler::reading(CORE, &file)?;
        let address: SocketAddr = bare.target.address.parse()?;
        let path =
            |number: u64, to: &mut Vec<u8>| write!(to, "/page?pageNumber={}", mixed(number) % 40_000 + 1);
        let mut loads = Vec::new();
        for round in 0..ROUNDS as u64 {
            loads.push(self.load(address, CONNECTIONS, &path, round << 32).await?);
        }
        Ok(Some(Load::middle(loads)))
    }

    /// Sends two kinds of requests to the program in turn.
    async fn compare(
        &self,
        connections: usize,
        first: impl Fn(u64, &mut Vec<u8>) -> std::io::Result<()>,
        second: impl Fn(u64, &mut Vec<u8>) -> std::io::Result<()>,
    ) -> Fallible<(Load, Load)> {
        let (mut firsts, mut seconds) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS as u64 {
            firsts.push(self.load(self.program.public, connections, &first, round << 32).await?);
            seconds.push(self.load(self.program.public, connections, &second, round << 32).await?);
        }
        Ok((Load::middle(firsts), Load::middle(seconds)))
    }

    async fn body(&self, path: &str) -> Fallible<Vec<u8>> {
        let mut request = Vec::new();
        self.request(|to| write!(to, "{path}"), &mut request);
        let mut stream = TcpStream::connect(self.program.public).await?;
        stream.write_all(&request).await?;
        let mut buffer = vec![0; 64 * 1024];
        let response = wire::response(&mut stream, &mut buffer).await?;
        if !response.starts_with(b"HTTP/1.1 200") {
            return Err(String::from_utf8_lossy(response).into());
        }
        let head = wire::find(response, b"\r\n\r\n").ok_or("the response has no end of its head")?;
        Ok(response[head + 4..].to_vec())
    }
}
