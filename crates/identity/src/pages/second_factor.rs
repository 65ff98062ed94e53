//! The second step of a sign-in: a passkey, a code of an authenticator app, or a recovery code.

use maud::{Markup, html};
use ui::{
    Button, ButtonStyle, DisplayName, Field, Lang, Layout, PageWidth, PasskeyCeremony, PasskeyForm, Severity,
    button, duration, field, hidden_field, notice, page, passkey_form, safe_href,
};

use super::debug_only;
use super::i18n::second_factor_text;

/// The element id of the error notice.
const ERROR_ID: &str = "error";

#[derive(Clone, Copy)]
pub(crate) struct SecondFactorPage<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub language_switch: Option<&'a str>,
    pub action: &'a str,
    pub ticket: &'a str,
    pub email: &'a str,
    /// The options for the browser, if the account has a passkey that works here.
    pub passkey_options: Option<&'a str>,
    pub has_totp: bool,
    pub error: Option<SecondFactorError>,
    /// Where another account signs in.
    pub other_account: &'a str,
}

debug_only!(SecondFactorPage { lang, action, has_totp, error });

/// Why the second factor was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SecondFactorError {
    /// Also a code that was used before.
    WrongCode,
    WrongRecoveryCode,
    /// The passkey is unknown, or its response is not valid.
    PasskeyRefused,
    /// The browser ran no script.
    NoScript,
    Throttled {
        seconds: u64,
    },
}

pub(crate) fn second_factor(model: &SecondFactorPage<'_>) -> Markup {
    let text = second_factor_text(model.lang);
    let SecondFactorPage { lang, assets, language_switch, .. } = *model;
    let title = if model.error.is_some() { text.step_title_with_error } else { text.step_title };
    let layout = Layout { lang, assets, language_switch, title, width: PageWidth::Narrow };
    let content = html! {
        h1 { (text.step_title) }
        p.lead { ((text.step_lead)(DisplayName(model.email))) }
        @if let Some(error) = model.error { (notice_for(lang, error)) }
        @if let Some(options) = model.passkey_options { (passkey(model, options)) }
        @if model.has_totp { (code_form(model)) }
        (recovery_form(model))
        p.note { a href=(safe_href(model.other_account)) { (text.other_account) } }
    };
    page(&layout, None, &content)
}

fn passkey(model: &SecondFactorPage<'_>, options: &str) -> Markup {
    let text = second_factor_text(model.lang);
    let form = PasskeyForm {
        ceremony: PasskeyCeremony::Get,
        options,
        action: model.action,
        assets: model.assets,
        button: Button {
            label: text.use_passkey,
            is_focused: model.error.is_none() && !model.has_totp,
            ..Button::default()
        },
        messages: text.passkey_messages,
    };
    passkey_form(&form, &html! { (hidden_field("ticket", model.ticket)) (hidden_field("method", "passkey")) })
}

fn code_form(model: &SecondFactorPage<'_>) -> Markup {
    let text = second_factor_text(model.lang);
    let style = if model.passkey_options.is_some() { ButtonStyle::Secondary } else { ButtonStyle::Primary };
    html! {
        form.stack method="post" action=(safe_href(model.action)) {
            (hidden_field("ticket", model.ticket))
            (hidden_field("method", "totp"))
            (field(&Field {
                name: "code",
                label: text.code,
                autocomplete: Some("one-time-code"),
                inputmode: Some("numeric"),
                placeholder: Some("123456"),
                error_id: (model.error == Some(SecondFactorError::WrongCode)).then_some(ERROR_ID),
                is_focused: model.error != Some(SecondFactorError::WrongRecoveryCode),
                is_required: true,
                ..Field::default()
            }))
            (button(&Button { label: text.use_code, style, ..Button::default() }))
        }
    }
}

fn recovery_form(model: &SecondFactorPage<'_>) -> Markup {
    let text = second_factor_text(model.lang);
    let is_wrong = model.error == Some(SecondFactorError::WrongRecoveryCode);
    html! {
        details open[is_wrong] {
            summary { (text.recovery_summary) }
            form.stack method="post" action=(safe_href(model.action)) {
                (hidden_field("ticket", model.ticket))
                (hidden_field("method", "recovery"))
                p { (text.recovery_note) }
                (field(&Field {
                    name: "recovery_code",
                    label: text.recovery_code,
                    autocomplete: Some("off"),
                    error_id: is_wrong.then_some(ERROR_ID),
                    is_focused: is_wrong,
                    is_required: true,
                    ..Field::default()
                }))
                (button(&Button { label: text.use_recovery_code, style: ButtonStyle::Secondary, ..Button::default() }))
            }
        }
    }
}

fn notice_for(lang: Lang, error: SecondFactorError) -> Markup {
    let text = second_factor_text(lang);
    let (title, explanation) = match error {
        SecondFactorError::WrongCode => (text.wrong_code.title, html! { (text.wrong_code.text) }),
        SecondFactorError::WrongRecoveryCode => {
            (text.wrong_recovery_code.title, html! { (text.wrong_recovery_code.text) })
        }
        SecondFactorError::PasskeyRefused => {
            (text.passkey_refused.title, html! { (text.passkey_refused.text) })
        }
        SecondFactorError::NoScript => (text.passkey_messages.no_script, html! { (text.no_script_advice) }),
        SecondFactorError::Throttled { seconds } => {
            (text.too_many, (text.too_many_wait)(&duration(lang, seconds)))
        }
    };
    notice(Severity::Error, ERROR_ID, &html! { (title) }, Some(&explanation))
}
