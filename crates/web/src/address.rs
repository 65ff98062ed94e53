//! The client's address: the peer's, or, behind proxies that the operator trusts, the one in their
//! `X-Forwarded-For`.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use ipnet::IpNet;
use parking_lot::Mutex;

use crate::Stopwatch;

const FORWARDED_FOR: &str = "x-forwarded-for";
const FORWARDED: &str = "forwarded";

/// The client's address, for rate limits and for the audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientAddress(pub IpAddr);

/// A peer that is not heard of for this long is forgotten: it may have been anybody who sent the header.
const REMEMBERED: Duration = Duration::from_secs(60 * 60);

/// The last peer of a listener that forwarded a request like a proxy and is not trusted.
#[derive(Clone, Debug, Default)]
pub struct UnnamedProxy(Arc<Mutex<Option<(IpAddr, Stopwatch)>>>);

impl UnnamedProxy {
    pub(crate) fn note(&self, peer: IpAddr) {
        *self.0.lock() = Some((peer, Stopwatch::start()));
    }

    pub fn get(&self) -> Option<IpAddr> {
        self.0.lock().filter(|(_, at)| at.elapsed() < REMEMBERED).map(|(peer, _)| peer)
    }
}

/// Walks `X-Forwarded-For` from the nearest hop outwards and stops at the first address that is not a trusted proxy.
pub fn client_address(peer: Option<IpAddr>, headers: &HeaderMap, trusted: &[IpNet]) -> ClientAddress {
    let is_trusted = |address: IpAddr| trusted.iter().any(|range| range.contains(&address));
    let mut address = peer.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)).to_canonical();
    if !is_trusted(address) {
        return ClientAddress(address);
    }
    let lines: Vec<&str> =
        headers.get_all(FORWARDED_FOR).iter().filter_map(|line| line.to_str().ok()).collect();
    for hop in lines.iter().rev().flat_map(|line| line.rsplit(',')) {
        if !is_trusted(address) {
            break;
        }
        let Some(next) = parse_hop(hop.trim()) else { break };
        address = next.to_canonical();
    }
    ClientAddress(address)
}

/// The peer, if it forwards requests like a proxy but is not a trusted one.
pub(crate) fn unnamed_proxy(peer: Option<IpAddr>, headers: &HeaderMap, trusted: &[IpNet]) -> Option<IpAddr> {
    let forwards = headers.contains_key(FORWARDED_FOR) || headers.contains_key(FORWARDED);
    let peer = peer?.to_canonical();
    (forwards && !trusted.iter().any(|range| range.contains(&peer))).then_some(peer)
}

/// An address with or without a port; some proxies write the port too.
fn parse_hop(hop: &str) -> Option<IpAddr> {
    let plain = hop.parse::<IpAddr>().ok();
    let bracketed = || hop.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    plain.or_else(|| Some(hop.parse::<std::net::SocketAddr>().ok()?.ip())).or_else(bracketed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(peer: &str, forwarded: &[&str], trusted: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append(FORWARDED_FOR, line.parse().unwrap());
        }
        let trusted: Vec<IpNet> = trusted.iter().map(|range| range.parse().unwrap()).collect();
        client_address(Some(peer.parse().unwrap()), &headers, &trusted).0.to_string()
    }

    #[test]
    fn unnamed_proxy_is_noticed_by_its_headers() {
        let trusted: Vec<IpNet> = vec!["10.0.0.0/8".parse().unwrap()];
        let notice = |peer: &str, header: Option<&'static str>| {
            let headers = header.map(|name| (name.parse().unwrap(), "for=203.0.113.7".parse().unwrap()));
            unnamed_proxy(Some(peer.parse().unwrap()), &headers.into_iter().collect(), &trusted)
        };
        for header in ["x-forwarded-for", "forwarded"] {
            assert_eq!(notice("192.0.2.1", Some(header)), Some("192.0.2.1".parse().unwrap()));
            assert_eq!(notice("::ffff:10.0.0.1", Some(header)), None);
        }
        assert_eq!(notice("192.0.2.1", None), None);
    }

    #[test]
    fn untrusted_peer_cannot_forward() {
        assert_eq!(resolve("203.0.113.9", &["10.0.0.1"], &["10.0.0.0/8"]), "203.0.113.9");
        assert_eq!(resolve("203.0.113.9", &["10.0.0.1"], &[]), "203.0.113.9");
    }

    #[test]
    fn trusted_proxy_forwards_and_hops_beyond_it_are_ignored() {
        let forged = ["1.2.3.4, 198.51.100.7", "10.0.0.2"];
        assert_eq!(resolve("10.0.0.1", &forged, &["10.0.0.0/8"]), "198.51.100.7");
        assert_eq!(resolve("10.0.0.1", &["rubbish"], &["10.0.0.0/8"]), "10.0.0.1");
        for hop in ["198.51.100.7:1234", "198.51.100.7"] {
            assert_eq!(resolve("10.0.0.1", &[hop], &["10.0.0.0/8"]), "198.51.100.7");
        }
        for hop in ["[2001:db8::7]:1234", "[2001:db8::7]", "2001:db8::7"] {
            assert_eq!(resolve("10.0.0.1", &[hop], &["10.0.0.0/8"]), "2001:db8::7");
        }
        assert_eq!(resolve("::ffff:10.0.0.1", &["198.51.100.7"], &["10.0.0.0/8"]), "198.51.100.7");
    }
}
