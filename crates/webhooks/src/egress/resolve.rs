//! Names to addresses: the port, and the resolver of the system behind it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use async_trait::async_trait;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::LookupIpStrategy;
use hickory_resolver::net::NetError;

/// A name that was made a moment ago must not stay unknown for as long as its zone says.
const UNKNOWN_MAX: Duration = Duration::from_secs(10);
const KEPT_NAMES_MAX: u64 = 4096;
/// For each connection to a name server that is shared by many questions.
const QUESTIONS_MAX: usize = 1024;

/// Finds the addresses of a name, all of them; the error says in plain words why there are none.
#[async_trait]
pub trait Resolve: Send + Sync + 'static {
    async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, String>;
}

/// Asks as the system is configured to: its hosts file, then its name servers. Answers are kept for as long as
/// their time to live. It waits without a thread, so a name whose servers are slow delays no other.
pub struct SystemResolver(Result<TokioResolver, String>);

impl SystemResolver {
    /// Where the configuration cannot be read, every look-up says so: who only calls addresses needs none.
    pub fn new() -> Self {
        Self(build().map_err(|error| format!("the system's resolver configuration is no good: {error}")))
    }
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for SystemResolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SystemResolver")
    }
}

fn build() -> Result<TokioResolver, NetError> {
    let mut builder = TokioResolver::builder_tokio()?;
    let options = builder.options_mut();
    options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
    options.cache_size = KEPT_NAMES_MAX;
    options.negative_max_ttl = Some(UNKNOWN_MAX);
    options.max_active_requests = QUESTIONS_MAX;
    builder.build()
}

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, String> {
        // RFC 6761: no name server is asked about these.
        if name == "localhost" || name.ends_with(".localhost") {
            return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
        }
        let resolver = self.0.as_ref().map_err(Clone::clone)?;
        // With its last dot the name means the same everywhere: no search list is tried on it.
        match resolver.lookup_ip(format!("{name}.")).await {
            Ok(found) => Ok(found.iter().collect()),
            Err(error) if error.is_nx_domain() => Err("there is no such name".into()),
            Err(error) if error.is_no_records_found() => Err("the name has no address".into()),
            Err(NetError::Timeout) => Err("its name servers do not answer".into()),
            Err(error) => Err(error.to_string()),
        }
    }
}
