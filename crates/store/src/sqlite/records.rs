//! Records and pages in SQLite.

use std::sync::LazyLock;

use async_trait::async_trait;
use domain::{Resource, TenantId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::collection_numbers::CollectionNo;
use super::last_update_index::{self, LastUpdateIndexes};
use super::reader::{CollectionState, Reader};
use super::rows::parse;
use super::{SqliteStore, payroll, store_error};
use crate::plan::{CollectionCounters, unsigned};
use crate::records::{Start, locate};
use crate::rows::{Columns, SqliteRow};
use crate::{
    CollectionSize, CollectionVersion, Page, PageQuery, PayrollQuery, Record, RecordBodies, Records, Result,
    StoreError,
};

/// A statement for the tenant's own records and one for a company's records. Both are composed once, from
/// constants, around a subquery that finds (tenant number, company number). A company's number is in its row
/// number, at the end of the index, so the index alone finds it.
struct ByOwner {
    of_tenant: String,
    of_company: String,
}

impl ByOwner {
    fn new(rest: &str) -> Self {
        let companies = Resource::companies().code();
        let tenant =
            "SELECT t.no AS tenant_no, 0 AS company_no FROM tenants t WHERE t.id = ?1 AND ?2 IS NULL";
        let company = format!(
            "SELECT t.no AS tenant_no, k.row & 4294967295 AS company_no FROM tenants t
             JOIN records k INDEXED BY records_by_id ON k.tenant_no = t.no AND k.correlation_id = ?2
                 AND k.company_no = 0 AND k.resource = {companies}
             WHERE t.id = ?1"
        );
        let of = |owner: &str| rest.replace("{owner}", owner);
        Self { of_tenant: of(tenant), of_company: of(&company) }
    }

    fn sql(&self, company: Option<&str>) -> &str {
        if company.is_some() { &self.of_company } else { &self.of_tenant }
    }
}

static COLLECTION_STATE: LazyLock<ByOwner> = LazyLock::new(|| {
    ByOwner::new(
        "SELECT o.tenant_no, o.company_no, h.head, c.next_ordinal, c.live, c.version, p.no AS number FROM ({owner}) o
         JOIN heads h ON h.tenant_no = o.tenant_no
         LEFT JOIN collections c ON c.tenant_no = o.tenant_no AND c.company_no = o.company_no AND c.resource = ?3
         LEFT JOIN places p ON p.tenant_no = o.tenant_no AND p.company_no = o.company_no AND p.resource = ?3",
    )
});
static RECORD: LazyLock<ByOwner> = LazyLock::new(|| {
    ByOwner::new(
        "SELECT r.body, r.sequence FROM ({owner}) o JOIN records r ON r.tenant_no = o.tenant_no
         AND r.company_no = o.company_no AND r.resource = ?3 AND r.correlation_id = ?4",
    )
});

static GUID: LazyLock<ByOwner> = LazyLock::new(|| {
    ByOwner::new(
        "SELECT id FROM (
             SELECT r.correlation_id AS id, 0 AS place FROM ({owner}) o
             JOIN records r INDEXED BY records_by_id ON r.tenant_no = o.tenant_no AND r.correlation_id = ?4
                 AND r.company_no = o.company_no AND r.resource = ?3
             UNION ALL
             SELECT r.correlation_id, r.ordinal FROM ({owner}) o
             JOIN records r INDEXED BY records_by_lower_id ON r.tenant_no = o.tenant_no
                 AND lower(r.correlation_id) = ?4 AND r.company_no = o.company_no AND r.resource = ?3
                 AND length(r.correlation_id) = 36 AND r.correlation_id <> lower(r.correlation_id))
         ORDER BY place LIMIT 1",
    )
});

static SIZES: LazyLock<ByOwner> = LazyLock::new(|| {
    ByOwner::new(
        "SELECT c.resource, c.live FROM ({owner}) o
         LEFT JOIN collections c ON c.tenant_no = o.tenant_no AND c.company_no = o.company_no ORDER BY c.resource",
    )
});

/// None if the tenant or the company does not exist.
fn collection_state(
    reader: &Reader,
    tenant: &TenantId,
    company: Option<&str>,
    resource: Resource,
) -> Result<Option<CollectionState>> {
    let read = |row: &Row<'_>| {
        let counters = parse::<Option<CollectionCounters>>(row)?.unwrap_or_default();
        let row = SqliteRow::new(row);
        Ok(CollectionState {
            tenant_no: row.read("tenant_no")?,
            company_no: row.read("company_no")?,
            head: row.read("head")?,
            number: row.read::<Option<i64>>("number")?.map(CollectionNo),
            counters,
        })
    };
    reader.collection_state(tenant, company, resource, |connection| {
        connection
            .prepare_cached(COLLECTION_STATE.sql(company))
            .and_then(|mut find| {
                find.query_row(params![tenant.as_str(), company, resource.code()], read).optional()
            })
            .map_err(store_error)
    })
}

fn start(reader: &Connection, state: &CollectionState, query: &PageQuery) -> rusqlite::Result<Start> {
    if state.counters.live + 1 == state.counters.next_ordinal {
        return Ok(locate(query.offset, []));
    }
    let gaps: Vec<(u64, u64)> = reader
        .prepare_cached(
            "SELECT block, dead FROM gaps WHERE tenant_no = ?1 AND company_no = ?2 AND resource = ?3 ORDER BY block",
        )?
        .query_map(params![state.tenant_no, state.company_no, query.resource.code()], |row| {
            Ok((unsigned(row.get(0)?), unsigned(row.get(1)?)))
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(locate(query.offset, gaps))
}

fn bodies(reader: &Connection, state: &CollectionState, query: &PageQuery) -> rusqlite::Result<RecordBodies> {
    let Some(number) = state.number.filter(|_| query.offset < state.counters.live) else {
        return Ok(RecordBodies::default());
    };
    let start = start(reader, state, query)?;
    let mut read =
        reader.prepare_cached("SELECT body FROM records WHERE row BETWEEN ?1 AND ?2 ORDER BY row")?;
    let mut rows = read.query([number.row(start.ordinal), number.last_row()])?;
    for _ in 0..start.skip {
        rows.next()?;
    }
    let mut bodies = RecordBodies::with_capacity(query.rows_max);
    // Counting here is faster than a SQL LIMIT, which SQLite evaluates per row.
    while bodies.len() < query.rows_max
        && let Some(row) = rows.next()?
    {
        bodies.push(row.get_ref(0)?.as_bytes()?);
    }
    Ok(bodies)
}

fn payroll_page(reader: &Reader, query: &PayrollQuery, known: &LastUpdateIndexes) -> Result<Page> {
    let found = collection_state(reader, &query.tenant, None, Resource::payroll_companies())?;
    let Some(state) = found else {
        return Err(StoreError::UnknownTenant(query.tenant.as_str().to_owned()));
    };
    let (total, bodies) = payroll::page(reader, &state, query, known).map_err(store_error)?;
    Ok(Page { bodies, total, version: state.counters.version, head: state.head })
}

impl SqliteStore {
    /// Builds a tenant's last-update index on a blocking thread, unless too many searches are running.
    fn build_last_update_index(&self, tenant_no: i64) {
        let store = self.clone();
        tokio::task::spawn_blocking(move || {
            let Ok(_place) = store.inner.searches.try_acquire() else { return };
            let gathered = store
                .read_snapshot(|reader| last_update_index::build(reader, tenant_no).map_err(store_error));
            match gathered {
                Ok(Some((version, last_update_index))) => {
                    store.inner.last_update_index.store(tenant_no, version, &last_update_index);
                }
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, "building the last-update index failed"),
            }
        });
    }
}

#[async_trait]
impl Records for SqliteStore {
    async fn find_record(
        &self,
        tenant: &TenantId,
        company: Option<&str>,
        resource: Resource,
        correlation_id: &str,
    ) -> Result<Option<Record>> {
        self.read_snapshot(|reader| {
            reader
                .prepare_cached(RECORD.sql(company))
                .and_then(|mut find| {
                    find.query_row(
                        params![tenant.as_str(), company, resource.code(), correlation_id],
                        |row| Ok(Record { body: row.get(0)?, sequence: unsigned(row.get(1)?) }),
                    )
                    .optional()
                })
                .map_err(store_error)
        })
    }

    async fn find_guid(
        &self,
        tenant: &TenantId,
        company: Option<&str>,
        resource: Resource,
        lower_guid: &str,
    ) -> Result<Option<Box<str>>> {
        self.read_snapshot(|reader| {
            reader
                .prepare_cached(GUID.sql(company))
                .and_then(|mut find| {
                    let args = params![tenant.as_str(), company, resource.code(), lower_guid];
                    find.query_row(args, |row| row.get(0)).optional()
                })
                .map_err(store_error)
        })
    }

    async fn page(&self, query: &PageQuery) -> Result<Option<Page>> {
        self.read_snapshot(|reader| {
            let found = collection_state(reader, &query.tenant, query.company.as_deref(), query.resource)?;
            let Some(state) = found else { return Ok(None) };
            let bodies = bodies(reader, &state, query).map_err(store_error)?;
            Ok(Some(Page {
                bodies,
                total: state.counters.live,
                version: state.counters.version,
                head: state.head,
            }))
        })
    }

    async fn collection_version(
        &self,
        tenant: &TenantId,
        company: Option<&str>,
        resource: Resource,
    ) -> Result<Option<CollectionVersion>> {
        let found = self.read_snapshot(|reader| collection_state(reader, tenant, company, resource))?;
        Ok(found.map(|state| CollectionVersion { version: state.counters.version, head: state.head }))
    }

    async fn payroll_page(&self, query: &PayrollQuery) -> Result<Page> {
        let known = &self.inner.last_update_index;
        let page = self.read_with_budget(|reader| payroll_page(reader, query, known)).transpose();
        if let Some(tenant_no) = known.take_due() {
            self.build_last_update_index(tenant_no);
        }
        if let Some(page) = page {
            return page;
        }
        let _place = self.inner.searches.acquire().await.map_err(StoreError::internal)?;
        let (store, query) = (self.clone(), query.clone());
        let looking = tokio::task::spawn_blocking(move || {
            store.read_snapshot(|reader| payroll_page(reader, &query, &store.inner.last_update_index))
        });
        looking.await.map_err(StoreError::internal)?
    }

    async fn collection_sizes(
        &self,
        tenant: &TenantId,
        company: Option<&str>,
    ) -> Result<Option<Vec<CollectionSize>>> {
        let rows: Vec<Option<(i16, i64)>> = self.read(|reader| {
            let size = |row: &Row<'_>| {
                let resource: Option<i16> = row.get(0)?;
                resource.map(|resource| Ok((resource, row.get(1)?))).transpose()
            };
            reader
                .prepare_cached(SIZES.sql(company))
                .and_then(|mut find| find.query_map(params![tenant.as_str(), company], size)?.collect())
                .map_err(store_error)
        })?;
        Ok(CollectionSize::of_rows(rows))
    }

    async fn company_ids(&self, tenant: &TenantId, max: usize) -> Result<Vec<Box<str>>> {
        self.read(|reader| {
            reader
                .prepare_cached(
                    "SELECT r.correlation_id FROM tenants t
                     JOIN places p ON p.tenant_no = t.no AND p.company_no = 0 AND p.resource = ?2
                     CROSS JOIN records r ON r.row BETWEEN p.no << 32 AND (p.no << 32) + 4294967295
                     WHERE t.id = ?1 ORDER BY r.row LIMIT ?3",
                )
                .and_then(|mut find| {
                    let max = i64::try_from(max).unwrap_or(i64::MAX);
                    find.query_map(params![tenant.as_str(), Resource::companies().code(), max], |row| {
                        row.get(0)
                    })?
                    .collect()
                })
                .map_err(store_error)
        })
    }
}
