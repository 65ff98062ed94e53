//! A webhook in a list or on its page, and its state in words.

use domain::{Suspension, Ticks, WebhookStatus};
use maud::{Markup, html};
use operator::admin::{FoundWebhook, TeamWebhook};
use serde::Serialize;
use ui::app::{State, number, state};
use ui::{DisplayName, Lang, safe_href, timestamp};

use super::text::service_reason;
use super::text::suspension::suspension;
use super::text::webhooks::{WebhookText, status_word};
use super::{Reader, WebhookPages};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookRow {
    pub id: String,
    pub name: String,
    pub area: &'static str,
    pub resource: &'static str,
    pub url: String,
    pub client: String,
    pub client_name: Option<String>,
    pub tenant: String,
    /// Only while the developer may see what is the tenant's.
    pub tenant_name: Option<String>,
    pub status: WebhookStatus,
    /// Why its application may not receive anything now, also where it is paused or disabled besides.
    pub suspension: Option<Suspension>,
    /// Why the service disabled it.
    pub disabled_reason: Option<String>,
    pub failing_since: Option<String>,
    /// None without access: what happens in the tenant meanwhile is not shown.
    pub events_behind: Option<u64>,
    pub next_attempt: Option<String>,
    #[serde(skip)]
    pub failing_since_at: Option<Ticks>,
    #[serde(skip)]
    next_attempt_at: Option<Ticks>,
    #[serde(skip)]
    disabled_at: Option<Ticks>,
    #[serde(skip)]
    has_begun: bool,
    #[serde(skip)]
    is_hidden: bool,
}

impl WebhookRow {
    pub fn new(one: &TeamWebhook, client_name: Option<String>) -> Self {
        let webhook = &one.webhook;
        let is_failing = matches!(one.status, WebhookStatus::Active | WebhookStatus::AwaitingContract);
        let failing_since = one.failing_since.filter(|_| is_failing);
        // A webhook that is off keeps its schedule, which means nothing then.
        let next_attempt_at = one.next_attempt_at.filter(|_| is_failing);
        let is_hidden = one.hidden.is_some();
        let disabled = webhook.disabled.as_ref();
        let disabled = disabled.filter(|_| one.status == WebhookStatus::DisabledByService && !is_hidden);
        Self {
            id: webhook.id.to_string(),
            name: webhook.name.clone(),
            area: webhook.resource.area().as_str(),
            resource: webhook.resource.plural(),
            url: webhook.url.clone(),
            client: webhook.owner.client.to_string(),
            client_name,
            tenant: webhook.owner.tenant.to_string(),
            tenant_name: None,
            status: one.status,
            suspension: one.hidden.filter(|_| !one.status.is_final()),
            disabled_reason: disabled.map(|disabled| disabled.reason.clone()),
            failing_since: failing_since.map(Ticks::iso),
            events_behind: Some(one.behind).filter(|_| !is_hidden),
            next_attempt: next_attempt_at.map(Ticks::iso),
            failing_since_at: failing_since,
            next_attempt_at,
            disabled_at: disabled.map(|disabled| disabled.at),
            has_begun: webhook.initial_cursor.is_some(),
            is_hidden,
        }
    }

    /// For operators, who see everything.
    pub fn of_operator(one: &FoundWebhook, client_name: Option<String>, tenant_name: Option<String>) -> Self {
        let shown = TeamWebhook {
            webhook: one.webhook.clone(),
            status: one.status,
            suspension: one.suspension.filter(|_| one.status == WebhookStatus::Suspended),
            hidden: None,
            failing_since: one.failing_since,
            next_attempt_at: one.next_attempt_at,
            behind: one.behind,
        };
        let suspension = one.suspension.filter(|_| !one.status.is_final());
        Self { tenant_name, suspension, ..Self::new(&shown, client_name) }
    }

    /// Whether the developer may see what happens in the tenant, and its name.
    pub fn is_visible(&self) -> bool {
        !self.is_hidden
    }

    /// The name that its owner gave it, or its resource.
    pub fn shown_name(&self) -> &str {
        if self.name.trim().is_empty() { self.resource } else { &self.name }
    }

    /// The state as a word.
    pub fn state(&self, lang: Lang) -> Markup {
        if self.suspension.is_some() {
            return state(State::Bad, WebhookText::of(lang).state_suspended);
        }
        let kind = match self.status {
            WebhookStatus::Active if self.failing_since_at.is_some() => {
                return state(State::Bad, WebhookText::of(lang).state_failing);
            }
            WebhookStatus::Active => State::Ok,
            WebhookStatus::AwaitingContract => State::Waiting,
            WebhookStatus::Suspended | WebhookStatus::DisabledByService => State::Bad,
            WebhookStatus::Disabled | WebhookStatus::Unsubscribed | WebhookStatus::Deleted => State::Off,
        };
        state(kind, status_word(lang, self.status))
    }

    /// Since when, or why.
    pub fn note(&self, lang: Lang, reader: Reader) -> Markup {
        let text = WebhookText::of(lang);
        html! {
            @if let Some(at) = self.failing_since_at { span.sub { (text.since) " " (timestamp(lang, at)) } }
            @if let Some(why) = self.suspension { span.sub { (suspension(lang, reader, why)) } }
            @if let Some(at) = self.disabled_at { span.sub { (text.since) " " (timestamp(lang, at)) } }
            @if let Some(reason) = &self.disabled_reason { span.sub { (disabled_reason(lang, reason)) } }
        }
    }

    /// What the state means, and what to do, for developers. `disabled_at`: when the service will give up, about.
    pub fn explanation(&self, lang: Lang, disabled_at: Option<Ticks>) -> Markup {
        let text = WebhookText::of(lang);
        let again = if self.has_begun { text.awaiting_again } else { text.awaiting_first };
        let failing = html! {
            @if let Some(at) = self.failing_since_at {
                (text.failing_since) " " (timestamp(lang, at)) ". "
                @if let Some(at) = disabled_at { (text.disabled_at_about) " " (timestamp(lang, at)) ". " }
            }
        };
        if let Some(why) = self.suspension {
            let besides = match self.status {
                WebhookStatus::Disabled => text.suspended_and_paused_text,
                WebhookStatus::DisabledByService => text.suspended_and_disabled_text,
                _ => text.suspended_text,
            };
            return html! { (suspension(lang, Reader::Developer, why)) " " (besides) };
        }
        html! {
            @match self.status {
                WebhookStatus::Active if self.failing_since_at.is_some() => { (failing) (text.failing_text) },
                WebhookStatus::Active => (text.active_text),
                WebhookStatus::AwaitingContract => { (text.awaiting_text) " " (again) " " (failing) },
                WebhookStatus::Suspended => (text.suspended_text),
                WebhookStatus::Disabled => (text.disabled_text),
                WebhookStatus::DisabledByService => {
                    @if let Some(at) = self.disabled_at { (text.disabled_on) " " (timestamp(lang, at)) ". " }
                    @if let Some(reason) = &self.disabled_reason { (disabled_reason(lang, reason)) " " }
                    (text.disabled_by_service_text)
                },
                WebhookStatus::Unsubscribed => (text.unsubscribed_text),
                WebhookStatus::Deleted => (text.deleted_text),
            }
        }
    }

    /// Undelivered events; the list counts up to a limit.
    pub fn behind(&self, lang: Lang, counted_max: u64) -> Markup {
        html! {
            @match self.events_behind {
                Some(behind) if behind >= counted_max => { (number(lang, counted_max)) "+" },
                Some(behind) => (number(lang, behind)),
                None => "–",
            }
        }
    }

    pub fn next_attempt(&self, lang: Lang) -> Markup {
        html! { @match self.next_attempt_at { Some(at) => (timestamp(lang, at)), None => "–" } }
    }

    pub fn application<C: WebhookPages>(&self, context: &C) -> Markup {
        let href = context.application_path(&self.client);
        html! {
            a href=(safe_href(&href)) { (DisplayName(self.client_name.as_deref().unwrap_or(&self.client))) }
        }
    }
}

/// Why the service disabled it, as whole sentences.
pub fn disabled_reason(lang: Lang, reason: &str) -> Markup {
    html! {
        @if let Some(sentences) = service_reason::disabled(lang, reason) { (sentences) }
        @else { (WebhookText::of(lang).reason) ": " span lang="en" { (reason) } "." }
    }
}
