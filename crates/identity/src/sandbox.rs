//! Sandboxes: which tenants are open to which clients, and the portal's own redirect address.

use domain::AccountId;
use store::{Client, Tenant, TenantMembership};

use crate::Identity;
use crate::authorization_request::AuthorizationRequest;

impl Identity {
    /// The portal's own redirect address; none where sandboxes are closed.
    pub(crate) fn sandbox_redirect_uri(&self) -> Option<String> {
        self.settings.is_sandbox_open.then(|| self.settings.sandbox_redirect_uri())
    }

    /// Whether a client may be used with a tenant.
    pub(crate) fn is_open_to(&self, client: &Client, tenant: &Tenant) -> bool {
        let is_open = tenant.sandbox_of.is_none() || self.settings.is_sandbox_open;
        is_open && client.may_enter(tenant.sandbox_of.as_ref())
    }

    /// The user's active memberships that the request can end in. To the portal's own redirect address go sandbox users
    /// alone, also if the address is registered for a client.
    pub(crate) async fn enterable_memberships(
        &self,
        user: &AccountId,
        client: &Client,
        request: &AuthorizationRequest,
    ) -> store::Result<Vec<TenantMembership>> {
        let is_portal = request.target.redirect_uri == self.settings.sandbox_redirect_uri();
        let mut memberships = self.store.active_memberships(user).await?;
        memberships.retain(|one| {
            self.is_open_to(client, &one.tenant) && (!is_portal || one.tenant.sandbox_of.is_some())
        });
        Ok(memberships)
    }
}
