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

/// First segments of the operator listener's own paths: a prefix that begins with one could not be told from them.
const OWN_SEGMENTS: [&str; 5] = ["console", "operator", "metrics", "livez", "readyz"];

/// The error in the format of a URL that may have a path, if there is one.
pub(crate) fn prefixed_format_error(url: &str) -> Option<&'static str> {
    let (origin, path) = split_path(url);
    if format_error(origin).is_some() {
        return Some("must be a URL such as https://ops.example.com or https://ops.example.com/aldaba");
    }
    let path = path.trim_end_matches('/');
    let is_segment_char = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
    let is_segment = |segment: &str| {
        !segment.is_empty() && segment.chars().all(is_segment_char) && segment.chars().any(|c| c != '.')
    };
    let mut segments = path.split('/').skip(1);
    if !segments.clone().all(is_segment) {
        return Some("has a path with other characters than letters, digits, hyphens, dots and underscores");
    }
    segments.next().filter(|first| OWN_SEGMENTS.contains(first)).map(|_| {
        "has a path that begins like the paths of the service itself (console, operator, metrics, livez, readyz); choose \
         another prefix"
    })
}

/// The path of a URL without its last slash: the prefix that a proxy serves the listener under.
pub(crate) fn path_prefix(url: &str) -> &str {
    split_path(url).1.trim_end_matches('/')
}

/// Scheme and authority, and the rest.
fn split_path(url: &str) -> (&str, &str) {
    let authority = url.find("://").map_or(0, |at| at + 3);
    let path = url.get(authority..).and_then(|rest| rest.find('/')).map_or(url.len(), |at| authority + at);
    url.split_at(path)
}

/// The host of a URL, without its port and the brackets of IPv6.
pub(crate) fn host(url: &str) -> Option<&str> {
    parts(split_path(url).0).map(|(_, host, _)| host.trim_matches(['[', ']'])).filter(|host| !host.is_empty())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_of_a_listener_behind_a_proxy_may_have_a_path() {
        for (url, prefix) in [
            ("https://ops.example.com", ""),
            ("https://ops.example.com/", ""),
            ("https://ops.example.com:8443/aldaba", "/aldaba"),
            ("http://[::1]:80/a/b-c_d.e~f/", "/a/b-c_d.e~f"),
        ] {
            assert_eq!((prefixed_format_error(url), path_prefix(url)), (None, prefix), "{url}");
        }
        for wrong in [
            "ops.example.com/aldaba",
            "https:///aldaba",
            "https://ops.example.com//aldaba",
            "https://ops.example.com/a/../b",
            "https://ops.example.com/a?b",
            "https://ops.example.com/a b",
            "https://ops.example.com/ñ",
            "https://ops.example.com/console",
            "https://ops.example.com/operator/x",
        ] {
            assert!(prefixed_format_error(wrong).is_some(), "{wrong}");
        }
        assert_eq!(host("https://ops.example.com:8443/aldaba"), Some("ops.example.com"));
        assert_eq!(host("http://[::1]:80"), Some("::1"));
        assert_eq!(host("nothing"), None);
    }
}
