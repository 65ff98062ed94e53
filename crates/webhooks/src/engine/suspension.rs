//! Suspension: a webhook gets nothing while its owner's access does not stand. It keeps its cursor and its lanes; when
//! access stands again, it goes on from the first undelivered event, and retry windows start anew.

use domain::service_reason::DisabledReason;
use domain::subscription::Products;
use domain::{Suspension, Ticks, WebhookId};
use store::{AuditKind, DisabledOwners, HandshakeStep, SuspensionStep};

use super::core::Core;
use super::deterministic::{StableMap, StableSet};
use super::webhook_state::WebhookState;

/// What the core knows about access.
#[derive(Debug, Default)]
pub(super) struct Access {
    /// Nothing starts before the core has learned which owners are disabled.
    pub(super) is_known: bool,
    disabled_tenants: StableSet<domain::TenantId>,
    disabled_clients: StableSet<domain::ClientId>,
    /// Clients that do not have every product.
    limited_clients: StableMap<domain::ClientId, Products>,
    /// Clients whose team does not have every product.
    team_clients: StableMap<domain::ClientId, Products>,
    /// Sandbox tenants, with the clients that they are open to.
    sandboxes: StableMap<domain::TenantId, StableMap<domain::ClientId, Products>>,
    /// The version of access in this process: it moves before a change of access is answered.
    version: u64,
    /// The webhooks that changes up to this version concern are frozen or reloaded.
    signalled: u64,
    /// The disabled owners were read at this version.
    owners_read: u64,
}

impl Access {
    /// Whether the core has applied every change of access that was made through this process.
    pub(super) fn is_current(&self) -> bool {
        self.is_known && self.version <= self.applied()
    }

    /// The core has applied the changes of access up to this version.
    pub(super) fn applied(&self) -> u64 {
        self.signalled.min(self.owners_read)
    }

    pub(super) fn signalled(&mut self, version: u64) {
        self.signalled = self.signalled.max(version);
    }

    pub(super) fn is_sandbox(&self, tenant: &domain::TenantId) -> bool {
        self.sandboxes.contains_key(tenant)
    }

    /// Why nothing may be sent to the webhook.
    fn suspension(&self, state: &WebhookState) -> Option<Suspension> {
        let product = state.tail_key.resource.area().product();
        let lacks_product = |limited: &StableMap<domain::ClientId, Products>| {
            limited.get(&state.client).is_some_and(|products| !products.contains(product))
        };
        let lacks_subscription = match self.sandboxes.get(&state.tail_key.tenant) {
            Some(clients) => !clients.get(&state.client).is_some_and(|products| products.contains(product)),
            None => lacks_product(&self.team_clients),
        };
        if self.disabled_tenants.contains(&state.tail_key.tenant) {
            Some(Suspension::TenantDisabled)
        } else if self.disabled_clients.contains(&state.client) {
            Some(Suspension::ClientDisabled)
        } else if lacks_product(&self.limited_clients) {
            Some(Suspension::ProductMissing)
        } else if lacks_subscription {
            Some(Suspension::TeamSubscriptionMissing)
        } else {
            state.authorization_gap
        }
    }
}

impl Core {
    /// The version of access in this process. Nothing starts until the changes up to it have arrived as inputs, so that no
    /// attempt starts after the response to a change of access.
    pub fn observe_access(&mut self, version: u64) {
        self.access.version = self.access.version.max(version);
    }

    pub(super) fn disabled_owners_read(&mut self, disabled: DisabledOwners, access_version: u64) {
        if access_version < self.access.owners_read {
            // A read that began before another one which arrived first.
            return;
        }
        let closed = disabled.sandboxes.iter().filter(|_| !self.settings.is_sandbox_open);
        let closed: Vec<_> = closed.map(|one| one.tenant.clone()).collect();
        let tenants: StableSet<_> = disabled.tenants.into_iter().chain(closed).collect();
        let clients: StableSet<_> = disabled.clients.into_iter().collect();
        let limited: StableMap<_, _> = disabled.limited_clients.into_iter().collect();
        let of_teams: StableMap<_, _> = disabled.team_clients.into_iter().collect();
        let sandboxes = disabled.sandboxes.into_iter();
        let sandboxes: StableMap<_, _> =
            sandboxes.map(|one| (one.tenant, one.clients.into_iter().collect())).collect();
        let access = &mut self.access;
        access.owners_read = access_version;
        let is_first = !std::mem::replace(&mut access.is_known, true);
        let is_same = tenants == access.disabled_tenants
            && clients == access.disabled_clients
            && limited == access.limited_clients
            && of_teams == access.team_clients
            && sandboxes == access.sandboxes;
        if !is_first && is_same {
            return;
        }
        (access.disabled_tenants, access.disabled_clients) = (tenants, clients);
        (access.limited_clients, access.team_clients, access.sandboxes) = (limited, of_teams, sandboxes);
        let all: Vec<WebhookId> = self.webhooks.keys().copied().collect();
        for webhook in all {
            self.apply_access(webhook);
        }
        self.wake_all();
    }

    /// Suspends or resumes the webhook as its owner's access says.
    pub(super) fn apply_access(&mut self, webhook: WebhookId) {
        let Some(state) = self.webhooks.get(&webhook) else { return };
        let suspension = self.access.suspension(state);
        if suspension.is_some() {
            // A suspended webhook keeps its cursor: it must not advance with its group.
            self.leave_group(webhook);
        }
        let Some(state) = self.webhooks.get_mut(&webhook) else { return };
        let was_suspended = std::mem::replace(&mut state.is_suspended, suspension.is_some());
        if state.is_suspended && !was_suspended {
            state.target.withdraw();
        }
        // Before the first read of the disabled owners, a webhook that seems to be entitled may not be.
        if !self.access.is_known {
            return;
        }
        let has_changed = match (suspension, state.suspended_at) {
            (Some(suspension), None) => {
                state.suspend(suspension, self.now.wall);
                true
            }
            (None, Some(_)) => {
                state.resume(self.now.wall);
                true
            }
            _ => false,
        };
        if has_changed {
            self.checkpoints.add(webhook);
        }
    }

    /// Disables a webhook that has been suspended for longer than events are kept. Returns false: a suspended webhook has
    /// nothing to start.
    pub(super) fn check_suspension(&mut self, webhook: WebhookId) -> bool {
        let (now, retention) = (self.now.wall, self.settings.retention);
        let Some(state) = self.webhooks.get_mut(&webhook) else { return false };
        if state.suspension_end(retention).is_some_and(|end| end <= now) {
            state.disable(now, DisabledReason::NoAccess.to_string());
            self.checkpoints.add(webhook);
        }
        false
    }
}

impl WebhookState {
    fn suspend(&mut self, suspension: Suspension, now: Ticks) {
        self.suspended_at = Some(now);
        self.pending().suspension = Some(SuspensionStep::Suspended { at: now });
        self.audit(AuditKind::WebhookSuspended, now, suspension.as_str());
    }

    /// Retry windows and schedules start anew.
    fn resume(&mut self, now: Ticks) {
        self.suspended_at = None;
        self.lanes.make_due(now, true);
        self.handshake.retry = None;
        self.failures_in_a_row = 0;
        self.is_breaker_open = false;
        self.has_warned = false;
        let pending = self.pending();
        pending.suspension = Some(SuspensionStep::Resumed);
        pending.handshake.take_if(|step| matches!(step, HandshakeStep::Failed { .. }));
        self.audit(AuditKind::WebhookResumed, now, "its owner has access again");
    }

    /// When the service disables the webhook, if it stays suspended.
    pub(super) fn suspension_end(&self, retention: std::time::Duration) -> Option<Ticks> {
        let since = self.suspended_at.filter(|_| self.is_suspended)?;
        (self.flags.enabled && !self.flags.disabled && !self.flags.is_final()).then(|| since + retention)
    }
}
