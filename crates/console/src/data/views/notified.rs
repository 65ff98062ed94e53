//! Who was notified of a record: webhooks with their deliveries of its changes.

use domain::{Ticks, WebhookStatus};
use maud::{Markup, html};
use operator::admin::{DeliveryJson, NotifiedPageJson, NotifiedWebhookJson, RecordName};
use pages::webhooks::deliveries::delivery_state;
use pages::{Csv, View};
use serde::Serialize;
use ui::app::{Column, Table, empty_state, number, parts_code, table};
use ui::{DisplayName, Lang, safe_href, timestamp};

use super::record::record_tabs;
use super::{Owners, crumbs};
use crate::context::Context;
use crate::data::text::{DataText, NotifiedText};
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
pub(crate) struct NotifiedPage {
    #[serde(skip)]
    pub(crate) name: RecordName,
    #[serde(skip)]
    pub(crate) owners: Owners,
    /// The change in question; none for the newest ones.
    pub(crate) change: Option<u64>,
    #[serde(flatten)]
    pub(crate) page: NotifiedPageJson,
}

impl View<Context> for NotifiedPage {
    fn section(&self) -> Section {
        Section::Tenants
    }

    fn title(&self, lang: Lang) -> &'static str {
        NotifiedText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = NotifiedText::of(lang);
        html! {
            (crumbs(context, &self.owners, &self.name.collection, Some(&self.name)))
            h1 { (text.title) }
            (record_tabs(context, &self.name, true))
            p.lead {
                code { (DisplayName(&self.name.id)) } ": "
                @match self.change {
                    Some(change) => { (text.of_change) " " code { (change) } ". " a href=(safe_href(&context.here(&["change", "after"], []))) { (text.all_changes) } },
                    None => { (text.of_newest) " " (number(lang, u64::try_from(self.page.changes.len()).unwrap_or_default())) " " (text.changes) "." }
                }
            }
            @if self.page.webhooks.is_empty() {
                @if self.page.next.is_none() { (empty_state(text.nobody, text.nobody_text, None)) }
                @else { p.muted { (text.none_here) } }
            }
            @for webhook in &self.page.webhooks { (of_webhook(context, webhook)) }
            (self.pager(context))
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let rows = self.page.webhooks.iter().flat_map(|webhook| {
            webhook.deliveries.iter().map(|one| {
                vec![
                    webhook.id.clone(),
                    webhook.client.clone(),
                    webhook.url.clone(),
                    one.sequence_version.clone(),
                    one.event.clone().unwrap_or_default(),
                    one.status.as_str().to_owned(),
                    one.delivered_at.clone().unwrap_or_default(),
                    one.attempts.len().to_string(),
                ]
            })
        });
        Some(Csv {
            name: "notified",
            columns: vec![
                "webhook",
                "client",
                "url",
                "sequence_version",
                "event",
                "status",
                "delivered_at",
                "attempts",
            ],
            rows: rows.collect(),
        })
    }
}

impl NotifiedPage {
    fn pager(&self, context: &Context) -> Markup {
        let text = NotifiedText::of(context.lang());
        let next = self.page.next.as_ref();
        let next = next.map(|next| context.here(&["after"], [("after", next.as_str())]));
        html! {
            p.links {
                @if !self.page.webhooks.is_empty() { a href=(safe_href(&context.here(&[], [("format", "csv")]))) download { (text.csv) } }
                @if context.query.is_set("after") { a href=(safe_href(&context.here(&["after"], []))) { (text.first) } }
                @if let Some(next) = &next { a href=(safe_href(next)) rel="next" { (text.more) } }
            }
        }
    }
}

fn of_webhook(context: &Context, webhook: &NotifiedWebhookJson) -> Markup {
    let lang = context.lang();
    let (text, common, data) = (NotifiedText::of(lang), CommonText::of(lang), DataText::of(lang));
    let page = |tail: &str| context.console_path(&format!("webhooks/{}{tail}", webhook.id));
    let columns = [
        Column::number(data.sequence),
        Column::main(text.event),
        Column::text(common.state),
        Column::text(text.when),
        Column::number(text.attempts),
    ];
    let time = |text: &Option<String>| text.as_deref().and_then(Ticks::parse_iso);
    let cells = |one: &DeliveryJson| {
        let href = page(&format!("/deliveries/{}", one.sequence_version));
        vec![
            html! { a href=(safe_href(&href)) { (one.sequence_version) } },
            html! { @if let Some(event) = &one.event { (parts_code(event)) } },
            delivery_state(lang, one.status),
            html! {
                @if let Some(at) = time(&one.delivered_at) { (timestamp(lang, at)) }
                @else if let Some(at) = time(&one.next_attempt_at) { (text.next_attempt) " " (timestamp(lang, at)) }
                @else { "–" }
            },
            html! { (number(lang, u64::try_from(one.attempts.len()).unwrap_or_default())) },
        ]
    };
    let client = context.console_path(&format!("clients/{}", webhook.client));
    html! {
        section.card {
            h2 { a href=(safe_href(&page(""))) { (DisplayName(&webhook.url)) } }
            p.muted {
                (text.application) " " a href=(safe_href(&client)) { code { (webhook.client) } }
                @if !webhook.name.is_empty() { " · " (DisplayName(&webhook.name)) }
                @if webhook.status != WebhookStatus::Active { " · " (webhook.status.as_str()) }
            }
            (table(lang, &Table {
                caption: text.title,
                columns: &columns,
                rows: webhook.deliveries.iter().map(|one| (one.sequence_version.clone(), cells(one))).collect(),
                ..Table::default()
            }))
        }
    }
}
