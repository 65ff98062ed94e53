//! The `context` header: the company of a request, as a JSON object with one member, `clientId`; or the word `none`.

use std::borrow::Cow;

use axum::http::{HeaderMap, HeaderName};
use domain::ErrorCode;
use serde::Deserialize;
use web::ErrorResponse;

use crate::errors::invalid_context;

pub(crate) const CONTEXT: &str = "context";
/// Parsed once: every request looks it up.
pub(crate) static CONTEXT_HEADER: HeaderName = HeaderName::from_static(CONTEXT);
const BYTES_MAX: usize = 4096;

/// The header's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    Absent,
    None,
    Company(Box<str>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ContextObject<'a> {
    #[serde(rename = "clientId", borrow)]
    client_id: Cow<'a, str>,
}

impl Context {
    pub(crate) fn from_headers(headers: &HeaderMap) -> Result<Self, ErrorResponse> {
        let mut values = headers.get_all(&CONTEXT_HEADER).iter();
        let Some(value) = values.next() else { return Ok(Self::Absent) };
        if values.next().is_some() {
            let message = "The header context must be sent only once.";
            return Err(invalid_context(ErrorCode::InvalidContext, message));
        }
        // An id may be any text, and a header holds bytes: they are decoded as UTF-8.
        let text = std::str::from_utf8(value.as_bytes()).ok().map(str::trim);
        match text {
            Some("") => Ok(Self::Absent),
            Some(text) if text.eq_ignore_ascii_case("none") => Ok(Self::None),
            // Serde would also deserialize the struct from an array of its members' values.
            Some(text) if text.len() <= BYTES_MAX && text.starts_with('{') => parse_company(text),
            _ => Err(malformed()),
        }
    }

    /// The company of a company-scoped request.
    pub(crate) fn company(self) -> Result<Box<str>, ErrorResponse> {
        match self {
            Self::Company(id) => Ok(id),
            Self::Absent | Self::None => {
                let message =
                    "The header context is missing; send {\"clientId\":\"<company's correlationId>\"}.";
                Err(invalid_context(ErrorCode::MissingContext, message))
            }
        }
    }
}

fn parse_company(text: &str) -> Result<Context, ErrorResponse> {
    let object: ContextObject<'_> = serde_json::from_str(text).map_err(|_| malformed())?;
    if object.client_id.is_empty() {
        return Err(malformed());
    }
    Ok(Context::Company(object.client_id.into()))
}

fn malformed() -> ErrorResponse {
    let message = "The header context must be {\"clientId\":\"<company's correlationId>\"}.";
    invalid_context(ErrorCode::InvalidContext, message)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn parse(bytes: &[u8]) -> Option<Context> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTEXT, HeaderValue::from_bytes(bytes).ok()?);
        Context::from_headers(&headers).ok()
    }

    #[test]
    fn json_object_names_the_company() {
        let company = |id: &str| Some(Context::Company(id.into()));
        assert_eq!(parse(br#"{"clientId":"abc"}"#), company("abc"));
        assert_eq!(parse(b" { \"clientId\" :\t\"a b\" } "), company("a b"));
        assert_eq!(parse("{\"clientId\":\"ñ\\u00f1\"}".as_bytes()), company("ññ"));
        assert_eq!(parse(b"none"), Some(Context::None));
        assert_eq!(parse(b" NONE "), Some(Context::None));
        assert_eq!(parse(b""), Some(Context::Absent));
    }

    #[test]
    fn any_other_value_is_refused() {
        for wrong in [
            "abc",
            "{}",
            "[]",
            "[\"a\"]",
            "null",
            "{\"clientId\":1}",
            "{\"clientId\":\"\"}",
            "{\"clientid\":\"a\"}",
            "{\"clientId\":\"a\",\"x\":1}",
            "{\"clientId\":\"a\",\"clientId\":\"b\"}",
            "{\"clientId\":\"a\"}x",
            "\"none\"",
        ] {
            assert_eq!(parse(wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(parse(b"{\"clientId\":\"\xff\"}"), None);
        assert_eq!(parse(format!("{{\"clientId\":\"{}\"}}", "a".repeat(5000)).as_bytes()), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }

        #[test]
        fn every_id_round_trips(id in "[^\\x00-\\x1f\\x7f]{1,200}") {
            let text = serde_json::json!({"clientId": id}).to_string();
            prop_assert_eq!(parse(text.as_bytes()), Some(Context::Company(id.as_str().into())));
        }
    }
}
