//! Invariants of the parsers in this crate. The fuzz targets and the property tests call the same functions.

mod json_reader;

use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hasher as _};

use crate::filter::{CompanyFields, Comparison, Field, Filter, FilterError, OrderBy, StringFunction, Value};
use crate::time::Ticks;

pub use json_reader::json;

/// The limits of the filter parser.
const CHARS_MAX: usize = 4000;
const CONDITIONS_MAX: usize = 100;

/// Characters of an outcome that are compared.
const OUTCOME_CHARS_MAX: usize = 160;

/// A number for the kind of an outcome: outcomes that differ in figures or in quoted text alone have the same.
pub fn signature(outcome: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    let plain = outcome.split('"').step_by(2).flat_map(str::bytes).filter(|byte| !byte.is_ascii_digit());
    plain.take(OUTCOME_CHARS_MAX).for_each(|byte| hasher.write_u8(byte));
    hasher.finish()
}

/// Parses any bytes as a filter and as an order. An error names a column within the text. A valid filter parses to
/// itself after printing, and matches the same companies under a second implementation.
pub fn filter(data: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(data.strip_suffix(b"\n").unwrap_or(data));
    let filter = match Filter::parse(&text) {
        Ok(filter) => {
            check_filter(&filter);
            signature(&format!("{filter:?}"))
        }
        Err(error) => {
            check_error(&error, &text);
            signature(&error.message)
        }
    };
    match OrderBy::parse(&text) {
        Ok(order) => {
            check_order(&order);
            filter ^ 1
        }
        Err(error) => {
            check_error(&error, &text);
            filter
        }
    }
}

fn check_error(error: &FilterError, text: &str) {
    assert!((1..=text.chars().count() + 1).contains(&error.column), "{error} of {text:?}");
    assert!(!error.message.is_empty());
}

fn check_filter(filter: &Filter) {
    let printed = filter.to_string();
    // The printed form of a time can be longer than the original.
    if printed.chars().count() <= CHARS_MAX {
        assert_eq!(Filter::parse(&printed).as_ref(), Ok(filter), "{printed}");
    }
    let mut values = Vec::new();
    collect_values(filter, &mut values);
    assert!((1..=CONDITIONS_MAX).contains(&values.len()), "{printed}");
    for company in companies(&values) {
        assert_eq!(filter.matches(&company), evaluate(filter, &company, true), "{printed}: {company:?}");
    }
}

/// Collects the values of all conditions.
fn collect_values(filter: &Filter, into: &mut Vec<Value>) {
    match filter {
        Filter::Compare(_, _, value) => into.push(value.clone()),
        Filter::Function(_, _, text) => into.push(Value::Text(text.clone())),
        Filter::And(left, right) | Filter::Or(left, right) => {
            collect_values(left, into);
            collect_values(right, into);
        }
        Filter::Not(inner) => collect_values(inner, into),
    }
}

/// Companies with fields equal to, just below and just above the values of a filter.
fn companies(values: &[Value]) -> Vec<CompanyFields<'_>> {
    let (mut codes, mut times, mut texts) = (vec![0], vec![Ticks(0)], vec!["", "Bar"]);
    for value in values {
        match value {
            Value::Number(number) => {
                codes.extend([number.saturating_sub(1), *number, number.saturating_add(1)]);
            }
            Value::Time(time) => times.extend([Ticks(time.0 - 1), *time, time.next()]),
            Value::Text(text) => {
                texts.push(text);
                texts.extend(text.char_indices().nth(1).map(|(at, _)| &text[at..]));
                texts.extend(text.char_indices().last().map(|(at, _)| &text[..at]));
            }
        }
    }
    let count = codes.len().max(times.len()).max(texts.len()) * 2;
    let company = |index: usize| CompanyFields {
        code: codes[index % codes.len()],
        name: texts[index % texts.len()],
        identifier: texts[(index / 2 + 1) % texts.len()],
        last_update: times[index % times.len()],
    };
    (0..count).map(company).collect()
}

/// A second implementation of `Filter::matches`: it pushes `not` down to the conditions and negates those.
fn evaluate(filter: &Filter, company: &CompanyFields<'_>, expected: bool) -> bool {
    match filter {
        Filter::Not(inner) => evaluate(inner, company, !expected),
        Filter::And(left, right) if expected => {
            evaluate(left, company, true) & evaluate(right, company, true)
        }
        Filter::Or(left, right) if expected => evaluate(left, company, true) | evaluate(right, company, true),
        Filter::And(left, right) => evaluate(left, company, false) | evaluate(right, company, false),
        Filter::Or(left, right) => evaluate(left, company, false) & evaluate(right, company, false),
        Filter::Function(field, function, text) => {
            apply_function(text_of(*field, company), *function, text) == expected
        }
        Filter::Compare(field, comparison, value) => {
            use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
            let order = match value {
                Value::Number(number) => company.code.cmp(number),
                Value::Time(time) => company.last_update.0.cmp(&time.0),
                Value::Text(text) => text_of(*field, company).as_bytes().cmp(text.as_bytes()),
            };
            match (*comparison, expected) {
                (Equal, true) | (NotEqual, false) => order == Ordering::Equal,
                (NotEqual, true) | (Equal, false) => order != Ordering::Equal,
                (Greater, true) | (LessOrEqual, false) => order == Ordering::Greater,
                (LessOrEqual, true) | (Greater, false) => order != Ordering::Greater,
                (Less, true) | (GreaterOrEqual, false) => order == Ordering::Less,
                (GreaterOrEqual, true) | (Less, false) => order != Ordering::Less,
            }
        }
    }
}

fn text_of<'a>(field: Field, company: &CompanyFields<'a>) -> &'a str {
    match field {
        Field::CompanyName => company.name,
        Field::IdentifierNumber => company.identifier,
        Field::CompanyCode | Field::LastUpdate => panic!("{field:?} holds no text"),
    }
}

fn apply_function(whole: &str, function: StringFunction, part: &str) -> bool {
    let (whole, part) = (whole.as_bytes(), part.as_bytes());
    let mut positions = (0..=whole.len()).filter(|&at| whole[at..].starts_with(part));
    match function {
        StringFunction::Contains => positions.next().is_some(),
        StringFunction::StartsWith => positions.next() == Some(0),
        StringFunction::EndsWith => positions.any(|at| at + part.len() == whole.len()),
    }
}

/// Checks that an order prints and parses to itself, and is antisymmetric and total over companies.
fn check_order(order: &OrderBy) {
    let printed = order.to_string();
    assert_eq!(OrderBy::parse(&printed).as_ref(), Ok(order), "{printed}");
    let fields = order.fields();
    let count = |field: &Field| fields.iter().filter(|(known, _)| known == field).count();
    assert!(Field::ALL.iter().all(|field| count(field) <= 1) && count(&Field::CompanyCode) == 1, "{printed}");
    let texts = ["", "A", "a", "ñ"];
    let all: Vec<CompanyFields<'_>> = (0_u8..16)
        .map(|n| CompanyFields {
            code: i64::from(n / 2),
            name: texts[usize::from(n % 4)],
            identifier: texts[usize::from(n / 4)],
            last_update: Ticks(i64::from(n % 3)),
        })
        .collect();
    for left in &all {
        for right in &all {
            let found = order.compare(left, right);
            assert_eq!(found, order.compare(right, left).reverse(), "{printed}: {left:?} {right:?}");
            assert!(found.is_ne() || left.code == right.code, "{printed}: {left:?} {right:?}");
        }
    }
}

/// Runs `check` with every seed of a fuzz target.
#[cfg(test)]
fn check_seeds(target: &str, check: fn(&[u8]) -> u64) {
    let seeds = format!("{}/../../fuzz/seeds/{target}", env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for file in std::fs::read_dir(&seeds).unwrap() {
        check(&std::fs::read(file.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count > 0, "{seeds} is empty");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn seeds_hold() {
        check_seeds("filter", filter);
    }

    /// A random valid filter, with nested operators.
    fn expression() -> impl Strategy<Value = String> {
        let condition = prop_oneof![
            ("companyCode (eq|ne|gt|ge|lt|le) ", any::<i64>())
                .prop_map(|(start, code)| format!("{start}{code}")),
            "companyCode (eq|GE|Lt) [+-]?0{0,3}[0-9]{1,19}",
            "(companyName|identifierNumber) (eq|ne|gt|ge|lt|le) '([a-zñ%_ ]|''){0,6}'",
            "(contains|startswith|ENDSWITH)\\( ?(companyName|identifierNumber) ?, ?'([aBñ]|''){0,3}'\\)",
            "lastUpdate (gt|le) '?[0-9]{4}-[01][0-9]-[0-3][0-9](T[0-2][0-9]:[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?)?(Z|\\+02:00)?)?'?",
        ];
        condition.prop_recursive(6, 40, 3, |inner| {
            prop_oneof![
                (inner.clone(), "( and | OR | or |  And )", inner.clone())
                    .prop_map(|(left, operator, right)| format!("{left}{operator}{right}")),
                inner.clone().prop_map(|inner| format!("({inner})")),
                inner.prop_map(|inner| format!("not {inner}")),
            ]
        })
    }

    proptest! {
        #[test]
        fn filter_holds_for_any_bytes(data in proptest::collection::vec(any::<u8>(), 0..300)) {
            filter(&data);
        }

        #[test]
        fn filter_holds_for_any_tokens(text in "((companyCode|companyName|lastUpdate|asc|desc|eq|not|and|or|contains|'a'|1|,|\\(|\\)| ){1,3}){0,12}") {
            filter(text.as_bytes());
        }

        #[test]
        fn filter_holds_for_any_expression(text in expression()) {
            filter(text.as_bytes());
        }

        #[test]
        fn filter_holds_after_replacing_a_character(text in expression(), at in any::<usize>(), replacement in any::<char>()) {
            let mut chars: Vec<char> = text.chars().collect();
            let at = at % chars.len();
            chars[at] = replacement;
            filter(String::from_iter(chars).as_bytes());
        }

        #[test]
        fn filter_holds_for_any_order(text in "(companyCode|companyName|identifierNumber|lastUpdate)( asc| DESC| desc)?(, ?(companyCode|companyName|lastUpdate)( asc| desc)?){0,5}") {
            prop_assert!(OrderBy::parse(&text).is_ok(), "{}", text);
            filter(text.as_bytes());
        }
    }
}
