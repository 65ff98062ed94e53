//! Records and pages in memory.

use async_trait::async_trait;
use domain::{Resource, TenantId};

use super::{MemoryStore, collection_id, payroll};
use crate::plan::{CollectionCounters, CollectionKey};
use crate::{CollectionSize, CollectionVersion, Page, PageQuery, PayrollQuery, Record, Records, Result};

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
            let collection = collection_id(tenant_no, CollectionKey { company_no, resource });
            let ordinal = state.ordinals.get(&(collection, correlation_id.into()))?;
            let (_, stored) = state.records.get(&(collection, *ordinal))?;
            Some(Record { body: stored.body.as_str().into(), sequence: stored.sequence })
        });
        Ok(found)
    }

    async fn find_guid(
        &self,
        tenant: &TenantId,
        company: Option<&str>,
        resource: Resource,
        lower_guid: &str,
    ) -> Result<Option<Box<str>>> {
        let state = self.state();
        Ok(state.tenant_no(tenant).and_then(|tenant_no| {
            let company_no = state.company_no(tenant_no, company)?;
            let collection = collection_id(tenant_no, CollectionKey { company_no, resource });
            let ids = state.records.range((collection, 0)..=(collection, u64::MAX)).map(|(_, (id, _))| id);
            let same = ids.filter(|id| id.to_ascii_lowercase() == lower_guid);
            same.min_by_key(|id| &***id != lower_guid).cloned()
        }))
    }

    async fn page(&self, query: &PageQuery) -> Result<Option<Page>> {
        let state = self.state();
        let found = state.tenant_no(&query.tenant).and_then(|tenant_no| {
            let company_no = state.company_no(tenant_no, query.company.as_deref())?;
            let collection = collection_id(tenant_no, CollectionKey { company_no, resource: query.resource });
            let counters = state.collections.get(&collection).copied().unwrap_or_default();
            let bodies = state
                .records
                .range((collection, 0)..=(collection, u64::MAX))
                .skip(usize::try_from(query.offset).unwrap_or(usize::MAX))
                .take(query.rows_max)
                .map(|(_, (_, stored))| stored.body.as_str())
                .collect();
            let head = state.heads.get(&tenant_no)?.bounds.head;
            Some(Page { bodies, total: counters.live, version: counters.version, head })
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
            let collection = collection_id(tenant_no, CollectionKey { company_no, resource });
            let version = state.collections.get(&collection).map_or(0, |counters| counters.version);
            Some(CollectionVersion { version, head: state.heads.get(&tenant_no)?.bounds.head })
        }))
    }

    async fn payroll_page(&self, query: &PayrollQuery) -> Result<Page> {
        payroll::page(&self.state(), query)
    }

    async fn collection_sizes(
        &self,
        tenant: &TenantId,
        company: Option<&str>,
    ) -> Result<Option<Vec<CollectionSize>>> {
        let state = self.state();
        Ok(state.tenant_no(tenant).and_then(|tenant_no| {
            let company_no = state.company_no(tenant_no, company)?;
            let own = state
                .collections
                .iter()
                .filter(|((tenant, company, _), _)| (*tenant, *company) == (tenant_no, company_no));
            let size = |((_, _, code), counters): (&(i64, i64, i16), &CollectionCounters)| {
                let resource = Resource::from_code(*code)?;
                Some(CollectionSize { resource, records: counters.live })
            };
            let mut sizes: Vec<CollectionSize> = own.filter_map(size).collect();
            sizes.sort_by_key(|size| size.resource.code());
            Some(sizes)
        }))
    }

    async fn company_ids(&self, tenant: &TenantId, max: usize) -> Result<Vec<Box<str>>> {
        let state = self.state();
        let Some(tenant_no) = state.tenant_no(tenant) else {
            return Ok(Vec::new());
        };
        let collection = collection_id(tenant_no, CollectionKey::companies());
        let counters = state.records.range((collection, 0)..=(collection, u64::MAX));
        Ok(counters.take(max).map(|(_, (id, _))| id.clone()).collect())
    }
}
