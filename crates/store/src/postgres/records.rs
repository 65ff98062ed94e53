//! Records and pages in PostgreSQL.

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::{Resource, TenantId};
use tokio_postgres::Row;

use super::rows::{Args, code, limit, row, snapshot};
use super::{PostgresStore, fault, payroll};
use crate::plan::{Collection, TENANT, signed, unsigned};
use crate::records::{Start, locate};
use crate::{
    CollectionVersion, Page, PageQuery, PayrollQuery, Record, RecordBodies, Records, Result, StoreError,
};

/// The tenant's and the owning company's number: what most statements here start from.
const OWNER: &str = "SELECT t.no AS tenant_no, h.head,
        CASE WHEN $2::text IS NULL THEN 0 ELSE (SELECT c.ordinal FROM records c
            WHERE c.tenant_no = t.no AND c.correlation_id = $2 AND c.company_no + 0 = 0 AND c.resource + 0 = $3) END AS company_no
    FROM tenants t JOIN heads h ON h.tenant_no = t.no WHERE t.id = $1";

/// A collection as a whole, and where it is; without an owner where there is no such company.
struct Whole {
    tenant_no: i64,
    owner: Option<i64>,
    all: Collection,
    head: u64,
}

/// None: no such tenant.
async fn whole(
    snapshot: &Transaction<'_>,
    tenant: &TenantId,
    company: Option<&str>,
    resource: Resource,
) -> Result<Option<Whole>> {
    let args: Args<'_> = &[&tenant.as_str(), &company, &code(Resource::companies()), &code(resource)];
    Ok(row(snapshot, &whole_sql(), args).await?.as_ref().map(Whole::of))
}

fn whole_sql() -> String {
    format!(
        "SELECT o.tenant_no, o.company_no, o.head, c.next_ordinal, c.live, c.version FROM ({OWNER}) o
         LEFT JOIN collections c ON c.tenant_no = o.tenant_no AND c.company_no = o.company_no
             AND c.resource = $4"
    )
}

impl Whole {
    fn of(row: &Row) -> Self {
        Self {
            tenant_no: row.get(0),
            owner: row.get(1),
            all: row.get::<_, Option<i64>>(3).map_or_else(Collection::default, |next| Collection {
                next_ordinal: unsigned(next),
                live: unsigned(row.get(4)),
                version: unsigned(row.get(5)),
            }),
            head: unsigned(row.get(2)),
        }
    }
}

async fn start(
    snapshot: &Transaction<'_>,
    (tenant_no, owner): (i64, i64),
    resource: Resource,
    all: Collection,
    offset: u64,
) -> Result<Start> {
    if all.live + 1 == all.next_ordinal {
        return Ok(locate(offset, []));
    }
    let gaps = snapshot
        .prepare_cached(
            "SELECT block, dead FROM gaps WHERE tenant_no = $1 AND company_no = $2 AND resource = $3 ORDER BY block",
        )
        .await
        .map_err(fault)?;
    let gaps = snapshot.query(&gaps, &[&tenant_no, &owner, &code(resource)]).await.map_err(fault)?;
    let gaps = gaps.iter().map(|row| (unsigned(row.get(0)), unsigned(row.get(1))));
    Ok(locate(offset, gaps))
}

async fn bodies(
    snapshot: &Transaction<'_>,
    query: &PageQuery,
    (tenant_no, owner): (i64, i64),
    all: Collection,
) -> Result<RecordBodies> {
    let start = start(snapshot, (tenant_no, owner), query.resource, all, query.offset).await?;
    let read = snapshot
        .prepare_cached(
            "SELECT body FROM records WHERE tenant_no = $1 AND company_no = $2 AND resource = $3
             AND ordinal >= $4 ORDER BY ordinal LIMIT $5 OFFSET $6",
        )
        .await
        .map_err(fault)?;
    let args: Args<'_> = &[
        &tenant_no,
        &owner,
        &code(query.resource),
        &signed(start.ordinal),
        &limit(query.rows_max),
        &signed(start.skip),
    ];
    let rows = snapshot.query(&read, args).await.map_err(fault)?;
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

    async fn page(&self, query: &PageQuery) -> Result<Option<Page>> {
        let mut client = self.client().await?;
        let snapshot = snapshot(&mut client).await?;
        let company = query.company.as_deref();
        let Some(whole) = whole(&snapshot, &query.tenant, company, query.resource).await? else {
            return Ok(None);
        };
        let Whole { tenant_no, owner: Some(owner), all, head } = whole else {
            return Ok(None);
        };
        let bodies = if query.offset >= all.live {
            RecordBodies::default()
        } else {
            bodies(&snapshot, query, (tenant_no, owner), all).await?
        };
        Ok(Some(Page { bodies, total: all.live, version: all.version, head }))
    }

    async fn collection_version(
        &self,
        tenant: &TenantId,
        company: Option<&str>,
        resource: Resource,
    ) -> Result<Option<CollectionVersion>> {
        let args: Args<'_> = &[&tenant.as_str(), &company, &code(Resource::companies()), &code(resource)];
        let found = self.row(&whole_sql(), args).await?.as_ref().map(Whole::of);
        let there = found.filter(|whole| whole.owner.is_some());
        Ok(there.map(|whole| CollectionVersion { version: whole.all.version, head: whole.head }))
    }

    async fn payroll_page(&self, query: &PayrollQuery) -> Result<Page> {
        let mut client = self.client().await?;
        let snapshot = snapshot(&mut client).await?;
        let Some(whole) = whole(&snapshot, &query.tenant, None, Resource::payroll_companies()).await? else {
            return Err(StoreError::UnknownTenant(query.tenant.as_str().to_owned()));
        };
        let Whole { tenant_no, all, head, .. } = whole;
        let (total, bodies) = payroll::page(&snapshot, tenant_no, all, query).await?;
        Ok(Page { bodies, total, version: all.version, head })
    }

    async fn company_ids(&self, tenant: &TenantId, max: usize) -> Result<Vec<Box<str>>> {
        let rows = self
            .rows(
                "SELECT correlation_id FROM records WHERE tenant_no = (SELECT no FROM tenants WHERE id = $1)
                 AND company_no = $2 AND resource = $3 ORDER BY ordinal LIMIT $4",
                &[&tenant.as_str(), &TENANT, &code(Resource::companies()), &limit(max)],
            )
            .await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }
}
