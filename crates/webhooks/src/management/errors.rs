//! The errors of the management API, each in one place.

use axum::http::StatusCode;
use axum::http::header::{HeaderValue, RETRY_AFTER};
use domain::FieldError;
use domain::problem::Problem;
use store::StoreError;
use web::ErrorResponse;

use super::ActionError;
use crate::history::HistoryError;

pub(super) fn error_with_code(
    status: u16,
    code: &'static str,
    field: Option<&'static str>,
    message: &str,
) -> ErrorResponse {
    let fault = FieldError::new(code, message);
    let fault = if let Some(field) = field { fault.at(field) } else { fault };
    Problem::new(status, message).with(fault).into()
}

/// A query parameter or header that is not valid.
pub(super) fn invalid_parameter(field: &'static str, message: impl Into<String>) -> ErrorResponse {
    error_with_code(400, "invalid_parameter", Some(field), &message.into())
}

/// The webhook does not exist, or belongs to another owner: the response is the same.
pub(super) fn webhook_not_found() -> ErrorResponse {
    error_with_code(404, "not_found", Some("webhookId"), "There is no such webhook.")
}

pub(super) fn subscription_not_found() -> ErrorResponse {
    error_with_code(
        404,
        "not_found",
        None,
        "There is no webhook with this name, url, secret and these event types.",
    )
}

pub(super) fn delivery_not_found() -> ErrorResponse {
    error_with_code(404, "not_found", Some("outgoingId"), "There is no such delivery.")
}

/// Why nothing was done to a webhook; `field` is the member of the request that an error of the URL or the secret is about.
pub(super) fn action_error(error: &ActionError, field: &'static str) -> ErrorResponse {
    let refused = |status, field, message: &str| error_with_code(status, error.code(), field, message);
    match error {
        ActionError::NotFound => webhook_not_found(),
        ActionError::Store(error) => store_error(error),
        ActionError::Deleted => {
            refused(409, Some("webhookId"), "The webhook has been deleted. Deletion is permanent.")
        }
        ActionError::Unsubscribed | ActionError::FixedUrl => {
            refused(409, Some("webhookId"), &sentence(error))
        }
        ActionError::Duplicate | ActionError::TooManyWebhooks(_) => refused(409, None, &sentence(error)),
        ActionError::InvalidUrl(why) => refused(400, Some(field), &format!("{field} {why}.")),
        ActionError::RefusedAddress(why) | ActionError::UnresolvedHost(why) => {
            refused(400, Some(field), &format!("{field} is not accepted: {why}."))
        }
        ActionError::ReservedAddress => {
            let why = "is not accepted: it is the address of the built-in receivers, and only webhooks of a sandbox can use \
                       the receiver of that sandbox. Send the address of a server of your own.";
            refused(400, Some(field), &format!("{field} {why}"))
        }
        ActionError::NameServersSilent => {
            let why = "cannot be resolved now: its name servers do not answer. Try again.";
            refused(400, Some(field), &format!("{field} {why}"))
        }
        ActionError::NotResolvedNow => {
            refused(400, Some(field), &format!("{field} cannot be resolved now. Try again."))
        }
        ActionError::InvalidSecret | ActionError::OverlapTooLong => {
            refused(400, Some(field), &sentence(error))
        }
    }
}

/// Why the history could not be read, or a replay not be started.
#[allow(clippy::needless_pass_by_value, reason = "it is passed to map_err")]
pub(super) fn history_error(error: HistoryError) -> ErrorResponse {
    let refused = |status, code, field| error_with_code(status, code, field, &sentence(&error));
    match &error {
        HistoryError::NoWebhook => webhook_not_found(),
        HistoryError::NoDelivery => delivery_not_found(),
        HistoryError::EventPruned => refused(404, "not_found", Some("outgoingId")),
        HistoryError::SpanReversed => refused(400, "invalid_member", Some("from")),
        HistoryError::NothingToReplay => refused(404, "nothing_to_replay", Some("from")),
        HistoryError::NotSubscribed => refused(409, "not_subscribed", Some("event")),
        HistoryError::NotEntitled => refused(409, "not_entitled", Some("to")),
        HistoryError::Inactive(_) => refused(409, "inactive", Some("webhookId")),
        HistoryError::Suspended(_) => refused(409, "suspended", Some("webhookId")),
        HistoryError::TooManyReplays(_) => refused(409, "too_many_replays", None),
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
            ErrorResponse::new(StatusCode::SERVICE_UNAVAILABLE, message)
                .header(RETRY_AFTER, HeaderValue::from_static("5"))
        }
        // The tenant was erased while the request ran.
        StoreError::UnknownTenant(_) => webhook_not_found(),
        other => {
            tracing::error!(error = %other, "the store failed");
            ErrorResponse::new(StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong on our side.")
        }
    }
}
