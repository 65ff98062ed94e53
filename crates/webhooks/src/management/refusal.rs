//! What the management refuses, each in one place.

use axum::http::StatusCode;
use axum::http::header::{HeaderValue, RETRY_AFTER};
use domain::Fault;
use domain::problem::Problem;
use store::{StoreError, Webhook};
use web::Refusal;

use crate::history::HistoryError;

pub(super) fn coded(status: u16, code: &'static str, field: Option<&'static str>, message: &str) -> Refusal {
    let fault = Fault::new(code, message);
    let fault = if let Some(field) = field { fault.at(field) } else { fault };
    Problem::new(status, message).with(fault).into()
}

/// A parameter or a header that cannot be taken.
pub(super) fn bad(field: &'static str, message: impl Into<String>) -> Refusal {
    coded(400, "invalid_parameter", Some(field), &message.into())
}

/// Not there, or another's: the answer is the same.
pub(super) fn no_webhook() -> Refusal {
    coded(404, "not_found", Some("webhookId"), "There is no such webhook.")
}

pub(super) fn no_match() -> Refusal {
    coded(404, "not_found", None, "There is no webhook with this name, url, secret and these event types.")
}

pub(super) fn no_delivery() -> Refusal {
    coded(404, "not_found", Some("outgoingId"), "There is no such delivery.")
}

/// Deleted and unsubscribed are final.
pub(super) fn over(webhook: &Webhook) -> Refusal {
    if webhook.deleted_at.is_some() {
        return coded(409, "deleted", Some("webhookId"), "The webhook is deleted, finally.");
    }
    let message = "The webhook is unsubscribed, finally; subscribe again to have a new one.";
    coded(409, "unsubscribed", Some("webhookId"), message)
}

pub(super) fn alike() -> Refusal {
    let message = "Another webhook of yours would then be the very same; change or delete that one.";
    coded(409, "exists", None, message)
}

pub(super) fn too_many(webhooks_max: usize) -> Refusal {
    let message = format!("There may be {webhooks_max} webhooks at most; delete one that is not needed.");
    coded(409, "too_many_webhooks", None, &message)
}

/// Why the history could not be read, or a replay not be started.
pub(super) fn history(error: HistoryError) -> Refusal {
    let refused = |status, code, field| coded(status, code, field, &sentence(&error));
    match &error {
        HistoryError::NoWebhook => no_webhook(),
        HistoryError::NoDelivery => no_delivery(),
        HistoryError::EventPruned => refused(404, "not_found", Some("outgoingId")),
        HistoryError::SpanReversed => refused(400, "invalid_member", Some("from")),
        HistoryError::NothingToReplay => refused(404, "nothing_to_replay", Some("from")),
        HistoryError::NotEntitled => refused(409, "not_entitled", Some("to")),
        HistoryError::Inactive(_) => refused(409, "inactive", Some("webhookId")),
        HistoryError::TooManyReplays(_) => refused(409, "too_many_replays", None),
        HistoryError::Store(error) => store(error),
    }
}

/// The error as a sentence, with a capital and a full stop.
fn sentence(error: &HistoryError) -> String {
    let text = error.to_string();
    let mut rest = text.chars();
    let first = rest.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", rest.as_str())
}

pub(super) fn store(error: &StoreError) -> Refusal {
    match error {
        StoreError::Unavailable(_) | StoreError::Full(_) => {
            tracing::warn!(%error, "the store does not answer");
            let message = "The service cannot do this now. Try again in 5 seconds.";
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, message)
                .header(RETRY_AFTER, HeaderValue::from_static("5"))
        }
        // Erased in this very moment; its tokens are refused from the next on.
        StoreError::UnknownTenant(_) => no_webhook(),
        other => {
            tracing::error!(error = %other, "the store failed");
            Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong on our side.")
        }
    }
}
