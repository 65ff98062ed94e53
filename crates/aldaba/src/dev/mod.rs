//! `aldaba dev`: the service on this machine with tenants, users, clients, keys and sample records. A restart on the
//! same data keeps all of them.

mod credentials;
mod docs_values;
mod headless_browser;
mod ready_line;
mod receiver;
mod start_page;
mod terminal_style;
mod token;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use ::store::{MasterKey, Store};
use domain::{ClientKind, Secret, TenantId, redirect_uri};
use operator::admin::Admin;
use operator::ingest::{Ingest, IngestRequest};

use crate::cli::{Dev, DevCommand};
use crate::config::{self, Config, Sources, StoreUrl};
use crate::exit::{CommandResult, Failure};
use crate::logging;
use crate::output::Output;
use crate::service::Service;
use crate::signals::{OnHangup, ShutdownSignals};
use crate::wiring::{self, BasePorts, SystemRandom};
use credentials::Credentials;

/// Not a secret: a development store contains plain credentials anyway, and `serve` refuses it.
const DEV_MASTER_KEY: [u8; 32] = *b"aldaba dev: not for production!!";
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);
const SAMPLE_COMPANIES: u32 = 3;
const SAMPLE_CUSTOMERS: u32 = 40;

/// A faster retry schedule for interactive use, with as many steps as the default.
const INTERACTIVE_SCHEDULE: &str = "1s,2s,5s,10s,30s,1m,5m";

pub(crate) async fn run(args: &Dev, sources: Sources, output: Output) -> CommandResult {
    match &args.command {
        Some(DevCommand::Token(wanted)) => token::run(wanted, output).await,
        None => start(args, sources, output).await,
    }
}

async fn start(args: &Dev, sources: Sources, output: Output) -> CommandResult {
    for uri in &args.redirect_uris {
        redirect_uri::check(uri, ClientKind::Web)
            .map_err(|why| Failure::Usage(format!("--redirect-uri {uri} {why}")))?;
    }
    // Installed first, so that a signal during the start still deletes the folder and closes the store.
    let signals = ShutdownSignals::install(OnHangup::Stop)?;
    let folder = Folder::choose(args)?;
    let mut config = configure(args, sources, &folder, output)?;
    logging::start(&config);
    let master = MasterKey::from_bytes(DEV_MASTER_KEY);
    let base = BasePorts::system();
    let opened =
        wiring::open(&config.store.url, config.store.connections_max, wiring::ports(&base, &master)?).await?;
    let store = opened.store.clone();
    let credentials = credentials::load_or_create(&admin(&config, store.clone()), args).await?;
    let credentials = load_sample(store.clone(), credentials, args.empty).await?;
    let receiver = receiver::start(with_port_offset(config.server.listen, 2), store.clone(), output).await;
    let receiver = receiver.map_err(ports_taken)?;
    let token = Secret::new(credentials.operator_token.clone());
    config.development = Some(docs_values::prefill(&credentials));
    let service = Service::bind(config, base, opened, &token).await.map_err(ports_taken)?;
    let admin = admin(service.config(), store.clone());
    credentials::register_docs_page(&admin, &credentials, &service.config().server).await?;
    let ready = ready_line::ReadyLine::new(&service, &credentials, &*store, receiver).await?;
    ready.write_to(&folder.path)?;
    ready.print(output);
    let served = service.start().run(signals).await;
    // Tells `dev token --data` that no server runs on this folder.
    let _ = std::fs::remove_file(folder.path.join(token::READY_FILE));
    drop(folder);
    served
}

fn ports_taken(failure: Failure) -> Failure {
    let remedy = "dev uses three consecutive ports (by default 8080, 8081 and 8082): choose others with --listen, \
                  for example --listen 127.0.0.1:18080";
    match failure {
        Failure::AddressInUse { why, .. } => Failure::AddressInUse { why, remedy: remedy.into() },
        other => other,
    }
}

fn admin(config: &Config, store: Arc<dyn Store>) -> Admin {
    Admin { authority: crate::commands::authority(), ..wiring::admin(config, &BasePorts::system(), store) }
}

/// The folder of the store's file. Dropping it deletes a temporary folder.
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

/// The configuration: the defaults of `dev`, then the configured values, then the flags of `dev`.
///
/// With `--json`, for programs, the retry schedule is the service's default.
fn configure(args: &Dev, mut sources: Sources, folder: &Folder, output: Output) -> Result<Config, Failure> {
    let listen = args.listen.unwrap_or(LISTEN);
    if !listen.ip().is_loopback() {
        let why = "dev has plain credentials and must listen on a loopback address such as 127.0.0.1:8080";
        return Err(Failure::Usage(format!("--listen {listen}: {why}")));
    }
    let store = match &args.store {
        Some(url) if StoreUrl::parse(url).is_none() => {
            return Err(Failure::Usage(format!("--store must be sqlite:PATH or postgres://…, not {url:?}")));
        }
        Some(url) => url.clone(),
        None => format!("sqlite:{}", folder.path.join("aldaba.db").display()),
    };
    let has_store_flag = args.store.is_some() || args.data.is_some();
    let own = [
        ("server.listen", listen.to_string(), args.listen.is_some()),
        ("store.url", store, has_store_flag),
        ("operator.listen", with_port_offset(listen, 1).to_string(), false),
        ("gateway.rate_per_minute", "0".to_owned(), false),
        ("delivery.host_check", "off".to_owned(), false),
        ("egress.loopback", "true".to_owned(), false),
        ("logging.level", "warn".to_owned(), false),
        ("server.drain", "2s".to_owned(), false),
        ("server.drain_delay", "0s".to_owned(), false),
    ];
    let schedule = ("delivery.schedule", INTERACTIVE_SCHEDULE.to_owned(), false);
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
            return Err(Failure::Usage(format!("{address}: dev must listen on a loopback address")));
        }
    }
    Ok(config)
}

/// The address with a higher port; port 0 stays 0.
fn with_port_offset(address: SocketAddr, offset: u16) -> SocketAddr {
    let port = if address.port() == 0 { 0 } else { address.port().saturating_add(offset) };
    SocketAddr::new(address.ip(), port)
}

/// Loads the sample records into a new store; later starts do not change the records.
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
            let mut request =
                IngestRequest::new(&crate::commands::authority(), TenantId::new(tenant.clone()))?;
            request.idempotency_key = Some("sample data".to_owned());
            let taken = Box::pin(ingest.run(&request, futures_util::stream::iter(lines), |_| {})).await;
            let answer = taken.map_err(|error| Failure::Failed(error.to_string()))?;
            if let Some(error) = answer.counts.errors.first() {
                return Err(Failure::Failed(format!("sample line {}: {}", error.line, error.fault.message)));
            }
        }
    }
    let settled = Credentials { sample_is_settled: true, ..credentials };
    settled.save(&*store).await?;
    Ok(settled)
}
