//! The way out: asked first, then confirmed.

use look::{Button, Emphasis, Lang, Name, Shell, Width, address, button, hidden, page};
use maud::{Markup, html};

use super::{
    debug_only,
    words::{Words, words},
};

#[derive(Clone, Copy)]
pub(crate) struct SignOut<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub switch: Option<&'a str>,
    pub action: &'a str,
    pub ticket: &'a str,
    pub email: &'a str,
    /// The application that asks for it.
    pub application: Option<&'a str>,
}

debug_only!(SignOut { lang, action, application });

pub(crate) fn sign_out(model: &SignOut<'_>) -> Markup {
    let words = &words(model.lang).sign_out;
    let SignOut { lang, assets, switch, .. } = *model;
    let shell = Shell { lang, assets, switch, title: words.title, width: Width::Door };
    let content = html! {
        h1 { (words.heading) }
        @if let Some(name) = model.application { p.lead { ((words.asked_by)(Name(name))) } }
        p.lead { ((words.signed_in_as)(Name(model.email))) }
        form.stack method="post" action=(address(model.action)) {
            (hidden("ticket", model.ticket))
            (button(&Button { label: words.submit, ..Button::default() }))
        }
        p.fine { (words.or_stay) }
    };
    page(&shell, None, &content)
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SignedOut<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub switch: Option<&'a str>,
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
    let SignedOut { lang, assets, switch, back, permissions } = *model;
    let Words { sign_out: words, permissions: there, .. } = words(lang);
    let shell = Shell { lang, assets, switch, title: words.done_title, width: Width::Door };
    let link = html! { a href=(address(permissions)) { (there.title) } };
    let content = html! {
        h1 { (words.done_title) }
        p.lead { (words.done_text) }
        @if let Some(back) = back {
            p.after.buttons {
                a class=(Emphasis::Quiet.class()) href=(address(back.href)) {
                    span { ((words.back)(Name(back.application))) }
                }
            }
        }
        p.fine { ((words.access_stays)(&link)) }
    };
    page(&shell, None, &content)
}
