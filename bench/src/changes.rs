//! The ingest benchmark: durable changes per second through the ingest API, beside the limit of the store itself.

use std::time::Duration;

use crate::database::Database;
use crate::program::{BareHandler, PreparedStore, Program};
use crate::report::{Figure, Report};
use crate::rows::{company_line, customer_line};
use crate::{Fallible, Options, bare, wire};

const CONNECTIONS: usize = 64;
/// Lines in one piece of the stream.
const PIECE_LINES: u64 = 100;
const READY_MILLISECONDS: f64 = 150.0;
const RESIDENT_MIB: f64 = 40.0;

pub(crate) fn run(options: &Options) -> Fallible<Report> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(measure(options))
}

async fn measure(options: &Options) -> Fallible<Report> {
    let sqlite = options.store == "sqlite";
    let span = Duration::from_secs(options.seconds) / 5;
    // Each measurement starts from an empty store, as the bare loop does.
    eprintln!("one stream");
    let database = Database::new(options).await?;
    let program = start_program(options, &database).await?;
    let (resident, ready_after) = (program.resident_mib()?, program.ready_after);
    let (streamed, lines) = wire::stream(&program.target, span, &pieces(span)).await?;
    drop(program);
    // Lines in one chunk of the ingest API.
    let chunk_lines = if sqlite { 100 } else { 1000 };
    let stream_limit = limit(&database, chunk_lines, span).await?;
    eprintln!("single lines");
    let database = Database::new(options).await?;
    let program = start_program(options, &database).await?;
    let (single, group) = singles(&program, span).await?;
    drop(program);
    let single_limit = limit(&database, group, span).await?;
    eprintln!("a bare handler");
    let handler = BareHandler::start()?;
    let requests = single_requests(&handler.target, span);
    let (from_memory, _) = wire::singles(&handler.target, CONNECTIONS, span, &requests).await?;
    drop(requests);

    let goal = |on_sqlite: f64, on_postgres: Option<f64>| if sqlite { Some(on_sqlite) } else { on_postgres };
    let figures = vec![
        Figure::plain("stream", streamed, "changes/s").beside(stream_limit, goal(0.5, Some(0.4))),
        Figure::plain("stream length", lines as f64, "changes"),
        Figure::plain("single lines, 64 connections", single, "changes/s")
            .beside(single_limit, goal(0.6, None)),
        Figure::plain("changes a commit, single lines", group as f64, "changes"),
        Figure::plain("bare handler, 64 connections", from_memory, "requests/s"),
        Figure::plain("start to /readyz", ready_after.as_secs_f64() * 1000.0, "ms").below(READY_MILLISECONDS),
        Figure::plain("resident, idle", resident, "MiB").below(RESIDENT_MIB),
    ];
    database.drop().await?;
    Ok(Report { bench: "changes".into(), store: options.store.clone(), figures })
}

/// The program with an empty store and the company of the changes.
async fn start_program(options: &Options, database: &Database) -> Fallible<Program> {
    let program = PreparedStore::new(&options.program, &database.url)?.start()?;
    let company = (company_line() + "\n").into_bytes();
    wire::stream(&program.target, Duration::from_secs(1), &[company]).await?;
    Ok(program)
}

/// Requests of one line each: their rate, and how many changes share a commit.
async fn singles(program: &Program, span: Duration) -> Fallible<(f64, u64)> {
    const COMMITS: &str = "aldaba_change_commits_total ";
    let requests = single_requests(&program.target, span);
    let before = program.counter(COMMITS)?;
    let (rate, count) = wire::singles(&program.target, CONNECTIONS, span, &requests).await?;
    let commits = program.counter(COMMITS)? - before;
    Ok((rate, (count + commits / 2) / commits.max(1)))
}

/// More requests than the program can handle in the time.
fn single_requests(target: &wire::Target, span: Duration) -> Vec<Vec<u8>> {
    wire::requests(target, span.as_secs().max(1) * 100_000, |number| customer_line(2, number))
}

/// More lines than the program can handle in the time, built beforehand.
fn pieces(span: Duration) -> Vec<Vec<u8>> {
    let count = span.as_secs().max(1) * 150_000 / PIECE_LINES;
    let piece = |at: u64| {
        let lines = at * PIECE_LINES..(at + 1) * PIECE_LINES;
        lines.flat_map(|number| (customer_line(1, number) + "\n").into_bytes()).collect()
    };
    (0..count).map(piece).collect()
}

/// The rate of the store without the program.
async fn limit(database: &Database, group: u64, span: Duration) -> Fallible<f64> {
    eprintln!("a bare loop, {group} rows a commit");
    if database.is_postgres() {
        bare::postgres(&database.url, group, span).await
    } else {
        bare::sqlite(group, span)
    }
}
