//! The list of the team's webhooks.

use domain::{Suspension, WebhookStatus};
use maud::{Markup, html};
use pages::webhooks::row::WebhookRow;
use pages::webhooks::text::webhooks::{WebhookText, status_word};
use pages::webhooks::{Reader, WebhookPages as _};
use pages::{Csv, View};
use serde::Serialize;
use ui::app::{Column, Table, copy_block, empty_state, short_id, table};
use ui::{DisplayName, Lang, safe_href};

use crate::context::Context;
use crate::shell::Section;
use crate::text::common::CommonText;

#[derive(Debug, Serialize)]
pub(crate) struct WebhooksPage {
    pub(crate) webhooks: Vec<WebhookRow>,
    pub(crate) next: Option<String>,
    /// For the filter: ids and names.
    #[serde(skip)]
    pub(crate) clients: Vec<(String, String)>,
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
            @if !self.webhooks.is_empty() || context.query.has_any() { (self.filters(context)) }
            div #webhooks data-live=(live) data-live-part {
                @if self.webhooks.is_empty() { (self.empty(context)) } @else { (self.table(context)) }
            }
        }
    }

    fn has_more(&self) -> bool {
        self.next.is_some()
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
            let href = context.webhook_path(&one.id);
            vec![
                html! {
                    a href=(safe_href(&href)) { (DisplayName(one.shown_name())) } " · " (one.resource)
                    span.sub.line title=(one.url) { code { (one.url) } }
                },
                html! {
                    (one.application(context))
                    span.sub { @match &one.tenant_name { Some(name) => (DisplayName(name)), None => (short_id(&one.tenant)) } }
                },
                html! { (one.state(lang)) (one.note(lang, Reader::Developer)) },
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
