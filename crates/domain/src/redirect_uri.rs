//! The redirect URIs of OAuth clients: which ones a kind of client may register, whether a request's URI is one of them,
//! and the web origins of a browser application.

use std::net::Ipv6Addr;

use crate::ClientKind;
use crate::digits::parse_digits;

/// The out-of-band redirect URI: the authorization code is shown on a page.
pub const OUT_OF_BAND: &str = "urn:ietf:wg:oauth:2.0:oob";
const CHARS_MAX: usize = 2048;

/// Whether this is an address of the host `oob`, which exists only for embedded browsers: they watch for the redirect.
pub fn is_embedded(uri: &str) -> bool {
    uri.strip_prefix("http://oob").is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
}

/// The private-use scheme of a URI like `com.example.app:/callback` (RFC 8252, 7.1): a domain name in reverse, so it has a
/// dot, which no scheme of the web has. The operating system opens such a URI in the application.
pub fn private_use_scheme(uri: &str) -> Option<&str> {
    let (scheme, rest) = uri.split_once(':')?;
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_lowercase())
        && scheme.contains('.')
        && scheme.split('.').all(is_label);
    (is_scheme && rest.starts_with('/')).then_some(scheme)
}

/// Whether the URI of a request is the registered one. They are compared exactly, except for the port of a loopback
/// address, which a native application gets from the operating system when it starts to listen (RFC 8252, 7.3).
/// `registered` has passed [`check`], so that clients of other kinds have no loopback address.
pub fn matches(registered: &str, requested: &str) -> bool {
    if registered == requested {
        return true;
    }
    match (without_loopback_port(registered), without_loopback_port(requested)) {
        (Some(registered), Some(requested)) => registered == requested,
        _ => false,
    }
}

/// The host and what follows the port of an `http` URI with a loopback address as its host; None for any other.
fn without_loopback_port(uri: &str) -> Option<(&str, &str)> {
    let rest = uri.strip_prefix("http://")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let after = rest.get(authority.len()..)?;
    let (host, port) = host_and_port(authority);
    (is_loopback(host) && port.is_none_or(is_port) && !after.contains('#')).then_some((host, after))
}

/// The origin of a redirect URI, as browsers send it in `Origin`; None where there is none.
pub fn origin(uri: &str) -> Option<String> {
    let (scheme, rest) = uri.split_once("://")?;
    let default_port = match scheme {
        "https" => "443",
        "http" => "80",
        _ => return None,
    };
    let (host, port) = host_and_port(rest.split(['/', '?', '#']).next().unwrap_or_default());
    if host.is_empty() {
        return None;
    }
    let host = host.to_ascii_lowercase();
    // `08443` is the port 8443.
    let port = port.map(|port| port.trim_start_matches('0')).filter(|port| *port != default_port);
    Some(port.map_or_else(|| format!("{scheme}://{host}"), |port| format!("{scheme}://{host}:{port}")))
}

fn host_and_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    }
}

fn is_port(port: &str) -> bool {
    parse_digits::<u16>(port).is_some_and(|port| port > 0)
}

/// The two literals of RFC 8252; other addresses of 127.0.0.0/8 are not among them.
fn is_loopback(host: &str) -> bool {
    host == "127.0.0.1" || host == "[::1]"
}

/// Checks a redirect URI for registration by a client of a kind; the error says why it is refused.
pub fn check(uri: &str, kind: ClientKind) -> Result<(), String> {
    match kind {
        ClientKind::ResourceServer => {
            return Err("is not for a resource server, which signs nobody in".into());
        }
        // Whoever sees an out-of-band code could use it without a secret; a native application at least asks each time.
        ClientKind::Web | ClientKind::Native if uri == OUT_OF_BAND => return Ok(()),
        ClientKind::Web | ClientKind::Browser | ClientKind::Native => {}
    }
    check_text(uri)?;
    if kind == ClientKind::Native && private_use_scheme(uri).is_some() {
        return check_private_use(uri);
    }
    check_web(uri, kind)
}

fn check_text(uri: &str) -> Result<(), String> {
    if uri.len() > CHARS_MAX {
        return Err(format!("must have at most {CHARS_MAX} characters"));
    }
    let is_odd = |c: &char| !c.is_ascii_graphic() || matches!(c, '\\' | '"' | '<' | '>' | '`');
    if let Some(odd) = uri.chars().find(is_odd) {
        return Err(format!("must not contain {odd:?}; percent-encode it"));
    }
    if uri.contains('*') {
        return Err("must not contain a wildcard; register each address".into());
    }
    if uri.contains('#') {
        return Err("must not have a fragment".into());
    }
    Ok(())
}

fn check_private_use(uri: &str) -> Result<(), String> {
    let authority = uri.split_once("://").and_then(|(_, rest)| rest.split(['/', '?']).next());
    if authority.is_some_and(|authority| authority.contains('@')) {
        return Err("must not contain a user name or password".into());
    }
    Ok(())
}

fn check_web(uri: &str, kind: ClientKind) -> Result<(), String> {
    let expected = if kind == ClientKind::Native {
        "must be an https address, a loopback address, or have a private-use scheme with a dot in it, as in \
         com.example.app:/callback"
    } else {
        "must be an https address"
    };
    let (scheme, rest) = uri.split_once("://").ok_or(expected)?;
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err("must not contain a user name or password".into());
    }
    let (host, port) = host_and_port(authority);
    if port.is_some_and(|port| !is_port(port)) {
        return Err("has a port that is not a number from 1 to 65535".into());
    }
    if let Some(address) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        if address.parse::<Ipv6Addr>().is_err() {
            return Err("has a host in brackets that is not an IPv6 address".into());
        }
    } else if let Some(odd) = host.chars().find(|c| !c.is_ascii_alphanumeric() && !"-._".contains(*c)) {
        return Err(format!("has a host with {odd:?} in it"));
    }
    match scheme {
        "https" if host.is_empty() => Err("must name a host".into()),
        "https" => Ok(()),
        "http" if host == "localhost" && port.is_some() => Ok(()),
        "http" if host == "localhost" => Err("must name a port, as in http://localhost:8765/callback".into()),
        "http" if kind == ClientKind::Native && is_loopback(host) => Ok(()),
        "http" if host == "oob" && port.is_none() && kind != ClientKind::Browser => Ok(()),
        "http" if kind == ClientKind::Native => {
            Err("must use https; plain http is allowed only for 127.0.0.1, [::1] and localhost:<port>".into())
        }
        "http" => {
            Err("must use https; plain http is allowed only for http://localhost:<port>/ (not 127.0.0.1)"
                .into())
        }
        _ => Err(expected.into()),
    }
}

#[cfg(test)]
mod tests;
