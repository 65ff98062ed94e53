//! The token benchmark: code exchanges and refreshes per second on one core, beside the raw signatures per second of that core.

use std::cell::Cell;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::database::Database;
use crate::program::{BareHandler, PreparedStore};
use crate::report::{Figure, Report};
use crate::sign_in::{Application, SignedIn};
use crate::signing::raw_on;
use crate::{Fallible, Options, wire};

/// The program has this core; the load generator has the other.
const CORE: &str = "0";
const CONNECTIONS: usize = 32;
/// An exchange and a refresh each sign an access token and an id_token.
const SIGNATURES: f64 = 2.0;
const REFRESH_GOAL: f64 = 0.6;
/// The wanted ratio to a static response of the same program.
const STATIC_GOAL: f64 = 0.9;

pub(crate) fn run(options: &Options) -> Fallible<Report> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(measure(options))
}

async fn measure(options: &Options) -> Fallible<Report> {
    let seconds = (options.seconds / 7).max(1);
    let span = Duration::from_secs(seconds);
    let database = Database::new(options).await?;
    let store = PreparedStore::new(&options.program, &database.url)?;
    let application = Application::register(&store)?;
    let program = store.start_on(CORE)?;
    let user = application.sign_in(program.public).await?;

    eprintln!("raw signing, before");
    let before = raw_on(CORE, seconds)?;
    eprintln!("refreshes");
    let refreshes = refreshes(&user, program.public, span).await?;
    eprintln!("raw signing, between");
    let between = raw_on(CORE, seconds)?;
    eprintln!("code exchanges");
    let exchanges = exchanges(&user, program.public, span).await?;
    let after = raw_on(CORE, seconds)?;

    eprintln!("discovery and keys");
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").into_bytes();
    let discovery = get("/auth/core/.well-known/openid-configuration");
    let documents = repeated(program.public, &discovery, span).await?;
    let keys = repeated(program.public, &get("/auth/core/.well-known/jwks"), span).await?;
    let livez = repeated(program.public, &get("/livez"), span).await?;
    drop(program);
    let handler = BareHandler::start_on(CORE)?;
    let fixed = repeated(handler.target.address.parse()?, &get("/fixed"), span).await?;
    drop(handler);

    let is_sqlite = !database.is_postgres();
    let goal = is_sqlite.then_some(REFRESH_GOAL);
    let signed = |rate: f64| rate * SIGNATURES;
    let figures = vec![
        Figure::plain("raw signing, one core", (before + between + after) / 3.0, "signatures/s"),
        Figure::plain("refreshes", refreshes, "requests/s"),
        Figure::plain("refreshes, signatures", signed(refreshes), "signatures/s")
            .beside(f64::midpoint(before, between), goal),
        Figure::plain("code exchanges", exchanges, "requests/s"),
        Figure::plain("code exchanges, signatures", signed(exchanges), "signatures/s")
            .beside(f64::midpoint(between, after), None),
        Figure::plain("discovery, beside /livez", documents, "requests/s").beside(livez, Some(STATIC_GOAL)),
        Figure::plain("keys, beside /livez", keys, "requests/s").beside(livez, Some(STATIC_GOAL)),
        Figure::plain("/livez, beside a bare handler", livez, "requests/s").beside(fixed, None),
    ];
    database.drop().await?;
    Ok(Report { bench: "tokens".into(), store: options.store.clone(), figures })
}

/// Every connection has its own refresh token, and each response brings the next one.
async fn refreshes(user: &SignedIn, address: SocketAddr, span: Duration) -> Fallible<f64> {
    let codes = user.codes(CONNECTIONS).await?;
    let mut first = Vec::new();
    let mut stream = TcpStream::connect(address).await?;
    for code in &codes {
        first.push(call(&mut stream, &user.exchange(code)).await?);
    }
    let responses = Cell::new(0_u64);
    let from = Instant::now();
    let work = first.into_iter().map(|token| async {
        let mut token = token;
        let mut stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        while from.elapsed() < span {
            token = call(&mut stream, &user.refresh(&token)).await?;
            responses.set(responses.get() + 1);
        }
        Ok::<_, Box<dyn std::error::Error>>(())
    });
    for done in futures_util::future::join_all(work).await {
        done?;
    }
    Ok(responses.get() as f64 / from.elapsed().as_secs_f64())
}

/// Exchanges codes issued beforehand, until the time or the codes run out.
async fn exchanges(user: &SignedIn, address: SocketAddr, span: Duration) -> Fallible<f64> {
    let count = usize::try_from(span.as_secs().max(1))? * 2000;
    let codes = user.codes(count.min(8000)).await?;
    let next = Cell::new(0);
    let from = Instant::now();
    let work = (0..CONNECTIONS).map(|_| async {
        let mut stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        while from.elapsed() < span
            && let Some(code) = codes.get(next.get())
        {
            next.set(next.get() + 1);
            call(&mut stream, &user.exchange(code)).await?;
        }
        Ok::<_, Box<dyn std::error::Error>>(())
    });
    for done in futures_util::future::join_all(work).await {
        done?;
    }
    Ok(next.get() as f64 / from.elapsed().as_secs_f64())
}

/// Calls the token endpoint and returns the refresh token of the response.
async fn call(stream: &mut TcpStream, request: &[u8]) -> Fallible<String> {
    const TOKEN: &[u8] = b"\"refresh_token\":\"";
    stream.write_all(request).await?;
    let mut buffer = vec![0; 16 * 1024];
    let response = wire::response(stream, &mut buffer).await?;
    let at = wire::find(response, TOKEN).ok_or_else(|| String::from_utf8_lossy(response).into_owned())?;
    let token = response[at + TOKEN.len()..].split(|byte| *byte == b'"').next().unwrap_or_default();
    Ok(String::from_utf8(token.to_vec())?)
}

/// Repeats one request on every connection.
async fn repeated(address: SocketAddr, request: &[u8], span: Duration) -> Fallible<f64> {
    let responses = Cell::new(0_u64);
    let from = Instant::now();
    let work = (0..CONNECTIONS).map(|_| async {
        let mut stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let mut buffer = vec![0; 16 * 1024];
        while from.elapsed() < span {
            stream.write_all(request).await?;
            let response = wire::response(&mut stream, &mut buffer).await?;
            if !response.starts_with(b"HTTP/1.1 200") {
                return Err(String::from_utf8_lossy(response).into());
            }
            responses.set(responses.get() + 1);
        }
        Ok::<_, Box<dyn std::error::Error>>(())
    });
    for done in futures_util::future::join_all(work).await {
        done?;
    }
    Ok(responses.get() as f64 / from.elapsed().as_secs_f64())
}
