//! The error responses of the gate and of the reads.

use axum::http::header::{HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use domain::problem::Problem;
use domain::subscription::Product;
use domain::{ErrorCode, FieldError, Refusal, Scope, Ticks};
use store::StoreError;
use web::ErrorResponse;

use crate::context::CONTEXT;
use crate::rate_limit::RateStatus;

const MISSING_KEY: &str = "Access denied due to missing subscription key. Make sure to include subscription key when making requests to an API.";
const INVALID_KEY: &str = "Access denied due to invalid subscription key. Make sure to provide a valid key for an active subscription.";
const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const RATE_REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const RATE_RESET: HeaderName = HeaderName::from_static("ratelimit-reset");

pub(crate) fn missing_key() -> ErrorResponse {
    ErrorResponse::new(ErrorCode::MissingSubscriptionKey, MISSING_KEY)
}

pub(crate) fn invalid_key() -> ErrorResponse {
    ErrorResponse::new(ErrorCode::InvalidSubscriptionKey, INVALID_KEY)
}

pub(crate) fn missing_token() -> ErrorResponse {
    let message = "Access denied due to missing access token. Send it as Authorization: Bearer <token>.";
    ErrorResponse::new(ErrorCode::MissingToken, message)
        .header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
        .because(Refusal::TokenMissing)
}

/// The response is the same for every reason.
pub(crate) fn invalid_token(refusal: Refusal) -> ErrorResponse {
    let message = "Access denied due to invalid access token. It may have expired or have been revoked: refresh it, or sign the user in again.";
    ErrorResponse::new(ErrorCode::InvalidToken, message)
        .header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer error=\"invalid_token\""))
        .because(refusal)
}

pub(crate) fn insufficient_scope(scope: Scope) -> ErrorResponse {
    let name = scope.name();
    let line = format!("Bearer error=\"insufficient_scope\", scope=\"{name}\"");
    let error = ErrorResponse::new(
        ErrorCode::InsufficientScope,
        format!("insufficient_scope: the access token lacks the scope {name}. Request it and sign the user in again."),
    )
    .because(Refusal::ScopeMissing);
    match HeaderValue::from_str(&line) {
        Ok(line) => error.header(WWW_AUTHENTICATE, line),
        Err(_) => error,
    }
}

/// The client may not read this product's data, whatever its token says.
pub(crate) fn missing_product(product: Product) -> ErrorResponse {
    let message = format!(
        "The client of this access token is not registered for the product {}. Ask the operator to add it.",
        product.as_str()
    );
    ErrorResponse::new(ErrorCode::ClientNotForProduct, message).because(Refusal::ClientNotForProduct)
}

pub(crate) fn rate_exceeded(rate: RateStatus, seconds: u64) -> ErrorResponse {
    let message = format!("Rate limit is exceeded. Try again in {seconds} seconds.");
    let error = ErrorResponse::new(ErrorCode::RateLimitExceeded, message)
        .header(RETRY_AFTER, HeaderValue::from(seconds))
        .because(Refusal::RateLimited);
    with_rate(error, rate)
}

/// Errors after the rate limit's check carry its headers too.
pub(crate) fn with_rate(error: ErrorResponse, rate: RateStatus) -> ErrorResponse {
    let headers = rate_headers(rate).into_iter();
    headers.fold(error, |error, (name, value)| error.header(name, value))
}

/// The daily quota is used up; it is replenished at midnight UTC.
pub(crate) fn quota_used_up(now: Ticks) -> ErrorResponse {
    let seconds = Ticks::from_day(now.day() + 1).since(now).as_secs() + 1;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let message = format!(
        "Out of call volume quota. Quota will be replenished in {hours:02}:{minutes:02}:{:02}.",
        seconds % 60
    );
    ErrorResponse::new(ErrorCode::QuotaExceeded, message)
        .header(RETRY_AFTER, HeaderValue::from(seconds))
        .because(Refusal::QuotaExceeded)
}

/// The `RateLimit-*` headers.
pub(crate) fn rate_headers(rate: RateStatus) -> [(HeaderName, HeaderValue); 3] {
    [
        (RATE_LIMIT, number(rate.limit)),
        (RATE_REMAINING, number(rate.remaining)),
        (RATE_RESET, number(rate.reset_seconds)),
    ]
}

/// A number with one allocation; `HeaderValue::from` needs two, because it reserves space for the longest number.
pub(crate) fn number(number: impl Into<u64>) -> HeaderValue {
    let number = number.into();
    HeaderValue::from_str(itoa::Buffer::new().format(number)).unwrap_or_else(|_| HeaderValue::from(number))
}

/// A parameter or header with an invalid value.
pub(crate) fn invalid_parameter(field: &'static str, message: impl Into<String>) -> ErrorResponse {
    let message = message.into();
    let fault = FieldError::new(ErrorCode::InvalidParameter, message.clone()).at(field);
    let problem = Problem::new(ErrorCode::InvalidParameter, message).with(fault);
    ErrorResponse::from(problem).because(Refusal::ParameterInvalid)
}

/// The header `context` is absent or has an invalid value.
pub(crate) fn invalid_context(code: ErrorCode, message: impl Into<String>) -> ErrorResponse {
    let refusal = match code {
        ErrorCode::MissingContext => Refusal::CompanyHeaderMissing,
        ErrorCode::ContextMismatch => Refusal::CompanyHeaderMismatch,
        _ => Refusal::CompanyHeaderInvalid,
    };
    let mut error = invalid_parameter(CONTEXT, message).because(refusal);
    error.problem.code = code;
    error
}

pub(crate) fn no_company() -> ErrorResponse {
    ErrorResponse::new(
        ErrorCode::CompanyNotFound,
        "There is no such company. Take an id from the list of companies.",
    )
    .because(Refusal::CompanyUnknown)
}

pub(crate) fn no_record() -> ErrorResponse {
    ErrorResponse::new(ErrorCode::RecordNotFound, "There is no such record.")
        .because(Refusal::ResourceUnknown)
}

/// The feed's parameter `after` lies below the log's floor.
pub(crate) fn below_floor(floor: u64) -> ErrorResponse {
    let message = format!(
        "The changes after this number are no longer kept; the feed begins after {floor}. Read the list, then \
         follow the feed from its X-Sequence-Version."
    );
    let fault = FieldError::new(ErrorCode::BelowFloor, message.clone()).at("after");
    ErrorResponse::from(Problem::new(ErrorCode::BelowFloor, message).with(fault))
        .because(Refusal::FeedBelowFloor)
}

pub(crate) fn store(error: &StoreError) -> ErrorResponse {
    match error {
        StoreError::Unavailable(_) | StoreError::Full(_) => {
            tracing::warn!(%error, "the store is unavailable");
            ErrorResponse::new(
                ErrorCode::ServiceUnavailable,
                "The data is temporarily unavailable. Try again in 5 seconds.",
            )
            .header(RETRY_AFTER, HeaderValue::from_static("5"))
            .because(Refusal::ServiceUnavailable)
        }
        // The tenant was deleted after its token was verified.
        StoreError::UnknownTenant(_) => no_company(),
        other => {
            tracing::error!(error = %other, "the store failed");
            ErrorResponse::new(ErrorCode::InternalError, "Something went wrong on our side.")
                .because(Refusal::ServiceError)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_below_the_floor_names_the_floor() {
        let problem = below_floor(1192).problem;
        assert_eq!((problem.status, problem.errors.len()), (410, 1));
        assert!(problem.message.contains("after 1192"), "{}", problem.message);
    }
}
