//! The account page: the name, the language, the password, and where the account is signed in.

use domain::password_rules::PasswordRefusal;
use domain::{Realm, Ticks};
use maud::{Markup, html};
use ui::{
    Button, ButtonStyle, DisplayName, Field, InputType, Lang, Layout, PageWidth, RadioOption, Severity,
    badge, button, duration, field, hidden_field, minute_timestamp, notice, page_with_script, password_hint,
    password_refusal_text, radio_option, safe_href, username_field,
};

use super::debug_only;
use super::i18n::{AccountText, messages, second_factor_text};

/// The element id of the notice.
const NOTICE_ID: &str = "notice";

#[derive(Clone, Copy)]
pub(crate) struct AccountPage<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub language_switch: Option<&'a str>,
    pub realm: Realm,
    pub action: &'a str,
    pub ticket: &'a str,
    pub email: &'a str,
    pub given_name: &'a str,
    pub family_name: &'a str,
    /// The language that the account has stored.
    pub account_lang: Lang,
    pub sessions: &'a [SessionRow<'a>],
    pub news: Option<AccountNews>,
    /// URL of the permissions page, which only users have.
    pub permissions: Option<&'a str>,
    /// URL of the page of the account's second factors.
    pub second_factors: &'a str,
    /// URL of the portal, which developers come from.
    pub portal: Option<&'a str>,
    pub sign_out: &'a str,
}

debug_only!(AccountPage { lang, action, news });

/// A browser in which the account is signed in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionRow<'a> {
    pub id: &'a str,
    /// May be empty.
    pub device: &'a str,
    pub address: &'a str,
    pub since: Ticks,
    pub is_current: bool,
}

/// What has just happened, or why it did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccountNews {
    ProfileSaved,
    PasswordChanged,
    SessionsEnded,
    NameRefused,
    CurrentPasswordWrong,
    NewPasswordRefused(PasswordRefusal),
    RepetitionDiffers,
    Throttled {
        seconds: u64,
    },
    Busy {
        seconds: u64,
    },
    /// The page was open for too long.
    Expired,
}

pub(crate) fn account(model: &AccountPage<'_>) -> Markup {
    let (text, factors) = (&messages(model.lang).account, second_factor_text(model.lang));
    let AccountPage { lang, assets, language_switch, .. } = *model;
    let layout = Layout { lang, assets, language_switch, title: text.title, width: PageWidth::Wide };
    let aside = html! {
        @if let Some(url) = model.portal { a href=(safe_href(url)) { (text.to_portal) } }
        span { (DisplayName(model.email)) }
        a href=(safe_href(model.sign_out)) { (messages(lang).permissions.sign_out) }
    };
    let content = html! {
        h1 { (text.title) }
        p.lead { ((text.lead)(model.realm)) }
        @if let Some(news) = model.news { (notice_of(lang, news)) }
        section.panel aria-labelledby="profile" { h2 #profile { (text.profile) } (profile(model)) }
        section.panel aria-labelledby="password-title" { h2 #password-title { (text.password) } (password(model)) }
        section.panel aria-labelledby="second-factors" {
            h2 #second-factors { (factors.title) }
            p { (factors.lead) }
            p { a href=(safe_href(model.second_factors)) { (factors.manage) } }
        }
        section.panel aria-labelledby="sessions" { h2 #sessions { (text.sessions) } (sessions(model)) }
        @if let Some(url) = model.permissions {
            section.panel aria-labelledby="applications" {
                h2 #applications { (messages(lang).permissions.title) }
                p { a href=(safe_href(url)) { (text.applications) } }
            }
        }
    };
    page_with_script(&layout, Some(&aside), &content)
}

fn profile(model: &AccountPage<'_>) -> Markup {
    let text = &messages(model.lang).account;
    let is_refused = model.news == Some(AccountNews::NameRefused);
    let option = |lang: Lang| RadioOption {
        name: "lang",
        value: lang.tag(),
        label: lang.native_name(),
        note: "",
        badge: None,
        error_id: None,
        is_checked: lang == model.account_lang,
    };
    html! {
        form.stack method="post" action=(safe_href(model.action)) {
            (hidden_field("ticket", model.ticket))
            (field(&Field {
                name: "given_name",
                label: text.name,
                value: Some(model.given_name),
                autocomplete: Some("given-name"),
                error_id: is_refused.then_some(NOTICE_ID),
                is_required: true,
                ..Field::default()
            }))
            // Developers and operators have no tokens that carry one.
            @if model.realm == Realm::Users {
                (field(&Field {
                    name: "family_name",
                    label: text.family_name,
                    value: Some(model.family_name),
                    autocomplete: Some("family-name"),
                    error_id: is_refused.then_some(NOTICE_ID),
                    ..Field::default()
                }))
            }
            fieldset {
                legend { (text.language) }
                div.choices { @for lang in [Lang::Es, Lang::En] { (radio_option(&option(lang))) } }
            }
            (button(&Button { label: text.save, name_and_value: Some(("do", "profile")), ..Button::default() }))
        }
    }
}

fn password(model: &AccountPage<'_>) -> Markup {
    let text = &messages(model.lang).account;
    let error_if = |is_at_fault: bool| is_at_fault.then_some(NOTICE_ID);
    let secret = |name, label, autocomplete, is_at_fault| {
        field(&Field {
            name,
            label,
            hint: (name == "new_password").then(|| password_hint(model.lang)),
            input_type: InputType::Password,
            autocomplete: Some(autocomplete),
            error_id: error_if(is_at_fault),
            is_required: true,
            ..Field::default()
        })
    };
    let is_new_refused = matches!(model.news, Some(AccountNews::NewPasswordRefused(_)));
    html! {
        p { (text.password_note) }
        form.stack method="post" action=(safe_href(model.action)) {
            (hidden_field("ticket", model.ticket))
            (username_field(model.email))
            (secret("password", text.current_password, "current-password", model.news == Some(AccountNews::CurrentPasswordWrong)))
            (secret("new_password", text.new_password, "new-password", is_new_refused))
            (secret("repeated_password", text.repeated_password, "new-password", model.news == Some(AccountNews::RepetitionDiffers)))
            (button(&Button { label: text.change_password, name_and_value: Some(("do", "password")), ..Button::default() }))
        }
    }
}

fn sessions(model: &AccountPage<'_>) -> Markup {
    let text = &messages(model.lang).account;
    let end = |label, which: &str, style| {
        html! {
            form method="post" action=(safe_href(model.action)) {
                (hidden_field("ticket", model.ticket))
                (hidden_field("session", which))
                (button(&Button { label, style, name_and_value: Some(("do", "end")), ..Button::default() }))
            }
        }
    };
    html! {
        p { (text.sessions_note) }
        ul.sessions {
            @for session in model.sessions {
                li {
                    div {
                        b { (device(text, session)) }
                        @if session.is_current { " " (badge(text.this_browser)) }
                        p.note { (DisplayName(session.address)) " · " (text.since) " " (minute_timestamp(model.lang, session.since)) }
                    }
                    @if !session.is_current { (end(text.end_session, session.id, ButtonStyle::Secondary)) }
                }
            }
        }
        @if model.sessions.len() > 1 { (end(text.end_others, "others", ButtonStyle::Destructive)) }
    }
}

fn device<'a>(text: &'a AccountText, session: &'a SessionRow<'_>) -> DisplayName<'a> {
    DisplayName(if session.device.is_empty() { text.unknown_browser } else { session.device })
}

fn notice_of(lang: Lang, news: AccountNews) -> Markup {
    let text = &messages(lang).account;
    let sign_in = &messages(lang).sign_in;
    let plain = |title: &'static str| (html! { (title) }, None);
    let with = |title: &'static str, text: Markup| (html! { (title) }, Some(text));
    let (severity, (title, explanation)) = match news {
        AccountNews::ProfileSaved => (Severity::Success, plain(text.profile_saved)),
        AccountNews::PasswordChanged => (Severity::Success, plain(text.password_changed)),
        AccountNews::SessionsEnded => (Severity::Success, plain(text.sessions_ended)),
        AccountNews::NameRefused => (Severity::Error, plain(text.name_refused)),
        AccountNews::CurrentPasswordWrong => (Severity::Error, plain(text.current_password_wrong)),
        AccountNews::RepetitionDiffers => (Severity::Error, plain(text.repetition_differs)),
        AccountNews::NewPasswordRefused(refusal) => {
            let refusal = password_refusal_text(lang, refusal);
            (Severity::Error, (html! { (refusal.title) }, Some(html! { (refusal.text) })))
        }
        AccountNews::Throttled { seconds } => {
            (Severity::Error, with(sign_in.too_many, (sign_in.too_many_wait)(&duration(lang, seconds))))
        }
        AccountNews::Busy { seconds } => {
            (Severity::Warning, with(sign_in.busy, (sign_in.busy_wait)(&duration(lang, seconds))))
        }
        AccountNews::Expired => (Severity::Warning, with(sign_in.expired.title, html! { (text.expired) })),
    };
    notice(severity, NOTICE_ID, &title, explanation.as_ref())
}
