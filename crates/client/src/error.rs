//! The error type of the crate. Every message says what failed, where, and what to do about it.

use std::time::Duration;

use domain::FieldError;

use crate::sign_in::{CallbackError, IdTokenError};

/// Why a call, a sign-in or a feed failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value from the application is invalid. Nothing was sent.
    #[error("{what}: {reason}")]
    InvalidInput {
        /// The value: "the subscription key".
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },

    /// No response: the host cannot be reached, or the connection broke. Idempotent calls were retried before.
    #[error("{call}: no response ({reason}); check that the URL is right and reachable, then try again")]
    Unreachable {
        /// Method and URL, without the query.
        call: String,
        /// The error of the connection.
        reason: String,
    },

    /// No complete response in time. Idempotent calls were retried before.
    #[error("{call}: no complete response within {} s; try again later or allow more time", after.as_secs())]
    TimedOut {
        /// Method and URL, without the query.
        call: String,
        /// The time limit.
        after: Duration,
    },

    /// The response is larger than the limit of the transport.
    #[error("{call}: the response has more than {bytes_max} bytes; request smaller pages or raise the limit")]
    TooLarge {
        /// Method and URL, without the query.
        call: String,
        /// The limit.
        bytes_max: usize,
    },

    /// The service answered with an error.
    #[error("{0}")]
    Api(Box<ApiError>),

    /// The response is not in the expected format: probably something else than the service answers at this URL.
    #[error("{call}: invalid response ({reason}); check that the URL is that of the service")]
    InvalidResponse {
        /// Method and path.
        call: String,
        /// What is wrong with the response.
        reason: String,
    },

    /// The position lies before the start of the feed: the service no longer keeps the changes in between.
    #[error(
        "the feed begins after {floor}; earlier changes are no longer kept; read the list again and follow the \
         feed from its position"
    )]
    BelowFloor {
        /// The position after which the feed begins.
        floor: u64,
    },

    /// Records were deleted during each attempt to read a consistent list.
    #[error(
        "records were deleted while the list was read, {tries} times; try again later or with larger pages"
    )]
    ConcurrentDeletions {
        /// How often the list was read.
        tries: u32,
    },

    /// The callback of a sign-in cannot be trusted, or reports an error.
    #[error("the sign-in failed: {0}")]
    Callback(#[from] CallbackError),

    /// The id_token cannot be trusted.
    #[error("the id_token cannot be trusted: {0}; start the sign-in again")]
    IdToken(#[from] IdTokenError),

    /// The identity provider answered with an OAuth error.
    #[error("the identity provider says {error}: {description}")]
    IdentityProvider {
        /// The OAuth error code, such as `invalid_grant`.
        error: String,
        /// The description of the error.
        description: String,
    },

    /// There are no tokens, or they cannot be renewed any more.
    #[error("{reason}; send the user to sign in again")]
    SignInRequired {
        /// Why a new sign-in is needed.
        reason: String,
    },

    /// The application's [`TokenStore`](crate::sign_in::TokenStore) failed.
    #[error("the token store failed: {0}")]
    TokenStore(String),
}

/// An error response of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// Method and path.
    pub call: String,
    /// The HTTP status code.
    pub status: u16,
    /// What is wrong, for programs: a code of the service's catalogue (`/docs/errors`). Empty if the body was not the service's.
    pub code: String,
    /// The message for people.
    pub message: String,
    /// The id of the request, to report to the operator of the service.
    pub request_id: String,
    /// The individual errors, each with a stable code and the field that it is about.
    pub errors: Vec<FieldError>,
    /// The value of `Retry-After`.
    pub retry_after: Option<Duration>,
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} {}", self.call, self.status, self.message)?;
        for error in self.errors.iter().filter(|error| error.message != self.message) {
            write!(f, " [{}] {}", error.code, error.message)?;
        }
        write!(f, " ({}; request {})", self.remedy(), self.request_id)
    }
}

impl ApiError {
    /// Whether one of the errors has this code.
    pub fn has_code(&self, code: &str) -> bool {
        self.errors.iter().any(|error| error.code == code)
    }

    /// What to do about the error, by its status.
    pub fn remedy(&self) -> &'static str {
        match self.status {
            400 => "correct the request",
            401 => "check the subscription key, then the token",
            403 => "request the missing scope at sign-in, or wait for tomorrow's quota",
            404 => "check the company and the id; records of other tenants are not found either",
            409 => "the request conflicts with the current state; read it before trying again",
            413 => "send a smaller request",
            429 => "wait as long as Retry-After says",
            500.. => "an error of the service; try again later",
            _ => "see the message",
        }
    }
}

impl Error {
    pub(crate) fn invalid_input(what: &'static str, reason: impl Into<String>) -> Self {
        Self::InvalidInput { what, reason: reason.into() }
    }

    /// The error response of the service, if this is one.
    pub fn api_error(&self) -> Option<&ApiError> {
        match self {
            Self::Api(error) => Some(error),
            _ => None,
        }
    }

    /// The HTTP status of the error response, if this is one.
    pub fn status(&self) -> Option<u16> {
        self.api_error().map(|error| error.status)
    }

    /// Whether the service answered 404.
    pub fn is_not_found(&self) -> bool {
        self.status() == Some(404)
    }

    /// Whether the same call may succeed later.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::TimedOut { .. } | Self::ConcurrentDeletions { .. } => true,
            Self::Api(api_error) => matches!(api_error.status, 408 | 429 | 500..),
            _ => false,
        }
    }
}
