//! Records and pages in SQLite.

use std::sync::LazyLock;

use async_trait::async_trait;
use domain::{Resource, TenantId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::moments::{self, KnownMoments};
use super::places::PlaceNo;
use super::reader::{Reader, Whole};
use super::{SqliteStore, fault, payroll};
use crate::plan::{Collection, unsigned};
use crate::records::{Start, locate};
use crate::{
    CollectionVersion, Page, PageQuery, PayrollQuery, Record, RecordBodies, Records, Result, StoreError,
};

/// Statements for the tenant's own records and for those of a company. They start from the owner: (tenant's number,
/// company's number). A company is found by its id alone: the index ends in the row, and that in the number.
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

static WHOLE: LazyLock<ByOwner> = LazyLock::new(|| {
    ByOwner::new(
        "SELECT o.tenant_no, o.company_no, h.head, c.next_ordinal, c.live, c.version, p.no FROM ({owner}) o
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

/// None: no such tenant, or no such company.
fn whole(
    reader: &Reader,
    tenant: &TenantId,
    company: Option<&str>,
    resource: Resource,
) -> Result<Option<Whole>> {
    let read = |row: &Row<'_>| {
        let all = match row.get::<_, Option<i64>>(3)? {
            None => Collection::default(),
            Some(next) => Collection {
                next_ordinal: unsigned(next),
                live: unsigned(row.get(4)?),
                version: unsigned(row.get(5)?),
            },
        };
        let place = row.get::<_, Option<i64>>(6)?.map(PlaceNo);
        Ok(Whole { tenant_no: row.get(0)?, owner: row.get(1)?, place, all, head: unsigned(row.get(2)?) })
    };
    reader.whole(tenant, company, resource, |connection| {
        connection
            .prepare_cached(WHOLE.sql(company))
            .and_then(|mut find| {
                find.query_row(params![tenant.as_str(), company, resource.code()], read).optional()
            })
            .map_err(fault)
    })
}

fn start(reader: &Connection, of: &Whole, query: &PageQuery) -> rusqlite::Result<Start> {
    if of.all.live + 1 == of.all.next_ordinal {
        return Ok(locate(query.offset, []));
    }
    let gaps: Vec<(u64, u64)> = reader
        .prepare_cached(
            "SELECT block, dead FROM gaps WHERE tenant_no = ?1 AND company_no = ?2 AND resource = ?3 ORDER BY block",
        )?
        .query_map(params![of.tenant_no, of.owner, query.resource.code()], |row| {
            Ok((unsigned(row.get(0)?), unsigned(row.get(1)?)))
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(locate(query.offset, gaps))
}

fn bodies(reader: &Connection, of: &Whole, query: &PageQuery) -> rusqlite::Result<RecordBodies> {
    let Some(place) = of.place.filter(|_| query.offset < of.all.live) else {
        return Ok(RecordBodies::default());
    };
    let start = start(reader, of, query)?;
    let mut read =
        reader.prepare_cached("SELECT body FROM records WHERE row BETWEEN ?1 AND ?2 ORDER BY row")?;
    let mut rows = read.query([place.row(start.ordinal), place.last_row()])?;
    for _ in 0..start.skip {
        rows.next()?;
    }
    let mut bodies = RecordBodies::with_room_for(query.rows_max);
    // The page's length ends the walk: a limit of SQLite's own would be counted row by row.
    while bodies.len() < query.rows_max
        && let Some(row) = rows.next()?
    {
        bodies.push(row.get_ref(0)?.as_bytes()?);
    }
    Ok(bodies)
}

fn payroll_page(reader: &Reader, query: &PayrollQuery, known: &KnownMoments) -> Result<Page> {
    let found = whole(reader, &query.tenant, None, Resource::payroll_companies())?;
    let Some(of) = found else {
        return Err(StoreError::UnknownTenant(query.tenant.as_str().to_owned()));
    };
    let (total, bodies) = payroll::page(reader, &of, query, known).map_err(fault)?;
    Ok(Page { bodies, total, version: of.all.version, head: of.head })
}

impl SqliteStore {
    /// Gathers a tenant's moments aside, for searches to come; where too many search already, not now.
    fn gather_moments(&self, tenant_no: i64) {
        let store = self.clone();
        tokio::task::spawn_blocking(move || {
            let Ok(_place) = store.inner.searches.try_acquire() else { return };
            let gathered = store.view(|reader| moments::gather(reader, tenant_no).map_err(fault));
            match gathered {
                Ok(Some((version, moments))) => store.inner.moments.keep(tenant_no, version, &moments),
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, "moments could not be gathered"),
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
        self.view(|reader| {
            reader
                .prepare_cached(RECORD.sql(company))
                .and_then(|mut find| {
                    find.query_row(
                        params![tenant.as_str(), company, resource.code(), correlation_id],
                        |row| Ok(Record { body: row.get(0)?, sequence: unsigned(row.get(1)?) }),
                    )
                    .optional()
                })
                .map_err(fault)
        })
    }

    async fn page(&self, query: &PageQuery) -> Result<Option<Page>> {
        self.view(|reader| {
            let found = whole(reader, &query.tenant, query.company.as_deref(), query.resource)?;
            let Some(of) = found else { return Ok(None) };
            let bodies = bodies(reader, &of, query).map_err(fault)?;
            Ok(Some(Page { bodies, total: of.all.live, version: of.all.version, head: of.head }))
        })
    }

    async fn collection_version(
        &self,
        tenant: &TenantId,
        company: Option<&str>,
        resource: Resource,
    ) -> Result<Option<CollectionVersion>> {
        let found = self.view(|reader| whole(reader, tenant, company, resource))?;
        Ok(found.map(|whole| CollectionVersion { version: whole.all.version, head: whole.head }))
    }

    async fn payroll_page(&self, query: &PayrollQuery) -> Result<Page> {
        let known = &self.inner.moments;
        let page = self.glance(|reader| payroll_page(reader, query, known)).transpose();
        if let Some(tenant_no) = known.take_due() {
            self.gather_moments(tenant_no);
        }
        if let Some(page) = page {
            return page;
        }
        let _place = self.inner.searches.acquire().await.map_err(StoreError::internal)?;
        let (store, query) = (self.clone(), query.clone());
        let looking = tokio::task::spawn_blocking(move || {
            store.view(|reader| payroll_page(reader, &query, &store.inner.moments))
        });
        looking.await.map_err(StoreError::internal)?
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
                .map_err(fault)
        })
    }
}
