//! Webhooks of all owners as the console lists them, with everything that their displayed state depends on.

use domain::webhook::Family;
use domain::{ClientId, Resource, Suspension, TeamId, TenantId, Ticks, WebhookStatus};
use store::{ListedWebhook, Webhook, WebhookQuery, WebhookSearch, receiver_host};

use super::{Suspensions, WebhookAdmin, WebhookCursor, WebhookFamily};
use crate::admin::Result;

/// Which webhooks are wanted; all conditions hold together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookFilter {
    /// The host of the receiver; a URL stands for its host.
    pub host: Option<String>,
    pub tenant: Option<String>,
    pub client: Option<String>,
    /// Only those of this team's clients.
    pub team: Option<String>,
    pub family: Option<WebhookFamily>,
    pub resource: Option<Resource>,
    /// None: all that are neither unsubscribed nor deleted.
    pub state: Option<WebhookState>,
}

/// A state to look for: a status, or that deliveries or the handshake fail now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookState {
    Failing,
    Status(WebhookStatus),
}

impl WebhookState {
    pub fn all() -> impl Iterator<Item = Self> {
        [Self::Failing].into_iter().chain(WebhookStatus::ALL.map(Self::Status))
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::all().find(|state| state.as_str() == name)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failing => "failing",
            Self::Status(status) => status.as_str(),
        }
    }
}

/// A webhook with everything that its displayed state depends on.
#[derive(Clone, Debug)]
pub struct FoundWebhook {
    /// It has the secrets: show them to nobody.
    pub webhook: Webhook,
    pub status: WebhookStatus,
    /// Why its owner may not receive anything now, also where it is paused or disabled besides.
    pub suspension: Option<Suspension>,
    pub failing_since: Option<Ticks>,
    pub next_attempt_at: Option<Ticks>,
    /// Undelivered events; in lists, `store::LISTED_BEHIND_MAX` stands for that many or more.
    pub behind: u64,
}

impl FoundWebhook {
    fn new(listed: ListedWebhook, suspension: Option<Suspension>) -> Self {
        let ListedWebhook { webhook, failing_since, next_attempt_at, behind } = listed;
        let status = WebhookStatus::of(webhook.flags(), suspension.is_some());
        // Schedules stand still while a webhook is off or suspended.
        let is_tried = matches!(status, WebhookStatus::Active | WebhookStatus::AwaitingContract);
        Self {
            status,
            suspension,
            failing_since: failing_since.filter(|_| is_tried),
            next_attempt_at: next_attempt_at.filter(|_| is_tried),
            behind,
            webhook,
        }
    }

    fn is_in(&self, state: WebhookState) -> bool {
        match state {
            WebhookState::Failing => self.failing_since.is_some(),
            WebhookState::Status(status) => self.status == status,
        }
    }
}

/// Webhooks, oldest first. A page may be shorter than its size, or empty, and have a next.
#[derive(Clone, Debug)]
pub struct FoundWebhooks {
    pub rows: Vec<FoundWebhook>,
    pub next: Option<WebhookCursor>,
}

impl WebhookAdmin {
    /// A page of the webhooks that match, `store::TEAM_WEBHOOKS_MAX` at most.
    pub async fn search(
        &self,
        filter: &WebhookFilter,
        after: Option<WebhookCursor>,
        rows_max: usize,
    ) -> Result<FoundWebhooks> {
        self.read_page(&WebhookSearch { counts_behind: true, ..search(filter, after, rows_max) }, filter)
            .await
    }

    /// The same without counting what the webhooks are behind.
    pub(super) async fn search_uncounted(
        &self,
        filter: &WebhookFilter,
        after: Option<WebhookCursor>,
        rows_max: usize,
    ) -> Result<FoundWebhooks> {
        self.read_page(&search(filter, after, rows_max), filter).await
    }

    async fn read_page(&self, search: &WebhookSearch, filter: &WebhookFilter) -> Result<FoundWebhooks> {
        let page = self.store.search_webhooks(search).await?;
        let webhooks: Vec<Webhook> = page.rows.iter().map(|row| row.webhook.clone()).collect();
        let suspensions = Suspensions::of(&*self.store, &webhooks).await?;
        let rows = page.rows.into_iter().map(|row| {
            let suspension = suspensions.get(&row.webhook);
            FoundWebhook::new(row, suspension)
        });
        // The engine may not have found yet that access has ended or stands again.
        let rows = rows.filter(|one| filter.state.is_none_or(|state| one.is_in(state))).collect();
        Ok(FoundWebhooks { rows, next: page.next.map(|(at, id)| WebhookCursor(at, id)) })
    }

    /// Any webhook, also one that has ended, for its page.
    pub async fn found(&self, id: &str) -> Result<FoundWebhook> {
        let webhook = self.find(id).await?;
        let stats = self.store.webhook_stats(webhook.id, self.clock.now()).await?;
        let suspension = Suspensions::of(&*self.store, std::slice::from_ref(&webhook)).await?.get(&webhook);
        Ok(FoundWebhook::new(
            ListedWebhook {
                webhook,
                failing_since: stats.failing_since,
                next_attempt_at: stats.next_attempt_at,
                behind: stats.behind,
            },
            suspension,
        ))
    }
}

fn search(filter: &WebhookFilter, after: Option<WebhookCursor>, rows_max: usize) -> WebhookSearch {
    let text = |text: &Option<String>| {
        text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let (status, only_failing) = match filter.state {
        None => (None, false),
        Some(WebhookState::Failing) => (None, true),
        Some(WebhookState::Status(status)) => (Some(status), false),
    };
    WebhookSearch {
        query: WebhookQuery {
            tenant: text(&filter.tenant).map(TenantId::new),
            client: text(&filter.client).map(ClientId::new),
            team: text(&filter.team).map(TeamId::new),
            host: text(&filter.host).map(|host| receiver_host(&host)),
            resource: filter.resource,
            family: filter.family.map(Family::from),
            include_ended: false,
            after: after.map(|cursor| (cursor.0, cursor.1)),
            rows_max,
        },
        status,
        only_failing,
        ..WebhookSearch::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_the_statuses_and_failing() {
        assert_eq!(WebhookState::all().count(), WebhookStatus::ALL.len() + 1);
        for state in WebhookState::all() {
            assert_eq!(WebhookState::parse(state.as_str()), Some(state));
        }
        assert_eq!(WebhookState::parse("asleep"), None);
    }

    #[test]
    fn host_may_be_written_as_a_url_and_blank_texts_ask_for_nothing() {
        let filter = WebhookFilter {
            host: Some(" https://Hooks.Example:8443/a ".into()),
            tenant: Some(" ".into()),
            ..WebhookFilter::default()
        };
        let query = search(&filter, None, 5).query;
        assert_eq!((query.host.as_deref(), query.tenant), (Some("hooks.example"), None));
    }
}
