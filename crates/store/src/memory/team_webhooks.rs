//! The webhooks of a team's clients in memory.

use async_trait::async_trait;
use domain::{WebhookId, WebhookStatus};

use super::webhooks::StoredWebhook;
use super::{MemoryStore, State};
use crate::webhooks::page_of;
use crate::{ListedWebhook, ListedWebhooks, Result, TeamWebhookQuery, TeamWebhooks};

pub(super) fn is_failing(stored: &StoredWebhook) -> bool {
    let lanes = stored.lanes.values().map(|lane| lane.retry);
    lanes.chain(stored.webhook.handshake.retry).any(|retry| retry.attempts > 0)
}

pub(super) fn listed(state: &State, id: WebhookId) -> Option<ListedWebhook> {
    let stored = state.webhooks.all.get(&id)?;
    let lanes = || stored.lanes.values().map(|lane| lane.retry);
    let failing = lanes().filter(|retry| retry.attempts > 0).map(|retry| retry.first_failed_at).min();
    let next = lanes().map(|retry| retry.next_at).min();
    Some(ListedWebhook::new(stored.webhook.clone(), (failing, next), state.behind(stored)))
}

fn is_wanted(state: &State, stored: &StoredWebhook, query: &TeamWebhookQuery) -> bool {
    let one = &stored.webhook;
    let client = state.clients.get(one.owner.client.as_str()).map(|stored| &stored.client);
    let status = WebhookStatus::of(one.flags(), one.suspended_at.is_some());
    client.is_some_and(|client| client.team.as_ref() == Some(&query.team))
        && query.client.as_ref().is_none_or(|client| one.owner.client == *client)
        && query.tenant.as_ref().is_none_or(|tenant| one.owner.tenant == *tenant)
        && query.lower_url().is_none_or(|text| one.url.to_ascii_lowercase().contains(&text))
        && query.event.is_none_or(|(resource, kind)| one.resource == resource && one.kinds.contains(kind))
        && query.status.map_or(query.include_ended || !status.is_final(), |wanted| status == wanted)
        && (!query.only_failing || is_failing(stored))
        && query.after.is_none_or(|after| (one.created_at, one.id) > after)
}

#[async_trait]
impl TeamWebhooks for MemoryStore {
    async fn team_webhooks(&self, query: &TeamWebhookQuery) -> Result<ListedWebhooks> {
        let state = self.state();
        let found = state.webhooks.all.values().filter(|stored| is_wanted(&state, stored, query));
        let (page, next) =
            page_of(found.map(|stored| (stored.webhook.created_at, stored.webhook.id)).collect(), query);
        let rows = page.iter().filter_map(|id| listed(&state, *id)).collect();
        Ok(ListedWebhooks { rows, next })
    }
}
