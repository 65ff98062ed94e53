//! Who read what in PostgreSQL.

use std::collections::{BTreeSet, HashMap, HashSet};

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::{ClientId, TenantId};
use tokio_postgres::Row;

use super::rows::{column, execute, limit, parse, rows};
use super::{PostgresStore, store_error};
use crate::reads::{
    Hours, ReadAdditions, ReadColumn, ReadRowKey, add_hours, additions, growing_days, pack_hours,
    unpack_hours, within_bound,
};
use crate::{READ_KEYS_MAX, ReadCount, ReadPage, ReadQuery, Reads, Result};

/// Keys as five arrays.
const KEYS: &str = "unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::text[])
    WITH ORDINALITY AS added(tenant_no, day, client_id, resource, company, place)";
const COLUMNS: &str = "tenant_no, day, client_id, resource, company";

/// Rows as the five arrays of their keys.
struct KeyArrays<'a> {
    tenant_nos: Vec<i64>,
    days: Vec<i64>,
    clients: Vec<&'a str>,
    resources: Vec<i64>,
    companies: Vec<&'a str>,
}

impl<'a> KeyArrays<'a> {
    fn of(keys: &'a [ReadRowKey]) -> Self {
        Self {
            tenant_nos: column(keys, |key| key.tenant_no),
            days: column(keys, |key| key.day),
            clients: column(keys, |key| key.client.as_str()),
            resources: column(keys, |key| key.resource),
            companies: column(keys, |key| &*key.company),
        }
    }
}

/// Locks the tenants, so that an erasure waits and its purge sees the new rows.
async fn find_tenant_nos(on: &Transaction<'_>, counts: &[ReadCount]) -> Result<HashMap<TenantId, i64>> {
    let ids: BTreeSet<&str> = counts.iter().map(|count| count.tenant.as_str()).collect();
    let ids: Vec<&str> = ids.into_iter().collect();
    let found =
        rows(on, "SELECT id, no FROM tenants WHERE id = ANY($1) ORDER BY id FOR KEY SHARE", &[&ids]).await?;
    Ok(found.iter().map(|row| (TenantId::new(row.get::<_, &str>(0)), row.get(1))).collect())
}

/// The place of a row among the keys, from the column `place`, which comes first.
fn place(row: &Row) -> Option<usize> {
    usize::try_from(row.get::<_, i64>(0) - 1).ok()
}

async fn find_stored(on: &Transaction<'_>, additions: &ReadAdditions) -> Result<HashSet<ReadRowKey>> {
    let all: Vec<ReadRowKey> = additions.keys().cloned().collect();
    let keys = KeyArrays::of(&all);
    let sql = format!("SELECT place FROM {KEYS} JOIN reads r USING ({COLUMNS})");
    let found =
        rows(on, &sql, &[&keys.tenant_nos, &keys.days, &keys.clients, &keys.resources, &keys.companies])
            .await?;
    Ok(found.iter().filter_map(place).filter_map(|place| all.get(place).cloned()).collect())
}

/// The rows of tenants and days, counted up to the bound.
async fn sizes_of(on: &Transaction<'_>, days: &BTreeSet<(i64, i64)>) -> Result<HashMap<(i64, i64), usize>> {
    let days: Vec<(i64, i64)> = days.iter().copied().collect();
    let sql = "SELECT d.tenant_no, d.day, s.size FROM unnest($1::bigint[], $2::bigint[]) AS d(tenant_no, day)
        CROSS JOIN LATERAL (SELECT count(*) AS size FROM (SELECT 1 FROM reads r
            WHERE r.tenant_no = d.tenant_no AND r.day = d.day LIMIT $3) counted) s";
    let (tenant_nos, numbers) = (column(&days, |(tenant_no, _)| *tenant_no), column(&days, |(_, day)| *day));
    let found = rows(on, sql, &[&tenant_nos, &numbers, &limit(READ_KEYS_MAX)]).await?;
    let size =
        |row: &Row| ((row.get(0), row.get(1)), usize::try_from(row.get::<_, i64>(2)).unwrap_or(usize::MAX));
    Ok(found.iter().map(size).collect())
}

/// Makes the rows that are missing, locks all in order, and writes the sums.
async fn write(on: &Transaction<'_>, additions: ReadAdditions) -> Result<()> {
    let (all, mut sums): (Vec<ReadRowKey>, Vec<Hours>) = additions.into_iter().unzip();
    let keys = KeyArrays::of(&all);
    let insert = format!(
        "INSERT INTO reads ({COLUMNS}, hours) SELECT {COLUMNS}, ''::bytea FROM {KEYS} ORDER BY place
         ON CONFLICT DO NOTHING"
    );
    execute(on, &insert, &[&keys.tenant_nos, &keys.days, &keys.clients, &keys.resources, &keys.companies])
        .await
        .map_err(store_error)?;
    let lock = format!(
        "SELECT place, r.hours FROM {KEYS} JOIN reads r USING ({COLUMNS}) ORDER BY place FOR UPDATE OF r"
    );
    let stored =
        rows(on, &lock, &[&keys.tenant_nos, &keys.days, &keys.clients, &keys.resources, &keys.companies])
            .await?;
    // Expiry may have deleted some of them meanwhile.
    for row in &stored {
        if let Some(sum) = place(row).and_then(|place| sums.get_mut(place)) {
            add_hours(sum, &unpack_hours(row.get(1))?);
        }
    }
    let sums = column(&sums, pack_hours);
    let put = format!(
        "INSERT INTO reads ({COLUMNS}, hours) SELECT {COLUMNS}, hours
         FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::bytea[])
             WITH ORDINALITY AS added({COLUMNS}, hours, place) ORDER BY place
         ON CONFLICT ({COLUMNS}) DO UPDATE SET hours = excluded.hours"
    );
    execute(
        on,
        &put,
        &[&keys.tenant_nos, &keys.days, &keys.clients, &keys.resources, &keys.companies, &sums],
    )
    .await
    .map_err(store_error)?;
    Ok(())
}

/// The columns of the index, and the parameters of the start in their order.
fn range(leading: Option<ReadColumn>) -> [&'static str; 3] {
    match leading {
        None => [
            "tenant_no, day, client_id, resource, company",
            "$1, $2, $3, $4, $5",
            "(tenant_no, day) >= ($1, $6)",
        ],
        Some(ReadColumn::Client) => [
            "tenant_no, client_id, day, resource, company",
            "$1, $3, $2, $4, $5",
            "(tenant_no, client_id, day) >= ($1, $3, $6)",
        ],
        Some(ReadColumn::Resource) => [
            "tenant_no, resource, day, client_id, company",
            "$1, $4, $2, $3, $5",
            "(tenant_no, resource, day) >= ($1, $4, $6)",
        ],
        Some(ReadColumn::Company) => [
            "tenant_no, company, day, client_id, resource",
            "$1, $5, $2, $3, $4",
            "(tenant_no, company, day) >= ($1, $5, $6)",
        ],
    }
}

impl PostgresStore {
    /// Deletes up to `rows_max` rows from before a day; one look per tenant.
    pub(super) async fn expire_reads(&self, before_day: i64, rows_max: usize) -> Result<usize> {
        let sql = format!(
            "DELETE FROM reads WHERE ({COLUMNS}) IN (SELECT old.* FROM heads h CROSS JOIN LATERAL (
                 SELECT {COLUMNS} FROM reads r WHERE r.tenant_no = h.tenant_no AND r.day < $1
                 ORDER BY tenant_no, day LIMIT $2) old LIMIT $2)"
        );
        self.delete(&sql, &[&before_day, &limit(rows_max)]).await
    }
}

#[async_trait]
impl Reads for PostgresStore {
    async fn add_reads(&self, counts: &[ReadCount]) -> Result<()> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let tenant_nos = find_tenant_nos(&transaction, counts).await?;
        let additions = additions(counts, &tenant_nos);
        if additions.is_empty() {
            return Ok(());
        }
        let stored = find_stored(&transaction, &additions).await?;
        let sizes = sizes_of(&transaction, &growing_days(&additions, &stored)).await?;
        write(&transaction, within_bound(additions, &stored, &sizes)).await?;
        transaction.commit().await.map_err(store_error)
    }

    async fn list_reads(&self, query: &ReadQuery) -> Result<ReadPage> {
        let found = self.row("SELECT no FROM tenants WHERE id = $1", &[&query.tenant.as_str()]).await?;
        let Some(tenant_no) = found.map(|row| row.get::<_, i64>(0)) else { return Ok(ReadPage::default()) };
        let [columns, start, end] = range(query.leading());
        let order = columns.replace(',', " DESC,");
        let sql = format!(
            "SELECT tenant_no, day, client_id, resource, company, hours FROM reads WHERE ({columns}) < ({start}) AND {end}
             AND ($7::text IS NULL OR client_id = $7) AND ($8::bigint IS NULL OR resource = $8)
             AND ($9::text IS NULL OR company = $9) ORDER BY {order} DESC LIMIT $10"
        );
        let ReadRowKey { day, client, resource, company, .. } = query.start();
        let found = self
            .rows(
                &sql,
                &[
                    &tenant_no,
                    &day,
                    &client.as_str(),
                    &resource,
                    &&*company,
                    &query.since(),
                    &query.client.as_ref().map(ClientId::as_str),
                    &query.target.map(|target| i64::from(target.code())),
                    &query.company.as_deref(),
                    &query.limit(),
                ],
            )
            .await?;
        let mut rows = Vec::with_capacity(found.len());
        for row in &found {
            let (key, hours): (ReadRowKey, Vec<u8>) = parse(row)?;
            rows.push(key.into_row(unpack_hours(&hours)?)?);
        }
        Ok(query.page(rows))
    }
}
