//! Who read what in SQLite.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use domain::{ClientId, TenantId};
use rusqlite::{Connection, OptionalExtension, params};

use super::rows::{parse, tenant_no};
use super::{SqliteStore, store_error};
use crate::reads::{
    Hours, ReadColumn, ReadRowKey, add_hours, additions, growing_days, pack_hours, unpack_hours, within_bound,
};
use crate::{READ_KEYS_MAX, ReadCount, ReadPage, ReadQuery, Reads, Result};

const KEY: &str = "tenant_no = ?1 AND day = ?2 AND client_id = ?3 AND resource = ?4 AND company = ?5";

fn find_hours(writer: &Connection, key: &ReadRowKey) -> Result<Option<Hours>> {
    let ReadRowKey { tenant_no, day, client, resource, company } = key;
    let packed: Option<Vec<u8>> = writer
        .prepare_cached(&format!("SELECT hours FROM reads WHERE {KEY}"))
        .and_then(|mut find| {
            find.query_row(params![tenant_no, day, client.as_str(), resource, company], |row| row.get(0))
                .optional()
        })
        .map_err(store_error)?;
    packed.as_deref().map(unpack_hours).transpose()
}

fn put_hours(writer: &Connection, key: &ReadRowKey, hours: &Hours) -> Result<()> {
    let ReadRowKey { tenant_no, day, client, resource, company } = key;
    writer
        .prepare_cached(
            "INSERT OR REPLACE INTO reads (tenant_no, day, client_id, resource, company, hours)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )
        .and_then(|mut put| {
            put.execute(params![tenant_no, day, client.as_str(), resource, company, pack_hours(hours)])
        })
        .map(drop)
        .map_err(store_error)
}

/// The rows of a tenant and day, counted up to the bound.
fn size_of_day(writer: &Connection, tenant_no: i64, day: i64) -> Result<usize> {
    let rows_max = i64::try_from(READ_KEYS_MAX).unwrap_or(i64::MAX);
    let size: i64 = writer
        .prepare_cached(
            "SELECT count(*) FROM (SELECT 1 FROM reads NOT INDEXED WHERE tenant_no = ?1 AND day = ?2 LIMIT ?3)",
        )
        .and_then(|mut count| count.query_row([tenant_no, day, rows_max], |row| row.get(0)))
        .map_err(store_error)?;
    Ok(usize::try_from(size).unwrap_or(usize::MAX))
}

fn add(writer: &Connection, counts: &[ReadCount]) -> Result<()> {
    let mut tenant_nos: HashMap<TenantId, i64> = HashMap::new();
    for count in counts {
        if !tenant_nos.contains_key(&count.tenant)
            && let Some(number) = tenant_no(writer, &count.tenant)?
        {
            tenant_nos.insert(count.tenant.clone(), number);
        }
    }
    let rows = additions(counts, &tenant_nos);
    let mut stored = HashSet::new();
    for key in rows.keys() {
        if find_hours(writer, key)?.is_some() {
            stored.insert(key.clone());
        }
    }
    let mut sizes = HashMap::new();
    for (tenant_no, day) in growing_days(&rows, &stored) {
        sizes.insert((tenant_no, day), size_of_day(writer, tenant_no, day)?);
    }
    for (key, mut hours) in within_bound(rows, &stored, &sizes) {
        if let Some(before) = find_hours(writer, &key)? {
            add_hours(&mut hours, &before);
        }
        put_hours(writer, &key, &hours)?;
    }
    Ok(())
}

/// Whether any tenant has reads before a day; one look per tenant.
pub(super) fn has_expired(reader: &Connection, before_day: i64) -> Result<bool> {
    reader
        .prepare_cached(&format!("SELECT EXISTS ({EXPIRED})"))
        .and_then(|mut find| find.query_row([before_day], |row| row.get(0)))
        .map_err(store_error)
}

const EXPIRED: &str = "SELECT r.tenant_no, r.day, r.client_id, r.resource, r.company
    FROM heads h CROSS JOIN reads r NOT INDEXED WHERE r.tenant_no = h.tenant_no AND r.day < ?1";

/// Deletes up to `rows_max` rows from before a day.
pub(super) fn expire(writer: &Connection, before_day: i64, rows_max: i64) -> Result<usize> {
    writer
        .prepare_cached(&format!(
            "DELETE FROM reads WHERE (tenant_no, day, client_id, resource, company) IN ({EXPIRED} LIMIT ?2)"
        ))
        .and_then(|mut delete| delete.execute([before_day, rows_max]))
        .map_err(store_error)
}

/// The index, its condition, and the columns that follow in it with the parameters of the start.
fn range(leading: Option<ReadColumn>) -> [&'static str; 4] {
    match leading {
        None => ["NOT INDEXED", "", "day, client_id, resource, company", "?2, ?3, ?4, ?5"],
        Some(ReadColumn::Client) => {
            ["INDEXED BY reads_by_client", "AND client_id = ?3", "day, resource, company", "?2, ?4, ?5"]
        }
        Some(ReadColumn::Resource) => {
            ["INDEXED BY reads_by_resource", "AND resource = ?4", "day, client_id, company", "?2, ?3, ?5"]
        }
        Some(ReadColumn::Company) => {
            ["INDEXED BY reads_by_company", "AND company = ?5", "day, client_id, resource", "?2, ?3, ?4"]
        }
    }
}

#[async_trait]
impl Reads for SqliteStore {
    async fn add_reads(&self, counts: &[ReadCount]) -> Result<()> {
        let counts = counts.to_vec();
        self.write(move |writer| add(writer, &counts)).await
    }

    async fn list_reads(&self, query: &ReadQuery) -> Result<ReadPage> {
        let [index, condition, columns, start] = range(query.leading());
        let order = columns.replace(',', " DESC,");
        let sql = format!(
            "SELECT tenant_no, day, client_id, resource, company, hours FROM reads {index}
             WHERE tenant_no = ?1 {condition} AND ({columns}) < ({start}) AND day >= ?6
             AND (?7 IS NULL OR client_id = ?7) AND (?8 IS NULL OR resource = ?8) AND (?9 IS NULL OR company = ?9)
             ORDER BY {order} DESC LIMIT ?10"
        );
        let ReadRowKey { day, client, resource, company, .. } = query.start();
        self.read_fresh_snapshot(|reader| {
            let Some(tenant_no) = tenant_no(reader, &query.tenant)? else { return Ok(ReadPage::default()) };
            let mut find = reader.prepare_cached(&sql).map_err(store_error)?;
            let found = find.query_map(
                params![
                    tenant_no,
                    day,
                    client.as_str(),
                    resource,
                    company,
                    query.since(),
                    query.client.as_ref().map(ClientId::as_str),
                    query.target.map(crate::ReadTarget::code),
                    query.company,
                    query.limit()
                ],
                parse::<(ReadRowKey, Vec<u8>)>,
            );
            let mut rows = Vec::new();
            for row in found.map_err(store_error)? {
                let (key, hours) = row.map_err(store_error)?;
                rows.push(key.into_row(unpack_hours(&hours)?)?);
            }
            Ok(query.page(rows))
        })
    }
}
