//! Errors of the store. Absence is not an error: lookups return `Option`.

pub type Result<T, E = StoreError> = std::result::Result<T, E>;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The store does not answer: it is down, restarting or unreachable. Retrying may help.
    #[error("the store cannot be reached: {0}")]
    Unavailable(String),
    /// Writes fail until there is space again; reads continue.
    #[error("the store is full: {0}")]
    Full(String),
    #[error(
        "the store's schema is version {found}, newer than version {known} that this program knows; run the newer program"
    )]
    NewerSchema { found: i64, known: i64 },
    #[error("the master key does not open this store; use the key that it was created with")]
    WrongMasterKey,
    #[error(
        "a restore into this store did not finish, so that its data and access may be incomplete; restore the backup into \
         an empty store"
    )]
    UnfinishedRestore,
    #[error("there is no tenant \"{0}\"")]
    UnknownTenant(String),
    #[error("there is already {0}")]
    Exists(String),
    /// A membership would join a sandbox with something else.
    #[error(
        "a sandbox tenant is for the user of its sandbox alone, and that user has no other tenant; add an ordinary user to an \
         ordinary tenant"
    )]
    SandboxApart,
    /// Another request with the same idempotency key came first, or has a different body.
    #[error(
        "the Idempotency-Key \"{0}\" is in use by another request; wait until it ends, or use another key"
    )]
    KeyInUse(String),
    /// The session was not begun: the password was changed, or the passkey removed, since it was verified.
    #[error("the password or the passkey was changed meanwhile")]
    ProofVoid,
    /// The session was not begun: its methods lack the second factor, and the account has one.
    #[error("the account has a second factor, and the sign-in was without it")]
    SecondFactorNeeded,
    /// The changes waited too long for their turn.
    #[error("the changes waited too long to be written and were not applied; send them again")]
    Expired,
    /// A bug or corrupt data; the log has the details.
    #[error("internal error in the store: {0}")]
    Internal(String),
}

impl StoreError {
    pub(crate) fn internal(what: impl std::fmt::Display) -> Self {
        Self::Internal(what.to_string())
    }
}
