//! The five steps of a sign-in: each with what was sent, what came, and what it means.

use domain::Scope;
use maud::{Markup, html};
use serde_json::Value;
use ui::app::copy_block;
use ui::{Lang, safe_href};

use super::sign_in::{FailureStep, SignInPage, Stage, value};
use super::sign_in_parts::{
    StepState, access_claims, comparison, fields_of, id_claims, numbered_steps, pairs,
};
use crate::context::Context;
use crate::text::oauth;
use crate::text::sign_in::SignInText;

impl SignInPage {
    pub(super) fn steps(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let steps = [
            self.request_step(lang),
            self.callback_step(lang),
            self.token_step(lang),
            self.claims_step(lang),
            self.next_step(context),
        ];
        let steps = (1..).zip(steps).map(|(number, body)| (self.state_of(number), body));
        numbered_steps(lang, steps)
    }

    fn state_of(&self, number: usize) -> StepState {
        let reached = match self.stage {
            Stage::Form => 0,
            Stage::Ready => 1,
            Stage::Returned | Stage::Failed => 2,
            Stage::Done => 5,
        };
        match self.failure.as_ref().map(|failure| failure.step) {
            Some(FailureStep::Callback) if number == 2 => StepState::Failed,
            Some(FailureStep::TokenRequest) if number == 3 => StepState::Failed,
            _ if number <= reached => StepState::Done,
            _ => StepState::Open,
        }
    }

    fn request_step(&self, lang: Lang) -> Markup {
        let text = SignInText::of(lang);
        html! {
            p.muted { (text.step_request_text) }
            (folded("request", text.show_parameters, self.stage != Stage::Ready, &html! {
                (pairs(lang, text.parameter, text.step_request, &self.request, oauth::request_parameter))
            }))
            details.more id="authorize-url" {
                summary { (text.whole_url) }
                (copy_block(lang, "authorize", &self.authorize_url))
            }
        }
    }

    fn callback_step(&self, lang: Lang) -> Markup {
        let text = SignInText::of(lang);
        html! {
            p.muted { (text.step_callback_text) }
            (pairs(lang, text.parameter, text.step_callback, &self.callback, oauth::callback_parameter))
            @if let Some(came) = value(&self.callback, "state") {
                p { code { "state" } ": " (comparison(lang, Some(came) == value(&self.request, "state"))) }
            }
        }
    }

    fn token_step(&self, lang: Lang) -> Markup {
        let text = SignInText::of(lang);
        html! {
            p.muted { (text.step_tokens_text) }
            (pairs(lang, text.field, text.step_tokens, &self.token_request, oauth::token_request_field))
            p.muted { (text.secret_place) }
            (copy_block(lang, "token-request", &self.token_command()))
            @if let Some(Value::Object(response)) = &self.token_response {
                h4 { (text.response) }
                (pairs(lang, text.field, text.response, &fields_of(response), oauth::token_response_field))
                details.more id="token-response" {
                    summary { (text.whole_response) }
                    (copy_block(lang, "response", &serde_json::to_string_pretty(response).unwrap_or_default()))
                }
            }
        }
    }

    /// The token request as the developer's server sends it.
    fn token_command(&self) -> String {
        let quoted = |text: &str| text.replace('\'', r"'\''");
        let field =
            |name: &str, value: &str| format!(" \\\n  --data-urlencode '{}={}'", quoted(name), quoted(value));
        let fields = self.token_request.iter().map(|one| field(&one.name, &one.value));
        let fields: String = fields.collect();
        format!("curl {}/connect/token \\\n  -u \"{}:$CLIENT_SECRET\"{fields}", self.issuer, self.application)
    }

    fn claims_step(&self, lang: Lang) -> Markup {
        let text = SignInText::of(lang);
        html! {
            p.muted { (text.step_claims_text) }
            h4 { "access_token" }
            @if let Some(Value::Object(of)) = &self.access_claims { (access_claims(lang, of)) }
            h4 { "id_token" }
            @match &self.id_claims {
                Some(Value::Object(of)) => {
                    (id_claims(lang, of))
                    p { code { "nonce" } ": " (comparison(lang, of.get("nonce").and_then(Value::as_str) == value(&self.request, "nonce"))) }
                },
                _ => p { (text.no_id_token) },
            }
        }
    }

    fn next_step(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = SignInText::of(lang);
        let member = |name: &str| self.token_response.as_ref().and_then(|all| all[name].as_str());
        let variables = format!("ACCESS='{}'\nKEY='…'", member("access_token").unwrap_or_default());
        let userinfo =
            format!("curl {}/connect/userinfo \\\n  -H \"Authorization: Bearer $ACCESS\"", self.issuer);
        html! {
            p { (text.step_next_text) " " a href=(safe_href(&context.team_path("subscriptions"))) { (text.keys_link) } }
            div.compact { (copy_block(lang, "variables", &variables)) }
            h4 { (text.next_read) }
            @match self.read_command() {
                Some(command) => (copy_block(lang, "read", &command)),
                None => p { (text.next_no_read) },
            }
            h4 { (text.next_userinfo) }
            (copy_block(lang, "userinfo", &userinfo))
            h4 { (text.next_refresh) }
            @match member("refresh_token") {
                Some(token) => {
                    p.muted { (text.next_refresh_text) }
                    (copy_block(lang, "refresh", &self.refresh_command(token)))
                },
                None => p { (text.next_no_refresh) },
            }
            p { a href=(safe_href(&format!("{}/logout", self.issuer))) target="_blank" rel="noopener" { (text.next_sign_out) } }
        }
    }

    fn refresh_command(&self, token: &str) -> String {
        format!(
            "curl {}/connect/token \\\n  -u \"{}:$CLIENT_SECRET\" \\\n  -d grant_type=refresh_token \\\n  -d refresh_token={token}",
            self.issuer, self.application
        )
    }

    /// A read that one of the granted scopes allows.
    fn read_command(&self) -> Option<String> {
        let granted = self.access_claims.as_ref()?["scope"].as_array()?.iter().filter_map(Value::as_str);
        let granted: Vec<Scope> = granted.filter_map(Scope::from_name).collect();
        let reads = [
            (Scope::Accounting, "/accounting/api/companies"),
            (Scope::Payroll, "/payroll/api/companies"),
            (Scope::Webhooks, "/invoicing/api/changes?after=0"),
        ];
        let (_, path) = reads.into_iter().find(|(scope, _)| granted.contains(scope))?;
        Some(format!(
            "curl '{}{path}' \\\n  -H \"Authorization: Bearer $ACCESS\" \\\n  -H \"Ocp-Apim-Subscription-Key: $KEY\"",
            self.base_url
        ))
    }
}

/// Content that is folded away once the reader has seen it.
fn folded(id: &str, label: &str, is_folded: bool, content: &Markup) -> Markup {
    html! {
        @if is_folded { details.more id={ (id) "-details" } { summary { (label) } (content) } }
        @else { (content) }
    }
}
