//! The code for an application that has no address to be called back at: a person carries it over.

use look::{Lang, Name, Shell, Width, page, span};
use maud::{Markup, html};

use super::{debug_only, words::words};

#[derive(Clone, Copy)]
pub(crate) struct CodePage<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub switch: Option<&'a str>,
    pub application: &'a str,
    pub code: &'a str,
    pub minutes: u64,
}

debug_only!(CodePage { lang, application, minutes });

pub(crate) fn code_page(model: &CodePage<'_>) -> Markup {
    let words = &words(model.lang).code;
    let CodePage { lang, assets, switch, .. } = *model;
    let shell = Shell { lang, assets, switch, title: words.title, width: Width::Door };
    let name = Name(model.application);
    let valid = match model.minutes {
        0 => words.under_a_minute.to_owned(),
        minutes => span(lang, minutes.saturating_mul(60)),
    };
    let content = html! {
        h1 { ((words.heading)(name)) }
        p.lead { (words.lead) }
        div.code {
            label for="code" { (words.label) }
            // A field, so that the keyboard reaches it and "select all" takes the code alone.
            textarea id="code" rows="2" readonly autofocus spellcheck="false" { (model.code) }
        }
        p.fine { ((words.valid)(&valid)) }
    };
    page(&shell, None, &content)
}
