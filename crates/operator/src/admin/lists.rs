//! Lists of tenants, accounts and memberships, in pages.

use domain::{ClientId, Realm, TenantId};
use store::{
    Account, Actor, Client, ListPage, ListQuery, NamedToken, SearchFilter, Tenant, TenantMembership,
};

use super::{Admin, Result};

impl Admin {
    /// Oldest first; with a text to search for, by id and then by name.
    pub async fn tenants(&self, filter: &SearchFilter, query: &ListQuery) -> Result<ListPage<Tenant>> {
        Ok(self.store.search_tenants(filter, query).await?)
    }

    /// Oldest first; with a text to search for, by e-mail address, then by name, then by id.
    pub async fn accounts(
        &self,
        realm: Realm,
        filter: &SearchFilter,
        query: &ListQuery,
    ) -> Result<ListPage<Account>> {
        Ok(self.store.search_accounts(realm, filter, query).await?)
    }

    /// The members of a tenant that exists, oldest first.
    pub async fn tenant_members(
        &self,
        tenant: &TenantId,
        query: &ListQuery,
    ) -> Result<ListPage<TenantMembership>> {
        Ok(self.store.tenant_members(tenant, query).await?)
    }

    /// The applications that a tenant's users have authorized, by id, at most `rows_max`.
    pub async fn tenant_clients(&self, tenant: &TenantId, rows_max: usize) -> Result<Vec<Client>> {
        let mut clients = Vec::new();
        for id in self.store.authorized_clients(tenant, rows_max).await? {
            clients.extend(self.store.find_client(&id).await?);
        }
        Ok(clients)
    }

    /// The name of an application; its id, where it does not exist any more.
    pub async fn client_name(&self, id: &ClientId) -> Result<String> {
        let client = self.store.find_client(id).await?;
        Ok(client.map_or_else(|| id.to_string(), |client| client.name))
    }

    /// The tokens of the operator's API that an operator has made, oldest first, at most `LIST_ROWS_MAX`.
    pub async fn tokens_by(&self, operator: &Account) -> Result<Vec<NamedToken>> {
        let made_by = Actor::account(operator.realm, operator.id.clone()).to_string();
        Ok(self.store.list_operator_tokens_by(&made_by, &ListQuery::default()).await?.rows)
    }

    /// The tenants of a user, oldest membership first.
    pub async fn user_tenants(
        &self,
        user: &Account,
        query: &ListQuery,
    ) -> Result<ListPage<TenantMembership>> {
        Ok(self.store.user_tenants(&user.id, query).await?)
    }
}
