//! Name resolution: the port, and the system's resolver.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use async_trait::async_trait;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::LookupIpStrategy;
use hickory_resolver::net::NetError;

/// A negative answer is cached for at most this long, whatever its zone says: the name may have just been created.
const NEGATIVE_TTL_MAX: Duration = Duration::from_secs(10);
const CACHED_NAMES_MAX: u64 = 4096;
/// For each connection to a name server.
const ACTIVE_QUERIES_MAX: usize = 1024;

/// Finds all addresses of a name; the error says why there are none.
#[async_trait]
pub trait Resolver: Send + Sync + 'static {
    async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, String>;
}

/// Uses the system's configuration: the hosts file, then the name servers. It caches answers for their time to live, and
/// blocks no thread, so that a slow name server delays no other lookup.
pub struct SystemResolver(Result<TokioResolver, String>);

impl SystemResolver {
    /// Where the configuration cannot be read, every lookup fails with the reason: a service that only calls IP addresses
    /// needs no resolver.
    pub fn new() -> Self {
        Self(build().map_err(|error| format!("the system's resolver configuration cannot be used: {error}")))
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
    options.cache_size = CACHED_NAMES_MAX;
    options.negative_max_ttl = Some(NEGATIVE_TTL_MAX);
    options.max_active_requests = ACTIVE_QUERIES_MAX;
    builder.build()
}

#[async_trait]
impl Resolver for SystemResolver {
    async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, String> {
        // RFC 6761: these names are not looked up at name servers.
        if name == "localhost" || name.ends_with(".localhost") {
            return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
        }
        let resolver = self.0.as_ref().map_err(Clone::clone)?;
        // The final dot makes the name absolute: no search list applies.
        match resolver.lookup_ip(format!("{name}.")).await {
            Ok(found) => Ok(found.iter().collect()),
            Err(error) if error.is_nx_domain() => Err("there is no such name".into()),
            Err(error) if error.is_no_records_found() => Err("the name has no address".into()),
            Err(NetError::Timeout) => Err("its name servers do not answer".into()),
            Err(error) => Err(error.to_string()),
        }
    }
}
