//! Where a person says who they are.

use look::{
    Button, Field, Kind, Lang, Name, Shell, Tone, Width, address, button, field, hidden, notice, page, span,
};
use maud::{Markup, html};

use super::{
    debug_only,
    words::{Said, words},
};

#[derive(Clone, Copy)]
pub(crate) struct SignIn<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub switch: Option<&'a str>,
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
const PROBLEM: &str = "problem";

pub(crate) fn sign_in(model: &SignIn<'_>) -> Markup {
    let words = &words(model.lang).sign_in;
    let SignIn { lang, assets, switch, .. } = *model;
    let title = if model.problem.is_some() { words.title_with_problem } else { words.title };
    let shell = Shell { lang, assets, switch, title, width: Width::Door };
    let content = html! {
        h1 {
            (words.title) " "
            span.lead {
                @match model.application {
                    Some(name) => ((words.lead)(Name(name))),
                    None => (words.lead_permissions),
                }
            }
        }
        @if let Some(problem) = model.problem { (told(lang, problem)) }
        (form(model))
        p.fine { (words.forgotten) }
        @if let Some(name) = model.application { p.fine { ((words.assurance)(Name(name))) } }
    };
    page(&shell, None, &content)
}

fn form(model: &SignIn<'_>) -> Markup {
    let words = &words(model.lang).sign_in;
    let has_name = !model.username.trim().is_empty();
    let is_wrong = matches!(model.problem, Some(SignInProblem::Wrong { .. }));
    let is_empty = model.problem == Some(SignInProblem::Empty);
    html! {
        form.stack method="post" action=(address(model.action)) {
            (hidden("ticket", model.ticket))
            (field(&Field {
                name: "username",
                label: words.username,
                value: Some(model.username),
                autocomplete: Some("username"),
                inputmode: Some("email"),
                problem: (is_wrong || is_empty && !has_name).then_some(PROBLEM),
                is_focused: !has_name,
                is_required: true,
                ..Field::default()
            }))
            (field(&Field {
                name: "password",
                label: words.password,
                kind: Kind::Password,
                autocomplete: Some("current-password"),
                problem: (is_wrong || is_empty).then_some(PROBLEM),
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
    let (tone, (title, text)) = match problem {
        SignInProblem::Wrong { is_slow: false } => (Tone::Problem, plain(words.wrong)),
        SignInProblem::Wrong { is_slow: true } => {
            (Tone::Problem, (words.wrong.title, html! { (words.wrong.text) " " (words.wrong_is_slow) }))
        }
        SignInProblem::Empty => (Tone::Problem, plain(words.empty)),
        SignInProblem::Expired => (Tone::Caution, plain(words.expired)),
        SignInProblem::NoCookies => (Tone::Problem, plain(words.no_cookies)),
        SignInProblem::Busy { seconds } => {
            (Tone::Caution, (words.busy, (words.busy_wait)(&span(lang, seconds))))
        }
        SignInProblem::TooMany { seconds } => {
            (Tone::Problem, (words.too_many, (words.too_many_wait)(&span(lang, seconds))))
        }
    };
    notice(tone, PROBLEM, &html! { (title) }, Some(&text))
}
