//! One user: tenants, applications, sessions, second factors, sign-ins, audit.

use domain::{Suspension, Ticks};
use maud::{Markup, html};
use operator::admin::{Permission, UserAuthorization};
use pages::{Csv, View};
use serde::Serialize;
use store::{Status, TenantMembership};
use ui::app::{Column, Table, empty_state, short_id, table};
use ui::{DisplayName, Field, Lang, badge, field, hidden_field, safe_href, timestamp};

use super::account::AccountPart;
use super::forms::{ActionForm, action_form};
use crate::accounts::text::{AccountText, PeopleText, TenantText};
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserPage {
    #[serde(flatten)]
    pub(crate) account: AccountPart,
    pub(crate) tenants: Vec<UserTenantRow>,
    pub(crate) next: Option<String>,
    pub(crate) authorizations: Vec<AuthorizationRow>,
    pub(crate) authorizations_next: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserTenantRow {
    tenant: String,
    name: String,
    state: &'static str,
    is_admin: bool,
    since: String,
    last_used: Option<String>,
    #[serde(skip)]
    is_active: bool,
    #[serde(skip)]
    since_at: Ticks,
    #[serde(skip)]
    last_used_at: Option<Ticks>,
}

impl UserTenantRow {
    pub(crate) fn new(one: TenantMembership) -> Self {
        let TenantMembership { tenant, membership, .. } = one;
        Self {
            tenant: tenant.id.to_string(),
            name: tenant.name,
            state: tenant.status.as_str(),
            is_admin: membership.is_admin,
            since: membership.created_at.iso(),
            last_used: membership.last_used_at.map(Ticks::iso),
            is_active: tenant.status == Status::Active,
            since_at: membership.created_at,
            last_used_at: membership.last_used_at,
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuthorizationRow {
    tenant: String,
    pub(crate) client: String,
    pub(crate) client_name: String,
    scopes: String,
    since: String,
    /// Why it is not valid now.
    obstacle: Option<&'static str>,
    #[serde(skip)]
    since_at: Ticks,
}

impl AuthorizationRow {
    pub(crate) fn new(one: &UserAuthorization, client_name: String) -> Self {
        let authorization = &one.authorization;
        Self {
            tenant: authorization.access.tenant.to_string(),
            client: authorization.access.client.to_string(),
            client_name,
            scopes: authorization.scopes.to_string(),
            since: authorization.created_at.iso(),
            obstacle: one.obstacle.map(Suspension::as_str),
            since_at: authorization.created_at,
        }
    }
}

impl View<Context> for UserPage {
    fn section(&self) -> Section {
        Section::Users
    }

    fn title(&self, lang: Lang) -> &'static str {
        PeopleText::of(lang).user
    }

    fn content(&self, context: &Context) -> Markup {
        html! {
            (self.account.head(context))
            (self.tenants(context))
            (self.authorizations(context))
            (self.account.sessions(context))
            (self.account.factors(context))
            (self.account.records(context))
            (self.account.actions(context, &html! {}))
        }
    }

    fn has_more(&self) -> bool {
        self.next.is_some()
    }

    /// The tenants, or with `table=authorizations` those.
    fn csv(&self, context: &Context) -> Option<Csv> {
        if context.query.get("table") == Some("authorizations") {
            let row = |one: &AuthorizationRow| {
                vec![
                    one.tenant.clone(),
                    one.client.clone(),
                    one.scopes.clone(),
                    one.since.clone(),
                    one.obstacle.unwrap_or_default().to_owned(),
                ]
            };
            return Some(Csv {
                name: "authorizations",
                columns: vec!["tenant", "client", "scopes", "since", "obstacle"],
                rows: self.authorizations.iter().map(row).collect(),
            });
        }
        let row = |one: &UserTenantRow| {
            vec![
                one.tenant.clone(),
                one.name.clone(),
                one.state.to_owned(),
                one.is_admin.to_string(),
                one.since.clone(),
                one.last_used.clone().unwrap_or_default(),
            ]
        };
        Some(Csv {
            name: "user-tenants",
            columns: vec!["tenant", "name", "state", "admin", "since", "last_used"],
            rows: self.tenants.iter().map(row).collect(),
        })
    }
}

impl UserPage {
    fn tenants(&self, context: &Context) -> Markup {
        let text = AccountText::of(context.lang());
        html! {
            section.card {
                h2 { (text.tenants) }
                @if self.tenants.is_empty() { (empty_state(text.no_tenants, text.no_tenants_text, None)) }
                @else { (self.tenants_table(context)) }
                @if context.may(Permission::Accounts) {
                    (action_form(context, &ActionForm {
                        name: "add_tenant",
                        label: text.add_tenant,
                        text: html! { (DisplayName(&self.account.email)) ": " (text.add_tenant_text) },
                        fields: Some(html! {
                            (field(&Field { name: "tenant", label: text.tenant, value: context.typed("tenant"), hint: Some(text.tenant_hint), is_required: true, ..Field::default() }))
                        }),
                        needs_proof: true,
                        ..ActionForm::default()
                    }))
                }
            }
        }
    }

    fn tenants_table(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, tenants, common) = (AccountText::of(lang), TenantText::of(lang), CommonText::of(lang));
        let columns = [
            Column::main(text.tenant),
            Column::text(text.since),
            Column::text(tenants.last_used),
            Column::text(""),
        ];
        let cells = |one: &UserTenantRow| {
            let href = context.console_path(&format!("tenants/{}", one.tenant));
            vec![
                html! {
                    a href=(safe_href(&href)) { (DisplayName(&one.name)) }
                    @if one.is_admin { " " (badge(tenants.tenant_admin)) }
                    @if !one.is_active { " " (badge(tenants.disabled)) }
                    span.sub { code { (one.tenant) } }
                },
                timestamp(lang, one.since_at),
                html! { @match one.last_used_at { Some(at) => (timestamp(lang, at)), None => (common.never) } },
                html! { @if context.may(Permission::Accounts) { (self.tenant_actions(context, one)) } },
            ]
        };
        table(
            lang,
            &Table {
                caption: text.tenants,
                columns: &columns,
                rows: self.tenants.iter().map(|one| (one.tenant.clone(), cells(one))).collect(),
                csv: Some(context.here(&["table"], [("format", "csv")])),
                first: context.query.get("after").map(|_| context.here(&["after"], [])),
                next: self.next.as_ref().map(|next| context.here(&["after"], [("after", next.as_str())])),
            },
        )
    }

    fn tenant_actions(&self, context: &Context, one: &UserTenantRow) -> Markup {
        let text = TenantText::of(context.lang());
        let (name, label) =
            if one.is_admin { ("make_member", text.make_member) } else { ("make_admin", text.make_admin) };
        html! {
            form.inline method="post" action=(context.here(&[], [])) {
                (context.form_token()) (hidden_field("tenant", &one.tenant))
                button type="submit" class="button secondary small" name="do" value=(name) { (label) }
            }
            (action_form(context, &ActionForm {
                name: "remove_tenant",
                row: &one.tenant,
                label: text.remove_member,
                text: html! { (DisplayName(&self.account.email)) " " (text.remove_member_text) },
                hidden: &[("tenant", &one.tenant)],
                is_dangerous: true,
                needs_proof: true,
                ..ActionForm::default()
            }))
        }
    }

    fn authorizations(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = AccountText::of(lang);
        let columns = [
            Column::main(text.application),
            Column::text(text.tenant),
            Column::text(text.scopes),
            Column::text(text.since),
            Column::text(""),
        ];
        let key = "authorizations_after";
        let next = self.authorizations_next.as_ref();
        html! {
            section.card #authorizations {
                h2 { (text.authorizations) }
                @if self.authorizations.is_empty() { p.muted { (text.no_authorizations) } }
                @else {
                    (table(lang, &Table {
                        caption: text.authorizations,
                        columns: &columns,
                        rows: self.authorizations.iter().map(|one| (format!("{}:{}", one.tenant, one.client), authorization_cells(context, one))).collect(),
                        csv: Some(context.here(&["table"], [("table", "authorizations"), ("format", "csv")])),
                        first: context.query.get(key).map(|_| context.here(&[key], [])),
                        next: next.map(|next| context.here(&[key], [(key, next.as_str())])),
                    }))
                }
            }
        }
    }
}

fn authorization_cells(context: &Context, one: &AuthorizationRow) -> Vec<Markup> {
    let lang = context.lang();
    let text = AccountText::of(lang);
    let (client, tenant) = (
        context.console_path(&format!("clients/{}", one.client)),
        context.console_path(&format!("tenants/{}", one.tenant)),
    );
    let row = format!("{}-{}", one.tenant, one.client);
    vec![
        html! { a href=(safe_href(&client)) { (DisplayName(&one.client_name)) } @if one.obstacle.is_some() { " " (badge(text.obstacle)) } },
        html! { a href=(safe_href(&tenant)) { (short_id(&one.tenant)) } },
        html! { span.chips { @for scope in one.scopes.split(' ').filter(|scope| !scope.is_empty()) { code { (scope) } } } },
        timestamp(lang, one.since_at),
        html! {
            @if context.may(Permission::Accounts) {
                (action_form(context, &ActionForm {
                    name: "withdraw",
                    row: &row,
                    label: text.withdraw,
                    text: html! { b { (DisplayName(&one.client_name)) } " " (text.withdraw_text) },
                    hidden: &[("tenant", &one.tenant), ("client", &one.client)],
                    is_dangerous: true,
                    needs_proof: true,
                    ..ActionForm::default()
                }))
            }
        },
    ]
}
