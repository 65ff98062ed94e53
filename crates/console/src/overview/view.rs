//! What the overview shows.

use maud::{Markup, html};
use pages::{PageContext as _, View};
use serde::Serialize;
use ui::Lang;
use ui::app::number;

use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OverviewPage {
    pub(crate) failing: u64,
    pub(crate) events_waiting: u64,
    pub(crate) nodes: u32,
}

impl View<Context> for OverviewPage {
    fn section(&self) -> Section {
        Section::Overview
    }

    fn title(&self, lang: Lang) -> &'static str {
        CommonText::of(lang).overview
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        html! {
            h1 { (self.title(lang)) }
            p { (number(lang, self.failing)) " " (number(lang, self.events_waiting)) " " (self.nodes) }
        }
    }
}
