//! The page that shows an authorization code for out-of-band clients: the user copies it, or the desktop application
//! reads it from the title.

use maud::{Markup, html};
use ui::{DisplayName, Head, Lang, Layout, PageWidth, duration, page_with_head};

use super::{debug_only, i18n::messages};
use crate::params::query;

#[derive(Clone, Copy)]
pub(crate) struct CodePage<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub language_switch: Option<&'a str>,
    pub application: &'a str,
    pub code: &'a str,
    pub state: Option<&'a str>,
    pub minutes: u64,
}

debug_only!(CodePage { lang, application, minutes });

pub(crate) fn code_page(model: &CodePage<'_>) -> Markup {
    let messages = &messages(model.lang).code;
    let CodePage { lang, assets, language_switch, .. } = *model;
    let layout = Layout { lang, assets, language_switch, title: messages.title, width: PageWidth::Narrow };
    let name = DisplayName(model.application);
    let valid = match model.minutes {
        0 => messages.under_a_minute.to_owned(),
        minutes => duration(lang, minutes.saturating_mul(60)),
    };
    let params = [("code", Some(model.code)), ("state", model.state)];
    let params = query(params.into_iter().filter_map(|(name, value)| Some((name, value?))));
    let title = format!("Success {params}");
    let head = Head { exact_title: Some(&title), ..Head::default() };
    let content = html! {
        h1 { ((messages.heading)(name)) }
        p.lead { (messages.lead) }
        div.code {
            label for="code" { (messages.label) }
            // A text area: keyboard users reach it, and "select all" selects the code alone.
            textarea id="code" rows="2" readonly autofocus spellcheck="false" { (model.code) }
        }
        @if let Some(state) = model.state {
            div.code {
                label for="state" { (messages.state) }
                textarea id="state" rows="2" readonly spellcheck="false" { (state) }
            }
        }
        p.small-print { ((messages.valid)(&valid)) }
    };
    page_with_head(&layout, &head, None, &content)
}
