//! Authorizations in memory.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;
use domain::{AccountId, ClientId, GrantId, Scopes, TenantId, Ticks, WebhookId};

use super::{MemoryStore, State};
use crate::authorizations::{access_ended_entry, authorize, concerns_webhooks};
use crate::{
    AuditContext, Authorization, AuthorizationEnd, AuthorizationFacts, Authorizations, ClientAccess,
    EndedAuthorization, Grant, OwnerAccess, Ports, Result, WebhookOwner,
};

impl State {
    fn facts(&self, is_wanted: impl Fn(&ClientAccess) -> bool) -> Vec<AuthorizationFacts> {
        let wanted = self.authorizations.values().filter(|one| is_wanted(&one.access));
        wanted
            .map(|one| {
                let ClientAccess { user, tenant, .. } = &one.access;
                let mut memberships = self.memberships.iter();
                AuthorizationFacts {
                    authorization: one.clone(),
                    user: self.accounts.get(user.as_str()).map(|user| user.status),
                    membership: memberships
                        .find(|one| one.user == *user && one.tenant == *tenant)
                        .map(|one| one.id.clone()),
                }
            })
            .collect()
    }

    pub(super) fn owner_access(&self, owner: &WebhookOwner) -> OwnerAccess {
        let client = self.clients.get(owner.client.as_str());
        let sandboxes = self.sandbox_clients();
        let sandbox = sandboxes.iter().find(|sandbox| sandbox.tenant == owner.tenant);
        let in_sandbox = sandbox.map(|sandbox| sandbox.products_of(&owner.client));
        OwnerAccess {
            tenant: self.tenants.values().find(|one| one.id == owner.tenant).map(|one| one.status),
            client: client.map(|stored| stored.client.status),
            products: client.map(|stored| stored.client.products).unwrap_or_default(),
            team_products: in_sandbox
                .or_else(|| client.and_then(|stored| self.team_products(&stored.client))),
            authorizations: self.facts(|one| one.tenant == owner.tenant && one.client == owner.client),
        }
    }

    /// Makes or widens the authorization of a code exchange; returns the webhooks that may now be delivered to.
    pub(super) fn add_authorization(&mut self, grant: &Grant, scopes: Scopes) -> Option<Vec<WebhookId>> {
        let access = ClientAccess::of(grant);
        let mut memberships = self.memberships.iter();
        let membership = memberships.find(|one| one.user == grant.user && one.tenant == grant.tenant)?;
        let before = self.authorizations.get(&key(&access));
        let after = authorize(before, &access, &membership.id, scopes, grant.created_at)?;
        let concerns_webhooks = concerns_webhooks(before, &after);
        self.authorizations.insert(key(&access), after);
        concerns_webhooks.then(|| {
            self.touch_webhooks(|owner| owner.tenant == access.tenant && owner.client == access.client)
        })
    }

    /// Gives these webhooks a new change number, so that every node reloads them.
    fn touch_webhooks(&mut self, is_wanted: impl Fn(&WebhookOwner) -> bool) -> Vec<WebhookId> {
        let live = self.webhooks.live().filter(|stored| is_wanted(&stored.webhook.owner));
        let ids: Vec<WebhookId> = live.map(|stored| stored.webhook.id).collect();
        if !ids.is_empty() {
            let change_number = self.webhooks.next_change_number();
            for id in &ids {
                if let Some(stored) = self.webhooks.all.get_mut(id) {
                    stored.change_number = change_number;
                }
            }
        }
        ids
    }

    /// The webhooks of every application that the user has authorized.
    pub(super) fn touch_user(&mut self, user: &AccountId) -> Vec<WebhookId> {
        let of_user = self.authorizations.values().filter(|one| one.access.user == *user);
        let owners: Vec<(TenantId, ClientId)> =
            of_user.map(|one| (one.access.tenant.clone(), one.access.client.clone())).collect();
        self.touch_webhooks(|owner| owners.contains(&(owner.tenant.clone(), owner.client.clone())))
    }

    /// Ends an authorization, unless it has ended or there is none, and audits it; returns the webhooks that it may have
    /// kept alive.
    pub(super) fn end_authorization(
        &mut self,
        ports: &Ports,
        access: &ClientAccess,
        ended: EndedAuthorization,
        (context, note): (&AuditContext, &str),
    ) -> Option<Vec<WebhookId>> {
        self.authorizations.get(&key(access)).filter(|one| one.ended.is_none())?;
        self.append_audit(&*ports.random, access_ended_entry(access, ended.at, context, note));
        self.authorizations.get_mut(&key(access))?.ended = Some(ended);
        Some(self.touch_webhooks(|owner| owner.tenant == access.tenant && owner.client == access.client))
    }

    /// After a revocation: ends the authorization if no unexpired grant is left.
    pub(super) fn end_if_unused(
        &mut self,
        ports: &Ports,
        access: &ClientAccess,
        now: Ticks,
        why: (&AuditContext, &str),
    ) -> Option<Vec<WebhookId>> {
        let is_live = |grant: &Grant| {
            grant.revoked_at.is_none() && grant.expires_at > now && ClientAccess::of(grant) == *access
        };
        if self.grants.values().any(is_live) {
            return None;
        }
        let ended = EndedAuthorization { at: now, cause: AuthorizationEnd::Revoked };
        self.end_authorization(ports, access, ended, why)
    }

    /// Ends the wanted authorizations, with their grants and unused codes.
    pub(super) fn end_all(
        &mut self,
        ports: &Ports,
        is_wanted: impl Fn(&ClientAccess) -> bool,
        ended: EndedAuthorization,
        (context, note): (&AuditContext, &str),
    ) -> (Vec<Grant>, Vec<WebhookId>) {
        let found = self.facts(is_wanted);
        let (mut grants, mut webhooks) = (Vec::new(), Vec::new());
        for facts in found.iter().filter(|facts| facts.authorization.ended.is_none()) {
            let access = &facts.authorization.access;
            grants.extend(self.revoke_grants(ports, access, ended.at, (context, note)));
            webhooks
                .extend(self.end_authorization(ports, access, ended, (context, note)).unwrap_or_default());
        }
        (grants, webhooks)
    }
}

/// The order of the databases' primary key.
pub(super) type AuthorizationKey = (TenantId, ClientId, AccountId);

fn key(access: &ClientAccess) -> AuthorizationKey {
    (access.tenant.clone(), access.client.clone(), access.user.clone())
}

impl MemoryStore {
    pub(super) fn access_changed_for(&self, webhooks: Option<Vec<WebhookId>>) {
        if let Some(webhooks) = webhooks {
            self.invalidation.access_changed_for(&webhooks);
        }
    }
}

#[async_trait]
impl Authorizations for MemoryStore {
    async fn user_authorizations(&self, user: &AccountId) -> Result<Vec<AuthorizationFacts>> {
        let mut found = self.state().facts(|access| access.user == *user);
        found.retain(|facts| facts.authorization.ended.is_none());
        found.sort_by_key(|facts| Reverse(facts.authorization.created_at));
        Ok(found)
    }

    async fn list_authorizations(
        &self,
        user: &AccountId,
        after: Option<&WebhookOwner>,
        rows_max: usize,
    ) -> Result<Vec<AuthorizationFacts>> {
        let mut found = self.state().facts(|access| access.user == *user);
        let place = |facts: &AuthorizationFacts| {
            let ClientAccess { tenant, client, .. } = &facts.authorization.access;
            (tenant.clone(), client.clone())
        };
        let after = after.map(|after| (after.tenant.clone(), after.client.clone()));
        found.retain(|facts| {
            facts.authorization.ended.is_none() && after.as_ref().is_none_or(|after| place(facts) > *after)
        });
        found.sort_by_key(place);
        found.truncate(rows_max);
        Ok(found)
    }

    async fn find_authorization(&self, access: &ClientAccess) -> Result<Option<Authorization>> {
        Ok(self.state().authorizations.get(&key(access)).cloned())
    }

    async fn authorized_clients(&self, tenant: &TenantId, rows_max: usize) -> Result<Vec<ClientId>> {
        let state = self.state();
        let standing = state.authorizations.values().filter(|one| one.ended.is_none());
        let clients: BTreeSet<ClientId> = standing
            .filter(|one| one.access.tenant == *tenant)
            .map(|one| one.access.client.clone())
            .collect();
        Ok(clients.into_iter().take(rows_max).collect())
    }

    async fn count_client_authorizations(&self, client: &ClientId, count_max: usize) -> Result<usize> {
        let state = self.state();
        let standing = state.authorizations.values().filter(|one| one.ended.is_none());
        Ok(standing.filter(|one| one.access.client == *client).take(count_max).count())
    }

    async fn owner_access(&self, owner: &WebhookOwner) -> Result<OwnerAccess> {
        Ok(self.state().owner_access(owner))
    }

    async fn owners_access(&self, owners: &[WebhookOwner]) -> Result<HashMap<WebhookOwner, OwnerAccess>> {
        let state = self.state();
        Ok(owners.iter().map(|owner| (owner.clone(), state.owner_access(owner))).collect())
    }

    async fn revoke_tenant_access(
        &self,
        tenant: &TenantId,
        client: &ClientId,
        now: Ticks,
        context: &AuditContext,
        note: &str,
    ) -> Result<Vec<GrantId>> {
        let ended = EndedAuthorization { at: now, cause: AuthorizationEnd::WithdrawnForTenant };
        let is_wanted = |access: &ClientAccess| access.tenant == *tenant && access.client == *client;
        let mut state = self.state_mut()?;
        // Also of users who have no authorization yet.
        state.codes.retain(|_, stored| {
            stored.used || stored.code.tenant != *tenant || stored.code.client != *client
        });
        let (grants, webhooks) = state.end_all(&self.ports, is_wanted, ended, (context, note));
        drop(state);
        self.access_changed_for(Some(webhooks));
        Ok(grants.into_iter().map(|grant| grant.id).collect())
    }
}
