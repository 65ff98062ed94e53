//! The service parses what the filter builder writes, for any text and nesting.

use aldaba_client::api::filter::{self, Filter, OrderBy};
use aldaba_client::{Error, Ticks};
use domain::filter::{CompanyFields, Filter as Condition, OrderBy as Order};
use proptest::prelude::*;

fn leaves() -> impl Strategy<Value = Filter> {
    let text = "[\\PC\\r\\n\\t']{0,12}";
    let moment = (0_i64..250_000_000).prop_map(|seconds| Ticks::from_unix_seconds(1_600_000_000 + seconds));
    prop_oneof![
        (any::<i64>(), 0..6).prop_map(|(number, which)| {
            let code = filter::code();
            match which {
                0 => code.is(number),
                1 => code.is_not(number),
                2 => code.above(number),
                3 => code.at_least(number),
                4 => code.below(number),
                _ => code.at_most(number),
            }
        }),
        (text, any::<bool>(), 0..7).prop_map(|(text, is_name, which)| {
            let field = if is_name { filter::name() } else { filter::identifier() };
            match which {
                0 => field.is(text),
                1 => field.is_not(text),
                2 => field.after(text),
                3 => field.before(text),
                4 => field.contains(text),
                5 => field.starts_with(text),
                _ => field.ends_with(text),
            }
        }),
        (moment, 0..6).prop_map(|(moment, which)| {
            let field = filter::last_update();
            match which {
                0 => field.is(moment),
                1 => field.is_not(moment),
                2 => field.after(moment),
                3 => field.since(moment),
                4 => field.before(moment),
                _ => field.until(moment),
            }
        }),
    ]
}

fn filters() -> impl Strategy<Value = Filter> {
    leaves().prop_recursive(5, 40, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(one, other)| one.and(other)),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| one.or(other)),
            inner.prop_map(filter::not),
        ]
    })
}

proptest! {
    #[test]
    fn built_filter_parses_to_itself(filter in filters()) {
        let text = filter.to_string();
        // Filters beyond the limits of the service are refused before sending.
        if text.chars().count() <= 4000 {
            let read: Filter = text.parse().unwrap();
            prop_assert_eq!(&read, &filter, "{}", text);
            prop_assert_eq!(Condition::parse(&text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn texts_are_escaped(name in "\\PC{0,30}") {
        let filter = filter::name().is(name.clone());
        let read = Condition::parse(&filter.to_string()).unwrap();
        let subject = |name| {
            CompanyFields { code: 1, name, identifier: "", last_update: Ticks(0) }
        };
        prop_assert!(read.matches(&subject(&name)));
        let other = format!("{name}x");
        prop_assert!(!read.matches(&subject(&other)));
    }
}

#[test]
fn invalid_filter_is_refused_before_sending() {
    let result = "companyName lke 'x'".parse::<Filter>().unwrap_err();
    let Error::InvalidInput { what, reason } = result else { panic!("{result}") };
    assert_eq!((what, reason.contains("column 13")), ("the filter", true), "{reason}");
}

#[test]
fn built_order_parses_to_itself() {
    let (code, name, update) = (filter::code(), filter::name(), filter::last_update());
    let order: OrderBy = update.newest_first().then(&name.ascending()).then(&update.oldest_first());
    assert_eq!(order.to_string(), "lastUpdate desc,companyName asc");
    for order in [order, code.descending(), filter::identifier().descending().then(&code.ascending())] {
        let read = Order::parse(&order.to_string()).unwrap();
        assert!(read.to_string().starts_with(&order.to_string()), "{read} {order}");
    }
}
