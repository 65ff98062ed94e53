//! What must hold of any filter and any order that somebody sends. The fuzz targets and the property tests call
//! the same entry.

use std::cmp::Ordering;

use crate::filter::{CompanyFields, Comparison, Field, Filter, FilterError, OrderBy, StringFunction, Value};
use crate::time::Ticks;

/// As the reader has them.
const CHARS_MAX: usize = 4000;
const CONDITIONS_MAX: usize = 100;

/// Any bytes, as a filter and as an order: refused with a column that lies in the text, or read as something that
/// says the same when it is printed and read again, and that means the same when it is evaluated another way.
pub fn filter(data: &[u8]) {
    let text = String::from_utf8_lossy(data.strip_suffix(b"\n").unwrap_or(data));
    match Filter::parse(&text) {
        Ok(filter) => is_sound(&filter),
        Err(error) => lies_within(&error, &text),
    }
    match OrderBy::parse(&text) {
        Ok(order) => is_total(&order),
        Err(error) => lies_within(&error, &text),
    }
}

fn lies_within(error: &FilterError, text: &str) {
    assert!((1..=text.chars().count() + 1).contains(&error.column), "{error} of {text:?}");
    assert!(!error.message.is_empty());
}

fn is_sound(filter: &Filter) {
    let printed = filter.to_string();
    // Times may take more letters than the sender used.
    if printed.chars().count() <= CHARS_MAX {
        assert_eq!(Filter::parse(&printed).as_ref(), Ok(filter), "{printed}");
    }
    let mut values = Vec::new();
    gather(filter, &mut values);
    assert!((1..=CONDITIONS_MAX).contains(&values.len()), "{printed}");
    for one in subjects(&values) {
        assert_eq!(filter.matches(&one), meant(filter, &one, true), "{printed}: {one:?}");
    }
}

/// The values of all conditions.
fn gather(filter: &Filter, into: &mut Vec<Value>) {
    match filter {
        Filter::Compare(_, _, value) => into.push(value.clone()),
        Filter::Function(_, _, text) => into.push(Value::Text(text.clone())),
        Filter::And(left, right) | Filter::Or(left, right) => {
            gather(left, into);
            gather(right, into);
        }
        Filter::Not(inner) => gather(inner, into),
    }
}

/// Companies that lie on, just below and just above what a filter speaks of.
fn subjects(values: &[Value]) -> Vec<CompanyFields<'_>> {
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
    let most = codes.len().max(times.len()).max(texts.len()) * 2;
    let one = |index: usize| CompanyFields {
        code: codes[index % codes.len()],
        name: texts[index % texts.len()],
        identifier: texts[(index / 2 + 1) % texts.len()],
        last_update: times[index % times.len()],
    };
    (0..most).map(one).collect()
}

/// The same meaning by another way: `not` is carried down to the conditions, where it turns each into its opposite.
fn meant(filter: &Filter, one: &CompanyFields<'_>, wanted: bool) -> bool {
    match filter {
        Filter::Not(inner) => meant(inner, one, !wanted),
        Filter::And(left, right) if wanted => meant(left, one, true) & meant(right, one, true),
        Filter::Or(left, right) if wanted => meant(left, one, true) | meant(right, one, true),
        Filter::And(left, right) => meant(left, one, false) | meant(right, one, false),
        Filter::Or(left, right) => meant(left, one, false) & meant(right, one, false),
        Filter::Function(field, function, text) => is_like(text_of(*field, one), *function, text) == wanted,
        Filter::Compare(field, comparison, value) => {
            use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
            let order = match value {
                Value::Number(number) => one.code.cmp(number),
                Value::Time(time) => one.last_update.0.cmp(&time.0),
                Value::Text(text) => text_of(*field, one).as_bytes().cmp(text.as_bytes()),
            };
            match (*comparison, wanted) {
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

fn text_of<'a>(field: Field, one: &CompanyFields<'a>) -> &'a str {
    match field {
        Field::CompanyName => one.name,
        Field::IdentifierNumber => one.identifier,
        Field::CompanyCode | Field::LastUpdate => panic!("{field:?} holds no text"),
    }
}

fn is_like(whole: &str, function: StringFunction, part: &str) -> bool {
    let (whole, part) = (whole.as_bytes(), part.as_bytes());
    let mut places = (0..=whole.len()).filter(|&at| whole[at..].starts_with(part));
    match function {
        StringFunction::Contains => places.next().is_some(),
        StringFunction::StartsWith => places.next() == Some(0),
        StringFunction::EndsWith => places.any(|at| at + part.len() == whole.len()),
    }
}

/// It decides between any two companies, one way.
fn is_total(order: &OrderBy) {
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
    for one in &all {
        for other in &all {
            let found = order.compare(one, other);
            assert_eq!(found, order.compare(other, one).reverse(), "{printed}: {one:?} {other:?}");
            assert!(found.is_ne() || one.code == other.code, "{printed}: {one:?} {other:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_seeds_hold() {
        let seeds = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/filter");
        let mut count = 0;
        for file in std::fs::read_dir(seeds).unwrap() {
            filter(&std::fs::read(file.unwrap().path()).unwrap());
            count += 1;
        }
        assert!(count > 0, "{seeds} is empty");
    }

    /// A filter of so many levels.
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
                    .prop_map(|(left, word, right)| format!("{left}{word}{right}")),
                inner.clone().prop_map(|inner| format!("({inner})")),
                inner.prop_map(|inner| format!("not {inner}")),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_bytes(data in proptest::collection::vec(any::<u8>(), 0..300)) {
            filter(&data);
        }

        #[test]
        fn any_words(text in "((companyCode|companyName|lastUpdate|asc|desc|eq|not|and|or|contains|'a'|1|,|\\(|\\)| ){1,3}){0,12}") {
            filter(text.as_bytes());
        }

        #[test]
        fn any_expression(text in expression()) {
            filter(text.as_bytes());
        }

        #[test]
        fn any_expression_with_a_letter_changed(text in expression(), at in any::<usize>(), letter in any::<char>()) {
            let mut letters: Vec<char> = text.chars().collect();
            let at = at % letters.len();
            letters[at] = letter;
            filter(String::from_iter(letters).as_bytes());
        }

        #[test]
        fn any_order(text in "(companyCode|companyName|identifierNumber|lastUpdate)( asc| DESC| desc)?(, ?(companyCode|companyName|lastUpdate)( asc| desc)?){0,5}") {
            prop_assert!(OrderBy::parse(&text).is_ok(), "{}", text);
            filter(text.as_bytes());
        }
    }
}
