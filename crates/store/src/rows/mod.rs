//! Rows of both databases, whose columns are read by name. What a thing is as a row stands here once; the statements, where they differ,
//! are with each database.

mod access;
mod column;
mod directory;
mod log;
mod postgres;
mod sqlite;
mod team;
mod webhook;

use std::fmt::Display;

pub(crate) use column::{ColumnValue, FromColumn};
pub(crate) use directory::{ACCOUNT, MEMBERSHIP, TENANT, TENANT_MEMBERSHIPS};
pub(crate) use sqlite::SqliteRow;
pub(crate) use webhook::{LIVE, WEBHOOK};

/// A row of a result.
pub(crate) trait Columns {
    type Error;

    fn value(&self, column: &str) -> Result<ColumnValue<'_>, Self::Error>;

    /// The error for a column whose value is not one of its kind.
    fn invalid(column: &str, why: &dyn Display) -> Self::Error;

    /// A column as the type that the caller needs.
    fn read<T: FromColumn>(&self, column: &str) -> Result<T, Self::Error> {
        T::from_column(self.value(column)?).ok_or_else(|| Self::invalid(column, &"has a wrong value"))
    }

    /// A column that only some values of `T` stand for.
    fn read_as<T, U: FromColumn>(
        &self,
        column: &str,
        parse: impl FnOnce(U) -> Option<T>,
    ) -> Result<T, Self::Error> {
        parse(self.read(column)?).ok_or_else(|| Self::invalid(column, &"has an unknown value"))
    }
}

/// A thing that a row holds.
pub(crate) trait FromRow: Sized {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error>;
}

/// The columns of a row whose names begin with a prefix, without it: one thing of several in a row.
pub(crate) struct Prefixed<'a, R>(pub(crate) &'a R, pub(crate) &'static str);

impl<R: Columns> Columns for Prefixed<'_, R> {
    type Error = R::Error;

    fn value(&self, column: &str) -> Result<ColumnValue<'_>, R::Error> {
        self.0.value(&format!("{}{column}", self.1))
    }

    fn invalid(column: &str, why: &dyn Display) -> R::Error {
        R::invalid(column, why)
    }
}
