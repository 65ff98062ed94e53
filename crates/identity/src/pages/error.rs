//! What a person sees where nothing can go on: what it means, what to do, and what to tell whoever can help.

use maud::{Markup, html};
use ui::{Lang, Layout, PageWidth, page};

use super::words::{Said, words};

#[derive(Clone, Copy, Debug)]
pub(crate) struct ErrorPage<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub language_switch: Option<&'a str>,
    pub status: u16,
    pub kind: ErrorKind,
    /// Technical and in English, for whoever builds the application; may be empty.
    pub detail: &'a str,
    pub request_id: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    UnknownClient,
    RedirectMissing,
    RedirectUnregistered,
    BadRequest,
    Expired,
    NotFound,
    Busy,
    Broken,
}

pub(crate) fn error_page(model: &ErrorPage<'_>) -> Markup {
    let words = &words(model.lang).error;
    let ErrorPage { lang, assets, language_switch, .. } = *model;
    let said = told(lang, model.kind);
    let layout = Layout { lang, assets, language_switch, title: said.title, width: PageWidth::Narrow };
    let content = html! {
        h1 { (said.title) }
        p.lead { (said.text) }
        div.reference {
            p { (words.reference) }
            p { code { (model.request_id) } }
            details {
                summary { (words.details) }
                p lang="en" dir="auto" {
                    "HTTP " (model.status)
                    @if !model.detail.is_empty() { br; (model.detail) }
                }
            }
        }
    };
    page(&layout, None, &content)
}

fn told(lang: Lang, kind: ErrorKind) -> Said {
    let words = &words(lang).error;
    match kind {
        ErrorKind::UnknownClient => words.unknown_client,
        ErrorKind::RedirectMissing => words.redirect_missing,
        ErrorKind::RedirectUnregistered => words.redirect_unregistered,
        ErrorKind::BadRequest => words.bad_request,
        ErrorKind::Expired => words.expired,
        ErrorKind::NotFound => words.not_found,
        ErrorKind::Busy => words.busy,
        ErrorKind::Broken => words.broken,
    }
}
