//! The list of clients.

use domain::subscription::Products;
use domain::{ClientKind, Ticks};
use maud::{Markup, html};
use operator::admin::Permission;
use pages::{Csv, View};
use serde::Serialize;
use store::{Client, Consent, Status};
use ui::app::{Column, State, short_id, state};
use ui::{DisplayName, Field, Lang, badge, client_kind_field, client_kind_text, field, safe_href};

use super::client_forms::{backchannel_field, pkce_field, redirect_field};
use super::parts::{
    Filters, TeamRef, check_field, empty, filters, is_filtered, lines_field, owner, paged, product_names,
    products_field,
};
use crate::applications::text::area::AreaText;
use crate::applications::text::clients::ClientText;
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
pub(crate) struct ClientsPage {
    pub(crate) clients: Vec<ClientRow>,
    pub(crate) next: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClientRow {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    #[serde(skip)]
    pub(crate) client_kind: ClientKind,
    pub(crate) team: Option<TeamRef>,
    pub(crate) products: Vec<&'static str>,
    pub(crate) has_consent: bool,
    pub(crate) is_sandbox: bool,
    pub(crate) is_active: bool,
    pub(crate) created: String,
    #[serde(skip)]
    pub(crate) created_at: Ticks,
}

impl ClientRow {
    pub(crate) fn new(client: &Client, team: Option<TeamRef>) -> Self {
        Self {
            id: client.id.to_string(),
            name: client.name.clone(),
            kind: client.kind.as_str(),
            client_kind: client.kind,
            team,
            products: client.products.names(),
            has_consent: client.consent == Consent::Required,
            is_sandbox: client.is_sandbox,
            is_active: client.status == Status::Active,
            created: client.created_at.iso(),
            created_at: client.created_at,
        }
    }

    pub(crate) fn state(&self, lang: Lang) -> Markup {
        let text = ClientText::of(lang);
        if self.is_active { state(State::Ok, text.active) } else { state(State::Bad, text.disabled) }
    }
}

/// A table of clients, for the pages of teams, too.
pub(crate) fn columns(lang: Lang) -> [Column; 6] {
    let area = AreaText::of(lang);
    [
        Column::main(area.name),
        Column::text(ClientText::of(lang).client_id),
        Column::text(ClientText::of(lang).kind),
        Column::text(area.team),
        Column::text(area.products),
        Column::text(CommonText::of(lang).state),
    ]
}

pub(crate) fn cells(context: &Context, one: &ClientRow) -> Vec<Markup> {
    let lang = context.lang();
    let area = AreaText::of(lang);
    let href = context.console_path(&format!("clients/{}", one.id));
    vec![
        html! { a href=(safe_href(&href)) { (DisplayName(&one.name)) } @if one.is_sandbox { " " (badge(area.sandbox)) } },
        short_id(&one.id),
        html! { (client_kind_text(lang, one.client_kind).name) },
        owner(context, one.team.as_ref(), area.no_team),
        html! { (product_names(lang, &one.products)) },
        one.state(lang),
    ]
}

impl View<Context> for ClientsPage {
    fn section(&self) -> Section {
        Section::Clients
    }

    fn title(&self, lang: Lang) -> &'static str {
        ClientText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, area) = (ClientText::of(lang), AreaText::of(lang));
        let states = [("", CommonText::of(lang).all), ("active", text.active), ("disabled", text.disabled)];
        let filter = Filters {
            has_search: true,
            has_team: true,
            states: &states,
            state: context.query.get("state").unwrap_or_default(),
        };
        let rows = self.clients.iter().map(|one| (one.id.clone(), cells(context, one))).collect();
        html! {
            h1 { (text.title) }
            p.lead { (text.lead) }
            @if !self.clients.is_empty() || is_filtered(context) { (filters(context, &filter)) }
            @if self.clients.is_empty() { (empty(context, (text.none, text.none_text), (area.none_found, area.none_found_text))) }
            @else { (paged(context, text.title, &columns(lang), rows, self.next.as_deref())) }
            @if context.may(Permission::Keys) { (new_form(context)) }
        }
    }

    fn has_more(&self) -> bool {
        self.next.is_some()
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |one: &ClientRow| {
            vec![
                one.id.clone(),
                one.name.clone(),
                one.kind.to_owned(),
                one.team.as_ref().map(|team| team.id.clone()).unwrap_or_default(),
                one.products.join(" "),
                one.has_consent.to_string(),
                one.is_sandbox.to_string(),
                one.is_active.to_string(),
                one.created.clone(),
            ]
        };
        Some(Csv {
            name: "applications",
            columns: vec![
                "client_id",
                "name",
                "kind",
                "team",
                "products",
                "consent",
                "sandbox",
                "active",
                "created",
            ],
            rows: self.clients.iter().map(row).collect(),
        })
    }
}

fn new_form(context: &Context) -> Markup {
    let lang = context.lang();
    let (text, area, common) = (ClientText::of(lang), AreaText::of(lang), CommonText::of(lang));
    let values = context.values("add");
    let typed = |name| Some(values.text(name, ""));
    html! {
        section.card {
            h2 { (text.new) }
            details.more #new open[values.is_refused()] {
                summary { (text.new) }
                form method="post" action=(context.path()) {
                    (context.form_token())
                    (field(&Field { name: "name", label: area.name, value: typed("name"), hint: Some(text.name_hint), is_required: true, ..Field::default() }))
                    (field(&Field { name: "id", label: text.client_id, value: typed("id"), hint: Some(text.id_hint), ..Field::default() }))
                    (client_kind_field(lang, text.kind, Some(values.text("kind", "web"))))
                    (redirect_field(lang, values.text("redirect_uris", ""), false))
                    (lines_field("logout_uris", (text.logout_uris, text.logout_hint), values.text("logout_uris", ""), false))
                    (backchannel_field(lang, values.text("backchannel_logout_uri", "")))
                    (products_field(lang, values, Products::all()))
                    (pkce_field(lang, values.text("pkce", "required")))
                    (check_field("consent", (text.ask_consent, text.ask_consent_hint), values.is_checked("consent", true)))
                    (field(&Field { name: "team", label: area.team_id, value: typed("team"), hint: Some(area.team_hint), ..Field::default() }))
                    p.muted { (common.fresh_needed) }
                    button type="submit" class="button" name="do" value="add" { (text.new) }
                }
            }
        }
    }
}
