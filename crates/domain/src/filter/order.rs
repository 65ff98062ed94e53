//! The order of payroll companies: a list of fields, each up or down; ties by their code.

use std::cmp::Ordering;

use super::parse::Reader;
use super::scan::Token;
use super::{CompanyFields, Field, FilterError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Ascending,
    Descending,
}

/// Each field at most once. Ends with the code, so that no two companies are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderBy(Vec<(Field, Direction)>);

impl OrderBy {
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        let mut reader = Reader::new(text)?;
        let mut fields: Vec<(Field, Direction)> = Vec::new();
        loop {
            let field = reader.field()?;
            let is_down = reader.takes_word("desc");
            if !is_down {
                reader.takes_word("asc");
            }
            // A field that is named again changes nothing: those before it have decided.
            if !fields.iter().any(|(known, _)| *known == field) {
                let direction = if is_down { Direction::Descending } else { Direction::Ascending };
                fields.push((field, direction));
            }
            if !reader.takes(&Token::Comma) {
                break;
            }
        }
        reader.end("a field is followed by asc or desc, or by a comma and the next field")?;
        if !fields.iter().any(|(field, _)| *field == Field::CompanyCode) {
            fields.push((Field::CompanyCode, Direction::Ascending));
        }
        Ok(Self(fields))
    }

    pub fn fields(&self) -> &[(Field, Direction)] {
        &self.0
    }

    /// What it means.
    pub fn compare(&self, one: &CompanyFields<'_>, other: &CompanyFields<'_>) -> Ordering {
        let by = |(field, direction): &(Field, Direction)| {
            let order = match field {
                Field::CompanyCode => one.code.cmp(&other.code),
                Field::CompanyName => one.name.cmp(other.name),
                Field::IdentifierNumber => one.identifier.cmp(other.identifier),
                Field::LastUpdate => one.last_update.cmp(&other.last_update),
            };
            match direction {
                Direction::Ascending => order,
                Direction::Descending => order.reverse(),
            }
        };
        self.0.iter().map(by).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }
}
