//! The home of a team: the checklist from the first key to the first delivery, and what is failing now.

use domain::{Resource, Ticks};
use identity::Visitor;
use maud::{Markup, html};
use pages::View;
use serde::Serialize;
use ui::app::{State, empty_state, number, parts_code, state};
use ui::{DisplayName, Lang, safe_href, timestamp};

use super::sandbox::SandboxState;
use crate::Portal;
use crate::context::Context;
use crate::shell::Section;
use crate::text::common::CommonText;
use crate::text::home::HomeText;
use crate::text::team::TeamText;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Home {
    pub(crate) team: String,
    pub(crate) progress: Progress,
    /// The first active client and its first redirect address, for the lines to copy.
    pub(crate) client: Option<String>,
    pub(crate) redirect_uri: Option<String>,
    pub(crate) scopes: String,
    /// The first usable subscription, whose key can be filled in.
    pub(crate) subscription: Option<String>,
    /// Its key, once the developer has asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    pub(crate) sandbox: SandboxState,
    /// The resource whose webhooks the checklist makes in the sandbox.
    #[serde(skip)]
    pub(crate) resource: Option<Resource>,
    pub(crate) failing: Vec<FailingWebhook>,
}

/// What has happened already.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_excessive_bools, reason = "independent steps")]
pub(crate) struct Progress {
    pub(crate) has_key: bool,
    pub(crate) has_client: bool,
    pub(crate) has_signed_in: bool,
    pub(crate) has_called: bool,
    pub(crate) has_webhook: bool,
    pub(crate) has_delivery: bool,
}

impl Progress {
    fn is_complete(self) -> bool {
        let Self { has_key, has_client, has_signed_in, has_called, has_webhook, has_delivery } = self;
        has_key && has_client && has_signed_in && has_called && has_webhook && has_delivery
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct FailingWebhook {
    pub(crate) id: String,
    pub(crate) url: String,
    /// `failing`, `disabled` or `suspended`.
    pub(crate) state: &'static str,
    pub(crate) since: Option<String>,
    #[serde(skip)]
    pub(crate) since_at: Option<Ticks>,
    pub(crate) behind: u64,
}

impl View<Context> for Home {
    fn section(&self) -> Section {
        Section::Home
    }

    fn title(&self, lang: Lang) -> &'static str {
        HomeText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = HomeText::of(lang);
        html! {
            div.title-row { h1 { (text.title) } span.live hidden { (CommonText::of(lang).live) } }
            p.lead { (text.lead) }
            // A page with a key stays as it is: the next version would not have it.
            section.card #progress data-live=[self.live(context)] data-live-part {
                h2 { (text.checklist) }
                @if self.progress.is_complete() {
                    p { @if self.failing.is_empty() { (state(State::Ok, text.all_done)) } @else { (state(State::Waiting, text.all_done_failing)) } }
                }
                @else { (self.sandbox_first(context)) }
                ol.checklist { @for (number, step) in (1..).zip(self.steps(context)) { (step.markup(text, number)) } }
            }
            section.card #failing data-live-part {
                h2 { (text.failing) }
                @if self.failing.is_empty() { p.muted { (text.nothing_fails) } }
                @else {
                    ul.links { @for one in &self.failing { li { (one.markup(context)) } } }
                    p.after { a href=(safe_href(&context.team_path("webhooks?failing=1"))) { (text.all_failing) } }
                }
            }
        }
    }
}

impl Home {
    fn live(&self, context: &Context) -> Option<String> {
        self.key.is_none().then(|| context.here(&[], [("format", "events")]))
    }
}

impl FailingWebhook {
    fn markup(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = HomeText::of(lang);
        let href = context.team_path(&format!("webhooks/{}", self.id));
        let word = match self.state {
            "disabled" => text.disabled,
            "suspended" => text.suspended,
            _ => text.failing_since,
        };
        html! {
            a href=(safe_href(&href)) { (parts_code(&self.url)) } " · " (state(State::Bad, word))
            @if let Some(at) = self.since_at { " " (timestamp(lang, at)) }
            @if self.behind > 0 { " · " (number(lang, self.behind)) " " (if self.behind == 1 { text.behind_one } else { text.behind }) }
        }
    }
}

impl Portal {
    /// For a developer whom no team has.
    pub(crate) fn no_team_page(&self, visitor: &Visitor) -> Markup {
        let (lang, base) = (visitor.lang, self.base_path());
        let (text, common) = (TeamText::of(lang), CommonText::of(lang));
        let links = html! {
            a href=(safe_href(&format!("{base}/account"))) { (DisplayName(&visitor.account.email)) }
            a href=(safe_href(&format!("{base}/logout"))) { (common.sign_out) }
        };
        let content = html! { h1 { (common.portal) } (empty_state(text.no_team, text.no_team_text, None)) };
        self.plain_page(lang, common.portal, &format!("{base}/"), &content, &links)
    }
}
