//! Why the store could not do what was asked. Absence is not among them: look-ups return options.

pub type Result<T, E = StoreError> = std::result::Result<T, E>;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// No answer from the store: it is down, restarting or unreachable. Trying again may help.
    #[error("the store cannot be reached: {0}")]
    Unavailable(String),
    /// Nothing can be written until there is room again; reads go on.
    #[error("the store has no room left: {0}")]
    Full(String),
    #[error(
        "the store's schema is version {found}, newer than version {known} that this program knows; run the newer program"
    )]
    NewerSchema { found: i64, known: i64 },
    #[error("the master key does not open this store; use the key that it was created with")]
    WrongMasterKey,
    #[error("there is no tenant \"{0}\"")]
    UnknownTenant(String),
    #[error("there is already {0}")]
    Exists(String),
    /// Another request under the same idempotency key got there first, or said something else.
    #[error("the Idempotency-Key \"{0}\" is in use by another request")]
    KeyInUse(String),
    /// Something that should never be; the log has the details.
    #[error("the store failed: {0}")]
    Internal(String),
}

impl StoreError {
    pub(crate) fn internal(what: impl std::fmt::Display) -> Self {
        Self::Internal(what.to_string())
    }
}
