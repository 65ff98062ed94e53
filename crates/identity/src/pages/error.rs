//! The error page: what happened, what to do, a way on, and the reference for support.

use domain::{ClientKind, Realm};
use maud::{Markup, html};
use ui::{ButtonStyle, Lang, Layout, PageWidth, page, safe_href};

use super::i18n::{Message, messages};

#[derive(Clone, Copy, Debug)]
pub(crate) struct ErrorPage<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub language_switch: Option<&'a str>,
    pub realm: Realm,
    pub status: u16,
    pub kind: ErrorKind,
    /// Technical detail in English for the client's developers; may be empty.
    pub detail: &'a str,
    pub request_id: &'a str,
    /// URL of this page, if asking again may help.
    pub retry: Option<&'a str>,
    /// URL of the realm's first page.
    pub home: &'a str,
    /// None outside `aldaba dev`: the registered addresses of an application are not public.
    pub addresses: Option<RedirectAddresses<'a>>,
}

/// Why a redirect URI is refused, for the application's developers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RedirectAddresses<'a> {
    pub client: &'a str,
    pub sent: &'a str,
    pub registered: &'a [String],
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

/// Of an address that is shown.
const ADDRESS_CHARS_MAX: usize = 500;

pub(crate) fn error_page(model: &ErrorPage<'_>) -> Markup {
    let messages = &messages(model.lang).error;
    let ErrorPage { lang, assets, language_switch, .. } = *model;
    let message = notice_for(lang, model.kind);
    let layout = Layout { lang, assets, language_switch, title: message.title, width: PageWidth::Narrow };
    let content = html! {
        h1 { (message.title) }
        p.lead { (message.text) }
        @if let Some(addresses) = &model.addresses { (redirect_addresses(lang, addresses)) }
        p.after.buttons {
            @if let Some(url) = model.retry { a class=(ButtonStyle::Primary.class()) href=(safe_href(url)) { (messages.retry) } }
            a class=(ButtonStyle::Secondary.class()) href=(safe_href(model.home)) { ((messages.home)(model.realm)) }
        }
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

/// The addresses below each other, so that a difference of one character is seen.
fn redirect_addresses(lang: Lang, addresses: &RedirectAddresses<'_>) -> Markup {
    let text = &messages(lang).error.addresses;
    html! {
        section.addresses aria-labelledby="addresses" {
            h2 #addresses { (text.title) }
            dl {
                dt { (text.sent) }
                dd { (address(addresses.sent)) }
                dt { (text.registered) }
                @for registered in addresses.registered { dd { (address(registered)) } }
                @if addresses.registered.is_empty() { dd { (text.none) } }
            }
            @if is_registrable(addresses.sent) {
                p { (text.register) }
                p { code { "aldaba client redirect " (addresses.client) " '" (addresses.sent) "'" } }
            }
        }
    }
}

fn address(text: &str) -> Markup {
    html! { code dir="ltr" { (text.chars().take(ADDRESS_CHARS_MAX).collect::<String>()) } }
}

/// Whether a command that registers the address may be shown: it would be accepted, and a shell takes it as one word.
fn is_registrable(sent: &str) -> bool {
    domain::redirect_uri::check(sent, ClientKind::Web).is_ok()
        && !sent.contains('\'')
        && sent.len() <= ADDRESS_CHARS_MAX
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
