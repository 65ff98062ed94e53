//! Rules for the public URLs of the service.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The error in the format of a URL, if there is one.
pub(crate) fn format_error(url: &str) -> Option<&'static str> {
    let is_valid = parts(url).is_some_and(|(_, host, port)| {
        let is_host_char = |c: char| c.is_ascii_alphanumeric() || "-._[]:".contains(c);
        !host.is_empty()
            && host.chars().all(is_host_char)
            && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
    });
    (!is_valid).then_some("must be a URL without a path, for example https://api.example.com")
}

/// The reason why a valid URL is not allowed in production, if there is one.
pub(crate) fn production_error(url: &str) -> Option<&'static str> {
    let is_allowed = url.starts_with("https://") || loopback_ip(url).is_some();
    (!is_allowed).then_some("must start with https:// (http:// is allowed for loopback addresses only)")
}

/// The address to listen on for an http URL of a loopback address; none if the URL has no port.
pub(crate) fn loopback_listener(url: &str) -> Option<SocketAddr> {
    let (host, (_, _, port)) = (loopback_ip(url)?, parts(url)?);
    Some(SocketAddr::new(host, port?.parse().ok()?))
}

/// The loopback address of an http URL.
fn loopback_ip(url: &str) -> Option<IpAddr> {
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
