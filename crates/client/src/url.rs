//! Builds and checks URLs. Only https and loopback are allowed, so that no key or token is sent unencrypted.

use std::net::IpAddr;

use http::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::Error;

/// The characters to percent-encode in a path segment: all but the unreserved ones (RFC 3986).
const PATH_SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Checks a URL from the application and removes its trailing slash. It must be https, or http on loopback.
pub(crate) fn check_url(what: &'static str, url: &str) -> Result<String, Error> {
    let invalid = |reason: String| Error::invalid_input(what, reason);
    let uri: Uri = url.parse().map_err(|error| invalid(format!("{url:?} is not a URL ({error})")))?;
    let (Some(scheme), Some(host)) = (uri.scheme_str(), uri.host()) else {
        return Err(invalid(format!(
            "{url:?} is not an absolute URL; it must begin with https:// and a host"
        )));
    };
    let is_http_on_loopback = scheme == "http" && is_loopback(host);
    if scheme != "https" && !is_http_on_loopback {
        return Err(invalid(format!("{url:?} is not encrypted; plain http is allowed only on loopback")));
    }
    if url.contains('#')
        || uri.query().is_some()
        || uri.authority().is_some_and(|authority| authority.as_str().contains('@'))
    {
        return Err(invalid(format!("{url:?} must have no query, no fragment and no user name")));
    }
    Ok(url.trim_end_matches('/').to_owned())
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Percent-encodes a text as one path segment.
pub(crate) fn path_segment(text: &str) -> String {
    utf8_percent_encode(text, PATH_SEGMENT).to_string()
}

pub(crate) fn encode_query<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}
