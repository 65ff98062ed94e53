//! The steps of the checklist: what each needs, the line to copy, and the way to do it in the sandbox with one click.

use domain::event::semantic_name;
use domain::subscription::Product;
use maud::{Markup, html};
use ui::app::copy_block;
use ui::{Button, ButtonStyle, Icon, button, hidden_field, safe_href};

use super::home::Home;
use super::sandbox::SandboxState;
use crate::context::Context;
use crate::text::home::HomeText;
use crate::text::sandbox::SandboxText;

/// The redirect address of an application that the checklist asks for.
const REDIRECT_URI: &str = "http://localhost:8765/callback";

/// One line of the checklist.
pub(super) struct Step {
    is_done: bool,
    title: &'static str,
    explanation: &'static str,
    /// A line to copy, links and buttons; only while the step is open.
    help: Markup,
}

impl Step {
    pub(super) fn markup(&self, text: &HomeText, number: u32) -> Markup {
        let word = if self.is_done { text.done } else { text.open };
        html! {
            li .done[self.is_done] {
                span.tick { @if self.is_done { (Icon::Check) } @else { (number) } span.visually-hidden { (word) } }
                h3 { (self.title) }
                @if !self.is_done { div.body { p.muted { (self.explanation) } (self.help) } }
            }
        }
    }
}

impl Home {
    pub(super) fn steps(&self, context: &Context) -> [Step; 6] {
        let text = HomeText::of(context.lang());
        let done = self.progress;
        let step = |is_done, title, explanation, help| Step { is_done, title, explanation, help };
        [
            step(done.has_key, text.key, text.key_text, self.key(context)),
            step(done.has_client, text.client, text.client_text, self.application(context)),
            step(done.has_signed_in, text.sign_in, text.sign_in_text, self.sign_in(context)),
            step(done.has_called, text.call, text.call_text, self.call(context)),
            step(done.has_webhook, text.webhook, text.webhook_text, self.webhook(context)),
            step(done.has_delivery, text.delivery, text.delivery_text, self.delivery(context)),
        ]
    }

    fn key(&self, context: &Context) -> Markup {
        let text = HomeText::of(context.lang());
        let products = self.automatic_products(context);
        let product = products.iter().find(|one| **one == Product::Accounting).or(products.first());
        html! {
            div.actions {
                @if let Some(product) = product {
                    (one_click(context, "subscriptions", "ask", text.key_now, &[
                        ("name", text.sandbox_name), ("product", product.as_str()), ("sandbox", "true"),
                    ]))
                }
                (link(context, "subscriptions", text.key_action))
            }
        }
    }

    fn application(&self, context: &Context) -> Markup {
        let text = HomeText::of(context.lang());
        let products = self.automatic_products(context);
        let mut fields = vec![
            ("name", text.sandbox_name),
            ("redirect_uri", REDIRECT_URI),
            ("pkce", "true"),
            ("sandbox", "true"),
        ];
        fields.extend(products.iter().map(|product| ("product", product.as_str())));
        html! {
            div.actions {
                @if !products.is_empty() { (one_click(context, "applications", "ask", text.client_now, &fields)) }
                (link(context, "applications", text.client_action))
            }
        }
    }

    /// The products whose requests for the sandbox are approved at once; none where there are no sandboxes.
    fn automatic_products(&self, context: &Context) -> Vec<Product> {
        let automatic = context.portal.settings.approval.automatic;
        let is_automatic = |product: &Product| automatic.contains(*product);
        let is_open = self.sandbox != SandboxState::Closed;
        Product::ALL.into_iter().filter(|product| is_open && is_automatic(product)).collect()
    }

    fn sign_in(&self, context: &Context) -> Markup {
        let text = HomeText::of(context.lang());
        let line = self.sign_in_line(&context.portal.settings.issuer);
        html! {
            div.actions { (self.token(context, text.sign_in_now)) }
            (own_code(context, "line-sign-in", &line))
        }
    }

    fn call(&self, context: &Context) -> Markup {
        let text = HomeText::of(context.lang());
        let line = first_call(&context.portal.settings.base_url, self.key_in_lines());
        html! {
            div.actions { (self.token(context, text.call_now)) (link(context, "reference", text.call_action)) }
            (own_code(context, "line-call", &line))
            (self.fill_in(context))
        }
    }

    fn webhook(&self, context: &Context) -> Markup {
        let text = HomeText::of(context.lang());
        let line = subscription_line(&context.portal.settings.base_url, self.key_in_lines());
        let resource = self.resource.map(|one| format!("{}.{}", one.area().as_str(), one.as_str()));
        html! {
            @if let (Some(client), Some(resource)) = (&self.client, &resource) {
                div.actions {
                    (self.in_sandbox(context, "sandbox/receiver", "subscribe", text.webhook_now, &[
                        ("client", client), ("resource", resource),
                    ]))
                }
            }
            (own_code(context, "line-webhook", &line))
            @if self.progress.has_called { (self.fill_in(context)) }
        }
    }

    fn delivery(&self, context: &Context) -> Markup {
        let text = HomeText::of(context.lang());
        let event = self.resource.map(|one| semantic_name(one, one.first_event()));
        html! {
            div.actions {
                @if let Some(event) = &event {
                    (self.in_sandbox(context, "sandbox/receiver", "make", text.delivery_now, &[("event", event)]))
                }
                (link(context, "signature", text.delivery_action))
            }
        }
    }

    /// The key in the lines to copy.
    fn key_in_lines(&self) -> &str {
        self.key.as_deref().unwrap_or("…")
    }

    /// Puts the team's key into the lines to copy, where there is one that is not shown yet.
    fn fill_in(&self, context: &Context) -> Markup {
        let text = HomeText::of(context.lang());
        if self.subscription.is_none() || self.key.is_some() {
            return html! {};
        }
        let style = ButtonStyle::Secondary;
        html! {
            form.inline method="post" {
                (context.form_token())
                (button(&Button { label: text.fill_in, name_and_value: Some(("do", "fill")), style, ..Button::default() }))
            }
        }
    }

    /// A token in one click; its page has the line of the first call, too.
    fn token(&self, context: &Context, label: &str) -> Markup {
        let Some(client) = &self.client else { return html! {} };
        self.in_sandbox(context, "sandbox", "token", label, &[("client", client)])
    }

    /// An action in the sandbox, where there is one.
    fn in_sandbox(
        &self,
        context: &Context,
        page: &str,
        action: &str,
        label: &str,
        fields: &[(&str, &str)],
    ) -> Markup {
        let is_ready = self.sandbox == SandboxState::Ready;
        if is_ready {
            one_click(context, page, action, label, fields)
        } else {
            html! {}
        }
    }

    /// The way to a sandbox, where there is none to use yet.
    pub(super) fn sandbox_first(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let make = match self.sandbox {
            SandboxState::None | SandboxState::Erased => SandboxText::of(lang).make,
            SandboxState::Incomplete => SandboxText::of(lang).complete,
            SandboxState::Ready | SandboxState::Closed | SandboxState::Disabled => return html! {},
        };
        html! {
            p { (HomeText::of(lang).sandbox_first) }
            div.actions { (one_click(context, "sandbox", "create", make, &[])) }
        }
    }

    fn sign_in_line(&self, issuer: &str) -> String {
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("client_id", self.client.as_deref().unwrap_or("CLIENT_ID"))
            .append_pair("redirect_uri", self.redirect_uri.as_deref().unwrap_or("REDIRECT_URI"))
            .append_pair("response_type", "code")
            .append_pair("scope", if self.scopes.is_empty() { "openid" } else { &self.scopes })
            .append_pair("state", "xyz")
            .finish();
        format!("{issuer}/connect/authorize?{query}")
    }
}

/// A form of one button that does something on another page.
fn one_click(context: &Context, page: &str, action: &str, label: &str, fields: &[(&str, &str)]) -> Markup {
    html! {
        form.inline method="post" action=(context.team_path(page)) {
            (context.form_token())
            @for (name, value) in fields { (hidden_field(name, value)) }
            (button(&Button { label, name_and_value: Some(("do", action)), ..Button::default() }))
        }
    }
}

fn link(context: &Context, page: &str, label: &str) -> Markup {
    html! { a class="button secondary" href=(safe_href(&context.team_path(page))) { (label) } }
}

/// The same from the developer's own code.
fn own_code(context: &Context, id: &str, line: &str) -> Markup {
    let lang = context.lang();
    html! { p.small.muted { (HomeText::of(lang).own_code) } (copy_block(lang, id, line)) }
}

fn first_call(base_url: &str, key: &str) -> String {
    format!(
        "curl {base_url}/accounting/api/companies \\\n  -H 'Ocp-Apim-Subscription-Key: {key}' \\\n  -H 'Authorization: Bearer …'"
    )
}

fn subscription_line(base_url: &str, key: &str) -> String {
    let body = r#"{"thirdPartyApplicationName":"…","url":"https://…","secret":"…","eventTypes":["Svc.ACC.Customers.CustomerCreated"]}"#;
    let key = format!("-H 'Ocp-Apim-Subscription-Key: {key}'");
    let headers =
        "-H 'Authorization: Bearer …' \\\n  -H 'context: none' \\\n  -H 'Content-Type: application/json'";
    format!(
        "curl {base_url}/accounting/api/customers/webhooks/subscribe \\\n  {key} \\\n  {headers} \\\n  -d '{body}'"
    )
}
