//! Payroll queries in SQLite. SQL is composed from constants and parameter numbers only; values are bound.

use std::fmt::Write as _;

use domain::filter::{Comparison, Field, StringFunction};
use rusqlite::types::{ToSql, ToSqlOutput};
use rusqlite::{Connection, Statement, params_from_iter};

use super::collection_numbers::CollectionNo;
use super::last_update_index::{self, LastUpdateIndexes};
use super::reader::CollectionState;
use crate::payroll::{Bound, Clause, Dialect, column, columns, follows_index, sql_operator};
use crate::plan::{signed, unsigned};
use crate::{PayrollQuery, RecordBodies};

/// Statements with more parameters are not cached, because few are repeated.
const CACHED_PARAMETERS_MAX: usize = 6;

/// Larger index ranges are left to a search, which may move to a blocking thread.
const INDEX_RANGE_MAX: usize = 65_536;

struct Sqlite;

impl Dialect for Sqlite {
    fn compare<'a>(to: &mut Clause<'a>, field: Field, comparison: Comparison, value: Bound<'a>) {
        let at = to.bind(value);
        let _ = write!(to.sql, "{} {} ?{at}", column(field), sql_operator(comparison));
    }

    fn like<'a>(to: &mut Clause<'a>, field: Field, function: StringFunction, text: &'a str) {
        // Every text contains the empty text, but `substr` from -0 returns the whole text.
        if text.is_empty() {
            return to.put("TRUE");
        }
        let (column, at) = (column(field), to.bind(Bound::Text(text)));
        // `substr` and `length` both count characters. `length` stops at a NUL, but no stored text has one, so
        // none equals a text with a NUL.
        let _ = match function {
            StringFunction::Contains => write!(to.sql, "instr({column}, ?{at}) > 0"),
            StringFunction::StartsWith => write!(to.sql, "substr({column}, 1, length(?{at})) = ?{at}"),
            StringFunction::EndsWith => write!(to.sql, "substr({column}, -length(?{at})) = ?{at}"),
        };
    }
}

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Number(number) => number.to_sql(),
            Self::Text(text) => text.to_sql(),
        }
    }
}

/// The number of matches, and the bodies of the page.
pub(super) fn page(
    reader: &Connection,
    state: &CollectionState,
    query: &PayrollQuery,
    known: &LastUpdateIndexes,
) -> rusqlite::Result<(u64, RecordBodies)> {
    let Some(number) = state.number else { return Ok((0, RecordBodies::default())) };
    if let (Some(filter), None) = (&query.filter, &query.order)
        && let Some(last_update_index) = known.find(state)
        && let Some(part) = last_update_index::matching_range(filter, &last_update_index)
            .filter(|part| part.len() <= INDEX_RANGE_MAX)
    {
        let ordinals = last_update_index[part].iter().map(|(_, ordinal)| *ordinal).collect();
        return page_in_creation_order(reader, number, ordinals, query);
    }
    let clause = Clause::of::<Sqlite>(query.filter.as_ref(), 1);
    let mut values = vec![Bound::Number(state.tenant_no)];
    values.extend(&clause.bound);
    let found = format!("FROM payroll_companies WHERE tenant_no = ?1 AND ({})", clause.sql);
    if let (Some(filter), None) = (&query.filter, &query.order) {
        let ordinals = numbers(reader, &format!("SELECT ordinal {found}"), &values)?;
        if last_update_index::matching_range(filter, &[]).is_some() {
            known.count(state, ordinals.len());
        }
        return page_in_creation_order(reader, number, ordinals, query);
    }
    let total = if query.filter.is_some() {
        let count = numbers(reader, &format!("SELECT count(*) {found}"), &values)?;
        count.first().copied().map_or(0, unsigned)
    } else {
        state.counters.live
    };
    if query.offset >= total {
        return Ok((total, RecordBodies::default()));
    }
    // A unary plus keeps SQLite from scanning the column's index for the order.
    let unary_plus = if follows_index(query.filter.as_ref(), query.order.as_ref()) { "" } else { "+" };
    let (columns, at) = (columns(query.order.as_ref()), values.len());
    let sql =
        format!("SELECT ordinal {found} ORDER BY {unary_plus}{columns} LIMIT ?{} OFFSET ?{}", at + 1, at + 2);
    let rows_max = i64::try_from(query.rows_max).unwrap_or(i64::MAX);
    values.extend([Bound::Number(rows_max), Bound::Number(signed(query.offset))]);
    Ok((total, bodies(reader, number, &numbers(reader, &sql, &values)?)?))
}

/// The total and the page in creation order, from one query: sorting the ordinals here, and only as far as the
/// page goes, takes a fraction of SQLite's time.
fn page_in_creation_order(
    reader: &Connection,
    number: CollectionNo,
    mut ordinals: Vec<i64>,
    query: &PayrollQuery,
) -> rusqlite::Result<(u64, RecordBodies)> {
    let from = usize::try_from(query.offset).unwrap_or(usize::MAX).min(ordinals.len());
    let to = from.saturating_add(query.rows_max).min(ordinals.len());
    if to < ordinals.len() {
        ordinals.select_nth_unstable(to);
    }
    ordinals[..to].sort_unstable();
    Ok((ordinals.len() as u64, bodies(reader, number, &ordinals[from..to])?))
}

fn numbers(reader: &Connection, sql: &str, values: &[Bound<'_>]) -> rusqlite::Result<Vec<i64>> {
    let read =
        |find: &mut Statement<'_>| find.query_map(params_from_iter(values), |row| row.get(0))?.collect();
    if values.len() <= CACHED_PARAMETERS_MAX {
        read(&mut *reader.prepare_cached(sql)?)
    } else {
        read(&mut reader.prepare(sql)?)
    }
}

fn bodies(reader: &Connection, number: CollectionNo, ordinals: &[i64]) -> rusqlite::Result<RecordBodies> {
    let mut find = reader.prepare_cached("SELECT body FROM records WHERE row = ?1")?;
    let mut bodies = RecordBodies::with_capacity(ordinals.len());
    for ordinal in ordinals {
        find.raw_bind_parameter(1, number.row(unsigned(*ordinal)))?;
        let mut rows = find.raw_query();
        if let Some(row) = rows.next()? {
            bodies.push(row.get_ref(0)?.as_bytes()?);
        }
    }
    Ok(bodies)
}
