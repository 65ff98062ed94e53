//! The webhooks of all owners as the operator looks for them: by host, owner, state. A page looks at a bounded number of
//! webhooks, and what it counts for each has a bound.

use async_trait::async_trait;
use domain::{Ticks, WebhookId, WebhookStatus};

use super::team::{FAILING, status_condition};
use super::{LISTED_BEHIND_MAX, ListedWebhooks, TEAM_WEBHOOKS_MAX, WebhookQuery};
use crate::Result;

/// So many webhooks a page looks at. What an index finds (host, tenant, client, team, suspended, disabled by the service) is
/// not counted.
pub const SEARCHED_WEBHOOKS_MAX: usize = 10_000;

/// Which webhooks a page shows; all conditions must hold.
#[derive(Clone, Debug, Default)]
pub struct WebhookSearch {
    /// A page has `TEAM_WEBHOOKS_MAX` rows at most. `status` decides whether ended ones are among them.
    pub query: WebhookQuery,
    /// None: all but unsubscribed and deleted ones. Whether a webhook is suspended is what the engine found last.
    pub status: Option<WebhookStatus>,
    /// Only webhooks whose deliveries or handshake fail now.
    pub only_failing: bool,
    /// Whether undelivered events are counted, up to `LISTED_BEHIND_MAX`.
    pub counts_behind: bool,
    /// None: `SEARCHED_WEBHOOKS_MAX`, which is also the most.
    pub looks_max: Option<usize>,
}

impl WebhookSearch {
    pub(crate) fn rows_max(&self) -> usize {
        self.query.rows_max.clamp(1, TEAM_WEBHOOKS_MAX)
    }

    pub(crate) fn looks_max(&self) -> usize {
        self.looks_max.unwrap_or(SEARCHED_WEBHOOKS_MAX).clamp(1, SEARCHED_WEBHOOKS_MAX)
    }

    pub(crate) fn behind_max(&self) -> u16 {
        if self.counts_behind { LISTED_BEHIND_MAX } else { 0 }
    }

    /// The condition on the status, where an index has it.
    pub(crate) fn indexed_status(&self) -> Option<&'static str> {
        let has_index = |status: &WebhookStatus| {
            matches!(status, WebhookStatus::Suspended | WebhookStatus::DisabledByService)
        };
        self.status.filter(has_index).map(status_condition)
    }

    /// The conditions on a row `w` of the table that are checked on each webhook that a page looks at.
    pub(crate) fn checked_conditions(&self) -> Vec<String> {
        let mut conditions = vec!["EXISTS (SELECT 1 FROM tenants t WHERE t.no = w.tenant_no)".to_owned()];
        conditions.extend(self.query.other_conditions(self.status.is_some_and(WebhookStatus::is_final)));
        conditions.extend(self.status.map(|status| status_condition(status).to_owned()));
        if self.only_failing {
            conditions.push(FAILING.to_owned());
        }
        conditions
    }
}

/// The webhooks of a page, from those that were found in order, one more than a page has; and the cursor of the next page.
/// `last_looked_at`: the last one that was looked at, where there may be more.
pub(crate) fn search_page(
    mut found: Vec<(Ticks, WebhookId)>,
    search: &WebhookSearch,
    last_looked_at: Option<(Ticks, WebhookId)>,
) -> (Vec<WebhookId>, Option<(Ticks, WebhookId)>) {
    let has_more = found.len() > search.rows_max();
    found.truncate(search.rows_max());
    let next = if has_more { found.last().copied() } else { last_looked_at };
    (found.into_iter().map(|(_, id)| id).collect(), next)
}

#[async_trait]
pub trait WebhookSearches: Send + Sync + 'static {
    /// A page of the webhooks of all owners, in order of creation. It may be shorter than its size, or empty, and have a
    /// next.
    async fn search_webhooks(&self, search: &WebhookSearch) -> Result<ListedWebhooks>;
}
