//! Revisions: every update of a tenant, user, client or subscription increments its revision, and an update may name the
//! revision that it is based on (compare-and-set).

/// The revision of a new row.
pub const FIRST_REVISION: u64 = 1;

/// The outcome of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum UpdateOutcome<T> {
    /// The row after the update.
    Updated(T),
    NotFound,
    /// The row has another revision than the update expected; nothing changed.
    RevisionConflict,
    /// The subscription is cancelled permanently; nothing changed.
    Cancelled,
    /// No other operator with the role admin could sign in afterwards; nothing changed.
    LastAdmin,
}

impl<T> UpdateOutcome<T> {
    /// The outcome, from whether the update changed a row and from the row as it is afterwards.
    pub(crate) fn of(is_updated: bool, row: Option<T>) -> Self {
        match row {
            None => Self::NotFound,
            Some(row) if is_updated => Self::Updated(row),
            Some(_) => Self::RevisionConflict,
        }
    }

    pub fn is_updated(&self) -> bool {
        matches!(self, Self::Updated(_))
    }
}
