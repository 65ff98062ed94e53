//! Tenants and memberships in memory.

use std::cmp::Reverse;

use async_trait::async_trait;
use domain::{AccountId, Random, TeamId, TenantId, Ticks};

use super::{Head, MemoryStore, State};
use crate::audit::Act;
use crate::authorizations::MEMBERSHIP_REMOVED;
use crate::sandboxes::check_apart;
use crate::{
    AuditContext, AuthorizationEnd, ClientAccess, Directory, EndedAuthorization, ListPage, ListQuery,
    LogBounds, Membership, ResourceSet, Result, StoreError, Tenant, TenantMembership, TenantUpdate,
    UpdateOutcome,
};

impl State {
    pub(super) fn tenant_memberships<'a>(
        &'a self,
        user: &'a AccountId,
    ) -> impl Iterator<Item = TenantMembership> + 'a {
        let mine = self.memberships.iter().filter(move |one| one.user == *user);
        mine.filter_map(|membership| {
            let tenant = self.tenants.values().find(|tenant| tenant.id == membership.tenant)?.clone();
            let user = self.accounts.get(membership.user.as_str())?.clone();
            Some(TenantMembership { user, tenant, membership: membership.clone() })
        })
    }
}

impl State {
    /// Inserts a tenant with an empty log.
    pub(super) fn insert_tenant(&mut self, tenant: &Tenant) -> Result<()> {
        if self.tenant_no(&tenant.id).is_some() {
            return Err(StoreError::Exists(format!("a tenant \"{}\"", tenant.id)));
        }
        self.next_tenant_no += 1;
        let tenant_no = self.next_tenant_no;
        self.tenants.insert(tenant_no, tenant.clone());
        let bounds = LogBounds { floor: 0, head: 0 };
        self.heads.insert(tenant_no, Head { bounds, version: Ticks(0) });
        Ok(())
    }

    /// Erases a tenant and audits it; false if there is none.
    pub(super) fn erase_tenant(&mut self, random: &dyn Random, id: &TenantId, act: &Act) -> bool {
        let Some(tenant_no) = self.tenant_no(id) else {
            return false;
        };
        if let Some(erased) = self.tenants.remove(&tenant_no) {
            self.append_audit(random, act.tenant_erased(&erased));
        }
        self.heads.remove(&tenant_no);
        self.records.retain(|((tenant, ..), _), _| *tenant != tenant_no);
        self.ordinals.retain(|((tenant, ..), _), _| *tenant != tenant_no);
        self.collections.retain(|(tenant, ..), _| *tenant != tenant_no);
        self.log.retain(|(tenant, _), _| *tenant != tenant_no);
        self.processes.retain(|(tenant, _), _| *tenant != tenant_no);
        self.reads.retain(|key, _| key.tenant_no != tenant_no);
        self.memberships.retain(|membership| membership.tenant != *id);
        self.authorizations.retain(|(tenant, ..), _| tenant != id);
        self.codes.retain(|_, stored| stored.used || stored.code.tenant != *id);
        self.webhooks.all.retain(|_, stored| stored.tenant_no != tenant_no);
        let deleted: Vec<Box<str>> = self
            .grants
            .values()
            .filter(|grant| grant.tenant == *id)
            .map(|grant| grant.id.as_str().into())
            .collect();
        self.refresh_tokens.retain(|_, row| !deleted.contains(&row.grant));
        self.grants.retain(|id, _| !deleted.contains(id));
        true
    }

    /// Inserts a membership, unless it would join a sandbox with something else.
    pub(super) fn add_membership(&mut self, membership: &Membership) -> Result<()> {
        let user_of = self.sandboxes.values().map(|stored| &stored.sandbox);
        let user_of = user_of.filter(|one| one.user == membership.user).map(|one| &one.team).next();
        let tenant = self.tenants.values().find(|tenant| tenant.id == membership.tenant);
        let tenant_of = tenant.and_then(|tenant| tenant.sandbox_of.as_ref());
        check_apart(user_of.map(TeamId::as_str), tenant_of.map(TeamId::as_str))?;
        let same = |one: &Membership| {
            one.id == membership.id || (one.user == membership.user && one.tenant == membership.tenant)
        };
        if self.memberships.iter().any(same) {
            return Err(StoreError::Exists("such a membership".into()));
        }
        self.memberships.push(membership.clone());
        Ok(())
    }
}

#[async_trait]
impl Directory for MemoryStore {
    async fn add_tenant(&self, tenant: &Tenant, context: &AuditContext) -> Result<()> {
        let mut state = self.state_mut()?;
        state.insert_tenant(tenant)?;
        state.append_audit(&*self.ports.random, self.act(context).tenant_added(tenant));
        Ok(())
    }

    async fn find_tenant(&self, id: &TenantId) -> Result<Option<Tenant>> {
        Ok(self.state().tenants.values().find(|tenant| tenant.id == *id).cloned())
    }

    async fn list_tenants(&self, query: &ListQuery) -> Result<ListPage<Tenant>> {
        Ok(query.page_of_all(self.state().tenants.values().cloned()))
    }

    async fn update_tenant(
        &self,
        id: &TenantId,
        update: &TenantUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<UpdateOutcome<Tenant>> {
        let mut state = self.state_mut()?;
        self.invalidation.access_changed();
        let Some(tenant) = state.tenants.values_mut().find(|tenant| tenant.id == *id) else {
            return Ok(UpdateOutcome::NotFound);
        };
        if expected_revision.is_some_and(|expected| expected != tenant.revision) {
            return Ok(UpdateOutcome::RevisionConflict);
        }
        let before = tenant.clone();
        tenant.status = update.status.unwrap_or(tenant.status);
        tenant.revision += 1;
        let after = tenant.clone();
        state.append_audit(&*self.ports.random, self.act(context).tenant_changed(&before, &after));
        Ok(UpdateOutcome::Updated(after))
    }

    async fn erase_tenant(&self, id: &TenantId, context: &AuditContext) -> Result<bool> {
        let mut state = self.state_mut()?;
        self.invalidation.access_changed();
        self.invalidation.records_changed(id, ResourceSet::default());
        self.invalidation.commit_signal().signal_all();
        Ok(state.erase_tenant(&*self.ports.random, id, &self.act(context)))
    }

    async fn add_membership(&self, membership: &Membership, context: &AuditContext) -> Result<()> {
        let mut state = self.state_mut()?;
        state.add_membership(membership)?;
        state.append_audit(&*self.ports.random, self.act(context).membership_added(membership));
        Ok(())
    }

    async fn set_membership_admin(
        &self,
        user: &AccountId,
        tenant: &TenantId,
        is_admin: bool,
        context: &AuditContext,
    ) -> Result<bool> {
        let mut state = self.state_mut()?;
        let mut memberships = state.memberships.iter_mut();
        let Some(found) = memberships.find(|one| one.user == *user && one.tenant == *tenant) else {
            return Ok(false);
        };
        let before = found.clone();
        found.is_admin = is_admin;
        let entry = self.act(context).membership_changed(&before, found);
        state.append_audit(&*self.ports.random, entry);
        Ok(true)
    }

    async fn remove_membership(
        &self,
        user: &AccountId,
        tenant: &TenantId,
        context: &AuditContext,
    ) -> Result<bool> {
        let now = self.ports.clock.now();
        let mut state = self.state_mut()?;
        let is_theirs = |one: &Membership| one.user == *user && one.tenant == *tenant;
        let position = state.memberships.iter().position(is_theirs);
        if let Some(at) = position {
            let removed = state.memberships.remove(at);
            state.append_audit(&*self.ports.random, self.act(context).membership_removed(&removed));
        }
        state
            .codes
            .retain(|_, stored| stored.used || stored.code.user != *user || stored.code.tenant != *tenant);
        let ended = EndedAuthorization { at: now, cause: AuthorizationEnd::MembershipRemoved };
        let is_wanted = |access: &ClientAccess| access.user == *user && access.tenant == *tenant;
        let (_, webhooks) = state.end_all(&self.ports, is_wanted, ended, (context, MEMBERSHIP_REMOVED));
        drop(state);
        self.access_changed_for(Some(webhooks));
        Ok(position.is_some())
    }

    async fn list_memberships(&self, user: &AccountId, query: &ListQuery) -> Result<ListPage<Membership>> {
        let state = self.state();
        Ok(query.page_of_all(state.memberships.iter().filter(|one| one.user == *user).cloned()))
    }

    async fn find_tenant_membership(
        &self,
        user: &AccountId,
        tenant: &TenantId,
    ) -> Result<Option<TenantMembership>> {
        Ok(self.state().tenant_memberships(user).find(|membership| membership.tenant.id == *tenant))
    }

    async fn active_memberships(&self, user: &AccountId) -> Result<Vec<TenantMembership>> {
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
