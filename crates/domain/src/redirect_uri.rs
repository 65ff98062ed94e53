//! Validates the redirect URIs of OAuth clients.

use std::net::Ipv6Addr;

/// The out-of-band redirect URI: the authorization code is shown on a page.
pub const OUT_OF_BAND: &str = "urn:ietf:wg:oauth:2.0:oob";
const CHARS_MAX: usize = 2048;

/// Whether this is an address of the host `oob`, which exists only for embedded browsers: they watch for the redirect.
pub fn is_embedded(uri: &str) -> bool {
    uri.strip_prefix("http://oob").is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
}

/// Checks a redirect URI for registration; the error says why it is refused.
pub fn check(uri: &str) -> Result<(), String> {
    if uri == OUT_OF_BAND {
        return Ok(());
    }
    if uri.len() > CHARS_MAX {
        return Err(format!("must have at most {CHARS_MAX} characters"));
    }
    if let Some(odd) =
        uri.chars().find(|c| !c.is_ascii_graphic() || matches!(c, '\\' | '"' | '<' | '>' | '`'))
    {
        return Err(format!("must not contain {odd:?}; percent-encode it"));
    }
    if uri.contains('*') {
        return Err("must not contain a wildcard; register each address".into());
    }
    if uri.contains('#') {
        return Err("must not have a fragment".into());
    }
    let (scheme, rest) = uri.split_once("://").ok_or("must be an https address")?;
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err("must not contain a user name or password".into());
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let is_port = |port: &str| {
        port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0)
    };
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
        "http" if host == "oob" && port.is_none() => Ok(()),
        "http" => {
            Err("must use https; plain http is allowed only for http://localhost:<port>/ (not 127.0.0.1)"
                .into())
        }
        _ => Err("must be an https address".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::{check, is_embedded};

    #[test]
    fn address_of_an_embedded_browser_has_the_host_oob() {
        assert!(["http://oob", "http://oob/a", "http://oob?x"].iter().all(|uri| is_embedded(uri)));
        assert!(!["http://oob.example/", "https://oob/", "http://oob:1/"].iter().any(|uri| is_embedded(uri)));
    }

    #[test]
    fn uris_that_the_contract_allows_are_accepted() {
        for uri in [
            "https://app.example/callback",
            "https://app.example:8443/cb?x=1",
            "https://[2001:db8::7]/cb",
            "https://[2001:db8::7]:8443/cb",
            "http://localhost:8765/callback",
            "urn:ietf:wg:oauth:2.0:oob",
            "http://oob/done",
        ] {
            assert_eq!(check(uri), Ok(()), "{uri}");
        }
    }

    #[test]
    fn other_uris_are_refused() {
        for uri in [
            "",
            "callback",
            "http://127.0.0.1:8765/callback",
            "http://[::1]:8765/callback",
            "http://localhost/callback",
            "http://localhost.evil.example:80/",
            "http://app.example/callback",
            "https://user@app.example/",
            "https://app.example/#x",
            "https://*.example/",
            "https://app.example\\@evil.example/",
            "https:///callback",
            "https://app.example:0/",
            "https://app.example:+80/",
            "https://app.example;script-src/",
            "https://app.example,other/",
            "https://app'example/",
            "https://[0]/",
            "https://app[1]/",
            "https://app:example:80/",
            "https://app.example/a b",
            "custom://app",
            "HTTPS://app.example/",
        ] {
            assert!(check(uri).is_err(), "{uri}");
        }
    }
}
