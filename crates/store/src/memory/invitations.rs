//! Invitations in memory.

use async_trait::async_trait;
use domain::ids::InvitationId;
use domain::{Random, Realm, Secret, TenantId, Ticks};

use super::{MemoryStore, State};
use crate::audit::Act;
use crate::invitations::{SealedLink, invitation_hash};
use crate::{
    AcceptOutcome, Account, AuditContext, Invitation, InvitationFilter, InvitationLink, InvitationOutcome,
    InvitationState, Invitations, InvitedPerson, ListPage, ListQuery, Result, StoreError,
};

#[derive(Clone)]
pub(super) struct StoredLink {
    invitation: InvitationId,
    pub(super) expires_at: Ticks,
}

impl State {
    fn open_invitation(&self, realm: Realm, email: &str) -> Option<Invitation> {
        let is_open = |one: &&Invitation| one.is_open() && one.realm == realm && one.email == email;
        self.invitations.values().find(is_open).cloned()
    }

    fn invitation_of(&self, hash: &[u8; 32], now: Ticks) -> Option<Invitation> {
        let link = self.invitation_links.get(hash)?;
        let found = self.invitations.get(link.invitation.as_str());
        found.filter(|one| one.state(now) == InvitationState::Pending).cloned()
    }

    fn has_account(&self, realm: Realm, email: &str) -> bool {
        self.accounts.values().any(|account| account.realm == realm && account.email == email)
    }

    fn remove_link(&mut self, id: &InvitationId) {
        self.invitation_links.retain(|_, link| link.invitation != *id);
    }

    fn put_link(&mut self, id: &InvitationId, link: SealedLink) -> Result<()> {
        if let Some(mail) = link.mail {
            self.queue_mail(mail)?;
        }
        self.remove_link(id);
        let stored = StoredLink { invitation: id.clone(), expires_at: link.expires_at };
        self.invitation_links.insert(link.hash, stored);
        Ok(())
    }

    fn put_invitation(&mut self, one: &Invitation) {
        self.invitations.insert(one.id.as_str().into(), one.clone());
    }

    fn make_invitation(
        &mut self,
        random: &dyn Random,
        one: &Invitation,
        link: SealedLink,
        act: &Act,
    ) -> Result<()> {
        if self.has_account(one.realm, &one.email) {
            return Err(StoreError::Exists(Account::described_as(one.realm, &one.email)));
        }
        if let Some(unknown) = one.tenants.iter().find(|tenant| self.tenant_no(tenant).is_none()) {
            return Err(StoreError::UnknownTenant(unknown.to_string()));
        }
        if self.invitations.contains_key(one.id.as_str()) {
            return Err(StoreError::Exists(one.described()));
        }
        let replaced = self.open_invitation(one.realm, &one.email);
        self.put_link(&one.id, link)?;
        if let Some(replaced) = replaced {
            self.remove_link(&replaced.id);
            self.append_audit(random, act.invitation_revoked(&replaced, true));
            self.put_invitation(&Invitation { revoked_at: Some(act.at), ..replaced });
        }
        self.put_invitation(one);
        self.append_audit(random, act.invitation_made(one));
        Ok(())
    }

    fn accept_invitation(
        &mut self,
        random: &dyn Random,
        hash: &[u8; 32],
        person: &InvitedPerson,
        act: &Act,
    ) -> Result<AcceptOutcome> {
        let Some(one) = self.invitation_of(hash, act.at) else { return Ok(AcceptOutcome::LinkIsVoid) };
        if self.has_account(one.realm, one.address(person)) {
            return Ok(AcceptOutcome::AccountExists);
        }
        let exists = |tenant: &&TenantId| self.tenant_no(tenant).is_some();
        let existing: Vec<TenantId> = one.tenants.iter().filter(exists).cloned().collect();
        let account = one.account(person, act.at);
        let memberships = one.memberships(&account.id, &existing, random, act.at);
        self.insert_account(random, &account, &memberships, act)?;
        if let Some(team) = one.team_change(&account.id) {
            let _joined_or_not = self.change_member(random, &team, act);
        }
        self.remove_link(&one.id);
        self.append_audit(random, act.invitation_accepted(&one, &account));
        self.put_invitation(&Invitation { accepted_at: Some(act.at), ..one });
        Ok(AcceptOutcome::Accepted(account))
    }

    /// The invitation, or the outcome where it cannot change.
    fn open_by_id(&self, id: &InvitationId) -> std::result::Result<Invitation, Box<InvitationOutcome>> {
        match self.invitations.get(id.as_str()) {
            None => Err(Box::new(InvitationOutcome::NotFound)),
            Some(ended) if !ended.is_open() => Err(Box::new(InvitationOutcome::Ended(ended.clone()))),
            Some(open) => Ok(open.clone()),
        }
    }
}

#[async_trait]
impl Invitations for MemoryStore {
    async fn make_invitation(
        &self,
        invitation: &Invitation,
        link: &InvitationLink<'_>,
        context: &AuditContext,
    ) -> Result<()> {
        let link = link.sealed(invitation.realm, &self.ports)?;
        let act = self.act(context);
        self.state_mut()?.make_invitation(&*self.ports.random, invitation, link, &act)
    }

    async fn find_invitation(&self, id: &InvitationId) -> Result<Option<Invitation>> {
        Ok(self.state().invitations.get(id.as_str()).cloned())
    }

    async fn find_open_invitation(&self, realm: Realm, email: &str) -> Result<Option<Invitation>> {
        Ok(self.state().open_invitation(realm, email))
    }

    async fn find_invitation_by_token(
        &self,
        realm: Realm,
        token: &Secret,
        now: Ticks,
    ) -> Result<Option<Invitation>> {
        let hash = invitation_hash(&self.ports.vault, realm, token);
        Ok(self.state().invitation_of(&hash, now))
    }

    async fn list_invitations(
        &self,
        filter: &InvitationFilter,
        now: Ticks,
        query: &ListQuery,
    ) -> Result<ListPage<Invitation>> {
        let state = self.state();
        let is_listed = |one: &&Invitation| {
            filter.realm.is_none_or(|realm| one.realm == realm)
                && filter.state.is_none_or(|state| one.state(now) == state)
                && filter.team.as_ref().is_none_or(|team| !one.team.is_empty() && one.team == team.as_str())
                && filter.email_prefix.as_ref().is_none_or(|prefix| one.email.starts_with(prefix))
        };
        Ok(query.page_of_all(state.invitations.values().filter(is_listed).cloned()))
    }

    async fn resend_invitation(
        &self,
        id: &InvitationId,
        link: &InvitationLink<'_>,
        context: &AuditContext,
    ) -> Result<InvitationOutcome> {
        let act = self.act(context);
        let mut state = self.state_mut()?;
        let before = match state.open_by_id(id) {
            Ok(before) => before,
            Err(outcome) => return Ok(*outcome),
        };
        state.put_link(id, link.sealed(before.realm, &self.ports)?)?;
        let after = Invitation { expires_at: link.expires_at, ..before.clone() };
        state.put_invitation(&after);
        state.append_audit(&*self.ports.random, act.invitation_resent(&before, &after));
        Ok(InvitationOutcome::Changed(after))
    }

    async fn revoke_invitation(
        &self,
        id: &InvitationId,
        context: &AuditContext,
    ) -> Result<InvitationOutcome> {
        let act = self.act(context);
        let mut state = self.state_mut()?;
        let before = match state.open_by_id(id) {
            Ok(before) => before,
            Err(outcome) => return Ok(*outcome),
        };
        state.remove_link(id);
        let after = Invitation { revoked_at: Some(act.at), ..before.clone() };
        state.put_invitation(&after);
        state.append_audit(&*self.ports.random, act.invitation_revoked(&before, false));
        Ok(InvitationOutcome::Changed(after))
    }

    async fn accept_invitation(
        &self,
        realm: Realm,
        token: &Secret,
        person: &InvitedPerson,
        context: &AuditContext,
    ) -> Result<AcceptOutcome> {
        let hash = invitation_hash(&self.ports.vault, realm, token);
        let act = self.act(context);
        self.state_mut()?.accept_invitation(&*self.ports.random, &hash, person, &act)
    }
}
