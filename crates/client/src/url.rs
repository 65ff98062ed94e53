//! Addresses of the service: checked when they are handed in, so that no key and no token travels in the open.

use std::net::IpAddr;

use http::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::Error;

/// What a segment of a path holds as it is.
const PATH_SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// An address without the slash at its end: https, or http on this machine.
pub(crate) fn check_url(what: &'static str, url: &str) -> Result<String, Error> {
    let wrong = |reason: String| Error::invalid_input(what, reason);
    let uri: Uri = url.parse().map_err(|error| wrong(format!("{url:?} is no address ({error})")))?;
    let (Some(scheme), Some(host)) = (uri.scheme_str(), uri.host()) else {
        return Err(wrong(format!("{url:?} is no whole address; it begins with https:// and a host")));
    };
    let is_open = scheme == "http" && is_this_machine(host);
    if scheme != "https" && !is_open {
        return Err(wrong(format!("{url:?} is not encrypted; only addresses of this machine may be http")));
    }
    if uri.query().is_some() || uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(wrong(format!("{url:?} must have no query and no user")));
    }
    Ok(url.trim_end_matches('/').to_owned())
}

fn is_this_machine(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// A text as one segment of a path.
pub(crate) fn path_segment(text: &str) -> String {
    utf8_percent_encode(text, PATH_SEGMENT).to_string()
}

pub(crate) fn encode_query<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}
