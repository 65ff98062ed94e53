//! Rows of PostgreSQL.

use std::error::Error;
use std::fmt::Display;

use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};

use super::{ColumnValue, Columns};
use crate::StoreError;

impl<'a> FromSql<'a> for ColumnValue<'a> {
    fn from_sql(of_type: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        match *of_type {
            Type::INT8 => i64::from_sql(of_type, raw).map(Self::Integer),
            Type::INT4 => i32::from_sql(of_type, raw).map(|number| Self::Integer(number.into())),
            Type::BOOL => bool::from_sql(of_type, raw).map(|is_set| Self::Integer(is_set.into())),
            Type::BYTEA => Ok(Self::Bytes(raw)),
            _ => <&str>::from_sql(of_type, raw).map(Self::Text),
        }
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(of_type: &Type) -> bool {
        matches!(*of_type, Type::INT8 | Type::INT4 | Type::BOOL | Type::BYTEA)
            || <&str as FromSql<'_>>::accepts(of_type)
    }
}

impl Columns for Row {
    type Error = StoreError;

    fn value(&self, column: &str) -> Result<ColumnValue<'_>, StoreError> {
        self.try_get(column).map_err(StoreError::internal)
    }

    fn invalid(column: &str, why: &dyn Display) -> StoreError {
        StoreError::internal(format!("the column {column} {why}"))
    }
}
