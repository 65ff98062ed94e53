//! Builds filters and orders of payroll companies, without misspelled fields and with escaped texts.
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

/// A filter of payroll companies. The service allows at most 100 conditions, 4,000 characters and 32 levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter(Condition);

impl Filter {
    /// Both conditions hold.
    pub fn and(self, other: Self) -> Self {
        Self(Condition::And(Box::new(self.0), Box::new(other.0)))
    }

    /// At least one of the conditions holds.
    pub fn or(self, other: Self) -> Self {
        Self(Condition::Or(Box::new(self.0), Box::new(other.0)))
    }
}

/// Negates a filter.
pub fn not(filter: Filter) -> Filter {
    Filter(Condition::Not(Box::new(filter.0)))
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Parses a filter as the service does; the error names the column.
impl FromStr for Filter {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Condition::parse(text)
            .map(Self)
            .map_err(|error| Error::invalid_input("the filter", error.to_string()))
    }
}

/// The order of a list: fields, each ascending or descending. `companyCode` breaks ties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderBy(Vec<(Field, Direction)>);

impl OrderBy {
    /// Adds the next fields to order by. A repeated field has no effect.
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

/// A field of type integer.
#[derive(Clone, Copy, Debug)]
pub struct NumberField(Field);

/// A field of type text; comparisons are case-sensitive.
#[derive(Clone, Copy, Debug)]
pub struct TextField(Field);

/// A field of type time.
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
    /// Equal to `number` (`eq`).
    pub fn is(self, number: i64) -> Filter {
        compare(self.0, Comparison::Equal, Value::Number(number))
    }

    /// Not equal to `number` (`ne`).
    pub fn is_not(self, number: i64) -> Filter {
        compare(self.0, Comparison::NotEqual, Value::Number(number))
    }

    /// Greater than `number` (`gt`).
    pub fn above(self, number: i64) -> Filter {
        compare(self.0, Comparison::Greater, Value::Number(number))
    }

    /// Greater than or equal to `number` (`ge`).
    pub fn at_least(self, number: i64) -> Filter {
        compare(self.0, Comparison::GreaterOrEqual, Value::Number(number))
    }

    /// Less than `number` (`lt`).
    pub fn below(self, number: i64) -> Filter {
        compare(self.0, Comparison::Less, Value::Number(number))
    }

    /// Less than or equal to `number` (`le`).
    pub fn at_most(self, number: i64) -> Filter {
        compare(self.0, Comparison::LessOrEqual, Value::Number(number))
    }

    /// Orders by this field, smallest first.
    pub fn ascending(self) -> OrderBy {
        order_by(self.0, Direction::Ascending)
    }

    /// Orders by this field, largest first.
    pub fn descending(self) -> OrderBy {
        order_by(self.0, Direction::Descending)
    }
}

impl TextField {
    /// Equal to `text` (`eq`); case-sensitive.
    pub fn is(self, text: impl Into<String>) -> Filter {
        compare(self.0, Comparison::Equal, Value::Text(text.into()))
    }

    /// Not equal to `text` (`ne`); case-sensitive.
    pub fn is_not(self, text: impl Into<String>) -> Filter {
        compare(self.0, Comparison::NotEqual, Value::Text(text.into()))
    }

    /// After `text` in byte order (`gt`).
    pub fn after(self, text: impl Into<String>) -> Filter {
        compare(self.0, Comparison::Greater, Value::Text(text.into()))
    }

    /// Before `text` in byte order (`lt`).
    pub fn before(self, text: impl Into<String>) -> Filter {
        compare(self.0, Comparison::Less, Value::Text(text.into()))
    }

    /// Contains `text`; case-sensitive.
    pub fn contains(self, text: impl Into<String>) -> Filter {
        Filter(Condition::Function(self.0, StringFunction::Contains, text.into()))
    }

    /// Starts with `text`; case-sensitive.
    pub fn starts_with(self, text: impl Into<String>) -> Filter {
        Filter(Condition::Function(self.0, StringFunction::StartsWith, text.into()))
    }

    /// Ends with `text`; case-sensitive.
    pub fn ends_with(self, text: impl Into<String>) -> Filter {
        Filter(Condition::Function(self.0, StringFunction::EndsWith, text.into()))
    }

    /// Orders by this field, in byte order.
    pub fn ascending(self) -> OrderBy {
        order_by(self.0, Direction::Ascending)
    }

    /// Orders by this field, in reverse byte order.
    pub fn descending(self) -> OrderBy {
        order_by(self.0, Direction::Descending)
    }
}

impl TimeField {
    /// Exactly at `time` (`eq`).
    pub fn is(self, time: Ticks) -> Filter {
        compare(self.0, Comparison::Equal, Value::Time(time))
    }

    /// Not at `time` (`ne`).
    pub fn is_not(self, time: Ticks) -> Filter {
        compare(self.0, Comparison::NotEqual, Value::Time(time))
    }

    /// Later than `time` (`gt`).
    pub fn after(self, time: Ticks) -> Filter {
        compare(self.0, Comparison::Greater, Value::Time(time))
    }

    /// At `time` or later (`ge`).
    pub fn since(self, time: Ticks) -> Filter {
        compare(self.0, Comparison::GreaterOrEqual, Value::Time(time))
    }

    /// Earlier than `time` (`lt`).
    pub fn before(self, time: Ticks) -> Filter {
        compare(self.0, Comparison::Less, Value::Time(time))
    }

    /// At `time` or earlier (`le`).
    pub fn until(self, time: Ticks) -> Filter {
        compare(self.0, Comparison::LessOrEqual, Value::Time(time))
    }

    /// Orders by this field, oldest first.
    pub fn oldest_first(self) -> OrderBy {
        order_by(self.0, Direction::Ascending)
    }

    /// Orders by this field, newest first.
    pub fn newest_first(self) -> OrderBy {
        order_by(self.0, Direction::Descending)
    }
}
