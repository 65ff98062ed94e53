//! Outgoing mails in memory, sealed as in the databases.

use std::time::Duration;

use async_trait::async_trait;
use domain::{Guid, Ticks};

use super::{MemoryStore, State};
use crate::mails::{MailRow, SealedMail};
use crate::{LeasedMail, Mail, MailFailure, Mails, Result, StoreError};

#[derive(Clone)]
pub(super) struct StoredMail {
    mail: SealedMail,
    attempts: u32,
    next_at: Ticks,
    leased_until: Ticks,
    sent_at: Option<Ticks>,
}

impl StoredMail {
    fn is_waiting(&self, now: Ticks) -> bool {
        self.sent_at.is_none() && self.expires_at() > now
    }

    pub(super) fn expires_at(&self) -> Ticks {
        self.mail.expires_at
    }
}

impl State {
    /// Queues a mail within the caller's mutation.
    pub(super) fn queue_mail(&mut self, mail: SealedMail) -> Result<()> {
        if self.mails.contains_key(mail.id.as_bytes()) {
            return Err(StoreError::Exists(format!("a mail \"{}\"", mail.id)));
        }
        let (id, next_at) = (*mail.id.as_bytes(), mail.created_at);
        let stored = StoredMail { mail, attempts: 0, next_at, leased_until: Ticks(0), sent_at: None };
        self.mails.insert(id, stored);
        Ok(())
    }
}

#[async_trait]
impl Mails for MemoryStore {
    async fn queue_mail(&self, mail: &Mail) -> Result<()> {
        let sealed = SealedMail::of(mail, &self.ports.vault, &*self.ports.random)?;
        self.state_mut()?.queue_mail(sealed)
    }

    async fn due_mails(&self, now: Ticks, lease: Duration, mails_max: usize) -> Result<Vec<LeasedMail>> {
        let until = now + lease;
        let mut state = self.state_mut()?;
        let is_due = |one: &StoredMail| one.is_waiting(now) && one.next_at <= now && one.leased_until <= now;
        let mut due: Vec<&mut StoredMail> = state.mails.values_mut().filter(|one| is_due(one)).collect();
        due.sort_by_key(|one| one.next_at);
        let leased = due.into_iter().take(mails_max).map(|one| {
            one.attempts += 1;
            one.leased_until = until;
            MailRow { mail: one.mail.clone(), attempts: one.attempts }.open(until, &self.ports.vault)
        });
        leased.collect()
    }

    async fn mail_sent(&self, id: Guid, at: Ticks) -> Result<bool> {
        let mut state = self.state_mut()?;
        let waiting = state.mails.get_mut(id.as_bytes()).filter(|one| one.sent_at.is_none());
        Ok(waiting.is_some_and(|one| {
            one.sent_at = Some(at);
            one.mail.sealed.clear();
            true
        }))
    }

    async fn mail_failed(&self, mail: &LeasedMail, failure: &MailFailure) -> Result<bool> {
        let mut state = self.state_mut()?;
        let leased = |one: &&mut StoredMail| one.sent_at.is_none() && one.leased_until == mail.leased_until;
        let leased = state.mails.get_mut(mail.mail.id.as_bytes()).filter(leased);
        Ok(leased.is_some_and(|one| {
            one.next_at = failure.next_at;
            one.leased_until = Ticks(0);
            true
        }))
    }

    async fn waiting_mails(&self, now: Ticks) -> Result<u64> {
        Ok(self.state().mails.values().filter(|one| one.is_waiting(now)).count() as u64)
    }
}
