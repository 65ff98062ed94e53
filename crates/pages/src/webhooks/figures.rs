//! The facts and figures of one webhook, and its tests and replays.

use domain::Ticks;
use domain::delivery::{ReplayView, WebhookFigure};
use domain::event::semantic_name;
use maud::{Markup, html};
use serde::Serialize;
use store::Webhook;
use ui::app::{
    Chart, ChartPoint, Column, State, Table, chart, facts, in_groups, meter, number, parts_code, percent,
    state, table, tabs,
};
use ui::{DisplayName, Lang, safe_href, tick_time, timestamp};

use super::WebhookPages;
use super::row::WebhookRow;
use super::text::webhooks::{OneWebhookText, WebhookText};
use crate::{Csv, PageContext};

/// Up to so many undelivered events are counted on the page of one webhook.
pub const BEHIND_MAX: u64 = 10_000;
/// A week has four bars a day.
const HOURS_PER_BAR: usize = 6;

/// What is only shown while the client's access stands.
#[derive(Debug, Serialize)]
pub struct Content {
    pub figures: Figures,
    pub replays: Vec<ReplayRow>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
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
    pub fn new(webhook: &Webhook) -> Self {
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
pub struct Figures {
    /// `day` or `week`.
    pub span: &'static str,
    pub total: FigureRow,
    pub hours: Vec<FigureRow>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FigureRow {
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
    pub fn new(figure: &WebhookFigure) -> Self {
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
pub struct ReplayRow {
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
    pub fn new(replay: &ReplayView) -> Self {
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

impl Facts {
    /// The card with the facts of a webhook.
    pub fn card<C: WebhookPages>(&self, context: &C, row: &WebhookRow) -> Markup {
        let lang = context.lang();
        let (text, own) = (WebhookText::of(lang), OneWebhookText::of(lang));
        let known = self;
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

fn milliseconds(lang: Lang, micros: Option<u64>) -> String {
    micros.map_or_else(|| "–".into(), |micros| format!("{}\u{a0}ms", number(lang, micros.div_ceil(1000))))
}

impl Figures {
    pub fn card<C: PageContext>(&self, context: &C) -> Markup {
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
        let hours: Vec<ChartPoint> = self.hours.iter().map(point).collect();
        let (points, title) = if is_week {
            (in_groups(&hours, HOURS_PER_BAR), text.by_six_hours)
        } else {
            (hours, text.by_hour)
        };
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
                    p.small.muted { (title) }
                    (chart(lang, &Chart { id: "hours", title, time: text.hour, ok: text.delivered, bad: text.failed, points: &points }))
                    p.small { a href=(safe_href(&context.here(&[], [("format", "csv")]))) download { (text.csv) } }
                }
            }
        }
    }
}

impl Figures {
    pub fn csv(&self) -> Csv {
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
        Csv {
            name: "deliveries-by-hour",
            columns: vec!["hour", "delivered", "failed", "p50_us", "p95_us"],
            rows: self.hours.iter().map(row).collect(),
        }
    }
}

impl Content {
    pub fn replays_card<C: PageContext>(&self, context: &C) -> Markup {
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
