//! The errors of the management API, each in one place.

use axum::http::header::{HeaderValue, RETRY_AFTER};
use domain::problem::Problem;
use domain::{ErrorCode, FieldError};
use store::StoreError;
use web::ErrorResponse;

use super::ActionError;
use crate::history::HistoryError;

pub(super) fn error_with_code(code: ErrorCode, field: Option<&'static str>, message: &str) -> ErrorResponse {
    let fault = FieldError::new(code, message);
    let fault = if let Some(field) = field { fault.at(field) } else { fault };
    Problem::new(code, message).with(fault).into()
}

/// A query parameter or header that is not valid.
pub(super) fn invalid_parameter(field: &'static str, message: impl Into<String>) -> ErrorResponse {
    error_with_code(ErrorCode::InvalidParameter, Some(field), &message.into())
}

/// The webhook does not exist, or belongs to another owner: the response is the same.
pub(super) fn webhook_not_found() -> ErrorResponse {
    error_with_code(ErrorCode::NotFound, Some("webhookId"), "There is no such webhook.")
}

pub(super) fn subscription_not_found() -> ErrorResponse {
    error_with_code(
        ErrorCode::NotFound,
        None,
        "There is no webhook with this name, url, secret and these event types.",
    )
}

pub(super) fn delivery_not_found() -> ErrorResponse {
    error_with_code(ErrorCode::NotFound, Some("outgoingId"), "There is no such delivery.")
}

/// Why nothing was done to a webhook; `field` is the member of the request that an error of the URL or the secret is about.
pub(super) fn action_error(error: &ActionError, field: &'static str) -> ErrorResponse {
    let refused = |field, message: &str| error_with_code(error.code(), field, message);
    match error {
        ActionError::NotFound => webhook_not_found(),
        ActionError::Store(error) => store_error(error),
        ActionError::Deleted => {
            refused(Some("webhookId"), "The webhook has been deleted. Deletion is permanent.")
        }
        ActionError::Unsubscribed | ActionError::FixedUrl => refused(Some("webhookId"), &sentence(error)),
        ActionError::Duplicate | ActionError::TooManyWebhooks(_) => refused(None, &sentence(error)),
        ActionError::InvalidUrl(why) => refused(Some(field), &format!("{field} {why}.")),
        ActionError::RefusedAddress(why) | ActionError::UnresolvedHost(why) => {
            refused(Some(field), &format!("{field} is not accepted: {why}."))
        }
        ActionError::ReservedAddress => {
            let why = "is not accepted: it is the address of the built-in receivers, and only webhooks of a sandbox can use \
                       the receiver of that sandbox. Send the address of a server of your own.";
            refused(Some(field), &format!("{field} {why}"))
        }
        ActionError::NameServersSilent => {
            let why = "cannot be resolved now: its name servers do not answer. Try again.";
            refused(Some(field), &format!("{field} {why}"))
        }
        ActionError::NotResolvedNow => {
            refused(Some(field), &format!("{field} cannot be resolved now. Try again."))
        }
        ActionError::InvalidSecret | ActionError::OverlapTooLong => refused(Some(field), &sentence(error)),
    }
}

/// Why the history could not be read, or a replay not be started.
#[allow(clippy::needless_pass_by_value, reason = "it is passed to map_err")]
pub(super) fn history_error(error: HistoryError) -> ErrorResponse {
    let refused = |code, field| error_with_code(code, field, &sentence(&error));
    match &error {
        HistoryError::NoWebhook => webhook_not_found(),
        HistoryError::NoDelivery => delivery_not_found(),
        HistoryError::EventPruned => refused(ErrorCode::NotFound, Some("outgoingId")),
        HistoryError::SpanReversed => refused(ErrorCode::InvalidMember, Some("from")),
        HistoryError::NothingToReplay => refused(ErrorCode::NothingToReplay, Some("from")),
        HistoryError::NotSubscribed => refused(ErrorCode::NotSubscribed, Some("event")),
        HistoryError::NotEntitled => refused(ErrorCode::NotEntitled, Some("to")),
        HistoryError::Inactive(_) => refused(ErrorCode::Inactive, Some("webhookId")),
        HistoryError::Suspended(_) => refused(ErrorCode::Suspended, Some("webhookId")),
        HistoryError::TooManyReplays(_) => refused(ErrorCode::TooManyReplays, None),
        HistoryError::Store(error) => store_error(error),
    }
}

/// The error as a sentence, with a capital and a full stop.
fn sentence(error: &impl std::fmt::Display) -> String {
    let text = error.to_string();
    let mut rest = text.chars();
    let first = rest.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", rest.as_str())
}

pub(super) fn store_error(error: &StoreError) -> ErrorResponse {
    match error {
        StoreError::Unavailable(_) | StoreError::Full(_) => {
            tracing::warn!(%error, "the store is unavailable");
            let message = "The service is temporarily unavailable. Try again in 5 seconds.";
            ErrorResponse::new(ErrorCode::ServiceUnavailable, message)
                .header(RETRY_AFTER, HeaderValue::from_static("5"))
        }
        // The tenant was erased while the request ran.
        StoreError::UnknownTenant(_) => webhook_not_found(),
        other => {
            tracing::error!(error = %other, "the store failed");
            ErrorResponse::new(ErrorCode::InternalError, "Something went wrong on our side.")
        }
    }
}
