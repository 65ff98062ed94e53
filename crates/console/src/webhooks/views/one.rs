//! The page of one webhook: its state, why it is behind, how deliveries go, its facts, what can be done to it.

use domain::{Ticks, WebhookStatus};
use maud::{Markup, html};
use operator::admin::Permission;
use pages::webhooks::WebhookPages as _;
use pages::webhooks::figures::{BEHIND_MAX, Content, Facts};
use pages::webhooks::forms::{replay_form, test_form};
use pages::webhooks::text::service_reason;
use pages::webhooks::text::webhooks::{OneWebhookText, WebhookText};
use pages::{Csv, View};
use serde::Serialize;
use ui::app::parts_code;
use ui::{DisplayName, Lang, Severity, notice, safe_href, timestamp};
use webhooks::history::BacklogCause;

use super::super::filter::ListedRow;
use super::super::text::WebhooksText;
use super::super::why::Explanation;
use super::list::tenant;
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::webhooks) struct WebhookPage {
    #[serde(rename = "webhook")]
    pub(in crate::webhooks) listed: ListedRow,
    pub(in crate::webhooks) facts: Facts,
    /// Why it is behind, the most important cause first.
    pub(in crate::webhooks) causes: Vec<BacklogCause>,
    #[serde(flatten)]
    pub(in crate::webhooks) content: Content,
    /// When the service will give up, if failures go on.
    #[serde(skip)]
    pub(in crate::webhooks) disabled_at: Option<Ticks>,
    pub(in crate::webhooks) host_mismatch: Option<String>,
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
        let (text, row) = (WebhookText::of(lang), &self.listed.row);
        let live = context.here(&[], [("format", "events")]);
        html! {
            p.crumbs { a href=(safe_href(&context.webhooks_path())) { (text.title) } }
            div.title-row { h1 { (text.one) " " (DisplayName(row.shown_name())) } span.live hidden { (CommonText::of(lang).live) } }
            div #webhook-state data-live=(live) data-live-part { (self.state_card(context)) }
            div #webhook-why data-live-part { (self.why_card(context)) }
            div #webhook-figures data-live-part { (self.content.figures.card(context)) }
            div #webhook-facts data-live-part { (self.facts.card(context, row)) }
            @if !row.status.is_final() { (self.actions(context)) }
            div #webhook-replays data-live-part { (self.content.replays_card(context)) }
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        Some(self.content.figures.csv())
    }
}

impl WebhookPage {
    fn state_card(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, own, row) = (WebhookText::of(lang), OneWebhookText::of(lang), &self.listed.row);
        let words = WebhooksText::of(lang);
        let deliveries = context.deliveries_path(&row.id);
        html! {
            section.card {
                p { (row.state(lang)) }
                p.muted { (DisplayName(&self.listed.host)) " · " (tenant(context, &self.listed)) " · " (row.application(context)) }
                dl.figures {
                    div { dt { (text.behind_long) } dd { (row.behind(lang, BEHIND_MAX)) } }
                    div { dt { (text.next_attempt) } dd { small { (row.next_attempt(lang)) } } }
                    @if let Some(at) = row.failing_since_at { div { dt { (text.failing_since) } dd { small { (timestamp(lang, at)) } } } }
                }
                @if let Some(at) = self.disabled_at { p { (words.disabled_at_about) " " (timestamp(lang, at)) "." } }
                p { a class="button secondary" href=(safe_href(&deliveries)) { (own.deliveries) } }
                @if let Some(why) = &self.host_mismatch {
                    (notice(Severity::Warning, "host-mismatch", &html! { (text.host_mismatch) }, Some(&html! {
                        @match service_reason::host_mismatch(lang, why) { Some(sentence) => (sentence), None => span lang="en" { (why) } }
                    })))
                }
            }
        }
    }

    fn why_card(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = WebhooksText::of(lang);
        let is_well = self.causes.as_slice() == [BacklogCause::NothingWrong];
        html! {
            section.card #why {
                h2 { @if is_well { (text.why_not_behind) } @else { (text.why) } }
                @for cause in &self.causes { (Explanation::of(lang, cause).markup(text.to_do)) }
            }
        }
    }

    fn actions(&self, context: &Context) -> Markup {
        let (text, own) = (OneWebhookText::of(context.lang()), WebhooksText::of(context.lang()));
        html! {
            section.card {
                h2 { (text.actions) }
                @if !context.may(Permission::Webhooks) { p.muted { (own.read_only) } }
                @else {
                    @if self.listed.row.status == WebhookStatus::Active { (test_form(context)) (replay_form(context)) }
                    @else { p.muted { (text.only_active) } }
                    (self.pause_form(context))
                    (self.delete_form(context))
                }
            }
        }
    }

    fn pause_form(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, own) = (OneWebhookText::of(lang), WebhooksText::of(lang));
        let status = self.listed.row.status;
        let is_paused = matches!(status, WebhookStatus::Disabled | WebhookStatus::DisabledByService);
        html! {
            @if is_paused {
                form.stack method="post" action=(context.here(&[], [])) {
                    (context.form_token())
                    button type="submit" class="button" name="do" value="enable" { (text.enable) }
                }
            } @else {
                details.more.danger id="pause" {
                    summary { (text.pause) }
                    form.stack method="post" action=(context.here(&[], [])) {
                        (context.form_token())
                        p { (own.pause_text) }
                        p.muted { (CommonText::of(lang).fresh_needed) }
                        button type="submit" class="button destructive" name="do" value="pause" { (text.pause) }
                    }
                }
            }
        }
    }

    fn delete_form(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, own, row) = (OneWebhookText::of(lang), WebhooksText::of(lang), &self.listed.row);
        html! {
            details.more.danger id="delete" open[context.is_refused("delete")] {
                summary { (text.delete) }
                form.stack method="post" action=(context.here(&[], [])) {
                    (context.form_token())
                    p { (own.delete_text) " " (parts_code(&row.url)) "." }
                    p.muted { (CommonText::of(lang).fresh_needed) }
                    div.field {
                        label for="confirm" { (own.confirm) }
                        input #confirm name="confirm" type="text" required autocomplete="off" autocapitalize="none" spellcheck="false" value=[context.typed("confirm")] aria-describedby="confirm-hint";
                        span.hint #confirm-hint { code { (row.id) } }
                    }
                    button type="submit" class="button destructive" name="do" value="delete" { (text.delete) }
                }
            }
        }
    }
}
