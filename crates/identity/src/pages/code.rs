//! The code for an application that has no address to be called back at: a person carries it over.

use maud::{Markup, html};
use ui::{DisplayName, Lang, Layout, PageWidth, duration, page};

use super::{debug_only, words::words};

#[derive(Clone, Copy)]
pub(crate) struct CodePage<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub language_switch: Option<&'a str>,
    pub application: &'a str,
    pub code: &'a str,
    pub minutes: u64,
}

debug_only!(CodePage { lang, application, minutes });

pub(crate) fn code_page(model: &CodePage<'_>) -> Markup {
    let words = &words(model.lang).code;
    let CodePage { lang, assets, language_switch, .. } = *model;
    let layout = Layout { lang, assets, language_switch, title: words.title, width: PageWidth::Narrow };
    let name = DisplayName(model.application);
    let valid = match model.minutes {
        0 => words.under_a_minute.to_owned(),
        minutes => duration(lang, minutes.saturating_mul(60)),
    };
    let content = html! {
        h1 { ((words.heading)(name)) }
        p.lead { (words.lead) }
        div.code {
            label for="code" { (words.label) }
            // A field, so that the keyboard reaches it and "select all" takes the code alone.
            textarea id="code" rows="2" readonly autofocus spellcheck="false" { (model.code) }
        }
        p.small-print { ((words.valid)(&valid)) }
    };
    page(&layout, None, &content)
}
