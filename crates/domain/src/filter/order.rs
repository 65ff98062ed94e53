//! The order of payroll companies: a list of fields, each ascending or descending, with the company code as tie-breaker.

use std::cmp::Ordering;

use super::parse::Reader;
use super::scan::Token;
use super::{CompanyFields, Field, FilterError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Ascending,
    Descending,
}

/// A total order: each field appears at most once and the company code always does, so no two companies are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderBy(Vec<(Field, Direction)>);

impl OrderBy {
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        let mut reader = Reader::new(text)?;
        let mut fields: Vec<(Field, Direction)> = Vec::new();
        loop {
            let field = reader.field()?;
            let is_descending = reader.accept_keyword("desc");
            if !is_descending {
                reader.accept_keyword("asc");
            }
            // A repeated field has no effect: its first occurrence has already decided.
            if !fields.iter().any(|(known, _)| *known == field) {
                let direction = if is_descending { Direction::Descending } else { Direction::Ascending };
                fields.push((field, direction));
            }
            if !reader.accept(&Token::Comma) {
                break;
            }
        }
        reader.expect_end("a field is followed by asc or desc, or by a comma and the next field")?;
        if !fields.iter().any(|(field, _)| *field == Field::CompanyCode) {
            fields.push((Field::CompanyCode, Direction::Ascending));
        }
        Ok(Self(fields))
    }

    pub fn fields(&self) -> &[(Field, Direction)] {
        &self.0
    }

    pub fn compare(&self, left: &CompanyFields<'_>, right: &CompanyFields<'_>) -> Ordering {
        let by = |(field, direction): &(Field, Direction)| {
            let order = match field {
                Field::CompanyCode => left.code.cmp(&right.code),
                Field::CompanyName => left.name.cmp(right.name),
                Field::IdentifierNumber => left.identifier.cmp(right.identifier),
                Field::LastUpdate => left.last_update.cmp(&right.last_update),
            };
            match direction {
                Direction::Ascending => order,
                Direction::Descending => order.reverse(),
            }
        };
        self.0.iter().map(by).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }
}
