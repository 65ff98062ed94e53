//! Why a page or an action could not be answered, and the one mapping to HTTP.

use axum::http::StatusCode;
use identity::SandboxSignInError;
use operator::admin::AdminError;
use store::StoreError;
use webhooks::history::HistoryError;
use webhooks::management::ActionError;

#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// It does not exist, or belongs to another team.
    #[error("not found")]
    NotFound,
    /// The input or the present state does not allow it; the text says what to do.
    #[error("{0}")]
    Refused(String),
    #[error("{0}")]
    Forbidden(String),
    /// The form is not of this session.
    #[error("the form has expired; read the page again and repeat")]
    FormExpired,
    /// Nobody is signed in.
    #[error("sign in first")]
    SignIn,
    /// The action needs a proof of identity that is not older than some minutes.
    #[error("prove again who you are: sign in again and repeat")]
    Reauthenticate,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl PageError {
    /// For a form whose button has another name than the page's.
    pub fn no_action() -> Self {
        Self::Refused("the form names no action of this page".into())
    }

    pub fn status(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Refused(_) | Self::FormExpired => StatusCode::BAD_REQUEST,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::SignIn | Self::Reauthenticate => StatusCode::UNAUTHORIZED,
            Self::Store(StoreError::Unavailable(_) | StoreError::Full(_)) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Store(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Refused(_) => "refused",
            Self::Forbidden(_) => "forbidden",
            Self::FormExpired => "form_expired",
            Self::SignIn => "sign_in",
            Self::Reauthenticate => "reauthenticate",
            Self::Store(StoreError::Unavailable(_) | StoreError::Full(_)) => "unavailable",
            Self::Store(_) => "internal",
        }
    }
}

impl From<AdminError> for PageError {
    fn from(error: AdminError) -> Self {
        match error {
            AdminError::NotFound(_) => Self::NotFound,
            AdminError::Forbidden(why) => Self::Forbidden(why),
            AdminError::Invalid(why) | AdminError::Conflict { why, .. } => Self::Refused(why),
            AdminError::Cancelled(_) => Self::Refused(error.to_string()),
            AdminError::Store(error @ (StoreError::Exists(_) | StoreError::SandboxApart)) => {
                Self::Refused(error.to_string())
            }
            AdminError::Store(error) => Self::Store(error),
        }
    }
}

impl From<SandboxSignInError> for PageError {
    fn from(error: SandboxSignInError) -> Self {
        match error {
            SandboxSignInError::NotFound(_) => Self::NotFound,
            SandboxSignInError::Closed(why) => Self::Refused(why.to_owned()),
            SandboxSignInError::Refused { code, description } => {
                Self::Refused(format!("{code}: {description}"))
            }
            SandboxSignInError::Store(error) => Self::Store(error),
            SandboxSignInError::Internal => {
                Self::Store(StoreError::Internal("the sign-in of a sandbox failed".into()))
            }
        }
    }
}

impl From<HistoryError> for PageError {
    fn from(error: HistoryError) -> Self {
        match error {
            HistoryError::NoWebhook | HistoryError::NoDelivery => Self::NotFound,
            HistoryError::Store(error) => Self::Store(error),
            refused => Self::Refused(refused.to_string()),
        }
    }
}

impl From<ActionError> for PageError {
    fn from(error: ActionError) -> Self {
        match error {
            ActionError::NotFound => Self::NotFound,
            ActionError::Store(error) => Self::Store(error),
            refused => Self::Refused(refused.to_string()),
        }
    }
}
