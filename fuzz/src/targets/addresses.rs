//! Addresses that the service sends something to: receivers of webhooks, redirect URIs, and the IP addresses behind names.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use domain::ClientKind;
use domain::egress::{EgressPolicy, is_wide};
use domain::receiver_url::{Host, ReceiverUrl};
use domain::redirect_uri;
use http::Uri;
use ipnet::IpNet;

use super::{refused, text};

/// A receiver's URL means the same to a second parser: host, port and request target. Without the permission for loopback it is https on
/// port 443, and one spelling stands for all.
pub(crate) fn receiver_url(data: &[u8]) -> u64 {
    let text = text(data);
    let (strict, local) = (ReceiverUrl::parse(&text, false), ReceiverUrl::parse(&text, true));
    if let Ok(url) = &strict {
        assert!(url.is_tls() && url.port() == 443, "{text}");
        assert_eq!(local.as_ref().ok(), Some(url), "{text}");
    }
    let url = match &local {
        Ok(url) => url,
        Err(why) => {
            assert!(!why.is_empty() && why.chars().count() < 3000, "{why}");
            return refused(why);
        }
    };
    assert!(url.is_tls() || url.host().is_loopback(), "{text}");
    let Ok(uri) = text.parse::<Uri>() else { panic!("{text} is no URI to another parser") };
    let host = uri.host().unwrap_or_default().to_ascii_lowercase();
    assert_eq!(url.host().to_string(), second_host(&host), "{text}");
    let default_port = if url.is_tls() { 443 } else { 80 };
    assert_eq!(url.port(), uri.port_u16().unwrap_or(default_port), "{text}");
    let target = uri.path_and_query().map_or("", |path| path.as_str());
    let target = if target.starts_with('/') { target.to_owned() } else { format!("/{target}") };
    assert_eq!(url.path_and_query(), target, "{text}");
    let canonical = ReceiverUrl::parse(&url.canonical(), true);
    assert_eq!(canonical.as_ref().map(ReceiverUrl::canonical), Ok(url.canonical()), "{text}");
    assert_eq!(canonical.map(|again| again.origin().to_owned()).as_deref(), Ok(url.origin()), "{text}");
    let kind = match url.host() {
        Host::Name(_) => 0,
        Host::Address(IpAddr::V4(_)) => 1,
        Host::Address(IpAddr::V6(_)) => 2,
    };
    kind | u64::from(strict.is_ok()) << 2
        | u64::from(url.is_invoicing()) << 3
        | u64::from(text.contains('?')) << 4
}

/// A host of the second parser, written as the first one does.
fn second_host(host: &str) -> String {
    let inside = host.trim_start_matches('[').trim_end_matches(']');
    match inside.parse::<Ipv6Addr>() {
        Ok(address) => format!("[{address}]"),
        Err(_) => host.strip_suffix('.').unwrap_or(host).to_owned(),
    }
}

/// A registered redirect URI, and on the next line one that a request asks for. An accepted one has no fragment, no user name and no odd
/// characters; plain http stays on this machine. Another spelling than the registered one is accepted only where the port of a loopback
/// address differs.
pub(crate) fn redirect(data: &[u8]) -> u64 {
    let text = text(data);
    let (registered, requested) = text.split_once('\n').unwrap_or((&text, &text));
    let mut outcome = 0;
    for kind in [ClientKind::Web, ClientKind::Browser, ClientKind::Native, ClientKind::ResourceServer] {
        match redirect_uri::check(registered, kind) {
            Ok(()) => {
                assert_ne!(kind, ClientKind::ResourceServer);
                check_registered(registered, kind);
                outcome = outcome << 2 | 1;
            }
            Err(why) => outcome = outcome << 2 ^ refused(why),
        }
    }
    let matches = redirect_uri::matches(registered, requested);
    assert_eq!(matches, redirect_uri::matches(requested, registered), "{registered:?} {requested:?}");
    assert!(redirect_uri::matches(registered, registered));
    if matches && registered != requested {
        for uri in [registered, requested] {
            let rest = uri.strip_prefix("http://").unwrap_or_default();
            assert!(rest.starts_with("127.0.0.1") || rest.starts_with("[::1]"), "{uri}");
        }
        assert_eq!(after_authority(registered), after_authority(requested));
    }
    if let Some(origin) = redirect_uri::origin(registered) {
        assert!(!origin.contains(['/', '?', '#']) || origin.matches('/').count() == 2, "{origin}");
    }
    outcome << 1 | u64::from(matches)
}

fn check_registered(uri: &str, kind: ClientKind) {
    assert!(uri.bytes().all(|byte| byte.is_ascii_graphic()) && uri.len() <= 2048, "{uri:?}");
    assert!(!uri.contains(['#', '*', '\\', '"', '<', '>']), "{uri}");
    if uri == redirect_uri::OUT_OF_BAND || redirect_uri::private_use_scheme(uri).is_some() {
        return assert_ne!(kind, ClientKind::Browser, "{uri}");
    }
    let Ok(parsed) = uri.parse::<Uri>() else { return };
    let host = parsed.host().unwrap_or_default();
    assert!(!host.is_empty() && !parsed.authority().is_some_and(|one| one.as_str().contains('@')), "{uri}");
    if parsed.scheme_str() == Some("http") {
        let is_here = host == "localhost" || host == "oob";
        assert!(is_here || (kind == ClientKind::Native && matches!(host, "127.0.0.1" | "[::1]")), "{uri}");
    } else {
        assert_eq!(parsed.scheme_str(), Some("https"), "{uri}");
    }
}

fn after_authority(uri: &str) -> &str {
    let rest = uri.split_once("://").map_or(uri, |(_, rest)| rest);
    rest.find(['/', '?']).and_then(|at| rest.get(at..)).unwrap_or_default()
}

/// An address that deliveries may connect to, as text or as 4 or 16 bytes, against the standard library's view; and ranges.
pub(crate) fn egress_address(data: &[u8]) -> u64 {
    let text = text(data);
    if let Ok(range) = text.trim().parse::<IpNet>() {
        return check_range(range);
    }
    let address = match (text.trim().parse::<IpAddr>(), data.len()) {
        (Ok(address), _) => address,
        (Err(_), 4) => <[u8; 4]>::try_from(data).map_or(Ipv4Addr::UNSPECIFIED.into(), IpAddr::from),
        (Err(_), 16) => <[u8; 16]>::try_from(data).map_or(Ipv6Addr::UNSPECIFIED.into(), IpAddr::from),
        (Err(_), _) => return 0,
    };
    let refusal = EgressPolicy::default().refusal_reason(address);
    if !is_public(address.to_canonical()) {
        assert!(refusal.is_some(), "{address} is not public");
    }
    let local = EgressPolicy { loopback: true, ..EgressPolicy::default() };
    if local.refusal_reason(address).is_none() && refusal.is_some() {
        assert!(address.to_canonical().is_loopback(), "{address}");
    }
    // An entry for one address opens that one alone.
    let own = EgressPolicy { allow: vec![IpNet::from(address)], loopback: false };
    assert_eq!(own.refusal_reason(address), None, "{address}");
    refused(refusal) << 1 | u64::from(address.is_ipv6())
}

fn check_range(range: IpNet) -> u64 {
    let policy = EgressPolicy { allow: vec![range], loopback: false };
    let metadata = IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254));
    let names_it = range.prefix_len() == range.max_prefix_len() && range.contains(&metadata);
    assert_eq!(policy.refusal_reason(metadata).is_none(), names_it, "{range}");
    if range.prefix_len() == 0 {
        assert!(is_wide(&range), "{range}");
    }
    u64::from(is_wide(&range)) << 8 | u64::from(range.prefix_len())
}

/// Whether the standard library knows no reason to refuse the address.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            !(v4.is_private()
                || v4.is_loopback()
                || v4.is_link_local()
                || v4.is_broadcast()
                || v4.is_documentation()
                || v4.is_multicast()
                || v4.octets()[0] == 0)
        }
        IpAddr::V6(v6) => {
            !(v6.is_loopback()
                || v6.is_unspecified()
                || v6.is_multicast()
                || v6.is_unique_local()
                || v6.is_unicast_link_local())
        }
    }
}
