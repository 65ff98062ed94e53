//! One action on all webhooks that match a filter. Who acts has seen the set: its digest says so, and another set is refused.

use std::fmt::Write as _;

use aws_lc_rs::digest;
use domain::{ErrorCode, Ticks};
use futures_util::{StreamExt as _, stream};
use serde::Serialize;
use store::Webhook;
use utoipa::ToSchema;

use super::{FoundWebhook, WebhookAdmin, WebhookFilter, WebhookJson};
use crate::admin::{AdminError, Authority, Permission, Result};

/// The most webhooks of one action.
pub const BULK_WEBHOOKS_MAX: usize = 200;
/// Past so many reads the filter is too wide: each looks at `store::SEARCHED_WEBHOOKS_MAX` webhooks.
const READS_MAX: usize = 20;
/// Changes that are under way at once.
const CONCURRENCY: usize = 8;

/// What is done to each webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkAction {
    Enable,
    Disable,
    /// Sends the events of a span of time again; without an end, up to the end of the log.
    Replay {
        from: Ticks,
        to: Option<Ticks>,
    },
}

/// Exactly the webhooks that an action would touch, oldest first.
#[derive(Clone, Debug)]
pub struct BulkSelection {
    pub webhooks: Vec<FoundWebhook>,
    /// Stands for the set: which webhooks, in which state.
    pub digest: String,
}

/// What became of one webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BulkResult)]
pub struct BulkResultJson {
    #[schema(format = "uuid", examples("0b9f6c1e-3c58-4d2f-9a51-6f6f2b1d7c40"))]
    pub id: String,
    #[schema(examples("https://app.example/hook"))]
    pub url: String,
    /// Whether the action was carried out.
    pub done: bool,
    /// Why not, for programs.
    #[schema(required = true, examples("inactive"))]
    pub code: Option<String>,
    /// Why not, for people.
    #[schema(required = true)]
    pub message: Option<String>,
}

/// What became of each webhook, in the order of the selection.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = BulkResults)]
pub struct BulkResultsJson {
    pub results: Vec<BulkResultJson>,
}

/// The webhooks that an action would touch.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = BulkSelection)]
pub struct BulkSelectionJson {
    /// Send it with the action: it is refused if the set has changed.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    pub digest: String,
    #[schema(max_items = 200)]
    pub webhooks: Vec<WebhookJson>,
}

impl From<BulkSelection> for BulkSelectionJson {
    fn from(selection: BulkSelection) -> Self {
        let json = |one: FoundWebhook| WebhookJson::new(one.webhook, one.suspension);
        Self { digest: selection.digest, webhooks: selection.webhooks.into_iter().map(json).collect() }
    }
}

impl WebhookAdmin {
    /// The webhooks that match, if they are not too many for one action.
    pub async fn select(&self, filter: &WebhookFilter) -> Result<BulkSelection> {
        let (mut webhooks, mut after) = (Vec::new(), None);
        for _ in 0..READS_MAX {
            let page = self.search_uncounted(filter, after, BULK_WEBHOOKS_MAX).await?;
            webhooks.extend(page.rows);
            after = page.next;
            if after.is_none() || webhooks.len() > BULK_WEBHOOKS_MAX {
                break;
            }
        }
        if after.is_some() || webhooks.len() > BULK_WEBHOOKS_MAX {
            let why =
                format!("more than {BULK_WEBHOOKS_MAX} webhooks match, or may match; narrow the filter");
            return Err(AdminError::Conflict { code: ErrorCode::TooManyWebhooks, why });
        }
        Ok(BulkSelection { digest: digest_of(&webhooks), webhooks })
    }

    /// Acts on each webhook that matches, if they are those of the digest. Each leaves an audit entry of its own.
    pub async fn act_on_all(
        &self,
        filter: &WebhookFilter,
        digest: &str,
        action: BulkAction,
        by: &Authority,
    ) -> Result<BulkResultsJson> {
        by.require(Permission::Webhooks)?;
        if let BulkAction::Replay { from, to: Some(to) } = action
            && from > to
        {
            return Err(AdminError::Invalid("from must not be later than to".into()));
        }
        let selection = self.select(filter).await?;
        if selection.digest != digest {
            let why = "the webhooks that match have changed since you looked; look again and repeat";
            return Err(AdminError::Conflict { code: ErrorCode::SelectionChanged, why: why.into() });
        }
        let all = selection.webhooks.into_iter().map(|one| self.act_on_one(one.webhook, action, by));
        let results = stream::iter(all).buffered(CONCURRENCY);
        Ok(BulkResultsJson { results: results.collect().await })
    }

    async fn act_on_one(&self, webhook: Webhook, action: BulkAction, by: &Authority) -> BulkResultJson {
        let id = webhook.id.to_string();
        let done = match action {
            BulkAction::Enable => self.enable(&id, by).await.map(drop),
            BulkAction::Disable => self.disable(&id, by).await.map(drop),
            BulkAction::Replay { from, to } => self.replay_span(&id, from, to, by).await.map(drop),
        };
        let error = done.err();
        BulkResultJson {
            id,
            url: webhook.url,
            done: error.is_none(),
            code: error.as_ref().map(|error| error.code().as_str().to_owned()),
            message: error.map(|error| match error {
                AdminError::Store(error) => {
                    tracing::error!(%error, "a webhook of a bulk action could not be changed");
                    "the store could not do it; try again".to_owned()
                }
                error => error.to_string(),
            }),
        }
    }
}

/// The same on every node.
fn digest_of(webhooks: &[FoundWebhook]) -> String {
    let mut context = digest::Context::new(&digest::SHA256);
    for one in webhooks {
        let line = format!("{} {} {}\n", one.webhook.id, one.status.as_str(), one.webhook.revision);
        context.update(line.as_bytes());
    }
    context.finish().as_ref().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
