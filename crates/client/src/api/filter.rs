//! The filter and the order of payroll companies, built so that nothing can be misspelt and every text is escaped.
//!
//! ```
//! use aldaba_client::api::filter::{code, identifier, last_update, name, not};
//! use aldaba_client::Ticks;
//!
//! let since = Ticks::parse_iso("2026-11-01").unwrap();
//! let filter = last_update().after(since).and(name().contains("O'Brien").or(not(code().is(7))));
//! assert_eq!(
//!     filter.to_string(),
//!     "lastUpdate gt 2026-11-01 and (contains(companyName,'O''Brien') or not companyCode eq 7)"
//! );
//! let order = last_update().newest_first().then(&code().ascending());
//! assert_eq!(order.to_string(), "lastUpdate desc,companyCode asc");
//! # let _ = identifier();
//! ```

use std::fmt;
use std::str::FromStr;

use domain::Ticks;
use domain::filter::{Comparison, Direction, Field, Filter as Condition, OrderByList, StringFunction, Value};

use crate::Error;

/// A condition on payroll companies. At most 100 of them joined, 4,000 characters and 32 levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter(Condition);

impl Filter {
    pub fn and(self, other: Self) -> Self {
        Self(Condition::And(Box::new(self.0), Box::new(other.0)))
    }

    pub fn or(self, other: Self) -> Self {
        Self(Condition::Or(Box::new(self.0), Box::new(other.0)))
    }
}

/// What is true where the other is not.
pub fn not(filter: Filter) -> Filter {
    Filter(Condition::Not(Box::new(filter.0)))
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Reads a filter as the service would; the error names the column.
impl FromStr for Filter {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Condition::parse(text)
            .map(Self)
            .map_err(|error| Error::invalid_input("the filter", error.to_string()))
    }
}

/// The order of a list: fields, each up or down. Ties are broken by `companyCode`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderBy(Vec<(Field, Direction)>);

impl OrderBy {
    /// Where those before it are equal. A field that is named again changes nothing.
    pub fn then(mut self, next: &Self) -> Self {
        for (field, direction) in &next.0 {
            if !self.0.iter().any(|(known, _)| known == field) {
                self.0.push((*field, *direction));
            }
        }
        self
    }
}

impl fmt::Display for OrderBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        OrderByList(&self.0).fmt(f)
    }
}

/// A field that holds a whole number.
#[derive(Clone, Copy, Debug)]
pub struct NumberField(Field);

/// A field that holds text; letters are compared as they are.
#[derive(Clone, Copy, Debug)]
pub struct TextField(Field);

/// A field that holds a moment.
#[derive(Clone, Copy, Debug)]
pub struct TimeField(Field);

/// `companyCode`
pub fn code() -> NumberField {
    NumberField(Field::CompanyCode)
}

/// `companyName`
pub fn name() -> TextField {
    TextField(Field::CompanyName)
}

/// `identifierNumber`
pub fn identifier() -> TextField {
    TextField(Field::IdentifierNumber)
}

/// `lastUpdate`
pub fn last_update() -> TimeField {
    TimeField(Field::LastUpdate)
}

fn compare(field: Field, comparison: Comparison, value: Value) -> Filter {
    Filter(Condition::Compare(field, comparison, value))
}

fn order_by(field: Field, direction: Direction) -> OrderBy {
    OrderBy(vec![(field, direction)])
}

impl NumberField {
    pub fn is(self, number: i64) -> Filter {
        compare(self.0, Comparison::Equal, Value::Number(number))
    }

    pub fn is_not(self, number: i64) -> Filter {
        compare(self.0, Comparison::NotEqual, Value::Number(number))
    }

    pub fn above(self, number: i64) -> Filter {
        compare(self.0, Comparison::Greater, Value::Number(number))
    }

    pub fn at_least(self, number: i64) -> Filter {
        compare(self.0, Comparison::GreaterOrEqual, Value::Number(number))
    }

    pub fn below(self, number: i64) -> Filter {
        compare(self.0, Comparison::Less, Value::Number(number))
    }

    pub fn at_most(self, number: i64) -> Filter {
        compare(self.0, Comparison::LessOrEqual, Value::Number(number))
    }

    pub fn ascending(self) -> OrderBy {
        order_by(self.0, Direction::Ascending)
    }

    pub fn descending(self) -> OrderBy {
        order_by(self.0, Direction::Descending)
    }
}

impl TextField {
    pub fn is(self, text: impl Into<String>) -> Filter {
        compare(self.0, Comparison::Equal, Value::Text(text.into()))
    }

    pub fn is_not(self, text: impl Into<String>) -> Filter {
        compare(self.0, Comparison::NotEqual, Value::Text(text.into()))
    }

    /// Behind this text in the order of bytes.
    pub fn after(self, text: impl Into<String>) -> Filter {
        compare(self.0, Comparison::Greater, Value::Text(text.into()))
    }

    /// Before this text in the order of bytes.
    pub fn before(self, text: impl Into<String>) -> Filter {
        compare(self.0, Comparison::Less, Value::Text(text.into()))
    }

    pub fn contains(self, text: impl Into<String>) -> Filter {
        Filter(Condition::Function(self.0, StringFunction::Contains, text.into()))
    }

    pub fn starts_with(self, text: impl Into<String>) -> Filter {
        Filter(Condition::Function(self.0, StringFunction::StartsWith, text.into()))
    }

    pub fn ends_with(self, text: impl Into<String>) -> Filter {
        Filter(Condition::Function(self.0, StringFunction::EndsWith, text.into()))
    }

    pub fn ascending(self) -> OrderBy {
        order_by(self.0, Direction::Ascending)
    }

    pub fn descending(self) -> OrderBy {
        order_by(self.0, Direction::Descending)
    }
}

impl TimeField {
    pub fn is(self, time: Ticks) -> Filter {
        compare(self.0, Comparison::Equal, Value::Time(time))
    }

    pub fn is_not(self, time: Ticks) -> Filter {
        compare(self.0, Comparison::NotEqual, Value::Time(time))
    }

    pub fn after(self, time: Ticks) -> Filter {
        compare(self.0, Comparison::Greater, Value::Time(time))
    }

    /// At this moment or later.
    pub fn since(self, time: Ticks) -> Filter {
        compare(self.0, Comparison::GreaterOrEqual, Value::Time(time))
    }

    pub fn before(self, time: Ticks) -> Filter {
        compare(self.0, Comparison::Less, Value::Time(time))
    }

    /// At this moment or earlier.
    pub fn until(self, time: Ticks) -> Filter {
        compare(self.0, Comparison::LessOrEqual, Value::Time(time))
    }

    pub fn oldest_first(self) -> OrderBy {
        order_by(self.0, Direction::Ascending)
    }

    pub fn newest_first(self) -> OrderBy {
        order_by(self.0, Direction::Descending)
    }
}
