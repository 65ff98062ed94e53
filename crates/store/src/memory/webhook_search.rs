//! The search for webhooks of all owners in memory.

use async_trait::async_trait;
use domain::WebhookStatus;

use super::MemoryStore;
use super::team_webhooks::{is_failing, listed};
use super::webhooks::is_wanted;
use crate::webhooks::search_page;
use crate::{ListedWebhook, ListedWebhooks, Result, WebhookSearch, WebhookSearches};

#[async_trait]
impl WebhookSearches for MemoryStore {
    async fn search_webhooks(&self, search: &WebhookSearch) -> Result<ListedWebhooks> {
        let state = self.state();
        let has_indexed_status = |status| search.indexed_status().is_none() || search.status == Some(status);
        let mut looked_at: Vec<_> = state.webhooks.all.values().collect();
        looked_at.sort_by_key(|stored| (stored.webhook.created_at, stored.webhook.id));
        let status_of = |one: &crate::Webhook| WebhookStatus::of(one.flags(), one.suspended_at.is_some());
        looked_at.retain(|stored| {
            is_wanted(&state, &stored.webhook, &search.query)
                && has_indexed_status(status_of(&stored.webhook))
        });
        looked_at.truncate(search.looks_max());
        let last = looked_at.get(search.looks_max() - 1);
        let last = last.map(|stored| (stored.webhook.created_at, stored.webhook.id));
        let has_status =
            |status: WebhookStatus| search.status.map_or(!status.is_final(), |wanted| status == wanted);
        let found = looked_at.iter().filter(|stored| {
            has_status(status_of(&stored.webhook)) && (!search.only_failing || is_failing(stored))
        });
        let found = found.map(|stored| (stored.webhook.created_at, stored.webhook.id));
        let (page, next) = search_page(found.take(search.rows_max() + 1).collect(), search, last);
        let counted =
            |one: ListedWebhook| ListedWebhook { behind: one.behind.min(search.behind_max().into()), ..one };
        let rows = page.iter().filter_map(|id| listed(&state, *id)).map(counted).collect();
        Ok(ListedWebhooks { rows, next })
    }
}
