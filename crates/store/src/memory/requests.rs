//! Requests of teams in memory.

use async_trait::async_trait;
use domain::RequestId;

use super::{MemoryStore, State};
use crate::audit::Act;
use crate::clients::CLIENT_SECRET;
use crate::listing::ListRow as _;
use crate::requests::{Effect, decide_ask, decide_request};
use crate::subscriptions::SealedKey;
use crate::{
    AskOutcome, AuditContext, Client, ClientUpdate, DECIDED_REQUESTS_MAX, DecisionOutcome, ListPage,
    ListQuery, Notice, Ports, RequestDecision, RequestFilter, RequestKind, RequestState, Result, StoreError,
    TeamRequest, TeamRequests,
};

impl State {
    /// The client that a request names.
    fn named_client(&self, kind: &RequestKind) -> Option<&Client> {
        let RequestKind::RedirectUri { client, .. } = kind else { return None };
        self.clients.get(client.as_str()).map(|stored| &stored.client)
    }

    /// Old decided requests of the team make room.
    fn forget_old_requests(&mut self, of: &TeamRequest) {
        let decided =
            self.requests.values().filter(|one| one.team == of.team && one.state != RequestState::Pending);
        let mut cursors: Vec<_> = decided.map(|one| (one.list_cursor(), one.id.clone())).collect();
        cursors.sort();
        cursors.truncate(cursors.len().saturating_sub(DECIDED_REQUESTS_MAX));
        for (_, id) in cursors {
            self.requests.remove(id.as_str());
        }
    }

    fn carry_out(
        &mut self,
        ports: &Ports,
        effect: Effect,
        decision: &RequestDecision,
        act: &Act,
    ) -> Result<()> {
        let RequestDecision::Approve(approval) = decision else { return Ok(()) };
        let (random, vault) = (&*ports.random, &ports.vault);
        match effect {
            Effect::None => Ok(()),
            Effect::AddClient(client) => {
                let hash = vault.fingerprint(CLIENT_SECRET, &approval.secret);
                self.insert_client(random, &client, hash, act)
            }
            Effect::AddSubscription(one) => {
                let [primary, secondary] = &approval.keys;
                let keys = SealedKey::pair(ports, &one.id, primary, secondary)?;
                self.insert_subscription(random, &one, keys, act)
            }
            Effect::SetRedirectUris(client, uris) => {
                let update = ClientUpdate { redirect_uris: Some(uris), ..ClientUpdate::default() };
                let _ = self.change_client(random, &client, &update, None, act);
                Ok(())
            }
        }
    }

    fn decide_request(
        &mut self,
        ports: &Ports,
        id: &RequestId,
        decision: &RequestDecision,
        expected_revision: Option<u64>,
        act: &Act,
    ) -> Result<DecisionOutcome> {
        let Some(before) = self.requests.get(id.as_str()).cloned() else {
            return Ok(DecisionOutcome::NotFound);
        };
        let (team, client) = (self.teams.get(before.team.as_str()), self.named_client(&before.kind));
        let (after, effect) = match decide_request(&before, team, client, decision, expected_revision, act) {
            Err(outcome) => return Ok(outcome),
            Ok(decided) => decided,
        };
        self.carry_out(ports, effect, decision, act)?;
        self.requests.insert(id.as_str().into(), after.clone());
        self.append_audit(&*ports.random, act.request_decided(&before, &after));
        if let Some(notice) = Notice::of_decision(&after, decision, ports.random.guid()) {
            self.insert_notice(notice);
        }
        Ok(DecisionOutcome::Decided(Box::new(after)))
    }
}

#[async_trait]
impl TeamRequests for MemoryStore {
    async fn add_request(&self, request: &TeamRequest, context: &AuditContext) -> Result<AskOutcome> {
        let mut state = self.state_mut()?;
        let is_pending = |one: &&TeamRequest| one.team == request.team && one.state == RequestState::Pending;
        let pending = state.requests.values().filter(is_pending).count();
        let team = state.teams.get(request.team.as_str());
        let outcome = decide_ask(request, team, pending, state.named_client(&request.kind));
        if outcome == AskOutcome::Asked {
            if state.requests.contains_key(request.id.as_str()) {
                return Err(StoreError::Exists(format!("a request \"{}\"", request.id)));
            }
            state.forget_old_requests(request);
            state.requests.insert(request.id.as_str().into(), request.clone());
            state.append_audit(&*self.ports.random, self.act(context).request_added(request));
        }
        Ok(outcome)
    }

    async fn find_request(&self, id: &RequestId) -> Result<Option<TeamRequest>> {
        Ok(self.state().requests.get(id.as_str()).cloned())
    }

    async fn list_requests(
        &self,
        filter: &RequestFilter,
        query: &ListQuery,
    ) -> Result<ListPage<TeamRequest>> {
        let state = self.state();
        let is_wanted = |one: &&TeamRequest| {
            filter.team.as_ref().is_none_or(|team| one.team == *team)
                && filter.state.is_none_or(|state| one.state == state)
        };
        Ok(query.page_of_all(state.requests.values().filter(is_wanted).cloned()))
    }

    async fn decide_request(
        &self,
        id: &RequestId,
        decision: &RequestDecision,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<DecisionOutcome> {
        let act = self.act(context);
        let decided = self.state_mut()?.decide_request(&self.ports, id, decision, expected_revision, &act);
        self.invalidation.access_changed();
        decided
    }
}
