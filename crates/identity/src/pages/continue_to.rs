//! The page after a form that leads back to the client. It goes on by itself, without a script; the link is for people
//! whose browser does not.

use maud::{Markup, html};
use ui::{ButtonStyle, Head, Lang, page_with_head, safe_href};

use super::{debug_only, form_post::layout, i18n::messages};

#[derive(Clone, Copy)]
pub(crate) struct ContinuePage<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    /// The client's URL, which may carry a code.
    pub to: &'a str,
}

debug_only!(ContinuePage { lang });

pub(crate) fn continue_page(model: &ContinuePage<'_>) -> Markup {
    let messages = &messages(model.lang).form_post;
    let layout = layout(model.lang, model.assets);
    let head = Head { refresh: Some(model.to), ..Head::default() };
    let content = html! {
        h1 { (messages.title) " " span.lead { (messages.lead) } }
        p.after.buttons {
            a class=(ButtonStyle::Primary.class()) href=(safe_href(model.to)) rel="noreferrer" {
                span { (messages.submit) }
            }
        }
    };
    page_with_head(&layout, &head, None, &content)
}
