//! One tenant, with everything that hangs on it.

use domain::Ticks;
use maud::{Markup, html};
use operator::admin::Permission;
use pages::{Csv, View};
use serde::Serialize;
use store::{Client, Status, TenantMembership};
use ui::app::{Column, Table, copy_inline, empty_state, facts, number, parts_name, table};
use ui::{DisplayName, Field, Lang, badge, field, hidden_field, safe_href, timestamp};

use super::forms::{ActionForm, account_state, action_form};
use super::tenants::TenantRow;
use crate::accounts::text::TenantText;
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TenantPage {
    pub(crate) tenant: TenantRow,
    pub(crate) members: Vec<MemberRow>,
    pub(crate) members_next: Option<String>,
    /// Applications that users have authorized in it; the first ones.
    pub(crate) clients: Vec<ClientRow>,
    pub(crate) has_more_clients: bool,
    pub(crate) webhooks: usize,
    pub(crate) has_more_webhooks: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MemberRow {
    id: String,
    email: String,
    name: String,
    state: &'static str,
    is_admin: bool,
    since: String,
    last_used: Option<String>,
    #[serde(skip)]
    status: Status,
    #[serde(skip)]
    since_at: Ticks,
    #[serde(skip)]
    last_used_at: Option<Ticks>,
}

impl MemberRow {
    pub(crate) fn new(one: TenantMembership) -> Self {
        let TenantMembership { user, membership, .. } = one;
        Self {
            id: user.id.to_string(),
            name: user.full_name(),
            email: user.email,
            state: user.status.as_str(),
            is_admin: membership.is_admin,
            since: membership.created_at.iso(),
            last_used: membership.last_used_at.map(Ticks::iso),
            status: user.status,
            since_at: membership.created_at,
            last_used_at: membership.last_used_at,
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct ClientRow {
    id: String,
    name: String,
}

impl ClientRow {
    pub(crate) fn new(client: Client) -> Self {
        Self { id: client.id.to_string(), name: client.name }
    }
}

impl View<Context> for TenantPage {
    fn section(&self) -> Section {
        Section::Tenants
    }

    fn title(&self, lang: Lang) -> &'static str {
        TenantText::of(lang).one
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, common) = (TenantText::of(lang), CommonText::of(lang));
        let one = &self.tenant;
        html! {
            p.crumbs { a href=(safe_href(&context.console_path("tenants"))) { (common.tenants) } }
            div.title-row { h1 { (DisplayName(&one.name)) } (one.state(lang)) @if one.sandbox_of.is_some() { (badge(text.sandbox)) } }
            (self.facts(context))
            (self.members(context))
            (self.clients(context))
            @if context.may(Permission::Configuration) { section.card { h2 { (common.actions) } (self.actions(context)) } }
        }
    }

    fn has_more(&self) -> bool {
        self.members_next.is_some()
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |one: &MemberRow| {
            vec![
                one.id.clone(),
                one.email.clone(),
                one.name.clone(),
                one.state.to_owned(),
                one.is_admin.to_string(),
                one.since.clone(),
                one.last_used.clone().unwrap_or_default(),
            ]
        };
        Some(Csv {
            name: "members",
            columns: vec!["id", "email", "name", "state", "admin", "since", "last_used"],
            rows: self.members.iter().map(row).collect(),
        })
    }
}

impl TenantPage {
    fn facts(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, common) = (TenantText::of(lang), CommonText::of(lang));
        let one = &self.tenant;
        let webhooks = number(lang, self.webhooks.try_into().unwrap_or(u64::MAX));
        let mut rows = vec![
            (text.id, copy_inline(lang, "tenant-id", &one.id)),
            (text.short_code, html! { code { (one.short_code) } }),
            (common.created, timestamp(lang, one.created_at)),
            (text.webhook_count, html! { (webhooks) @if self.has_more_webhooks { "+" } }),
        ];
        if let Some(team) = &one.sandbox_of {
            let href = context.console_path(&format!("teams/{team}"));
            rows.push((text.sandbox_of, html! { a href=(safe_href(&href)) { code { (team) } } }));
        }
        let links = [
            (text.data, format!("tenants/{}/data", one.id)),
            (text.webhooks, format!("webhooks?tenant={}", one.id)),
            (text.reads, format!("reads?tenant={}", one.id)),
            (text.audit, format!("audit?target=tenant:{}", one.id)),
        ];
        html! {
            section.card {
                (facts(&rows))
                p.links { @for (label, page) in &links { a href=(safe_href(&context.console_path(page))) { (label) } } }
            }
        }
    }

    fn members(&self, context: &Context) -> Markup {
        let text = TenantText::of(context.lang());
        html! {
            h2.after { (text.members) }
            p.muted { (text.members_text) }
            @if self.members.is_empty() { (empty_state(text.no_members, text.no_members_text, None)) }
            @else { (self.members_table(context)) }
            @if context.may(Permission::Accounts) { div.card { (add_member_form(context)) } }
        }
    }

    fn members_table(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, common) = (TenantText::of(lang), CommonText::of(lang));
        let columns = [
            Column::main(text.user),
            Column::text(common.state),
            Column::text(common.created),
            Column::text(text.last_used),
            Column::text(""),
        ];
        let cells = |one: &MemberRow| {
            let href = context.console_path(&format!("users/{}", one.id));
            vec![
                html! {
                    a href=(safe_href(&href)) { (DisplayName(&one.name)) } @if one.is_admin { " " (badge(text.tenant_admin)) }
                    span.sub { (parts_name(&one.email)) }
                },
                account_state(lang, one.status),
                timestamp(lang, one.since_at),
                html! { @match one.last_used_at { Some(at) => (timestamp(lang, at)), None => (common.never) } },
                html! { @if context.may(Permission::Accounts) { (member_actions(context, one)) } },
            ]
        };
        table(
            lang,
            &Table {
                caption: text.members,
                columns: &columns,
                rows: self.members.iter().map(|one| (one.id.clone(), cells(one))).collect(),
                csv: Some(context.here(&[], [("format", "csv")])),
                first: context.query.get("after").map(|_| context.here(&["after"], [])),
                next: self
                    .members_next
                    .as_ref()
                    .map(|next| context.here(&["after"], [("after", next.as_str())])),
            },
        )
    }

    fn clients(&self, context: &Context) -> Markup {
        let text = TenantText::of(context.lang());
        html! {
            section.card {
                h2 { (text.clients) }
                @if self.clients.is_empty() { p.muted { (text.no_clients) } }
                @else {
                    ul.links {
                        @for one in &self.clients {
                            li { a href=(safe_href(&context.console_path(&format!("clients/{}", one.id)))) { (DisplayName(&one.name)) } " " code { (one.id) } }
                        }
                    }
                    @if self.has_more_clients { p.muted { (text.more_clients) } }
                }
            }
        }
    }

    fn actions(&self, context: &Context) -> Markup {
        let text = TenantText::of(context.lang());
        let one = &self.tenant;
        let (name, label, explanation, is_dangerous) = if one.status == Status::Active {
            ("disable", text.disable, text.disable_text, true)
        } else {
            ("enable", text.enable, text.enable_text, false)
        };
        let named = |explanation: &str| html! { b { (DisplayName(&one.name)) } " (" code { (one.id) } "): " (explanation) };
        html! {
            (action_form(context, &ActionForm { name, label, text: named(explanation), is_dangerous, needs_proof: true, ..ActionForm::default() }))
            (action_form(context, &ActionForm {
                name: "erase",
                label: text.erase,
                text: named(text.erase_text),
                fields: Some(html! {
                    (field(&Field { name: "confirm", label: text.confirm, autocomplete: Some("off"), is_required: true, ..Field::default() }))
                }),
                is_dangerous: true,
                needs_proof: true,
                ..ActionForm::default()
            }))
        }
    }
}

fn add_member_form(context: &Context) -> Markup {
    let text = TenantText::of(context.lang());
    action_form(
        context,
        &ActionForm {
            name: "add_member",
            label: text.add_member,
            text: html! { (text.add_member_text) },
            fields: Some(html! {
                (field(&Field { name: "user", label: text.user, value: context.typed("user"), hint: Some(text.user_hint), is_required: true, ..Field::default() }))
            }),
            needs_proof: true,
            ..ActionForm::default()
        },
    )
}

fn member_actions(context: &Context, one: &MemberRow) -> Markup {
    let text = TenantText::of(context.lang());
    let (name, label) =
        if one.is_admin { ("make_member", text.make_member) } else { ("make_admin", text.make_admin) };
    html! {
        form.inline method="post" action=(context.here(&[], [])) {
            (context.form_token()) (hidden_field("user", &one.id))
            button type="submit" class="button secondary small" name="do" value=(name) { (label) }
        }
        (action_form(context, &ActionForm {
            name: "remove_member",
            row: &one.id,
            label: text.remove_member,
            text: html! { (DisplayName(&one.email)) " " (text.remove_member_text) },
            hidden: &[("user", &one.id)],
            is_dangerous: true,
            needs_proof: true,
            ..ActionForm::default()
        }))
    }
}
