//! Webhooks in pages, oldest first.

use domain::webhook::Family;
use domain::{ClientId, Guid, Resource, TenantId, Ticks, WebhookId};
use serde::Serialize;
use store::WebhookQuery;
use utoipa::ToSchema;

use super::{FamilyWord, WebhookShown, WebhookStatus};
use crate::admin::{Admin, AdminError, Result};
use crate::audit::{ROWS_DEFAULT, ROWS_MAX};

/// The store knows no status: where one is asked for, it is looked for in this many rows at a time, so many times;
/// past that the page ends early.
const LOOK_ROWS: usize = 1_000;
const LOOKS_MAX: usize = 20;

/// Which webhooks are wanted; all conditions hold together.
#[derive(Clone, Debug, Default)]
pub struct WebhookAsk {
    pub tenant: Option<String>,
    pub client: Option<String>,
    pub family: Option<FamilyWord>,
    pub resource: Option<Resource>,
    /// None: all that are not over.
    pub status: Option<WebhookStatus>,
    pub after: Option<WebhookMark>,
    pub rows_max: Option<usize>,
}

/// Where a page ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebhookMark(Ticks, WebhookId);

impl std::fmt::Display for WebhookMark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.0.0, self.1)
    }
}

impl std::str::FromStr for WebhookMark {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let read = || {
            let (ticks, id) = text.split_once('.')?;
            let mark = Self(Ticks(ticks.parse().ok().filter(|ticks| *ticks >= 0)?), Guid::parse(id)?);
            (mark.to_string() == text && ticks.len() <= 18).then_some(mark)
        };
        read().ok_or_else(|| format!("{text:?} is not the next of an earlier page"))
    }
}

/// Webhooks, oldest first.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct WebhookPage {
    pub webhooks: Vec<WebhookShown>,
    /// Ask with `after` for what follows; null at the end. A page may be shorter than was asked for and go on.
    #[schema(required = true)]
    pub next: Option<String>,
}

impl Admin {
    pub async fn webhooks(&self, ask: &WebhookAsk) -> Result<WebhookPage> {
        let size = ask.rows_max.unwrap_or(ROWS_DEFAULT);
        if !(1..=ROWS_MAX).contains(&size) {
            return Err(AdminError::Invalid(format!("a page has 1 to {ROWS_MAX} webhooks, not {size}")));
        }
        let disabled_owners = self.store.disabled_owners().await?;
        let mut query = WebhookQuery {
            tenant: ask.tenant.as_deref().map(TenantId::new),
            client: ask.client.as_deref().map(ClientId::new),
            resource: ask.resource,
            family: ask.family.map(Family::from),
            include_ended: ask.status.is_some_and(WebhookStatus::is_final),
            after: ask.after.map(|mark| (mark.0, mark.1)),
            rows_max: if ask.status.is_some() { LOOK_ROWS } else { size + 1 },
        };
        let mark = |after: Option<(Ticks, WebhookId)>| after.map(|(at, id)| WebhookMark(at, id).to_string());
        let mut page = WebhookPage { webhooks: Vec::new(), next: None };
        for _ in 0..LOOKS_MAX {
            let found = self.store.webhooks(&query).await?;
            let is_last = found.len() < query.rows_max;
            for one in found {
                if page.webhooks.len() == size {
                    return Ok(WebhookPage { next: mark(query.after), ..page });
                }
                query.after = Some((one.created_at, one.id));
                let shown = WebhookShown::of(one, &disabled_owners);
                if ask.status.is_none_or(|status| status == shown.status) {
                    page.webhooks.push(shown);
                }
            }
            if is_last {
                if query.after.is_none() {
                    self.check_owner_known(&query).await?;
                }
                return Ok(page);
            }
        }
        Ok(WebhookPage { next: mark(query.after), ..page })
    }

    /// Whom nobody knows is told apart from who has no webhooks.
    async fn check_owner_known(&self, query: &WebhookQuery) -> Result<()> {
        if let Some(id) = &query.tenant
            && self.store.find_tenant(id).await?.is_none()
        {
            return Err(AdminError::Missing(format!("tenant \"{id}\"")));
        }
        if let Some(id) = &query.client {
            self.client(id.as_str()).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_marks_of_ours_are_read() {
        let good = "638000000000000000.0b9f6c1e-3c58-4d2f-9a51-6f6f2b1d7c40";
        assert_eq!(good.parse::<WebhookMark>().map(|mark| mark.to_string()), Ok(good.to_owned()));
        let guid = &good[19..];
        for wrong in ["", "1", "1.a", guid, &good.to_uppercase()] {
            assert!(wrong.parse::<WebhookMark>().is_err(), "{wrong}");
        }
        for ticks in ["-1", "01", "x", "", "1234567890123456789"] {
            assert!(format!("{ticks}.{guid}").parse::<WebhookMark>().is_err(), "{ticks}");
        }
    }
}
