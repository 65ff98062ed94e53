//! The webhooks of a developer's team: those of its clients, over all the tenants that have authorized them. What is done to
//! a webhook is in the crate `webhooks`; callers ask here first whether the webhook is the team's.

use domain::event::EventKind;
use domain::{ClientId, ErrorCode, Guid, Resource, Suspension, TenantId, Ticks, WebhookStatus};
use store::{AuditContext, ListedWebhook, OwnerAccess, TeamWebhookQuery, Webhook};

use super::DeveloperAdmin;
use crate::admin::webhooks::Suspensions;
use crate::admin::{AdminError, Result, WebhookCursor};

/// The webhooks of a page by default.
const PAGE_ROWS_DEFAULT: usize = 50;
/// The longest text to look for in URLs.
const URL_CHARS_MAX: usize = 200;

/// Which webhooks a page shows; all conditions must hold.
#[derive(Clone, Debug, Default)]
pub struct TeamWebhookFilter {
    pub client: Option<String>,
    pub tenant: Option<String>,
    /// A part of the URL; the case of ASCII letters does not count.
    pub url_contains: Option<String>,
    /// Only webhooks that subscribe to this event.
    pub event: Option<(Resource, EventKind)>,
    /// None: all but unsubscribed and deleted ones.
    pub status: Option<WebhookStatus>,
    pub only_failing: bool,
    /// Also unsubscribed and deleted ones.
    pub include_ended: bool,
    pub after: Option<WebhookCursor>,
    /// 50 by default, `store::TEAM_WEBHOOKS_MAX` at most.
    pub rows_max: Option<usize>,
}

/// A webhook with everything that its displayed state depends on.
#[derive(Clone, Debug)]
pub struct TeamWebhook {
    /// It has the secrets: show them to nobody.
    pub webhook: Webhook,
    pub status: WebhookStatus,
    /// Why it is suspended; None where `status` is another.
    pub suspension: Option<Suspension>,
    /// Why what happens in the tenant is not shown, also where `status` is another: a paused webhook's access may end too.
    pub hidden: Option<Suspension>,
    /// Since when deliveries or the handshake have failed; None while it is hidden.
    pub failing_since: Option<Ticks>,
    /// None without access: schedules stand still.
    pub next_attempt_at: Option<Ticks>,
    /// Undelivered events; `store::LISTED_BEHIND_MAX` stands for that many or more. 0 while they are hidden.
    pub behind: u64,
}

impl TeamWebhook {
    /// `suspension`: why its owner may not receive anything now.
    fn new(listed: ListedWebhook, suspension: Option<Suspension>) -> Self {
        let ListedWebhook { webhook, failing_since, next_attempt_at, behind } = listed;
        let status = WebhookStatus::of(webhook.flags(), suspension.is_some());
        let is_suspended = status == WebhookStatus::Suspended;
        Self {
            status,
            suspension: suspension.filter(|_| is_suspended),
            hidden: suspension,
            failing_since: failing_since.filter(|_| suspension.is_none()),
            next_attempt_at: next_attempt_at.filter(|_| suspension.is_none()),
            behind: if suspension.is_some() { 0 } else { behind },
            webhook,
        }
    }

    /// What the status means, and what to do.
    pub fn explanation(&self) -> String {
        let reason = self.webhook.disabled.as_ref().map_or("", |disabled| &disabled.reason);
        self.status.explanation(self.webhook.initial_cursor.is_some(), reason, self.suspension)
    }
}

/// Webhooks, oldest first. A page that is filtered by status may be shorter than its size and have a next.
#[derive(Clone, Debug)]
pub struct TeamWebhookPage {
    pub rows: Vec<TeamWebhook>,
    pub next: Option<WebhookCursor>,
}

/// Whether a developer may see the events, the records and the bodies of a webhook's deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookContent {
    Visible,
    /// The client may not receive the tenant's data now, so its developers may not see what it got.
    Hidden(Suspension),
}

impl WebhookContent {
    /// The one rule: what the client may not receive now, its developers do not see.
    fn of(access: &OwnerAccess, webhook: &Webhook) -> Self {
        access.suspension(webhook.resource.area()).map_or(Self::Visible, Self::Hidden)
    }

    pub fn is_visible(self) -> bool {
        self == Self::Visible
    }
}

impl DeveloperAdmin {
    /// A page of the webhooks of a team's clients.
    pub async fn webhooks(&self, team: &str, filter: &TeamWebhookFilter) -> Result<TeamWebhookPage> {
        let member = self.require_member(team).await?;
        if filter.url_contains.as_ref().is_some_and(|text| text.chars().count() > URL_CHARS_MAX) {
            let why = format!("a part of a URL has {URL_CHARS_MAX} characters at most");
            return Err(AdminError::Invalid(why));
        }
        let query = TeamWebhookQuery {
            client: filter.client.as_deref().map(ClientId::new),
            tenant: filter.tenant.as_deref().map(TenantId::new),
            url_contains: filter.url_contains.clone(),
            event: filter.event,
            status: filter.status,
            only_failing: filter.only_failing,
            include_ended: filter.include_ended,
            after: filter.after.map(|cursor| (cursor.0, cursor.1)),
            ..TeamWebhookQuery::new(member.team, filter.rows_max.unwrap_or(PAGE_ROWS_DEFAULT))
        };
        let page = self.admin.store.team_webhooks(&query).await?;
        let webhooks: Vec<Webhook> = page.rows.iter().map(|row| row.webhook.clone()).collect();
        let suspensions = Suspensions::of(&*self.admin.store, &webhooks).await?;
        let shown = page.rows.into_iter().map(|row| {
            let suspension = suspensions.get(&row.webhook);
            TeamWebhook::new(row, suspension)
        });
        // The engine may not have found yet that access has ended or stands again.
        let is_wanted = |one: &TeamWebhook| filter.status.is_none_or(|status| one.status == status);
        let next = page.next.map(|(at, id)| WebhookCursor(at, id));
        Ok(TeamWebhookPage { rows: shown.filter(is_wanted).collect(), next })
    }

    /// A webhook of a client of one of the developer's teams, also one that has ended.
    pub async fn webhook(&self, id: &str) -> Result<TeamWebhook> {
        let webhook = self.require_webhook(id).await?;
        let store = &self.admin.store;
        let stats = store.webhook_stats(webhook.id, self.admin.now()).await?;
        let access = store.owner_access(&webhook.owner).await?;
        let suspension = access.suspension(webhook.resource.area());
        let listed = ListedWebhook {
            webhook,
            failing_since: stats.failing_since,
            next_attempt_at: stats.next_attempt_at,
            behind: stats.behind,
        };
        Ok(TeamWebhook::new(listed, suspension))
    }

    /// The webhook, if its client belongs to one of the developer's teams; to others it does not exist.
    pub async fn require_webhook(&self, id: &str) -> Result<Webhook> {
        let what = || format!("webhook \"{id}\"");
        let found = match Guid::parse(id) {
            Some(guid) => self.admin.store.find_webhook(guid).await?,
            None => None,
        };
        let webhook = found.ok_or_else(|| AdminError::NotFound(what()))?;
        let client = self.admin.store.find_client(&webhook.owner.client).await?;
        self.require_member_of(client.and_then(|client| client.team).as_ref(), what).await?;
        Ok(webhook)
    }

    /// The webhook and the audit context, for an action that changes, tests or replays it.
    pub async fn changeable_webhook(&self, id: &str) -> Result<(Webhook, &AuditContext)> {
        let webhook = self.require_webhook(id).await?;
        let client = self.admin.client(webhook.owner.client.as_str()).await?;
        self.require_active(client.team.as_ref()).await?;
        Ok((webhook, &self.context))
    }

    /// The webhook, if the developer may see what its deliveries contained: for lists of deliveries, single ones, and
    /// replays. While its access does not stand, it is a conflict that says why.
    pub async fn webhook_with_content(&self, id: &str) -> Result<Webhook> {
        let webhook = self.require_webhook(id).await?;
        match self.may_see_content(&webhook).await? {
            WebhookContent::Visible => Ok(webhook),
            WebhookContent::Hidden(suspension) => {
                Err(AdminError::Conflict { code: ErrorCode::Suspended, why: suspension.explanation() })
            }
        }
    }

    /// Whether events, records and bodies of a webhook of the developer's team may be shown now. Every page and API that
    /// shows any of them asks this.
    pub async fn may_see_content(&self, webhook: &Webhook) -> Result<WebhookContent> {
        let access = self.admin.store.owner_access(&webhook.owner).await?;
        Ok(WebhookContent::of(&access, webhook))
    }
}
