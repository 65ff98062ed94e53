//! The attempts of a delivery: results, diagnosis, and where the time went.

use crate::Csv;
use domain::Ticks;
use domain::delivery::{AttemptMilliseconds, AttemptOccasion, AttemptView};
use maud::{Markup, html};
use serde::Serialize;
use store::SuccessfulDelivery;
use ui::app::{SplitPart, State, number, split, state};
use ui::{Lang, timestamp};

use super::Reader;
use super::diagnosis::Diagnosis;
use super::text::deliveries::{OneDeliveryText, occasion_word};
use super::text::diagnosis::{SideText, words};
use super::text::shared::SharedText;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptRow {
    occasion: AttemptOccasion,
    /// Counted from 1.
    number: u32,
    time: String,
    #[serde(skip)]
    pub at: Ticks,
    status: Option<u16>,
    succeeded: bool,
    reason: String,
    excerpt: String,
    total_milliseconds: u64,
    /// None where only the total is kept.
    milliseconds: Option<Phases>,
    diagnosis: Option<&'static str>,
    side: Option<&'static str>,
    #[serde(skip)]
    why: Option<Diagnosis>,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Phases {
    resolve: u64,
    connect: u64,
    tls: u64,
    first_byte: u64,
    rest: u64,
}

impl Phases {
    fn new(times: AttemptMilliseconds) -> Self {
        let known = times.resolve + times.connect + times.tls + times.wait;
        Self {
            resolve: times.resolve,
            connect: times.connect,
            tls: times.tls,
            first_byte: times.wait,
            rest: times.total.saturating_sub(known),
        }
    }

    /// No time went into a connection of its own.
    fn is_reused(self) -> bool {
        self.resolve + self.connect + self.tls == 0
    }

    fn named(self, text: &OneDeliveryText) -> [(&'static str, u64); 5] {
        [
            (text.dns, self.resolve),
            (text.connect, self.connect),
            (text.tls, self.tls),
            (text.first_byte, self.first_byte),
            (text.rest, self.rest),
        ]
    }
}

impl AttemptRow {
    pub fn new(view: AttemptView) -> Self {
        let why = Diagnosis::of(&view);
        Self {
            occasion: view.occasion,
            number: view.number,
            time: view.at.iso(),
            at: view.at,
            status: view.status,
            succeeded: view.succeeded,
            reason: view.reason,
            excerpt: view.excerpt,
            total_milliseconds: view.milliseconds.total,
            milliseconds: Some(Phases::new(view.milliseconds)),
            diagnosis: why.map(Diagnosis::as_str),
            side: why.map(|why| why.side().as_str()),
            why,
        }
    }

    /// The success of an event in its turn.
    pub fn success(success: SuccessfulDelivery, number: u32) -> Self {
        Self {
            occasion: AttemptOccasion::Event,
            number,
            time: success.at.iso(),
            at: success.at,
            status: Some(success.status),
            succeeded: true,
            reason: String::new(),
            excerpt: String::new(),
            total_milliseconds: u64::from(success.duration_ms),
            milliseconds: None,
            diagnosis: None,
            side: None,
            why: None,
        }
    }

    /// The newest attempt is open.
    fn markup(&self, lang: Lang, is_open: bool) -> Markup {
        let text = OneDeliveryText::of(lang);
        let class = self.status.map(|status| format!("status-{}", status / 100)).unwrap_or_default();
        html! {
            details id={ "attempt-" (self.occasion.as_str()) "-" (self.at.0) } open[is_open] {
                summary {
                    span.title-row {
                        b {
                            @if self.occasion == AttemptOccasion::Event { (text.attempt) " " (self.number) }
                            @else { (occasion_word(lang, self.occasion)) }
                        }
                        @if self.succeeded { (state(State::Ok, text.accepted)) } @else { (state(State::Bad, text.rejected)) }
                        @match self.status { Some(status) => { b class=(class) { (status) } }, None => span.muted { (text.no_status) } }
                        span.muted { (milliseconds(lang, self.total_milliseconds)) }
                        span.muted { (timestamp(lang, self.at)) }
                    }
                }
                div.body { (self.body(lang)) }
            }
        }
    }

    fn body(&self, lang: Lang) -> Markup {
        let text = OneDeliveryText::of(lang);
        html! {
            @if let Some(why) = self.why { p { (words(lang, why).what) } }
            @if !self.reason.is_empty() { p.small { span.muted { (text.reason) ": " } span lang="en" { (self.reason) } } }
            @if !self.excerpt.is_empty() {
                div { p.small.muted { (text.excerpt) } pre.plain tabindex="0" { code { (self.excerpt) } } }
            }
            (self.times(lang))
        }
    }

    fn times(&self, lang: Lang) -> Markup {
        let text = OneDeliveryText::of(lang);
        let milliseconds = |value| milliseconds(lang, value);
        let Some(phases) = self.milliseconds else {
            return html! { p.small { span.muted { (text.duration) ": " } (milliseconds(self.total_milliseconds)) ". " span.muted { (text.only_total) } } };
        };
        let parts = phases.named(text);
        let bar = parts.map(|(label, value)| SplitPart { label, value, text: milliseconds(value) });
        html! {
            div {
                p.small { span.muted { (text.duration) ": " } (milliseconds(self.total_milliseconds)) @if phases.is_reused() && self.status.is_some() { ". " span.muted { (text.reused) } } }
                @if self.total_milliseconds > 0 { (split(text.time_split, &bar)) }
                details.more id={ "times-" (self.occasion.as_str()) "-" (self.at.0) } {
                    summary { (text.show_table) }
                    div.table {
                        table {
                            caption.visually-hidden { (text.time_split) }
                            thead { tr { th scope="col" { (text.phase) } th.number scope="col" { (text.duration) } } }
                            tbody {
                                @for (label, value) in parts.into_iter().chain([(text.total, self.total_milliseconds)]) {
                                    tr { td data-label=(text.phase) { div { (label) } } td.number data-label=(text.duration) { (milliseconds(value)) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn milliseconds(lang: Lang, value: u64) -> String {
    format!("{}\u{a0}ms", number(lang, value))
}

/// Every attempt, newest first.
pub fn attempts(lang: Lang, rows: &[AttemptRow]) -> Markup {
    html! {
        ol.attempts reversed {
            @for (index, row) in rows.iter().rev().enumerate() { li { (row.markup(lang, index == 0)) } }
        }
    }
}

/// What the last failure means and what to do, unless the delivery has succeeded since.
pub fn diagnosis(lang: Lang, reader: Reader, rows: &[AttemptRow], is_delivered: bool) -> Markup {
    let (text, common) = (OneDeliveryText::of(lang), SharedText::of(lang));
    let last = rows.iter().rev().find_map(|row| row.why.map(|why| (row, why)));
    let Some((row, why)) = last else { return html! {} };
    let meaning = words(lang, why);
    let to_do = match reader {
        Reader::Developer => text.to_do,
        Reader::Operator => text.to_do_operator,
    };
    html! {
        section.card #diagnosis {
            h2 { (text.diagnosis) }
            @if is_delivered { p.muted { (text.resolved) } }
            p { b { (meaning.what) } }
            (ui::app::facts(&[
                (text.side, html! { (SideText::of(lang).side(why.side())) }),
                (to_do, html! { (meaning.to_do) }),
                (common.time, timestamp(lang, row.at)),
            ]))
        }
    }
}

pub fn csv(rows: &[AttemptRow]) -> Csv {
    let row = |one: &AttemptRow| {
        let phase = |pick: fn(Phases) -> u64| {
            one.milliseconds.map(|phases| pick(phases).to_string()).unwrap_or_default()
        };
        vec![
            one.time.clone(),
            one.number.to_string(),
            one.occasion.as_str().to_owned(),
            one.status.map(|status| status.to_string()).unwrap_or_default(),
            one.succeeded.to_string(),
            one.reason.clone(),
            one.diagnosis.unwrap_or_default().to_owned(),
            one.side.unwrap_or_default().to_owned(),
            phase(|phases| phases.resolve),
            phase(|phases| phases.connect),
            phase(|phases| phases.tls),
            phase(|phases| phases.first_byte),
            one.total_milliseconds.to_string(),
            one.excerpt.clone(),
        ]
    };
    Csv {
        name: "attempts",
        columns: vec![
            "time",
            "number",
            "sent_as",
            "status",
            "succeeded",
            "reason",
            "diagnosis",
            "side",
            "dns_ms",
            "connect_ms",
            "tls_ms",
            "first_byte_ms",
            "total_ms",
            "excerpt",
        ],
        rows: rows.iter().map(row).collect(),
    }
}
