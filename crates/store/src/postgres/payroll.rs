//! Payroll companies that match a filter, in PostgreSQL.

use std::fmt::Write as _;

use deadpool_postgres::Transaction;
use domain::Resource;
use domain::filter::{Comparison, Field, Filter, OrderBy, StringFunction};
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use super::fault;
use super::rows::{code, limit};
use crate::payroll::{Bound, Clause, Dialect, column, columns, is_walk, sign};
use crate::plan::{Collection, TENANT, signed, unsigned};
use crate::{PayrollQuery, RecordBodies, Result};

/// Parameters that every statement has before the filter's: tenant, resource, limit, offset.
const OWN: usize = 4;

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
        let _ = write!(to.sql, "{} {} ${at}", column(field), sign(comparison));
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

/// PostgreSQL takes no text with a NUL, and keeps none. So none equals a text with one; and since a NUL is less
/// than whatever else could follow, what is at most the part before it is less than the whole, and what is
/// greater than that part is greater than the whole.
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

/// How many match, and the bodies of those on the page.
pub(super) async fn page(
    snapshot: &Transaction<'_>,
    tenant_no: i64,
    all: Collection,
    query: &PayrollQuery,
) -> Result<(u64, RecordBodies)> {
    let clause = Clause::of::<Postgres>(query.filter.as_ref(), OWN);
    let mut values = vec![
        Bound::Number(tenant_no),
        Bound::Number(code(Resource::payroll_companies())),
        Bound::Number(limit(query.rows_max)),
        // What is past all that there are is past all that match.
        Bound::Number(signed(query.offset.min(all.live))),
    ];
    values.extend(&clause.bound);
    let found = format!("FROM payroll_companies WHERE tenant_no = $1 AND ({})", clause.sql);
    let columns = columns(query.order.as_ref());
    let sql = if query.filter.is_none() {
        format!("SELECT 0::bigint, {}", bodies(&found, &columns))
    } else if is_walk(query.filter.as_ref(), query.order.as_ref()) {
        format!("SELECT (SELECT count(*) {found}), {}", bodies(&found, &columns))
    } else {
        format!(
            "WITH m AS MATERIALIZED (SELECT {} {found})
             SELECT (SELECT count(*) FROM m), {}",
            sorted_by(query),
            bodies("FROM m", &columns)
        )
    };
    let row = one(snapshot, &sql, &values, is_kept(query)).await.map_err(fault)?;
    let total = if query.filter.is_none() { all.live } else { unsigned(row.get(0)) };
    let bodies: Vec<&str> = row.try_get(1).map_err(fault)?;
    Ok((total, bodies.iter().collect()))
}

/// What those that match are gathered with.
fn sorted_by(query: &PayrollQuery) -> String {
    let fields = query.order.as_ref().map_or(&[][..], OrderBy::fields);
    fields.iter().fold("ordinal".to_owned(), |all, (field, _)| format!("{all}, {}", column(*field)))
}

/// The bodies of a page, in order. Each is looked up by itself: a join would be planned from statistics that
/// may not be there yet, and then reads all records of the tenant.
fn bodies(found: &str, columns: &str) -> String {
    format!(
        "ARRAY(SELECT (SELECT r.body FROM records r WHERE r.tenant_no = $1 AND r.company_no = {TENANT}
             AND r.resource = $2 AND r.ordinal = p.ordinal)
         FROM (SELECT ordinal {found} ORDER BY {columns} LIMIT $3 OFFSET $4) p)"
    )
}

/// A connection keeps every statement that is prepared, and there is no end of filters. So only those are that
/// come often and are few: one comparison that has an index, and the orders that have.
fn is_kept(query: &PayrollQuery) -> bool {
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
    kept: bool,
) -> std::result::Result<Row, tokio_postgres::Error> {
    let typed: Vec<_> = values.iter().map(typed).collect();
    if !kept {
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
