//! Notices to teams: what happened to their webhooks, requests, keys and secrets. What a mutation causes is stored in its
//! transaction; what only time causes is added by a task that every node runs. A unique key makes one notice of one fact.
//! The mails to the members are queued later, for all new notices of a team together, in one transaction with the mark that
//! they are queued.

use std::time::Duration;

use async_trait::async_trait;
use domain::{AccountId, Guid, NoticeKind, NoticeKinds, NoticeObject, TeamId, Ticks, WebhookId};

use crate::{AuditContext, KeySlot, Mail, RequestDecision, RequestKind, RequestState, Result, TeamRequest};

/// The newest notices that are kept for each team.
pub const NOTICES_MAX: usize = 500;
/// Older notices are deleted.
pub(crate) const NOTICE_LIFE: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// Unread notices are counted up to this number.
pub const UNREAD_NOTICES_MAX: usize = 100;
/// A webhook that has failed for this long is worth a notice.
pub const FAILING_AFTER: Duration = Duration::from_secs(60 * 60);
/// A webhook that fails again gets no other notice within this time.
pub const FAILING_PAUSE: Duration = Duration::from_secs(24 * 60 * 60);
/// The end of a key or a secret is announced this long before.
pub const ENDING_WITHIN: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub id: Guid,
    pub team: TeamId,
    pub kind: NoticeKind,
    pub object: NoticeObject,
    /// The id of the webhook, the request, the subscription or the client.
    pub subject: String,
    /// What it was called then.
    pub name: String,
    /// Why a webhook was disabled or a request refused; which key ends.
    pub detail: String,
    /// When it began; for keys and secrets, when they end.
    pub since: Ticks,
    pub at: Ticks,
}

/// The position of a notice in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NoticeCursor {
    pub at: Ticks,
    pub id: Guid,
}

/// Which notices to read: those before the cursor, or the newest.
#[derive(Clone, Copy, Debug)]
pub struct NoticeQuery {
    pub before: Option<NoticeCursor>,
    pub rows_max: usize,
}

impl NoticeQuery {
    fn rows_max(&self) -> usize {
        self.rows_max.clamp(1, NOTICES_MAX)
    }

    /// The `LIMIT`: one row more than the page.
    pub(crate) fn limit(&self) -> usize {
        self.rows_max() + 1
    }

    /// The cursor as SQL compares it; without one, a position after every row.
    pub(crate) fn before(&self) -> (i64, [u8; 16]) {
        self.before.map_or((i64::MAX, [0xff; 16]), |cursor| (cursor.at.0, *cursor.id.as_bytes()))
    }

    pub(crate) fn page(&self, mut rows: Vec<Notice>) -> NoticePage {
        let has_more = rows.len() > self.rows_max();
        rows.truncate(self.rows_max());
        let next = rows.last().filter(|_| has_more).map(Notice::cursor);
        NoticePage { rows, next }
    }
}

/// Notices, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticePage {
    pub rows: Vec<Notice>,
    pub next: Option<NoticeCursor>,
}

/// What a member has chosen and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoticeSettings {
    /// The kinds that the member wants as mail; all of them by default.
    pub mailed: NoticeKinds,
    /// Notices up to this time are read; at first, those from before the member joined.
    pub read_at: Ticks,
}

/// The kinds that a member gets as mail, from those that the member does not want.
pub(crate) fn mailed(muted: i64) -> NoticeKinds {
    NoticeKinds::from_bits(muted).others()
}

/// An active member who may get mails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeReader {
    pub account: AccountId,
    pub email: String,
    pub given_name: String,
    pub lang: String,
    pub mailed: NoticeKinds,
}

/// A webhook with a record that has failed since then; also the position in their list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WebhookFailure {
    pub first_failed_at: Ticks,
    pub webhook: WebhookId,
}

impl Default for WebhookFailure {
    /// Before all others.
    fn default() -> Self {
        Self { first_failed_at: Ticks(0), webhook: Guid::from_bytes([0; 16]) }
    }
}

impl Notice {
    pub fn cursor(&self) -> NoticeCursor {
        NoticeCursor { at: self.at, id: self.id }
    }

    /// What the team is told about a decision that somebody else took; `id` is the notice's.
    pub(crate) fn of_decision(request: &TeamRequest, decision: &RequestDecision, id: Guid) -> Option<Self> {
        let kind = match (request.state, decision) {
            (_, RequestDecision::Approve(approval)) if approval.is_automatic => return None,
            (RequestState::Approved, _) => NoticeKind::RequestApproved,
            (RequestState::Refused, _) => NoticeKind::RequestRefused,
            (RequestState::Pending | RequestState::Withdrawn, _) => return None,
        };
        let (object, name) = match &request.kind {
            RequestKind::Client { name, .. } => (NoticeObject::Client, name),
            RequestKind::RedirectUri { uri, .. } => (NoticeObject::RedirectUri, uri),
            RequestKind::Subscription { name, .. } => (NoticeObject::Subscription, name),
        };
        let at = request.decided_at?;
        Some(Self {
            id,
            team: request.team.clone(),
            kind,
            object,
            subject: request.id.to_string(),
            name: name.clone(),
            detail: request.reason.clone(),
            since: at,
            at,
        })
    }
}

/// A replaced key or secret of a team that ends soon.
pub(crate) struct EndingTeamCredential {
    pub(crate) team: TeamId,
    /// The subscription or the client.
    pub(crate) subject: String,
    pub(crate) name: String,
    /// None of a client's secret.
    pub(crate) slot: Option<KeySlot>,
    pub(crate) ends_at: Ticks,
}

impl EndingTeamCredential {
    pub(crate) fn notice(self, kind: NoticeKind, object: NoticeObject, id: Guid, now: Ticks) -> Notice {
        let Self { team, subject, name, slot, ends_at: since } = self;
        let detail = slot.map(|slot| slot.as_str().to_owned()).unwrap_or_default();
        Notice { id, team, kind, object, subject, name, detail, since, at: now }
    }
}

/// From when on a notice that a webhook fails stands for the present failure too: one that was made since the failure began,
/// or a short time ago.
pub(crate) fn failing_notice_stands_from(failing_since: Ticks, now: Ticks) -> Ticks {
    failing_since.min(now.minus(FAILING_PAUSE))
}

/// What the service does by itself, and what a member has read, is not audited; preferences are.
#[async_trait]
pub trait Notices: Send + Sync + 'static {
    async fn list_notices(&self, team: &TeamId, query: &NoticeQuery) -> Result<NoticePage>;

    /// How many notices a member has not read, up to `UNREAD_NOTICES_MAX`.
    async fn unread_notices(&self, team: &TeamId, account: &AccountId) -> Result<usize>;

    /// None: not a member.
    async fn notice_settings(&self, team: &TeamId, account: &AccountId) -> Result<Option<NoticeSettings>>;

    /// Marks the notices up to a time as read. False: not a member.
    async fn mark_notices_read(&self, team: &TeamId, account: &AccountId, up_to: Ticks) -> Result<bool>;

    /// Sets which kinds a member gets as mail. False: not a member.
    async fn set_notice_preferences(
        &self,
        team: &TeamId,
        account: &AccountId,
        mailed: NoticeKinds,
        context: &AuditContext,
    ) -> Result<bool>;

    /// The webhooks with a record that has failed since `until` or longer, after a position.
    async fn failing_webhooks(
        &self,
        after: WebhookFailure,
        until: Ticks,
        rows_max: usize,
    ) -> Result<Vec<WebhookFailure>>;

    /// Adds a notice for an active webhook of a team that has failed for `FAILING_AFTER`, unless the team has one. Returns
    /// whether it was added.
    async fn add_failing_notice(&self, webhook: WebhookId, now: Ticks) -> Result<bool>;

    /// Adds up to `rows_max` notices for replaced keys, and as many for replaced secrets, that end within `ENDING_WITHIN`.
    /// Returns how many were added.
    async fn add_ending_notices(&self, now: Ticks, rows_max: usize) -> Result<usize>;

    /// Notices whose mails are not queued yet, oldest first.
    async fn unmailed_notices(&self, rows_max: usize) -> Result<Vec<Notice>>;

    /// The active members of a team.
    async fn notice_readers(&self, team: &TeamId) -> Result<Vec<NoticeReader>>;

    /// Queues the mails for notices of a team, and deletes what is over `NOTICES_MAX`. False, and nothing is queued, if the
    /// mails of one of them were queued before.
    async fn queue_notice_mails(
        &self,
        team: &TeamId,
        notices: &[Guid],
        mails: &[Mail],
        now: Ticks,
    ) -> Result<bool>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failing_notice_stands_for_one_failure_and_for_a_day() {
        let hour = Duration::from_secs(3600);
        let now = Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap();
        // Failing for three days: the notice of the first hour stands.
        let began = now.minus(72 * hour);
        assert!(began + hour >= failing_notice_stands_from(began, now));
        // Another failure stands alone after a day.
        let began = now.minus(hour);
        assert!(now.minus(23 * hour) >= failing_notice_stands_from(began, now));
        assert!(now.minus(25 * hour) < failing_notice_stands_from(began, now));
    }
}
