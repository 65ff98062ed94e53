//! The `form_post` response mode: a form that submits itself to the client. The button is for browsers without
//! scripts.

use maud::{Markup, PreEscaped, html};
use ui::{Button, Lang, Layout, PageWidth, button, hidden_field, page, safe_href};

use super::{debug_only, i18n::messages};

/// The only inline script of all pages. The Content-Security-Policy contains its hash, so the page must contain it
/// unchanged. It calls `submit` through the prototype, because a field may be named `submit`.
pub(crate) const FORM_POST_SCRIPT: &str = "HTMLFormElement.prototype.submit.call(document.forms[0])";

#[derive(Clone, Copy)]
pub(crate) struct FormPostPage<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub action: &'a str,
    pub fields: &'a [(&'a str, &'a str)],
}

debug_only!(FormPostPage { lang, action });

/// The layout of a page that goes on to the client by itself.
pub(super) fn layout(lang: Lang, assets: &str) -> Layout<'_> {
    let title = messages(lang).form_post.title;
    Layout { lang, assets, language_switch: None, title, width: PageWidth::Narrow }
}

pub(crate) fn form_post(model: &FormPostPage<'_>) -> Markup {
    let messages = &messages(model.lang).form_post;
    let layout = layout(model.lang, model.assets);
    let content = html! {
        h1 { (messages.title) " " span.lead { (messages.lead) } }
        form.stack method="post" action=(safe_href(model.action)) {
            @for (name, value) in model.fields { (hidden_field(name, value)) }
            (button(&Button { label: messages.submit, is_focused: true, ..Button::default() }))
        }
        script { (PreEscaped(FORM_POST_SCRIPT)) }
    };
    page(&layout, None, &content)
}
