//! The applications' pages: the list with the form to ask for one, and one with its addresses and secret.

use domain::{ClientKind, Ticks};
use maud::{Markup, html};
use serde::Serialize;
use ui::app::{Column, State, Table, copy_block, copy_inline, empty_state, facts, parts_code, state, table};
use ui::{
    Button, DisplayName, Field, Lang, badge, button, client_kind_text, field, hidden_field, safe_href,
    timestamp,
};

use super::application_forms::{ask_form, redirect_field};
use super::overlap::overlap_field;
use super::requests::{RequestRow, requests};
use super::subscriptions::product_name;
use crate::context::Context;
use crate::shell::Section;
use crate::text::applications::ApplicationText;
use crate::text::common::CommonText;
use crate::text::sign_in::SignInText;
use crate::text::subscriptions::SubscriptionText;
use pages::{BackchannelLogoutView, Csv, View};

#[derive(Debug, Serialize)]
pub(crate) struct ApplicationsPage {
    pub(crate) applications: Vec<ApplicationRow>,
    pub(crate) requests: Vec<RequestRow>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApplicationRow {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    #[serde(skip)]
    pub(crate) client_kind: ClientKind,
    pub(crate) products: Vec<&'static str>,
    pub(crate) is_sandbox: bool,
    pub(crate) is_active: bool,
    pub(crate) since: String,
    #[serde(skip)]
    pub(crate) since_at: Ticks,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApplicationPage {
    pub(crate) application: ApplicationRow,
    pub(crate) addresses: Vec<AddressRow>,
    #[serde(flatten)]
    pub(crate) logout: BackchannelLogoutView,
    pub(crate) scopes: Vec<&'static str>,
    pub(crate) has_consent: bool,
    pub(crate) requires_pkce: bool,
    pub(crate) previous_secret_until: Option<String>,
    #[serde(skip)]
    pub(crate) previous_secret_until_at: Option<Ticks>,
    pub(crate) issuer: String,
    /// A secret that was made just now; it is shown once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) new_secret: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct AddressRow {
    pub(crate) uri: String,
    /// `registered`, `pending` or `refused`.
    pub(crate) state: &'static str,
    /// The request that asked for it.
    pub(crate) request: Option<String>,
    pub(crate) reason: String,
}

fn products(lang: Lang, names: &[&'static str]) -> String {
    let text = SubscriptionText::of(lang);
    names.iter().map(|name| product_name(text, name)).collect::<Vec<_>>().join(", ")
}

impl ApplicationRow {
    fn state(&self, lang: Lang) -> Markup {
        let text = ApplicationText::of(lang);
        if self.is_active { state(State::Ok, text.active) } else { state(State::Bad, text.disabled) }
    }
}

impl View<Context> for ApplicationsPage {
    fn section(&self) -> Section {
        Section::Applications
    }

    fn title(&self, lang: Lang) -> &'static str {
        ApplicationText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let text = ApplicationText::of(context.lang());
        html! {
            h1 { (text.title) }
            p.lead { (text.lead) }
            @if self.applications.is_empty() { (empty_state(text.none, text.none_text, None)) }
            @else { (self.table(context)) }
            (requests(context, &self.requests))
            section.card { h2 { (text.ask) } (ask_form(context)) }
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |one: &ApplicationRow| {
            vec![
                one.id.clone(),
                one.name.clone(),
                one.kind.to_owned(),
                one.products.join(" "),
                one.is_active.to_string(),
                one.since.clone(),
            ]
        };
        Some(Csv {
            name: "applications",
            columns: vec!["client_id", "name", "kind", "products", "active", "since"],
            rows: self.applications.iter().map(row).collect(),
        })
    }
}

impl ApplicationsPage {
    fn table(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = ApplicationText::of(lang);
        let columns = [
            Column::main(text.name),
            Column::text(text.client_id),
            Column::text(text.kind),
            Column::text(text.products),
            Column::text(text.status),
        ];
        let cells = |one: &ApplicationRow| {
            let href = context.team_path(&format!("applications/{}", one.id));
            vec![
                html! {
                    a href=(safe_href(&href)) { (DisplayName(&one.name)) }
                    @if one.is_sandbox { " " (badge(text.sandbox)) }
                },
                html! { code { (one.id) } },
                html! { (client_kind_text(lang, one.client_kind).name) },
                html! { (products(lang, &one.products)) },
                one.state(lang),
            ]
        };
        table(
            lang,
            &Table {
                caption: text.title,
                columns: &columns,
                rows: self.applications.iter().map(|one| (one.id.clone(), cells(one))).collect(),
                csv: Some(context.here(&[], [("format", "csv")])),
                ..Table::default()
            },
        )
    }
}

/// Removes a registered address that is not the last one, or withdraws the request for a pending one.
fn address_actions(context: &Context, (index, address): (usize, &AddressRow), is_last: bool) -> Markup {
    let text = ApplicationText::of(context.lang());
    html! {
        @match (address.state, &address.request) {
            ("registered", _) if !is_last => {
                details.more.danger id={ "remove-" (index) } {
                    summary { (text.remove) }
                    form method="post" action=(context.here(&[], [])) {
                        (context.form_token()) (hidden_field("uri", &address.uri))
                        p { (parts_code(&address.uri)) ": " (text.remove_text) }
                        button type="submit" class="button destructive" name="do" value="remove_address" { (text.remove) }
                    }
                }
            },
            ("pending", Some(request)) => {
                form.inline method="post" action=(context.here(&[], [])) {
                    (context.form_token()) (hidden_field("request", request))
                    button type="submit" class="button secondary small" name="do" value="withdraw" { (text.withdraw) }
                }
            },
            _ => {},
        }
    }
}

impl View<Context> for ApplicationPage {
    fn section(&self) -> Section {
        Section::Applications
    }

    fn title(&self, lang: Lang) -> &'static str {
        ApplicationText::of(lang).one
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = ApplicationText::of(lang);
        let one = &self.application;
        let consent = if self.has_consent { text.consent_required } else { text.consent_none };
        let common = CommonText::of(lang);
        let webhooks = context.team_path(&format!("webhooks?client={}", one.id));
        html! {
            p.crumbs { a href=(safe_href(&context.team_path("applications"))) { (text.title) } }
            div.title-row { h1 { (DisplayName(&one.name)) } (one.state(lang)) @if one.is_sandbox { (badge(text.sandbox)) } }
            @if !one.is_active { p.lead { (text.disabled_text) } }
            @if let Some(secret) = &self.new_secret {
                section.card.secret-once role="status" {
                    h2 { (text.new_secret) }
                    p { (text.new_secret_text) }
                    (copy_block(lang, "new-secret", secret))
                }
            }
            section.card {
                h2 { (text.facts) }
                (facts(&[
                    (text.client_id, copy_inline(lang, "client-id", &one.id)),
                    (text.kind, html! { (client_kind_text(lang, one.client_kind).name) }),
                    (text.products, html! { (products(lang, &one.products)) }),
                    ("PKCE", html! { @if self.requires_pkce { (common.yes) } @else { (common.no) } }),
                    (text.consent, html! { (consent) }),
                    (text.since, timestamp(lang, one.since_at)),
                ]))
                div { p.small.muted { (text.scopes) } p.chips { @for scope in &self.scopes { code { (scope) } } } }
                p { a href=(safe_href(&webhooks)) { (text.webhooks) } }
            }
            @if one.client_kind.signs_users_in() {
                (self.sign_in_tester(context)) (self.addresses(context)) (self.logout.card(lang, Some(&self.logout_form(context))))
            }
            (self.secret(context))
            section.card {
                h2 { (text.endpoints) }
                p.muted { (text.issuer) }
                (copy_block(lang, "issuer", &self.issuer))
                @if one.client_kind.signs_users_in() {
                    p.muted { (text.authorize_line) }
                    (copy_block(lang, "authorize", &self.authorization_url()))
                } @else {
                    p.muted { (text.introspect_line) }
                    (copy_block(lang, "introspect", &format!("{}/connect/introspect", self.issuer)))
                }
            }
            (self.rename(context))
        }
    }
}

impl ApplicationPage {
    /// A line to copy, with the client's own id and first address.
    fn authorization_url(&self) -> String {
        let registered = self.addresses.iter().find(|address| address.state == "registered");
        let redirect = registered.map_or("…", |address| address.uri.as_str());
        let scopes = self.scopes.join(" ");
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("client_id", &self.application.id)
            .append_pair("redirect_uri", redirect)
            .append_pair("response_type", "code")
            .append_pair("scope", &scopes)
            .append_pair("state", "xyz")
            .finish();
        let pkce = if self.requires_pkce { "&code_challenge=…&code_challenge_method=S256" } else { "" };
        format!("{}/connect/authorize?{query}{pkce}", self.issuer)
    }

    fn sign_in_tester(&self, context: &Context) -> Markup {
        let text = SignInText::of(context.lang());
        let href = context.team_path(&format!("applications/{}/sign-in", self.application.id));
        html! {
            section.card {
                h2 { (text.title) }
                p.muted { (text.teaser) }
                p { a class="button secondary" href=(safe_href(&href)) { (text.title) } }
            }
        }
    }

    fn addresses(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = ApplicationText::of(lang);
        let columns = [Column::main(text.address), Column::text(text.status), Column::text("")];
        let is_last = self.addresses.iter().filter(|address| address.state == "registered").count() < 2;
        let cells = |index: usize, address: &AddressRow| {
            let (kind, word) = match address.state {
                "registered" => (State::Ok, text.registered),
                "pending" => (State::Waiting, text.pending),
                _ => (State::Bad, text.refused),
            };
            vec![
                parts_code(&address.uri),
                html! {
                    (state(kind, word))
                    @if !address.reason.is_empty() { span.sub { (text.reason) ": " (DisplayName(&address.reason)) } }
                },
                address_actions(context, (index, address), is_last),
            ]
        };
        let rows = self.addresses.iter().enumerate();
        html! {
            section.card {
                h2 { (text.addresses) }
                (table(lang, &Table {
                    caption: text.addresses,
                    columns: &columns,
                    rows: rows.map(|(index, address)| (address.uri.clone(), cells(index, address))).collect(),
                    ..Table::default()
                }))
                details.more id="add-address" open[context.is_refused("add_address")] {
                    summary { (text.add_address) }
                    form.stack method="post" action=(context.here(&[], [])) {
                        (context.form_token())
                        (redirect_field(context, true))
                        (button(&Button { label: text.send, name_and_value: Some(("do", "add_address")), ..Button::default() }))
                    }
                }
            }
        }
    }

    fn secret(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = ApplicationText::of(lang);
        if self.application.client_kind.is_public() {
            return html! { section.card { h2 { (text.secret) } p.muted { (text.no_secret) } } };
        }
        html! {
            section.card {
                h2 { (text.secret) }
                p.muted { (text.secret_text) }
                @if let Some(until) = self.previous_secret_until_at { p { (text.secret_both) " " (timestamp(lang, until)) "." } }
                details.more.danger id="rotate" {
                    summary { (text.rotate) }
                    form method="post" action=(context.here(&[], [])) {
                        (context.form_token())
                        p { (text.rotate_text) }
                        (overlap_field(lang, "secret"))
                        button type="submit" class="button destructive" name="do" value="rotate" { (text.rotate) }
                    }
                }
            }
        }
    }

    fn logout_form(&self, context: &Context) -> Markup {
        let text = ApplicationText::of(context.lang());
        let typed = context.typed("backchannel_logout_uri").or(self.logout.uri());
        html! {
            form.stack method="post" action=(context.here(&[], [])) {
                (context.form_token())
                (field(&Field { name: "backchannel_logout_uri", label: text.logout_address, value: typed, hint: Some(text.logout_address_hint), ..Field::default() }))
                (button(&Button { label: CommonText::of(context.lang()).save, name_and_value: Some(("do", "set_logout_address")), ..Button::default() }))
            }
        }
    }

    fn rename(&self, context: &Context) -> Markup {
        let text = ApplicationText::of(context.lang());
        html! {
            section.card {
                h2 { (text.rename) }
                p.muted { (text.rename_hint) }
                form.stack method="post" action=(context.here(&[], [])) {
                    (context.form_token())
                    (field(&Field { name: "name", label: text.name, value: Some(&self.application.name), is_required: true, ..Field::default() }))
                    (button(&Button { label: CommonText::of(context.lang()).save, name_and_value: Some(("do", "rename")), ..Button::default() }))
                }
            }
        }
    }
}
