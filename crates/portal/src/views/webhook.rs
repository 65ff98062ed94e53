//! The page of one webhook: its state, how deliveries go, its facts, tests and replays. The forms are in
//! `webhook_actions.rs`.

use domain::delivery::{ReplayView, WebhookFigure};
use domain::event::semantic_name;
use domain::{Suspension, Ticks};
use maud::{Markup, html};
use serde::Serialize;
use store::Webhook;
use ui::app::{
    Chart, ChartPoint, Column, State, Table, chart, copy_block, facts, meter, number, parts_code, percent,
    state, table, tabs,
};
use ui::{DisplayName, Lang, Severity, notice, safe_href, tick_time, timestamp};

use super::webhooks::WebhookRow;
use crate::context::Context;
use crate::shell::Section;
use crate::text::common::CommonText;
use crate::text::service_reason;
use crate::text::webhooks::{OneWebhookText, WebhookText};
use pages::{Csv, View};

/// Up to so many undelivered events are counted.
const BEHIND_MAX: u64 = 10_000;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WebhookPage {
    #[serde(rename = "webhook")]
    pub(crate) row: WebhookRow,
    pub(crate) facts: Facts,
    /// Why the content is not shown.
    pub(crate) hidden: Option<Suspension>,
    #[serde(flatten)]
    pub(crate) content: Option<Content>,
    /// When the service will give up, if failures go on.
    #[serde(skip)]
    pub(crate) disabled_at: Option<Ticks>,
    pub(crate) has_lost_events: bool,
    pub(crate) host_mismatch: Option<String>,
    pub(crate) can_change_url: bool,
    pub(crate) previous_secret_until: Option<String>,
    #[serde(skip)]
    pub(crate) previous_secret_until_at: Option<Ticks>,
    /// A secret that was set just now; it is shown once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) new_secret: Option<String>,
}

/// What is only shown while the client's access stands.
#[derive(Debug, Serialize)]
pub(crate) struct Content {
    pub(crate) figures: Figures,
    pub(crate) replays: Vec<ReplayRow>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Facts {
    event_types: Vec<String>,
    description: String,
    created: String,
    handshake_requested: String,
    is_handshake_accepted: bool,
    handshake_failures: u64,
    #[serde(skip)]
    created_at: Ticks,
    #[serde(skip)]
    handshake_at: Ticks,
}

impl Facts {
    pub(crate) fn new(webhook: &Webhook) -> Self {
        let (kinds, handshake) = (webhook.kinds.iter(), &webhook.handshake);
        Self {
            event_types: kinds.map(|kind| semantic_name(webhook.resource, kind)).collect(),
            description: webhook.description.clone(),
            created: webhook.created_at.iso(),
            handshake_requested: handshake.at.iso(),
            is_handshake_accepted: handshake.accepted,
            handshake_failures: handshake.retry.map_or(0, |retry| u64::from(retry.attempts)),
            created_at: webhook.created_at,
            handshake_at: handshake.at,
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Figures {
    /// `day` or `week`.
    pub(crate) span: &'static str,
    pub(crate) total: FigureRow,
    pub(crate) hours: Vec<FigureRow>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FigureRow {
    start: String,
    delivered: u64,
    failed: u64,
    success_rate: Option<f64>,
    p50_micros: Option<u64>,
    p95_micros: Option<u64>,
    #[serde(skip)]
    start_at: Ticks,
}

impl FigureRow {
    pub(crate) fn new(figure: &WebhookFigure) -> Self {
        Self {
            start: figure.start.iso(),
            delivered: figure.delivered,
            failed: figure.failed_attempts,
            success_rate: figure.success_rate,
            p50_micros: figure.p50_micros,
            p95_micros: figure.p95_micros,
            start_at: figure.start,
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReplayRow {
    number: i64,
    kind: &'static str,
    requested: String,
    delivered: u64,
    failed: u64,
    is_done: bool,
    /// The share of the span that is done, in hundredths.
    percent_done: u64,
    #[serde(skip)]
    requested_at: Ticks,
}

impl ReplayRow {
    pub(crate) fn new(replay: &ReplayView) -> Self {
        let length = u128::from(replay.through.saturating_sub(replay.after)).max(1);
        let part = u128::from(replay.position.saturating_sub(replay.after));
        let done = u64::try_from(part * 100 / length).unwrap_or(100).min(100);
        Self {
            number: replay.number,
            kind: replay.kind(),
            requested: replay.requested_at.iso(),
            delivered: replay.delivered,
            failed: replay.failed,
            is_done: replay.is_done,
            percent_done: if replay.is_done { 100 } else { done },
            requested_at: replay.requested_at,
        }
    }
}

fn milliseconds(lang: Lang, micros: Option<u64>) -> String {
    micros.map_or_else(|| "–".into(), |micros| format!("{}\u{a0}ms", number(lang, micros.div_ceil(1000))))
}

impl View<Context> for WebhookPage {
    fn section(&self) -> Section {
        Section::Webhooks
    }

    fn title(&self, lang: Lang) -> &'static str {
        WebhookText::of(lang).one
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, own) = (WebhookText::of(lang), OneWebhookText::of(lang));
        let name = if self.row.name.trim().is_empty() { self.row.resource } else { &self.row.name };
        let live = context.here(&[], [("format", "events")]);
        html! {
            p.crumbs { a href=(safe_href(&context.team_path("webhooks"))) { (text.title) } }
            div.title-row { h1 { (DisplayName(name)) } span.live hidden { (CommonText::of(lang).live) } }
            @if let Some(secret) = &self.new_secret {
                section.card.secret-once role="status" {
                    h2 { (own.new_secret) }
                    p { (own.new_secret_text) }
                    (copy_block(lang, "new-secret", secret))
                }
            }
            div #webhook-state data-live=(live) data-live-part { (self.state_card(context)) }
            div #webhook-figures data-live-part { @if let Some(content) = &self.content { (content.figures.card(context)) } }
            div #webhook-facts data-live-part { (self.facts_card(context)) }
            @if !self.row.status.is_final() { (self.actions(context)) }
            div #webhook-replays data-live-part { @if let Some(content) = &self.content { (content.replays_card(context)) } }
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let text = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
        let row = |one: &FigureRow| {
            vec![
                one.start.clone(),
                one.delivered.to_string(),
                one.failed.to_string(),
                text(one.p50_micros),
                text(one.p95_micros),
            ]
        };
        let figures = &self.content.as_ref()?.figures;
        Some(Csv {
            name: "deliveries-by-hour",
            columns: vec!["hour", "delivered", "failed", "p50_us", "p95_us"],
            rows: figures.hours.iter().map(row).collect(),
        })
    }
}

impl WebhookPage {
    fn state_card(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, own, row) = (WebhookText::of(lang), OneWebhookText::of(lang), &self.row);
        let deliveries = context.team_path(&format!("webhooks/{}/deliveries", row.id));
        html! {
            section.card {
                p { (row.state(lang)) }
                p { (row.explanation(lang, self.disabled_at)) }
                @if self.hidden.is_some() {
                    (notice(Severity::Warning, "hidden", &html! { (text.hidden) }, Some(&html! { (text.hidden_text) })))
                } @else {
                    dl.figures {
                        div { dt { (text.behind_long) } dd { (row.behind(lang, BEHIND_MAX)) } }
                        div { dt { (text.next_attempt) } dd { small { (row.next_attempt(lang)) } } }
                    }
                    p { a class="button secondary" href=(safe_href(&deliveries)) { (own.deliveries) } }
                }
                @if self.has_lost_events {
                    (notice(Severity::Error, "lost", &html! { (text.lost) }, Some(&html! { (text.lost_text) })))
                }
                @if let Some(why) = &self.host_mismatch {
                    (notice(Severity::Warning, "host-mismatch", &html! { (text.host_mismatch) }, Some(&html! {
                        @match service_reason::host_mismatch(lang, why) { Some(sentence) => (sentence), None => span lang="en" { (why) } }
                    })))
                }
            }
        }
    }

    fn facts_card(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, own) = (WebhookText::of(lang), OneWebhookText::of(lang));
        let (row, known) = (&self.row, &self.facts);
        let handshake = html! {
            @if known.is_handshake_accepted { (own.handshake_accepted) } @else { (own.handshake_pending) }
            ", " (own.asked) " " (timestamp(lang, known.handshake_at))
            @if known.handshake_failures > 0 { " (" (number(lang, known.handshake_failures)) " " (own.handshake_attempts) ")" }
        };
        let tenant = html! {
            @if let Some(name) = &row.tenant_name { (DisplayName(name)) " · " }
            code { (row.tenant) }
        };
        let mut rows = vec![
            (own.resource, html! { (row.resource) }),
            (own.event_types, html! { @for name in &known.event_types { (parts_code(name)) br; } }),
            (own.url, parts_code(&row.url)),
            (text.application, row.application(context)),
            (text.tenant, tenant),
            (own.created, timestamp(lang, known.created_at)),
            (own.handshake, handshake),
            ("Id", html! { code { (row.id) } }),
        ];
        if !known.description.trim().is_empty() {
            rows.insert(3, (own.description, html! { (DisplayName(&known.description)) }));
        }
        html! { section.card { h2 { (own.facts) } (facts(&rows)) } }
    }
}

impl Figures {
    fn card(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = OneWebhookText::of(lang);
        let is_week = self.span == "week";
        let spans = [
            (text.day, context.here(&["span"], []), !is_week),
            (text.week, context.here(&["span"], [("span", "week")]), is_week),
        ];
        let point = |one: &FigureRow| ChartPoint {
            label: timestamp(lang, one.start_at),
            tick: tick_time(lang, one.start_at, is_week),
            ok: one.delivered,
            bad: one.failed,
        };
        let points: Vec<ChartPoint> = self.hours.iter().map(point).collect();
        let total = &self.total;
        let rate = total.success_rate.map_or_else(|| "–".into(), |rate| percent(lang, rate));
        let attempts = total.delivered.saturating_add(total.failed);
        html! {
            section.card {
                h2 { (text.figures) }
                p.muted { (text.figures_text) }
                (tabs(text.span, &spans))
                dl.figures {
                    div { dt { (text.success_rate) } dd { (rate) } }
                    div { dt { (text.p50) } dd { (milliseconds(lang, total.p50_micros)) } }
                    div { dt { (text.p95) } dd { (milliseconds(lang, total.p95_micros)) } }
                    div { dt { (text.attempts) } dd { (number(lang, attempts)) } }
                }
                @if attempts == 0 { p.muted { (text.no_figures) } }
                @else {
                    (chart(lang, &Chart { id: "hours", title: text.by_hour, time: text.hour, ok: text.delivered, bad: text.failed, points: &points }))
                    p.small { a href=(safe_href(&context.here(&[], [("format", "csv")]))) download { (text.csv) } }
                }
            }
        }
    }
}

impl Content {
    fn replays_card(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = OneWebhookText::of(lang);
        let columns = [
            Column::main(text.kind),
            Column::text(text.requested),
            Column::text(text.progress),
            Column::number(text.delivered),
            Column::number(text.failed),
        ];
        let cells = |one: &ReplayRow| {
            let (kind, word) = match (one.is_done, one.failed) {
                (true, 0) => (State::Ok, text.is_done),
                (true, _) => (State::Bad, text.is_done),
                (false, _) => (State::Waiting, text.is_running),
            };
            let name = if one.kind == "test" { text.kind_test } else { text.kind_events };
            vec![
                html! { (name) },
                timestamp(lang, one.requested_at),
                html! {
                    (state(kind, word))
                    @if !one.is_done { " " (one.percent_done) "\u{a0}%" (meter(text.progress, one.percent_done, 100)) }
                },
                html! { (number(lang, one.delivered)) },
                html! { (number(lang, one.failed)) },
            ]
        };
        html! {
            section.card {
                h2 { (text.replays) }
                @if self.replays.is_empty() { p.muted { (text.no_replays) } }
                @else {
                    (table(lang, &Table {
                        caption: text.replays,
                        columns: &columns,
                        rows: self.replays.iter().map(|one| (one.number.to_string(), cells(one))).collect(),
                        ..Table::default()
                    }))
                }
            }
        }
    }
}
