//! Payroll queries shared by SQLite and PostgreSQL: columns, bound values, how conditions are joined, and
//! whether an order follows the index that the filter uses. The SQL is composed from constants and parameter
//! numbers only; every value of the caller is bound.

use domain::filter::{Comparison, Direction, Field, Filter, OrderBy, StringFunction, Value};

/// A bound value. SQL text never contains a caller's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound<'a> {
    Number(i64),
    Text(&'a str),
}

/// How a dialect writes one condition.
pub(crate) trait Dialect {
    fn compare<'a>(to: &mut Clause<'a>, field: Field, comparison: Comparison, value: Bound<'a>);
    fn like<'a>(to: &mut Clause<'a>, field: Field, function: StringFunction, text: &'a str);
}

/// A filter as a SQL condition (`TRUE` without a filter) and its bound values.
#[derive(Debug)]
pub(crate) struct Clause<'a> {
    pub(crate) sql: String,
    pub(crate) bound: Vec<Bound<'a>>,
    bound_before: usize,
}

impl<'a> Clause<'a> {
    /// Numbers the parameters after the statement's own.
    pub(crate) fn of<D: Dialect>(filter: Option<&'a Filter>, bound_before: usize) -> Self {
        let mut clause = Self { sql: String::new(), bound: Vec::new(), bound_before };
        match filter {
            Some(filter) => clause.add::<D>(filter),
            None => clause.put("TRUE"),
        }
        clause
    }

    /// Binds a value and returns its parameter number.
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

    /// A long chain of one operator gets no parentheses, since SQL parsers limit the nesting depth.
    fn side<D: Dialect>(&mut self, filter: &'a Filter, parenthesized: bool) {
        if parenthesized {
            self.put("(");
        }
        self.add::<D>(filter);
        if parenthesized {
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

pub(crate) fn sql_operator(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => "=",
        Comparison::NotEqual => "<>",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
    }
}

/// The columns to order by; creation order by default.
pub(crate) fn columns(order: Option<&OrderBy>) -> String {
    let Some(order) = order else { return "ordinal".into() };
    let one = |(field, direction): &(Field, Direction)| match direction {
        Direction::Ascending => column(*field).to_owned(),
        Direction::Descending => format!("{} DESC", column(*field)),
    };
    order.fields().iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Whether the page can be read in order along the index that the filter uses. If not, the matches are
/// collected and sorted, because along another index they may be far apart.
pub(crate) fn follows_index(filter: Option<&Filter>, order: Option<&OrderBy>) -> bool {
    let Some(filter) = filter else { return true };
    match order.and_then(|order| order.fields().first()) {
        Some((field @ Field::CompanyCode, _)) => {
            constrains(filter, *field) && !constrains(filter, Field::LastUpdate)
        }
        Some((field @ Field::LastUpdate, _)) => {
            constrains(filter, *field) && !constrains(filter, Field::CompanyCode)
        }
        _ => false,
    }
}

/// Whether all matches lie in one range of the field.
fn constrains(filter: &Filter, field: Field) -> bool {
    match filter {
        Filter::Compare(of, comparison, _) => *of == field && *comparison != Comparison::NotEqual,
        Filter::And(left, right) => constrains(left, field) || constrains(right, field),
        Filter::Function(..) | Filter::Or(..) | Filter::Not(_) => false,
    }
}
