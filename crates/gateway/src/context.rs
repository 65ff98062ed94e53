//! The `context` header: which company a call is about. A JSON object with one member, `clientId`, or the
//! word `none`.

use std::borrow::Cow;

use axum::http::{HeaderMap, HeaderName};
use serde::Deserialize;
use web::ErrorResponse;

use crate::refusal::bad;

pub(crate) const CONTEXT: &str = "context";
/// Read already: it is looked for in every call.
pub(crate) static CONTEXT_HEADER: HeaderName = HeaderName::from_static(CONTEXT);
const BYTES_MAX: usize = 4096;

/// What the header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    Absent,
    None,
    Company(Box<str>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written<'a> {
    #[serde(rename = "clientId", borrow)]
    client_id: Cow<'a, str>,
}

impl Context {
    pub(crate) fn of(headers: &HeaderMap) -> Result<Self, ErrorResponse> {
        let mut values = headers.get_all(&CONTEXT_HEADER).iter();
        let Some(value) = values.next() else { return Ok(Self::Absent) };
        if values.next().is_some() {
            return Err(bad(CONTEXT, "The header context came more than once."));
        }
        // Ids may be any text, and headers hold bytes: they are read as UTF-8.
        let text = std::str::from_utf8(value.as_bytes()).ok().map(str::trim);
        match text {
            Some("") => Ok(Self::Absent),
            Some(text) if text.eq_ignore_ascii_case("none") => Ok(Self::None),
            // An array of the members' values would be read as the object, too.
            Some(text) if text.len() <= BYTES_MAX && text.starts_with('{') => company(text),
            _ => Err(malformed()),
        }
    }

    /// The company that a company-scoped call names.
    pub(crate) fn company(self) -> Result<Box<str>, ErrorResponse> {
        match self {
            Self::Company(id) => Ok(id),
            Self::Absent | Self::None => {
                let message =
                    "The header context is missing; send {\"clientId\":\"<company's correlationId>\"}.";
                Err(bad(CONTEXT, message))
            }
        }
    }
}

fn company(text: &str) -> Result<Context, ErrorResponse> {
    let written: Written<'_> = serde_json::from_str(text).map_err(|_| malformed())?;
    if written.client_id.is_empty() {
        return Err(malformed());
    }
    Ok(Context::Company(written.client_id.into()))
}

fn malformed() -> ErrorResponse {
    bad(CONTEXT, "The header context must be {\"clientId\":\"<company's correlationId>\"}, or none.")
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8]) -> Option<Context> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTEXT, HeaderValue::from_bytes(bytes).ok()?);
        Context::of(&headers).ok()
    }

    #[test]
    fn a_company_is_named_in_json() {
        let company = |id: &str| Some(Context::Company(id.into()));
        assert_eq!(read(br#"{"clientId":"abc"}"#), company("abc"));
        assert_eq!(read(b" { \"clientId\" :\t\"a b\" } "), company("a b"));
        assert_eq!(read("{\"clientId\":\"ñ\\u00f1\"}".as_bytes()), company("ññ"));
        assert_eq!(read(b"none"), Some(Context::None));
        assert_eq!(read(b" NONE "), Some(Context::None));
        assert_eq!(read(b""), Some(Context::Absent));
    }

    #[test]
    fn anything_else_is_refused() {
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
            assert_eq!(read(wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(read(b"{\"clientId\":\"\xff\"}"), None);
        assert_eq!(read(format!("{{\"clientId\":\"{}\"}}", "a".repeat(5000)).as_bytes()), None);
    }

    proptest! {
        #[test]
        fn whatever_comes_is_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes);
        }

        #[test]
        fn every_id_is_read_back(id in "[^\\x00-\\x1f\\x7f]{1,200}") {
            let text = serde_json::json!({"clientId": id}).to_string();
            prop_assert_eq!(read(text.as_bytes()), Some(Context::Company(id.as_str().into())));
        }
    }
}
