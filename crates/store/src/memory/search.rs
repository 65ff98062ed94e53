//! Look-ups over all tenants in memory.

use std::cmp::Reverse;

use async_trait::async_trait;
use domain::{Resource, WebhookId};

use super::MemoryStore;
use crate::{FoundRecord, NumberedCall, Result, SEARCHED_TENANTS_MAX, Search};

#[async_trait]
impl Search for MemoryStore {
    async fn find_records(&self, correlation_id: &str, rows_max: usize) -> Result<Vec<FoundRecord>> {
        let state = self.state();
        let mut tenants: Vec<_> = state.tenants.iter().collect();
        tenants.sort_by_key(|(_, tenant)| Reverse((tenant.created_at, tenant.id.clone())));
        let companies = Resource::companies().code();
        let company_of = |tenant_no: i64, company_no: i64| {
            let is_it = |((id, _), ordinal): &(&((i64, i64, i16), Box<str>), &u64)| {
                *id == (tenant_no, 0, companies) && crate::plan::signed(**ordinal) == company_no
            };
            state.ordinals.iter().find(is_it).map(|((_, id), _)| id.clone())
        };
        let mut found = Vec::new();
        for (tenant_no, tenant) in tenants.into_iter().take(SEARCHED_TENANTS_MAX) {
            for (collection, id) in state.ordinals.keys() {
                let (of, company_no, resource) = *collection;
                if of != *tenant_no || **id != *correlation_id {
                    continue;
                }
                let company = company_of(*tenant_no, company_no);
                let Some(resource) = Resource::from_code(resource) else { continue };
                if company_no == 0 || company.is_some() {
                    let (tenant, correlation_id) = (tenant.id.clone(), id.clone());
                    found.push(FoundRecord { tenant, company, resource, correlation_id });
                }
            }
        }
        found.truncate(rows_max);
        Ok(found)
    }

    async fn newest_webhooks(&self, rows_max: usize) -> Result<Vec<WebhookId>> {
        let state = self.state();
        let mut all: Vec<_> = state
            .webhooks
            .all
            .values()
            .map(|stored| (stored.webhook.created_at, stored.webhook.id))
            .collect();
        all.sort_by_key(|position| Reverse(*position));
        Ok(all.into_iter().take(rows_max).map(|(_, id)| id).collect())
    }

    async fn find_calls(&self, request_id: &str, rows_max: usize) -> Result<Vec<NumberedCall>> {
        let state = self.state();
        let is_of = |(_, call): &(&(domain::ids::SubscriptionId, u64), &domain::CallRecord)| {
            call.request_id == request_id
        };
        let mut found: Vec<NumberedCall> = state
            .call_log
            .iter()
            .filter(is_of)
            .map(|((_, number), call)| NumberedCall { number: *number, call: call.clone() })
            .collect();
        found.sort_by_key(|call| Reverse(call.number));
        found.truncate(rows_max);
        Ok(found)
    }
}
