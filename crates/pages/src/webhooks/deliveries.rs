//! The list of a webhook's deliveries.

use crate::{Csv, View};
use domain::Ticks;
use domain::delivery::{DeliveryCursor, DeliveryStatus, DeliveryView};
use domain::event::semantic_name;
use maud::{Markup, html};
use serde::Serialize;
use store::Webhook;
use ui::app::{Column, State, Table, empty_state, number, parts_code, short_id, state, table};
use ui::{DisplayName, Lang, safe_href, timestamp};

use super::diagnosis::Diagnosis;
use super::text::deliveries::{DeliveryText, status_word};
use super::text::diagnosis::words;
use super::text::shared::SharedText;
use super::{Reader, WebhookPages};

const FILTERS: [&str; 5] = ["status", "event", "record", "since", "until"];

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveriesPage {
    webhook_id: String,
    deliveries: Vec<DeliveryRow>,
    next: Option<String>,
    /// For the filter: the events of the webhook.
    #[serde(skip)]
    events: Vec<String>,
    #[serde(skip)]
    url: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryRow {
    sequence: u64,
    outgoing_id: Option<String>,
    event: Option<String>,
    record: Option<String>,
    company: Option<String>,
    status: DeliveryStatus,
    /// Of the newest attempt or success.
    time: Option<String>,
    #[serde(skip)]
    at: Option<Ticks>,
    attempts: usize,
    next_attempt_at: Option<String>,
    #[serde(skip)]
    next_at: Option<Ticks>,
    /// The status of the last failed attempt's response.
    last_status: Option<u16>,
    diagnosis: Option<&'static str>,
    #[serde(skip)]
    why: Option<Diagnosis>,
}

impl DeliveryRow {
    pub fn new(view: &DeliveryView) -> Self {
        let at = view.attempts.iter().map(|attempt| attempt.at).chain(view.delivered_at).max();
        let failed = view.attempts.iter().rfind(|attempt| !attempt.succeeded);
        let failed = failed.filter(|_| view.status != DeliveryStatus::Delivered);
        let why = failed.and_then(Diagnosis::of);
        // A success in its turn is not among the attempts.
        let is_replay = |at: Ticks| view.attempts.iter().any(|one| one.succeeded && one.at == at);
        let in_turn = usize::from(view.delivered_at.is_some_and(|at| !is_replay(at)));
        Self {
            sequence: view.sequence,
            outgoing_id: view.outgoing_id.map(|id| id.to_string()),
            event: view.event.clone(),
            record: view.correlation_id.as_deref().map(str::to_owned),
            company: view.company.as_deref().map(str::to_owned),
            status: view.status,
            time: at.map(Ticks::iso),
            at,
            attempts: view.attempts.len() + in_turn,
            next_attempt_at: view.next_attempt_at.map(Ticks::iso),
            next_at: view.next_attempt_at,
            last_status: failed.and_then(|attempt| attempt.status),
            diagnosis: why.map(Diagnosis::as_str),
            why,
        }
    }
}

/// The status with its colour.
pub fn delivery_state(lang: Lang, status: DeliveryStatus) -> Markup {
    let kind = match status {
        DeliveryStatus::Delivered => State::Ok,
        DeliveryStatus::Waiting => State::Waiting,
        DeliveryStatus::Failed => State::Bad,
        DeliveryStatus::Unknown => State::Off,
    };
    state(kind, status_word(lang, status))
}

/// Links to the pages above.
pub fn crumbs<C: WebhookPages>(context: &C, webhook: &str, url: &str, with_list: bool) -> Markup {
    let text = DeliveryText::of(context.lang());
    html! {
        p.crumbs {
            a href=(safe_href(&context.webhooks_path())) { (text.webhooks) }
            " › "
            a href=(safe_href(&context.webhook_path(webhook))) { (DisplayName(url)) }
            @if with_list {
                " › "
                a href=(safe_href(&context.deliveries_path(webhook))) { (text.title) }
            }
        }
    }
}

impl<C: WebhookPages> View<C> for DeliveriesPage {
    fn section(&self) -> C::Section {
        C::WEBHOOKS
    }

    fn title(&self, lang: Lang) -> &'static str {
        DeliveryText::of(lang).title
    }

    fn content(&self, context: &C) -> Markup {
        let lang = context.lang();
        let text = DeliveryText::of(lang);
        let is_first_page = context.query.get("before").is_none();
        let live = is_first_page.then(|| context.here(&[], [("format", "events")]));
        html! {
            (crumbs(context, &self.webhook_id, &self.url, false))
            div.title-row { h1 { (text.title) } span.live hidden { (SharedText::of(lang).live) } }
            p.lead { (text.lead) }
            @if !self.deliveries.is_empty() || context.query.has_any() { (self.filters(context)) }
            div #deliveries data-live=[live] data-live-part {
                @if self.deliveries.is_empty() { (self.empty(context)) } @else { (self.table(context)) }
            }
        }
    }

    fn csv(&self, _context: &C) -> Option<Csv> {
        let row = |one: &DeliveryRow| {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            vec![
                text(&one.time),
                one.sequence.to_string(),
                text(&one.outgoing_id),
                text(&one.event),
                text(&one.record),
                text(&one.company),
                one.status.as_str().to_owned(),
                one.attempts.to_string(),
                text(&one.next_attempt_at),
                one.last_status.map(|status| status.to_string()).unwrap_or_default(),
                one.diagnosis.unwrap_or_default().to_owned(),
            ]
        };
        Some(Csv {
            name: "deliveries",
            columns: vec![
                "time",
                "sequence",
                "outgoing_id",
                "event",
                "record",
                "company",
                "status",
                "attempts",
                "next_attempt_at",
                "last_status",
                "diagnosis",
            ],
            rows: self.deliveries.iter().map(row).collect(),
        })
    }
}

impl DeliveriesPage {
    pub fn new(webhook: &Webhook, deliveries: Vec<DeliveryRow>, next: Option<DeliveryCursor>) -> Self {
        let kinds = webhook.resource.event_kinds().into_iter();
        let kinds = kinds.filter(|kind| webhook.kinds.contains(*kind));
        Self {
            webhook_id: webhook.id.to_string(),
            deliveries,
            next: next.map(|cursor| cursor.to_string()),
            events: kinds.map(|kind| semantic_name(webhook.resource, kind)).collect(),
            url: webhook.url.clone(),
        }
    }

    fn filters<C: WebhookPages>(&self, context: &C) -> Markup {
        let lang = context.lang();
        let (text, common) = (DeliveryText::of(lang), SharedText::of(lang));
        let query = &context.query;
        let chosen = |name: &str, value: &str| query.get(name) == Some(value);
        // As the browser's field writes it: without seconds and zone.
        let minute = |name: &str| query.get(name).and_then(|time| time.get(..16)).map(str::to_owned);
        html! {
            form.filters method="get" {
                div.field {
                    label for="status" { (text.status) }
                    select #status name="status" data-submit {
                        option value="" { (text.any) }
                        @for status in DeliveryStatus::LISTED {
                            option value=(status.as_str()) selected[chosen("status", status.as_str())] { (status_word(lang, status)) }
                        }
                    }
                }
                div.field {
                    label for="event" { (text.event) }
                    select #event name="event" data-submit {
                        option value="" { (text.any) }
                        @for event in &self.events { option value=(event) selected[chosen("event", event)] { (event) } }
                    }
                }
                div.field.wide {
                    label for="record" { (text.record) }
                    input #record name="record" type="search" value=[query.get("record")] placeholder=(text.record_hint) spellcheck="false";
                }
                @for (name, label) in [("since", text.since), ("until", text.until)] {
                    div.field {
                        label for=(name) { (label) }
                        input id=(name) name=(name) type="datetime-local" value=[minute(name)];
                    }
                }
                button type="submit" class="button secondary" { (common.filter) }
            }
        }
    }

    fn next_page<C: WebhookPages>(&self, context: &C) -> Option<String> {
        self.next.as_ref().map(|next| context.here(&["before"], [("before", next.as_str())]))
    }

    fn empty<C: WebhookPages>(&self, context: &C) -> Markup {
        let text = DeliveryText::of(context.lang());
        if let Some(next) = self.next_page(context) {
            return empty_state(text.none_here, text.none_here_text, Some((text.look_further, &next)));
        }
        if FILTERS.iter().any(|name| context.query.is_set(name)) || context.query.is_set("before") {
            let clear = (SharedText::of(context.lang()).clear_filter, context.path());
            return empty_state(text.none_found, text.none_found_text, Some(clear));
        }
        let none_text = match C::READER {
            Reader::Developer => text.none_text,
            Reader::Operator => text.none_text_operator,
        };
        let webhook = context.webhook_path(&self.webhook_id);
        empty_state(text.none, none_text, Some((text.to_webhook, &webhook)))
    }

    fn table<C: WebhookPages>(&self, context: &C) -> Markup {
        let lang = context.lang();
        let (text, common) = (DeliveryText::of(lang), SharedText::of(lang));
        let columns = [
            Column::text(common.time),
            Column::main(text.event),
            Column::text(text.record),
            Column::text(text.status),
            Column::number(text.attempts),
        ];
        let first = context.query.get("before").map(|_| context.here(&["before"], []));
        let rows = self.deliveries.iter();
        table(
            lang,
            &Table {
                caption: text.title,
                columns: &columns,
                rows: rows.map(|one| (one.sequence.to_string(), self.cells(context, one))).collect(),
                csv: Some(context.here(&[], [("format", "csv")])),
                first,
                next: self.next_page(context),
            },
        )
    }

    fn cells<C: WebhookPages>(&self, context: &C, one: &DeliveryRow) -> Vec<Markup> {
        let lang = context.lang();
        let text = DeliveryText::of(lang);
        let page = format!("{}/{}", context.deliveries_path(&self.webhook_id), one.sequence);
        let company = one.company.as_ref().filter(|company| !company.is_empty());
        vec![
            html! { @if let Some(at) = one.at { (timestamp(lang, at)) } },
            html! {
                a href=(safe_href(&page)) {
                    @match &one.event { Some(event) => (parts_code(event)), None => (text.not_kept) }
                }
                span.sub { "#" (one.sequence) }
            },
            html! {
                @if let Some(record) = &one.record { code { (DisplayName(record)) } }
                @if let Some(company) = company { span.sub { (text.company) " " (short_id(company)) } }
            },
            html! {
                (delivery_state(lang, one.status))
                @if let Some(why) = one.why {
                    span.sub { @if let Some(status) = one.last_status { (status) " · " } (words(lang, why).what) }
                }
                @if let Some(at) = one.next_at { span.sub { (text.next_attempt) ": " (timestamp(lang, at)) } }
            },
            html! { (number(lang, u64::try_from(one.attempts).unwrap_or(u64::MAX))) },
        ]
    }
}
