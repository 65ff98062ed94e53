//! The facts that the checks judge. The program gathers them.

use std::net::IpAddr;

use domain::Ticks;

/// The machine's clock beside the store's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClockFacts {
    /// By so many seconds the machine is ahead; nodes use the store's time where that is too much.
    Difference { seconds: f64, is_corrected: bool },
    /// The store is a file: it has no clock.
    NoOther,
    /// The store did not answer.
    Unknown,
}

/// The disk of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskFacts {
    pub directory: String,
    /// Or why it is not known.
    pub space: Result<DiskSpace, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskSpace {
    pub free_bytes: u64,
    pub total_bytes: u64,
}

/// The limit on open files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescriptorFacts {
    pub limit: u64,
    /// What the configured connections may take together.
    pub needed: u64,
    /// Open now, where the system tells.
    pub open: Option<u64>,
}

/// A configured public address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressFacts {
    pub key: &'static str,
    /// Empty: not configured.
    pub url: String,
    /// Whether only this machine can reach it.
    pub is_loopback: bool,
    /// Whether only operators use it.
    pub is_operators: bool,
    /// None: its host is an address, not a name.
    pub lookup: Option<Result<Vec<IpAddr>, String>>,
    pub response: AddressResponse,
}

/// What `GET {url}/livez` got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressResponse {
    /// This service answered.
    Alive,
    /// Something else answered, with this status.
    Other(u16),
    /// The certificate was not accepted.
    BadCertificate(String),
    Unreachable(String),
    NotTried,
}

/// What stands in front of a listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyFacts {
    pub listener: Listener,
    pub is_https: bool,
    pub has_tls: bool,
    pub trusted: Vec<String>,
    pub peer_is_client: bool,
    /// A sender of `X-Forwarded-For` that is not trusted.
    pub unnamed: Option<IpAddr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listener {
    Public,
    Operator,
}

impl Listener {
    pub(super) fn url_key(self) -> &'static str {
        match self {
            Self::Public => "server.base_url",
            Self::Operator => "operator.url",
        }
    }

    pub(super) fn proxies_key(self) -> &'static str {
        match self {
            Self::Public => "server.trusted_proxies",
            Self::Operator => "operator.trusted_proxies",
        }
    }
}

/// A configured file of certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFile {
    pub key: &'static str,
    pub path: String,
    /// The names that clients use.
    pub hosts: Vec<String>,
    pub chain: Result<CertificateFacts, String>,
}

/// A chain of certificates; the first one is the server's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFacts {
    pub not_before: Ticks,
    /// The earliest end of the chain.
    pub not_after: Ticks,
    pub certificates: usize,
    pub is_self_signed: bool,
    /// Whether each is issued by the one after it.
    pub is_ordered: bool,
    /// Of `hosts`, those that the first certificate is not for.
    pub other_hosts: Vec<String>,
}

/// A name of the configuration and what the resolver said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostLookup {
    pub host: String,
    pub result: Result<Vec<IpAddr>, String>,
}

/// The mail server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailFacts {
    pub server: String,
    pub connected: Result<(), String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreFacts {
    Postgres(PostgresFacts),
    Sqlite(SqliteFacts),
    /// The first start makes it.
    Missing,
    Silent(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "settings of the server, each on or off")]
pub struct PostgresFacts {
    /// `server_version_num`, as in 150004.
    pub version: u32,
    pub is_fsync_on: bool,
    pub are_full_pages_written: bool,
    pub synchronous_commit: String,
    pub connections_max: u32,
    /// For superusers and other roles.
    pub connections_reserved: u32,
    /// None: the server does not tell.
    pub connections_used: Option<u32>,
    /// What this node may open.
    pub own_connections_max: u32,
    pub wal_level: String,
    pub is_archiving: bool,
    /// The last attempt to archive failed.
    pub is_archiving_failing: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqliteFacts {
    pub journal_mode: String,
    /// 2 is FULL, 3 EXTRA.
    pub synchronous: i64,
    pub bytes: u64,
    pub integrity: SqliteIntegrity,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SqliteIntegrity {
    Intact,
    Damaged(String),
    /// The file is too large to be read in time.
    NotChecked,
}
