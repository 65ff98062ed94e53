//! Tells teams what has happened: adds the notices that only time causes, and queues the mails of all new ones. Every node
//! does it; the store keeps a notice and its mails from being made twice.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use domain::{Clock, Guid, TeamId, Ticks, WebhookId};
use identity::AccountMails;
use store::{FAILING_AFTER, Mail, Notice, Result, Store, WebhookFailure};
use tokio::sync::watch;

/// How often the task looks. The look-ups use indexes and find nothing most of the time.
const EVERY: Duration = Duration::from_secs(5);
/// Rows of one look-up.
const ROWS_MAX: usize = 1000;
/// Older notices are not mailed: after a restore, or where no program has run for long.
const MAILED_WITHIN: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) struct Notifier {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    mails: AccountMails,
    /// The failures up to this one have been looked at. Another failure of the same webhook is a later one.
    seen: WebhookFailure,
}

impl Notifier {
    pub(crate) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, mails: AccountMails) -> Self {
        Self { store, clock, mails, seen: WebhookFailure::default() }
    }

    /// Runs until shutdown.
    pub(crate) async fn run(mut self, mut stopped: watch::Receiver<bool>) {
        while tokio::time::timeout(EVERY, stopped.wait_for(|stop| *stop)).await.is_err() {
            if let Err(error) = self.round().await {
                tracing::warn!(%error, "the notices to teams cannot be made; trying again");
            }
        }
    }

    async fn round(&mut self) -> Result<()> {
        let now = self.clock.now();
        self.add_failing(now).await?;
        self.store.add_ending_notices(now, ROWS_MAX).await?;
        self.queue_mails(now).await
    }

    async fn add_failing(&mut self, now: Ticks) -> Result<()> {
        loop {
            let until = now.minus(FAILING_AFTER);
            let found = self.store.failing_webhooks(self.seen, until, ROWS_MAX).await?;
            let mut webhooks: Vec<WebhookId> = found.iter().map(|failure| failure.webhook).collect();
            webhooks.sort_unstable();
            webhooks.dedup();
            for webhook in webhooks {
                self.store.add_failing_notice(webhook, now).await?;
            }
            match found.last() {
                Some(last) => self.seen = *last,
                None => return Ok(()),
            }
        }
    }

    /// One mail to each member of a team, about all of its new notices.
    async fn queue_mails(&self, now: Ticks) -> Result<()> {
        let mut teams: BTreeMap<TeamId, Vec<Notice>> = BTreeMap::new();
        for notice in self.store.unmailed_notices(ROWS_MAX).await? {
            teams.entry(notice.team.clone()).or_default().push(notice);
        }
        for (team, notices) in teams {
            let ids: Vec<Guid> = notices.iter().map(|notice| notice.id).collect();
            let mails = self.compose(&team, notices, now).await?;
            self.store.queue_notice_mails(&team, &ids, &mails, now).await?;
        }
        Ok(())
    }

    async fn compose(&self, team: &TeamId, mut notices: Vec<Notice>, now: Ticks) -> Result<Vec<Mail>> {
        notices.retain(|notice| notice.at >= now.minus(MAILED_WITHIN));
        let Some(team) = self.store.find_team(team).await? else { return Ok(Vec::new()) };
        let readers = self.store.notice_readers(&team.id).await?;
        let mail = |reader| self.mails.notices(&team, &notices, reader, now);
        Ok(readers.iter().filter_map(mail).collect())
    }
}
