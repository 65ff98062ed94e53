//! Extractors: JSON bodies, query parameters, path parameters and the origin for the audit. Sizes are bounded, and a
//! response names the member or parameter at fault.

use std::time::Duration;

use axum::body::{Body as Incoming, HttpBody as _};
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::request::Parts;
use bytes::Bytes;
use domain::ErrorCode;
use domain::suggest::did_you_mean;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use store::AuditContext;
use web::{ErrorResponse, drain_in_background, is_body_stalled};

use super::authentication::Bearer;
use super::error_response::{error_at_field, error_with_code, sentence};
use crate::admin::Authority;

pub(super) const BODY_BYTES_MAX: usize = 64 * 1024;
const BODY_READ_MAX: Duration = Duration::from_secs(30);
/// How much of a refused body is still read, so that its sender sees the response.
const DRAIN_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A JSON object.
pub(super) struct JsonBody<T>(pub(super) T);

/// A JSON object that may be absent.
pub(super) struct OptionalJsonBody<T>(pub(super) T);

/// The query string; unknown and repeated parameters are refused.
pub(super) struct QueryParams<T>(pub(super) T);

/// The parameters of the path.
pub(super) struct PathParams<T>(pub(super) T);

/// Who sent the request and in which role, with its address and its id for the audit.
pub(super) struct RequestOrigin(pub(super) Authority);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = ErrorResponse;

    async fn from_request(request: Request, _: &S) -> Result<Self, ErrorResponse> {
        let bytes = read(request).await?;
        parse(&bytes).map(Self)
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Default> FromRequest<S> for OptionalJsonBody<T> {
    type Rejection = ErrorResponse;

    async fn from_request(request: Request, _: &S) -> Result<Self, ErrorResponse> {
        let bytes = read(request).await?;
        if matches!(bytes.trim_ascii(), b"" | b"null") {
            return Ok(Self(T::default()));
        }
        parse(&bytes).map(Self)
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for QueryParams<T> {
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

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for PathParams<T> {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ErrorResponse> {
        // PostgreSQL accepts no NUL in text, and no id has one.
        if parts.uri.path().contains("%00") {
            return Err(error_with_code(ErrorCode::NotFound, "No object has such an id.".into()));
        }
        let read = Path::<T>::from_request_parts(parts, state).await;
        read.map(|Path(names)| Self(names))
            .map_err(|wrong| error_with_code(ErrorCode::InvalidPath, sentence(&wrong.body_text())))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for RequestOrigin {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ErrorResponse> {
        let Some(Bearer { actor, role }) = parts.extensions.get::<Bearer>().cloned() else {
            tracing::error!("a route of the operator's API is not behind the check of the token");
            let message = "Something went wrong on our side.";
            return Err(ErrorResponse::new(ErrorCode::InternalError, message));
        };
        let (address, request_id) = match parts.extensions.get::<web::RequestContext>() {
            Some(request) => (request.address.0.to_string(), request.id.as_str().to_owned()),
            None => <(String, String)>::default(),
        };
        Ok(Self(Authority::new(AuditContext { actor, address, request_id }, role)))
    }
}

async fn read(request: Request) -> Result<Bytes, ErrorResponse> {
    let (parts, mut body) = request.into_parts();
    if let Err(error_response) = check_type(&parts.headers, &body) {
        drain_in_background(body, DRAIN_BYTES_MAX);
        return Err(error_response);
    }
    let reading = Limited::new(&mut body, BODY_BYTES_MAX).collect();
    match tokio::time::timeout(BODY_READ_MAX, reading).await {
        Ok(Ok(read)) => Ok(read.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            drain_in_background(body, DRAIN_BYTES_MAX);
            let message = format!("The body may have {} KiB at most.", BODY_BYTES_MAX / 1024);
            Err(error_with_code(ErrorCode::BodyTooLarge, message))
        }
        Ok(Err(error)) if !is_body_stalled(&*error) => {
            Err(error_with_code(ErrorCode::BodyCutOff, "The body was cut off; send it again.".into()))
        }
        Ok(Err(_)) | Err(_) => Err(error_with_code(
            ErrorCode::BodyTooSlow,
            "The body took too long to come; send it again.".into(),
        )),
    }
}

fn check_type(headers: &HeaderMap, body: &Incoming) -> Result<(), ErrorResponse> {
    let wrong = |message: String| Err(error_with_code(ErrorCode::UnsupportedMediaType, message));
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
    // serde would read an array as the fields of a struct, by position.
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err(error_with_code(ErrorCode::InvalidJson, "The body must be one JSON object.".into()));
    }
    let not_json = |error: &serde_json::Error| {
        error_with_code(ErrorCode::InvalidJson, format!("The body is not JSON: {error}."))
    };
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let error = error.into_inner();
        if error.is_data() {
            explain(&MEMBER, &path, without_position(&error.to_string()))
        } else {
            not_json(&error)
        }
    })?;
    reader.end().map_err(|error| not_json(&error))?;
    Ok(value)
}

/// Without serde's line and column: the field is named instead.
fn without_position(text: &str) -> &str {
    text.rsplit_once(" at line ").map_or(text, |(text, _)| text)
}

/// Error codes for one kind of input.
struct InputKind {
    word: &'static str,
    unknown: ErrorCode,
    missing: ErrorCode,
    duplicate: ErrorCode,
    invalid: ErrorCode,
}

const MEMBER: InputKind = InputKind {
    word: "member",
    unknown: ErrorCode::UnknownMember,
    missing: ErrorCode::MissingMember,
    duplicate: ErrorCode::DuplicateMember,
    invalid: ErrorCode::InvalidMember,
};
const PARAMETER: InputKind = InputKind {
    word: "parameter",
    unknown: ErrorCode::UnknownParameter,
    missing: ErrorCode::MissingParameter,
    duplicate: ErrorCode::DuplicateParameter,
    invalid: ErrorCode::InvalidParameter,
};

/// Turns serde's message about one field into an error that names it.
fn explain(kind: &InputKind, path: &str, text: &str) -> ErrorResponse {
    let mut schema_types = text.split('`').skip(1).step_by(2);
    let (named, word) = (schema_types.next().unwrap_or_default(), kind.word);
    if text.starts_with("unknown field") {
        let known: Vec<&str> = schema_types.collect();
        let hint = did_you_mean(named, known.iter().copied());
        let message = format!("There is no {word} {named:?} here{hint}; known are {}.", known.join(", "));
        error_at_field(kind.unknown, named, message)
    } else if text.starts_with("missing field") {
        error_at_field(kind.missing, named, format!("The {word} \"{named}\" is missing."))
    } else if text.starts_with("duplicate field") {
        error_at_field(kind.duplicate, named, format!("The {word} \"{named}\" came twice; send it once."))
    } else if text.starts_with(&format!("{path} ")) {
        error_at_field(kind.invalid, path, format!("{text}."))
    } else {
        error_at_field(kind.invalid, path, format!("{path}: {text}."))
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only deserialized")]
    struct Sample {
        name: String,
        sizes: Option<Vec<u8>>,
    }

    #[track_caller]
    fn refused(body: &str, code: &str, field: Option<&str>, schema_types: &str) {
        let problem = parse::<Sample>(body.as_bytes()).unwrap_err().problem;
        assert_eq!((problem.status, &*problem.errors[0].code), (400, code), "{problem:?}");
        assert_eq!(problem.errors[0].field.as_deref(), field, "{problem:?}");
        assert!(problem.message.contains(schema_types), "{problem:?}");
    }

    #[test]
    fn error_names_the_field() {
        assert!(parse::<Sample>(br#" {"name":"a","sizes":null} "#).is_ok());
        refused(r#"{"nmae":"a"}"#, "unknown_member", Some("nmae"), "(did you mean \"name\"?)");
        refused("{}", "missing_member", Some("name"), "\"name\" is missing");
        refused(r#"{"name":"a","name":"b"}"#, "duplicate_member", Some("name"), "twice");
        refused(r#"{"name":5}"#, "invalid_member", Some("name"), "expected a string");
        refused(r#"{"name":"a","sizes":[1,300]}"#, "invalid_member", Some("sizes[1]"), "300");
    }

    #[test]
    fn body_must_be_one_json_object() {
        for body in ["", "[\"a\"]", "\"a\"", "null", "nonsense"] {
            refused(body, "invalid_json", None, "one JSON object");
        }
        for body in ["{", r#"{"name":"a"} {}"#, r#"{"name":"\ud800"}"#, "{\"name\":\"\u{0}\"}"] {
            refused(body, "invalid_json", None, "not JSON");
        }
    }
}
