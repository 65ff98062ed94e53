//! Sandboxes and what their receivers got in memory.

use async_trait::async_trait;
use domain::{Guid, TeamId, TenantId, Ticks};

use super::{MemoryStore, State};
use crate::sandboxes::take_events;
use crate::{
    AccountUpdate, AuditContext, NewSandbox, RECEIVED_MAX, ReceivedRequest, ReceiverMode, ResetSandbox,
    ResourceSet, Result, Sandbox, SandboxOutcome, Sandboxes, Status,
};

#[derive(Clone)]
pub(super) struct StoredSandbox {
    pub(super) sandbox: Sandbox,
    /// The day, and how many events were made on it.
    events: (i64, u64),
    received: u64,
}

impl State {
    /// The sandbox with the present status of its tenant.
    fn sandbox(&self, stored: &StoredSandbox) -> Sandbox {
        let tenant = self.tenants.values().find(|tenant| tenant.id == stored.sandbox.tenant);
        Sandbox { tenant_status: tenant.map(|tenant| tenant.status), ..stored.sandbox.clone() }
    }

    fn find_sandbox(&self, team: &TeamId) -> Option<Sandbox> {
        self.sandboxes.get(team.as_str()).map(|stored| self.sandbox(stored))
    }
}

#[async_trait]
impl Sandboxes for MemoryStore {
    async fn add_sandbox(
        &self,
        team: &TeamId,
        new: &NewSandbox,
        context: &AuditContext,
    ) -> Result<SandboxOutcome> {
        let (act, random) = (self.act(context), &*self.ports.random);
        let mut state = self.state_mut()?;
        self.invalidation.access_changed();
        if !state.teams.contains_key(team.as_str()) {
            return Ok(SandboxOutcome::TeamNotFound);
        }
        if let Some(known) = state.find_sandbox(team) {
            return Ok(SandboxOutcome::Exists(known));
        }
        let before = state.clone();
        let sandbox = Sandbox {
            team: team.clone(),
            tenant: new.tenant.id.clone(),
            tenant_status: Some(new.tenant.status),
            user: new.account.id.clone(),
            email: new.account.email.clone(),
            password: new.password.clone(),
            receiver: new.receiver,
            receiver_mode: ReceiverMode::default(),
            created_at: act.at,
            loaded_at: None,
        };
        let stored = StoredSandbox { sandbox: sandbox.clone(), events: (0, 0), received: 0 };
        state.sandboxes.insert(team.as_str().into(), stored);
        let memberships = std::slice::from_ref(&new.membership);
        let added = state.insert_tenant(&new.tenant).and_then(|()| {
            state.append_audit(random, act.tenant_added(&new.tenant));
            state.insert_account(random, &new.account, memberships, &act)
        });
        if let Err(error) = added {
            *state = before;
            return Err(error);
        }
        state.append_audit(random, act.sandbox_added(&sandbox));
        Ok(SandboxOutcome::Done(sandbox))
    }

    async fn find_sandbox(&self, team: &TeamId) -> Result<Option<Sandbox>> {
        Ok(self.state().find_sandbox(team))
    }

    async fn find_sandbox_by_receiver(&self, receiver: Guid) -> Result<Option<Sandbox>> {
        let state = self.state();
        let found = state.sandboxes.values().find(|stored| stored.sandbox.receiver == receiver);
        Ok(found.map(|stored| state.sandbox(stored)))
    }

    async fn list_sandboxes(&self, after: Option<&TeamId>, rows_max: usize) -> Result<Vec<Sandbox>> {
        let state = self.state();
        let after = after.map_or("", |team| team.as_str());
        let rest = state.sandboxes.iter().filter(|(team, _)| &***team > after);
        Ok(rest.map(|(_, stored)| state.sandbox(stored)).take(rows_max).collect())
    }

    async fn reset_sandbox(
        &self,
        team: &TeamId,
        reset: &ResetSandbox,
        context: &AuditContext,
    ) -> Result<SandboxOutcome> {
        let (act, random) = (self.act(context), &*self.ports.random);
        let mut state = self.state_mut()?;
        let Some(before) = state.find_sandbox(team) else { return Ok(SandboxOutcome::NotFound) };
        if before.tenant_status == Some(Status::Disabled) {
            return Ok(SandboxOutcome::Disabled);
        }
        self.invalidation.access_changed();
        self.invalidation.records_changed(&before.tenant, ResourceSet::default());
        self.invalidation.commit_signal().signal_all();
        let update =
            AccountUpdate { password_hash: Some(reset.password_hash.clone()), ..AccountUpdate::default() };
        let _ = state.change_account(random, &before.user, &update, None, &act);
        state.second_factors.retain(|_, row| row.account != before.user);
        state.recovery_codes.retain(|_, account| *account != before.user);
        state.erase_tenant(random, &before.tenant, &act);
        state.insert_tenant(&reset.tenant)?;
        state.append_audit(random, act.tenant_added(&reset.tenant));
        state.add_membership(&reset.membership)?;
        state.append_audit(random, act.membership_added(&reset.membership));
        state.received_requests.retain(|(of, _), _| of != team);
        if let Some(stored) = state.sandboxes.get_mut(team.as_str()) {
            stored.sandbox.tenant = reset.tenant.id.clone();
            stored.sandbox.password = reset.password.clone();
            stored.sandbox.receiver_mode = ReceiverMode::default();
            stored.sandbox.loaded_at = None;
        }
        let Some(after) = state.find_sandbox(team) else { return Ok(SandboxOutcome::NotFound) };
        state.append_audit(random, act.sandbox_reset(&before, &after));
        Ok(SandboxOutcome::Done(after))
    }

    async fn mark_sandbox_loaded(&self, tenant: &TenantId, now: Ticks) -> Result<()> {
        let mut state = self.state_mut()?;
        let mut sandboxes = state.sandboxes.values_mut();
        if let Some(stored) = sandboxes.find(|stored| stored.sandbox.tenant == *tenant) {
            stored.sandbox.loaded_at = Some(now);
        }
        Ok(())
    }

    async fn take_sandbox_events(
        &self,
        team: &TeamId,
        day: i64,
        count: u64,
        events_max: u64,
    ) -> Result<bool> {
        let mut state = self.state_mut()?;
        let Some(stored) = state.sandboxes.get_mut(team.as_str()) else { return Ok(false) };
        let made = take_events(stored.events, day, count, events_max);
        if let Some(made) = made {
            stored.events = (day, made);
        }
        Ok(made.is_some())
    }

    async fn set_receiver_mode(
        &self,
        team: &TeamId,
        mode: ReceiverMode,
        context: &AuditContext,
    ) -> Result<Option<Sandbox>> {
        let mut state = self.state_mut()?;
        let Some(before) = state.find_sandbox(team) else { return Ok(None) };
        if let Some(stored) = state.sandboxes.get_mut(team.as_str()) {
            stored.sandbox.receiver_mode = mode;
        }
        let entry = self.act(context).sandbox_receiver_changed(&before, mode);
        state.append_audit(&*self.ports.random, entry);
        Ok(Some(Sandbox { receiver_mode: mode, ..before }))
    }

    async fn add_received_request(
        &self,
        team: &TeamId,
        tenant: &TenantId,
        request: &ReceivedRequest,
    ) -> Result<()> {
        let mut state = self.state_mut()?;
        let own = state.sandboxes.get_mut(team.as_str()).filter(|stored| stored.sandbox.tenant == *tenant);
        let Some(stored) = own else { return Ok(()) };
        stored.received += 1;
        let number = stored.received;
        state.received_requests.insert((team.clone(), number), ReceivedRequest { number, ..request.clone() });
        let oldest = number.saturating_sub(RECEIVED_MAX as u64);
        state.received_requests.retain(|(of, number), _| of != team || *number > oldest);
        Ok(())
    }

    async fn received_requests(
        &self,
        team: &TeamId,
        before: Option<u64>,
        rows_max: usize,
    ) -> Result<Vec<ReceivedRequest>> {
        let state = self.state();
        let before = before.unwrap_or(u64::MAX);
        let own = state.received_requests.iter().rev();
        let own = own.filter(|((of, number), _)| of == team && *number < before);
        Ok(own.map(|(_, request)| request.clone()).take(rows_max.min(RECEIVED_MAX)).collect())
    }
}
