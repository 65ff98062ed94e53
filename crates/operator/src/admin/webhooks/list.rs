//! Webhooks in pages, oldest first.

use domain::webhook::Family;
use domain::{ClientId, Guid, Resource, TeamId, TenantId, Ticks, WebhookId, WebhookStatus};
use serde::Serialize;
use store::{WebhookQuery, receiver_host};
use utoipa::ToSchema;

use super::{Suspensions, WebhookAdmin, WebhookFamily, WebhookJson};
use crate::admin::{AdminError, Result};
use crate::page_size::{ROWS_DEFAULT, ROWS_MAX};

/// The store cannot filter by status: a page that does reads this many rows at a time, this many times; past that it ends
/// early.
const READ_ROWS: usize = 1_000;
const READS_MAX: usize = 20;

/// Which webhooks a page lists; all conditions hold together.
#[derive(Clone, Debug, Default)]
pub struct WebhookListQuery {
    pub tenant: Option<String>,
    pub client: Option<String>,
    /// Only those of this team's clients.
    pub team: Option<String>,
    /// The host of the receiver; a URL stands for its host.
    pub host: Option<String>,
    pub family: Option<WebhookFamily>,
    pub resource: Option<Resource>,
    /// None: all that are neither unsubscribed nor deleted.
    pub status: Option<WebhookStatus>,
    pub after: Option<WebhookCursor>,
    pub rows_max: Option<usize>,
}

/// Where a page ended: its last webhook's time of creation and id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebhookCursor(pub(crate) Ticks, pub(crate) WebhookId);

impl std::fmt::Display for WebhookCursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.0.0, self.1)
    }
}

impl std::str::FromStr for WebhookCursor {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parse = || {
            let (ticks, id) = text.split_once('.')?;
            let cursor = Self(Ticks(ticks.parse().ok().filter(|ticks| *ticks >= 0)?), Guid::parse(id)?);
            (cursor.to_string() == text && ticks.len() <= 18).then_some(cursor)
        };
        parse().ok_or_else(|| format!("{text:?} is not the next of an earlier page"))
    }
}

/// Webhooks, oldest first.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = WebhookPage)]
pub struct WebhookPageJson {
    pub webhooks: Vec<WebhookJson>,
    /// Send it as `after` to get the webhooks that follow; null at the end. A page may be shorter than its size and have
    /// a next.
    #[schema(required = true)]
    pub next: Option<String>,
}

impl WebhookAdmin {
    pub async fn list(&self, list: &WebhookListQuery) -> Result<WebhookPageJson> {
        let size = list.rows_max.unwrap_or(ROWS_DEFAULT);
        if !(1..=ROWS_MAX).contains(&size) {
            return Err(AdminError::Invalid(format!("a page has 1 to {ROWS_MAX} webhooks, not {size}")));
        }
        let mut query = WebhookQuery {
            tenant: list.tenant.as_deref().map(TenantId::new),
            client: list.client.as_deref().map(ClientId::new),
            team: list.team.as_deref().map(TeamId::new),
            host: list.host.as_deref().map(receiver_host),
            resource: list.resource,
            family: list.family.map(Family::from),
            include_ended: list.status.is_some_and(WebhookStatus::is_final),
            after: list.after.map(|cursor| (cursor.0, cursor.1)),
            rows_max: if list.status.is_some() { READ_ROWS } else { size + 1 },
        };
        let next =
            |after: Option<(Ticks, WebhookId)>| after.map(|(at, id)| WebhookCursor(at, id).to_string());
        let mut page = WebhookPageJson { webhooks: Vec::new(), next: None };
        for _ in 0..READS_MAX {
            let found = self.store.webhooks(&query).await?;
            let is_last = found.len() < query.rows_max;
            let suspensions = Suspensions::of(&*self.store, &found).await?;
            for webhook in found {
                if page.webhooks.len() == size {
                    return Ok(WebhookPageJson { next: next(query.after), ..page });
                }
                query.after = Some((webhook.created_at, webhook.id));
                let suspension = suspensions.get(&webhook);
                let json = WebhookJson::new(webhook, suspension);
                if list.status.is_none_or(|status| status == json.status) {
                    page.webhooks.push(json);
                }
            }
            if is_last {
                if query.after.is_none() {
                    self.check_owner_exists(&query).await?;
                }
                return Ok(page);
            }
        }
        Ok(WebhookPageJson { next: next(query.after), ..page })
    }

    /// An empty list is an error where the tenant, the client or the team does not exist.
    async fn check_owner_exists(&self, query: &WebhookQuery) -> Result<()> {
        if let Some(id) = &query.tenant
            && self.store.find_tenant(id).await?.is_none()
        {
            return Err(AdminError::NotFound(format!("tenant \"{id}\"")));
        }
        if let Some(id) = &query.client
            && self.store.find_client(id).await?.is_none()
        {
            return Err(AdminError::NotFound(format!("client \"{id}\"")));
        }
        if let Some(id) = &query.team
            && self.store.find_team(id).await?.is_none()
        {
            return Err(AdminError::NotFound(format!("team \"{id}\"")));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cursors_as_they_are_written_are_accepted() {
        let good = "638000000000000000.0b9f6c1e-3c58-4d2f-9a51-6f6f2b1d7c40";
        assert_eq!(good.parse::<WebhookCursor>().map(|cursor| cursor.to_string()), Ok(good.to_owned()));
        let guid = &good[19..];
        for wrong in ["", "1", "1.a", guid, &good.to_uppercase()] {
            assert!(wrong.parse::<WebhookCursor>().is_err(), "{wrong}");
        }
        for ticks in ["-1", "01", "x", "", "1234567890123456789"] {
            assert!(format!("{ticks}.{guid}").parse::<WebhookCursor>().is_err(), "{ticks}");
        }
    }
}
