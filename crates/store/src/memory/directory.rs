//! Tenants, users and memberships in memory.

use std::cmp::Reverse;

use async_trait::async_trait;
use domain::{TenantId, Ticks, UserId};

use super::{Head, MemoryStore, State};
use crate::{
    Directory, LogBounds, Membership, ResourceSet, Result, Status, StoreError, Tenant, TenantMembership, User,
};

impl State {
    pub(super) fn tenant_memberships<'a>(
        &'a self,
        user: &'a UserId,
    ) -> impl Iterator<Item = TenantMembership> + 'a {
        let mine = self.memberships.iter().filter(move |one| one.user == *user);
        mine.filter_map(|membership| {
            let tenant = self.tenants.values().find(|tenant| tenant.id == membership.tenant)?.clone();
            let user = self.users.get(membership.user.as_str())?.clone();
            Some(TenantMembership { user, tenant, membership: membership.clone() })
        })
    }
}

#[async_trait]
impl Directory for MemoryStore {
    async fn add_tenant(&self, tenant: &Tenant) -> Result<()> {
        let mut state = self.state_mut()?;
        if state.tenant_no(&tenant.id).is_some() {
            return Err(StoreError::Exists(format!("a tenant \"{}\"", tenant.id)));
        }
        state.next_tenant_no += 1;
        let tenant_no = state.next_tenant_no;
        state.tenants.insert(tenant_no, tenant.clone());
        let bounds = LogBounds { floor: 0, head: 0 };
        state.heads.insert(tenant_no, Head { bounds, version: Ticks(0) });
        Ok(())
    }

    async fn find_tenant(&self, id: &TenantId) -> Result<Option<Tenant>> {
        Ok(self.state().tenants.values().find(|tenant| tenant.id == *id).cloned())
    }

    async fn tenants(&self) -> Result<Vec<Tenant>> {
        Ok(self.state().tenants.values().cloned().collect())
    }

    async fn set_tenant_status(&self, id: &TenantId, status: Status) -> Result<bool> {
        let mut state = self.state_mut()?;
        self.invalidation.access_changed();
        let found = state.tenants.values_mut().find(|tenant| tenant.id == *id);
        Ok(found.map(|tenant| tenant.status = status).is_some())
    }

    async fn erase_tenant(&self, id: &TenantId) -> Result<bool> {
        let mut state = self.state_mut()?;
        self.invalidation.access_changed();
        self.invalidation.records_changed(id, ResourceSet::default());
        self.invalidation.commit_signal().signal_all();
        let Some(tenant_no) = state.tenant_no(id) else {
            return Ok(false);
        };
        state.tenants.remove(&tenant_no);
        state.heads.remove(&tenant_no);
        state.records.retain(|((tenant, ..), _), _| *tenant != tenant_no);
        state.ordinals.retain(|((tenant, ..), _), _| *tenant != tenant_no);
        state.collections.retain(|(tenant, ..), _| *tenant != tenant_no);
        state.log.retain(|(tenant, _), _| *tenant != tenant_no);
        state.processes.retain(|(tenant, _), _| *tenant != tenant_no);
        state.memberships.retain(|membership| membership.tenant != *id);
        state.webhooks.all.retain(|_, stored| stored.tenant_no != tenant_no);
        let deleted: Vec<Box<str>> = state
            .grants
            .values()
            .filter(|grant| grant.tenant == *id)
            .map(|grant| grant.id.as_str().into())
            .collect();
        state.refresh_tokens.retain(|_, row| !deleted.contains(&row.grant));
        state.grants.retain(|id, _| !deleted.contains(id));
        Ok(true)
    }

    async fn add_user(&self, user: &User) -> Result<()> {
        let mut state = self.state_mut()?;
        if state.users.values().any(|other| other.email == user.email || other.id == user.id) {
            return Err(StoreError::Exists(format!("a user \"{}\"", user.email)));
        }
        state.users.insert(user.id.as_str().into(), user.clone());
        Ok(())
    }

    async fn find_user(&self, id: &UserId) -> Result<Option<User>> {
        Ok(self.state().users.get(id.as_str()).cloned())
    }

    async fn find_user_by_email(&self, email: &str) -> Result<Option<User>> {
        Ok(self.state().users.values().find(|user| user.email == email).cloned())
    }

    async fn users(&self) -> Result<Vec<User>> {
        let mut users: Vec<User> = self.state().users.values().cloned().collect();
        users.sort_by_key(|user| (user.created_at, user.id.clone()));
        Ok(users)
    }

    async fn set_user_status(&self, id: &UserId, status: Status) -> Result<bool> {
        let mut state = self.state_mut()?;
        self.invalidation.access_changed();
        let found = state.users.get_mut(id.as_str());
        Ok(found.map(|user| user.status = status).is_some())
    }

    async fn set_password_hash(&self, id: &UserId, hash: &str) -> Result<bool> {
        let mut state = self.state_mut()?;
        state.sessions.retain(|_, session| session.user != *id);
        let found = state.users.get_mut(id.as_str());
        Ok(found.map(|user| user.password_hash = hash.into()).is_some())
    }

    async fn add_membership(&self, membership: &Membership) -> Result<()> {
        let mut state = self.state_mut()?;
        let same = |one: &Membership| {
            one.id == membership.id || (one.user == membership.user && one.tenant == membership.tenant)
        };
        if state.memberships.iter().any(same) {
            return Err(StoreError::Exists("such a membership".into()));
        }
        state.memberships.push(membership.clone());
        Ok(())
    }

    async fn remove_membership(&self, user: &UserId, tenant: &TenantId) -> Result<bool> {
        let mut state = self.state_mut()?;
        self.invalidation.access_changed();
        let before = state.memberships.len();
        state.memberships.retain(|one| one.user != *user || one.tenant != *tenant);
        Ok(state.memberships.len() < before)
    }

    async fn memberships(&self, user: &UserId) -> Result<Vec<Membership>> {
        let state = self.state();
        let mut found: Vec<_> = state.memberships.iter().filter(|one| one.user == *user).cloned().collect();
        found.sort_by_key(|one| (one.created_at, one.id.clone()));
        Ok(found)
    }

    async fn find_tenant_membership(
        &self,
        user: &UserId,
        tenant: &TenantId,
    ) -> Result<Option<TenantMembership>> {
        Ok(self.state().tenant_memberships(user).find(|membership| membership.tenant.id == *tenant))
    }

    async fn active_memberships(&self, user: &UserId) -> Result<Vec<TenantMembership>> {
        let mut tenant_memberships: Vec<TenantMembership> =
            self.state().tenant_memberships(user).filter(TenantMembership::is_active).collect();
        tenant_memberships.sort_by_key(|membership| {
            (
                Reverse(membership.membership.last_used_at),
                membership.tenant.name.clone(),
                membership.tenant.id.clone(),
            )
        });
        Ok(tenant_memberships)
    }
}
