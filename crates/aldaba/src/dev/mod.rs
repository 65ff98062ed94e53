//! `aldaba dev`: everything on this machine, with tenants, users, applications, keys and sample records.
//! Started again on the same data, it is the same again.

mod browser;
mod credentials;
mod page;
mod paint;
mod ready;
mod receiver;
mod token;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use ::store::{MasterKey, Store};
use domain::{Secret, TenantId, redirect_uri};
use operator::admin::Admin;
use operator::ingest::{Ingest, IngestRequest};

use crate::cli::{Dev, DevCommand};
use crate::config::{self, Config, Sources, StoreUrl};
use crate::exit::{Failure, Outcome};
use crate::logging;
use crate::output::Output;

use crate::service::{Service, ShutdownSignals};
use crate::wiring::{self, BasePorts, SystemClock, SystemRandom};
use credentials::Credentials;

/// No secret: a development store holds its credentials in plain anyway, and is refused by `serve`.
const DEV_MASTER_KEY: [u8; 32] = *b"aldaba dev: not for production!!";
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);
const SAMPLE_COMPANIES: u32 = 3;
const SAMPLE_CUSTOMERS: u32 = 40;

/// For people, who want to see retries: the first within a second, and as many pauses as by default.
const WATCHED_SCHEDULE: &str = "1s,2s,5s,10s,30s,1m,5m";

pub(crate) async fn run(args: &Dev, sources: Sources, output: Output) -> Outcome {
    match &args.command {
        Some(DevCommand::Token(wanted)) => token::run(wanted, output).await,
        None => start(args, sources, output).await,
    }
}

async fn start(args: &Dev, sources: Sources, output: Output) -> Outcome {
    for uri in &args.redirect_uris {
        redirect_uri::check(uri).map_err(|why| Failure::Usage(format!("--redirect-uri {uri} {why}")))?;
    }
    // A start that is stopped half-way still finishes: the folder goes, the store is whole.
    let signals = ShutdownSignals::install()?;
    let folder = Folder::choose(args)?;
    let config = configure(args, sources, &folder, output)?;
    logging::start(&config);
    let master = MasterKey::from_bytes(DEV_MASTER_KEY);
    let opened = wiring::open(
        &config.store.url,
        config.store.connections_max,
        wiring::ports(&BasePorts::system(), &master)?,
    )
    .await?;
    let store = opened.store.clone();
    let credentials = credentials::ensure(&admin(store.clone()), args).await?;
    let credentials = load_sample(store.clone(), credentials, args.empty).await?;
    let receiver = receiver::start(beside(config.server.listen, 2), store.clone(), output).await;
    let receiver = receiver.map_err(ports_taken)?;
    let token = Secret::new(credentials.operator_token.clone());
    let service = Service::bind(config, BasePorts::system(), opened, &token).await.map_err(ports_taken)?;
    let ready = ready::Ready::new(&service, &credentials, &*store, receiver).await?;
    ready.leave_in(&folder.path)?;
    ready.print(output);
    let served = service.start().run(signals).await;
    // Nothing runs here any more.
    let _ = std::fs::remove_file(folder.path.join(token::RUNNING));
    drop(folder);
    served
}

fn ports_taken(failure: Failure) -> Failure {
    let remedy = "dev takes three ports in a row (8080, 8081 and 8082 unless told otherwise): move them all \
                  with --listen, as in --listen 127.0.0.1:18080";
    match failure {
        Failure::Busy { why, .. } => Failure::Busy { why, remedy: remedy.into() },
        other => other,
    }
}

fn admin(store: Arc<dyn Store>) -> Admin {
    Admin { store, clock: Arc::new(SystemClock), random: Arc::new(SystemRandom) }
}

/// Where the store's file lies; a temporary folder goes with this.
struct Folder {
    path: PathBuf,
    _temporary: Option<tempfile::TempDir>,
}

impl Folder {
    fn choose(args: &Dev) -> Result<Self, Failure> {
        if let Some(path) = &args.data {
            std::fs::create_dir_all(path)
                .map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))?;
            return Ok(Self { path: path.clone(), _temporary: None });
        }
        let temporary = tempfile::Builder::new().prefix("aldaba-dev-").tempdir()?;
        Ok(Self { path: temporary.path().to_owned(), _temporary: Some(temporary) })
    }
}

/// The configuration: development's own defaults, whatever was set, and the flags of `dev` on top.
///
/// Who starts it for a program (`--json`) gets the service's own schedule.
fn configure(args: &Dev, mut sources: Sources, folder: &Folder, output: Output) -> Result<Config, Failure> {
    let listen = args.listen.unwrap_or(LISTEN);
    if !listen.ip().is_loopback() {
        let why = "dev holds plain credentials and listens on this machine only, as in 127.0.0.1:8080";
        return Err(Failure::Usage(format!("--listen {listen}: {why}")));
    }
    let store = match &args.store {
        Some(url) if StoreUrl::parse(url).is_none() => {
            return Err(Failure::Usage(format!("--store takes sqlite:PATH or postgres://…, not {url:?}")));
        }
        Some(url) => url.clone(),
        None => format!("sqlite:{}", folder.path.join("aldaba.db").display()),
    };
    let store_given = args.store.is_some() || args.data.is_some();
    let own = [
        ("server.listen", listen.to_string(), args.listen.is_some()),
        ("store.url", store, store_given),
        ("operator.listen", beside(listen, 1).to_string(), false),
        ("gateway.rate_per_minute", "0".to_owned(), false),
        ("delivery.host_check", "off".to_owned(), false),
        ("egress.loopback", "true".to_owned(), false),
        ("logging.level", "warn".to_owned(), false),
        ("server.drain", "2s".to_owned(), false),
    ];
    let schedule = ("delivery.schedule", WATCHED_SCHEDULE.to_owned(), false);
    let is_set = |key: &str| {
        let variable = format!("ALDABA__{}", key.replacen('.', "__", 1).to_uppercase());
        sources.flags.iter().any(|(name, _)| name == key)
            || sources.environment.iter().any(|(name, _)| *name == variable)
    };
    let mut flags: Vec<(String, String)> = own
        .into_iter()
        .chain((!output.json).then_some(schedule))
        .filter(|(key, _, given)| *given || !is_set(key))
        .map(|(key, value, _)| (key.to_owned(), value))
        .collect();
    flags.append(&mut sources.flags);
    let config = config::load(&Sources { flags, ..sources }).map_err(Failure::Config)?;
    for address in [config.server.listen, config.operator.listen] {
        if !address.ip().is_loopback() {
            return Err(Failure::Usage(format!("{address}: dev listens on this machine only")));
        }
    }
    Ok(config)
}

/// The address some ports further; any port stays any port.
fn beside(address: SocketAddr, further: u16) -> SocketAddr {
    let port = if address.port() == 0 { 0 } else { address.port().saturating_add(further) };
    SocketAddr::new(address.ip(), port)
}

/// Sample records come once; after that the store is left as it is.
async fn load_sample(
    store: Arc<dyn Store>,
    credentials: Credentials,
    empty: bool,
) -> Result<Credentials, Failure> {
    if credentials.sample_is_settled {
        return Ok(credentials);
    }
    if !empty {
        let ingest = Ingest::new(store.clone(), Arc::new(SystemRandom));
        for (seed, tenant) in (1_u64..).zip(&credentials.tenants) {
            let plan =
                sample::Plan { seed, companies: SAMPLE_COMPANIES, customers_per_company: SAMPLE_CUSTOMERS };
            let lines =
                sample::changes(plan).map(|line| Ok::<_, std::convert::Infallible>((line + "\n").into()));
            let key = Some("sample data".to_owned());
            let request =
                IngestRequest { tenant: TenantId::new(tenant.clone()), idempotency_key: key, is_json: false };
            let taken = Box::pin(ingest.run(&request, futures_util::stream::iter(lines), |_| {})).await;
            let answer = taken.map_err(|error| Failure::Failed(error.to_string()))?;
            if let Some(error) = answer.counts.errors.first() {
                return Err(Failure::Failed(format!("sample line {}: {}", error.line, error.fault.message)));
            }
        }
    }
    let settled = Credentials { sample_is_settled: true, ..credentials };
    settled.keep(&*store).await?;
    Ok(settled)
}
