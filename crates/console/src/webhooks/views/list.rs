//! The list of all webhooks.

use maud::{Markup, html};
use operator::admin::{Permission, WebhookFamily, WebhookState, subscribable_resources};
use pages::webhooks::text::webhooks::{WebhookText, status_word};
use pages::webhooks::{Reader, WebhookPages as _};
use pages::{Csv, View};
use serde::Serialize;
use ui::app::{Column, Table, empty_state, parts_name, short_id, table};
use ui::{DisplayName, Lang, safe_href};

use super::super::filter::{FILTERS, ListedRow};
use super::super::text::WebhooksText;
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
pub(in crate::webhooks) struct WebhooksPage {
    pub(in crate::webhooks) webhooks: Vec<ListedRow>,
    pub(in crate::webhooks) next: Option<String>,
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
        let (text, shared) = (WebhooksText::of(lang), WebhookText::of(lang));
        let live = context.here(&[], [("format", "events")]);
        let query = context.query.with(&["after", "done", "format", "lang"], []);
        let bulk = format!("{}/bulk?{query}", context.webhooks_path());
        html! {
            div.title-row { h1 { (shared.title) } span.live hidden { (CommonText::of(lang).live) } }
            p.lead { (text.lead) }
            @if !self.webhooks.is_empty() || context.query.has_any() { (filters(context)) }
            div #webhooks data-live=(live) data-live-part {
                @if self.webhooks.is_empty() { (self.empty(context)) } @else { (self.table(context)) }
            }
            @if !self.webhooks.is_empty() && context.may(Permission::Webhooks) {
                p { a class="button secondary" href=(safe_href(&bulk)) { (text.act_on_all) } }
            }
        }
    }

    fn has_more(&self) -> bool {
        self.next.is_some()
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let row = |one: &ListedRow| {
            let row = &one.row;
            vec![
                row.id.clone(),
                row.name.clone(),
                one.host.clone(),
                row.url.clone(),
                row.area.to_owned(),
                row.resource.to_owned(),
                row.tenant.clone(),
                text(&row.tenant_name),
                row.client.clone(),
                text(&row.client_name),
                row.status.as_str().to_owned(),
                row.suspension.map_or("", domain::Suspension::as_str).to_owned(),
                text(&row.disabled_reason),
                text(&row.failing_since),
                row.events_behind.map(|behind| behind.to_string()).unwrap_or_default(),
                text(&row.next_attempt),
            ]
        };
        let columns = "id name host url area resource tenant tenant_name client client_name status suspension \
                       disabled_reason failing_since events_behind next_attempt";
        Some(Csv {
            name: "webhooks",
            columns: columns.split(' ').collect(),
            rows: self.webhooks.iter().map(row).collect(),
        })
    }
}

/// The word for a state to look for.
fn state_word(lang: Lang, state: WebhookState) -> &'static str {
    match state {
        WebhookState::Failing => WebhooksText::of(lang).state_failing,
        WebhookState::Status(status) => status_word(lang, status),
    }
}

fn filters(context: &Context) -> Markup {
    let lang = context.lang();
    let (text, shared, common) = (WebhooksText::of(lang), WebhookText::of(lang), CommonText::of(lang));
    let query = &context.query;
    let family_word = |family| match family {
        WebhookFamily::Accounting => text.accounting,
        WebhookFamily::Invoicing => text.invoicing,
    };
    let select = |name: &'static str, label: &str, options: Vec<(&'static str, &'static str)>| {
        html! {
            div.field {
                label for=(name) { (label) }
                select id=(name) name=(name) data-submit {
                    option value="" { (shared.any) }
                    @for (value, word) in options { option value=(value) selected[query.get(name) == Some(value)] { (word) } }
                }
            }
        }
    };
    html! {
        form.filters method="get" {
            div.field.wide {
                label for="host" { (text.host) }
                input #host name="host" type="search" maxlength="254" value=[query.get("host")] placeholder=(text.host_hint) autocapitalize="none" spellcheck="false";
            }
            (select("state", shared.state, WebhookState::all().map(|one| (one.as_str(), state_word(lang, one))).collect()))
            @for (name, label) in [("tenant", shared.tenant), ("client", text.client), ("team", text.team)] {
                div.field {
                    label for=(name) { (label) " (id)" }
                    input id=(name) name=(name) type="search" maxlength="254" value=[query.get(name)] autocapitalize="none" spellcheck="false";
                }
            }
            (select("family", text.family, WebhookFamily::ALL.map(|one| (one.as_str(), family_word(one))).to_vec()))
            (select("resource", text.resource, subscribable_resources().map(|one| (one.as_str(), one.as_str())).collect()))
            button type="submit" class="button secondary" { (common.filter) }
        }
    }
}

impl WebhooksPage {
    fn empty(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, shared) = (WebhooksText::of(lang), WebhookText::of(lang));
        if let Some(next) = &self.next {
            let href = context.here(&["after"], [("after", next.as_str())]);
            return empty_state(shared.none_found, shared.none_on_page, Some((shared.more, &href)));
        }
        if FILTERS.iter().chain(&["after"]).any(|name| context.query.is_set(name)) {
            let clear = (CommonText::of(lang).clear_filter, context.path());
            return empty_state(shared.none_found, shared.none_found_text, Some(clear));
        }
        empty_state(text.none, text.none_text, None)
    }

    fn table(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, shared) = (WebhooksText::of(lang), WebhookText::of(lang));
        let columns = [
            Column::main(text.receiver),
            Column::text(shared.tenant),
            Column::text(text.client),
            Column::text(shared.state),
            Column::number(shared.behind),
            Column::text(shared.next_attempt),
        ];
        let cells = |one: &ListedRow| {
            let row = &one.row;
            vec![
                receiver(context, one),
                tenant(context, one),
                row.application(context),
                html! { (row.state(lang)) (row.note(lang, Reader::Operator)) },
                row.behind(lang, u64::from(store::LISTED_BEHIND_MAX)),
                row.next_attempt(lang),
            ]
        };
        let next = self.next.as_ref().map(|next| context.here(&["after"], [("after", next.as_str())]));
        let first = context.query.get("after").map(|_| context.here(&["after"], []));
        table(
            lang,
            &Table {
                caption: shared.title,
                columns: &columns,
                rows: self.webhooks.iter().map(|one| (one.row.id.clone(), cells(one))).collect(),
                csv: Some(context.here(&["after"], [("format", "csv")])),
                first,
                next,
            },
        )
    }
}

/// The host with a link to the webhook, its name and its resource.
pub(super) fn receiver(context: &Context, one: &ListedRow) -> Markup {
    let href = context.webhook_path(&one.row.id);
    html! {
        a href=(safe_href(&href)) title=(one.row.url) { (parts_name(&one.host)) }
        span.sub { (DisplayName(one.row.shown_name())) " · " (one.row.resource) }
    }
}

/// The tenant with a link to its page.
pub(super) fn tenant(context: &Context, one: &ListedRow) -> Markup {
    let href = context.console_path(&format!("tenants/{}", one.row.tenant));
    html! {
        a href=(safe_href(&href)) {
            @match &one.row.tenant_name { Some(name) => (DisplayName(name)), None => (short_id(&one.row.tenant)) }
        }
    }
}
