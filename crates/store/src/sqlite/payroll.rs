//! Payroll companies that match a filter, in SQLite.

use std::fmt::Write as _;

use domain::filter::{Comparison, Field, StringFunction};
use rusqlite::types::{ToSql, ToSqlOutput};
use rusqlite::{Connection, Statement, params_from_iter};

use super::moments::{self, KnownMoments};
use super::places::PlaceNo;
use super::reader::Whole;
use crate::payroll::{Bound, Clause, Dialect, column, columns, is_walk, sign};
use crate::plan::{signed, unsigned};
use crate::{PayrollQuery, RecordBodies};

/// Statements that bind more values than this are not kept: few come twice.
const BOUND_KEPT_MAX: usize = 6;

/// Larger parts of the moments are left to a search, which goes aside where it is long.
const PART_MAX: usize = 65_536;

struct Sqlite;

impl Dialect for Sqlite {
    fn compare<'a>(to: &mut Clause<'a>, field: Field, comparison: Comparison, value: Bound<'a>) {
        let at = to.bind(value);
        let _ = write!(to.sql, "{} {} ?{at}", column(field), sign(comparison));
    }

    fn like<'a>(to: &mut Clause<'a>, field: Field, function: StringFunction, text: &'a str) {
        // Every text has the empty one in it, but a `substr` from -0 on is the whole.
        if text.is_empty() {
            return to.put("TRUE");
        }
        let (column, at) = (column(field), to.bind(Bound::Text(text)));
        // `substr` and `length` both count characters. `length` ends at a NUL; no text that is kept has one,
        // so none is equal to a text that does.
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

/// How many match, and the bodies of those on the page.
pub(super) fn page(
    reader: &Connection,
    of: &Whole,
    query: &PayrollQuery,
    known: &KnownMoments,
) -> rusqlite::Result<(u64, RecordBodies)> {
    let Some(place) = of.place else { return Ok((0, RecordBodies::default())) };
    if let (Some(filter), None) = (&query.filter, &query.order)
        && let Some(moments) = known.find(of)
        && let Some(part) = moments::part(filter, &moments).filter(|part| part.len() <= PART_MAX)
    {
        let ordinals = moments[part].iter().map(|(_, ordinal)| *ordinal).collect();
        return first_come(reader, place, ordinals, query);
    }
    let clause = Clause::of::<Sqlite>(query.filter.as_ref(), 1);
    let mut values = vec![Bound::Number(of.tenant_no)];
    values.extend(&clause.bound);
    let found = format!("FROM payroll_companies WHERE tenant_no = ?1 AND ({})", clause.sql);
    if let (Some(filter), None) = (&query.filter, &query.order) {
        let ordinals = numbers(reader, &format!("SELECT ordinal {found}"), &values)?;
        if moments::part(filter, &[]).is_some() {
            known.count(of, ordinals.len());
        }
        return first_come(reader, place, ordinals, query);
    }
    let total = if query.filter.is_some() {
        let count = numbers(reader, &format!("SELECT count(*) {found}"), &values)?;
        count.first().copied().map_or(0, unsigned)
    } else {
        of.all.live
    };
    if query.offset >= total {
        return Ok((total, RecordBodies::default()));
    }
    // A sign before a column keeps its index from being walked for the order's sake.
    let sign = if is_walk(query.filter.as_ref(), query.order.as_ref()) { "" } else { "+" };
    let (columns, at) = (columns(query.order.as_ref()), values.len());
    let sql = format!("SELECT ordinal {found} ORDER BY {sign}{columns} LIMIT ?{} OFFSET ?{}", at + 1, at + 2);
    let rows_max = i64::try_from(query.rows_max).unwrap_or(i64::MAX);
    values.extend([Bound::Number(rows_max), Bound::Number(signed(query.offset))]);
    Ok((total, bodies(reader, place, &numbers(reader, &sql, &values)?)?))
}

/// The total of those that match and their page, in order of creation. One look has given both: numbers are sorted here
/// in a fraction of SQLite's time, and only as far as the page goes.
fn first_come(
    reader: &Connection,
    place: PlaceNo,
    mut ordinals: Vec<i64>,
    query: &PayrollQuery,
) -> rusqlite::Result<(u64, RecordBodies)> {
    let from = usize::try_from(query.offset).unwrap_or(usize::MAX).min(ordinals.len());
    let to = from.saturating_add(query.rows_max).min(ordinals.len());
    if to < ordinals.len() {
        ordinals.select_nth_unstable(to);
    }
    ordinals[..to].sort_unstable();
    Ok((ordinals.len() as u64, bodies(reader, place, &ordinals[from..to])?))
}

fn numbers(reader: &Connection, sql: &str, values: &[Bound<'_>]) -> rusqlite::Result<Vec<i64>> {
    let read =
        |find: &mut Statement<'_>| find.query_map(params_from_iter(values), |row| row.get(0))?.collect();
    if values.len() <= BOUND_KEPT_MAX {
        read(&mut *reader.prepare_cached(sql)?)
    } else {
        read(&mut reader.prepare(sql)?)
    }
}

fn bodies(reader: &Connection, place: PlaceNo, ordinals: &[i64]) -> rusqlite::Result<RecordBodies> {
    let mut find = reader.prepare_cached("SELECT body FROM records WHERE row = ?1")?;
    let mut bodies = RecordBodies::with_room_for(ordinals.len());
    for ordinal in ordinals {
        find.raw_bind_parameter(1, place.row(unsigned(*ordinal)))?;
        let mut rows = find.raw_query();
        if let Some(row) = rows.next()? {
            bodies.push(row.get_ref(0)?.as_bytes()?);
        }
    }
    Ok(bodies)
}
