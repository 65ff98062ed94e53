//! Payroll queries in PostgreSQL. SQL is composed from constants and parameter numbers only; values are bound.

use std::fmt::Write as _;

use deadpool_postgres::Transaction;
use domain::Resource;
use domain::filter::{Comparison, Field, Filter, OrderBy, StringFunction};
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use super::rows::{code, limit};
use super::store_error;
use crate::payroll::{Bound, Clause, Dialect, column, columns, follows_index, sql_operator};
use crate::plan::{CollectionCounters, NO_COMPANY, signed, unsigned};
use crate::{PayrollQuery, RecordBodies, Result};

/// Parameters of every statement before those of the filter: tenant, resource, limit, offset.
const FIXED_PARAMETERS: usize = 4;

struct Postgres;

impl Dialect for Postgres {
    fn compare<'a>(to: &mut Clause<'a>, field: Field, comparison: Comparison, value: Bound<'a>) {
        let (value, comparison) = match value {
            Bound::Text(text) if text.contains('\0') => match before_nul(text, comparison) {
                Ok(meaning) => meaning,
                Err(truth) => return to.put(truth),
            },
            value => (value, comparison),
        };
        let at = to.bind(value);
        let _ = write!(to.sql, "{} {} ${at}", column(field), sql_operator(comparison));
    }

    fn like<'a>(to: &mut Clause<'a>, field: Field, function: StringFunction, text: &'a str) {
        if text.contains('\0') {
            return to.put("FALSE");
        }
        let (column, at) = (column(field), to.bind(Bound::Text(text)));
        let _ = match function {
            StringFunction::Contains => write!(to.sql, "strpos({column}, ${at}) > 0"),
            StringFunction::StartsWith => write!(to.sql, "starts_with({column}, ${at})"),
            StringFunction::EndsWith => write!(to.sql, "right({column}, char_length(${at})) = ${at}"),
        };
    }
}

/// PostgreSQL neither accepts nor stores a NUL in a text, so no stored text equals one with a NUL. A NUL sorts
/// before every other character: a stored text is less than the whole if it is at most the part before the NUL,
/// and greater if it is greater than that part.
fn before_nul(
    text: &str,
    comparison: Comparison,
) -> std::result::Result<(Bound<'_>, Comparison), &'static str> {
    let before = Bound::Text(text.split('\0').next().unwrap_or_default());
    match comparison {
        Comparison::Equal => Err("FALSE"),
        Comparison::NotEqual => Err("TRUE"),
        Comparison::Greater | Comparison::GreaterOrEqual => Ok((before, Comparison::Greater)),
        Comparison::Less | Comparison::LessOrEqual => Ok((before, Comparison::LessOrEqual)),
    }
}

/// The number of matches, and the bodies of the page.
pub(super) async fn page(
    snapshot: &Transaction<'_>,
    tenant_no: i64,
    counters: CollectionCounters,
    query: &PayrollQuery,
) -> Result<(u64, RecordBodies)> {
    let clause = Clause::of::<Postgres>(query.filter.as_ref(), FIXED_PARAMETERS);
    let mut values = vec![
        Bound::Number(tenant_no),
        Bound::Number(code(Resource::payroll_companies())),
        Bound::Number(limit(query.rows_max)),
        // An offset beyond all records is beyond all matches.
        Bound::Number(signed(query.offset.min(counters.live))),
    ];
    values.extend(&clause.bound);
    let found = format!("FROM payroll_companies WHERE tenant_no = $1 AND ({})", clause.sql);
    let columns = columns(query.order.as_ref());
    let sql = if query.filter.is_none() {
        format!("SELECT 0::bigint, {}", bodies(&found, &columns))
    } else if follows_index(query.filter.as_ref(), query.order.as_ref()) {
        format!("SELECT (SELECT count(*) {found}), {}", bodies(&found, &columns))
    } else {
        format!(
            "WITH m AS MATERIALIZED (SELECT {} {found})
             SELECT (SELECT count(*) FROM m), {}",
            sorted_by(query),
            bodies("FROM m", &columns)
        )
    };
    let row = one(snapshot, &sql, &values, is_cacheable(query)).await.map_err(store_error)?;
    let total = if query.filter.is_none() { counters.live } else { unsigned(row.get(0)) };
    let bodies: Vec<&str> = row.try_get(1).map_err(store_error)?;
    Ok((total, bodies.iter().collect()))
}

/// The columns that the sort of the matches needs.
fn sorted_by(query: &PayrollQuery) -> String {
    let fields = query.order.as_ref().map_or(&[][..], OrderBy::fields);
    fields.iter().fold("ordinal".to_owned(), |all, (field, _)| format!("{all}, {}", column(*field)))
}

/// The bodies of a page, in order. A subquery looks up each body, because a join planned without statistics
/// would read all records of the tenant.
fn bodies(found: &str, columns: &str) -> String {
    format!(
        "ARRAY(SELECT (SELECT r.body FROM records r WHERE r.tenant_no = $1 AND r.company_no = {NO_COMPANY}
             AND r.resource = $2 AND r.ordinal = p.ordinal)
         FROM (SELECT ordinal {found} ORDER BY {columns} LIMIT $3 OFFSET $4) p)"
    )
}

/// A connection keeps every prepared statement, and filters vary without limit. So only frequent and few
/// statements are prepared: a single comparison on an indexed column, and orders on indexed columns.
fn is_cacheable(query: &PayrollQuery) -> bool {
    let has_index = |field: &Field| matches!(field, Field::CompanyCode | Field::LastUpdate);
    let filter = match &query.filter {
        None => true,
        Some(Filter::Compare(field, ..)) => has_index(field),
        Some(_) => false,
    };
    let order = query.order.as_ref().map_or(&[][..], OrderBy::fields);
    filter && order.iter().all(|(field, _)| has_index(field))
}

async fn one(
    snapshot: &Transaction<'_>,
    sql: &str,
    values: &[Bound<'_>],
    is_cached: bool,
) -> std::result::Result<Row, tokio_postgres::Error> {
    let typed: Vec<_> = values.iter().map(typed).collect();
    if !is_cached {
        return snapshot.query_typed_one(sql, &typed).await;
    }
    let statement = snapshot.prepare_cached(sql).await?;
    let values: Vec<_> = typed.into_iter().map(|(value, _)| value).collect();
    snapshot.query_one(&statement, &values).await
}

fn typed<'a>(value: &'a Bound<'_>) -> (&'a (dyn ToSql + Sync), Type) {
    match value {
        Bound::Number(number) => (number, Type::INT8),
        Bound::Text(text) => (text, Type::TEXT),
    }
}
