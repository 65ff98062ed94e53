//! The sign-in tester: what it knows of a run, and the page around its steps.

use identity::{SandboxPrompt, SandboxRun, SandboxTokens};
use maud::{Markup, html};
use pages::View;
use serde::Serialize;
use serde_json::Value;
use store::Client;
use ui::app::{copy_block, facts};
use ui::{
    Button, ButtonStyle, DisplayName, Lang, RadioOption, Severity, button, notice, radio_option, safe_href,
};

use crate::context::Context;
use crate::shell::Section;
use crate::text::applications::ApplicationText;
use crate::text::oauth;
use crate::text::sign_in::SignInText;

/// How far the sign-in has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Stage {
    /// It has not begun.
    #[default]
    Form,
    /// The browser can go to the authorization request.
    Ready,
    /// The browser is back with a code.
    Returned,
    Done,
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum FailureStep {
    Callback,
    TokenRequest,
}

#[derive(Debug, Serialize)]
pub(crate) struct Failure {
    pub(crate) step: FailureStep,
    /// An error of OAuth, or `invalid_state` and `invalid_iss`.
    pub(crate) error: String,
    pub(crate) description: String,
}

/// A parameter, or a field of a form.
#[derive(Debug, Serialize)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) value: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScopeChoice {
    pub(crate) name: &'static str,
    /// Whether the application's products include it.
    pub(crate) is_open: bool,
}

impl ScopeChoice {
    pub(crate) fn new(name: &'static str, is_open: bool) -> Self {
        Self { name, is_open }
    }
}

/// Who signs in.
#[derive(Serialize)]
pub(crate) struct SandboxUser {
    pub(crate) email: String,
    pub(crate) password: String,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SignInPage {
    pub(crate) application: String,
    pub(crate) name: String,
    pub(crate) is_active: bool,
    /// Whether the operator has sandboxes open.
    pub(crate) is_open: bool,
    /// Where the page has to be opened, if not here.
    pub(crate) other_address: Option<String>,
    /// Whether the sign-in that was asked for is over.
    pub(crate) is_ended: bool,
    pub(crate) stage: Stage,
    pub(crate) issuer: String,
    pub(crate) base_url: String,
    pub(crate) scopes: Vec<ScopeChoice>,
    pub(crate) user: Option<SandboxUser>,
    pub(crate) authorize_url: String,
    pub(crate) request: Vec<Named>,
    pub(crate) callback: Vec<Named>,
    pub(crate) token_request: Vec<Named>,
    pub(crate) token_response: Option<Value>,
    pub(crate) access_claims: Option<Value>,
    pub(crate) id_claims: Option<Value>,
    pub(crate) failure: Option<Failure>,
}

fn named(pairs: impl IntoIterator<Item = (String, String)>) -> Vec<Named> {
    pairs.into_iter().map(|(name, value)| Named { name, value }).collect()
}

fn parsed(query: &str) -> Vec<Named> {
    named(form_urlencoded::parse(query.as_bytes()).into_owned())
}

pub(super) fn value<'a>(of: &'a [Named], name: &str) -> Option<&'a str> {
    of.iter().find(|one| one.name == name).map(|one| one.value.as_str())
}

impl SignInPage {
    /// Shows how far a sign-in has come.
    pub(crate) fn show_run(&mut self, run: &SandboxRun, client: &Client) {
        let url = &run.sign_in.authorize_url;
        self.authorize_url.clone_from(url);
        self.request = parsed(url.split_once('?').map_or("", |(_, query)| query));
        self.stage = Stage::Ready;
        let Some(callback) = &run.callback else { return };
        self.callback = parsed(callback);
        let text = |name: &str| value(&self.callback, name).unwrap_or_default().to_owned();
        let (error, code) = (text("error"), text("code"));
        if error.is_empty() {
            self.stage = Stage::Returned;
            self.token_request = named(run.sign_in.token_request(client, &code));
        } else {
            let description = text("error_description");
            self.fail(Failure { step: FailureStep::Callback, error, description });
        }
    }

    pub(crate) fn show_tokens(&mut self, tokens: SandboxTokens) {
        self.stage = Stage::Done;
        self.token_request = named(tokens.token_request);
        self.token_response = Some(tokens.token_response);
        self.access_claims = Some(tokens.access_claims);
        self.id_claims = tokens.id_claims;
    }

    pub(crate) fn fail(&mut self, failure: Failure) {
        self.stage = Stage::Failed;
        self.failure = Some(failure);
    }

    pub(super) fn is_silent(&self) -> bool {
        value(&self.request, "prompt") == Some(SandboxPrompt::Silent.as_str())
    }
}

impl View<Context> for SignInPage {
    fn section(&self) -> Section {
        Section::Applications
    }

    fn title(&self, lang: Lang) -> &'static str {
        SignInText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = SignInText::of(lang);
        let applications = context.team_path("applications");
        html! {
            p.crumbs {
                a href=(safe_href(&applications)) { (ApplicationText::of(lang).title) } " › "
                a href=(safe_href(&format!("{applications}/{}", self.application))) { (DisplayName(&self.name)) }
            }
            h1 { (text.title) }
            p.lead { (text.lead) }
            (self.notices(lang))
            @match self.stage {
                Stage::Form if self.is_open && self.is_active => (self.form(context)),
                Stage::Ready => (self.ready(context)),
                Stage::Returned => (returned(context)),
                _ => {},
            }
            section.card {
                h2 { (text.steps) }
                (self.steps(context))
            }
            @if matches!(self.stage, Stage::Done | Stage::Failed) { div.after { (start_over(context, ButtonStyle::Primary)) } }
        }
    }
}

impl SignInPage {
    fn notices(&self, lang: Lang) -> Markup {
        let text = SignInText::of(lang);
        let warning = |id, title: &str, why: &str| {
            notice(Severity::Warning, id, &html! { (title) }, Some(&html! { (why) }))
        };
        html! {
            @if !self.is_open { (warning("closed", text.closed, text.closed_text)) }
            @else if !self.is_active { (warning("disabled", text.disabled, text.disabled_text)) }
            @if self.is_ended { (warning("ended", text.ended, text.ended_text)) }
            @if let Some(url) = &self.other_address {
                @let where_to = html! { (text.other_address_text) " " a href=(safe_href(url)) { (url) } };
                (notice(Severity::Warning, "other-address", &html! { (text.other_address) }, Some(&where_to)))
            }
            @if let Some(failure) = &self.failure { (failure.markup(lang)) }
            @if self.stage == Stage::Done {
                (notice(Severity::Success, "complete", &html! { (text.complete) }, Some(&html! { (text.complete_text) })))
            }
        }
    }

    fn form(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = SignInText::of(lang);
        let prompts = SandboxPrompt::ALL.map(|prompt| match prompt {
            SandboxPrompt::Login => (prompt, text.prompt_login, text.prompt_login_text),
            SandboxPrompt::Consent => (prompt, text.prompt_consent, text.prompt_consent_text),
            SandboxPrompt::Silent => (prompt, text.prompt_none, text.prompt_none_text),
        });
        html! {
            section.card {
                h2 { (text.prepare) }
                form.stack method="post" {
                    (context.form_token())
                    fieldset.stack {
                        legend { (text.scopes) }
                        @for one in &self.scopes {
                            label.check {
                                input type="checkbox" name="scope" value=(one.name) checked[one.is_open];
                                span {
                                    code { (one.name) } " " span.hint { (oauth::scope(lang, one.name)) }
                                    @if !one.is_open { span.hint { " · " (text.not_open) } }
                                }
                            }
                        }
                    }
                    fieldset.stack {
                        legend { (text.pages) }
                        div.choices { @for (prompt, label, note) in prompts {
                            (radio_option(&RadioOption {
                                name: "prompt",
                                value: prompt.as_str(),
                                label,
                                note,
                                badge: None,
                                error_id: None,
                                is_checked: prompt == SandboxPrompt::default(),
                            }))
                        } }
                    }
                    (button(&Button { label: text.begin, name_and_value: Some(("do", "begin")), ..Button::default() }))
                }
            }
        }
    }

    /// The sandbox's user, and the way to the sign-in.
    fn ready(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = SignInText::of(lang);
        html! {
            section.card {
                h2 { (text.enter) }
                @if self.is_silent() { p { (text.enter_silent) } }
                @else {
                    p { (text.enter_text) }
                    @if let Some(user) = &self.user {
                        (facts(&[
                            (text.email, copy_block(lang, "sandbox-email", &user.email)),
                            (text.password, copy_block(lang, "sandbox-password", &user.password)),
                        ]))
                    }
                    p.small.muted { (text.session_note) }
                }
                div.actions {
                    a.button href=(safe_href(&self.authorize_url)) target="_blank" rel="noopener" {
                        (text.open) span.visually-hidden { " (" (text.new_tab) ")" }
                    }
                    (start_over(context, ButtonStyle::Secondary))
                }
            }
        }
    }
}

impl Failure {
    fn markup(&self, lang: Lang) -> Markup {
        let text = SignInText::of(lang);
        let (cause, advice) = oauth::error(lang, &self.error);
        let title = html! { (text.failed) ": " code { (DisplayName(&self.error)) } };
        let why = html! {
            (cause) " " b { (text.what_to_do) ": " } (advice)
        };
        notice(Severity::Error, "failed", &title, Some(&why))
    }
}

fn returned(context: &Context) -> Markup {
    let text = SignInText::of(context.lang());
    html! {
        section.card {
            h2 { (text.returned) }
            p { (text.returned_text) }
            div.actions {
                form.inline method="post" {
                    (context.form_token())
                    (button(&Button { label: text.exchange, name_and_value: Some(("do", "exchange")), is_focused: true, ..Button::default() }))
                }
                (start_over(context, ButtonStyle::Secondary))
            }
        }
    }
}

fn start_over(context: &Context, style: ButtonStyle) -> Markup {
    let label = SignInText::of(context.lang()).start_over;
    html! {
        form.inline method="post" {
            (context.form_token())
            (button(&Button { label, style, name_and_value: Some(("do", "stop")), ..Button::default() }))
        }
    }
}

/// For a callback that belongs to no sign-in of the session.
pub(crate) fn stray_callback(lang: Lang, portal: &str) -> Markup {
    let text = SignInText::of(lang);
    html! {
        h1 { (text.stray) }
        p.lead { (text.stray_text) }
        p.after { a.button href=(safe_href(portal)) { (text.to_portal) } }
    }
}
