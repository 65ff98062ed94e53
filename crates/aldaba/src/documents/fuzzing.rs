//! Checks of `?tags=` of the OpenAPI document.

use std::sync::LazyLock;

use axum::http::Uri;
use domain::fuzzing::signature;
use utoipa::openapi::OpenApi;

use super::served::wanted_tags;
use super::slim::known_tags;
use crate::config::{Sources, load};

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
