//! Rows of SQLite.

use std::cell::Cell;
use std::fmt::Display;

use rusqlite::Row;
use rusqlite::types::{Type, ValueRef};

use super::{ColumnValue, Columns};

/// A row, and where the next column is expected: most are read in the order of the statement, and SQLite finds no column by its name in
/// less than a look at each.
pub(crate) struct SqliteRow<'a, 'b> {
    row: &'a Row<'b>,
    next: Cell<usize>,
}

impl<'a, 'b> SqliteRow<'a, 'b> {
    pub(crate) fn new(row: &'a Row<'b>) -> Self {
        Self { row, next: Cell::new(0) }
    }

    fn index(&self, column: &str) -> rusqlite::Result<usize> {
        let (statement, next) = (self.row.as_ref(), self.next.get());
        let is_next = statement.column_name(next).is_ok_and(|name| name == column);
        let index = if is_next { next } else { statement.column_index(column)? };
        self.next.set(index + 1);
        Ok(index)
    }
}

impl Columns for SqliteRow<'_, '_> {
    type Error = rusqlite::Error;

    fn value(&self, column: &str) -> rusqlite::Result<ColumnValue<'_>> {
        match self.row.get_ref(self.index(column)?)? {
            ValueRef::Null => Ok(ColumnValue::Null),
            ValueRef::Integer(number) => Ok(ColumnValue::Integer(number)),
            ValueRef::Text(text) => match std::str::from_utf8(text) {
                Ok(text) => Ok(ColumnValue::Text(text)),
                Err(error) => Err(Self::invalid(column, &error)),
            },
            ValueRef::Blob(bytes) => Ok(ColumnValue::Bytes(bytes)),
            ValueRef::Real(_) => Err(Self::invalid(column, &"has a fraction")),
        }
    }

    fn invalid(column: &str, why: &dyn Display) -> rusqlite::Error {
        rusqlite::Error::FromSqlConversionFailure(0, Type::Null, format!("the column {column} {why}").into())
    }
}
