//! Notices to teams in memory.

use std::collections::BTreeSet;

use async_trait::async_trait;
use domain::{AccountId, Guid, NoticeKind, NoticeKinds, NoticeObject, Random, TeamId, Ticks, WebhookId};

use super::{MemoryStore, State};
use crate::mails::SealedMail;
use crate::notices::{ENDING_WITHIN, FAILING_AFTER, failing_notice_stands_from};
use crate::webhooks::WebhookNotice;
use crate::{
    AuditContext, Mail, NOTICES_MAX, Notice, NoticeCursor, NoticePage, NoticeQuery, NoticeReader,
    NoticeSettings, Notices, Result, Status, UNREAD_NOTICES_MAX, WebhookFailure,
};

#[derive(Clone)]
pub(super) struct StoredNotice {
    pub(super) notice: Notice,
    is_mailed: bool,
}

/// What a member has chosen and read; a member without an entry has chosen nothing.
#[derive(Clone, Copy, Default)]
pub(super) struct StoredNoticeSettings {
    muted: NoticeKinds,
    read_at: Option<Ticks>,
}

impl State {
    /// Adds a notice; false if the team has it.
    pub(super) fn insert_notice(&mut self, one: Notice) -> bool {
        let is_known = self.notices.values().any(|StoredNotice { notice, .. }| {
            (&notice.team, notice.kind, &notice.subject, notice.since)
                == (&one.team, one.kind, &one.subject, one.since)
        });
        if !is_known {
            self.notices.insert(one.cursor(), StoredNotice { notice: one, is_mailed: false });
        }
        !is_known
    }

    /// Adds the notices of a checkpoint for webhooks of teams.
    pub(super) fn insert_webhook_notices(
        &mut self,
        random: &dyn Random,
        notices: Vec<WebhookNotice>,
        now: Ticks,
    ) {
        for WebhookNotice { key, kind, since, detail } in notices {
            let Some((team, name)) = self.team_of_webhook(key.webhook) else { continue };
            let (object, subject) = (NoticeObject::Webhook, key.webhook.to_string());
            let id = random.guid();
            self.insert_notice(Notice { id, team, kind, object, subject, name, detail, since, at: now });
        }
    }

    fn team_of_webhook(&self, webhook: WebhookId) -> Option<(TeamId, String)> {
        let webhook = &self.webhooks.all.get(&webhook)?.webhook;
        let team = self.clients.get(webhook.owner.client.as_str())?.client.team.clone()?;
        Some((team, webhook.name.clone()))
    }

    fn failing_notice(&self, id: Guid, webhook: WebhookId, now: Ticks) -> Option<Notice> {
        let (team, name) = self.team_of_webhook(webhook)?;
        let stored = self.webhooks.all.get(&webhook)?;
        let flags = stored.webhook.flags();
        if flags.is_final() || flags.disabled || !flags.enabled || stored.webhook.suspended_at.is_some() {
            return None;
        }
        let failed = stored.lanes.values().filter(|lane| lane.retry.attempts > 0);
        let since = failed.map(|lane| lane.retry.first_failed_at).min()?;
        let (kind, object, subject) =
            (NoticeKind::WebhookFailing, NoticeObject::Webhook, webhook.to_string());
        let from = failing_notice_stands_from(since, now);
        let has_one = self.notices.values().any(|StoredNotice { notice, .. }| {
            notice.team == team && notice.kind == kind && notice.subject == subject && notice.at >= from
        });
        let notice = Notice { id, team, kind, object, subject, name, detail: String::new(), since, at: now };
        (since <= now.minus(FAILING_AFTER) && !has_one).then_some(notice)
    }

    /// The notices of keys and secrets that end soon, without ids.
    fn ending_notices(&self, now: Ticks, rows_max: usize) -> Vec<Notice> {
        let is_soon = |at: Ticks| at > now && at <= now + ENDING_WITHIN;
        let new = |team: &TeamId, kind, object, subject: &str, name: &str, detail: &str, since| Notice {
            id: Guid::from_bytes([0; 16]),
            team: team.clone(),
            kind,
            object,
            subject: subject.to_owned(),
            name: name.to_owned(),
            detail: detail.to_owned(),
            since,
            at: now,
        };
        let keys = self.keys.values().filter_map(|key| {
            let until = key.valid_until.filter(|until| is_soon(*until))?;
            let one = self.subscriptions.get(&key.subscription).filter(|one| one.cancelled_at.is_none())?;
            let (kind, object) = (NoticeKind::KeyEnds, NoticeObject::Subscription);
            Some(new(one.team.as_ref()?, kind, object, one.id.as_str(), &one.name, key.slot.as_str(), until))
        });
        let secrets = self.clients.values().filter_map(|stored| {
            let until = stored.old.as_ref().map(|(_, until)| *until).filter(|until| is_soon(*until))?;
            let (one, kind) = (&stored.client, NoticeKind::ClientSecretEnds);
            Some(new(one.team.as_ref()?, kind, NoticeObject::Client, one.id.as_str(), &one.name, "", until))
        });
        keys.take(rows_max).chain(secrets.take(rows_max)).collect()
    }
}

#[async_trait]
impl Notices for MemoryStore {
    async fn list_notices(&self, team: &TeamId, query: &NoticeQuery) -> Result<NoticePage> {
        let state = self.state();
        let is_listed =
            |one: &&Notice| one.team == *team && query.before.is_none_or(|before| one.cursor() < before);
        let newest_first = state.notices.values().rev().map(|stored| &stored.notice);
        Ok(query.page(newest_first.filter(is_listed).take(query.limit()).cloned().collect()))
    }

    async fn unread_notices(&self, team: &TeamId, account: &AccountId) -> Result<usize> {
        let Some(settings) = self.notice_settings(team, account).await? else { return Ok(0) };
        let state = self.state();
        let is_unread = |one: &&StoredNotice| one.notice.team == *team && one.notice.at > settings.read_at;
        Ok(state.notices.values().filter(is_unread).take(UNREAD_NOTICES_MAX).count())
    }

    async fn notice_settings(&self, team: &TeamId, account: &AccountId) -> Result<Option<NoticeSettings>> {
        let (state, key) = (self.state(), (team.clone(), account.clone()));
        let Some(member) = state.team_members.get(&key) else { return Ok(None) };
        let stored = state.notice_settings.get(&key).copied().unwrap_or_default();
        let read_at = stored.read_at.unwrap_or(member.created_at);
        Ok(Some(NoticeSettings { mailed: stored.muted.others(), read_at }))
    }

    async fn mark_notices_read(&self, team: &TeamId, account: &AccountId, up_to: Ticks) -> Result<bool> {
        let mut state = self.state_mut()?;
        let key = (team.clone(), account.clone());
        let Some(joined) = state.team_members.get(&key).map(|member| member.created_at) else {
            return Ok(false);
        };
        let stored = state.notice_settings.entry(key).or_default();
        stored.read_at = Some(stored.read_at.unwrap_or(joined).max(up_to));
        Ok(true)
    }

    async fn set_notice_preferences(
        &self,
        team: &TeamId,
        account: &AccountId,
        wanted: NoticeKinds,
        context: &AuditContext,
    ) -> Result<bool> {
        let act = self.act(context);
        let mut state = self.state_mut()?;
        let key = (team.clone(), account.clone());
        if !state.team_members.contains_key(&key) {
            return Ok(false);
        }
        let stored = state.notice_settings.entry(key).or_default();
        let before = stored.muted.others();
        stored.muted = wanted.others();
        if before != wanted {
            let entry = act.notice_preferences_changed(team, account, before, wanted);
            state.append_audit(&*self.ports.random, entry);
        }
        Ok(true)
    }

    async fn failing_webhooks(
        &self,
        after: WebhookFailure,
        until: Ticks,
        rows_max: usize,
    ) -> Result<Vec<WebhookFailure>> {
        let state = self.state();
        let failures = state.webhooks.all.iter().flat_map(|(webhook, stored)| {
            let failure = |first_failed_at| WebhookFailure { first_failed_at, webhook: *webhook };
            stored.lanes.values().map(move |lane| failure(lane.retry.first_failed_at))
        });
        let is_listed = |one: &WebhookFailure| *one > after && one.first_failed_at <= until;
        let sorted: BTreeSet<WebhookFailure> = failures.filter(is_listed).collect();
        Ok(sorted.into_iter().take(rows_max).collect())
    }

    async fn add_failing_notice(&self, webhook: WebhookId, now: Ticks) -> Result<bool> {
        let mut state = self.state_mut()?;
        let notice = state.failing_notice(self.ports.random.guid(), webhook, now);
        Ok(notice.is_some_and(|notice| state.insert_notice(notice)))
    }

    async fn add_ending_notices(&self, now: Ticks, rows_max: usize) -> Result<usize> {
        let mut state = self.state_mut()?;
        let mut added = 0;
        for notice in state.ending_notices(now, rows_max) {
            let id = self.ports.random.guid();
            added += usize::from(state.insert_notice(Notice { id, ..notice }));
        }
        Ok(added)
    }

    async fn unmailed_notices(&self, rows_max: usize) -> Result<Vec<Notice>> {
        let state = self.state();
        let unmailed = state.notices.values().filter(|stored| !stored.is_mailed);
        Ok(unmailed.take(rows_max).map(|stored| stored.notice.clone()).collect())
    }

    async fn notice_readers(&self, team: &TeamId) -> Result<Vec<NoticeReader>> {
        let state = self.state();
        let mut members: Vec<_> = state.team_members.values().filter(|one| one.team == *team).collect();
        members.sort_by_key(|member| (member.created_at, member.account.clone()));
        let readers = members.into_iter().filter_map(|member| {
            let account = state.accounts.get(member.account.as_str())?;
            let key = (member.team.clone(), member.account.clone());
            let muted = state.notice_settings.get(&key).copied().unwrap_or_default().muted;
            (account.status == Status::Active).then(|| NoticeReader {
                account: account.id.clone(),
                email: account.email.clone(),
                given_name: account.given_name.clone(),
                lang: account.lang.clone(),
                mailed: muted.others(),
            })
        });
        Ok(readers.collect())
    }

    async fn queue_notice_mails(
        &self,
        team: &TeamId,
        notices: &[Guid],
        mails: &[Mail],
        _now: Ticks,
    ) -> Result<bool> {
        let seal = |mail| SealedMail::of(mail, &self.ports.vault, &*self.ports.random);
        let mails = mails.iter().map(seal).collect::<Result<Vec<_>>>()?;
        let mut state = self.state_mut()?;
        let is_one = |stored: &&mut StoredNotice| !stored.is_mailed && notices.contains(&stored.notice.id);
        let unmailed: Vec<&mut StoredNotice> = state.notices.values_mut().filter(is_one).collect();
        if unmailed.len() != notices.len() {
            return Ok(false);
        }
        for stored in unmailed {
            stored.is_mailed = true;
        }
        for mail in mails {
            state.queue_mail(mail)?;
        }
        let of_team = state.notices.iter().filter(|(_, stored)| stored.notice.team == *team);
        let old: Vec<NoticeCursor> = of_team
            .rev()
            .skip(NOTICES_MAX)
            .filter(|(_, stored)| stored.is_mailed)
            .map(|(cursor, _)| *cursor)
            .collect();
        for cursor in &old {
            state.notices.remove(cursor);
        }
        Ok(true)
    }
}
