//! The list of the team's webhooks, and a webhook's state in words.

use domain::{Suspension, Ticks, WebhookStatus};
use maud::{Markup, html};
use operator::admin::TeamWebhook;
use pages::{Csv, View};
use serde::Serialize;
use ui::app::{Column, State, Table, copy_block, empty_state, number, short_id, state, table};
use ui::{DisplayName, Lang, safe_href, timestamp};

use crate::context::Context;
use crate::shell::Section;
use crate::text::common::CommonText;
use crate::text::service_reason;
use crate::text::webhooks::{WebhookText, status_word, suspension};

#[derive(Debug, Serialize)]
pub(crate) struct WebhooksPage {
    pub(crate) webhooks: Vec<WebhookRow>,
    pub(crate) next: Option<String>,
    /// For the filter: ids and names.
    #[serde(skip)]
    pub(crate) clients: Vec<(String, String)>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WebhookRow {
    pub(crate) id: String,
    pub(crate) name: String,
    area: &'static str,
    pub(crate) resource: &'static str,
    pub(crate) url: String,
    pub(crate) client: String,
    pub(crate) client_name: Option<String>,
    pub(crate) tenant: String,
    /// Only while the developer may see what is the tenant's.
    pub(crate) tenant_name: Option<String>,
    pub(crate) status: WebhookStatus,
    /// Why its application may not receive anything now, also where it is paused or disabled besides.
    suspension: Option<Suspension>,
    /// Why the service disabled it.
    disabled_reason: Option<String>,
    failing_since: Option<String>,
    /// None without access: what happens in the tenant meanwhile is not shown.
    events_behind: Option<u64>,
    next_attempt: Option<String>,
    #[serde(skip)]
    pub(crate) failing_since_at: Option<Ticks>,
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
    pub(crate) fn new(one: &TeamWebhook, client_name: Option<String>) -> Self {
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

    /// Whether the developer may see what happens in the tenant, and its name.
    pub(crate) fn is_visible(&self) -> bool {
        !self.is_hidden
    }

    /// The state as a word.
    pub(crate) fn state(&self, lang: Lang) -> Markup {
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
    fn note(&self, lang: Lang) -> Markup {
        let text = WebhookText::of(lang);
        html! {
            @if let Some(at) = self.failing_since_at { span.sub { (text.since) " " (timestamp(lang, at)) } }
            @if let Some(why) = self.suspension { span.sub { (suspension(lang, why)) } }
            @if let Some(at) = self.disabled_at { span.sub { (text.since) " " (timestamp(lang, at)) } }
            @if let Some(reason) = &self.disabled_reason { span.sub { (disabled_reason(lang, reason)) } }
        }
    }

    /// What the state means, and what to do. `disabled_at`: when the service will give up, about.
    pub(crate) fn explanation(&self, lang: Lang, disabled_at: Option<Ticks>) -> Markup {
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
            return html! { (suspension(lang, why)) " " (besides) };
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
    pub(crate) fn behind(&self, lang: Lang, counted_max: u64) -> Markup {
        html! {
            @match self.events_behind {
                Some(behind) if behind >= counted_max => { (number(lang, counted_max)) "+" },
                Some(behind) => (number(lang, behind)),
                None => "–",
            }
        }
    }

    pub(crate) fn next_attempt(&self, lang: Lang) -> Markup {
        html! { @match self.next_attempt_at { Some(at) => (timestamp(lang, at)), None => "–" } }
    }

    pub(crate) fn application(&self, context: &Context) -> Markup {
        let href = context.team_path(&format!("applications/{}", self.client));
        html! {
            a href=(safe_href(&href)) { (DisplayName(self.client_name.as_deref().unwrap_or(&self.client))) }
        }
    }
}

/// Why the service disabled it, as whole sentences.
fn disabled_reason(lang: Lang, reason: &str) -> Markup {
    html! {
        @if let Some(sentences) = service_reason::disabled(lang, reason) { (sentences) }
        @else { (WebhookText::of(lang).reason) ": " span lang="en" { (reason) } "." }
    }
}

impl View<Context> for WebhooksPage {
    fn section(&self) -> Section {
        Section::Webhooks
    }

    fn title(&self, lang: Lang) -> &'static str {
        WebhookText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = WebhookText::of(lang);
        let live = context.here(&[], [("format", "events")]);
        html! {
            div.title-row { h1 { (text.title) } span.live hidden { (CommonText::of(lang).live) } }
            p.lead { (text.lead) }
            (self.filters(context))
            div #webhooks data-live=(live) data-live-part {
                @if self.webhooks.is_empty() { (self.empty(context)) } @else { (self.table(context)) }
            }
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let row = |one: &WebhookRow| {
            vec![
                one.id.clone(),
                one.name.clone(),
                one.area.to_owned(),
                one.resource.to_owned(),
                one.url.clone(),
                one.client.clone(),
                one.tenant.clone(),
                one.status.as_str().to_owned(),
                one.suspension.map_or("", Suspension::as_str).to_owned(),
                text(&one.disabled_reason),
                text(&one.failing_since),
                one.events_behind.map(|behind| behind.to_string()).unwrap_or_default(),
                text(&one.next_attempt),
            ]
        };
        let columns = "id name area resource url client tenant status suspension disabled_reason failing_since events_behind next_attempt";
        Some(Csv {
            name: "webhooks",
            columns: columns.split(' ').collect(),
            rows: self.webhooks.iter().map(row).collect(),
        })
    }
}

impl WebhooksPage {
    fn filters(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, common) = (WebhookText::of(lang), CommonText::of(lang));
        let (wanted, client) = (context.query.get("state"), context.query.get("client"));
        html! {
            form.filters method="get" {
                div.field {
                    label for="state" { (text.state) }
                    select #state name="state" data-submit {
                        option value="" { (text.any) }
                        @for status in WebhookStatus::ALL {
                            option value=(status.as_str()) selected[wanted == Some(status.as_str())] { (status_word(lang, status)) }
                        }
                    }
                }
                div.field {
                    label for="client" { (text.application) }
                    select #client name="client" data-submit {
                        option value="" { (text.any) }
                        @for (id, name) in &self.clients { option value=(id) selected[client == Some(id)] { (name) } }
                    }
                }
                div.field {
                    label for="tenant" { (text.tenant) }
                    input #tenant name="tenant" type="search" value=[context.query.get("tenant")] spellcheck="false";
                }
                div.field.wide {
                    label for="url" { (text.url_part) }
                    input #url name="url" type="search" maxlength="200" value=[context.query.get("url")] spellcheck="false";
                }
                label.check {
                    input type="checkbox" name="failing" value="true" checked[context.query.is_set("failing")] data-submit;
                    span { (text.only_failing) }
                }
                button type="submit" class="button secondary" { (common.filter) }
            }
        }
    }

    fn empty(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = WebhookText::of(lang);
        if let Some(next) = &self.next {
            let href = context.here(&["after"], [("after", next.as_str())]);
            return empty_state(text.none_found, text.none_on_page, Some((text.more, &href)));
        }
        let is_filtered = ["state", "failing", "client", "tenant", "url", "after"]
            .iter()
            .any(|name| context.query.is_set(name));
        if is_filtered {
            let clear = (CommonText::of(lang).clear_filter, context.path());
            return empty_state(text.none_found, text.none_found_text, Some(clear));
        }
        let line = format!(
            "curl -X POST {}/accounting/api/customers/webhooks/subscribe \\\n  \
             -H 'Ocp-Apim-Subscription-Key: …' \\\n  \
             -H 'Authorization: Bearer …' \\\n  \
             -H 'Content-Type: application/json' \\\n  \
             -d '{{\"thirdPartyApplicationName\": \"…\", \"url\": \"https://…\", \"secret\": \"…\",\n       \
             \"eventTypes\": [\"Svc.ACC.Customers.CustomerCreated\"]}}'",
            context.portal.settings.base_url
        );
        html! { (empty_state(text.none, text.none_text, None)) div.card { (copy_block(lang, "subscribe", &line)) } }
    }

    fn table(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = WebhookText::of(lang);
        let columns = [
            Column::main(text.webhook),
            Column::text(text.application_and_tenant),
            Column::text(text.state),
            Column::number(text.behind),
            Column::text(text.next_attempt),
        ];
        let cells = |one: &WebhookRow| {
            let href = context.team_path(&format!("webhooks/{}", one.id));
            let name = if one.name.trim().is_empty() { one.resource } else { &one.name };
            vec![
                html! {
                    a href=(safe_href(&href)) { (DisplayName(name)) } " · " (one.resource)
                    span.sub.line title=(one.url) { code { (one.url) } }
                },
                html! {
                    (one.application(context))
                    span.sub { @match &one.tenant_name { Some(name) => (DisplayName(name)), None => (short_id(&one.tenant)) } }
                },
                html! { (one.state(lang)) (one.note(lang)) },
                one.behind(lang, u64::from(store::LISTED_BEHIND_MAX)),
                one.next_attempt(lang),
            ]
        };
        let next = self.next.as_ref().map(|next| context.here(&["after"], [("after", next.as_str())]));
        let first = context.query.get("after").map(|_| context.here(&["after"], []));
        table(
            lang,
            &Table {
                caption: text.title,
                columns: &columns,
                rows: self.webhooks.iter().map(|one| (one.id.clone(), cells(one))).collect(),
                csv: Some(context.here(&["after"], [("format", "csv")])),
                first,
                next,
            },
        )
    }
}
