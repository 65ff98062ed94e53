//! The webhooks of a team's clients over all their tenants, as the team's developers list them. A page costs a bounded
//! number of queries, and what it counts for each webhook has a bound.

use async_trait::async_trait;
use domain::event::EventKind;
use domain::webhook::EventKinds;
use domain::{ClientId, Resource, TeamId, TenantId, Ticks, WebhookId, WebhookStatus};

use super::Webhook;
use crate::Result;
use crate::rows::LIVE;

/// The largest page that a store returns, whatever the query asks for.
pub const TEAM_WEBHOOKS_MAX: usize = 200;
/// In lists, undelivered events are counted up to this: a page counts for every webhook on it.
pub const LISTED_BEHIND_MAX: u16 = 100;

/// Which webhooks a page shows; all conditions must hold.
#[derive(Clone, Debug)]
pub struct TeamWebhookQuery {
    pub team: TeamId,
    pub client: Option<ClientId>,
    pub tenant: Option<TenantId>,
    /// A part of the URL; the case of ASCII letters does not count.
    pub url_contains: Option<String>,
    /// Only webhooks that subscribe to this event.
    pub event: Option<(Resource, EventKind)>,
    /// None: all but unsubscribed and deleted ones. Whether a webhook is suspended is what the engine found last.
    pub status: Option<WebhookStatus>,
    /// Only webhooks whose deliveries or handshake fail now.
    pub only_failing: bool,
    /// Also unsubscribed and deleted webhooks; `status` decides where it is given.
    pub include_ended: bool,
    /// Only webhooks after this one, in order of creation, ties by id.
    pub after: Option<(Ticks, WebhookId)>,
    pub rows_max: usize,
}

impl TeamWebhookQuery {
    /// The first page of a team's webhooks.
    pub fn new(team: TeamId, rows_max: usize) -> Self {
        Self {
            team,
            client: None,
            tenant: None,
            url_contains: None,
            event: None,
            status: None,
            only_failing: false,
            include_ended: false,
            after: None,
            rows_max,
        }
    }

    pub(crate) fn rows_max(&self) -> usize {
        self.rows_max.clamp(1, TEAM_WEBHOOKS_MAX)
    }

    /// The cursor as SQL compares it; without one, a position before every row.
    pub(crate) fn after_or_start(&self) -> (i64, WebhookId) {
        self.after.map_or((i64::MIN, WebhookId::from_bytes([0; 16])), |(at, id)| (at.0, id))
    }

    pub(crate) fn lower_url(&self) -> Option<String> {
        self.url_contains.as_ref().map(|text| text.to_ascii_lowercase())
    }

    /// The conditions on a row `w` of the table that have no parameters.
    pub(crate) fn constant_conditions(&self) -> Vec<String> {
        let mut conditions = Vec::new();
        match self.status {
            Some(status) => conditions.push(status_condition(status).to_owned()),
            None if !self.include_ended => conditions.push(LIVE.to_owned()),
            None => {}
        }
        if self.only_failing {
            conditions.push(FAILING.to_owned());
        }
        if let Some((resource, kind)) = self.event {
            let bits = EventKinds::from_iter([kind]).bits();
            conditions.push(format!("w.resource = {} AND (w.kinds & {bits}) <> 0", resource.code()));
        }
        conditions
    }
}

pub(super) const FAILING: &str = "(w.handshake_attempts > 0 OR EXISTS (SELECT 1 FROM lanes n
     WHERE n.tenant_no = w.tenant_no AND n.webhook = w.id AND n.attempts > 0))";

/// What `WebhookStatus::of` decides, in SQL that both databases accept.
pub(super) fn status_condition(status: WebhookStatus) -> &'static str {
    match status {
        WebhookStatus::Deleted => "w.deleted_at IS NOT NULL",
        WebhookStatus::Unsubscribed => "w.deleted_at IS NULL AND w.unsubscribed_at IS NOT NULL",
        WebhookStatus::DisabledByService => {
            "w.unsubscribed_at IS NULL AND w.deleted_at IS NULL AND w.disabled_at IS NOT NULL"
        }
        WebhookStatus::Disabled => {
            "w.unsubscribed_at IS NULL AND w.deleted_at IS NULL AND w.disabled_at IS NULL AND w.enabled = 0"
        }
        WebhookStatus::Suspended => {
            "w.unsubscribed_at IS NULL AND w.deleted_at IS NULL AND w.disabled_at IS NULL AND w.enabled = 1
             AND w.suspended_at IS NOT NULL"
        }
        WebhookStatus::AwaitingContract => {
            "w.unsubscribed_at IS NULL AND w.deleted_at IS NULL AND w.disabled_at IS NULL AND w.enabled = 1
             AND w.suspended_at IS NULL AND w.handshake_accepted = 0"
        }
        WebhookStatus::Active => {
            "w.unsubscribed_at IS NULL AND w.deleted_at IS NULL AND w.disabled_at IS NULL AND w.enabled = 1
             AND w.suspended_at IS NULL AND w.handshake_accepted = 1"
        }
    }
}

/// A webhook in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedWebhook {
    pub webhook: Webhook,
    /// Since when deliveries or the handshake have failed.
    pub failing_since: Option<Ticks>,
    pub next_attempt_at: Option<Ticks>,
    /// Undelivered events after the cursor and in lanes; counted up to `LISTED_BEHIND_MAX`.
    pub behind: u64,
}

impl ListedWebhook {
    /// `lanes`: since when the first of them has failed, and when the next of them is due.
    pub(crate) fn new(webhook: Webhook, lanes: (Option<Ticks>, Option<Ticks>), behind: u64) -> Self {
        let retry = webhook.handshake.retry;
        let failed = retry.filter(|retry| retry.attempts > 0).map(|retry| retry.first_failed_at);
        Self {
            failing_since: lanes.0.into_iter().chain(failed).min(),
            next_attempt_at: lanes.1.into_iter().chain(retry.map(|retry| retry.next_at)).min(),
            behind: behind.min(LISTED_BEHIND_MAX.into()),
            webhook,
        }
    }
}

/// A page in order of creation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedWebhooks {
    pub rows: Vec<ListedWebhook>,
    /// The cursor for the next page; None on the last page.
    pub next: Option<(Ticks, WebhookId)>,
}

/// The positions of a page, from all that were found in any order, and the cursor of the next page.
pub(crate) fn page_of(
    mut found: Vec<(Ticks, WebhookId)>,
    query: &TeamWebhookQuery,
) -> (Vec<WebhookId>, Option<(Ticks, WebhookId)>) {
    found.sort_unstable();
    let has_more = found.len() > query.rows_max();
    found.truncate(query.rows_max());
    let next = found.last().copied().filter(|_| has_more);
    (found.into_iter().map(|(_, id)| id).collect(), next)
}

#[async_trait]
pub trait TeamWebhooks: Send + Sync + 'static {
    /// A page of the webhooks of a team's clients.
    async fn team_webhooks(&self, query: &TeamWebhookQuery) -> Result<ListedWebhooks>;
}
