//! Maps errors to HTTP: one body, with a code for programs and a message for people.

use axum::http::StatusCode;
use axum::http::header::{HeaderValue, RETRY_AFTER};
use domain::FieldError;
use domain::problem::Problem;
use store::StoreError;
use web::ErrorResponse;

use crate::error::AdminError;

const RETRY_AFTER_SECONDS: &str = "5";

pub(super) fn error_with_code(status: u16, code: &'static str, message: String) -> ErrorResponse {
    Problem::new(status, message.clone()).with(FieldError::new(code, message)).into()
}

/// An error that names the field at fault.
pub(super) fn error_at_field(status: u16, code: &'static str, field: &str, message: String) -> ErrorResponse {
    Problem::new(status, message.clone()).with(FieldError::new(code, message).at(field.to_owned())).into()
}

impl From<AdminError> for ErrorResponse {
    fn from(error: AdminError) -> Self {
        match error {
            AdminError::Invalid(why) => error_with_code(400, "invalid_value", sentence(&why)),
            AdminError::Forbidden(why) => error_with_code(403, "insufficient_role", sentence(&why)),
            AdminError::NotFound(_) => error_with_code(404, "not_found", sentence(&error.to_string())),
            AdminError::Cancelled(_) => error_with_code(409, "cancelled", sentence(&error.to_string())),
            AdminError::Conflict { code, why } => error_with_code(409, code, sentence(&why)),
            AdminError::Store(error) => store_error_response(&error),
        }
    }
}

/// Maps the store's errors to HTTP.
pub(super) fn store_error_response(error: &StoreError) -> ErrorResponse {
    let later = |code, message: String| {
        tracing::warn!(%error, "the store is unavailable");
        error_with_code(503, code, message).header(RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_SECONDS))
    };
    match error {
        StoreError::UnknownTenant(tenant) => {
            error_with_code(404, "unknown_tenant", format!("There is no tenant \"{tenant}\"."))
        }
        StoreError::Exists(_) => error_with_code(409, "exists", sentence(&error.to_string())),
        StoreError::SandboxApart => error_with_code(409, "sandbox_apart", sentence(&error.to_string())),
        StoreError::KeyInUse(_) => error_with_code(
            409,
            "idempotency_key_in_use",
            "Another request under this Idempotency-Key is in progress; wait until it ends, then try again."
                .into(),
        ),
        StoreError::Full(why) => {
            later("store_full", format!("Nothing can be written now: {why}. Reads go on."))
        }
        StoreError::Unavailable(why) => {
            later("store_unavailable", format!("The store does not answer now: {why}."))
        }
        StoreError::Expired => later(
            "store_busy",
            "The changes waited too long to be written and were not applied. Send them again under an Idempotency-Key."
                .into(),
        ),
        other => {
            tracing::error!(error = %other, "the store failed");
            ErrorResponse::new(StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong on our side.")
        }
    }
}

/// Capitalizes a message and ends it with a full stop.
pub(super) fn sentence(message: &str) -> String {
    let mut rest = message.chars();
    let first = rest.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", rest.as_str())
}
