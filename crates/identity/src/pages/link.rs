//! The pages of one-time links: invitation, password reset, and the pages that ask for a link.

use std::time::Duration;

use axum::http::StatusCode;
use domain::Realm;
use domain::password_rules::PasswordRefusal;
use maud::{Markup, html};
use ui::{
    Button, DisplayName, Field, InputType, Lang, Layout, PageWidth, RadioOption, Severity, button, duration,
    field, hidden_field, notice, page, password_hint, password_refusal_text, radio_option, safe_href,
    username_field,
};

use super::debug_only;
use super::i18n::messages;

/// The element id of the notice.
const NOTICE_ID: &str = "notice";

/// Why a form is shown again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkError {
    NameRefused,
    EmailRefused,
    Password(PasswordRefusal),
    RepetitionDiffers,
    /// The address of the invitation has an account by now.
    AccountExists,
    Throttled {
        seconds: u64,
    },
    Busy {
        seconds: u64,
    },
    /// The page was open for too long.
    Expired,
    NoCookies,
}

impl LinkError {
    pub(crate) fn throttled(retry_after: Duration) -> Self {
        Self::Throttled { seconds: web::retry_after_seconds(retry_after) }
    }

    /// The status of the page.
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::Throttled { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::Busy { .. } => StatusCode::SERVICE_UNAVAILABLE,
            Self::AccountExists => StatusCode::CONFLICT,
            _ => StatusCode::BAD_REQUEST,
        }
    }

    pub(crate) fn retry_after_seconds(self) -> Option<u64> {
        match self {
            Self::Throttled { seconds } | Self::Busy { seconds } => Some(seconds),
            _ => None,
        }
    }
}

/// The page on which an invited person makes their account.
#[derive(Clone, Copy)]
pub(crate) struct InvitationPage<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub language_switch: Option<&'a str>,
    pub realm: Realm,
    pub action: &'a str,
    pub ticket: &'a str,
    /// The address of the account; without one, the person chooses it.
    pub fixed_email: Option<&'a str>,
    /// The address that was typed.
    pub email: &'a str,
    pub name: &'a str,
    pub error: Option<LinkError>,
}

debug_only!(InvitationPage { lang, realm, action, error });

pub(crate) fn invitation(model: &InvitationPage<'_>) -> Markup {
    let text = &messages(model.lang).link;
    let account = &messages(model.lang).account;
    let InvitationPage { lang, assets, language_switch, error, .. } = *model;
    let layout =
        Layout { lang, assets, language_switch, title: text.invitation_title, width: PageWidth::Narrow };
    let option = |one: Lang| RadioOption {
        name: "lang",
        value: one.tag(),
        label: one.native_name(),
        note: "",
        badge: None,
        error_id: None,
        is_checked: one == lang,
    };
    let content = html! {
        h1 { (text.invitation_title) " " span.lead { ((text.invitation_lead)(model.realm)) } }
        (notice_of(lang, error))
        form.stack method="post" action=(safe_href(model.action)) {
            (hidden_field("ticket", model.ticket))
            @match model.fixed_email {
                Some(email) => {
                    (username_field(email))
                    p { (text.email) ": " b { (DisplayName(email)) } }
                }
                None => (email_field(model.lang, model.email, error)),
            }
            (field(&Field {
                name: "given_name",
                label: account.name,
                value: Some(model.name),
                autocomplete: Some("given-name"),
                error_id: at_fault(error == Some(LinkError::NameRefused)),
                is_focused: model.fixed_email.is_some() && model.name.is_empty(),
                is_required: true,
                ..Field::default()
            }))
            fieldset {
                legend { (account.language) }
                div.choices { @for one in Lang::ALL { (radio_option(&option(one))) } }
            }
            (password_fields(lang, error, false))
            (button(&Button { label: text.invitation_submit, ..Button::default() }))
        }
    };
    page(&layout, None, &content)
}

/// The page that sets a new password.
#[derive(Clone, Copy)]
pub(crate) struct ResetPage<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub language_switch: Option<&'a str>,
    pub action: &'a str,
    pub ticket: &'a str,
    pub email: &'a str,
    pub error: Option<LinkError>,
}

debug_only!(ResetPage { lang, action, error });

pub(crate) fn reset(model: &ResetPage<'_>) -> Markup {
    let text = &messages(model.lang).link;
    let ResetPage { lang, assets, language_switch, error, .. } = *model;
    let layout = Layout { lang, assets, language_switch, title: text.reset_title, width: PageWidth::Narrow };
    let content = html! {
        h1 { (text.reset_title) " " span.lead { ((text.reset_lead)(DisplayName(model.email))) } }
        (notice_of(lang, error))
        form.stack method="post" action=(safe_href(model.action)) {
            (hidden_field("ticket", model.ticket))
            (username_field(model.email))
            (password_fields(lang, error, true))
            (button(&Button { label: text.reset_submit, ..Button::default() }))
        }
        p.small-print { (text.reset_note) }
    };
    page(&layout, None, &content)
}

/// The password is set; the person signs in with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PasswordSetPage<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub language_switch: Option<&'a str>,
    pub sign_in: &'a str,
}

pub(crate) fn password_set(model: &PasswordSetPage<'_>) -> Markup {
    let text = &messages(model.lang).link;
    let PasswordSetPage { lang, assets, language_switch, sign_in } = *model;
    let layout =
        Layout { lang, assets, language_switch, title: text.password_set.title, width: PageWidth::Narrow };
    let content = html! {
        h1 { (text.password_set.title) }
        p.lead { (text.password_set.text) }
        p.after.buttons { a.button href=(safe_href(sign_in)) { (messages(lang).sign_in.submit) } }
    };
    page(&layout, None, &content)
}

/// What a mail is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MailPurpose {
    Reset,
    Registration,
}

/// The page that asks for the address to which a link is sent.
#[derive(Clone, Copy)]
pub(crate) struct AddressPage<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub language_switch: Option<&'a str>,
    pub purpose: MailPurpose,
    pub action: &'a str,
    pub ticket: &'a str,
    pub email: &'a str,
    pub sign_in: &'a str,
    pub error: Option<LinkError>,
}

debug_only!(AddressPage { lang, purpose, action, error });

pub(crate) fn address(model: &AddressPage<'_>) -> Markup {
    let text = &messages(model.lang).link;
    let AddressPage { lang, assets, language_switch, error, .. } = *model;
    let message = match model.purpose {
        MailPurpose::Reset => text.forgot,
        MailPurpose::Registration => text.registration,
    };
    let layout = Layout { lang, assets, language_switch, title: message.title, width: PageWidth::Narrow };
    let content = html! {
        h1 { (message.title) " " span.lead { (message.text) } }
        (notice_of(lang, error))
        form.stack method="post" action=(safe_href(model.action)) {
            (hidden_field("ticket", model.ticket))
            (email_field(lang, model.email, error))
            (button(&Button { label: text.send_link, ..Button::default() }))
        }
        (sign_in_link(lang, model.sign_in))
    };
    page(&layout, None, &content)
}

/// The answer to every address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MailSentPage<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub language_switch: Option<&'a str>,
    pub purpose: MailPurpose,
    /// Whom people can ask; may be empty.
    pub contact: &'a str,
    pub sign_in: &'a str,
}

pub(crate) fn mail_sent(model: &MailSentPage<'_>) -> Markup {
    let text = &messages(model.lang).link;
    let MailSentPage { lang, assets, language_switch, .. } = *model;
    let message = match model.purpose {
        MailPurpose::Reset => text.forgot_sent,
        MailPurpose::Registration => text.registration_sent,
    };
    let layout = Layout { lang, assets, language_switch, title: message.title, width: PageWidth::Narrow };
    let content = html! {
        h1 { (message.title) }
        p.lead { (message.text) }
        p.after {
            (text.no_mail)
            @if !model.contact.is_empty() { " " ((text.ask)(DisplayName(model.contact))) }
        }
        (sign_in_link(lang, model.sign_in))
    };
    page(&layout, None, &content)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkKind {
    Invitation,
    Reset,
}

/// The page of a link that does not work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VoidLinkPage<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub language_switch: Option<&'a str>,
    pub kind: LinkKind,
    /// Whom people can ask; may be empty.
    pub contact: &'a str,
    /// The page that sends a new link.
    pub forgot: Option<&'a str>,
    pub sign_in: &'a str,
}

pub(crate) fn void_link(model: &VoidLinkPage<'_>) -> Markup {
    let text = &messages(model.lang).link;
    let VoidLinkPage { lang, assets, language_switch, .. } = *model;
    let layout = Layout { lang, assets, language_switch, title: text.void_title, width: PageWidth::Narrow };
    let content = html! {
        h1 { (text.void_title) }
        p.lead { (text.void_text) }
        @match model.kind {
            LinkKind::Invitation => p.after { (text.void_invitation) },
            LinkKind::Reset => @match model.forgot {
                Some(href) => p.after.buttons { a.button href=(safe_href(href)) { (text.void_reset) } },
                None => p.after { (text.void_reset_ask) },
            },
        }
        @if !model.contact.is_empty() { p.small-print { ((text.ask)(DisplayName(model.contact))) } }
        (sign_in_link(lang, model.sign_in))
    };
    page(&layout, None, &content)
}

fn sign_in_link(lang: Lang, href: &str) -> Markup {
    html! { p.small-print { a href=(safe_href(href)) { (messages(lang).link.to_sign_in) } } }
}

fn at_fault(is_at_fault: bool) -> Option<&'static str> {
    is_at_fault.then_some(NOTICE_ID)
}

fn email_field(lang: Lang, email: &str, error: Option<LinkError>) -> Markup {
    field(&Field {
        name: "email",
        label: messages(lang).link.email,
        value: Some(email),
        autocomplete: Some("email"),
        inputmode: Some("email"),
        placeholder: Some("ana@example.com"),
        error_id: at_fault(error == Some(LinkError::EmailRefused)),
        is_focused: true,
        is_required: true,
        ..Field::default()
    })
}

fn password_fields(lang: Lang, error: Option<LinkError>, is_focused: bool) -> Markup {
    let text = &messages(lang).account;
    let one = |name, label, hint, is_at_fault, is_focused| {
        field(&Field {
            name,
            label,
            input_type: InputType::Password,
            autocomplete: Some("new-password"),
            hint,
            error_id: at_fault(is_at_fault),
            is_focused,
            is_required: true,
            ..Field::default()
        })
    };
    let is_refused = matches!(error, Some(LinkError::Password(_)));
    html! {
        (one("new_password", text.new_password, Some(password_hint(lang)), is_refused, is_focused))
        (one("repeated_password", text.repeated_password, None, error == Some(LinkError::RepetitionDiffers), false))
    }
}

fn notice_of(lang: Lang, error: Option<LinkError>) -> Markup {
    let Some(error) = error else { return html! {} };
    let (text, account, sign_in) = (&messages(lang).link, &messages(lang).account, &messages(lang).sign_in);
    let plain = |title: &'static str| (html! { (title) }, None);
    let with = |title: &'static str, text: Markup| (html! { (title) }, Some(text));
    let (severity, (title, explanation)) = match error {
        LinkError::NameRefused => (Severity::Error, plain(account.name_refused)),
        LinkError::EmailRefused => (Severity::Error, plain(text.email_refused)),
        LinkError::RepetitionDiffers => (Severity::Error, plain(account.repetition_differs)),
        LinkError::Password(refusal) => {
            let refusal = password_refusal_text(lang, refusal);
            (Severity::Error, with(refusal.title, html! { (refusal.text) }))
        }
        LinkError::AccountExists => {
            (Severity::Error, with(text.account_exists.title, html! { (text.account_exists.text) }))
        }
        LinkError::Throttled { seconds } => {
            (Severity::Error, with(text.too_often, (sign_in.too_many_wait)(&duration(lang, seconds))))
        }
        LinkError::Busy { seconds } => {
            (Severity::Warning, with(sign_in.busy, (sign_in.busy_wait)(&duration(lang, seconds))))
        }
        LinkError::Expired => (Severity::Warning, with(sign_in.expired.title, html! { (text.again) })),
        LinkError::NoCookies => {
            (Severity::Error, with(sign_in.no_cookies.title, html! { (sign_in.no_cookies.text) }))
        }
    };
    notice(severity, NOTICE_ID, &title, explanation.as_ref())
}
