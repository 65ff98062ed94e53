//! Records and pages in SQLite.

use async_trait::async_trait;
use domain::{Resource, TenantId};
use rusqlite::{Connection, OptionalExtension, params};

use super::rows::{company_no, tenant_no};
use super::{SqliteStore, fault, payroll};
use crate::plan::{Collection, TENANT, signed, unsigned};
use crate::records::{Start, locate};
use crate::{Page, PageQuery, PayrollQuery, Record, Records, Result, StoreError};

/// The number of the company that owns the records, if it is there.
fn owner_no(reader: &Connection, tenant_no: i64, company: Option<&str>) -> Result<Option<i64>> {
    match company {
        None => Ok(Some(TENANT)),
        Some(company) => company_no(reader, tenant_no, company),
    }
}

fn collection(
    reader: &Connection,
    tenant_no: i64,
    owner: i64,
    resource: Resource,
) -> rusqlite::Result<Collection> {
    let found = reader
        .prepare_cached(
            "SELECT next_ordinal, live, version FROM collections
             WHERE tenant_no = ?1 AND company_no = ?2 AND resource = ?3",
        )?
        .query_row(params![tenant_no, owner, resource.code()], |row| {
            Ok(Collection {
                next_ordinal: unsigned(row.get(0)?),
                live: unsigned(row.get(1)?),
                version: unsigned(row.get(2)?),
            })
        })
        .optional()?;
    Ok(found.unwrap_or_default())
}

fn head(reader: &Connection, tenant_no: i64) -> rusqlite::Result<u64> {
    let mut find = reader.prepare_cached("SELECT head FROM heads WHERE tenant_no = ?1")?;
    find.query_row([tenant_no], |row| row.get(0)).map(unsigned)
}

fn start(
    reader: &Connection,
    tenant_no: i64,
    owner: i64,
    resource: Resource,
    all: Collection,
    offset: u64,
) -> rusqlite::Result<Start> {
    if all.live + 1 == all.next_ordinal {
        return Ok(locate(offset, []));
    }
    let gaps: Vec<(u64, u64)> = reader
        .prepare_cached(
            "SELECT block, dead FROM gaps WHERE tenant_no = ?1 AND company_no = ?2 AND resource = ?3 ORDER BY block",
        )?
        .query_map(params![tenant_no, owner, resource.code()], |row| {
            Ok((unsigned(row.get(0)?), unsigned(row.get(1)?)))
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(locate(offset, gaps))
}

fn bodies(
    reader: &Connection,
    tenant_no: i64,
    owner: i64,
    query: &PageQuery,
    start: Start,
) -> rusqlite::Result<Vec<Box<str>>> {
    reader
        .prepare_cached(
            "SELECT body FROM records WHERE tenant_no = ?1 AND company_no = ?2 AND resource = ?3 AND ordinal >= ?4
             ORDER BY ordinal LIMIT ?5 OFFSET ?6",
        )?
        .query_map(
            params![
                tenant_no,
                owner,
                query.resource.code(),
                signed(start.ordinal),
                i64::try_from(query.rows_max).unwrap_or(i64::MAX),
                signed(start.skip)
            ],
            |row| row.get(0),
        )?
        .collect()
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
        self.snapshot(|reader| {
            let Some(tenant_no) = tenant_no(reader, tenant)? else {
                return Ok(None);
            };
            let Some(owner) = owner_no(reader, tenant_no, company)? else {
                return Ok(None);
            };
            reader
                .prepare_cached(
                    "SELECT body, sequence FROM records
                     WHERE tenant_no = ?1 AND company_no = ?2 AND resource = ?3 AND correlation_id = ?4",
                )
                .and_then(|mut find| {
                    find.query_row(params![tenant_no, owner, resource.code(), correlation_id], |row| {
                        Ok(Record { body: row.get(0)?, sequence: unsigned(row.get(1)?) })
                    })
                    .optional()
                })
                .map_err(fault)
        })
    }

    async fn page(&self, query: &PageQuery) -> Result<Option<Page>> {
        self.snapshot(|reader| {
            let Some(tenant_no) = tenant_no(reader, &query.tenant)? else {
                return Ok(None);
            };
            let Some(owner) = owner_no(reader, tenant_no, query.company.as_deref())? else {
                return Ok(None);
            };
            let all = collection(reader, tenant_no, owner, query.resource).map_err(fault)?;
            let head = head(reader, tenant_no).map_err(fault)?;
            let bodies = if query.offset >= all.live {
                Vec::new()
            } else {
                start(reader, tenant_no, owner, query.resource, all, query.offset)
                    .and_then(|start| bodies(reader, tenant_no, owner, query, start))
                    .map_err(fault)?
            };
            Ok(Some(Page { bodies, total: all.live, version: all.version, head }))
        })
    }

    async fn payroll_page(&self, query: &PayrollQuery) -> Result<Page> {
        let (store, query) = (self.clone(), query.clone());
        let look = move |reader: &Connection| {
            let Some(tenant_no) = tenant_no(reader, &query.tenant)? else {
                return Err(StoreError::UnknownTenant(query.tenant.as_str().to_owned()));
            };
            let all = collection(reader, tenant_no, TENANT, Resource::payroll_companies()).map_err(fault)?;
            let head = head(reader, tenant_no).map_err(fault)?;
            let (total, bodies) = payroll::page(reader, tenant_no, all, &query).map_err(fault)?;
            Ok(Page { bodies, total, version: all.version, head })
        };
        // A filter may have to look at every company: not on a thread that serves others.
        let looking = tokio::task::spawn_blocking(move || store.snapshot(look));
        looking.await.map_err(StoreError::internal)?
    }

    async fn company_ids(&self, tenant: &TenantId, max: usize) -> Result<Vec<Box<str>>> {
        self.read(|reader| {
            reader
                .prepare_cached(
                    "SELECT correlation_id FROM records
                     WHERE tenant_no = (SELECT no FROM tenants WHERE id = ?1) AND company_no = 0 AND resource = ?2
                     ORDER BY ordinal LIMIT ?3",
                )
                .and_then(|mut find| {
                    let max = i64::try_from(max).unwrap_or(i64::MAX);
                    find.query_map(params![tenant.as_str(), Resource::companies().code(), max], |row| row.get(0))?
                        .collect()
                })
                .map_err(fault)
        })
    }
}
