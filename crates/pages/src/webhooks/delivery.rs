//! One delivery: what became of it, every attempt, its body, and how to repeat it.

use domain::Ticks;
use domain::delivery::{AttemptOccasion, AttemptView, DeliveryStatus, DeliveryView, ReplayView};
use domain::webhook::Family;
use maud::{Markup, html};
use serde::Serialize;
use store::{SuccessfulDelivery, Webhook};
use ui::app::{copy_block, facts, parts_code, tabs};
use ui::{Button, ButtonStyle, Lang, button, plain_name, safe_href, timestamp};

use super::WebhookPages;
use super::attempts::{AttemptRow, attempts, diagnosis};
use super::deliveries::{crumbs, delivery_state};
use super::request_text;
use super::text::deliveries::{DeliveryText, OneDeliveryText};
use super::text::shared::SharedText;
use crate::{Csv, View};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OneDeliveryPage {
    webhook_id: String,
    url: String,
    sequence: u64,
    outgoing_id: Option<String>,
    event: Option<String>,
    record: Option<String>,
    company: Option<String>,
    status: DeliveryStatus,
    delivered_at: Option<String>,
    next_attempt_at: Option<String>,
    /// Oldest first, with the success.
    attempts: Vec<AttemptRow>,
    /// None: the log no longer has it.
    body: Option<String>,
    #[serde(skip)]
    curl: Option<String>,
    #[serde(skip)]
    delivered: Option<Ticks>,
    #[serde(skip)]
    next_at: Option<Ticks>,
}

impl OneDeliveryPage {
    pub fn new(webhook: &Webhook, view: DeliveryView, success: Option<SuccessfulDelivery>) -> Self {
        let rows = all_attempts(view.attempts, success);
        let at = rows.last().map(|attempt| attempt.at).unwrap_or_default();
        let family = Family::of(webhook.resource);
        let curl = view.body.as_ref();
        let curl = curl.map(|body| request_text::curl(&webhook.url, family, view.outgoing_id, at, body));
        Self {
            webhook_id: webhook.id.to_string(),
            url: webhook.url.clone(),
            sequence: view.sequence,
            outgoing_id: view.outgoing_id.map(|id| id.to_string()),
            event: view.event,
            record: view.correlation_id.map(String::from),
            company: view.company.map(String::from),
            status: view.status,
            delivered_at: view.delivered_at.map(Ticks::iso),
            next_attempt_at: view.next_attempt_at.map(Ticks::iso),
            attempts: rows,
            body: view.body,
            curl,
            delivered: view.delivered_at,
            next_at: view.next_attempt_at,
        }
    }

    fn facts<C: WebhookPages>(&self, context: &C) -> Markup {
        let lang = context.lang();
        let (text, one) = (DeliveryText::of(lang), OneDeliveryText::of(lang));
        let kept = |value: &Option<String>| {
            html! { @match value { Some(value) => (parts_code(&plain_name(value))), None => span.muted { (text.not_kept) } } }
        };
        let company = match self.company.as_deref() {
            Some("") => html! { (one.of_tenant) },
            _ => kept(&self.company),
        };
        let mut rows = vec![
            (text.event, kept(&self.event)),
            (text.record, kept(&self.record)),
            (text.company, company),
            (one.outgoing_id, kept(&self.outgoing_id)),
            (one.sequence, html! { code { (self.sequence) } }),
            (one.address, parts_code(&self.url)),
        ];
        rows.extend(self.delivered.map(|at| (one.delivered_at, timestamp(lang, at))));
        rows.extend(self.next_at.map(|at| (text.next_attempt, timestamp(lang, at))));
        facts(&rows)
    }

    fn body<C: WebhookPages>(&self, context: &C) -> Markup {
        let lang = context.lang();
        let text = OneDeliveryText::of(lang);
        let is_raw = context.query.get("body") == Some("raw");
        let views = [
            (text.pretty, context.here(&["body"], []), !is_raw),
            (text.raw, context.here(&["body"], [("body", "raw")]), is_raw),
        ];
        html! {
            section.card #body {
                h2 { (text.body) }
                @match &self.body {
                    None => p.muted { (text.body_gone) },
                    Some(body) => {
                        p.muted { (text.body_text) }
                        (tabs(text.body, &views))
                        @if is_raw { (copy_block(lang, "body-text", body)) }
                        @else { (copy_block(lang, "body-text", &request_text::pretty(body))) }
                    }
                }
            }
        }
    }

    fn replay<C: WebhookPages>(&self, context: &C) -> Markup {
        let text = OneDeliveryText::of(context.lang());
        html! {
            section.card {
                h2 { (text.replay) }
                @if self.body.is_none() { p.muted { (text.replay_gone) } }
                @else {
                    p.muted { (text.replay_text) }
                    form.inline method="post" action=(context.here(&[], [])) {
                        (context.form_token())
                        (button(&Button { label: text.replay, style: ButtonStyle::Secondary, name_and_value: Some(("do", "replay")), ..Button::default() }))
                    }
                }
            }
        }
    }
}

/// The attempts that were kept and the success in its turn, oldest first.
fn all_attempts(kept: Vec<AttemptView>, success: Option<SuccessfulDelivery>) -> Vec<AttemptRow> {
    let failed = kept.iter().filter(|one| one.occasion == AttemptOccasion::Event).count();
    let mut rows: Vec<AttemptRow> = kept.into_iter().map(AttemptRow::new).collect();
    let number = u32::try_from(failed).unwrap_or(u32::MAX).saturating_add(1);
    rows.extend(success.map(|success| AttemptRow::success(success, number)));
    rows.sort_by_key(|row| row.at);
    rows
}

impl<C: WebhookPages> View<C> for OneDeliveryPage {
    fn section(&self) -> C::Section {
        C::WEBHOOKS
    }

    fn title(&self, lang: Lang) -> &'static str {
        OneDeliveryText::of(lang).title
    }

    fn content(&self, context: &C) -> Markup {
        let lang = context.lang();
        let (text, one) = (DeliveryText::of(lang), OneDeliveryText::of(lang));
        let live = context.here(&[], [("format", "events")]);
        let csv = context.here(&[], [("format", "csv")]);
        let is_delivered = self.status == DeliveryStatus::Delivered;
        html! {
            (crumbs(context, &self.webhook_id, &self.url, true))
            div #delivery data-live=(live) data-live-part {
                div.title-row {
                    h1 { (one.title) " #" (self.sequence) }
                    (delivery_state(lang, self.status))
                    span.live hidden { (SharedText::of(lang).live) }
                }
                @if self.status == DeliveryStatus::Unknown { p.lead { (text.unknown_text) } }
                (diagnosis(lang, C::READER, &self.attempts, is_delivered))
                section.card { (self.facts(context)) }
                section.card {
                    h2 { (text.attempts) }
                    @if self.attempts.is_empty() { p.muted { (one.no_attempts) } }
                    @else {
                        (attempts(lang, &self.attempts))
                        p { a href=(safe_href(&csv)) download { (one.csv) } }
                    }
                }
            }
            @if context.may_act_on_webhooks() { (self.replay(context)) }
            (self.body(context))
            @if let Some(curl) = &self.curl {
                section.card {
                    h2 { (one.curl) }
                    p.muted { (one.curl_text) }
                    (copy_block(lang, "curl", curl))
                }
            }
        }
    }

    fn csv(&self, _context: &C) -> Option<Csv> {
        Some(super::attempts::csv(&self.attempts))
    }
}

/// A replay that was started, for programs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayJson {
    webhook_id: String,
    number: i64,
    requested_at: String,
}

impl ReplayJson {
    pub fn new(view: &ReplayView) -> Self {
        Self {
            webhook_id: view.webhook.to_string(),
            number: view.number,
            requested_at: view.requested_at.iso(),
        }
    }
}
