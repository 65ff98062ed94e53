//! How errors look from outside: the one error body, with a code for programs and a sentence for people.

use axum::http::StatusCode;
use axum::http::header::{HeaderValue, RETRY_AFTER};
use domain::FieldError;
use domain::problem::Problem;
use store::StoreError;
use web::ErrorResponse;

use crate::admin::AdminError;

const RETRY_AFTER_SECONDS: &str = "5";

pub(super) fn coded(status: u16, code: &'static str, message: String) -> ErrorResponse {
    Problem::new(status, message.clone()).with(FieldError::new(code, message)).into()
}

/// A refusal that names the field.
pub(super) fn at_field(status: u16, code: &'static str, field: &str, message: String) -> ErrorResponse {
    Problem::new(status, message.clone()).with(FieldError::new(code, message).at(field.to_owned())).into()
}

impl From<AdminError> for ErrorResponse {
    fn from(error: AdminError) -> Self {
        match error {
            AdminError::Invalid(why) => coded(400, "invalid_value", sentence(&why)),
            AdminError::Missing(_) => coded(404, "not_found", sentence(&error.to_string())),
            AdminError::Cancelled(_) => coded(409, "cancelled", sentence(&error.to_string())),
            AdminError::Refused { code, why } => coded(409, code, sentence(&why)),
            AdminError::Store(error) => store_refusal(&error),
        }
    }
}

/// How the store's errors look from outside.
pub(super) fn store_refusal(error: &StoreError) -> ErrorResponse {
    let later = |code, message: String| {
        coded(503, code, message).header(RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_SECONDS))
    };
    match error {
        StoreError::UnknownTenant(tenant) => {
            coded(404, "unknown_tenant", format!("There is no tenant \"{tenant}\"."))
        }
        StoreError::Exists(_) => coded(409, "exists", sentence(&error.to_string())),
        StoreError::KeyInUse(_) => coded(
            409,
            "idempotency_key_in_use",
            "Another request under this Idempotency-Key is under way; wait for its end, then try again."
                .into(),
        ),
        StoreError::Full(why) => {
            later("store_full", format!("Nothing can be written now: {why}. Reads go on."))
        }
        StoreError::Unavailable(why) => {
            later("store_unavailable", format!("The store does not answer now: {why}."))
        }
        other => {
            tracing::error!(error = %other, "the store failed");
            ErrorResponse::new(StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong on our side.")
        }
    }
}

/// Words as a sentence: they begin with a capital and end with a full stop.
pub(super) fn sentence(words: &str) -> String {
    let mut rest = words.chars();
    let first = rest.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", rest.as_str())
}
