//! Checks of `?tags=` of the OpenAPI document, and of the host that a request for its page names.

use std::net::IpAddr;
use std::sync::LazyLock;

use axum::http::Uri;
use axum::http::header::{HOST, HeaderMap, HeaderValue};
use domain::fuzzing::signature;
use utoipa::openapi::OpenApi;

use super::page_location::OnlyHost;
use super::prefill::is_for_loopback;
use super::served::wanted_tags;
use super::slim::known_tags;
use crate::config::{Server, Sources, load};

/// Names in one query.
const TAGS_MAX: usize = 100;

static DOCUMENT: LazyLock<OpenApi> = LazyLock::new(|| match load(&Sources::default()) {
    Ok(config) => super::public(&config),
    Err(faults) => panic!("{faults:?}"),
});

/// Any bytes as a query. It is refused in few words with its parameter, or names tags of the document, each found again under its own name.
pub fn tags(data: &[u8]) -> u64 {
    let Ok(uri) = Uri::try_from([b"/openapi.json?", data].concat()) else { return 0 };
    let wanted = match wanted_tags(&uri) {
        Ok(wanted) => wanted,
        Err(error) => return signature(&error.problem.message),
    };
    assert!(wanted.len() <= TAGS_MAX);
    match known_tags(&DOCUMENT, &wanted) {
        Ok(known) => {
            assert!(known.len() <= wanted.len());
            let again: Vec<String> = known.iter().cloned().collect();
            assert_eq!(known_tags(&DOCUMENT, &again), Ok(known));
            1 + again.len().min(40) as u64
        }
        Err(unknown) => {
            assert!(unknown.tag.chars().count() <= TAGS_MAX && !unknown.known.is_empty());
            assert!(unknown.to_string().len() < 4096, "{unknown}");
            signature(&unknown.tag) & 0xff | 0x100
        }
    }
}

const PAGE_HOST: &str = "api.example";

static SERVER: LazyLock<Server> = LazyLock::new(|| match load(&Sources::default()) {
    Ok(config) => Server {
        base_url: format!("https://{PAGE_HOST}"),
        auth_url: "https://id.example".to_owned(),
        ..config.server
    },
    Err(faults) => panic!("{faults:?}"),
});

/// The target of a request, and on the next line its `Host`. The page is on the host of the APIs alone, and its filled-in values are for a
/// request that names this machine.
pub fn page_host(data: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(data.strip_suffix(b"\n").unwrap_or(data));
    let (target, host) = text.split_once('\n').unwrap_or(("/docs/", &text));
    let Ok(uri) = target.parse::<Uri>() else { return 0 };
    let mut headers = HeaderMap::new();
    if let Ok(value) = HeaderValue::from_str(host) {
        headers.insert(HOST, value);
    }
    let named = if uri.host().is_some() { target } else { host };
    let is_allowed = OnlyHost::new(&SERVER).allows(&uri, &headers);
    let is_here = is_for_loopback(&uri, &headers);
    if is_allowed {
        assert!(hosts(named).any(|host| host.eq_ignore_ascii_case(PAGE_HOST)), "{named:?}");
        assert!(!is_here, "{named:?}");
    }
    if is_here {
        let is_loopback = |host: &str| {
            host.eq_ignore_ascii_case("localhost")
                || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        };
        assert!(hosts(named).any(is_loopback), "{named:?}");
    }
    if uri.host().is_none() {
        let is_plain = host.eq_ignore_ascii_case(PAGE_HOST);
        assert!(is_allowed || !is_plain, "{host:?} is refused");
    }
    assert!(OnlyHost::any().allows(&uri, &headers));
    u64::from(is_allowed) << 2 | u64::from(is_here) << 1 | u64::from(uri.host().is_some())
}

/// What may be the host in a text, without its port.
fn hosts(text: &str) -> impl Iterator<Item = &str> {
    text.split(['@', '/', '?', '#']).map(|part| match part.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => part.split(':').next().unwrap_or_default(),
    })
}
