//! One client.

use domain::{Secret, Ticks};
use maud::{Markup, html};
use operator::admin::Permission;
use pages::{BackchannelLogoutView, View};
use serde::Serialize;
use store::{CallbackIdToken, Client, Pkce};
use ui::app::{Column, Table, copy_inline, facts, number, parts_code, table};
use ui::{DisplayName, Lang, badge, client_kind_text, safe_href, timestamp};

use super::clients::ClientRow;
use super::parts::{owner, product_names};
use super::request::pkce_name;
use super::secrets::ShownSecret;
use crate::applications::text::area::AreaText;
use crate::applications::text::clients::ClientText;
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClientPage {
    #[serde(flatten)]
    pub(crate) row: ClientRow,
    #[serde(flatten, serialize_with = "details")]
    pub(crate) client: Client,
    #[serde(flatten)]
    pub(crate) logout: BackchannelLogoutView,
    pub(crate) scopes: Vec<&'static str>,
    pub(crate) secrets: Vec<SecretRow>,
    pub(crate) authorizations: usize,
    /// Whether there are more than were counted.
    pub(crate) has_more_authorizations: bool,
}

/// What only the client's own page shows.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Details<'a> {
    redirect_uris: &'a [String],
    post_logout_uris: &'a [String],
    pkce: &'static str,
    callback_id_token: &'static str,
    revision: u64,
}

fn details<S: serde::Serializer>(client: &Client, serializer: S) -> Result<S::Ok, S::Error> {
    let details = Details {
        redirect_uris: &client.redirect_uris,
        post_logout_uris: &client.post_logout_uris,
        pkce: pkce_name(client.pkce),
        callback_id_token: client.callback_id_token.as_str(),
        revision: client.revision,
    };
    details.serialize(serializer)
}

/// A secret that opens, without its text.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SecretRow {
    is_current: bool,
    valid_until: Option<String>,
    #[serde(skip)]
    valid_until_at: Option<Ticks>,
}

impl SecretRow {
    /// The current secret, and the previous one while it is valid.
    pub(crate) fn all(previous_until: Option<Ticks>) -> Vec<Self> {
        let row = |until: Option<Ticks>| Self {
            is_current: until.is_none(),
            valid_until: until.map(Ticks::iso),
            valid_until_at: until,
        };
        [Some(row(None)), previous_until.map(|until| row(Some(until)))].into_iter().flatten().collect()
    }
}

/// The mode that a form names; without one, the safest.
pub(crate) fn pkce_named(name: Option<&str>) -> Pkce {
    match name {
        Some("if-sent") => Pkce::IfSent,
        Some("ignore") => Pkce::Ignore,
        _ => Pkce::Required,
    }
}

pub(crate) fn shown_secret(secret: &Secret) -> ShownSecret {
    ShownSecret::new("clientSecret", |_| "client_secret", secret)
}

impl View<Context> for ClientPage {
    fn section(&self) -> Section {
        Section::Clients
    }

    fn title(&self, lang: Lang) -> &'static str {
        ClientText::of(lang).one
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, area) = (ClientText::of(lang), AreaText::of(lang));
        html! {
            p.crumbs { a href=(safe_href(&context.console_path("clients"))) { (text.title) } }
            div.title-row { h1 { (DisplayName(&self.row.name)) } (self.row.state(lang)) @if self.row.is_sandbox { (badge(area.sandbox)) } }
            @if !self.row.is_active { p.lead { (text.disabled_text) } }
            (self.facts(context))
            section.card {
                h2 { (text.redirect_uris) }
                (addresses(text, &self.client.redirect_uris))
                h3 { (text.logout_uris) }
                (addresses(text, &self.client.post_logout_uris))
            }
            (self.logout.card(lang, None))
            (self.secrets(context))
            @if context.may(Permission::Keys) { (self.actions(context)) }
        }
    }
}

fn addresses(text: &ClientText, uris: &[String]) -> Markup {
    html! {
        @if uris.is_empty() { p.muted { (text.no_uris) } }
        @else { ul { @for uri in uris { li { (parts_code(uri)) } } } }
    }
}

impl ClientPage {
    fn facts(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, area, common) = (ClientText::of(lang), AreaText::of(lang), CommonText::of(lang));
        let consent = if self.row.has_consent { text.consent_required } else { text.consent_none };
        let pkce = match self.client.pkce {
            Pkce::Required => text.pkce_required,
            Pkce::IfSent => text.pkce_if_sent,
            Pkce::Ignore => text.pkce_ignore,
        };
        let id_token = match self.client.callback_id_token {
            CallbackIdToken::Auto => text.id_token_auto,
            CallbackIdToken::Always => text.id_token_always,
            CallbackIdToken::Never => text.id_token_never,
        };
        let counted = number(lang, u64::try_from(self.authorizations).unwrap_or(u64::MAX));
        let webhooks = context.console_path(&format!("webhooks?client={}", self.row.id));
        html! {
            section.card {
                (facts(&[
                    (text.client_id, copy_inline(lang, "client-id", &self.row.id)),
                    (text.kind, html! { (client_kind_text(lang, self.client.kind).name) }),
                    (area.team, owner(context, self.row.team.as_ref(), area.no_team)),
                    (area.products, html! { (product_names(lang, &self.row.products)) }),
                    (text.consent, html! { (consent) }),
                    (text.pkce, html! { (pkce) }),
                    (text.id_token, html! { (id_token) }),
                    (text.authorizations, html! { (counted) @if self.has_more_authorizations { "+" } }),
                    (common.created, timestamp(lang, self.row.created_at)),
                ]))
                div { p.small.muted { (text.scopes) } p.chips { @for scope in &self.scopes { code { (scope) } } } }
                p { a href=(safe_href(&webhooks)) { (area.see_webhooks) } }
            }
        }
    }

    fn secrets(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = ClientText::of(lang);
        let columns = [Column::main(text.secret), Column::text(text.valid_until)];
        let cells = |one: &SecretRow| {
            vec![
                html! { (if one.is_current { text.current } else { text.previous }) " " code aria-hidden="true" { "••••••••" } },
                html! { @match one.valid_until_at { Some(at) => (timestamp(lang, at)), None => (AreaText::of(lang).no_end) } },
            ]
        };
        let rows = self.secrets.iter().enumerate().map(|(index, one)| (index.to_string(), cells(one)));
        html! {
            section.card {
                h2 { (text.secrets) }
                @if self.client.kind.is_public() { p.muted { (text.no_secret) } }
                @else {
                    (table(lang, &Table { caption: text.secrets, columns: &columns, rows: rows.collect(), ..Table::default() }))
                    @if context.may(Permission::Keys) { (self.rotate_form(context)) }
                }
            }
        }
    }
}
