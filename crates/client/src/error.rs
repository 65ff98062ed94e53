//! What can go wrong, in one enum: each says what, where, and what to do about it.

use std::time::Duration;

use domain::FieldError;

use crate::sign_in::{CallbackError, IdTokenError};

/// What went wrong with a call, a sign-in or a feed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Something that the application hands in cannot be used. Nothing was sent.
    #[error("{what}: {reason}")]
    InvalidInput { what: &'static str, reason: String },

    /// No answer came: the host is not there, or the connection broke. Repeatable calls were repeated before.
    #[error(
        "{call}: no answer came ({reason}); see that the address is right and can be reached, then try again"
    )]
    Unreachable { call: String, reason: String },

    /// No whole answer came in time. Repeatable calls were repeated before.
    #[error("{call}: no whole answer within {} s; try again later, or allow for more time", after.as_secs())]
    TimedOut { call: String, after: Duration },

    /// The answer is larger than is read.
    #[error("{call}: the answer has more than {bytes_max} bytes; ask for smaller pages, or allow for more")]
    TooLarge { call: String, bytes_max: usize },

    /// The service said no.
    #[error("{0}")]
    Api(Box<ApiError>),

    /// The answer is not what it should be: something else than the service answers at this address.
    #[error("{call}: the answer cannot be read ({reason}); see that the address is that of the service")]
    InvalidResponse { call: String, reason: String },

    /// The feed begins later than where it was to go on: what lies between is no longer kept.
    #[error(
        "the feed begins after {floor}, and what came before is no longer kept; read the list anew and follow the \
         feed from its position"
    )]
    BelowFloor { floor: u64 },

    /// Records were deleted under way each time that the list was read.
    #[error(
        "the list changed under way {tries} times; read it again when less is deleted, or in larger pages"
    )]
    ConcurrentDeletions { tries: u32 },

    /// The user's browser came back with something that must not be trusted, or with a refusal.
    #[error("the sign-in cannot go on: {0}")]
    Callback(#[from] CallbackError),

    /// An id_token that must not be trusted.
    #[error("the id_token cannot be trusted: {0}; begin the sign-in anew")]
    IdToken(#[from] IdTokenError),

    /// The identity provider refused the application's request.
    #[error("the identity provider says {error}: {description}")]
    IdentityProvider { error: String, description: String },

    /// There are no tokens, or they cannot be renewed any more.
    #[error("{reason}; send the user to sign in again")]
    SignInRequired { reason: String },

    /// The application's own storage of tokens failed.
    #[error("the storage of tokens failed: {0}")]
    TokenStore(String),
}

/// A call that the service refused, in its own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// Method and path.
    pub call: String,
    pub status: u16,
    pub message: String,
    /// To name when asking the service's operator.
    pub request_id: String,
    /// Each fault with a code that does not change, and the field that it is about.
    pub errors: Vec<FieldError>,
    pub retry_after: Option<Duration>,
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} {}", self.call, self.status, self.message)?;
        for fault in self.errors.iter().filter(|fault| fault.message != self.message) {
            write!(f, " [{}] {}", fault.code, fault.message)?;
        }
        write!(f, " ({}; request {})", self.remedy(), self.request_id)
    }
}

impl ApiError {
    pub fn has_code(&self, code: &str) -> bool {
        self.errors.iter().any(|fault| fault.code == code)
    }

    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self.status {
            400 => "correct the request",
            401 => "check the subscription key, then the token",
            403 => "ask for the missing scope at sign-in, or wait for the next day's quota",
            404 => "check the company and the id; what is not yours is not found either",
            409 => "it does not agree with how things stand now; read before trying again",
            413 => "send less",
            429 => "wait as long as Retry-After says",
            500.. => "a fault of the service; try again later",
            _ => "see the message",
        }
    }
}

impl Error {
    pub(crate) fn invalid_input(what: &'static str, reason: impl Into<String>) -> Self {
        Self::InvalidInput { what, reason: reason.into() }
    }

    /// The service's refusal, where it is one.
    pub fn api_error(&self) -> Option<&ApiError> {
        match self {
            Self::Api(api_error) => Some(api_error),
            _ => None,
        }
    }

    pub fn status(&self) -> Option<u16> {
        self.api_error().map(|api_error| api_error.status)
    }

    pub fn is_not_found(&self) -> bool {
        self.status() == Some(404)
    }

    /// Whether the same call may well succeed later.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::TimedOut { .. } | Self::ConcurrentDeletions { .. } => true,
            Self::Api(api_error) => matches!(api_error.status, 408 | 429 | 500..),
            _ => false,
        }
    }
}
