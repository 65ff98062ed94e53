//! The errors of the administration.

use store::StoreError;

/// Why an administrative operation failed.
#[derive(Debug, thiserror::Error)]
pub enum AdminError {
    #[error("{0}")]
    Invalid(String),
    #[error("there is no {0}")]
    NotFound(String),
    #[error("{0} is cancelled, which is final; make a new one in its place")]
    Cancelled(String),
    /// The object exists, but its current state does not allow the operation.
    #[error("{why}")]
    Conflict { code: &'static str, why: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub(crate) type Result<T> = std::result::Result<T, AdminError>;

/// `NotFound` unless the row exists.
pub(crate) fn check_found(is_found: bool, what: impl FnOnce() -> String) -> Result<()> {
    if is_found { Ok(()) } else { Err(AdminError::NotFound(what())) }
}
