//! The page of one webhook: its state, how deliveries go, its facts, tests and replays. The forms are in
//! `webhook_actions.rs`.

use domain::{Suspension, Ticks};
use maud::{Markup, html};
use pages::webhooks::WebhookPages as _;
use pages::webhooks::figures::{BEHIND_MAX, Content, Facts};
use pages::webhooks::row::WebhookRow;
use pages::webhooks::text::service_reason;
use pages::webhooks::text::webhooks::{OneWebhookText, WebhookText};
use pages::{Csv, View};
use serde::Serialize;
use ui::app::copy_block;
use ui::{DisplayName, Lang, Severity, notice, safe_href};

use crate::context::Context;
use crate::shell::Section;
use crate::text::common::CommonText;

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
        let live = context.here(&[], [("format", "events")]);
        html! {
            p.crumbs { a href=(safe_href(&context.webhooks_path())) { (text.title) } }
            div.title-row { h1 { (text.one) " " (DisplayName(self.row.shown_name())) } span.live hidden { (CommonText::of(lang).live) } }
            @if let Some(secret) = &self.new_secret {
                section.card.secret-once role="status" {
                    h2 { (own.new_secret) }
                    p { (own.new_secret_text) }
                    (copy_block(lang, "new-secret", secret))
                }
            }
            div #webhook-state data-live=(live) data-live-part { (self.state_card(context)) }
            div #webhook-figures data-live-part { @if let Some(content) = &self.content { (content.figures.card(context)) } }
            div #webhook-facts data-live-part { (self.facts.card(context, &self.row)) }
            @if !self.row.status.is_final() { (self.actions(context)) }
            div #webhook-replays data-live-part { @if let Some(content) = &self.content { (content.replays_card(context)) } }
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        Some(self.content.as_ref()?.figures.csv())
    }
}

impl WebhookPage {
    fn state_card(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, own, row) = (WebhookText::of(lang), OneWebhookText::of(lang), &self.row);
        let deliveries = context.deliveries_path(&row.id);
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
}
