//! Checks of the credentials of a request (subscription key and bearer token) and of the change feed's query.

use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, Uri};
use domain::fuzzing::signature;
use web::ErrorResponse;

use super::{PATH, assert_names};
use crate::gate::{KEY_HEADER, bearer_token, subscription_key};
use crate::query::Query;
use crate::reads::feed::{PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX};

const KEY_QUERY: &str = "subscription-key";
const SCHEME: &str = "Bearer ";
const AFTER_MAX: u64 = i64::MAX as u64;

/// Three lines: the header of the subscription key, `Authorization`, and the query. An empty line is no header, a leading `=` only marks
/// that there is one, and `|` separates several values of it. The key comes from the header or, where there is none, from the query, which
/// has it once; the token follows the scheme Bearer in any case. Neither is ever empty.
pub fn gateway_credentials(data: &[u8]) -> u64 {
    let data = data.strip_suffix(b"\n").unwrap_or(data);
    let mut lines = data.splitn(3, |byte| *byte == b'\n');
    let mut line = || lines.next().unwrap_or_default();
    let (key_line, token_line, query) = (line(), line(), line());
    let Ok(uri) = Uri::try_from([PATH.as_bytes(), b"?", query].concat()) else { return 0 };
    let mut headers = HeaderMap::new();
    append(&mut headers, &KEY_HEADER, key_line);
    append(&mut headers, &AUTHORIZATION, token_line);
    let token = check_token(&headers);
    let (mut parts, ()) = Request::new(()).into_parts();
    (parts.uri, parts.headers) = (uri.clone(), headers.clone());
    let expected = expected_key(&uri, &headers);
    let key = match (subscription_key(&parts), expected) {
        (Ok(key), Ok(expected)) => {
            assert_eq!(key.as_deref(), expected.as_deref());
            assert!(key.as_deref() != Some(""));
            1 + u64::from(key.is_some()) + u64::from(headers.contains_key(&KEY_HEADER)) * 2
        }
        (Err(error), Err(())) => {
            assert_names(&error, &[KEY_QUERY]);
            signature(&error.problem.message)
        }
        (key, expected) => panic!("{key:?} instead of {expected:?}"),
    };
    key << 2 | token
}

fn append(headers: &mut HeaderMap, name: &HeaderName, line: &[u8]) {
    if line.is_empty() {
        return;
    }
    for value in line.strip_prefix(b"=").unwrap_or(line).split(|byte| *byte == b'|') {
        if let Ok(value) = HeaderValue::from_bytes(value) {
            headers.append(name, value);
        }
    }
}

/// The key in the plainest way; an error where the query has several.
fn expected_key(uri: &Uri, headers: &HeaderMap) -> Result<Option<String>, ()> {
    let key = if let Some(value) = headers.get(&KEY_HEADER) {
        Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
    } else {
        let mut given = values(uri.query().unwrap_or_default(), KEY_QUERY);
        if given.len() > 1 {
            return Err(());
        }
        given.pop()
    };
    Ok(key.filter(|key| !key.is_empty()))
}

/// A token is what follows the scheme, without white space around it, and is found again under the scheme in any case.
fn check_token(headers: &HeaderMap) -> u64 {
    let Some(token) = bearer_token(headers) else {
        let plain = headers.get(AUTHORIZATION).and_then(|line| line.to_str().ok()).unwrap_or_default();
        let scheme = plain.get(..SCHEME.len()).unwrap_or_default();
        let rest = plain.get(SCHEME.len()..).unwrap_or_default();
        assert!(!scheme.eq_ignore_ascii_case(SCHEME) || rest.trim().is_empty(), "{plain:?} has a token");
        return u64::from(headers.contains_key(AUTHORIZATION));
    };
    assert!(!token.is_empty() && token.trim_matches([' ', '\t']) == token, "{token:?}");
    // A header may contain tabs.
    assert!(!token.contains(|c: char| c.is_ascii_control() && c != '\t'), "{token:?}");
    for scheme in ["Bearer ", "bearer ", "BEARER  "] {
        let Ok(line) = HeaderValue::from_bytes(format!("{scheme}{token}").as_bytes()) else {
            panic!("{token:?} cannot be sent")
        };
        let again = HeaderMap::from_iter([(AUTHORIZATION, line)]);
        assert_eq!(bearer_token(&again).as_deref(), Some(&*token), "{scheme}");
    }
    2 + u64::from(token.contains('.'))
}

/// All values of a parameter, whatever the case of its name.
fn values(query: &str, name: &str) -> Vec<String> {
    let pairs = form_urlencoded::parse(query.as_bytes());
    pairs.filter(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value.into_owned()).collect()
}

/// Any bytes as the query of the change feed: a position and a page size within their bounds and in digits alone, or an error that names
/// the parameter. The link to the next page means the same.
pub fn feed_query(data: &[u8]) -> u64 {
    let data = data.strip_suffix(b"\n").unwrap_or(data);
    let Ok(uri) = Uri::try_from([PATH.as_bytes(), b"/changes?", data].concat()) else { return 0 };
    let text = uri.query().unwrap_or_default();
    let query = Query::parse(&uri);
    let after = query.number("after", 0, AFTER_MAX);
    let size = query.number_if_given("pageSize", 1, PAGE_SIZE_MAX);
    if let (Ok(after), Ok(size)) = (&after, &size) {
        let (after, size) = (after.unwrap_or(0), size.unwrap_or(PAGE_SIZE_DEFAULT));
        let Ok(next) = Uri::try_from(format!("{PATH}/changes?after={after}&pageSize={size}")) else {
            panic!("no link to the page after {after}")
        };
        let next = Query::parse(&next);
        assert_eq!(next.number("after", 0, AFTER_MAX).ok(), Some(Some(after)));
        assert_eq!(next.number_if_given("pageSize", 1, PAGE_SIZE_MAX).ok(), Some(Some(size)));
    }
    let after = check_number(text, "after", (0, AFTER_MAX), false, after);
    let size = check_number(text, "pageSize", (1, PAGE_SIZE_MAX), true, size);
    after.rotate_left(8) ^ size
}

/// Compares a number with the one of a second parser. `may_be_empty`: an empty value counts as absent.
fn check_number(
    query: &str,
    name: &'static str,
    (from, to): (u64, u64),
    may_be_empty: bool,
    found: Result<Option<u64>, ErrorResponse>,
) -> u64 {
    let expected = match &values(query, name)[..] {
        [] => Some(None),
        [text] if text.is_empty() && may_be_empty => Some(None),
        [text] => digits(text).filter(|number| (from..=to).contains(number)).map(Some),
        _ => None,
    };
    match (found, expected) {
        (Ok(found), Some(expected)) => {
            assert_eq!(found, expected, "{name} of {query:?}");
            1 + u64::from(found.is_some())
        }
        (Err(error), None) => {
            assert_names(&error, &[name]);
            signature(&error.problem.message)
        }
        (found, expected) => panic!("{name} of {query:?}: {found:?} instead of {expected:?}"),
    }
}

/// A number of digits alone, leading zeros included.
fn digits(text: &str) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    let number = text.chars().try_fold(0_u128, |number, c| {
        Some(number.saturating_mul(10).saturating_add(u128::from(c.to_digit(10)?)))
    });
    number.and_then(|number| u64::try_from(number).ok())
}
