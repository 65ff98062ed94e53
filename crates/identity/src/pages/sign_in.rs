//! Where a person says who they are.

use maud::{Markup, html};
use ui::{
    Button, DisplayName, Field, InputType, Lang, Layout, PageWidth, Severity, button, duration, field,
    hidden_field, notice, page, safe_href,
};

use super::{
    debug_only,
    words::{Said, words},
};

#[derive(Clone, Copy)]
pub(crate) struct SignIn<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub language_switch: Option<&'a str>,
    pub action: &'a str,
    pub ticket: &'a str,
    /// None where a person only wants to see their own permissions.
    pub application: Option<&'a str>,
    pub username: &'a str,
    pub problem: Option<SignInProblem>,
}

debug_only!(SignIn { lang, action, application, problem });

/// `is_slow`: there were so many failures that answers are held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignInProblem {
    Wrong { is_slow: bool },
    Expired,
    NoCookies,
    Busy { seconds: u64 },
    Empty,
    TooMany { seconds: u64 },
}

/// The id of the notice, which the fields name as their problem.
const ERROR_ID: &str = "error";

pub(crate) fn sign_in(model: &SignIn<'_>) -> Markup {
    let words = &words(model.lang).sign_in;
    let SignIn { lang, assets, language_switch, .. } = *model;
    let title = if model.problem.is_some() { words.title_with_problem } else { words.title };
    let layout = Layout { lang, assets, language_switch, title, width: PageWidth::Narrow };
    let content = html! {
        h1 {
            (words.title) " "
            span.lead {
                @match model.application {
                    Some(name) => ((words.lead)(DisplayName(name))),
                    None => (words.lead_permissions),
                }
            }
        }
        @if let Some(problem) = model.problem { (told(lang, problem)) }
        (form(model))
        p.small-print { (words.forgotten) }
        @if let Some(name) = model.application { p.small-print { ((words.assurance)(DisplayName(name))) } }
    };
    page(&layout, None, &content)
}

fn form(model: &SignIn<'_>) -> Markup {
    let words = &words(model.lang).sign_in;
    let has_name = !model.username.trim().is_empty();
    let is_wrong = matches!(model.problem, Some(SignInProblem::Wrong { .. }));
    let is_empty = model.problem == Some(SignInProblem::Empty);
    html! {
        form.stack method="post" action=(safe_href(model.action)) {
            (hidden_field("ticket", model.ticket))
            (field(&Field {
                name: "username",
                label: words.username,
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
                label: words.password,
                input_type: InputType::Password,
                autocomplete: Some("current-password"),
                error_id: (is_wrong || is_empty).then_some(ERROR_ID),
                is_focused: has_name,
                is_required: true,
                ..Field::default()
            }))
            (button(&Button { label: words.submit, ..Button::default() }))
        }
    }
}

fn told(lang: Lang, problem: SignInProblem) -> Markup {
    let words = &words(lang).sign_in;
    let plain = |said: Said| (said.title, html! { (said.text) });
    let (severity, (title, text)) = match problem {
        SignInProblem::Wrong { is_slow: false } => (Severity::Error, plain(words.wrong)),
        SignInProblem::Wrong { is_slow: true } => {
            (Severity::Error, (words.wrong.title, html! { (words.wrong.text) " " (words.wrong_is_slow) }))
        }
        SignInProblem::Empty => (Severity::Error, plain(words.empty)),
        SignInProblem::Expired => (Severity::Warning, plain(words.expired)),
        SignInProblem::NoCookies => (Severity::Error, plain(words.no_cookies)),
        SignInProblem::Busy { seconds } => {
            (Severity::Warning, (words.busy, (words.busy_wait)(&duration(lang, seconds))))
        }
        SignInProblem::TooMany { seconds } => {
            (Severity::Error, (words.too_many, (words.too_many_wait)(&duration(lang, seconds))))
        }
    };
    notice(severity, ERROR_ID, &html! { (title) }, Some(&text))
}
