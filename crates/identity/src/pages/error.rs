//! The error page: what happened, what to do, and the reference for support.

use maud::{Markup, html};
use ui::{Lang, Layout, PageWidth, page};

use super::i18n::{Message, messages};

#[derive(Clone, Copy, Debug)]
pub(crate) struct ErrorPage<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub language_switch: Option<&'a str>,
    pub status: u16,
    pub kind: ErrorKind,
    /// Technical detail in English for the client's developers; may be empty.
    pub detail: &'a str,
    pub request_id: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    UnknownClient,
    NotForSignIn,
    RedirectMissing,
    RedirectUnregistered,
    BadRequest,
    Expired,
    NotFound,
    Busy,
    Internal,
}

pub(crate) fn error_page(model: &ErrorPage<'_>) -> Markup {
    let messages = &messages(model.lang).error;
    let ErrorPage { lang, assets, language_switch, .. } = *model;
    let message = notice_for(lang, model.kind);
    let layout = Layout { lang, assets, language_switch, title: message.title, width: PageWidth::Narrow };
    let content = html! {
        h1 { (message.title) }
        p.lead { (message.text) }
        div.reference {
            p { (messages.reference) }
            p { code { (model.request_id) } }
            details {
                summary { (messages.details) }
                p lang="en" dir="auto" {
                    "HTTP " (model.status)
                    @if !model.detail.is_empty() { br; (model.detail) }
                }
            }
        }
    };
    page(&layout, None, &content)
}

fn notice_for(lang: Lang, kind: ErrorKind) -> Message {
    let messages = &messages(lang).error;
    match kind {
        ErrorKind::UnknownClient => messages.unknown_client,
        ErrorKind::NotForSignIn => messages.not_for_sign_in,
        ErrorKind::RedirectMissing => messages.redirect_missing,
        ErrorKind::RedirectUnregistered => messages.redirect_unregistered,
        ErrorKind::BadRequest => messages.bad_request,
        ErrorKind::Expired => messages.expired,
        ErrorKind::NotFound => messages.not_found,
        ErrorKind::Busy => messages.busy,
        ErrorKind::Internal => messages.broken,
    }
}
