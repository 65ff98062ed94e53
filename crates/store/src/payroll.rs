//! What SQLite and PostgreSQL share of a payroll query: columns, values to bind, how conditions are joined,
//! and whether an order keeps to the index by which the filter finds its rows.

use domain::filter::{Comparison, Direction, Field, Filter, OrderBy, StringFunction, Value};

/// A value that a statement binds. No text of a caller's stands in SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound<'a> {
    Number(i64),
    Text(&'a str),
}

/// How one condition is written in a dialect.
pub(crate) trait Dialect {
    fn compare<'a>(to: &mut Clause<'a>, field: Field, comparison: Comparison, value: Bound<'a>);
    fn like<'a>(to: &mut Clause<'a>, field: Field, function: StringFunction, text: &'a str);
}

/// A filter as SQL (always true where there is none), and what it binds.
#[derive(Debug)]
pub(crate) struct Clause<'a> {
    pub(crate) sql: String,
    pub(crate) bound: Vec<Bound<'a>>,
    bound_before: usize,
}

impl<'a> Clause<'a> {
    /// Parameters are numbered after those that the statement has of its own.
    pub(crate) fn of<D: Dialect>(filter: Option<&'a Filter>, bound_before: usize) -> Self {
        let mut clause = Self { sql: String::new(), bound: Vec::new(), bound_before };
        match filter {
            Some(filter) => clause.add::<D>(filter),
            None => clause.put("TRUE"),
        }
        clause
    }

    /// The number of the parameter that stands for a value.
    pub(crate) fn bind(&mut self, value: Bound<'a>) -> usize {
        self.bound.push(value);
        self.bound_before + self.bound.len()
    }

    pub(crate) fn put(&mut self, sql: &str) {
        self.sql.push_str(sql);
    }

    fn add<D: Dialect>(&mut self, filter: &'a Filter) {
        match filter {
            Filter::Compare(field, comparison, value) => {
                let value = match value {
                    Value::Number(number) => Bound::Number(*number),
                    Value::Text(text) => Bound::Text(text),
                    Value::Time(time) => Bound::Number(time.0),
                };
                D::compare(self, *field, *comparison, value);
            }
            Filter::Function(field, function, text) => D::like(self, *field, *function, text),
            Filter::And(left, right) => {
                self.side::<D>(left, matches!(**left, Filter::Or(..)));
                self.put(" AND ");
                self.side::<D>(right, matches!(**right, Filter::And(..) | Filter::Or(..)));
            }
            Filter::Or(left, right) => {
                self.side::<D>(left, matches!(**left, Filter::And(..)));
                self.put(" OR ");
                self.side::<D>(right, matches!(**right, Filter::And(..) | Filter::Or(..)));
            }
            Filter::Not(inner) => {
                self.put("NOT ");
                self.side::<D>(inner, true);
            }
        }
    }

    /// A long chain of one operator stays flat: parsers of SQL count how deep parentheses go.
    fn side<D: Dialect>(&mut self, filter: &'a Filter, enclosed: bool) {
        if enclosed {
            self.put("(");
        }
        self.add::<D>(filter);
        if enclosed {
            self.put(")");
        }
    }
}

pub(crate) fn column(field: Field) -> &'static str {
    match field {
        Field::CompanyCode => "code",
        Field::CompanyName => "name",
        Field::IdentifierNumber => "identifier",
        Field::LastUpdate => "last_update",
    }
}

pub(crate) fn sign(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => "=",
        Comparison::NotEqual => "<>",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
    }
}

/// The columns to order by; that of creation where no order is asked for.
pub(crate) fn columns(order: Option<&OrderBy>) -> String {
    let Some(order) = order else { return "ordinal".into() };
    let one = |(field, direction): &(Field, Direction)| match direction {
        Direction::Ascending => column(*field).to_owned(),
        Direction::Descending => format!("{} DESC", column(*field)),
    };
    order.fields().iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Whether a page is read along the index by which its rows are found, in order, from where the filter begins.
/// Where it is not, all that match are gathered and sorted: along another index they may lie far apart.
pub(crate) fn is_walk(filter: Option<&Filter>, order: Option<&OrderBy>) -> bool {
    let Some(filter) = filter else { return true };
    match order.and_then(|order| order.fields().first()) {
        Some((field @ Field::CompanyCode, _)) => {
            goes_by(filter, *field) && !goes_by(filter, Field::LastUpdate)
        }
        Some((field @ Field::LastUpdate, _)) => {
            goes_by(filter, *field) && !goes_by(filter, Field::CompanyCode)
        }
        _ => false,
    }
}

/// Whether all that match lie in one range of a field.
fn goes_by(filter: &Filter, field: Field) -> bool {
    match filter {
        Filter::Compare(of, comparison, _) => *of == field && *comparison != Comparison::NotEqual,
        Filter::And(left, right) => goes_by(left, field) || goes_by(right, field),
        Filter::Function(..) | Filter::Or(..) | Filter::Not(_) => false,
    }
}
