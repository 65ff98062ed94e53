//! The token in one click: its form, and the token with what it opens.

use domain::{Area, Ticks};
use maud::{Markup, html};
use serde::Serialize;
use serde_json::{Value, json};
use ui::app::{copy_block, copy_lines, fact_lines};
use ui::{Button, DisplayName, button, plain_name, safe_href, timestamp};

use super::sandbox::{SandboxPage, missing};
use crate::context::Context;
use crate::text::sandbox::TokenText;

/// A client of the team that may enter the sandbox.
#[derive(Debug, Serialize)]
pub(crate) struct Application {
    pub(crate) id: String,
    pub(crate) name: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShownToken {
    pub(crate) client: String,
    #[serde(skip)]
    pub(crate) application: String,
    pub(crate) access_token: String,
    pub(crate) scopes: Vec<String>,
    pub(crate) expires: String,
    #[serde(skip)]
    pub(crate) expires_at: Ticks,
    /// Of the access token, decoded.
    pub(crate) claims: Value,
    pub(crate) curl: String,
}

impl ShownToken {
    /// A read that the token opens, as a command. The key is in a variable.
    pub(crate) fn curl(base_url: &str, scopes: &[String], company: Option<&str>, token: &str) -> String {
        let has =
            |area: Area| area.scope().is_some_and(|scope| scopes.iter().any(|name| name == scope.name()));
        let (path, company) = match company {
            Some(company) if has(Area::Accounting) => ("/accounting/api/customers", Some(company)),
            _ if has(Area::Accounting) => ("/accounting/api/companies", None),
            _ if has(Area::Payroll) => ("/payroll/api/companies", None),
            _ => ("/invoicing/api/changes", None),
        };
        let context = company.map(|company| json!({"clientId": company}).to_string());
        let context =
            context.map(|company| format!(" \\\n  -H 'context: {}'", company.replace('\'', r"'\''")));
        let context = context.unwrap_or_default();
        format!(
            "KEY=…\ncurl {base_url}{path} \\\n  -H \"Ocp-Apim-Subscription-Key: $KEY\"{context} \\\n  -H 'Authorization: Bearer {token}'"
        )
    }

    /// `subscription`: the one whose key the call needs.
    pub(super) fn markup(&self, context: &Context, subscription: Option<&str>) -> Markup {
        let lang = context.lang();
        let text = TokenText::of(lang);
        let claims = serde_json::to_string_pretty(&self.claims).unwrap_or_default();
        let key_page = subscription.map(|id| context.team_path(&format!("subscriptions/{id}")));
        html! {
            section.card.secret-once #token role="status" {
                h2 { (text.shown) }
                p { (text.shown_text) }
                (copy_lines(lang, "access-token", &self.access_token))
                (fact_lines(&[
                    (text.application, html! { (DisplayName(&self.application)) }),
                    (text.scopes, html! { @for scope in &self.scopes { code { (scope) } " " } }),
                    (text.expires, timestamp(lang, self.expires_at)),
                ]))
                h3 { (text.call) }
                p {
                    (text.call_text) " "
                    @if let Some(page) = &key_page { a href=(safe_href(page)) { (text.see_key) } }
                }
                (copy_lines(lang, "token-call", &self.curl))
                details.more id="claims" {
                    summary { (text.claims) }
                    p { (text.claims_text) }
                    (copy_block(lang, "token-claims", &claims))
                }
            }
        }
    }
}

impl SandboxPage {
    pub(super) fn token_form(&self, context: &Context) -> Markup {
        let text = TokenText::of(context.lang());
        html! {
            section.card id=[self.token.is_none().then_some("token")] {
                h2 { (text.title) }
                @if self.applications.is_empty() {
                    (missing(context, "no-client", text.no_client, text.no_client_text, (text.ask_client, "applications")))
                } @else {
                    p.muted { (text.text) }
                    @if self.subscription.is_none() {
                        (missing(context, "no-key", text.no_key, text.no_key_text, (text.ask_key, "subscriptions")))
                    }
                    form.stack method="post" {
                        (context.form_token())
                        (application_field(context, &self.applications))
                        details.more id="choose-scopes" {
                            summary { (text.choose_scopes) }
                            div.field {
                                label for="scope" { (text.scopes) }
                                input #scope name="scope" type="text" autocapitalize="none" spellcheck="false" autocomplete="off" aria-describedby="scope-hint";
                                span.hint #scope-hint { (text.scopes_hint) }
                            }
                        }
                        (button(&Button { label: text.button, name_and_value: Some(("do", "token")), ..Button::default() }))
                    }
                }
            }
        }
    }
}

/// The choice of a client.
pub(super) fn application_field(context: &Context, applications: &[Application]) -> Markup {
    let chosen = context.query.get("client").unwrap_or_default();
    html! {
        div.field {
            label for="client" { (TokenText::of(context.lang()).application) }
            select #client name="client" {
                @for one in applications {
                    option value=(one.id) selected[one.id == chosen] { (plain_name(&one.name)) " · " (one.id) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_reads_what_the_token_opens() {
        let curl = |area: Option<Area>, company| {
            let scopes: Vec<String> =
                area.and_then(Area::scope).map(|scope| scope.name().to_owned()).into_iter().collect();
            ShownToken::curl("https://api.example", &scopes, company, "t")
        };
        let with_company = curl(Some(Area::Accounting), Some("c1"));
        assert!(
            with_company.contains("/accounting/api/customers \\")
                && with_company.contains(r#"'context: {"clientId":"c1"}'"#),
            "{with_company}"
        );
        assert!(curl(Some(Area::Accounting), None).contains("/accounting/api/companies \\"));
        assert!(curl(Some(Area::Payroll), Some("c1")).contains("/payroll/api/companies \\"));
        assert!(curl(None, Some("c1")).contains("/invoicing/api/changes \\"));
        assert!(with_company.ends_with("'Authorization: Bearer t'"), "{with_company}");
    }
}
