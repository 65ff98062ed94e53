//! The URL of a webhook receiver: validates it and splits it into its parts.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::digits::parse_digits;

const CHARS_MAX: usize = 2048;
const NAME_CHARS_MAX: usize = 253;
const LABEL_CHARS_MAX: usize = 63;
/// The path of every invoicing receiver, on any host.
const INVOICING_PATH: &str = "/api/webhooks/incoming/Invoicing";

/// A valid receiver URL, parsed once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiverUrl {
    text: Box<str>,
    host: Host,
    port: u16,
    is_tls: bool,
    origin: Box<str>,
    authority: Box<str>,
    path_and_query: Box<str>,
}

/// A host: a name (in lower case, without a trailing dot) or an IP address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    Name(Box<str>),
    Address(IpAddr),
}

impl Host {
    /// Whether the host is loopback, judged by its text alone, without resolving it.
    pub fn is_loopback(&self) -> bool {
        match self {
            Self::Name(name) => &**name == "localhost" || name.ends_with(".localhost"),
            Self::Address(address) => address.is_loopback(),
        }
    }
}

impl std::fmt::Display for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

impl ReceiverUrl {
    /// Parses a URL; the error says what is wrong and what to do. `allow_loopback` allows plain http and any port on
    /// loopback hosts.
    pub fn parse(text: &str, allow_loopback: bool) -> Result<Self, String> {
        check_characters(text)?;
        let (scheme, rest) = text.split_once("://").ok_or("must begin with https://")?;
        let is_tls = match scheme {
            _ if scheme.eq_ignore_ascii_case("https") => true,
            _ if scheme.eq_ignore_ascii_case("http") => false,
            _ => return Err(format!("must begin with https://, not {scheme}://")),
        };
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(
                "must not contain a user name or password; receivers verify deliveries by their signature"
                    .into(),
            );
        }
        let (host, port) = split_port(authority);
        let host = parse_host(host)?;
        let default_port = if is_tls { 443 } else { 80 };
        let port = port.map_or(Ok(default_port), parse_port)?;
        let is_allowed_loopback = allow_loopback && host.is_loopback();
        if !is_tls && !is_allowed_loopback {
            return Err(if allow_loopback {
                "must use https; plain http is allowed only for loopback, as in http://localhost:9000/".into()
            } else {
                "must use https, as in https://receiver.example/".into()
            });
        }
        if port != 443 && !is_allowed_loopback {
            return Err(format!("must use port 443, not {port}: leave the port out"));
        }
        let authority = if port == default_port { host.to_string() } else { format!("{host}:{port}") };
        let path_and_query = if path.starts_with('/') { path.into() } else { format!("/{path}") };
        Ok(Self {
            text: text.into(),
            origin: format!("{}://{host}:{port}", if is_tls { "https" } else { "http" }).into(),
            authority: authority.into(),
            path_and_query: path_and_query.into(),
            host,
            port,
            is_tls,
        })
    }

    /// The original text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn is_tls(&self) -> bool {
        self.is_tls
    }

    pub fn host(&self) -> &Host {
        &self.host
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Scheme, host and port, always with the port. Requests to the same origin share connections.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The value of the Host header: with the port only if it is not the scheme's default.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The URL in one spelling: two URLs with the same one are the same receiver. The scheme's default port, capitals in
    /// the host and an absent path make no difference.
    pub fn canonical(&self) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        format!("{scheme}://{}{}", self.authority, self.path_and_query)
    }

    /// The request target; begins with a slash.
    pub fn path_and_query(&self) -> &str {
        &self.path_and_query
    }

    /// Whether this is exactly the path of invoicing receivers, without a query.
    pub fn is_invoicing(&self) -> bool {
        &*self.path_and_query == INVOICING_PATH
    }
}

impl std::fmt::Display for ReceiverUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

fn check_characters(text: &str) -> Result<(), String> {
    if text.len() > CHARS_MAX {
        return Err(format!("must have at most {CHARS_MAX} characters"));
    }
    if let Some(odd) = text.chars().find(|c| !c.is_ascii()) {
        return Err(format!(
            "must not contain {odd:?}: write the host in punycode (xn--…) and percent-encode the rest"
        ));
    }
    if text.contains('#') {
        return Err("must not have a fragment: leave out the # and what follows".into());
    }
    let is_odd = |c: &char| !c.is_ascii_graphic() || "\\\"<>^`{|}".contains(*c);
    match text.chars().find(is_odd) {
        Some(odd) => Err(format!("must not contain {odd:?}: percent-encode it")),
        None => Ok(()),
    }
}

/// Splits off the port. The colons of an IPv6 address are inside brackets, so the one of a port comes after them.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    }
}

fn parse_port(text: &str) -> Result<u16, String> {
    let port = parse_digits(text).filter(|port| *port > 0);
    port.ok_or_else(|| "has a port that is not a number from 1 to 65535".into())
}

fn parse_host(text: &str) -> Result<Host, String> {
    if let Some(inside) = text.strip_prefix('[') {
        let address = inside.strip_suffix(']').and_then(|address| address.parse::<Ipv6Addr>().ok());
        return match address {
            Some(address) => Ok(Host::Address(address.into())),
            None => Err("has a host in brackets that is not an IPv6 address".into()),
        };
    }
    let name = text.strip_suffix('.').unwrap_or(text);
    if name.is_empty() {
        return Err("must name a host, as in https://receiver.example/".into());
    }
    if name.len() > NAME_CHARS_MAX {
        return Err(format!("has a host of more than {NAME_CHARS_MAX} characters"));
    }
    if is_numeric(name.rsplit('.').next().unwrap_or_default()) {
        return match name.parse::<Ipv4Addr>() {
            Ok(address) => Ok(Host::Address(address.into())),
            Err(_) => Err(format!(
                "has the host {text}, which is neither a name nor an address: write four numbers, as in 192.0.2.1"
            )),
        };
    }
    match name.split('.').find_map(label_error) {
        Some(error) => Err(error),
        None => Ok(Host::Name(name.to_ascii_lowercase().into())),
    }
}

/// Whether a label is a number. Some software parses `127.1`, `2130706433` and `0x7f.1` as IPv4 addresses, and no
/// public name ends in a number.
fn is_numeric(label: &str) -> bool {
    let hexadecimal = label.strip_prefix("0x").or_else(|| label.strip_prefix("0X"));
    hexadecimal.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
        || (!label.is_empty() && label.bytes().all(|byte| byte.is_ascii_digit()))
}

fn label_error(label: &str) -> Option<String> {
    if let Some(odd) = label.chars().find(|c| !c.is_ascii_alphanumeric() && *c != '-') {
        return Some(format!(
            "has a host with {odd:?} in it: a host has only letters, digits, hyphens and dots"
        ));
    }
    if label.is_empty() {
        return Some("has a host with an empty part between its dots".into());
    }
    if label.len() > LABEL_CHARS_MAX {
        return Some(format!(
            "has a host with a part of more than {LABEL_CHARS_MAX} characters between its dots"
        ));
    }
    (label.starts_with('-') || label.ends_with('-'))
        .then(|| format!("has a host whose part {label} begins or ends with a hyphen"))
}

#[cfg(test)]
mod tests;
