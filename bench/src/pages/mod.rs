//! The page benchmark: how long every page of the developer portal and of the operator console takes with a million records,
//! a million deliveries in the history and a thousand webhooks of one team, beside the front page, which shows no data.

mod console;
mod counts;
mod data;
mod history;
mod people;
mod routes;
mod sandbox;
mod team;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::database::Database;
use crate::program::{PreparedStore, Program};
use crate::report::{Figure, Report};
use crate::{Fallible, Options, wire};
use data::{Dataset, Size};
use routes::{BARE, Page, Site};

/// What every page must stay below.
const P99_MS: f64 = 50.0;
/// Visits of each page, whatever the time: fewer say nothing about the slowest of a hundred.
const ROUNDS_MIN: usize = 200;
const WARM_UP_ROUNDS: usize = 5;
/// `--only small` checks within a few seconds that the benchmark runs.
const SMALL_ROUNDS: usize = 10;

pub(crate) fn run(options: &Options) -> Fallible<Report> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(measure(options))
}

async fn measure(options: &Options) -> Fallible<Report> {
    // A page without its place here is an error before the data is written.
    routes::check()?;
    let size = Size::of(options.only.as_deref())?;
    let database = Database::new(options).await?;
    let store = PreparedStore::new(&options.program, &database.url)?;
    let data = data::write(&store, &database, &size).await?;
    let mut visitor = Visitor::new(store.start()?, &data).await?;
    let mut pages = routes::pages(&data, &visitor.webhooks_cursor(&data).await?);
    pages.extend(console::pages(&data)?);
    visitor.look_at(&pages).await?;
    let span = Duration::from_secs(options.seconds);
    let rounds_min = if size.is_small { SMALL_ROUNDS } else { ROUNDS_MIN };
    eprintln!("{} pages in turn, {rounds_min} times at least", pages.len());
    let visits = visitor.visit(&pages, span, rounds_min).await?;
    let resident = visitor.program.resident_mib()?;
    drop(visitor);
    database.drop().await?;
    let mut figures = figures(&pages, &visits)?;
    figures.push(Figure::plain("visits of each page", visits[0].len() as f64, "visits"));
    figures.push(Figure::plain("resident", resident, "MiB"));
    Ok(Report { bench: "pages".into(), store: options.store.clone(), figures })
}

/// The latencies of one page in milliseconds, sorted.
struct Visits(Vec<f64>);

impl Visits {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn percentile(&self, share: usize) -> f64 {
        self.0.get(self.0.len() * share / 100).copied().unwrap_or_default()
    }
}

fn figures(pages: &[Page], visits: &[Visits]) -> Fallible<Vec<Figure>> {
    let bare = pages.iter().position(|page| page.name == BARE).ok_or("the front page was not measured")?;
    let bare = &visits[bare];
    let of_page = |(page, visits): (&Page, &Visits)| {
        let p99 = Figure::plain(&format!("{}, p99", page.name), visits.percentile(99), "ms");
        let p50 = Figure::plain(&format!("{}, p50", page.name), visits.percentile(50), "ms");
        [p99.beside(bare.percentile(99), None).below(P99_MS), p50.beside(bare.percentile(50), None)]
    };
    Ok(pages.iter().zip(visits).flat_map(of_page).collect())
}

/// A developer and an operator, both signed in, with one connection each.
struct Visitor {
    program: Program,
    portal: Connection,
    console: Connection,
}

struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    head: String,
}

impl Connection {
    async fn new(address: SocketAddr, cookie: &str) -> Fallible<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let head = format!(
            " HTTP/1.1\r\nhost: {address}\r\naccept: text/html\r\naccept-language: es\r\ncookie: {cookie}\r\n\r\n"
        );
        Ok(Self { stream, buffer: vec![0; 1024 * 1024], head })
    }

    async fn get(&mut self, path: &str) -> Fallible<&str> {
        self.stream.write_all(format!("GET {path}{}", self.head).as_bytes()).await?;
        let response = wire::response(&mut self.stream, &mut self.buffer).await?;
        if !response.starts_with(b"HTTP/1.1 200") {
            let text = String::from_utf8_lossy(response);
            return Err(format!("{path}: {}", text.chars().take(2000).collect::<String>()).into());
        }
        Ok(std::str::from_utf8(response)?)
    }
}

impl Visitor {
    async fn new(program: Program, data: &Dataset) -> Fallible<Self> {
        let portal = Connection::new(program.public, &data.cookie).await?;
        let console = Connection::new(program.operator, &data.operator_cookie).await?;
        Ok(Self { program, portal, console })
    }

    async fn get(&mut self, page: &Page) -> Fallible<&str> {
        let connection = match page.site {
            Site::Portal => &mut self.portal,
            Site::Console => &mut self.console,
        };
        connection.get(&page.path).await
    }

    /// The cursor of a page in the middle of the list of webhooks.
    async fn webhooks_cursor(&mut self, data: &Dataset) -> Fallible<String> {
        let mut cursor = String::new();
        for _ in 0..data.webhooks / 100 {
            let path = data.team_path(&format!("webhooks?format=json{cursor}"));
            let page = self.portal.get(&path).await?;
            let body = page.split_once("\r\n\r\n").ok_or("no body")?.1;
            let page: serde_json::Value = serde_json::from_str(body)?;
            let next = page["next"].as_str().ok_or("the list of webhooks ends early")?;
            cursor = format!("&after={next}");
        }
        Ok(cursor.trim_start_matches("&after=").to_owned())
    }

    /// Checks that every page shows the data that it is measured with.
    async fn look_at(&mut self, pages: &[Page]) -> Fallible<()> {
        for page in pages {
            let text = self.get(page).await?;
            // Long names may break at their separators.
            let plain = text.replace("<wbr>", "");
            if let Some(missing) = page.shows.iter().find(|shown| !plain.contains(shown.as_str())) {
                return Err(format!("{} does not show {missing:?}:\n{text}", page.path).into());
            }
        }
        Ok(())
    }

    /// Visits the pages in turn, so that the moods of the machine meet all of them.
    async fn visit(&mut self, pages: &[Page], span: Duration, rounds_min: usize) -> Fallible<Vec<Visits>> {
        let mut visits: Vec<Vec<f64>> = pages.iter().map(|_| Vec::new()).collect();
        for _ in 0..WARM_UP_ROUNDS {
            for page in pages {
                self.get(page).await?;
            }
        }
        let from = Instant::now();
        while from.elapsed() < span || visits[0].len() < rounds_min {
            for (page, latencies) in pages.iter().zip(&mut visits) {
                let sent = Instant::now();
                self.get(page).await?;
                latencies.push(sent.elapsed().as_secs_f64() * 1000.0);
            }
        }
        let sorted = visits.into_iter().map(|mut latencies| {
            latencies.sort_unstable_by(f64::total_cmp);
            Visits(latencies)
        });
        Ok(sorted.collect())
    }
}
