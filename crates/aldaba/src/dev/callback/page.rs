//! The page that shows what came of a sign-in: the steps of the portal's sign-in tester, with the values of this one.

use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use portal::sign_in_parts::{
    StepState, access_claims, callback_parameters, comparison, id_claims, numbered_steps, token_response,
};
use serde_json::Value;
use ui::app::{copy_block, fact_lines};
use ui::{DisplayName, Lang, Severity, notice, safe_href};

use super::super::ready_line::ReadyLine;
use super::super::site::PageRequest;
use super::sign_in::{FinishedSignIn, Outcome, Reason, Tokens};
use super::text::CallbackText;

pub(super) fn sign_in(request: &PageRequest, finished: &FinishedSignIn, ready: &ReadyLine) -> Response {
    let lang = request.lang;
    let text = CallbackText::of(lang);
    let steps = [
        (StepState::Done, request_step(lang, finished)),
        callback_step(lang, finished),
        token_step(lang, finished, ready),
        tokens_of(finished)
            .map_or_else(open, |tokens| (StepState::Done, claims_step(lang, finished, tokens))),
        tokens_of(finished).map_or_else(open, |tokens| (StepState::Done, next_step(lang, tokens, ready))),
    ];
    let content = html! {
        h1 { (title(lang, finished)) }
        p.lead { (text.lead) " " code { (finished.redirect_uri) } ". " (text.lead_after) }
        (verdict(lang, finished))
        @if let Some((id, name)) = &finished.client {
            (fact_lines(&[(text.client, html! { @if let Some(name) = name { (name) " · " } code { (id) } })]))
        }
        section.card { (numbered_steps(lang, steps)) }
        p.after { a.button.secondary href=(safe_href("/sign-in")) { (text.again) } }
    };
    request.page(StatusCode::OK, text.title, &content)
}

pub(super) fn not_found(request: &PageRequest) -> Response {
    let text = CallbackText::of(request.lang);
    let content = html! {
        h1 { (text.not_found) }
        p.lead { (text.not_found_text) }
        p.after { a.button href=(safe_href("/sign-in")) { (text.again) } }
    };
    request.page(StatusCode::NOT_FOUND, text.title, &content)
}

fn open() -> (StepState, Markup) {
    (StepState::Open, html! {})
}

fn tokens_of(finished: &FinishedSignIn) -> Option<&Tokens> {
    match &finished.outcome {
        Outcome::Tokens(tokens) => Some(tokens),
        _ => None,
    }
}

fn title(lang: Lang, finished: &FinishedSignIn) -> &'static str {
    let text = CallbackText::of(lang);
    match &finished.outcome {
        Outcome::Tokens(_) => text.worked,
        Outcome::NotExchanged(_) => text.here,
        Outcome::Refused { .. } | Outcome::NoCode { .. } => text.failed,
    }
}

/// Why dev leaves a code alone, and what to do.
fn reason(lang: Lang, reason: &Reason) -> (&'static str, &'static str) {
    let text = CallbackText::of(lang);
    match reason {
        Reason::Pkce => (text.pkce, text.pkce_text),
        Reason::OtherClient => (text.other_client, text.other_client_text),
        Reason::OtherIssuer(_) => (text.other_issuer, text.other_issuer_text),
        Reason::Unknown => (text.unknown, text.unknown_text),
    }
}

fn verdict(lang: Lang, finished: &FinishedSignIn) -> Markup {
    let text = CallbackText::of(lang);
    match &finished.outcome {
        Outcome::Tokens(_) => {
            notice(Severity::Success, "verdict", &html! { (text.worked) }, Some(&html! { (text.done) }))
        }
        Outcome::NotExchanged(why) => {
            notice(Severity::Warning, "verdict", &html! { (reason(lang, why).0) }, None)
        }
        Outcome::Refused { error, description } => {
            let title = html! { (text.refused) ": " code { (DisplayName(error)) } };
            notice(
                Severity::Error,
                "verdict",
                &title,
                Some(&html! { span lang="en" { (DisplayName(description)) } }),
            )
        }
        Outcome::NoCode { error } => {
            let title = html! { (text.no_code) ": " code { (DisplayName(error)) } };
            let why = finished.parameter("error_description").unwrap_or_default();
            notice(Severity::Error, "verdict", &title, Some(&html! { span lang="en" { (DisplayName(why)) } }))
        }
    }
}

fn request_step(lang: Lang, finished: &FinishedSignIn) -> Markup {
    let text = CallbackText::of(lang);
    html! {
        @match &finished.begun {
            Some(begun) => {
                p.muted { (text.request_begun) }
                (copy_block(lang, "authorize", &begun.authorize_url))
            },
            None => p.muted { (text.request_other) },
        }
    }
}

fn callback_step(lang: Lang, finished: &FinishedSignIn) -> (StepState, Markup) {
    let text = CallbackText::of(lang);
    let is_error = matches!(finished.outcome, Outcome::NoCode { .. });
    let body = html! {
        p.muted { (text.callback_text) }
        (callback_parameters(lang, &finished.callback))
        details.more id="callback-url" {
            summary { (text.whole_url) }
            (copy_block(lang, "callback", &finished.callback_url()))
        }
        @if finished.parameter("state").is_some() {
            p {
                code { "state" } ": "
                @if finished.begun.is_some() { (comparison(lang, true)) } @else { (text.compare) }
            }
        }
    };
    (if is_error { StepState::Failed } else { StepState::Done }, body)
}

fn token_step(lang: Lang, finished: &FinishedSignIn, ready: &ReadyLine) -> (StepState, Markup) {
    let text = CallbackText::of(lang);
    let Some(command) = finished.token_command(ready) else { return open() };
    let command = copy_block(lang, "token-request", &command);
    match &finished.outcome {
        Outcome::NoCode { .. } => open(),
        Outcome::NotExchanged(why) => (StepState::Done, html! { p { (reason(lang, why).1) } (command) }),
        Outcome::Refused { .. } => (StepState::Failed, html! { p.muted { (text.token_text) } (command) }),
        Outcome::Tokens(tokens) => {
            let whole = serde_json::to_string_pretty(&tokens.response).unwrap_or_default();
            let body = html! {
                p.muted { (text.token_text) }
                (command)
                p.small.muted { (text.token_used) }
                h4 { (text.response) }
                (token_response(lang, &tokens.response))
                details.more id="token-response" {
                    summary { (text.whole_response) }
                    (copy_block(lang, "response", &whole))
                }
            };
            (StepState::Done, body)
        }
    }
}

fn claims_step(lang: Lang, finished: &FinishedSignIn, tokens: &Tokens) -> Markup {
    let text = CallbackText::of(lang);
    html! {
        p.muted { (text.claims_text) }
        h4 { "access_token" }
        (access_claims(lang, &tokens.access_claims))
        h4 { "id_token" }
        @match &tokens.id_claims {
            Some(of) => {
                (id_claims(lang, of))
                @if let Some(begun) = &finished.begun {
                    p { code { "nonce" } ": " (comparison(lang, of.get("nonce").and_then(Value::as_str) == Some(&begun.nonce))) }
                }
            },
            None => p { (text.no_id_token) },
        }
    }
}

fn next_step(lang: Lang, tokens: &Tokens, ready: &ReadyLine) -> Markup {
    let text = CallbackText::of(lang);
    html! {
        @match tokens.read_command(ready) {
            Some(command) => {
                p { (text.next_text) }
                (copy_block(lang, "read", &command))
            },
            None => p { (text.no_read) },
        }
        p { (text.export_text) }
        (copy_block(lang, "export", &tokens.export_command()))
        p { (text.token_again) }
        (copy_block(lang, "token", "aldaba dev token"))
        ul {
            li { a href=(safe_href(&format!("{}/docs/", ready.base_url))) { (text.reference) } }
            li { a href=(safe_href(&ready.portal_url)) { (text.portal) } }
        }
    }
}
