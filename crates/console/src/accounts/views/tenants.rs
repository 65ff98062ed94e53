//! The list of tenants.

use domain::Ticks;
use maud::{Markup, html};
use operator::admin::Permission;
use pages::{Csv, View};
use serde::Serialize;
use store::{Status, Tenant};
use ui::app::{Column, State, Table, empty_state, short_id, state, table};
use ui::{DisplayName, Field, Lang, badge, field, safe_href, timestamp};

use super::forms::{ActionForm, action_form, filters, is_filtered};
use crate::accounts::text::TenantText;
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
pub(crate) struct TenantsPage {
    pub(crate) tenants: Vec<TenantRow>,
    pub(crate) next: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TenantRow {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) short_code: String,
    pub(crate) state: &'static str,
    pub(crate) created: String,
    /// The team whose sandbox it is.
    pub(crate) sandbox_of: Option<String>,
    #[serde(skip)]
    pub(crate) created_at: Ticks,
    #[serde(skip)]
    pub(crate) status: Status,
}

impl TenantRow {
    pub(crate) fn new(tenant: Tenant) -> Self {
        Self {
            id: tenant.id.to_string(),
            name: tenant.name,
            short_code: tenant.short_code,
            state: tenant.status.as_str(),
            created: tenant.created_at.iso(),
            sandbox_of: tenant.sandbox_of.map(|team| team.to_string()),
            created_at: tenant.created_at,
            status: tenant.status,
        }
    }

    pub(crate) fn state(&self, lang: Lang) -> Markup {
        let text = TenantText::of(lang);
        if self.status == Status::Active {
            state(State::Ok, text.active)
        } else {
            state(State::Off, text.disabled)
        }
    }
}

impl View<Context> for TenantsPage {
    fn section(&self) -> Section {
        Section::Tenants
    }

    fn title(&self, lang: Lang) -> &'static str {
        CommonText::of(lang).tenants
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, common) = (TenantText::of(lang), CommonText::of(lang));
        let states = [("", common.all), ("active", text.active), ("disabled", text.disabled)];
        html! {
            h1 { (self.title(lang)) }
            p.lead { (text.lead) }
            @if !self.tenants.is_empty() || is_filtered(context) { (filters(context, text.search, &states, &html! {})) }
            @if self.tenants.is_empty() { (empty(context)) } @else { (self.table(context)) }
            @if context.may(Permission::Configuration) { section.card { (add_form(context)) } }
        }
    }

    fn has_more(&self) -> bool {
        self.next.is_some()
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |one: &TenantRow| {
            vec![
                one.id.clone(),
                one.name.clone(),
                one.short_code.clone(),
                one.state.to_owned(),
                one.created.clone(),
                one.sandbox_of.clone().unwrap_or_default(),
            ]
        };
        Some(Csv {
            name: "tenants",
            columns: vec!["id", "name", "short_code", "state", "created", "sandbox_of"],
            rows: self.tenants.iter().map(row).collect(),
        })
    }
}

fn empty(context: &Context) -> Markup {
    let text = TenantText::of(context.lang());
    if is_filtered(context) {
        let clear = (CommonText::of(context.lang()).clear_filter, context.path());
        return empty_state(text.none_found, text.none_found_text, Some(clear));
    }
    empty_state(text.none, text.none_text, None)
}

fn add_form(context: &Context) -> Markup {
    let text = TenantText::of(context.lang());
    let typed = |name| context.typed(name);
    action_form(
        context,
        &ActionForm {
            name: "add",
            label: text.add,
            text: html! { (text.add_text) },
            fields: Some(html! {
                (field(&Field { name: "name", label: text.name, value: typed("name"), is_required: true, ..Field::default() }))
                (field(&Field { name: "id", label: text.id, value: typed("id"), hint: Some(text.id_hint), ..Field::default() }))
                (field(&Field { name: "short_code", label: text.short_code, value: typed("short_code"), hint: Some(text.short_code_hint), ..Field::default() }))
            }),
            ..ActionForm::default()
        },
    )
}

impl TenantsPage {
    fn table(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, common) = (TenantText::of(lang), CommonText::of(lang));
        let columns = [
            Column::main(text.name),
            Column::text(text.id),
            Column::text(text.short_code),
            Column::text(common.state),
            Column::text(common.created),
        ];
        let cells = |one: &TenantRow| {
            let href = context.console_path(&format!("tenants/{}", one.id));
            vec![
                html! { a href=(safe_href(&href)) { (DisplayName(&one.name)) } @if one.sandbox_of.is_some() { " " (badge(text.sandbox)) } },
                short_id(&one.id),
                html! { code { (one.short_code) } },
                one.state(lang),
                timestamp(lang, one.created_at),
            ]
        };
        table(
            lang,
            &Table {
                caption: common.tenants,
                columns: &columns,
                rows: self.tenants.iter().map(|one| (one.id.clone(), cells(one))).collect(),
                csv: Some(context.here(&[], [("format", "csv")])),
                first: context.query.get("after").map(|_| context.here(&["after"], [])),
                next: self.next.as_ref().map(|next| context.here(&["after"], [("after", next.as_str())])),
            },
        )
    }
}
