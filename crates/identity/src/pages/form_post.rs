//! The page that carries an answer back to the application as a form. It sends itself; its button is for
//! browsers without scripts.

use maud::{Markup, PreEscaped, html};
use ui::{Button, Lang, Layout, PageWidth, button, hidden_field, page, safe_href};

use super::{debug_only, words::words};

/// The one script of all pages. The content policy names its hash, so it must stand in the page as it is here.
/// By the prototype, because a field may itself be called `submit`.
pub(crate) const FORM_POST_SCRIPT: &str = "HTMLFormElement.prototype.submit.call(document.forms[0])";

#[derive(Clone, Copy)]
pub(crate) struct FormPost<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub action: &'a str,
    pub fields: &'a [(&'a str, &'a str)],
}

debug_only!(FormPost { lang, action });

pub(crate) fn form_post(model: &FormPost<'_>) -> Markup {
    let words = &words(model.lang).form_post;
    let layout = Layout {
        lang: model.lang,
        assets: model.assets,
        language_switch: None,
        title: words.title,
        width: PageWidth::Narrow,
    };
    let content = html! {
        h1 { (words.title) " " span.lead { (words.lead) } }
        form.stack method="post" action=(safe_href(model.action)) {
            @for (name, value) in model.fields { (hidden_field(name, value)) }
            (button(&Button { label: words.submit, is_focused: true, ..Button::default() }))
        }
        script { (PreEscaped(FORM_POST_SCRIPT)) }
    };
    page(&layout, None, &content)
}
