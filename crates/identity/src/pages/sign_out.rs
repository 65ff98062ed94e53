//! The sign-out page and its confirmation.

use maud::{Markup, html};
use ui::{Button, ButtonStyle, DisplayName, Lang, Layout, PageWidth, button, hidden_field, page, safe_href};

use super::{
    debug_only,
    i18n::{Messages, messages},
};

#[derive(Clone, Copy)]
pub(crate) struct SignOutPage<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub language_switch: Option<&'a str>,
    pub action: &'a str,
    pub ticket: &'a str,
    pub email: &'a str,
    /// The application that requested the sign-out.
    pub application: Option<&'a str>,
    /// The page of the provider for those who stay signed in.
    pub cancel: &'a str,
}

debug_only!(SignOutPage { lang, action, application });

pub(crate) fn sign_out(model: &SignOutPage<'_>) -> Markup {
    let messages = &messages(model.lang).sign_out;
    let SignOutPage { lang, assets, language_switch, .. } = *model;
    let layout = Layout { lang, assets, language_switch, title: messages.title, width: PageWidth::Narrow };
    let content = html! {
        h1 { (messages.heading) }
        @if let Some(name) = model.application { p.lead { ((messages.requested_by)(DisplayName(name))) } }
        p.lead { ((messages.signed_in_as)(DisplayName(model.email))) }
        form.stack method="post" action=(safe_href(model.action)) {
            (hidden_field("ticket", model.ticket))
            (button(&Button { label: messages.submit, ..Button::default() }))
            a class=(ButtonStyle::Secondary.class()) href=(safe_href(model.cancel)) { span { (messages.cancel) } }
        }
    };
    page(&layout, None, &content)
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SignedOutPage<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub language_switch: Option<&'a str>,
    pub back: Option<ReturnLink<'a>>,
    /// URL of the permissions page, which only users have.
    pub permissions: Option<&'a str>,
    /// URL of the sign-in page.
    pub sign_in: &'a str,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ReturnLink<'a> {
    pub href: &'a str,
    pub application: &'a str,
}

pub(crate) fn signed_out(model: &SignedOutPage<'_>) -> Markup {
    let SignedOutPage { lang, assets, language_switch, back, permissions, sign_in } = *model;
    let Messages { sign_out: messages, permissions: permissions_text, .. } = messages(lang);
    let layout =
        Layout { lang, assets, language_switch, title: messages.done_title, width: PageWidth::Narrow };
    let content = html! {
        h1 { (messages.done_title) }
        p.lead { (messages.done_text) }
        @if let Some(back) = back {
            p.after.buttons {
                a class=(ButtonStyle::Secondary.class()) href=(safe_href(back.href)) {
                    span { ((messages.back)(DisplayName(back.application))) }
                }
            }
        }
        @match permissions {
            Some(url) => {
                @let link = html! { a href=(safe_href(url)) { (permissions_text.title) } };
                p.small-print { ((messages.access_stays)(&link)) }
            },
            None => p.after.buttons {
                a class=(ButtonStyle::Secondary.class()) href=(safe_href(sign_in)) { span { (messages.again) } }
            },
        }
    };
    page(&layout, None, &content)
}
