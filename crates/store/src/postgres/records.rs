//! Records and pages in PostgreSQL.

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::{Resource, TenantId};
use tokio_postgres::Row;

use super::rows::{Args, code, limit, parse, row, small, snapshot};
use super::{PostgresStore, payroll, store_error};
use crate::plan::{CollectionCounters, NO_COMPANY, signed, unsigned};
use crate::records::{Start, locate};
use crate::rows::Columns;
use crate::{
    CollectionSize, CollectionVersion, OperationClass, Page, PageQuery, PayrollQuery, Record, RecordBodies,
    Records, Result, StoreError,
};

/// The numbers of the tenant and the owning company, from which most statements start.
const OWNER: &str = "SELECT t.no AS tenant_no, h.head,
        CASE WHEN $2::text IS NULL THEN 0 ELSE (SELECT c.ordinal FROM records c
            WHERE c.tenant_no = t.no AND c.correlation_id = $2 AND c.company_no + 0 = 0 AND c.resource + 0 = $3) END AS company_no
    FROM tenants t JOIN heads h ON h.tenant_no = t.no WHERE t.id = $1";

/// A collection's numbers and counters; `company_no` is none if the company does not exist.
struct CollectionState {
    tenant_no: i64,
    company_no: Option<i64>,
    counters: CollectionCounters,
    head: u64,
}

/// None if the tenant does not exist.
async fn collection_state(
    snapshot: &Transaction<'_>,
    tenant: &TenantId,
    company: Option<&str>,
    resource: Resource,
) -> Result<Option<CollectionState>> {
    let args: Args<'_> = &[&tenant.as_str(), &company, &code(Resource::companies()), &code(resource)];
    row(snapshot, &collection_state_sql(), args).await?.as_ref().map(CollectionState::of).transpose()
}

fn collection_state_sql() -> String {
    format!(
        "SELECT o.tenant_no, o.company_no, o.head, c.next_ordinal, c.live, c.version FROM ({OWNER}) o
         LEFT JOIN collections c ON c.tenant_no = o.tenant_no AND c.company_no = o.company_no
             AND c.resource = $4"
    )
}

impl CollectionState {
    fn of(row: &Row) -> Result<Self> {
        Ok(Self {
            tenant_no: row.read("tenant_no")?,
            company_no: row.read("company_no")?,
            counters: parse::<Option<CollectionCounters>>(row)?.unwrap_or_default(),
            head: row.read("head")?,
        })
    }
}

async fn start(
    snapshot: &Transaction<'_>,
    (tenant_no, company_no): (i64, i64),
    resource: Resource,
    counters: CollectionCounters,
    offset: u64,
) -> Result<Start> {
    if counters.live + 1 == counters.next_ordinal {
        return Ok(locate(offset, []));
    }
    let gaps = snapshot
        .prepare_cached(
            "SELECT block, dead FROM gaps WHERE tenant_no = $1 AND company_no = $2 AND resource = $3 ORDER BY block",
        )
        .await
        .map_err(store_error)?;
    let gaps =
        snapshot.query(&gaps, &[&tenant_no, &company_no, &code(resource)]).await.map_err(store_error)?;
    let gaps = gaps.iter().map(|row| (unsigned(row.get(0)), unsigned(row.get(1))));
    Ok(locate(offset, gaps))
}

async fn bodies(
    snapshot: &Transaction<'_>,
    query: &PageQuery,
    (tenant_no, company_no): (i64, i64),
    counters: CollectionCounters,
) -> Result<RecordBodies> {
    let start = start(snapshot, (tenant_no, company_no), query.resource, counters, query.offset).await?;
    let read = snapshot
        .prepare_cached(
            "SELECT body FROM records WHERE tenant_no = $1 AND company_no = $2 AND resource = $3
             AND ordinal >= $4 ORDER BY ordinal LIMIT $5 OFFSET $6",
        )
        .await
        .map_err(store_error)?;
    let args: Args<'_> = &[
        &tenant_no,
        &company_no,
        &code(query.resource),
        &signed(start.ordinal),
        &limit(query.rows_max),
        &signed(start.skip),
    ];
    let rows = snapshot.query(&read, args).await.map_err(store_error)?;
    Ok(rows.iter().map(|row| row.get::<_, &str>(0)).collect())
}

#[async_trait]
impl Records for PostgresStore {
    async fn find_record(
        &self,
        tenant: &TenantId,
        company: Option<&str>,
        resource: Resource,
        correlation_id: &str,
    ) -> Result<Option<Record>> {
        let row = self
            .row(
                &format!(
                    "SELECT r.body, r.sequence FROM ({OWNER}) o JOIN records r ON r.tenant_no = o.tenant_no
                     AND r.correlation_id = $5 AND r.company_no + 0 = o.company_no AND r.resource + 0 = $4"
                ),
                &[&tenant.as_str(), &company, &code(Resource::companies()), &code(resource), &correlation_id],
            )
            .await?;
        Ok(row.map(|row| Record { body: row.get(0), sequence: unsigned(row.get(1)) }))
    }

    async fn find_guid(
        &self,
        tenant: &TenantId,
        company: Option<&str>,
        resource: Resource,
        lower_guid: &str,
    ) -> Result<Option<Box<str>>> {
        let sql = format!(
            "SELECT g.id FROM ({OWNER}) o CROSS JOIN LATERAL (
                 SELECT r.correlation_id AS id, 0 AS place FROM records r WHERE r.tenant_no = o.tenant_no
                     AND r.correlation_id = $5 AND r.company_no + 0 = o.company_no AND r.resource + 0 = $4
                 UNION ALL
                 SELECT r.correlation_id, r.ordinal FROM records r WHERE r.tenant_no = o.tenant_no
                     AND lower(r.correlation_id) = $5 AND length(r.correlation_id) = 36
                     AND r.correlation_id <> lower(r.correlation_id)
                     AND r.company_no + 0 = o.company_no AND r.resource + 0 = $4) g
             ORDER BY g.place LIMIT 1"
        );
        let args: Args<'_> =
            &[&tenant.as_str(), &company, &code(Resource::companies()), &code(resource), &lower_guid];
        Ok(self.row(&sql, args).await?.map(|row| row.get(0)))
    }

    async fn page(&self, query: &PageQuery) -> Result<Option<Page>> {
        let mut client = self.lend(OperationClass::Query).await?;
        let snapshot = snapshot(&mut client).await?;
        let company = query.company.as_deref();
        let Some(state) = collection_state(&snapshot, &query.tenant, company, query.resource).await? else {
            return Ok(None);
        };
        let CollectionState { tenant_no, company_no: Some(company_no), counters, head } = state else {
            return Ok(None);
        };
        let bodies = if query.offset >= counters.live {
            RecordBodies::default()
        } else {
            bodies(&snapshot, query, (tenant_no, company_no), counters).await?
        };
        Ok(Some(Page { bodies, total: counters.live, version: counters.version, head }))
    }

    async fn collection_version(
        &self,
        tenant: &TenantId,
        company: Option<&str>,
        resource: Resource,
    ) -> Result<Option<CollectionVersion>> {
        let args: Args<'_> = &[&tenant.as_str(), &company, &code(Resource::companies()), &code(resource)];
        let found = self.row(&collection_state_sql(), args).await?;
        let found = found.as_ref().map(CollectionState::of).transpose()?;
        let there = found.filter(|state| state.company_no.is_some());
        Ok(there.map(|state| CollectionVersion { version: state.counters.version, head: state.head }))
    }

    async fn payroll_page(&self, query: &PayrollQuery) -> Result<Page> {
        let mut client = self.lend(OperationClass::Query).await?;
        let snapshot = snapshot(&mut client).await?;
        let Some(state) =
            collection_state(&snapshot, &query.tenant, None, Resource::payroll_companies()).await?
        else {
            return Err(StoreError::UnknownTenant(query.tenant.as_str().to_owned()));
        };
        let CollectionState { tenant_no, counters, head, .. } = state;
        let (total, bodies) = payroll::page(&snapshot, tenant_no, counters, query).await?;
        Ok(Page { bodies, total, version: counters.version, head })
    }

    async fn collection_sizes(
        &self,
        tenant: &TenantId,
        company: Option<&str>,
    ) -> Result<Option<Vec<CollectionSize>>> {
        let sql = format!(
            "SELECT c.resource, c.live FROM ({OWNER}) o LEFT JOIN collections c ON c.tenant_no = o.tenant_no
             AND c.company_no = o.company_no WHERE o.company_no IS NOT NULL ORDER BY c.resource"
        );
        let found = self.rows(&sql, &[&tenant.as_str(), &company, &code(Resource::companies())]).await?;
        let size = |row: &Row| row.get::<_, Option<i64>>(0).map(|resource| (small(resource), row.get(1)));
        Ok(CollectionSize::of_rows(found.iter().map(size).collect()))
    }

    async fn company_ids(&self, tenant: &TenantId, max: usize) -> Result<Vec<Box<str>>> {
        let rows = self
            .rows(
                "SELECT correlation_id FROM records WHERE tenant_no = (SELECT no FROM tenants WHERE id = $1)
                 AND company_no = $2 AND resource = $3 ORDER BY ordinal LIMIT $4",
                &[&tenant.as_str(), &NO_COMPANY, &code(Resource::companies()), &limit(max)],
            )
            .await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }
}
