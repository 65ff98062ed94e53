//! The filter of payroll companies: a subset of OData, read by a grammar into typed conditions. Stores turn
//! them into parameters; `matches` is what they mean.

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

/// What a filter and an order speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    CompanyCode,
    CompanyName,
    IdentifierNumber,
    LastUpdate,
}

/// What a field holds.
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

    fn from_name(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| word.eq_ignore_ascii_case(one.as_str()))
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

    fn from_name(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| word.eq_ignore_ascii_case(one.as_str()))
    }
}

/// A condition. Values have the kind of their field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filter {
    Compare(Field, Comparison, Value),
    /// Only of fields that hold text; by letters as they are.
    Function(Field, StringFunction, String),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    Not(Box<Self>),
}

/// A payroll company, as far as conditions and orders look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompanyFields<'a> {
    pub code: i64,
    pub name: &'a str,
    pub identifier: &'a str,
    pub last_update: Ticks,
}

/// What is wrong with a filter or an order, and in which column, counted in characters from 1.
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
    /// Reads a filter.
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        parse::filter(text)
    }

    /// What it means.
    pub fn matches(&self, one: &CompanyFields<'_>) -> bool {
        match self {
            Self::Compare(field, comparison, value) => comparison.holds(order_of(*field, one, value)),
            Self::Function(field, function, text) => {
                let whole = text_of(*field, one);
                match function {
                    StringFunction::Contains => whole.contains(text.as_str()),
                    StringFunction::StartsWith => whole.starts_with(text.as_str()),
                    StringFunction::EndsWith => whole.ends_with(text.as_str()),
                }
            }
            Self::And(left, right) => left.matches(one) && right.matches(one),
            Self::Or(left, right) => left.matches(one) || right.matches(one),
            Self::Not(inner) => !inner.matches(one),
        }
    }
}

fn text_of<'a>(field: Field, one: &CompanyFields<'a>) -> &'a str {
    match field {
        Field::CompanyName => one.name,
        Field::IdentifierNumber => one.identifier,
        Field::CompanyCode | Field::LastUpdate => "",
    }
}

/// How a company's field stands to a value. Text compares by its bytes, as it does in both stores.
fn order_of(field: Field, one: &CompanyFields<'_>, value: &Value) -> Ordering {
    match value {
        Value::Number(number) => one.code.cmp(number),
        Value::Text(text) => text_of(field, one).cmp(text),
        Value::Time(time) => one.last_update.cmp(time),
    }
}
