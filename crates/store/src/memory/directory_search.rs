//! Searches for tenants and accounts in memory.

use async_trait::async_trait;
use domain::{AccountId, Realm, TenantId};

use super::{MemoryStore, State};
use crate::directory_search::search_all;
use crate::{Account, DirectorySearch, ListPage, ListQuery, Result, SearchFilter, Tenant, TenantMembership};

impl State {
    fn all_tenant_memberships(&self) -> impl Iterator<Item = TenantMembership> + '_ {
        self.memberships.iter().filter_map(|membership| {
            let tenant = self.tenants.values().find(|tenant| tenant.id == membership.tenant)?.clone();
            let user = self.accounts.get(membership.user.as_str())?.clone();
            Some(TenantMembership { user, tenant, membership: membership.clone() })
        })
    }
}

#[async_trait]
impl DirectorySearch for MemoryStore {
    async fn search_tenants(&self, filter: &SearchFilter, query: &ListQuery) -> Result<ListPage<Tenant>> {
        let state = self.state();
        let tenants = state.tenants.values();
        let tenants = tenants.filter(|one| filter.status.is_none_or(|status| one.status == status));
        Ok(search_all(tenants.cloned(), filter.prefix(), query))
    }

    async fn search_accounts(
        &self,
        realm: Realm,
        filter: &SearchFilter,
        query: &ListQuery,
    ) -> Result<ListPage<Account>> {
        let state = self.state();
        let accounts = state.accounts.values().filter(|one| one.realm == realm);
        let accounts = accounts.filter(|one| filter.status.is_none_or(|status| one.status == status));
        Ok(search_all(accounts.cloned(), filter.prefix(), query))
    }

    async fn tenant_members(
        &self,
        tenant: &TenantId,
        query: &ListQuery,
    ) -> Result<ListPage<TenantMembership>> {
        let state = self.state();
        Ok(query.page_of_all(state.all_tenant_memberships().filter(|one| one.tenant.id == *tenant)))
    }

    async fn user_tenants(&self, user: &AccountId, query: &ListQuery) -> Result<ListPage<TenantMembership>> {
        let state = self.state();
        Ok(query.page_of_all(state.all_tenant_memberships().filter(|one| one.user.id == *user)))
    }
}
