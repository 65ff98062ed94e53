//! Records and pages in memory.

use async_trait::async_trait;
use domain::{Resource, TenantId};

use super::{MemoryStore, payroll, place_no};
use crate::plan::Place;
use crate::{CollectionVersion, Page, PageQuery, PayrollQuery, Record, Records, Result};

#[async_trait]
impl Records for MemoryStore {
    async fn find_record(
        &self,
        tenant: &TenantId,
        company: Option<&str>,
        resource: Resource,
        correlation_id: &str,
    ) -> Result<Option<Record>> {
        let state = self.state();
        let found = state.tenant_no(tenant).and_then(|tenant_no| {
            let company_no = state.company_no(tenant_no, company)?;
            let place = place_no(tenant_no, Place { company_no, resource });
            let ordinal = state.ordinals.get(&(place, correlation_id.into()))?;
            let (_, stored) = state.records.get(&(place, *ordinal))?;
            Some(Record { body: stored.body.as_str().into(), sequence: stored.sequence })
        });
        Ok(found)
    }

    async fn page(&self, query: &PageQuery) -> Result<Option<Page>> {
        let state = self.state();
        let found = state.tenant_no(&query.tenant).and_then(|tenant_no| {
            let company_no = state.company_no(tenant_no, query.company.as_deref())?;
            let place = place_no(tenant_no, Place { company_no, resource: query.resource });
            let all = state.collections.get(&place).copied().unwrap_or_default();
            let bodies = state
                .records
                .range((place, 0)..=(place, u64::MAX))
                .skip(usize::try_from(query.offset).unwrap_or(usize::MAX))
                .take(query.rows_max)
                .map(|(_, (_, stored))| stored.body.as_str())
                .collect();
            let head = state.heads.get(&tenant_no)?.bounds.head;
            Some(Page { bodies, total: all.live, version: all.version, head })
        });
        Ok(found)
    }

    async fn collection_version(
        &self,
        tenant: &TenantId,
        company: Option<&str>,
        resource: Resource,
    ) -> Result<Option<CollectionVersion>> {
        let state = self.state();
        Ok(state.tenant_no(tenant).and_then(|tenant_no| {
            let company_no = state.company_no(tenant_no, company)?;
            let place = place_no(tenant_no, Place { company_no, resource });
            let version = state.collections.get(&place).map_or(0, |all| all.version);
            Some(CollectionVersion { version, head: state.heads.get(&tenant_no)?.bounds.head })
        }))
    }

    async fn payroll_page(&self, query: &PayrollQuery) -> Result<Page> {
        payroll::page(&self.state(), query)
    }

    async fn company_ids(&self, tenant: &TenantId, max: usize) -> Result<Vec<Box<str>>> {
        let state = self.state();
        let Some(tenant_no) = state.tenant_no(tenant) else {
            return Ok(Vec::new());
        };
        let place = place_no(tenant_no, Place::companies());
        let all = state.records.range((place, 0)..=(place, u64::MAX));
        Ok(all.take(max).map(|(_, (id, _))| id.clone()).collect())
    }
}
