//! Reading what a request brings: a small JSON body, a query, names in the path. Everything is bounded, and
//! what is wrong is told with its place.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body as Incoming, HttpBody as _};
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::request::Parts;
use bytes::Bytes;
use domain::suggest::did_you_mean;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use store::AuditContext;
use web::{ErrorResponse, drain_in_background};

use super::refusal::{at_field, coded, sentence};

pub(super) const BODY_BYTES_MAX: usize = 64 * 1024;
const BODY_PATIENCE: Duration = Duration::from_secs(30);
/// How much of a refused body is still read, so that its sender sees the answer.
const DRAIN_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A JSON object.
pub(super) struct Body<T>(pub(super) T);

/// A JSON object that may be left out.
pub(super) struct BodyOrNone<T>(pub(super) T);

/// What the query asks; names that are not known, or come twice, are refused.
pub(super) struct Asked<T>(pub(super) T);

/// The names in the path.
pub(super) struct Named<T>(pub(super) T);

/// Where a request comes from, for the audit.
pub(super) struct By(pub(super) AuditContext);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = ErrorResponse;

    async fn from_request(request: Request, _: &S) -> Result<Self, ErrorResponse> {
        let bytes = read(request).await?;
        parse(&bytes).map(Self)
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Default> FromRequest<S> for BodyOrNone<T> {
    type Rejection = ErrorResponse;

    async fn from_request(request: Request, _: &S) -> Result<Self, ErrorResponse> {
        let bytes = read(request).await?;
        if matches!(bytes.trim_ascii(), b"" | b"null") {
            return Ok(Self(T::default()));
        }
        parse(&bytes).map(Self)
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ErrorResponse> {
        let pairs = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        let reader = serde_urlencoded::Deserializer::new(pairs);
        serde_path_to_error::deserialize(reader).map(Self).map_err(|error| {
            let path = error.path().to_string();
            explain(&PARAMETER, &path, &error.into_inner().to_string())
        })
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Named<T> {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ErrorResponse> {
        // Not every store takes a NUL, and nothing has one in its name.
        if parts.uri.path().contains("%00") {
            return Err(coded(404, "not_found", "There is nothing of such a name.".into()));
        }
        let read = Path::<T>::from_request_parts(parts, state).await;
        read.map(|Path(names)| Self(names))
            .map_err(|wrong| coded(wrong.status().as_u16(), "invalid_path", sentence(&wrong.body_text())))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for By {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let visit = parts.extensions.get::<web::RequestContext>();
        let context = visit.map(|visit| AuditContext {
            address: visit.address.0.to_string(),
            request_id: visit.id.as_str().to_owned(),
        });
        Ok(Self(context.unwrap_or_default()))
    }
}

async fn read(request: Request) -> Result<Bytes, ErrorResponse> {
    let (parts, mut body) = request.into_parts();
    if let Err(refusal) = check_type(&parts.headers, &body) {
        drain_in_background(body, DRAIN_BYTES_MAX);
        return Err(refusal);
    }
    let reading = Limited::new(&mut body, BODY_BYTES_MAX).collect();
    match tokio::time::timeout(BODY_PATIENCE, reading).await {
        Ok(Ok(read)) => Ok(read.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            drain_in_background(body, DRAIN_BYTES_MAX);
            let message = format!("The body may have {} KiB at most.", BODY_BYTES_MAX / 1024);
            Err(coded(413, "body_too_large", message))
        }
        Ok(Err(_)) => Err(coded(400, "body_cut_off", "The body was cut off; send it again.".into())),
        Err(_) => Err(coded(408, "body_too_slow", "The body took too long to come; send it again.".into())),
    }
}

fn check_type(headers: &HeaderMap, body: &Incoming) -> Result<(), ErrorResponse> {
    let wrong = |message: String| Err(coded(415, "unsupported_media_type", message));
    if headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        return wrong("Send the body without Content-Encoding.".into());
    }
    let Some(given) = headers.get(CONTENT_TYPE) else {
        if body.is_end_stream() {
            return Ok(());
        }
        return wrong("Content-Type is missing; send application/json.".into());
    };
    let essence = given.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    wrong(format!("Content-Type is {essence:?}; send application/json."))
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ErrorResponse> {
    // Lists would be read as objects without names.
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err(coded(400, "invalid_json", "The body must be one JSON object.".into()));
    }
    let not_json =
        |error: &serde_json::Error| coded(400, "invalid_json", format!("The body is not JSON: {error}."));
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let error = error.into_inner();
        if error.is_data() {
            explain(&MEMBER, &path, without_place(&error.to_string()))
        } else {
            not_json(&error)
        }
    })?;
    reader.end().map_err(|error| not_json(&error))?;
    Ok(value)
}

/// The place in the text helps nobody where the field is named.
fn without_place(text: &str) -> &str {
    text.rsplit_once(" at line ").map_or(text, |(text, _)| text)
}

/// Where something stands, and the codes of what can be wrong with it there.
struct Kind {
    word: &'static str,
    unknown: &'static str,
    missing: &'static str,
    duplicate: &'static str,
    invalid: &'static str,
}

const MEMBER: Kind = Kind {
    word: "member",
    unknown: "unknown_member",
    missing: "missing_member",
    duplicate: "duplicate_member",
    invalid: "invalid_member",
};
const PARAMETER: Kind = Kind {
    word: "parameter",
    unknown: "unknown_parameter",
    missing: "missing_parameter",
    duplicate: "duplicate_parameter",
    invalid: "invalid_parameter",
};

/// Turns what serde says of one place into a refusal that names it.
fn explain(kind: &Kind, path: &str, text: &str) -> ErrorResponse {
    let mut words = text.split('`').skip(1).step_by(2);
    let (named, word) = (words.next().unwrap_or_default(), kind.word);
    if text.starts_with("unknown field") {
        let known: Vec<&str> = words.collect();
        let hint = did_you_mean(named, known.iter().copied());
        let message = format!("There is no {word} {named:?} here{hint}; known are {}.", known.join(", "));
        at_field(400, kind.unknown, named, message)
    } else if text.starts_with("missing field") {
        at_field(400, kind.missing, named, format!("The {word} \"{named}\" is missing."))
    } else if text.starts_with("duplicate field") {
        at_field(400, kind.duplicate, named, format!("The {word} \"{named}\" came twice; send it once."))
    } else if text.starts_with(&format!("{path} ")) {
        at_field(400, kind.invalid, path, format!("{text}."))
    } else {
        at_field(400, kind.invalid, path, format!("{path}: {text}."))
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "read for its faults")]
    struct Thing {
        name: String,
        sizes: Option<Vec<u8>>,
    }

    #[track_caller]
    fn refused(body: &str, code: &str, field: Option<&str>, words: &str) {
        let problem = parse::<Thing>(body.as_bytes()).unwrap_err().problem;
        assert_eq!((problem.status, &*problem.errors[0].code), (400, code), "{problem:?}");
        assert_eq!(problem.errors[0].field.as_deref(), field, "{problem:?}");
        assert!(problem.message.contains(words), "{problem:?}");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        assert!(parse::<Thing>(br#" {"name":"a","sizes":null} "#).is_ok());
        refused(r#"{"nmae":"a"}"#, "unknown_member", Some("nmae"), "(did you mean \"name\"?)");
        refused("{}", "missing_member", Some("name"), "\"name\" is missing");
        refused(r#"{"name":"a","name":"b"}"#, "duplicate_member", Some("name"), "twice");
        refused(r#"{"name":5}"#, "invalid_member", Some("name"), "expected a string");
        refused(r#"{"name":"a","sizes":[1,300]}"#, "invalid_member", Some("sizes[1]"), "300");
    }

    #[test]
    fn what_is_no_object_is_no_body() {
        for body in ["", "[\"a\"]", "\"a\"", "null", "nonsense"] {
            refused(body, "invalid_json", None, "one JSON object");
        }
        for body in ["{", r#"{"name":"a"} {}"#, r#"{"name":"\ud800"}"#, "{\"name\":\"\u{0}\"}"] {
            refused(body, "invalid_json", None, "not JSON");
        }
    }
}
