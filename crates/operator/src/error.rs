//! The errors of the administration.

use domain::ErrorCode;
use store::{StoreError, UpdateOutcome};

/// Why an administrative operation failed.
#[derive(Debug, thiserror::Error)]
pub enum AdminError {
    #[error("{0}")]
    Invalid(String),
    /// The actor's role does not permit it.
    #[error("{0}")]
    Forbidden(String),
    #[error("there is no {0}")]
    NotFound(String),
    #[error("{0} is cancelled permanently; create a new one instead")]
    Cancelled(String),
    /// The object exists, but its current state does not allow the operation.
    #[error("{why}")]
    Conflict { code: ErrorCode, why: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AdminError {
    /// The code of the catalogue that the operator's API says it with.
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::Invalid(_) => ErrorCode::InvalidValue,
            Self::Forbidden(_) => ErrorCode::InsufficientRole,
            Self::NotFound(_) => ErrorCode::NotFound,
            Self::Cancelled(_) => ErrorCode::Cancelled,
            Self::Conflict { code, .. } => *code,
            Self::Store(error) => store_error_code(error),
        }
    }
}

pub(crate) fn store_error_code(error: &StoreError) -> ErrorCode {
    match error {
        StoreError::UnknownTenant(_) => ErrorCode::UnknownTenant,
        StoreError::Exists(_) => ErrorCode::Exists,
        StoreError::SandboxApart => ErrorCode::SandboxApart,
        StoreError::KeyInUse(_) => ErrorCode::IdempotencyKeyInUse,
        StoreError::Full(_) => ErrorCode::StoreFull,
        StoreError::Unavailable(_) => ErrorCode::StoreUnavailable,
        StoreError::Expired => ErrorCode::StoreBusy,
        _ => ErrorCode::InternalError,
    }
}

pub(crate) type Result<T> = std::result::Result<T, AdminError>;

/// `NotFound` unless the row exists.
pub(crate) fn check_found(is_found: bool, what: impl FnOnce() -> String) -> Result<()> {
    if is_found { Ok(()) } else { Err(AdminError::NotFound(what())) }
}

/// The updated row, or the error that says why nothing changed.
pub(crate) fn updated<T>(outcome: UpdateOutcome<T>, what: impl FnOnce() -> String) -> Result<T> {
    match outcome {
        UpdateOutcome::Updated(row) => Ok(row),
        UpdateOutcome::NotFound => Err(AdminError::NotFound(what())),
        UpdateOutcome::RevisionConflict => Err(revision_conflict(&what())),
        UpdateOutcome::Cancelled => Err(AdminError::Cancelled(what())),
        UpdateOutcome::LastAdmin => Err(last_admin(&what())),
    }
}

/// Compares revisions where there is nothing to update.
pub(crate) fn check_revision(
    revision: u64,
    expected: Option<u64>,
    what: impl FnOnce() -> String,
) -> Result<()> {
    if expected.is_none_or(|expected| expected == revision) {
        Ok(())
    } else {
        Err(revision_conflict(&what()))
    }
}

pub(crate) fn revision_conflict(what: &str) -> AdminError {
    let why =
        format!("{what} has another revision: it was changed since you read it; read it again and repeat");
    AdminError::Conflict { code: ErrorCode::RevisionConflict, why }
}

fn last_admin(what: &str) -> AdminError {
    let why = format!(
        "{what} is the last active operator with the role admin, and nobody else could manage operators; give another \
         one the role first"
    );
    AdminError::Conflict { code: ErrorCode::LastAdmin, why }
}
