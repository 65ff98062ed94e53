//! Property test: with random companies, filters and orders, each store returns the same pages as the filter evaluated
//! company by company.

use domain::Ticks;
use domain::change::Change;
use domain::filter::{CompanyFields, Comparison, Field, Filter, OrderBy, StringFunction, Value};
use domain::record::PayrollCompany;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use store::PayrollQuery;
use tokio::runtime::Handle;

use super::fixture::Fixture;
use super::test_tenant::{TestTenant, delete, payroll, payroll_with};

const SETS: usize = 3;
const CHANGES: usize = 70;
const CASES: u32 = 1200;
const PIECES: [&str; 16] =
    ["", "a", "A", "b", "ab", "ñ", "Ñ", "n\u{303}", "%", "_", "\\", "'", "€", "😀", " ", "\u{1}"];

/// Texts of a few pieces, so that they often match each other.
fn text(more: &'static [&'static str]) -> impl Strategy<Value = String> {
    let pieces: Vec<&str> = PIECES.iter().chain(more).copied().collect();
    prop::collection::vec(select(pieces), 0..4).prop_map(|pieces| pieces.concat())
}

fn moment() -> impl Strategy<Value = Ticks> {
    let start = Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap();
    (0..6_i64, -1..2_i64).prop_map(move |(step, off)| Ticks(start.0 + step * 10_000_000 + off))
}

fn change() -> impl Strategy<Value = Change> {
    let identifier = select(vec!["", "A", "A1", "A12", "B", "B12345674"]);
    let last = prop::option::of(moment().prop_map(Ticks::iso));
    let upsert = (0..45_u64, text(&[]), identifier, last)
        .prop_map(|(code, name, identifier, last)| payroll_with(code, &name, identifier, last.as_deref()));
    let deletion = (0..45_u64).prop_map(|code| delete(payroll(code, "", None)));
    prop_oneof![6 => upsert, 1 => deletion]
}

fn condition() -> impl Strategy<Value = Filter> {
    use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    let comparison = || select(vec![Equal, NotEqual, Greater, GreaterOrEqual, Less, LessOrEqual]);
    let of_text = || select(vec![Field::CompanyName, Field::CompanyName, Field::IdentifierNumber]);
    let written = || text(&["\0", "A1", "B", "12"]);
    let number = prop_oneof![8 => -2..47_i64, 1 => any::<i64>()];
    let function =
        select(vec![StringFunction::Contains, StringFunction::StartsWith, StringFunction::EndsWith]);
    prop_oneof![
        (comparison(), number).prop_map(|(sign, number)| Filter::Compare(
            Field::CompanyCode,
            sign,
            Value::Number(number)
        )),
        (comparison(), moment()).prop_map(|(sign, at)| Filter::Compare(
            Field::LastUpdate,
            sign,
            Value::Time(at)
        )),
        (of_text(), comparison(), written()).prop_map(|(field, sign, text)| Filter::Compare(
            field,
            sign,
            Value::Text(text)
        )),
        (of_text(), function, written())
            .prop_map(|(field, function, text)| Filter::Function(field, function, text)),
    ]
}

fn filter() -> impl Strategy<Value = Filter> {
    condition().prop_recursive(5, 16, 2, |inner| {
        let both = || (inner.clone().prop_map(Box::new), inner.clone().prop_map(Box::new));
        prop_oneof![
            3 => both().prop_map(|(left, right)| Filter::And(left, right)),
            3 => both().prop_map(|(left, right)| Filter::Or(left, right)),
            1 => inner.clone().prop_map(|inner| Filter::Not(Box::new(inner))),
        ]
    })
}

fn order() -> impl Strategy<Value = OrderBy> {
    let field = (select(Field::ALL.to_vec()), select(vec!["", " asc", " desc"]));
    let fields = prop::collection::vec(field.prop_map(|(field, way)| format!("{}{way}", field.name())), 1..5);
    fields.prop_map(|fields| OrderBy::parse(&fields.join(",")).unwrap())
}

/// The companies of a tenant, in order of creation.
struct CompanySet {
    tenant: TestTenant,
    companies: Vec<(PayrollCompany, Box<str>)>,
}

impl CompanySet {
    /// Fills a tenant with the same companies in every run: only the queries are random.
    async fn fill(tenant: TestTenant, runner: &mut TestRunner) -> Self {
        let changes = prop::collection::vec(change(), CHANGES).new_tree(runner).unwrap().current();
        for chunk in changes.chunks(CHANGES / 3) {
            // Deletions of unknown companies are rejected; that is fine here.
            tenant.send(chunk.iter().cloned()).await;
        }
        let bodies = tenant.page(&payroll(0, "", None), 0, usize::MAX).await.bodies;
        let read = |body: &str| (PayrollCompany::from_body(body).unwrap(), body.into());
        let companies: Vec<(_, Box<str>)> = bodies.iter().map(read).collect();
        assert!(companies.len() > 20);
        Self { tenant, companies }
    }

    /// The bodies of a page, and the total.
    fn expected(&self, query: &PayrollQuery) -> (Vec<Box<str>>, u64) {
        let matches = |company: &PayrollCompany| {
            query.filter.as_ref().is_none_or(|filter| filter.matches(&subject(company)))
        };
        let mut found: Vec<_> = self.companies.iter().filter(|(company, _)| matches(company)).collect();
        if let Some(order) = &query.order {
            found.sort_by(|(one, _), (other, _)| order.compare(&subject(one), &subject(other)));
        }
        let page = found.iter().skip(usize::try_from(query.offset).unwrap()).take(query.rows_max);
        (page.map(|(_, body)| body.clone()).collect(), found.len() as u64)
    }
}

fn subject(company: &PayrollCompany) -> CompanyFields<'_> {
    CompanyFields {
        code: company.code,
        name: &company.name,
        identifier: &company.identifier,
        last_update: company.last_update.unwrap(),
    }
}

pub(crate) async fn filters_and_orders_match_the_model(fixture: Fixture) {
    let mut sets = Vec::new();
    let mut runner = TestRunner::deterministic();
    for _ in 0..SETS {
        sets.push(CompanySet::fill(fixture.add_tenant().await, &mut runner).await);
    }
    let page = prop_oneof![3 => Just((0, usize::MAX)), 2 => (0..30_u64, 0..12_usize)];
    let cases = (0..SETS, prop::option::weighted(0.9, filter()), prop::option::of(order()), page);
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let check = |(set, filter, order, (offset, rows_max)): (usize, _, _, _)| {
        let CompanySet { tenant, .. } = &sets[set];
        let query = PayrollQuery { tenant: tenant.id.clone(), filter, order, offset, rows_max };
        // A store may cache the second result.
        for _ in 0..2 {
            let page = Handle::current().block_on(tenant.store.payroll_page(&query));
            let page = page.map_err(|error| TestCaseError::fail(error.to_string()))?;
            let bodies: Vec<Box<str>> = page.bodies.iter().map(Into::into).collect();
            prop_assert_eq!((bodies, page.total), sets[set].expected(&query));
        }
        Ok(())
    };
    tokio::task::block_in_place(|| TestRunner::new(config).run(&cases, check)).unwrap();
}
