//! The reference page: the APIs, their documents and tools.

use domain::subscription::Product;
use maud::{Markup, html};
use pages::{Csv, View};
use serde::Serialize;
use ui::app::{Column, Table, copy_block, facts, parts_code, table};
use ui::{Button, ButtonStyle, Lang, button, duration, plain_name, safe_href};

use crate::context::Context;
use crate::http::errors::PATH as ERROR_CODES_PATH;
use crate::shell::Section;
use crate::text::common::CommonText;
use crate::text::errors::ErrorCodesText;
use crate::text::reference::{ProductText, ReferenceText};

/// The security schemes of the OpenAPI document that take the key and the token.
const KEY_SCHEME: &str = "subscriptionKey";
const TOKEN_SCHEME: &str = "accessToken";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReferencePage {
    pub(crate) apis: Vec<Api>,
    /// The page to try calls on; none where the operator has switched it off.
    pub(crate) docs_url: Option<String>,
    pub(crate) openapi_url: String,
    pub(crate) asyncapi_url: String,
    pub(crate) discovery_url: String,
    pub(crate) is_sandbox_open: bool,
    /// Subscriptions whose key the page that tries calls can have, and applications for whose sandbox token it can ask.
    pub(crate) subscriptions: Vec<Choice>,
    pub(crate) applications: Vec<Choice>,
    /// What that page gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) handed_over: Option<HandOver>,
}

/// A subscription or an application to choose.
#[derive(Serialize)]
pub(crate) struct Choice {
    pub(crate) id: String,
    pub(crate) name: String,
}

impl Choice {
    pub(crate) fn new(id: &impl ToString, name: &str) -> Self {
        Self { id: id.to_string(), name: name.to_owned() }
    }
}

/// The revealed key of a subscription, and a token of the sandbox's user.
#[derive(Serialize)]
pub(crate) struct HandOver {
    pub(crate) key: String,
    pub(crate) token: Option<HandedToken>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HandedToken {
    pub(crate) access_token: String,
    /// Seconds.
    pub(crate) expires_in: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Api {
    pub(crate) product: Product,
    pub(crate) area: &'static str,
    pub(crate) url: String,
    /// What reading needs.
    pub(crate) scope: Option<&'static str>,
    /// What webhooks need besides; none where there are none.
    pub(crate) webhook_scope: Option<&'static str>,
}

impl View<Context> for ReferencePage {
    fn section(&self) -> Section {
        Section::Reference
    }

    fn title(&self, lang: Lang) -> &'static str {
        ReferenceText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let text = ReferenceText::of(context.lang());
        html! {
            h1 { (text.title) }
            p.lead { (text.lead) }
            @match &self.docs_url {
                Some(url) => (self.docs(context, url)),
                None => p.muted.after { (text.docs_off) },
            }
            (self.api_table(context))
            (self.documents(context))
            (Self::feed(context))
            (command_line(context.lang()))
            section.card {
                h2 { (text.client) }
                p { (text.client_text) }
            }
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |api: &Api| {
            let scope = |scope: Option<&str>| scope.unwrap_or_default().to_owned();
            let product = api.product.as_str().to_owned();
            vec![product, api.area.to_owned(), api.url.clone(), scope(api.scope), scope(api.webhook_scope)]
        };
        Some(Csv {
            name: "apis",
            columns: vec!["product", "area", "url", "scope", "webhook_scope"],
            rows: self.apis.iter().map(row).collect(),
        })
    }
}

impl ReferencePage {
    /// The way to the page that tries calls. The link of a revealed key and token hands them over in the tab's storage, by the
    /// script.
    fn docs(&self, context: &Context, url: &str) -> Markup {
        let lang = context.lang();
        let text = ReferenceText::of(lang);
        html! {
            p.muted.after { (text.docs_text) }
            @match &self.handed_over {
                Some(values) => (values.markup(lang, url)),
                None => {
                    p.after { a.button href=(safe_href(url)) { (text.open_docs) } }
                    (self.prefill_form(context))
                },
            }
        }
    }

    fn prefill_form(&self, context: &Context) -> Markup {
        let text = ReferenceText::of(context.lang());
        html! {
            section.card {
                h2 { (text.prefill) }
                @if !self.is_sandbox_open { p { (text.prefill_closed) } }
                @else if self.subscriptions.is_empty() {
                    p { (text.prefill_none) }
                    p { a href=(safe_href(&context.team_path("subscriptions"))) { (CommonText::of(context.lang()).subscriptions) } }
                } @else {
                    p.muted { (text.prefill_text) }
                    @if self.applications.is_empty() {
                        p { (text.prefill_no_application) " " a href=(safe_href(&context.team_path("applications"))) { (CommonText::of(context.lang()).applications) } }
                    }
                    form.stack method="post" action=(context.here(&[], [])) {
                        (context.form_token())
                        (select("subscription", text.prefill_subscription, &self.subscriptions))
                        @if !self.applications.is_empty() { (select("application", text.prefill_application, &self.applications)) }
                        (button(&Button { label: text.prefill_button, style: ButtonStyle::Secondary, name_and_value: Some(("do", "prefill")), ..Button::default() }))
                    }
                }
            }
        }
    }

    fn api_table(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = ReferenceText::of(lang);
        let columns = [Column::text(text.product), Column::text(text.base), Column::text(text.scope)];
        let rows = Product::ALL.into_iter().map(|product| {
            let (name, about) = ProductText::product(lang, product);
            let apis: Vec<&Api> = self.apis.iter().filter(|api| api.product == product).collect();
            let cells = vec![
                html! { b { (name) } span.sub { (about) } },
                html! { ul.links { @for api in &apis { li { (parts_code(&api.url)) } } } },
                html! { ul.links { @for api in &apis { li { (scopes(text, api)) } } } },
            ];
            (product.as_str().to_owned(), cells)
        });
        html! {
            h2.after { (text.apis) }
            p.muted { (text.every_call) }
            (table(lang, &Table {
                caption: text.apis,
                columns: &columns,
                rows: rows.collect(),
                csv: Some(context.here(&[], [("format", "csv")])),
                ..Table::default()
            }))
        }
    }

    fn documents(&self, context: &Context) -> Markup {
        let (text, common) = (ReferenceText::of(context.lang()), CommonText::of(context.lang()));
        let events = context.team_path("events");
        html! {
            section.card {
                h2 { (text.documents) }
                ul.links {
                    li { a href=(safe_href(&self.openapi_url)) download="openapi.json" { (text.download) " openapi.json" } " · " span.muted { (text.openapi_note) } }
                    li { a href=(safe_href(&self.asyncapi_url)) download="asyncapi.json" { (text.download) " asyncapi.json" } " · " span.muted { (text.asyncapi_note) } }
                    li { a href=(safe_href(ERROR_CODES_PATH)) { (ErrorCodesText::of(context.lang()).title) } " · " span.muted { (text.errors_note) } }
                    li { a href=(safe_href(&events)) { (common.events) } " · " span.muted { (text.events_note) } }
                    li { a href=(safe_href(&self.discovery_url)) { "OpenID Connect" } " · " span.muted { (text.discovery_note) } }
                }
            }
        }
    }

    fn feed(context: &Context) -> Markup {
        let text = ReferenceText::of(context.lang());
        let path = domain::Resource::customers().path();
        let command = format!(
            "curl -sS '{}{path}/changes?after=0&pageSize=100' \\\n  -H \"Authorization: Bearer $ACCESS\" \\\n  -H \"Ocp-Apim-Subscription-Key: $KEY\" \\\n  -H \"context: {{\\\"clientId\\\":\\\"$COMPANY\\\"}}\"",
            context.portal.settings.base_url
        );
        html! {
            section.card {
                h2 { (text.feed) }
                p { (text.feed_text) }
                (copy_block(context.lang(), "feed", &command))
            }
        }
    }
}

fn select(name: &str, label: &str, choices: &[Choice]) -> Markup {
    html! {
        div.field {
            label for=(name) { (label) }
            select id=(name) name=(name) { @for one in choices { option value=(one.id) { (plain_name(&one.name)) } } }
        }
    }
}

impl HandOver {
    fn markup(&self, lang: Lang, docs_url: &str) -> Markup {
        let text = ReferenceText::of(lang);
        let values = match self.token {
            Some(_) => format!("{KEY_SCHEME}=docs-key {TOKEN_SCHEME}=docs-token"),
            None => format!("{KEY_SCHEME}=docs-key"),
        };
        html! {
            section.card.secret-once role="status" {
                h2 { (text.handed_title) }
                p { (text.handed_text) }
                h3 { (text.handed_key) " " code { (KEY_SCHEME) } }
                (copy_block(lang, "docs-key", &self.key))
                @if let Some(token) = &self.token {
                    h3 { (text.handed_token) " " code { (TOKEN_SCHEME) } }
                    p { (text.handed_token_text) " " (duration(lang, token.expires_in)) "." }
                    div.compact { (copy_block(lang, "docs-token", &token.access_token)) }
                }
                p { a.button href=(safe_href(docs_url)) data-hand-over=(values) { (text.open_with_both) } }
            }
        }
    }
}

fn scopes(text: &ReferenceText, api: &Api) -> Markup {
    html! {
        @match (api.scope, api.webhook_scope) {
            (Some(scope), Some(webhooks)) => { (parts_code(scope)) ", " (text.for_webhooks) " " (parts_code(webhooks)) " " (text.for_webhooks_end) },
            (Some(scope), None) => (parts_code(scope)),
            (None, Some(webhooks)) => { (text.only_webhooks) " " (parts_code(webhooks)) },
            (None, None) => "–",
        }
    }
}

fn command_line(lang: Lang) -> Markup {
    let text = ReferenceText::of(lang);
    let commands = [
        ("aldaba dev", text.dev),
        ("aldaba listen", text.listen),
        ("aldaba trigger", text.trigger),
        ("aldaba verify", text.verify),
        ("aldaba openapi · aldaba asyncapi", text.print_openapi),
    ];
    let rows = commands.map(|(command, about)| (command, html! { (about) }));
    html! {
        section.card {
            h2 { (text.command_line) }
            p { (text.command_line_text) }
            (facts(&rows))
        }
    }
}
