//! Back-channel logouts in memory.

use std::time::Duration;

use async_trait::async_trait;
use domain::{AccountId, ClientId, Guid, Random, Realm, Ticks};

use super::{MemoryStore, State};
use crate::audit::Act;
use crate::logouts::{EndedSession, new_logout};
use crate::mails::stored_error;
use crate::{
    AuditContext, EndedSessions, GrantSession, LeasedLogout, Logout, LogoutEnd, LogoutProgress, LogoutState,
    Logouts, Result, Session, Status,
};

#[derive(Clone)]
pub(super) struct StoredLogout {
    progress: LogoutProgress,
    next_at: Ticks,
    leased_until: Ticks,
}

impl StoredLogout {
    fn is_due(&self, now: Ticks) -> bool {
        self.progress.ended_at.is_none() && self.next_at <= now && self.leased_until <= now
    }

    pub(super) fn expires_at(&self) -> Ticks {
        self.progress.logout.expires_at
    }
}

fn ended_session(session: Session) -> EndedSession {
    EndedSession {
        id: session.id,
        account: session.account,
        realm: session.realm,
        expires_at: session.expires_at,
    }
}

impl State {
    /// Deletes a session by the hash of its cookie and queues the logouts of its clients. `successor`: the session that takes
    /// its place in the same browser; with the same id, the clients take part in it too.
    pub(super) fn end_session(
        &mut self,
        random: &dyn Random,
        hash: &[u8; 32],
        successor: Option<GrantSession>,
        act: &Act,
    ) -> bool {
        let Some(ended) = self.sessions.remove(hash).map(ended_session) else { return false };
        match successor.filter(|successor| successor.id == ended.id) {
            Some(successor) => {
                let own = self.session_clients.iter_mut().filter(|((id, _), _)| *id == successor.id);
                own.for_each(|(_, expires_at)| *expires_at = successor.expires_at);
            }
            None => self.queue_logouts(random, &ended, act),
        }
        true
    }

    /// Deletes sessions of an account and queues the logouts of their clients. Returns the realm of each.
    pub(super) fn end_sessions(
        &mut self,
        random: &dyn Random,
        account: &AccountId,
        which: EndedSessions,
        act: &Act,
    ) -> Vec<Realm> {
        let is_ended = |one: &Session| one.account == *account && which.includes(one.id);
        let ended: Vec<EndedSession> =
            self.sessions.extract_if(.., |_, one| is_ended(one)).map(|(_, one)| ended_session(one)).collect();
        for one in &ended {
            self.queue_logouts(random, one, act);
        }
        ended.iter().map(|one| one.realm).collect()
    }

    fn queue_logouts(&mut self, random: &dyn Random, ended: &EndedSession, act: &Act) {
        let clients: Vec<ClientId> = self
            .session_clients
            .extract_if(.., |(session, _), _| *session == ended.id)
            .map(|((_, client), _)| client)
            .collect();
        for client in clients.iter().filter(|_| ended.is_told(act.at)) {
            self.queue_logout(random, ended.id, &ended.account, client, act);
        }
    }

    /// Queues the logout of a client, if it is active and wants to be told.
    fn queue_logout(
        &mut self,
        random: &dyn Random,
        session: Guid,
        user: &AccountId,
        client: &ClientId,
        act: &Act,
    ) {
        let stored = self.clients.get(client.as_str()).map(|stored| &stored.client);
        let is_told =
            stored.is_some_and(|one| one.status == Status::Active && one.backchannel_logout_uri.is_some());
        if !is_told {
            return;
        }
        let logout = new_logout(random.guid(), session, user, client, act);
        self.append_audit(random, act.logout_queued(&logout));
        let (id, next_at) = (*logout.id.as_bytes(), logout.created_at);
        let progress = LogoutProgress {
            logout,
            state: LogoutState::Waiting,
            attempts: 0,
            error: String::new(),
            ended_at: None,
        };
        self.logouts.insert(id, StoredLogout { progress, next_at, leased_until: Ticks(0) });
    }

    /// Notes that a client gets an id_token in a session; where it has ended, the client's logout is queued at once.
    pub(super) fn join_session(
        &mut self,
        random: &dyn Random,
        session: GrantSession,
        (user, client): (&AccountId, &ClientId),
        act: &Act,
    ) {
        let own = self.sessions.values().filter(|one| one.account == *user && one.id == session.id);
        match own.map(|one| one.expires_at).max() {
            Some(expires_at) => {
                self.session_clients.entry((session.id, client.clone())).or_insert(expires_at);
            }
            None if session.expires_at > act.at => self.queue_logout(random, session.id, user, client, act),
            None => {}
        }
    }
}

#[async_trait]
impl Logouts for MemoryStore {
    async fn join_session(
        &self,
        session: GrantSession,
        user: &AccountId,
        client: &ClientId,
        context: &AuditContext,
    ) -> Result<()> {
        let act = self.act(context);
        self.state_mut()?.join_session(&*self.ports.random, session, (user, client), &act);
        Ok(())
    }

    async fn due_logouts(
        &self,
        now: Ticks,
        lease: Duration,
        logouts_max: usize,
    ) -> Result<Vec<LeasedLogout>> {
        let until = now + lease;
        let mut state = self.state_mut()?;
        let mut due: Vec<&mut StoredLogout> =
            state.logouts.values_mut().filter(|one| one.is_due(now)).collect();
        due.sort_by_key(|one| one.next_at);
        let leased = due.into_iter().take(logouts_max).map(|one| {
            one.progress.attempts += 1;
            one.leased_until = until;
            let LogoutProgress { logout, attempts, .. } = &one.progress;
            LeasedLogout { logout: logout.clone(), attempts: *attempts, leased_until: until }
        });
        Ok(leased.collect())
    }

    async fn logout_ended(&self, logout: &Logout, end: &LogoutEnd, at: Ticks) -> Result<bool> {
        let entry = Act::new(at, &AuditContext::default()).logout_ended(logout, end);
        let mut state = self.state_mut()?;
        let waiting = state.logouts.get_mut(logout.id.as_bytes());
        let Some(one) = waiting.filter(|one| one.progress.ended_at.is_none()) else { return Ok(false) };
        let progress = &mut one.progress;
        (progress.state, progress.error) = (end.state(), stored_error(end.error()));
        (progress.ended_at, one.leased_until) = (Some(at), Ticks(0));
        state.append_audit(&*self.ports.random, entry);
        Ok(true)
    }

    async fn logout_failed(&self, leased: &LeasedLogout, error: &str, next_at: Ticks) -> Result<bool> {
        let mut state = self.state_mut()?;
        let is_leased = |one: &&mut StoredLogout| {
            one.progress.ended_at.is_none() && one.leased_until == leased.leased_until
        };
        let one = state.logouts.get_mut(leased.logout.id.as_bytes()).filter(is_leased);
        Ok(one.is_some_and(|one| {
            one.progress.error = stored_error(error);
            (one.next_at, one.leased_until) = (next_at, Ticks(0));
            true
        }))
    }

    async fn last_logout(&self, client: &ClientId) -> Result<Option<LogoutProgress>> {
        let state = self.state();
        let own = state.logouts.values().map(|one| &one.progress).filter(|one| one.logout.client == *client);
        Ok(own.max_by_key(|one| (one.logout.created_at, one.logout.id)).cloned())
    }
}
