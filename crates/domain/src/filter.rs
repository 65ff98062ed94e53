//! The filter of payroll companies: a subset of OData `$filter`, parsed into typed conditions. The SQL stores translate
//! conditions into parameterised SQL; `matches` is the reference implementation.

mod order;
mod parse;
mod print;
mod scan;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;

use crate::time::Ticks;

pub use order::{Direction, OrderBy};
pub use print::OrderByList;

/// A field of a payroll company that filters and orders can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    CompanyCode,
    CompanyName,
    IdentifierNumber,
    LastUpdate,
}

/// The type of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    Number,
    Text,
    Time,
}

impl Field {
    pub const ALL: [Self; 4] =
        [Self::CompanyCode, Self::CompanyName, Self::IdentifierNumber, Self::LastUpdate];

    pub fn name(self) -> &'static str {
        match self {
            Self::CompanyCode => "companyCode",
            Self::CompanyName => "companyName",
            Self::IdentifierNumber => "identifierNumber",
            Self::LastUpdate => "lastUpdate",
        }
    }

    pub fn field_type(self) -> FieldType {
        match self {
            Self::CompanyCode => FieldType::Number,
            Self::CompanyName | Self::IdentifierNumber => FieldType::Text,
            Self::LastUpdate => FieldType::Time,
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|field| field.name() == name)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Number(i64),
    Text(String),
    Time(Ticks),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

impl Comparison {
    const ALL: [Self; 6] =
        [Self::Equal, Self::NotEqual, Self::Greater, Self::GreaterOrEqual, Self::Less, Self::LessOrEqual];

    fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "eq",
            Self::NotEqual => "ne",
            Self::Greater => "gt",
            Self::GreaterOrEqual => "ge",
            Self::Less => "lt",
            Self::LessOrEqual => "le",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|candidate| name.eq_ignore_ascii_case(candidate.as_str()))
    }

    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
        }
    }
}

/// A function of OData that tests a text field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StringFunction {
    Contains,
    StartsWith,
    EndsWith,
}

impl StringFunction {
    const ALL: [Self; 3] = [Self::Contains, Self::StartsWith, Self::EndsWith];

    fn as_str(self) -> &'static str {
        match self {
            Self::Contains => "contains",
            Self::StartsWith => "startswith",
            Self::EndsWith => "endswith",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|candidate| name.eq_ignore_ascii_case(candidate.as_str()))
    }
}

/// A condition. The type of each value is the type of its field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filter {
    Compare(Field, Comparison, Value),
    /// Only for text fields; case-sensitive.
    Function(Field, StringFunction, String),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    Not(Box<Self>),
}

/// The fields of a payroll company that filters and orders use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompanyFields<'a> {
    pub code: i64,
    pub name: &'a str,
    pub identifier: &'a str,
    pub last_update: Ticks,
}

/// Why a filter or an order is invalid. `column` counts characters from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterError {
    pub column: usize,
    pub message: String,
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.message)
    }
}

impl Filter {
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        parse::filter(text)
    }

    /// Whether a company satisfies the filter.
    pub fn matches(&self, company: &CompanyFields<'_>) -> bool {
        match self {
            Self::Compare(field, comparison, value) => {
                comparison.holds(compare_field(*field, company, value))
            }
            Self::Function(field, function, text) => {
                let whole = text_of(*field, company);
                match function {
                    StringFunction::Contains => whole.contains(text.as_str()),
                    StringFunction::StartsWith => whole.starts_with(text.as_str()),
                    StringFunction::EndsWith => whole.ends_with(text.as_str()),
                }
            }
            Self::And(left, right) => left.matches(company) && right.matches(company),
            Self::Or(left, right) => left.matches(company) || right.matches(company),
            Self::Not(inner) => !inner.matches(company),
        }
    }
}

fn text_of<'a>(field: Field, company: &CompanyFields<'a>) -> &'a str {
    match field {
        Field::CompanyName => company.name,
        Field::IdentifierNumber => company.identifier,
        Field::CompanyCode | Field::LastUpdate => "",
    }
}

/// Compares a company's field with a value. Text compares by bytes, as in both SQL stores.
fn compare_field(field: Field, company: &CompanyFields<'_>, value: &Value) -> Ordering {
    match value {
        Value::Number(number) => company.code.cmp(number),
        Value::Text(text) => text_of(field, company).cmp(text),
        Value::Time(time) => company.last_update.cmp(time),
    }
}
