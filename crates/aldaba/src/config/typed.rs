//! The typed configuration: every value is parsed and validated, and secrets cannot be printed.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use domain::Secret;
use ipnet::IpNet;
use operator::operations::configuration::ConfigurationKey;
use serde::{Serialize, Serializer};
use webhooks::management::{HostCheck, WEBHOOKS_MAX};

use super::ConfigFault;
use super::backup::Backup;
use super::layers::Settings;
use super::logging::{Logging, logging};
use super::mail::Mail;
use super::portal::Portal;
use super::reader::SettingsReader;
use super::second_factor::SecondFactor;
use crate::documents::Prefill;

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Config {
    pub(crate) server: Server,
    pub(crate) operator: OperatorSide,
    pub(crate) store: StoreSide,
    pub(crate) identity: Identity,
    pub(crate) gateway: Gateway,
    pub(crate) delivery: Delivery,
    pub(crate) egress: Egress,
    pub(crate) mail: Mail,
    pub(crate) portal: Portal,
    pub(crate) retention: Retention,
    pub(crate) backup: Backup,
    pub(crate) logging: Logging,
    /// Every key with its source; secrets are not in it.
    #[serde(skip)]
    pub(crate) keys: Vec<ConfigurationKey>,
    /// What `aldaba dev` shows to developers. No key sets it: `serve` never has it.
    #[serde(skip)]
    pub(crate) development: Option<Prefill>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Server {
    pub(crate) listen: SocketAddr,
    pub(crate) base_url: String,
    pub(crate) auth_url: String,
    pub(crate) tls: Option<Tls>,
    #[serde(serialize_with = "seconds")]
    pub(crate) drain_delay: Duration,
    #[serde(serialize_with = "seconds")]
    pub(crate) drain: Duration,
    pub(crate) connections_max: usize,
    pub(crate) connections_per_address_max: usize,
    #[serde(serialize_with = "seconds")]
    pub(crate) header_timeout: Duration,
    #[serde(serialize_with = "seconds")]
    pub(crate) body_timeout: Duration,
    #[serde(serialize_with = "seconds")]
    pub(crate) write_timeout: Duration,
    #[serde(serialize_with = "seconds")]
    pub(crate) idle_timeout: Duration,
    pub(crate) trusted_proxies: Vec<IpNet>,
    /// Whether the page of the OpenAPI document is served.
    pub(crate) docs: bool,
    pub(crate) peer_is_client: bool,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Tls {
    pub(crate) certificates: PathBuf,
    pub(crate) key: PathBuf,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct OperatorSide {
    pub(crate) listen: SocketAddr,
    pub(crate) url: String,
    pub(crate) tls: Option<Tls>,
    pub(crate) accept_plain_http: bool,
    #[serde(serialize_with = "hidden")]
    pub(crate) token: Option<Secret>,
    pub(crate) connections_max: usize,
    pub(crate) trusted_proxies: Vec<IpNet>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct StoreSide {
    pub(crate) url: StoreUrl,
    #[serde(serialize_with = "hidden")]
    pub(crate) master_key: Option<Secret>,
    pub(crate) connections_max: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoreUrl {
    Sqlite(PathBuf),
    Postgres(String),
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Identity {
    #[serde(serialize_with = "seconds")]
    pub(crate) code_ttl: Duration,
    #[serde(serialize_with = "seconds")]
    pub(crate) access_token_ttl: Duration,
    #[serde(serialize_with = "seconds")]
    pub(crate) refresh_token_ttl: Duration,
    pub(crate) refresh_sliding: bool,
    #[serde(serialize_with = "seconds")]
    pub(crate) refresh_grace: Duration,
    #[serde(serialize_with = "seconds")]
    pub(crate) session_ttl: Duration,
    #[serde(serialize_with = "seconds")]
    pub(crate) key_period: Duration,
    pub(crate) address_failures_max: u32,
    pub(crate) hashing_parallel: usize,
    pub(crate) hashing_queue_max: usize,
    pub(crate) second_factor: SecondFactor,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Gateway {
    pub(crate) rate_per_minute: u32,
    pub(crate) quota_per_day: u64,
    pub(crate) call_log: bool,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Delivery {
    #[serde(serialize_with = "all_seconds")]
    pub(crate) schedule: Vec<Duration>,
    #[serde(serialize_with = "seconds")]
    pub(crate) window: Duration,
    #[serde(serialize_with = "seconds")]
    pub(crate) timeout: Duration,
    pub(crate) in_flight_per_webhook: usize,
    pub(crate) in_flight: usize,
    #[serde(serialize_with = "seconds")]
    pub(crate) share_after: Duration,
    pub(crate) webhooks_max: usize,
    #[serde(serialize_with = "host_check_name")]
    pub(crate) host_check: HostCheck,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Egress {
    pub(crate) allow: Vec<IpNet>,
    pub(crate) accept_wide_ranges: bool,
    pub(crate) loopback: bool,
    pub(crate) accept_loopback: bool,
    pub(crate) sockets_max: usize,
    pub(crate) ca_file: Option<PathBuf>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Retention {
    #[serde(serialize_with = "seconds")]
    pub(crate) log: Duration,
    #[serde(serialize_with = "seconds")]
    pub(crate) idempotency_keys: Duration,
    #[serde(serialize_with = "seconds")]
    pub(crate) audit: Duration,
    #[serde(serialize_with = "seconds")]
    pub(crate) calls: Duration,
    #[serde(serialize_with = "seconds")]
    pub(crate) reads: Duration,
    #[serde(serialize_with = "seconds")]
    pub(crate) deliveries: Duration,
    #[serde(serialize_with = "seconds")]
    pub(crate) every: Duration,
}

impl StoreUrl {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Some(Self::Postgres(text.to_owned()));
        }
        text.strip_prefix("sqlite:").filter(|path| !path.is_empty()).map(|path| Self::Sqlite(path.into()))
    }

    /// Without the user and password of a PostgreSQL URL. Of its parameters only those without secrets are shown, and of
    /// one that cannot be taken apart with certainty nothing.
    pub(crate) fn without_secrets(&self) -> String {
        const SHOWN: [&str; 4] = ["sslmode", "sslrootcert", "connect_timeout", "target_session_attrs"];
        let url = match self {
            Self::Sqlite(path) => return format!("sqlite:{}", path.display()),
            Self::Postgres(url) => url.split_once("://").map_or("", |(_, rest)| rest),
        };
        let (place, query) = url.split_once('?').unwrap_or((url, ""));
        let place = match place.rsplit_once('@') {
            Some((_, place)) => place,
            None if url.contains('@') => return "postgres://…".to_owned(),
            None => place,
        };
        let is_shown = |pair: &&str| pair.split_once('=').is_some_and(|(name, _)| SHOWN.contains(&name));
        let shown: Vec<&str> = query.split('&').filter(is_shown).collect();
        let query = if shown.is_empty() { String::new() } else { format!("?{}", shown.join("&")) };
        format!("postgres://…@{place}{query}")
    }
}

impl Serialize for StoreUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.without_secrets())
    }
}

pub(super) fn seconds<S: Serializer>(span: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(span.as_secs_f64())
}

fn all_seconds<S: Serializer>(spans: &[Duration], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(spans.iter().map(Duration::as_secs_f64))
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference to the field")]
fn host_check_name<S: Serializer>(check: &HostCheck, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(check.as_str())
}

#[allow(clippy::ref_option, reason = "serde calls it with a reference to the field")]
pub(super) fn hidden<S: Serializer>(secret: &Option<Secret>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(if secret.is_some() { "***" } else { "" })
}

/// The configuration and all errors in it.
pub(super) fn read(settings: &Settings) -> (Config, Vec<ConfigFault>) {
    let mut reader = SettingsReader::new(settings);
    let config = Config {
        server: server(&mut reader),
        operator: OperatorSide {
            listen: reader.address("operator.listen"),
            url: reader.prefixed_url("operator.url"),
            tls: tls(&mut reader, "operator"),
            accept_plain_http: reader.flag("operator.accept_plain_http"),
            token: reader.optional("operator.token").map(Secret::new),
            connections_max: reader.number("operator.connections_max", 1, 1_000_000),
            trusted_proxies: reader.proxies("operator.trusted_proxies"),
        },
        store: StoreSide {
            url: reader.parsed(
                "store.url",
                StoreUrl::Sqlite(PathBuf::new()),
                StoreUrl::parse,
                "must be sqlite:PATH or postgres://user:password@host/database",
            ),
            master_key: reader.optional("store.master_key").map(Secret::new),
            connections_max: reader.number("store.connections_max", 1, 1000),
        },
        identity: identity(&mut reader),
        gateway: Gateway {
            rate_per_minute: reader.number("gateway.rate_per_minute", 0, 10_000_000),
            quota_per_day: reader.number("gateway.quota_per_day", 0, 1_000_000_000_000),
            call_log: reader.flag("gateway.call_log"),
        },
        delivery: delivery(&mut reader),
        egress: Egress {
            allow: reader.networks("egress.allow"),
            accept_wide_ranges: reader.flag("egress.accept_wide_ranges"),
            loopback: reader.flag("egress.loopback"),
            accept_loopback: reader.flag("egress.accept_loopback"),
            sockets_max: reader.number("egress.sockets_max", 16, 100_000),
            ca_file: reader.optional("egress.ca_file").map(PathBuf::from),
        },
        mail: super::mail::mail(&mut reader),
        portal: super::portal::portal(&mut reader),
        retention: Retention {
            log: reader.duration("retention.log"),
            idempotency_keys: reader.duration("retention.idempotency_keys"),
            audit: reader.span("retention.audit", "1h", "36500d"),
            calls: reader.span("retention.calls", "24h", "36500d"),
            reads: reader.span("retention.reads", "24h", "36500d"),
            deliveries: reader.span("retention.deliveries", "1h", "36500d"),
            every: reader.span("retention.every", "1s", "1h"),
        },
        backup: super::backup::backup(&mut reader),
        logging: logging(&mut reader),
        keys: super::report::keys(settings),
        development: None,
    };
    (config, reader.faults)
}

fn delivery(reader: &mut SettingsReader<'_>) -> Delivery {
    let host_check = |text: &str| HostCheck::ALL.into_iter().find(|check| check.as_str() == text);
    Delivery {
        schedule: reader.durations("delivery.schedule"),
        window: reader.duration("delivery.window"),
        timeout: reader.span("delivery.timeout", "100ms", "1m"),
        in_flight_per_webhook: reader.number("delivery.in_flight_per_webhook", 1, 1000),
        in_flight: reader.number("delivery.in_flight", 4, 100_000),
        share_after: reader.span("delivery.share_after", "1s", "1h"),
        webhooks_max: reader.number("delivery.webhooks_max", 1, WEBHOOKS_MAX.try_into().unwrap_or(i64::MAX)),
        host_check: reader.parsed(
            "delivery.host_check",
            HostCheck::default(),
            host_check,
            "must be off, warn or enforce",
        ),
    }
}

fn identity(reader: &mut SettingsReader<'_>) -> Identity {
    Identity {
        code_ttl: reader.span("identity.code_ttl", "1ms", "1h"),
        access_token_ttl: reader.span("identity.access_token_ttl", "1ms", "24h"),
        refresh_token_ttl: reader.span("identity.refresh_token_ttl", "1ms", "3650d"),
        refresh_sliding: reader.flag("identity.refresh_sliding"),
        refresh_grace: reader.span("identity.refresh_grace", "0s", "10m"),
        session_ttl: reader.span("identity.session_ttl", "1ms", "365d"),
        key_period: reader.span_or_never("identity.key_period", "2d", "3650d"),
        address_failures_max: reader.number("identity.address_failures_max", 1, 1_000_000),
        hashing_parallel: reader.number("identity.hashing_parallel", 0, 1024),
        hashing_queue_max: reader.number("identity.hashing_queue_max", 1, 100_000),
        second_factor: super::second_factor::second_factor(reader),
    }
}

/// The PEM files of a listener: both or none.
fn tls(reader: &mut SettingsReader<'_>, section: &str) -> Option<Tls> {
    let (certificates_key, key_key) = (format!("{section}.tls_certificates"), format!("{section}.tls_key"));
    match (reader.optional(&certificates_key), reader.optional(&key_key)) {
        (Some(certificates), Some(key)) => Some(Tls { certificates: certificates.into(), key: key.into() }),
        (None, None) => None,
        (None, Some(_)) => {
            reader.add_fault(&certificates_key, &format!("is missing: {key_key} needs it"));
            None
        }
        (Some(_), None) => {
            reader.add_fault(&key_key, &format!("is missing: {certificates_key} needs it"));
            None
        }
    }
}

fn server(reader: &mut SettingsReader<'_>) -> Server {
    let mut timeout = |key| reader.span(key, "100ms", "10m");
    let [header_timeout, body_timeout, write_timeout, idle_timeout] = [
        timeout("server.header_timeout"),
        timeout("server.body_timeout"),
        timeout("server.write_timeout"),
        timeout("server.idle_timeout"),
    ];
    Server {
        listen: reader.address("server.listen"),
        base_url: reader.url("server.base_url"),
        auth_url: reader.url("server.auth_url"),
        tls: tls(reader, "server"),
        drain_delay: reader.span("server.drain_delay", "0s", "5m"),
        drain: reader.duration("server.drain"),
        connections_max: reader.number("server.connections_max", 1, 1_000_000),
        connections_per_address_max: reader.number("server.connections_per_address_max", 0, 1_000_000),
        header_timeout,
        body_timeout,
        write_timeout,
        idle_timeout,
        trusted_proxies: reader.proxies("server.trusted_proxies"),
        docs: reader.flag("server.docs"),
        peer_is_client: reader.flag("server.peer_is_client"),
    }
}
