//! Maps errors to HTTP: one body, with a code for programs and a message for people.

use axum::http::header::{HeaderValue, RETRY_AFTER};
use domain::problem::Problem;
use domain::{ErrorCode, FieldError};
use store::StoreError;
use web::ErrorResponse;

use crate::error::AdminError;

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
            AdminError::Invalid(why) => error_with_code(ErrorCode::InvalidValue, sentence(&why)),
            AdminError::Forbidden(why) => error_with_code(ErrorCode::InsufficientRole, sentence(&why)),
            AdminError::NotFound(_) => error_with_code(ErrorCode::NotFound, sentence(&error.to_string())),
            AdminError::Cancelled(_) => error_with_code(ErrorCode::Cancelled, sentence(&error.to_string())),
            AdminError::Conflict { code, why } => error_with_code(code, sentence(&why)),
            AdminError::Store(error) => store_error_response(&error),
        }
    }
}

/// Maps the store's errors to HTTP.
pub(super) fn store_error_response(error: &StoreError) -> ErrorResponse {
    let later = |code, message: String| {
        tracing::warn!(%error, "the store is unavailable");
        error_with_code(code, message).header(RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_SECONDS))
    };
    match error {
        StoreError::UnknownTenant(tenant) => {
            error_with_code(ErrorCode::UnknownTenant, format!("There is no tenant \"{tenant}\"."))
        }
        StoreError::Exists(_) => error_with_code(ErrorCode::Exists, sentence(&error.to_string())),
        StoreError::SandboxApart => error_with_code(ErrorCode::SandboxApart, sentence(&error.to_string())),
        StoreError::KeyInUse(_) => error_with_code(
            ErrorCode::IdempotencyKeyInUse,
            "Another request under this Idempotency-Key is in progress; wait until it ends, then try again."
                .into(),
        ),
        StoreError::Full(why) => {
            later(ErrorCode::StoreFull, format!("Nothing can be written now: {why}. Reads go on."))
        }
        StoreError::Unavailable(why) => {
            later(ErrorCode::StoreUnavailable, format!("The store does not answer now: {why}."))
        }
        StoreError::Expired => later(
            ErrorCode::StoreBusy,
            "The changes waited too long to be written and were not applied. Send them again under an Idempotency-Key."
                .into(),
        ),
        other => {
            tracing::error!(error = %other, "the store failed");
            ErrorResponse::new(ErrorCode::InternalError, "Something went wrong on our side.")
        }
    }
}

/// Capitalizes a message and ends it with a full stop.
pub(super) fn sentence(message: &str) -> String {
    let mut rest = message.chars();
    let first = rest.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", rest.as_str())
}
