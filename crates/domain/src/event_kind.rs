//! The kinds of event that a record can have.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    Created,
    Updated,
    Deleted,
    Disabled,
    ErrorOccurred,
}

impl EventKind {
    pub const ALL: [Self; 5] =
        [Self::Created, Self::Updated, Self::Deleted, Self::Disabled, Self::ErrorOccurred];

    /// The stored code; it never changes.
    pub fn code(self) -> i16 {
        match self {
            Self::Created => 1,
            Self::Updated => 2,
            Self::Deleted => 3,
            Self::Disabled => 4,
            Self::ErrorOccurred => 5,
        }
    }

    pub fn from_code(code: i16) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "Created",
            Self::Updated => "Updated",
            Self::Deleted => "Deleted",
            Self::Disabled => "Disabled",
            Self::ErrorOccurred => "ErrorOccurred",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_resolve_to_their_kind() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::from_code(kind.code()), Some(kind));
        }
    }
}
