//! Maps errors to HTTP: one body, with a code for programs and a message for people.

use axum::http::header::{HeaderValue, RETRY_AFTER};
use domain::problem::Problem;
use domain::{ErrorCode, FieldError};
use store::StoreError;
use web::ErrorResponse;

use crate::error::{AdminError, store_error_code};

const RETRY_AFTER_SECONDS: &str = "5";

pub(super) fn error_with_code(code: ErrorCode, message: String) -> ErrorResponse {
    Problem::new(code, message.clone()).with(FieldError::new(code, message)).into()
}

/// An error that names the field at fault.
pub(super) fn error_at_field(code: ErrorCode, field: &str, message: String) -> ErrorResponse {
    Problem::new(code, message.clone()).with(FieldError::new(code, message).at(field.to_owned())).into()
}

impl From<AdminError> for ErrorResponse {
    fn from(error: AdminError) -> Self {
        match error {
            AdminError::Store(error) => store_error_response(&error),
            error => error_with_code(error.code(), sentence(&error.to_string())),
        }
    }
}

/// Maps the store's errors to HTTP.
pub(super) fn store_error_response(error: &StoreError) -> ErrorResponse {
    let code = store_error_code(error);
    let later = |message: String| {
        tracing::warn!(%error, "the store is unavailable");
        error_with_code(code, message).header(RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_SECONDS))
    };
    match error {
        StoreError::UnknownTenant(tenant) => {
            error_with_code(code, format!("There is no tenant \"{tenant}\"."))
        }
        StoreError::Exists(_) | StoreError::SandboxApart => error_with_code(code, sentence(&error.to_string())),
        StoreError::KeyInUse(_) => error_with_code(
            code,
            "Another request under this Idempotency-Key is in progress; wait until it ends, then try again."
                .into(),
        ),
        StoreError::Full(why) => {
            later(format!("Nothing can be written now: {why}. Reads go on."))
        }
        StoreError::Unavailable(why) => {
            later(format!("The store does not answer now: {why}."))
        }
        StoreError::Expired => later(
            "The changes waited too long to be written and were not applied. Send them again under an Idempotency-Key."
                .into(),
        ),
        other => {
            tracing::error!(error = %other, "the store failed");
            ErrorResponse::new(code, "Something went wrong on our side.")
        }
    }
}

/// Capitalizes a message and ends it with a full stop.
pub(super) fn sentence(message: &str) -> String {
    let mut rest = message.chars();
    let first = rest.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", rest.as_str())
}
