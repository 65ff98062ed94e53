//! Writes filters and orders as text, with the fewest parentheses. Parsing the text gives the same filter or order.

use std::fmt::{Display, Formatter, Result};

use super::{Direction, Field, Filter, OrderBy, Value};

impl Display for Filter {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Compare(field, comparison, value) => {
                write!(f, "{} {} {value}", field.name(), comparison.as_str())
            }
            Self::Function(field, function, text) => {
                write!(f, "{}({},{})", function.as_str(), field.name(), Quoted(text))
            }
            // `and` and `or` are left-associative, so a left operand of the same kind needs no parentheses.
            Self::And(left, right) => {
                let is_and = matches!(**right, Self::And(..));
                write!(
                    f,
                    "{} and {}",
                    Parenthesized(left, left.is_or()),
                    Parenthesized(right, is_and || right.is_or())
                )
            }
            Self::Or(left, right) => write!(f, "{left} or {}", Parenthesized(right, right.is_or())),
            Self::Not(inner) => {
                let is_and = matches!(**inner, Self::And(..));
                write!(f, "not {}", Parenthesized(inner, is_and || inner.is_or()))
            }
        }
    }
}

impl Filter {
    fn is_or(&self) -> bool {
        matches!(self, Self::Or(..))
    }
}

/// An operand, with parentheses if the second field is true.
struct Parenthesized<'a>(&'a Filter, bool);

impl Display for Parenthesized<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if self.1 { write!(f, "({})", self.0) } else { self.0.fmt(f) }
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => Quoted(text).fmt(f),
            Self::Time(time) => f.write_str(&time.shortest_iso()),
        }
    }
}

struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "'{}'", self.0.replace('\'', "''"))
    }
}

/// Fields with their directions, in the syntax of the `orderBy` parameter.
#[derive(Clone, Copy, Debug)]
pub struct OrderByList<'a>(pub &'a [(Field, Direction)]);

impl Display for OrderBy {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        OrderByList(self.fields()).fmt(f)
    }
}

impl Display for OrderByList<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (index, (field, direction)) in self.0.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let keyword = match direction {
                Direction::Ascending => "asc",
                Direction::Descending => "desc",
            };
            write!(f, "{comma}{} {keyword}", field.name())?;
        }
        Ok(())
    }
}
