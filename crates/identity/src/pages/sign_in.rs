//! The sign-in page.

use domain::Realm;
use maud::{Markup, html};
use ui::{
    Button, ButtonStyle, DisplayName, Field, InputType, Lang, Layout, PageWidth, PasskeyCeremony,
    PasskeyForm, Severity, button, duration, field, hidden_field, notice, page_with_script, passkey_form,
    safe_href,
};

use super::{
    debug_only,
    i18n::{Message, messages, second_factor_text},
};

#[derive(Clone, Copy)]
pub(crate) struct SignInPage<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub language_switch: Option<&'a str>,
    pub action: &'a str,
    pub ticket: &'a str,
    pub realm: Realm,
    /// `None` if the person signs in to the realm's own pages.
    pub application: Option<&'a str>,
    pub username: &'a str,
    pub help: ForgottenHelp<'a>,
    /// The page on which people make an account, where they may.
    pub register: Option<&'a str>,
    pub error: Option<SignInError>,
    pub passkey: Option<PasskeyOffer<'a>>,
}

/// What the page needs for a sign-in with a passkey alone.
#[derive(Clone, Copy)]
pub(crate) struct PasskeyOffer<'a> {
    pub action: &'a str,
    /// The options for the browser.
    pub options: &'a str,
}

debug_only!(SignInPage { lang, action, application, error });

/// What the page offers to those who have forgotten their password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ForgottenHelp<'a> {
    /// The page that mails a link.
    Link(&'a str),
    /// Whom to ask; may be empty.
    Ask(&'a str),
}

/// Why the sign-in page is shown again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignInError {
    Wrong,
    Expired,
    NoCookies,
    Busy {
        seconds: u64,
    },
    Empty,
    Throttled {
        seconds: u64,
    },
    /// The passkey is unknown, or its response is not valid.
    PasskeyRefused,
    /// The browser ran no script, which passkeys need.
    NoScript,
}

/// The element id of the error notice.
const ERROR_ID: &str = "error";

pub(crate) fn sign_in(model: &SignInPage<'_>) -> Markup {
    let (messages, links) = (&messages(model.lang).sign_in, &messages(model.lang).link);
    let SignInPage { lang, assets, language_switch, .. } = *model;
    let title = if model.error.is_some() { messages.title_with_error } else { messages.title };
    let layout = Layout { lang, assets, language_switch, title, width: PageWidth::Narrow };
    let content = html! {
        h1 {
            (messages.title) " "
            span.lead {
                @match model.application {
                    Some(name) => ((messages.lead)(DisplayName(name))),
                    None => ((messages.lead_home)(model.realm)),
                }
            }
        }
        @if let Some(error) = model.error { (notice_for(lang, error)) }
        (form(model))
        @if let Some(offer) = model.passkey { (passkey(model, offer)) }
        p.small-print {
            @match model.help {
                ForgottenHelp::Link(href) => a href=(safe_href(href)) { (links.forgotten) },
                ForgottenHelp::Ask("") => (messages.forgotten),
                ForgottenHelp::Ask(contact) => ((links.forgotten_ask)(DisplayName(contact))),
            }
        }
        @if let Some(href) = model.register { p.small-print { a href=(safe_href(href)) { (links.register) } } }
        @if let Some(name) = model.application { p.small-print { ((messages.assurance)(DisplayName(name))) } }
    };
    page_with_script(&layout, None, &content)
}

fn form(model: &SignInPage<'_>) -> Markup {
    let messages = &messages(model.lang).sign_in;
    let has_name = !model.username.trim().is_empty();
    // Both fields: the page does not say which of them is wrong.
    let is_wrong = model.error == Some(SignInError::Wrong);
    let is_empty = model.error == Some(SignInError::Empty);
    html! {
        form.stack method="post" action=(safe_href(model.action)) {
            (hidden_field("ticket", model.ticket))
            (field(&Field {
                name: "username",
                label: messages.username,
                value: Some(model.username),
                autocomplete: Some("username"),
                inputmode: Some("email"),
                error_id: (is_wrong || is_empty && !has_name).then_some(ERROR_ID),
                is_focused: !has_name,
                is_required: true,
                ..Field::default()
            }))
            (field(&Field {
                name: "password",
                label: messages.password,
                input_type: InputType::Password,
                autocomplete: Some("current-password"),
                error_id: (is_wrong || is_empty).then_some(ERROR_ID),
                is_focused: has_name,
                is_required: true,
                reveal: Some(messages.show_password),
                ..Field::default()
            }))
            (button(&Button { label: messages.submit, ..Button::default() }))
        }
    }
}

/// Below the password: who has no passkey meets nothing new on the way.
fn passkey(model: &SignInPage<'_>, offer: PasskeyOffer<'_>) -> Markup {
    let text = second_factor_text(model.lang);
    let form = PasskeyForm {
        ceremony: PasskeyCeremony::Get,
        options: offer.options,
        action: offer.action,
        assets: model.assets,
        button: Button {
            label: text.sign_in_with_passkey,
            style: ButtonStyle::Secondary,
            ..Button::default()
        },
        messages: text.passkey_messages,
    };
    passkey_form(&form, &hidden_field("ticket", model.ticket))
}

fn notice_for(lang: Lang, error: SignInError) -> Markup {
    let messages = &messages(lang).sign_in;
    let plain = |message: Message| (message.title, html! { (message.text) });
    let (severity, (title, text)) = match error {
        SignInError::Wrong => (Severity::Error, plain(messages.wrong)),
        SignInError::Empty => (Severity::Error, plain(messages.empty)),
        SignInError::Expired => (Severity::Warning, plain(messages.expired)),
        SignInError::NoCookies => (Severity::Error, plain(messages.no_cookies)),
        SignInError::PasskeyRefused => (Severity::Error, plain(second_factor_text(lang).passkey_refused)),
        SignInError::NoScript => (Severity::Error, plain(second_factor_text(lang).no_script)),
        SignInError::Busy { seconds } => {
            (Severity::Warning, (messages.busy, (messages.busy_wait)(&duration(lang, seconds))))
        }
        SignInError::Throttled { seconds } => {
            (Severity::Error, (messages.too_many, (messages.too_many_wait)(&duration(lang, seconds))))
        }
    };
    notice(severity, ERROR_ID, &html! { (title) }, Some(&text))
}
