//! The sandbox of the team: how to sign in to it, its companies, a token, and its reset.

use domain::Ticks;
use maud::{Markup, html};
use operator::admin::SandboxCompany;
use serde::Serialize;
use ui::app::{Column, State, Table, copy_inline, empty_state, fact_lines, state, table, tabs};
use ui::{Button, DisplayName, Lang, Severity, button, notice, safe_href, timestamp};

use super::sandbox_token::{Application, ShownToken};
use crate::context::Context;
use crate::shell::Section;
use crate::text::sandbox::SandboxText;
use pages::{Csv, View};

/// How the sandbox of a team is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum SandboxState {
    /// The operator has switched all sandboxes off.
    Closed,
    None,
    /// Its data is not loaded yet.
    Incomplete,
    /// The operator has erased the tenant.
    Erased,
    Disabled,
    Ready,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SandboxPage {
    pub(crate) state: SandboxState,
    pub(crate) sandbox: Option<SandboxAccess>,
    pub(crate) companies: Vec<CompanyRow>,
    pub(crate) has_more_companies: bool,
    /// Those that may enter the sandbox.
    pub(crate) applications: Vec<Application>,
    /// An active subscription of the team, whose keys open the sandbox.
    pub(crate) subscription: Option<String>,
    /// The password of the sandbox's account; only after the click that reveals it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) password: Option<String>,
    /// A token that was issued just now; it is shown once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<ShownToken>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SandboxAccess {
    pub(crate) tenant: String,
    pub(crate) email: String,
    pub(crate) receiver_url: String,
    pub(crate) receiver_mode: &'static str,
    pub(crate) since: String,
    #[serde(skip)]
    pub(crate) since_at: Ticks,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CompanyRow {
    name: String,
    correlation_id: String,
}

impl CompanyRow {
    pub(crate) fn new(company: SandboxCompany) -> Self {
        Self { name: company.name, correlation_id: company.correlation_id }
    }
}

/// The title and the two pages of a sandbox.
pub(super) fn head(context: &Context, is_receiver: bool, lead: &str, live: &Markup) -> Markup {
    let text = SandboxText::of(context.lang());
    let pages = [
        (text.tab_data, context.team_path("sandbox"), !is_receiver),
        (text.tab_receiver, context.team_path("sandbox/receiver"), is_receiver),
    ];
    html! {
        div.title-row { h1 { (text.title) } (live) }
        p.lead { (lead) }
        (tabs(text.title, &pages))
    }
}

impl SandboxState {
    /// What stands where the sandbox cannot be used, with the way to make it.
    pub(super) fn obstacle(self, context: &Context) -> Markup {
        let text = SandboxText::of(context.lang());
        let (title, explanation, action) = match self {
            Self::Closed => return empty_state(text.closed, text.closed_text, None),
            Self::Disabled => return empty_state(text.disabled, text.disabled_text, None),
            Self::None => (text.none, text.none_text, text.make),
            Self::Erased => (text.erased, text.erased_text, text.make),
            Self::Incomplete => (text.incomplete, text.incomplete_text, text.complete),
            Self::Ready => return html! {},
        };
        html! {
            div.empty {
                b { (title) }
                p { (explanation) }
                form method="post" action=(context.team_path("sandbox")) {
                    (context.form_token())
                    (button(&Button { label: action, name_and_value: Some(("do", "create")), ..Button::default() }))
                }
            }
        }
    }
}

impl View<Context> for SandboxPage {
    fn section(&self) -> Section {
        Section::Sandbox
    }

    fn title(&self, lang: Lang) -> &'static str {
        SandboxText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = SandboxText::of(lang);
        let Some(sandbox) = self.sandbox.as_ref().filter(|_| self.state == SandboxState::Ready) else {
            return html! {
                div.title-row { h1 { (text.title) } }
                p.lead { (text.lead) }
                (self.state.obstacle(context))
            };
        };
        html! {
            (head(context, false, text.lead, &state(State::Ok, text.ready)))
            @if let Some(token) = &self.token { (token.markup(context, self.subscription.as_deref())) }
            (self.access(context, sandbox))
            (self.token_form(context))
            (self.companies(context))
            (links(context, &sandbox.tenant))
            (reset(context))
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |one: &CompanyRow| vec![one.name.clone(), one.correlation_id.clone()];
        Some(Csv {
            name: "sandbox-companies",
            columns: vec!["name", "correlation_id"],
            rows: self.companies.iter().map(row).collect(),
        })
    }
}

impl SandboxPage {
    fn access(&self, context: &Context, sandbox: &SandboxAccess) -> Markup {
        let lang = context.lang();
        let text = SandboxText::of(lang);
        let password = html! {
            @match &self.password {
                Some(password) => (copy_inline(lang, "sandbox-password", password)),
                None => form.inline method="post" {
                    (context.form_token())
                    code aria-hidden="true" { "••••••••" }
                    button type="submit" class="button secondary small" name="do" value="reveal" { (text.reveal) }
                },
            }
        };
        html! {
            section.card #access {
                h2 { (text.facts) }
                (fact_lines(&[
                    (text.tenant, copy_inline(lang, "sandbox-tenant", &sandbox.tenant)),
                    (text.user, copy_inline(lang, "sandbox-email", &sandbox.email)),
                    (text.password, password),
                    (text.since, timestamp(lang, sandbox.since_at)),
                ]))
            }
        }
    }

    fn companies(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = SandboxText::of(lang);
        let columns = [Column::text(text.company), Column::text("correlationId")];
        let cells = |(index, one): (usize, &CompanyRow)| {
            let id = format!("company-{index}");
            let cells = vec![html! { (DisplayName(&one.name)) }, copy_inline(lang, &id, &one.correlation_id)];
            (one.correlation_id.clone(), cells)
        };
        html! {
            section.card #companies {
                h2 { (text.companies) }
                p.muted { (text.companies_text) }
                (table(lang, &Table {
                    caption: text.companies,
                    columns: &columns,
                    rows: self.companies.iter().enumerate().map(cells).collect(),
                    csv: Some(context.here(&[], [("format", "csv")])),
                    ..Table::default()
                }))
                @if self.has_more_companies { p.small.muted { (text.more_companies) } }
            }
        }
    }
}

fn links(context: &Context, tenant: &str) -> Markup {
    let text = SandboxText::of(context.lang());
    let webhooks = context.team_path(&format!("webhooks?tenant={tenant}"));
    html! {
        section.card {
            h2 { (text.see_also) }
            ul.links {
                li { a href=(safe_href(&context.team_path("reference"))) { (text.open_docs) } }
                li { a href=(safe_href(&context.team_path("calls"))) { (text.see_calls) } }
                li { a href=(safe_href(&webhooks)) { (text.see_webhooks) } }
            }
        }
    }
}

fn reset(context: &Context) -> Markup {
    let text = SandboxText::of(context.lang());
    html! {
        section.card {
            details.more.danger id="reset" {
                summary { (text.reset) }
                form method="post" {
                    (context.form_token())
                    p { (text.reset_text) }
                    button type="submit" class="button destructive" name="do" value="reset" { (text.reset) }
                }
            }
        }
    }
}

/// Says what is missing, with the page that helps.
pub(super) fn missing(context: &Context, id: &str, title: &str, text: &str, page: (&str, &str)) -> Markup {
    let (label, page) = page;
    let why = html! { (text) " " a href=(safe_href(&context.team_path(page))) { (label) } };
    notice(Severity::Warning, id, &html! { (title) }, Some(&why))
}
