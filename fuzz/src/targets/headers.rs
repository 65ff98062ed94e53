//! Headers of requests: forwarded addresses, encodings, ETags and languages.

use std::net::IpAddr;

use http::header::{ACCEPT_ENCODING, HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH};
use ipnet::IpNet;
use ui::Lang;
use web::address::{ClientAddress, client_address};
use web::encoding::{Encoding, negotiate};
use web::if_none_match_matches;

use super::text;

/// One header of several lines; lines that no header can have are left out.
fn headers(name: &HeaderName, data: &[u8]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in data.split(|byte| *byte == b'\n') {
        if let Ok(value) = HeaderValue::from_bytes(line) {
            headers.append(name, value);
        }
    }
    headers
}

/// The client's address behind proxies: nobody but a trusted proxy changes it, and it is the first hop from the near end that is not
/// trusted, however the header is split into lines.
pub(crate) fn forwarded(data: &[u8]) -> u64 {
    let name = HeaderName::from_static("x-forwarded-for");
    let headers = headers(&name, data);
    let trusted: Vec<IpNet> =
        ["10.0.0.0/8", "::1/128"].iter().filter_map(|range| range.parse().ok()).collect();
    let (proxy, stranger) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([203, 0, 113, 9]));
    assert_eq!(client_address(Some(stranger), &headers, &trusted), ClientAddress(stranger));
    let ClientAddress(found) = client_address(Some(proxy), &headers, &trusted);
    assert_eq!(found, found.to_canonical());
    let is_trusted = |address: &IpAddr| trusted.iter().any(|range| range.contains(address));
    let lines: Vec<&str> = headers.get_all(&name).iter().filter_map(|line| line.to_str().ok()).collect();
    let joined = lines.join(",");
    let hops: Vec<&str> =
        if lines.is_empty() { Vec::new() } else { joined.split(',').map(str::trim).collect() };
    let addresses: Vec<Option<IpAddr>> = hops.iter().rev().map(|hop| address_of(hop)).collect();
    let known = addresses.iter().map_while(|address| *address);
    let mut expected = proxy;
    for address in known {
        if !is_trusted(&expected) {
            break;
        }
        expected = address;
    }
    assert_eq!(found, expected, "{joined}");
    addresses.len().min(15) as u64 | u64::from(is_trusted(&found)) << 4 | u64::from(found.is_ipv6()) << 5
}

/// A hop: an address with a port or not. An IPv6 address with a port is in brackets, and may have a zone.
fn address_of(hop: &str) -> Option<IpAddr> {
    let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok();
    let Some(rest) = hop.strip_prefix('[') else {
        let host = match hop.split_once(':') {
            Some((host, port)) if !port.contains(':') => Some(host).filter(|_| is_port(port))?,
            _ => hop,
        };
        return Some(host.parse::<IpAddr>().ok()?.to_canonical());
    };
    let (host, end) = rest.split_once(']')?;
    if end.is_empty() {
        return Some(host.parse::<IpAddr>().ok()?.to_canonical());
    }
    end.strip_prefix(':').filter(|port| is_port(port))?;
    let (host, zone) = host.split_once('%').unwrap_or((host, "0"));
    zone.parse::<u32>().ok().filter(|_| zone.bytes().all(|byte| byte.is_ascii_digit()))?;
    Some(IpAddr::V6(host.parse().ok()?).to_canonical())
}

/// Encodings, ETags and languages: an encoding is chosen only if the client names it or a wildcard, an ETag matches only if it is listed,
/// and a language only if it is asked for.
pub(crate) fn negotiation(data: &[u8]) -> u64 {
    let accepted = headers(&ACCEPT_ENCODING, data);
    let encoding = negotiate(&accepted, &Encoding::ALL);
    let lower = text(data).to_ascii_lowercase();
    if let Some(encoding) = encoding {
        assert!(lower.contains(encoding.name()) || lower.contains('*'), "{lower}");
        assert_eq!(negotiate(&accepted, &[encoding]), Some(encoding));
    }
    let etag = HeaderValue::from_static("W/\"a1\"");
    let listed = headers(&IF_NONE_MATCH, data);
    let matches = if_none_match_matches(&listed, &etag);
    if matches {
        assert!(lower.contains("\"a1\"") || lower.contains('*'), "{lower}");
    }
    let lang = Lang::choose(None, Some(&lower));
    assert!(lang == Lang::Es || lower.contains("en") || lower.contains('*'), "{lower}");
    assert_eq!(Lang::choose(Some(lang.tag()), Some(&lower)), lang);
    let encoding = encoding.map_or(0, |encoding| 1 + encoding as u64);
    encoding | u64::from(matches) << 2 | (lang as u64) << 3
}
