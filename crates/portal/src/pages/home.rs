//! The home of a team.

use identity::Visitor;
use maud::{Markup, html};
use serde::Serialize;
use ui::app::empty_state;
use ui::{Lang, safe_href};

use crate::Portal;
use crate::context::Context;
use crate::shell::{Section, View};
use crate::text::common::CommonText;
use crate::text::team::TeamText;

#[derive(Debug, Serialize)]
pub(crate) struct Home {
    pub(crate) team: String,
}

impl View for Home {
    fn section(&self) -> Section {
        Section::Home
    }

    fn title(&self, lang: Lang) -> &'static str {
        CommonText::of(lang).home
    }

    fn content(&self, context: &Context) -> Markup {
        html! { h1 { (CommonText::of(context.lang()).home) } }
    }
}

impl Portal {
    /// For a developer whom no team has.
    pub(crate) fn no_team_page(&self, visitor: &Visitor) -> Markup {
        let (lang, base) = (visitor.lang, self.base_path());
        let (text, common) = (TeamText::of(lang), CommonText::of(lang));
        let links = html! {
            a href=(safe_href(&format!("{base}/account"))) { (common.account) }
            a href=(safe_href(&format!("{base}/logout"))) { (common.sign_out) }
        };
        let content = html! { h1 { (common.portal) } (empty_state(text.no_team, text.no_team_text, None)) };
        self.plain_page(lang, common.portal, &format!("{base}/"), &content, &links)
    }
}
