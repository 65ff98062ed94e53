//! What the management refuses, each in one place.

use axum::http::StatusCode;
use axum::http::header::{HeaderValue, RETRY_AFTER};
use domain::FieldError;
use domain::problem::Problem;
use store::{StoreError, Webhook};
use web::ErrorResponse;

pub(super) fn coded(
    status: u16,
    code: &'static str,
    field: Option<&'static str>,
    message: &str,
) -> ErrorResponse {
    let fault = FieldError::new(code, message);
    let fault = if let Some(field) = field { fault.at(field) } else { fault };
    Problem::new(status, message).with(fault).into()
}

/// A parameter or a header that cannot be taken.
pub(super) fn bad(field: &'static str, message: impl Into<String>) -> ErrorResponse {
    coded(400, "invalid_parameter", Some(field), &message.into())
}

/// Not there, or another's: the answer is the same.
pub(super) fn no_webhook() -> ErrorResponse {
    coded(404, "not_found", Some("webhookId"), "There is no such webhook.")
}

pub(super) fn no_match() -> ErrorResponse {
    coded(404, "not_found", None, "There is no webhook with this name, url, secret and these event types.")
}

pub(super) fn no_delivery() -> ErrorResponse {
    coded(404, "not_found", Some("outgoingId"), "There is no such delivery.")
}

/// Deleted and unsubscribed are final.
pub(super) fn over(webhook: &Webhook) -> ErrorResponse {
    if webhook.deleted_at.is_some() {
        return coded(409, "deleted", Some("webhookId"), "The webhook is deleted, finally.");
    }
    let message = "The webhook is unsubscribed, finally; subscribe again to have a new one.";
    coded(409, "unsubscribed", Some("webhookId"), message)
}

pub(super) fn alike() -> ErrorResponse {
    let message = "Another webhook of yours would then be the very same; change or delete that one.";
    coded(409, "exists", None, message)
}

pub(super) fn too_many(webhooks_max: usize) -> ErrorResponse {
    let message = format!("There may be {webhooks_max} webhooks at most; delete one that is not needed.");
    coded(409, "too_many_webhooks", None, &message)
}

pub(super) fn inactive() -> ErrorResponse {
    let message = "The webhook is not active, so nothing is sent to it; see its health for the reason.";
    coded(409, "inactive", Some("webhookId"), message)
}

pub(super) fn store(error: &StoreError) -> ErrorResponse {
    match error {
        StoreError::Unavailable(_) | StoreError::Full(_) => {
            tracing::warn!(%error, "the store does not answer");
            let message = "The service cannot do this now. Try again in 5 seconds.";
            ErrorResponse::new(StatusCode::SERVICE_UNAVAILABLE, message)
                .header(RETRY_AFTER, HeaderValue::from_static("5"))
        }
        // Erased in this very moment; its tokens are refused from the next on.
        StoreError::UnknownTenant(_) => no_webhook(),
        other => {
            tracing::error!(error = %other, "the store failed");
            ErrorResponse::new(StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong on our side.")
        }
    }
}
