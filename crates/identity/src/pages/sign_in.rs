//! The sign-in page.

use domain::Realm;
use maud::{Markup, html};
use ui::{
    Button, DisplayName, Field, InputType, Lang, Layout, PageWidth, Severity, button, duration, field,
    hidden_field, notice, page, safe_href,
};

use super::{
    debug_only,
    i18n::{Message, messages},
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
    pub error: Option<SignInError>,
}

debug_only!(SignInPage { lang, action, application, error });

/// Why the sign-in page is shown again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignInError {
    Wrong,
    Expired,
    NoCookies,
    Busy { seconds: u64 },
    Empty,
    Throttled { seconds: u64 },
}

/// The element id of the error notice.
const ERROR_ID: &str = "error";

pub(crate) fn sign_in(model: &SignInPage<'_>) -> Markup {
    let messages = &messages(model.lang).sign_in;
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
        p.small-print { (messages.forgotten) }
        @if let Some(name) = model.application { p.small-print { ((messages.assurance)(DisplayName(name))) } }
    };
    page(&layout, None, &content)
}

fn form(model: &SignInPage<'_>) -> Markup {
    let messages = &messages(model.lang).sign_in;
    let has_name = !model.username.trim().is_empty();
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
                ..Field::default()
            }))
            (button(&Button { label: messages.submit, ..Button::default() }))
        }
    }
}

fn notice_for(lang: Lang, error: SignInError) -> Markup {
    let messages = &messages(lang).sign_in;
    let plain = |message: Message| (message.title, html! { (message.text) });
    let (severity, (title, text)) = match error {
        SignInError::Wrong => (Severity::Error, plain(messages.wrong)),
        SignInError::Empty => (Severity::Error, plain(messages.empty)),
        SignInError::Expired => (Severity::Warning, plain(messages.expired)),
        SignInError::NoCookies => (Severity::Error, plain(messages.no_cookies)),
        SignInError::Busy { seconds } => {
            (Severity::Warning, (messages.busy, (messages.busy_wait)(&duration(lang, seconds))))
        }
        SignInError::Throttled { seconds } => {
            (Severity::Error, (messages.too_many, (messages.too_many_wait)(&duration(lang, seconds))))
        }
    };
    notice(severity, ERROR_ID, &html! { (title) }, Some(&text))
}
