//! The parts of a sign-in's steps: the numbered list, and tables of parameters, fields and claims with what they mean. The
//! sign-in tester is made of them, and the page on which `aldaba dev` answers a callback.

use domain::Ticks;
use maud::{Markup, html};
use serde_json::{Map, Value};
use ui::app::{Column, State, Table, parts_code, state, table};
use ui::{Icon, Lang, plain_name, timestamp};

use super::sign_in::Named;
use crate::text::oauth;
use crate::text::sign_in::SignInText;

/// How much of a long token a table shows.
const TOKEN_CHARS_SHOWN: usize = 24;
/// Claims that are points in time.
const TIMES: [&str; 4] = ["exp", "nbf", "iat", "auth_time"];
type MeaningOf = fn(Lang, &str) -> &'static str;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepState {
    Open,
    Done,
    Failed,
}

/// The five steps in order: request, callback, tokens, claims, what next. An open one shows its title alone.
pub fn numbered_steps(lang: Lang, steps: impl IntoIterator<Item = (StepState, Markup)>) -> Markup {
    let text = SignInText::of(lang);
    let titles = [text.step_request, text.step_callback, text.step_tokens, text.step_claims, text.step_next];
    html! {
        ol.checklist.run {
            @for (number, (title, (state, body))) in (1..).zip(titles.into_iter().zip(steps)) {
                li .done[state == StepState::Done] .failed[state == StepState::Failed] {
                    (tick(lang, number, state))
                    h3 { (title) }
                    @if state != StepState::Open { div.body { (body) } }
                }
            }
        }
    }
}

fn tick(lang: Lang, number: usize, state: StepState) -> Markup {
    let text = SignInText::of(lang);
    let word = match state {
        StepState::Open => text.step_open,
        StepState::Done => text.step_done,
        StepState::Failed => text.step_failed,
    };
    html! {
        span.tick {
            @match state {
                StepState::Open => (number),
                StepState::Done => (Icon::Check),
                StepState::Failed => (Icon::Close),
            }
            span.visually-hidden { (word) }
        }
    }
}

/// Whether a value is the one of the request.
pub fn comparison(lang: Lang, is_equal: bool) -> Markup {
    let text = SignInText::of(lang);
    if is_equal { state(State::Ok, text.matches) } else { state(State::Bad, text.differs) }
}

/// The parameters that a callback brought. An id_token is shortened: it would crush the other columns.
pub fn callback_parameters(lang: Lang, of: &[(String, String)]) -> Markup {
    let text = SignInText::of(lang);
    let short = |name: &str, value: &str| {
        if name == "id_token" { shortened(value) } else { value.to_owned() }
    };
    let named: Vec<Named> =
        of.iter().map(|(name, value)| Named { name: name.clone(), value: short(name, value) }).collect();
    pairs(lang, text.parameter, text.step_callback, &named, oauth::callback_parameter)
}

/// The fields of a token response, tokens shortened.
pub fn token_response(lang: Lang, of: &Map<String, Value>) -> Markup {
    let text = SignInText::of(lang);
    pairs(lang, text.field, text.response, &fields_of(of), oauth::token_response_field)
}

/// The claims of an access token.
pub fn access_claims(lang: Lang, of: &Map<String, Value>) -> Markup {
    claims(lang, "access_token", of, oauth::access_claim)
}

/// The claims of an id_token.
pub fn id_claims(lang: Lang, of: &Map<String, Value>) -> Markup {
    claims(lang, "id_token", of, oauth::id_claim)
}

/// Parameters or fields with what they mean.
pub(super) fn pairs(
    lang: Lang,
    first: &'static str,
    caption: &str,
    of: &[Named],
    meaning: MeaningOf,
) -> Markup {
    let cells = |one: &Named| {
        let cells = vec![
            parts_code(&plain_name(&one.name)),
            html! { code { (one.value) } },
            html! { (meaning(lang, &one.name)) },
        ];
        (one.name.clone(), cells)
    };
    rows(lang, first, caption, of.iter().map(cells).collect())
}

fn claims(lang: Lang, token: &str, of: &Map<String, Value>, meaning: MeaningOf) -> Markup {
    let cells = |(name, value): (&String, &Value)| {
        let cells = vec![
            parts_code(name),
            html! {
                code { (shown(value)) }
                @if let Some(at) = value.as_i64().filter(|_| TIMES.contains(&name.as_str())) {
                    span.sub { (timestamp(lang, Ticks::from_unix_seconds(at))) }
                }
            },
            html! { (meaning(lang, name)) },
        ];
        (format!("{token} {name}"), cells)
    };
    let mut sorted: Vec<(&String, &Value)> = of.iter().collect();
    sorted.sort_by_key(|(name, _)| oauth::claim_position(name));
    rows(lang, SignInText::of(lang).claim, token, sorted.into_iter().map(cells).collect())
}

fn rows(lang: Lang, first: &'static str, caption: &str, rows: Vec<(String, Vec<Markup>)>) -> Markup {
    let text = SignInText::of(lang);
    let columns = [Column::text(first), Column::text(text.value), Column::text(text.meaning)];
    table(lang, &Table { caption, columns: &columns, rows, ..Table::default() })
}

/// The fields of the token response, tokens shortened.
pub(super) fn fields_of(response: &Map<String, Value>) -> Vec<Named> {
    let mut sorted: Vec<(&String, &Value)> = response.iter().collect();
    sorted.sort_by_key(|(name, _)| oauth::token_response_position(name));
    sorted
        .into_iter()
        .map(|(name, value)| Named { name: name.clone(), value: shortened(&shown(value)) })
        .collect()
}

/// A claim's value without JSON's marks.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(TOKEN_CHARS_SHOWN * 2) {
        None => text.to_owned(),
        Some(_) => text.chars().take(TOKEN_CHARS_SHOWN).chain(['…']).collect(),
    }
}
