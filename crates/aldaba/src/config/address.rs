//! The rules for the addresses under which clients reach the service.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// What is wrong with the form of an address, if anything.
pub(crate) fn format_error(url: &str) -> Option<&'static str> {
    let is_fine = parts(url).is_some_and(|(_, host, port)| {
        let fine = |c: char| c.is_ascii_alphanumeric() || "-._[]:".contains(c);
        !host.is_empty()
            && host.chars().all(fine)
            && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
    });
    (!is_fine).then_some("must be an address without a path, as in https://api.example.com")
}

/// What keeps a well-formed address out of production, if anything.
pub(crate) fn production_error(url: &str) -> Option<&'static str> {
    let is_safe = url.starts_with("https://") || this_machine(url).is_some();
    (!is_safe).then_some("must be https; plain http is for this machine only")
}

/// Where to listen so that a plain address of this machine is right; nothing where it names no port.
pub(crate) fn loopback_listener(url: &str) -> Option<SocketAddr> {
    let (host, (_, _, port)) = (this_machine(url)?, parts(url)?);
    Some(SocketAddr::new(host, port?.parse().ok()?))
}

/// The address of this machine that a plain http address names.
fn this_machine(url: &str) -> Option<IpAddr> {
    let (scheme, host, _) = parts(url)?;
    match host {
        _ if scheme != "http" => None,
        "localhost" => Some(Ipv4Addr::LOCALHOST.into()),
        _ => host.trim_matches(['[', ']']).parse().ok().filter(IpAddr::is_loopback),
    }
}

/// Scheme, host and port.
fn parts(url: &str) -> Option<(&str, &str, Option<&str>)> {
    let (scheme, rest) = url.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https"))?;
    let authority = rest.trim_end_matches('/');
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => Some((scheme, host, Some(port))),
        _ => Some((scheme, authority, None)),
    }
}
