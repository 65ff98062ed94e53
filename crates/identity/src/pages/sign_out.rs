//! The way out: asked first, then confirmed.

use maud::{Markup, html};
use ui::{Button, ButtonStyle, DisplayName, Lang, Layout, PageWidth, button, hidden_field, page, safe_href};

use super::{
    debug_only,
    words::{Words, words},
};

#[derive(Clone, Copy)]
pub(crate) struct SignOut<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub language_switch: Option<&'a str>,
    pub action: &'a str,
    pub ticket: &'a str,
    pub email: &'a str,
    /// The application that asks for it.
    pub application: Option<&'a str>,
}

debug_only!(SignOut { lang, action, application });

pub(crate) fn sign_out(model: &SignOut<'_>) -> Markup {
    let words = &words(model.lang).sign_out;
    let SignOut { lang, assets, language_switch, .. } = *model;
    let layout = Layout { lang, assets, language_switch, title: words.title, width: PageWidth::Narrow };
    let content = html! {
        h1 { (words.heading) }
        @if let Some(name) = model.application { p.lead { ((words.asked_by)(DisplayName(name))) } }
        p.lead { ((words.signed_in_as)(DisplayName(model.email))) }
        form.stack method="post" action=(safe_href(model.action)) {
            (hidden_field("ticket", model.ticket))
            (button(&Button { label: words.submit, ..Button::default() }))
        }
        p.small-print { (words.or_stay) }
    };
    page(&layout, None, &content)
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SignedOut<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub language_switch: Option<&'a str>,
    pub back: Option<Back<'a>>,
    /// Where a person sees which applications have access.
    pub permissions: &'a str,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Back<'a> {
    pub href: &'a str,
    pub application: &'a str,
}

pub(crate) fn signed_out(model: &SignedOut<'_>) -> Markup {
    let SignedOut { lang, assets, language_switch, back, permissions } = *model;
    let Words { sign_out: words, permissions: there, .. } = words(lang);
    let layout = Layout { lang, assets, language_switch, title: words.done_title, width: PageWidth::Narrow };
    let link = html! { a href=(safe_href(permissions)) { (there.title) } };
    let content = html! {
        h1 { (words.done_title) }
        p.lead { (words.done_text) }
        @if let Some(back) = back {
            p.after.buttons {
                a class=(ButtonStyle::Secondary.class()) href=(safe_href(back.href)) {
                    span { ((words.back)(DisplayName(back.application))) }
                }
            }
        }
        p.small-print { ((words.access_stays)(&link)) }
    };
    page(&layout, None, &content)
}
