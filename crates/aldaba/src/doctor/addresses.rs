//! The configured addresses: whether their names resolve, and whether this service answers there.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use aldaba_client::{HttpTransport, Transport as _, TransportError};
use bytes::Bytes;
use futures_util::future::join_all;
use hyper::Request;
use operator::operations::doctor::{self, AddressFacts, AddressResponse, Finding, HostLookup};
use tokio::sync::OnceCell;

use super::{DEADLINE, reason};
use crate::config::{Config, address};

const LOOKUP_TIME_MAX: Duration = Duration::from_millis(800);
const ANSWER_TIME_MAX: Duration = Duration::from_millis(900);
const ANSWER_BYTES_MAX: usize = 4096;
const _: () = assert!(LOOKUP_TIME_MAX.as_millis() + ANSWER_TIME_MAX.as_millis() < DEADLINE.as_millis());

type Lookups = BTreeMap<String, Result<Vec<IpAddr>, String>>;

/// Connects to the configured addresses and to no others.
#[derive(Default)]
pub(super) struct Addresses {
    /// Made when it is first needed: it reads the machine's certificate authorities.
    transport: OnceCell<Option<HttpTransport>>,
}

impl Addresses {
    pub(super) async fn examine(&self, config: &Config) -> Vec<Finding> {
        let urls = [
            ("server.base_url", &config.server.base_url, false),
            ("server.auth_url", &config.server.auth_url, false),
            ("operator.url", &config.operator.url, true),
        ];
        let mail = config.mail.server.as_ref().map(|server| server.host.as_str());
        let hosts = urls.iter().filter_map(|(_, url, _)| address::host(url)).chain(mail);
        let (lookups, transport) = tokio::join!(look_up(hosts), self.transport());
        let found =
            urls.map(|(key, url, is_operators)| address_facts(key, url, is_operators, &lookups, transport));
        let mut findings = doctor::addresses(&join_all(found).await);
        let lookups: Vec<HostLookup> =
            lookups.into_iter().map(|(host, result)| HostLookup { host, result }).collect();
        findings.push(doctor::dns(&lookups));
        findings
    }

    async fn transport(&self) -> Option<&HttpTransport> {
        let make = || async {
            let made = tokio::task::spawn_blocking(HttpTransport::new).await;
            let made = made.ok().and_then(Result::ok);
            made.map(|made| made.timeout(ANSWER_TIME_MAX).response_bytes_max(ANSWER_BYTES_MAX))
        };
        self.transport.get_or_init(make).await.as_ref()
    }
}

/// Each name once; IP addresses need no look-up.
async fn look_up<'a>(hosts: impl Iterator<Item = &'a str>) -> Lookups {
    let mut names: Vec<&str> = hosts.filter(|host| host.parse::<IpAddr>().is_err()).collect();
    names.sort_unstable();
    names.dedup();
    let found = names.into_iter().map(|name| async move {
        let asking = tokio::net::lookup_host((name, 0));
        let result = match tokio::time::timeout(LOOKUP_TIME_MAX, asking).await {
            Ok(Ok(addresses)) => Ok(addresses.map(|address| address.ip()).collect::<Vec<_>>()),
            Ok(Err(error)) => Err(reason(&error)),
            Err(_) => Err("no answer in time".to_owned()),
        };
        (name.to_owned(), result)
    });
    join_all(found).await.into_iter().collect()
}

async fn address_facts(
    key: &'static str,
    url: &str,
    is_operators: bool,
    lookups: &Lookups,
    transport: Option<&HttpTransport>,
) -> AddressFacts {
    let host = address::host(url).unwrap_or_default();
    let is_loopback =
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback());
    let lookup = lookups.get(host).cloned();
    let is_reachable = !url.is_empty() && lookup.as_ref().is_none_or(Result::is_ok);
    let response = match transport {
        Some(transport) if is_reachable => ask(transport, url).await,
        _ => AddressResponse::NotTried,
    };
    AddressFacts { key, url: url.to_owned(), is_loopback, is_operators, lookup, response }
}

async fn ask(transport: &HttpTransport, url: &str) -> AddressResponse {
    let Ok(request) = Request::get(format!("{url}/livez")).body(Bytes::new()) else {
        return AddressResponse::NotTried;
    };
    match transport.send(request).await {
        Ok(response) if is_alive(response.status().as_u16(), response.body()) => AddressResponse::Alive,
        Ok(response) => AddressResponse::Other(response.status().as_u16()),
        Err(TransportError::Unreachable(why)) if why.contains("certificate") => {
            AddressResponse::BadCertificate(reason(&why))
        }
        Err(TransportError::Unreachable(why)) => AddressResponse::Unreachable(reason(&why)),
        Err(TransportError::TimedOut(_)) => AddressResponse::Unreachable("no answer in time".to_owned()),
        Err(TransportError::TooLarge { .. }) => AddressResponse::Other(200),
    }
}

/// Whether this is the answer of `/livez`.
fn is_alive(status: u16, body: &[u8]) -> bool {
    let body: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    status == 200 && body["status"] == "alive"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_service_counts_as_alive() {
        assert!(is_alive(200, br#"{"status":"alive"}"#));
        for (status, body) in [(200, &b"<html>"[..]), (503, br#"{"status":"alive"}"#), (200, b"{}")] {
            assert!(!is_alive(status, body), "{status}");
        }
    }
}
